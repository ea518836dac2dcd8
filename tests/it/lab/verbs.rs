//! Datasets from the command line, of a running server and of a data directory.

use crate::support::{config, start};
use std::path::Path;
use tokio::process::Command;

/// Exit code, standard output, standard error.
pub async fn verb(args: &[&str], place: &[&str]) -> (i32, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_groundline")).args(args).args(place).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

pub async fn well(args: &[&str], place: &[&str]) -> String {
    let (code, out, err) = verb(args, place).await;
    assert_eq!(code, 0, "{args:?}: {out}{err}");
    out
}

pub fn example() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lab/geography.jsonl").display().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_verbs_of_datasets_work_on_a_server_and_on_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let app = start(config(&data)).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    let example = example();
    let said = well(&["dataset", "import", "geography", &example], &place).await;
    assert_eq!(said, "geography: version 1, 6 items: 6 put, 0 deleted, 0 unchanged\n");
    let csv = folder.path().join("g.csv").display().to_string();
    well(&["dataset", "export", "geography", "--format", "csv", "--output", &csv], &place).await;
    let same = well(&["dataset", "import", "geography", &csv], &place).await;
    assert!(same.contains("version 1, 6 items: 0 put, 0 deleted, 6 unchanged"), "{same}");
    well(&["dataset", "delete", "geography", "g6"], &place).await;
    let shown = well(&["dataset", "show", "geography"], &place).await;
    assert!(shown.starts_with("geography@2: 5 items") && shown.contains("Which river"), "{shown}");
    let diff = well(&["dataset", "diff", "geography", "1", "2"], &place).await;
    assert!(diff.starts_with("- ") && diff.contains("Mont Blanc"), "{diff}");
    // What another system has archived comes along where that is asked for.
    let theirs = folder.path().join("theirs.jsonl");
    let lines = "{\"id\":\"l1\",\"input\":\"a\",\"expectedOutput\":\"b\",\"status\":\"ACTIVE\"}\n{\"id\":\"l2\",\"input\":\"c\",\"status\":\"ARCHIVED\"}\n";
    std::fs::write(&theirs, lines).unwrap();
    let theirs = theirs.display().to_string();
    let said = well(&["dataset", "import", "theirs", &theirs], &place).await;
    assert!(said.contains("1 put") && said.contains("1 archived and left out"), "{said}");
    let said = well(&["dataset", "import", "theirs", &theirs, "--archived"], &place).await;
    assert!(said.contains("2 items: 1 put, 0 deleted, 1 unchanged"), "{said}");
    well(&["dataset", "archive", "theirs"], &place).await;
    app.stop().await.unwrap();

    // The same verbs on the folder of the stopped server.
    let data = data.display().to_string();
    let place = ["--data-dir", data.as_str()];
    let back = well(&["dataset", "revert", "geography", "1"], &place).await;
    assert!(back.starts_with("geography: version 3, 6 items"), "{back}");
    let versions = well(&["dataset", "versions", "geography"], &place).await;
    let hashes: Vec<&str> =
        versions.lines().skip(1).map(|line| line.split_whitespace().nth(3).unwrap()).collect();
    assert_eq!((hashes.len(), hashes[0]), (3, hashes[2]), "{versions}");
    let renamed = well(&["dataset", "rename", "geography", "places/europe"], &place).await;
    assert_eq!(renamed, "places/europe: version 4 (rename)\n");
    let lines = well(&["dataset", "export", "places/europe@2"], &place).await;
    assert_eq!(lines.lines().count(), 5);
    well(&["dataset", "archive", "places/europe"], &place).await;
    let list = well(&["dataset", "list"], &place).await;
    assert_eq!(list.lines().count(), 1, "{list}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_file_is_named_with_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(&folder.path().join("data"))).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    let file = folder.path().join("bad.csv");
    std::fs::write(&file, "input,weight\na,1\nb\nc,heavy\n").unwrap();
    let file = file.display().to_string();
    let (code, _, err) = verb(&["dataset", "import", "d", &file], &place).await;
    assert_eq!(code, 1);
    assert!(err.contains("bad.csv: line 3: 1 cells, and the header has 2"), "{err}");
    assert!(err.contains("bad.csv: line 4: weight: it must be a number"), "{err}");
    assert!(err.contains("nothing was changed"), "{err}");
    let (code, out, _) = verb(&["dataset", "import", "d", &file, "--partial"], &place).await;
    assert_eq!((code, out.as_str()), (3, "d: version 1, 1 items: 1 put, 0 deleted, 0 unchanged\n"));
    let (code, _, err) = verb(&["dataset", "show", "nothing"], &place).await;
    assert!(code == 1 && err.contains("there is no dataset \"nothing\""), "{err}");
    let (code, _, err) = verb(&["dataset", "revert", "d", "9"], &place).await;
    assert!(code == 1 && err.contains("its versions are 1 to 1"), "{err}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dataset_is_looked_at_over_http_and_by_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(&folder.path().join("data"))).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    let (code, said, _) = verb(&["dataset", "lint", "geography", "--evaluator", "rouge"], &place).await;
    assert_eq!(
        (code, said.as_str()),
        (
            0,
            "warning: leak: the expected answer stands in what is asked: whoever copies passes: g3\n\
         geography@1: 6 items, 0 errors, 1 warnings\n"
        )
    );
    let file = folder.path().join("more.jsonl");
    let lines = ["When was it?", "when  was it?", "How long is it?"]
        .map(|asked| format!("{{\"input\":\"{asked}\"}}\n"));
    std::fs::write(&file, lines.concat()).unwrap();
    well(&["dataset", "import", "geography", &file.display().to_string()], &place).await;
    let (code, said, _) = verb(&["dataset", "lint", "geography"], &place).await;
    assert!(code == 0 && said.ends_with("geography@2: 9 items, 0 errors, 3 warnings\n"), "{said}");
    assert_eq!(verb(&["dataset", "lint", "geography", "--strict"], &place).await.0, 3);
    let (code, said, _) =
        verb(&["dataset", "lint", "geography", "--evaluator", "rouge,groundedness", "--json"], &place).await;
    let told: serde_json::Value = serde_json::from_str(&said).unwrap();
    let found = &told["findings"][0];
    assert_eq!((code, &found["rule"], &found["count"]), (3, &"missing".into(), &3.into()), "{said}");
    let (code, _, err) = verb(&["dataset", "lint", "geography", "--evaluator", "oracle"], &place).await;
    assert!(code == 1 && err.contains("no evaluator \"oracle\""), "{err}");

    let rows = super::done(&app, "GET", "matrix", &serde_json::Value::Null).await;
    let row =
        rows["evaluators"].as_array().unwrap().iter().find(|row| row["id"] == "document_recall").unwrap();
    assert_eq!(row["needs"], serde_json::json!(["contexts", "expected_documents"]));
    assert_eq!((&row["llm"], &row["group"]), (&false.into(), &"retrieval".into()));
    let row = rows["evaluators"].as_array().unwrap().iter().find(|row| row["id"] == "perplexity").unwrap();
    let metric = &row["metrics"][0];
    assert_eq!(
        (&metric["range"], &metric["h2o_threshold"]),
        (&serde_json::json!([1.0, "Infinity"]), &0.5.into())
    );
    let sql = "SELECT evaluator_group, needs, asks_judge, metric, is_primary, better, min_value, max_value, h2o_threshold, default_threshold FROM evaluators() \
               WHERE evaluator = 'document_recall'";
    let row = crate::support::query(app.addresses.http, sql).await;
    let wanted = serde_json::json!([{"evaluator_group": "retrieval", "needs": ["contexts", "expected_documents"],
        "asks_judge": false, "metric": "document_recall", "is_primary": true, "better": "higher",
        "min_value": 0.0, "max_value": 1.0, "h2o_threshold": null,
        "default_threshold": rows["evaluators"].as_array().unwrap().iter().find(|one| one["id"] == "document_recall").unwrap()["metrics"][0]["default_threshold"]}]);
    assert_eq!(serde_json::Value::from(row), wanted);
    let (_, wrong) = crate::support::query_raw(app.addresses.http, "SELECT * FROM evaluators('rouge')").await;
    assert!(wrong["error"].as_str().unwrap().contains("takes no arguments"), "{wrong}");
    app.stop().await.unwrap();

    // What was purged on the folder of a stopped server is in none of its versions.
    let data = folder.path().join("data").display().to_string();
    let place = ["--data-dir", data.as_str()];
    let (code, _, err) = verb(&["dataset", "purge", "geography", "g6"], &place).await;
    assert!(code == 1 && err.contains("say --yes"), "{err}");
    let said = well(&["dataset", "purge", "geography", "g6", "--yes"], &place).await;
    assert_eq!(said, "geography: version 3, 1 items purged: 1 revisions, 0 runs, 0 scores\n");
    let lines = well(&["dataset", "export", "geography@1"], &place).await;
    assert_eq!((lines.lines().count(), lines.contains("g6")), (5, false), "{lines}");
}
