//! A person's right to be forgotten: what was purged is in no version, run, score, file or segment, and every hash can be
//! explained.

use super::{done, send};
use crate::access::{tokens, with_tokens};
use crate::support::{config, count, query, settled, start, until};
use groundline::app::App;
use groundline::net::Role;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;

const SECRET: &str = "Erika Mustermann, born 1964-08-12";

/// Whether a file below `folder` has the text, as it is or within a Parquet file.
fn is_below(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(is_below(&path, text));
        } else if let Ok(bytes) = std::fs::read(&path) {
            let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
            let has = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
            if has(&bytes) || (is_parquet && has(decoded(bytes).as_bytes())) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Every value of a Parquet file.
fn decoded(bytes: Vec<u8>) -> String {
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes));
    let batches: Vec<_> = reader.unwrap().build().unwrap().map(Result::unwrap).collect();
    arrow::util::pretty::pretty_format_batches(&batches).unwrap().to_string()
}

/// The hash of a version, from what is left of its items.
async fn explained(app: &App, version: i64) -> String {
    let sql = format!(
        "SELECT content_hash FROM (SELECT DISTINCT ON (item_id) * FROM dataset_items WHERE version <= {version} \
         ORDER BY item_id, version DESC) WHERE op <> 'delete' ORDER BY content_hash"
    );
    let rows = query(app.addresses.http, &sql).await;
    let hashes = rows.iter().map(|row| format!("{}\n", row["content_hash"].as_str().unwrap()));
    hex::encode(Sha256::digest(hashes.collect::<String>()))
}

async fn assert_explained(app: &App, versions: &Json) {
    for version in versions["versions"].as_array().unwrap() {
        let number = version["version"].as_i64().unwrap();
        assert_eq!(version["content_hash"], explained(app, number).await, "version {number}");
    }
}

/// Says something of runs under their own traces.
async fn noted(app: &App, comments: [(&Json, &str); 2]) {
    for (run, comment) in comments {
        let trace = &run["traceparent"].as_str().unwrap()[3..35];
        let note = json!({"trace_id": trace, "name": "tone", "comment": comment, "annotator": "ana"});
        done(app, "POST", "../annotations", &note).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_purged_is_nowhere_and_hashes_stay_explained() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(folder.path());
    settings.lake.maintenance_interval = Duration::from_millis(100);
    settings.lake.vacuum_after = Duration::from_secs(1);
    settings.lab.span_after = Duration::ZERO;
    let app = start(settings.clone()).await;
    let http = app.addresses.http;
    done(&app, "POST", "datasets", &json!({"name": "d"})).await;
    let item =
        |id: &str, text: &str| json!({"external_id": id, "input": text, "expected": text, "tags": [text]});
    let put = json!([item("a", "Who?"), item(SECRET, SECRET), item("c", "What?")]);
    done(&app, "POST", "datasets/d/items", &json!({ "put": put })).await;
    let body = json!({"name": "v1", "dataset": "d", "target": {"kind": "function"}, "evaluators": ["rouge"]});
    let id = done(&app, "POST", "experiments", &body).await["experiment_id"].as_str().unwrap().to_owned();
    let todo = done(&app, "GET", &format!("experiments/{id}/todo"), &Json::Null).await;
    let answer = |run: &Json| json!({"item_id": run["item_id"], "output": run["input"], "scores": [{"name": "s", "value": 1.0, "rationale": run["input"]}]});
    let answers: Vec<Json> = todo.as_array().unwrap().iter().map(answer).collect();
    done(&app, "POST", &format!("experiments/{id}/runs"), &json!(answers)).await;
    done(&app, "POST", "datasets/d/items", &json!({"put": [item("a", "Who else?")]})).await;
    assert!(!is_below(folder.path(), SECRET).is_empty(), "the test would find nothing");
    let before = done(&app, "GET", "datasets/d/versions", &Json::Null).await;
    let made = "SELECT count(*) FROM spans WHERE is_experiment(trace_id)";
    until("a span of each run", async || count(http, made).await == 3).await;
    noted(&app, [(&todo[0], "kind"), (&todo[1], SECRET)]).await;

    let wrong = send(&app, "POST", "datasets/d/purge", None, &json!({"items": [SECRET, "nobody"]})).await;
    assert!(wrong.0 == 400 && wrong.1["error"].as_str().unwrap().contains("nobody"), "{wrong:?}");
    let purge = json!({"items": [SECRET], "message": "request 4711"});
    let told = done(&app, "POST", "datasets/d/purge", &purge).await;
    let gone = todo[1]["item_id"].as_str().unwrap();
    assert_eq!((&told["items"], &told["version"]), (&json!([gone]), &json!(4)), "{told}");
    assert_eq!((&told["revisions"], &told["runs"]), (&json!(1), &json!(1)), "{told}");
    assert!(told["scores"].as_u64().unwrap() >= 2 && told["spans"] == 1, "{told}");
    assert_eq!(told["annotations"], 1, "{told}");
    assert_eq!(json!(query(http, "SELECT comment FROM annotations").await), json!([{"comment": "kind"}]));
    assert_eq!(count(http, made).await, 2);

    // Every version that had it has a tombstone, the others' items stay, and the newest version says who and when.
    let versions = done(&app, "GET", "datasets/d/versions", &Json::Null).await;
    assert_eq!(versions["versions"].as_array().unwrap()[1..], before["versions"].as_array().unwrap()[..]);
    let newest = &versions["versions"][0];
    assert_eq!(
        (&newest["change"], &newest["items"], &newest["message"]),
        (&json!("purge"), &json!(2), &json!("request 4711"))
    );
    assert_eq!(newest["source"]["purged"][0]["item_id"], gone);
    assert_explained(&app, &versions).await;
    let old = done(&app, "GET", "datasets/d@2/items?format=json", &Json::Null).await;
    assert_eq!(old.as_array().unwrap().iter().map(|i| &i["input"]).collect::<Vec<_>>(), ["Who?", "What?"]);
    let sql =
        format!("SELECT op, input, external_id FROM dataset_items WHERE item_id = '{gone}' ORDER BY version");
    let left = query(http, &sql).await;
    assert_eq!(
        json!(left),
        json!([{"op": "purge", "input": null, "external_id": null}, {"op": "delete", "input": null, "external_id": null}])
    );
    let summary = done(&app, "GET", &format!("experiments/{id}/summary"), &Json::Null).await;
    assert_eq!((&summary["summary"]["items"], &summary["summary"]["done"]), (&json!(2), &json!(2)));
    assert_eq!(count(http, &format!("SELECT count(*) FROM scores WHERE item_id = '{gone}'")).await, 0);
    let again = done(&app, "POST", "datasets/d/purge", &json!({"items": [gone]})).await;
    assert_eq!((&again["version"], &again["revisions"], &again["runs"]), (&json!(4), &json!(0), &json!(0)));
    assert_eq!(send(&app, "POST", "datasets/d/purge", None, &json!({"items": [SECRET]})).await.0, 400);
    let late = done(&app, "POST", &format!("experiments/{id}/runs"), &json!([answers[1]])).await;
    assert_eq!((&late["stored"], late["refused"].as_array().unwrap().len()), (&json!(0), 1), "{late}");

    // Neither a file of a table nor a segment of the journal has it when upkeep has been there.
    settled(&app).await;
    until("a disk without it", async || is_below(folder.path(), SECRET).is_empty()).await;
    app.stop().await.unwrap();
    let app = start(settings).await;
    assert_eq!(count(app.addresses.http, "SELECT count(*) FROM dataset_items WHERE op = 'purge'").await, 1);
    assert_eq!(done(&app, "GET", "datasets/d@2/items?format=json", &Json::Null).await, old);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_an_admin_may_purge_and_only_what_is_the_tenants() {
    let folder = tempfile::tempdir().unwrap();
    let who = tokens(&[
        ("lab-a", Some("a"), &[Role::Lab, Role::Query]),
        ("lab-b", Some("b"), &[Role::Lab, Role::Query]),
        ("chief", None, &[Role::Admin]),
    ]);
    let app = with_tokens(folder.path(), &who).await;
    for token in ["lab-a", "lab-b"] {
        assert_eq!(send(&app, "POST", "datasets", Some(token), &json!({"name": "d"})).await.0, 200);
        let put = json!({"put": [{"external_id": "x", "input": "Who?"}]});
        assert_eq!(send(&app, "POST", "datasets/d/items", Some(token), &put).await.0, 200);
    }
    let purge = json!({"items": ["x"]});
    for (token, path, status) in [
        ("lab-a", "datasets/d/purge", 403),
        ("chief", "datasets/d/purge", 400),
        ("chief", "datasets/d/purge?tenant=nobody", 404),
        ("chief", "datasets/d@1/purge?tenant=a", 400),
        ("chief", "datasets/d/purge?tenant=a", 200),
    ] {
        let (got, told) = send(&app, "POST", path, Some(token), &purge).await;
        assert_eq!(got, status, "{token} {path}: {told}");
    }
    let left = |told: (u16, Json)| told.1["items"].as_i64().unwrap();
    assert_eq!(left(send(&app, "GET", "datasets/d", Some("lab-a"), &Json::Null).await), 0);
    assert_eq!(left(send(&app, "GET", "datasets/d", Some("lab-b"), &Json::Null).await), 1);
    app.stop().await.unwrap();
}

/// What is left of a version is not the version: who names it is told which items are gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_with_purged_items_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    done(&app, "POST", "datasets", &json!({"name": "d"})).await;
    let put = json!([{"external_id": "a", "input": "Who?"}, {"external_id": "b", "input": "What?"}]);
    done(&app, "POST", "datasets/d/items", &json!({ "put": put })).await;
    let body = json!({"name": "before", "dataset": "d@2", "target": {"kind": "function"}, "evaluators": ["looping"]});
    let id = done(&app, "POST", "experiments", &body).await["experiment_id"].as_str().unwrap().to_owned();
    let gone = done(&app, "POST", "datasets/d/purge", &json!({"items": ["b"]})).await["items"][0].clone();
    let gone = gone.as_str().unwrap();

    let (status, told) = send(&app, "POST", "experiments", None, &body).await;
    let why = told["error"].as_str().unwrap();
    assert!(
        status == 400 && why.contains("d@2: 1 of its 2 items were purged") && why.contains(gone),
        "{told}"
    );
    assert_eq!(done(&app, "GET", "datasets/d@2", &Json::Null).await["purged"], json!([gone]));
    assert!(done(&app, "GET", "datasets/d@3", &Json::Null).await.get("purged").is_none());
    let summary = done(&app, "GET", &format!("experiments/{id}/summary"), &Json::Null).await;
    assert_eq!((&summary["purged"], &summary["summary"]["items"]), (&json!(1), &json!(1)));

    let url = format!("http://{}", app.addresses.http);
    let suite = |version: u32| {
        let path = folder.path().join("suite.toml").display().to_string();
        let text = format!(
            "[suite]\nname = \"s\"\ndataset = \"d@{version}\"\n[target]\nkind = \"command\"\ncommand = [\"cat\"]\n\
             form = \"any\"\n[[check]]\noperator = \"excludes_exactly\"\ncriteria = \"nothing\"\n"
        );
        std::fs::write(&path, text).unwrap();
        path
    };
    let (code, out, err) = super::verbs::verb(&["test", &suite(2)], &["--url", &url]).await;
    assert_eq!(code, 2, "{out}{err}");
    assert!(err.contains("d@2") && err.contains("purged") && err.contains(gone), "{err}");
    super::verbs::well(&["test", &suite(3)], &["--url", &url]).await;
    app.stop().await.unwrap();
}

/// A whole dataset: every item that any version had, and nothing of another dataset.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_dataset_is_purged() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    for name in ["d", "other"] {
        done(&app, "POST", "datasets", &json!({ "name": name })).await;
        let put = json!([{"external_id": "a", "input": "Who?"}, {"external_id": "b", "input": "What?"}]);
        done(&app, "POST", &format!("datasets/{name}/items"), &json!({ "put": put })).await;
    }
    done(&app, "POST", "datasets/d/items", &json!({"delete": ["b"]})).await;
    let both = send(&app, "POST", "datasets/d/purge", None, &json!({"items": ["a"], "all": true})).await;
    assert_eq!(both.0, 400, "{both:?}");
    let told = done(&app, "POST", "datasets/d/purge", &json!({"all": true, "message": "closed"})).await;
    assert_eq!((told["items"].as_array().unwrap().len(), &told["version"]), (2, &json!(4)), "{told}");
    let left = "SELECT count(*) FROM dataset_items WHERE input IS NOT NULL OR external_id IS NOT NULL";
    assert_eq!(count(app.addresses.http, left).await, 2);
    let newest = done(&app, "GET", "datasets/d", &Json::Null).await;
    assert_eq!((&newest["items"], &newest["source"]), (&json!(0), &json!({"purged_all": 2})));
    app.stop().await.unwrap();
}
