//! The clients of one file each, with the real interpreters: a script that dies is started again and goes on.

use super::send;
use crate::access::{tokens, with_tokens};
use crate::plugins::program;
use crate::support::{config, count, query, start};
use groundline::app::App;
use groundline::net::Role;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

const ITEMS: usize = 1_000;
/// A script loses what it has not sent: the batch on its way, the next one, and what is being answered.
const MOST_LOST: usize = 60;

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

async fn dataset(app: &App, token: Option<&str>) {
    assert_eq!(send(app, "POST", "datasets", token, &json!({"name": "d"})).await.0, 200);
    let put: Vec<Json> = (0..ITEMS)
        .map(|n| json!({"external_id": n.to_string(), "input": format!("Question {n}?"), "expected": format!("answer number {n}"), "metadata": {"level": 2}}))
        .collect();
    assert_eq!(send(app, "POST", "datasets/d/items", token, &json!({ "put": put })).await.0, 200);
}

/// A script of `tests/clients`, and what it is started with.
struct Script {
    program: PathBuf,
    script: PathBuf,
    url: String,
    log: PathBuf,
    token: &'static str,
    /// Where it works.
    folder: PathBuf,
}

impl Script {
    /// Exit code and standard output; the test fails if it says something on standard error and does not die by itself.
    async fn run(&self, what: &str, die_after: usize) -> (i32, String) {
        let (code, out, err) = self.ran(what, die_after).await;
        assert!(code == 9 || err.is_empty(), "{what}: {code}: {out}{err}");
        (code, out)
    }

    /// Exit code, standard output, standard error.
    async fn ran(&self, what: &str, die_after: usize) -> (i32, String, String) {
        let done = Command::new(&self.program)
            .arg(&self.script)
            .args([what, &self.url])
            .arg(&self.log)
            .arg(die_after.to_string())
            .current_dir(&self.folder)
            .env("PYTHONPATH", file("clients/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("GROUNDLINE_TOKEN", self.token)
            .output()
            .await
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
    }

    fn calls(&self) -> usize {
        std::fs::read_to_string(&self.log).unwrap().lines().count()
    }
}

/// Makes a repository with one commit of a file `app`; false where there is no git.
fn repository(folder: &Path) -> bool {
    // The tests may run in a hook themselves: nothing may come to its repository.
    let of_hooks = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];
    let names = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"];
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(names).args(words).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        for name in of_hooks {
            git.env_remove(name);
        }
        git.status().is_ok_and(|status| status.success())
    };
    std::fs::write(folder.join("app"), "a").unwrap();
    git(&["init", "--quiet"]) && git(&["add", "app"]) && git(&["commit", "--quiet", "-m", "a"])
}

async fn goes_on_where_it_died(program: PathBuf, script: &str) {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(&folder.path().join("data"))).await;
    dataset(&app, None).await;
    let url = format!("http://{}", app.addresses.http);
    let log = folder.path().join("calls");
    let at = folder.path().to_owned();
    let (has_git, source) = (repository(&at), at.join("app"));
    let mut script = Script { program, script: file(script), url, log, token: "", folder: at };
    for (die_after, code) in [(150, "a"), (120, "other code")] {
        std::fs::write(&source, code).unwrap();
        let (ended, _, err) = script.ran("run", die_after).await;
        assert_eq!(ended, 9, "{err}");
        // What goes on with other code than it was begun with says so.
        assert_eq!(err.contains(" with changes"), has_git && code != "a", "{err}");
    }
    std::fs::write(&source, "a").unwrap();
    let (code, told) = script.run("run", 0).await;
    let head = format!("v1: success, {ITEMS} of {ITEMS} runs over {ITEMS} items, 1 without an answer");
    assert!(code == 0 && told.starts_with(&head), "{told}");
    let calls = script.calls();
    assert!((ITEMS..=ITEMS + 2 * MOST_LOST).contains(&calls), "{calls} calls for {ITEMS} items");
    let http = app.addresses.http;
    let counted = async |sql: &str| usize::try_from(count(http, sql).await).unwrap();
    let kept = query(http, "SELECT target FROM experiments_latest").await;
    assert_eq!(kept.len(), 1);
    let target: Json = serde_json::from_str(kept[0]["target"].as_str().unwrap()).unwrap();
    assert_eq!((&target["commit"], target["git_commit"].is_string()), (&json!("abc"), has_git), "{target}");
    assert_eq!(target["git_dirty"].as_bool(), has_git.then_some(false), "{target}");
    assert_eq!(counted("SELECT count(*) FROM runs").await, ITEMS);
    assert_eq!(counted("SELECT count(*) FROM runs WHERE duration_ms = 250").await, ITEMS - 1);
    let sql = "SELECT evaluator, status, count(*) AS n FROM scores WHERE evaluator LIKE 'client/%' GROUP BY 1, 2 ORDER BY 1";
    let rows: Vec<String> = query(http, sql).await.iter().map(Json::to_string).collect();
    let wanted = [("broken", "error"), ("exact", "ok"), ("level", "ok")].map(|(name, status)| {
        json!({"evaluator": format!("client/{name}"), "status": status, "n": ITEMS - 1}).to_string()
    });
    assert_eq!(rows, wanted);
    let found = query(http, "SELECT error FROM runs WHERE status = 'error'").await;
    assert!(found[0]["error"].as_str().unwrap().ends_with("Error: nobody knows 3"), "{found:?}");

    let (_, told) = script.run("retry", 0).await;
    assert!(told.starts_with("v1: success") && told.contains("exact "), "{told}");
    assert_eq!((script.calls(), counted("SELECT count(*) FROM runs").await), (calls + 1, ITEMS + 1));
    let (_, told) = script.run("local", 0).await;
    assert!(told.contains("local against local: 4 items in both"), "{told}");
    app.stop().await.unwrap();

    // Where there are tokens, that of the environment is taken, and a wrong one is told as such.
    let who = tokens(&[("right", Some("a"), &[Role::Lab, Role::Query])]);
    let other = tempfile::tempdir().unwrap();
    let app = with_tokens(other.path(), &who).await;
    (script.url, script.token) = (format!("http://{}", app.addresses.http), "right");
    dataset(&app, Some("right")).await;
    assert_eq!(script.run("faults", 0).await.0, 0);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_in_python_goes_on_where_it_died() {
    let Some(python) = program("python3") else { return };
    goes_on_where_it_died(python, "tests/clients/lab.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_in_typescript_goes_on_where_it_died() {
    let Some(node) = program("node") else { return };
    goes_on_where_it_died(node, "tests/clients/lab.mjs").await;
}
