//! The commit of the application that is asked.

use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// A file system that hangs keeps no experiment from beginning.
const PATIENCE: Duration = Duration::from_secs(10);
/// What git tells the programs of its hooks. There they would name the repository of the hook, and not that of the folder.
const OF_HOOKS: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];

/// What is kept of a target with an experiment, with the commit that is checked out in `folder`, `git_commit`, and whether
/// tracked files differ from it, `git_dirty`. Without git, outside of a repository and before its first commit nothing is added,
/// and nothing to answers of a file: which commit gave them is not known.
pub async fn revised(described: &Value, folder: &Path) -> Value {
    let mut described = described.clone();
    if described["kind"] == "existing" {
        return described;
    }
    let Some(commit) = git(folder, &["rev-parse", "--verify", "HEAD"]).await else { return described };
    if commit.is_empty() || !commit.chars().all(|c| c.is_ascii_hexdigit()) {
        return described;
    }
    described["git_commit"] = commit.into();
    // Reports and environments that a build makes are untracked, and are no change of the application.
    if let Some(changed) = git(folder, &["status", "--porcelain", "--untracked-files=no"]).await {
        described["git_dirty"] = (!changed.is_empty()).into();
    }
    described
}

/// What git says; none where it is not there, refuses, or does not answer.
async fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let told = tokio::time::timeout(PATIENCE, program(folder, arguments).output()).await.ok()?.ok()?;
    told.status.success().then(|| String::from_utf8_lossy(&told.stdout).trim().to_owned())
}

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut program = Command::new("git");
    // Looking starts no other program of the repository's settings, and changes nothing in it.
    program.args(["--no-optional-locks", "-c", "core.fsmonitor=false"]).args(arguments).current_dir(folder);
    for name in OF_HOOKS {
        program.env_remove(name);
    }
    program.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::ffi::OsStr;

    fn git_here(folder: &Path, arguments: &[&str]) -> bool {
        let names = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"];
        let mut program = std::process::Command::new("git");
        program.args(names).args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        // The tests may run in a hook themselves: nothing may come to its repository.
        for name in OF_HOOKS {
            program.env_remove(name);
        }
        program.status().is_ok_and(|status| status.success())
    }

    #[tokio::test]
    async fn the_commit_is_told_and_nothing_is_invented_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, target) = (folder.path(), json!({"kind": "command"}));
        assert_eq!(revised(&target, &folder.join("missing")).await, target);
        assert_eq!(revised(&target, folder).await, target, "no repository");
        // Without git there is nothing more to see.
        if !git_here(folder, &["init", "--quiet"]) {
            return;
        }
        assert_eq!(revised(&target, folder).await, target, "no commit");
        std::fs::write(folder.join("app.py"), "a").unwrap();
        assert!(git_here(folder, &["add", "."]) && git_here(folder, &["commit", "--quiet", "-m", "a"]));
        std::fs::write(folder.join("report.json"), "{}").unwrap();
        let clean = revised(&target, folder).await;
        assert_eq!((clean["git_dirty"].as_bool(), clean["kind"].as_str()), (Some(false), Some("command")));
        assert!(matches!(clean["git_commit"].as_str().map(str::len), Some(40 | 64)), "{clean}");
        std::fs::write(folder.join("app.py"), "b").unwrap();
        let dirty = revised(&target, folder).await;
        assert_eq!((&dirty["git_dirty"], &dirty["git_commit"]), (&json!(true), &clean["git_commit"]));
        let of_a_file = json!({"kind": "existing", "file": "answers.csv"});
        assert_eq!(revised(&of_a_file, folder).await, of_a_file, "who answered is not known");
    }

    #[test]
    fn the_repository_of_a_hook_is_not_taken_for_that_of_the_folder() {
        let program = program(Path::new(""), &["status"]);
        let unset: Vec<&OsStr> =
            program.as_std().get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        assert!(OF_HOOKS.iter().all(|name| unset.contains(&OsStr::new(name))), "{unset:?}");
        assert_eq!(program.as_std().get_current_dir(), Some(Path::new(".")));
    }
}
