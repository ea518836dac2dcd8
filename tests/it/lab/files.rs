//! Files beside items: in with a ZIP archive, read by their hash, out again, and gone with the last item that names them.

use super::verbs::{verb, well};
use super::{done, send};
use crate::access::{tokens, with_tokens};
use crate::support::{config, query, start};
use base64::Engine as _;
use groundline::app::App;
use groundline::lab::{unzipped, zipped};
use groundline::net::Role;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect();
    zipped(&files).unwrap()
}

/// A request with bytes; status and answer.
async fn bring(app: &App, token: &str, path: &str, bytes: Vec<u8>) -> (u16, Json) {
    let url = format!("http://{}/v1/lab/{path}", app.addresses.http);
    let request = reqwest::Client::new().post(url).header("content-type", "application/zip");
    let answer = request.bearer_auth(token).body(bytes).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// The status of an answer, how it is to be shown, and its bytes.
async fn take(app: &App, token: &str, path: &str) -> (u16, String, Vec<u8>) {
    let url = format!("http://{}/v1/lab/{path}", app.addresses.http);
    let answer = reqwest::Client::new().get(url).bearer_auth(token).send().await.unwrap();
    let shown = answer.headers().get("content-disposition").map(|value| value.to_str().unwrap().to_owned());
    (answer.status().as_u16(), shown.unwrap_or_default(), answer.bytes().await.unwrap().to_vec())
}

async fn made(app: &App, token: &str, path: &str, body: &Json) -> Vec<u8> {
    let url = format!("http://{}/v1/lab/{path}", app.addresses.http);
    let answer = reqwest::Client::new().post(url).bearer_auth(token).json(body).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200, "{path}");
    answer.bytes().await.unwrap().to_vec()
}

async fn outputs(app: &App, token: &str) -> Vec<Json> {
    let url = format!("http://{}/v1/sql", app.addresses.http);
    let sql = json!({"sql": "SELECT output FROM runs ORDER BY output"});
    let answer = reqwest::Client::new().post(url).bearer_auth(token).json(&sql).send().await.unwrap();
    let rows: Json = answer.json().await.unwrap();
    rows.as_array().unwrap().iter().map(|row| row["output"].clone()).collect()
}

/// The names of the files that a tenant has on the disk.
fn on_disk(folder: &Path, tenant: &str) -> Vec<String> {
    let folder = folder.join("data/lake/files").join(tenant);
    let names = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

const TABLE: &[u8] = br#"{"external_id":"a","input":"Which?","files":["a.txt"]}
{"external_id":"b","input":"Which again?","files":[{"path":"documents/a.txt","name":"same.txt"}]}
{"external_id":"c","input":"And this?","files":["img/c.png"]}
"#;

/// A target reads the files by their paths; a ZIP and an archive have them for another tenant.
async fn read_by_a_target_and_brought_elsewhere(app: &App, folder: &Path, image: &str) {
    // A target on this side reads it by its path.
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str(), "--token", "lab-a"];
    let reads = "while read -r line; do path=$(printf '%s' \"$line\" | sed 's/.*\"path\":\"\\([^\"]*\\)\".*/\\1/'); \
                 printf '\"%s\"\\n' \"$(cat \"$path\")\"; done";
    well(
        &["experiment", "run", "v1", "--dataset", "d", "--evaluator", "looping", "--command", reads],
        &place,
    )
    .await;
    let answers = ["\"A picture\"", "\"A text\"", "\"A text\""];
    assert_eq!(outputs(app, "lab-a").await, answers.map(Json::from));

    // Out as a ZIP, and into another tenant: the same content.
    let zip = folder.join("d.zip").display().to_string();
    well(&["dataset", "export", "d", "--format", "zip", "--output", &zip], &place).await;
    let there = ["--url", url.as_str(), "--token", "lab-b"];
    well(&["dataset", "import", "d", &zip], &there).await;
    let head = async |token: &str| send(app, "GET", "datasets/d", Some(token), &Json::Null).await.1;
    assert_eq!(head("lab-a").await["content_hash"], head("lab-b").await["content_hash"]);
    let out = unzipped(&std::fs::read(&zip).unwrap()).unwrap();
    assert_eq!(out.keys().collect::<Vec<_>>(), ["documents/a.txt", "img/c.png", "items.jsonl"]);

    // An archive of the lab has them too, and restored it gives the same bytes.
    let names = json!({"names": ["d"]});
    let whole = made(app, "lab-a", "archive", &names).await;
    let (status, told) = bring(app, "lab-c", "restore", whole.clone()).await;
    assert_eq!(status, 200, "{told}");
    assert_eq!(take(app, "lab-c", &format!("files/{image}")).await.2, b"A picture");
    assert!(made(app, "lab-c", "archive", &names).await == whole, "another archive");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_come_in_and_out_with_a_dataset_and_go_with_its_items() {
    let folder = tempfile::tempdir().unwrap();
    let lab = [Role::Lab, Role::Query];
    let who = [
        ("lab-a", Some("a"), &lab[..]),
        ("lab-b", Some("b"), &lab[..]),
        ("lab-c", Some("c"), &lab[..]),
        ("chief", None, &[Role::Admin][..]),
    ];
    let app = with_tokens(folder.path(), &tokens(&who)).await;
    let hash = |content: &[u8]| hex::encode(Sha256::digest(content));
    let (text, image) = (hash(b"A text"), hash(b"A picture"));
    let content: [(&str, &[u8]); 4] = [
        ("items.jsonl", TABLE),
        ("documents/a.txt", b"A text"),
        ("img/c.png", b"A picture"),
        ("unnamed.txt", b"nobody's"),
    ];
    let tried = bring(&app, "lab-a", "datasets/d/import?create=true&dry_run=true", archive(&content)).await;
    assert_eq!(
        (tried.0, &tried.1["put"], on_disk(folder.path(), "a").len()),
        (200, &json!(3), 0),
        "{tried:?}"
    );
    let (status, told) = bring(&app, "lab-a", "datasets/d/import?create=true", archive(&content)).await;
    assert_eq!((status, &told["put"]), (200, &json!(3)), "{told}");
    // What two items name is there once, and what none does is not.
    let mut both = vec![text.clone(), image.clone()];
    both.sort();
    assert_eq!(on_disk(folder.path(), "a"), both);
    let again = bring(&app, "lab-a", "datasets/d/import", archive(&content)).await;
    assert_eq!((&again.1["version"], &again.1["unchanged"]), (&told["version"], &json!(3)), "{again:?}");

    // A file is read by its hash, as an attachment, by its tenant.
    let (_, items) = send(&app, "GET", "datasets/d/items?format=json", Some("lab-a"), &Json::Null).await;
    let file = json!({"name": "same.txt", "path": "documents/a.txt", "sha256": text, "bytes": 6, "media_type": "text/plain"});
    assert_eq!(items[1]["files"], json!([file]), "{items}");
    let (status, shown, bytes) = take(&app, "lab-a", &format!("files/{text}?name=a\"b.txt")).await;
    assert_eq!(
        (status, shown.as_str(), bytes.as_slice()),
        (200, "attachment; filename=\"a_b.txt\"", &b"A text"[..])
    );
    for (token, path) in [("lab-b", format!("files/{text}")), ("lab-a", "files/..%2Fb".to_owned())] {
        assert_eq!(take(&app, token, &path).await.0, 404, "{path}");
    }
    let named = json!({"put": [{"input": "Mine?", "files": [{"name": "x", "sha256": text}]}]});
    assert_eq!(send(&app, "POST", "datasets", Some("lab-b"), &json!({"name": "own"})).await.0, 200);
    let (status, wrong) = send(&app, "POST", "datasets/own/items", Some("lab-b"), &named).await;
    assert!(status == 400 && wrong["error"].as_str().unwrap().contains("is stored"), "{wrong}");

    read_by_a_target_and_brought_elsewhere(&app, folder.path(), &image).await;

    // With the last item that names it a file goes, and only the tenant's own.
    let purged = async |item: &str| {
        let body = json!({"items": [item]});
        let (status, told) = send(&app, "POST", "datasets/d/purge?tenant=a", Some("chief"), &body).await;
        assert_eq!(status, 200, "{told}");
        told["files"].clone()
    };
    assert_eq!(purged("a").await, json!(0));
    assert_eq!(take(&app, "lab-a", &format!("files/{text}")).await.0, 200);
    assert_eq!(purged("b").await, json!(1));
    assert_eq!(take(&app, "lab-a", &format!("files/{text}")).await.0, 404);
    assert_eq!(on_disk(folder.path(), "a"), [image]);
    assert_eq!(take(&app, "lab-b", &format!("files/{text}")).await.2, b"A text");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn archives_that_harm_are_refused_and_a_folder_is_read_like_one() {
    let folder = tempfile::tempdir().unwrap();
    let lab = [Role::Lab, Role::Query];
    let app = with_tokens(folder.path(), &tokens(&[("lab-a", Some("a"), &lab[..])])).await;
    let table: (&str, &[u8]) = ("items.csv", b"input,files\nWho?,a.txt\nWhat?,b.txt\n");
    let good = archive(&[table, ("a.txt", b"A"), ("documents/b.txt", b"B")]);
    // The list of entries says a length and a mode for each: that of the first is changed.
    let list = good.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    let changed = |at: usize, value: u32| {
        let mut bytes = good.clone();
        bytes[list + at..list + at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    for (bytes, told) in [
        (archive(&[table, ("../a.txt", b"A")]), "\"../a.txt\" leads out"),
        (archive(&[table, ("/etc/passwd", b"A")]), "\"/etc/passwd\" leads out"),
        (archive(&[table, ("a.txt", b"A")]), "the archive has no file \"b.txt\""),
        (archive(&[("a.txt", b"A")]), "no table at the root"),
        (
            changed(24, u32::MAX),
            "\"a.txt\" claims 4294967295 bytes; a file has at most 100 MiB (lab.max_file_size)",
        ),
        (changed(24, 7), "\"a.txt\" is damaged"),
        (changed(38, 0o120_777 << 16), "\"a.txt\" is a link"),
        (good[..good.len() - 1].to_vec(), "cut off"),
    ] {
        let (status, wrong) = bring(&app, "lab-a", "datasets/d/import?create=true", bytes).await;
        let why = wrong["error"].as_str().unwrap();
        assert!(status == 400 && why.contains(told), "{told}: {wrong}");
    }
    assert_eq!(on_disk(folder.path(), "a"), [""; 0]);
    assert_eq!(send(&app, "GET", "datasets/d", Some("lab-a"), &Json::Null).await.0, 404);

    let items = folder.path().join("items");
    std::fs::create_dir_all(items.join("documents")).unwrap();
    std::fs::write(items.join(table.0), table.1).unwrap();
    std::fs::write(items.join("a.txt"), "A").unwrap();
    std::fs::write(items.join("documents/b.txt"), "B").unwrap();
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str(), "--token", "lab-a"];
    let said = well(&["dataset", "import", "d", &items.display().to_string()], &place).await;
    assert_eq!(said, "d: version 1, 2 items: 2 put, 0 deleted, 0 unchanged\n");
    assert_eq!(on_disk(folder.path(), "a").len(), 2);
    // A page sends JSON alone: the same archive is the same version.
    let encoded = base64::engine::general_purpose::STANDARD.encode(&good);
    for (sent, status) in [(encoded, 200), ("no base64!".to_owned(), 400)] {
        let body = json!({ "file_base64": sent });
        let (got, told) = send(&app, "POST", "datasets/d/import", Some("lab-a"), &body).await;
        assert_eq!(got, status, "{told}");
        assert!(status == 400 || told["version"] == 1, "{told}");
    }
    std::fs::remove_file(items.join("a.txt")).unwrap();
    let (code, _, err) = verb(&["dataset", "import", "d", &items.display().to_string()], &place).await;
    assert!(code == 1 && err.contains("line 2: files: the archive has no file \"a.txt\""), "{err}");
    app.stop().await.unwrap();
}

/// Two epochs of two samples, of which one ended with an error.
fn inspect_log() -> Vec<u8> {
    let sample = |id: &str, epoch: i64, value: Json| {
        let input =
            json!([{"id": format!("m-{id}-{epoch}"), "role": "user", "content": format!("What is {id}?")}]);
        let output = json!({"model": "m", "choices": [{"message": {"role": "assistant", "content": format!("It is {id}.")}}]});
        json!({"id": id, "epoch": epoch, "input": input, "target": "It.", "output": output, "total_time": 2.0,
            "scores": {"match": {"value": value, "explanation": "so"}}, "messages": [{}], "events": [{}, {}],
            "model_usage": {"m": {"input_tokens": 4, "output_tokens": 3}}})
    };
    let mut failed = sample("b", 2, Json::Null);
    failed["error"] = json!({"message": "no route"});
    let samples =
        [sample("a", 1, json!("C")), sample("a", 2, json!("I")), sample("b", 1, json!("C")), failed];
    let head =
        json!({"version": 2, "status": "success", "eval": {"task": "quiz", "model": "m", "run_id": "r"}});
    let mut files = BTreeMap::from([("header.json".to_owned(), head.to_string().into_bytes())]);
    for one in samples {
        let name = format!("samples/{}_epoch_{}.json", one["id"].as_str().unwrap(), one["epoch"]);
        files.insert(name, one.to_string().into_bytes());
    }
    zipped(&files).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_becomes_a_dataset_and_an_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(&folder.path().join("data"))).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    let log = folder.path().join("quiz.eval").display().to_string();
    std::fs::write(&log, inspect_log()).unwrap();
    let import = ["experiment", "import", log.as_str(), "--dataset", "quiz"];
    let (code, out, err) = verb(&import, &place).await;
    assert_eq!(code, 3, "one run has no answer: {out}{err}");
    assert!(out.starts_with("quiz: success, 4 of 4 runs over 2 items, 1 without an answer\n"), "{out}");
    assert!(err.contains("not taken: 4 messages of the conversation\n"), "{err}");
    assert!(err.contains("not taken: 8 events\n"), "{err}");
    let sql = "SELECT i.external_id, r.repetition, r.output, r.error, r.input_tokens, r.duration_ms, s.value, s.label, \
               s.passed, s.rationale, s.evaluator, s.source FROM runs_latest r \
               JOIN dataset_items_latest i ON i.item_id = r.item_id LEFT JOIN scores s ON s.run_id = r.run_id \
               ORDER BY i.external_id, r.repetition";
    let rows = query(app.addresses.http, sql).await;
    let one = json!({"external_id": "a", "repetition": 1, "output": "\"It is a.\"", "error": null, "input_tokens": 4,
        "duration_ms": 2000.0, "value": 1.0, "label": "correct", "passed": true, "rationale": "so",
        "evaluator": "client/match", "source": "experiment"});
    assert_eq!((rows.len(), &rows[0]), (4, &one), "{rows:?}");
    assert_eq!((&rows[1]["passed"], &rows[3]["error"]), (&json!(false), &json!("no route")));

    // The same log again is another experiment over the same version; a dataset with other items is not changed.
    assert_eq!(verb(&[&import[..], &["--name", "again"]].concat(), &place).await.0, 3);
    assert_eq!(done(&app, "GET", "datasets/quiz", &Json::Null).await["version"], 1);

    // What it answered as a test lab, and that as an experiment again.
    let lab = folder.path().join("lab.json").display().to_string();
    well(&["experiment", "export", "again", "--part", "test-lab", "--output", &lab], &place).await;
    let (code, out, err) = verb(&["experiment", "import", &lab, "--dataset", "lab"], &place).await;
    assert!(code == 3 && out.starts_with("again: running, 3 of 4 runs over 2 items"), "{out}{err}");
    let lab = done(&app, "GET", "datasets/lab/items?format=json", &Json::Null).await;
    assert_eq!((&lab[0]["external_id"], &lab[0]["input"]), (&json!("a"), &json!("What is a?")), "{lab}");

    let more = json!({"put": [{"input": "More?"}]});
    done(&app, "POST", "datasets/quiz/items", &more).await;
    let (code, _, err) = verb(&import, &place).await;
    assert!(code == 1 && err.contains("would have 3 items, and the log has 2 samples"), "{err}");
    app.stop().await.unwrap();
}
