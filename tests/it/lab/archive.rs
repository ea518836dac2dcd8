//! Archives: what was restored gives the same bytes, and nothing that is there is ever replaced.

use super::verbs::{example, verb, well};
use super::{done, send};
use crate::access::{tokens, with_tokens};
use crate::support::{config, count, query, request, span, start, text, until};
use groundline::app::App;
use groundline::lab::archive::{OfTraces, traces_of};
use groundline::lab::{unzipped, zipped};
use groundline::net::Role;
use prost::Message;
use serde_json::{Value as Json, json};

/// The bytes of an archive.
async fn archived(app: &App, token: Option<&str>, names: &[&str]) -> (u16, Vec<u8>) {
    made(app, token, "", &json!({ "names": names })).await
}

async fn made(app: &App, token: Option<&str>, params: &str, wanted: &Json) -> (u16, Vec<u8>) {
    let url = format!("http://{}/v1/lab/archive{params}", app.addresses.http);
    let mut request = reqwest::Client::new().post(url).json(wanted);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
}

async fn restored(app: &App, token: Option<&str>, params: &str, bytes: &[u8]) -> (u16, Json) {
    let url = format!("http://{}/v1/lab/restore{params}", app.addresses.http);
    let request =
        reqwest::Client::new().post(url).header("content-type", "application/zip").body(bytes.to_vec());
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let answer = request.send().await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Json::String(text)))
}

async fn experiment(app: &App, name: &str, dataset: &str, answered: usize) -> String {
    let body = json!({"name": name, "dataset": dataset, "target": {"kind": "function"}, "evaluators": ["rouge"],
        "repetitions": 2, "parameters": {"temperature": 0.1}, "tags": ["nightly"]});
    let id = done(app, "POST", "experiments", &body).await["experiment_id"].as_str().unwrap().to_owned();
    let todo = done(app, "GET", &format!("experiments/{id}/todo?limit={answered}"), &Json::Null).await;
    let answer = |run: &Json| {
        json!({"item_id": run["item_id"], "repetition": run["repetition"], "output": format!("{name} é\n"),
        "contexts": ["a", {"id": "b"}], "cost_usd": 0.1, "duration_ms": 3.25,
        "scores": [{"name": "mine", "value": 0.1, "passed": name == "v1", "rationale": "so"}]})
    };
    let answers: Vec<Json> = todo.as_array().unwrap().iter().map(answer).collect();
    done(app, "POST", &format!("experiments/{id}/runs"), &json!(answers)).await;
    id
}

/// A dataset with a version of each kind, one experiment that is done and one that is not.
async fn filled(app: &App) -> String {
    done(app, "POST", "datasets", &json!({"name": "d", "description": "questions", "labels": ["a", "b"]}))
        .await;
    let item = |id: &str, text: &str| {
        json!({"external_id": id, "input": {"question": text, "n": 1.5e-7}, "expected": {"any_of": [text, "x"]},
        "metadata": {"level": 2}, "contexts": ["c"], "tags": ["t", ""], "split": "test", "weight": 0.5,
        "group_id": "g", "inclusion_probability": 0.25})
    };
    let put = json!([item("a", "Who?"), item("b", "Où? \"yes\"\n"), item("c", "What?")]);
    done(app, "POST", "datasets/d/items", &json!({"put": put, "message": "first"})).await;
    done(app, "POST", "datasets/d/items", &json!({"put": [item("a", "Who else?")], "delete": ["c"]})).await;
    done(app, "POST", "datasets/d/revert", &json!({"to": 2})).await;
    done(app, "PATCH", "datasets/d", &json!({"name": "dd"})).await;
    experiment(app, "v1", "dd@2", 6).await;
    experiment(app, "v2", "dd", 2).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_restored_gives_the_same_bytes_and_goes_on() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, two) = (start(config(here.path())).await, start(config(there.path())).await);
    let open = filled(&one).await;
    let (status, bytes) = archived(&one, None, &["dd"]).await;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    assert_eq!(bytes, archived(&one, None, &["dd"]).await.1, "the same rows give the same bytes");

    let (status, tried) = restored(&two, None, "?dry_run=true", &bytes).await;
    assert_eq!((status, &tried["written"]["datasets"]), (200, &json!(5)), "{tried}");
    assert_eq!(count(two.addresses.http, "SELECT count(*) FROM dataset_items").await, 0);
    let (status, told) = restored(&two, None, "", &bytes).await;
    assert_eq!(
        (status, &told["datasets"], &told["experiments"]),
        (200, &json!({"dd": 5}), &json!(2)),
        "{told}"
    );
    assert_eq!((&told["written"]["runs"], &told["there"]), (&json!(8), &json!(0)), "{told}");
    assert!(told["written"]["scores"].as_u64().unwrap() >= 16, "{told}");
    assert_eq!(archived(&two, None, &["dd"]).await.1, bytes, "export, import and export give equal bytes");
    for path in [
        "datasets/dd/versions",
        "datasets/dd@2/items?format=json",
        "compare?new=v2&baseline=v1",
        "experiments/v1/summary",
    ] {
        assert_eq!(
            done(&two, "GET", path, &Json::Null).await,
            done(&one, "GET", path, &Json::Null).await,
            "{path}"
        );
    }

    // Again nothing is written, and what was open goes on.
    let again = restored(&two, None, "", &bytes).await.1;
    let written: u64 = again["written"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!((written, again["there"].as_u64().unwrap() > 30), (0, true), "{again}");
    let todo = done(&two, "GET", &format!("experiments/{open}/todo"), &Json::Null).await;
    let answer =
        |run: &Json| json!({"item_id": run["item_id"], "repetition": run["repetition"], "output": "late"});
    let answers: Vec<Json> = todo.as_array().unwrap().iter().map(answer).collect();
    let ended = done(&two, "POST", &format!("experiments/{open}/runs"), &json!(answers)).await;
    assert_eq!((&ended["stored"], &ended["status"]), (&json!(4), &json!("success")));

    // What went on there comes back here; what went another way in both is refused, and nothing is changed.
    let newer = archived(&two, None, &["experiment:v2"]).await.1;
    let back = restored(&one, None, "", &newer).await;
    assert_eq!((back.0, &back.1["written"]["runs"]), (200, &json!(4)), "{}", back.1);
    assert_eq!(archived(&one, None, &["dd"]).await.1, archived(&two, None, &["dd"]).await.1);
    for (app, text) in [(&one, "Here?"), (&two, "There?")] {
        done(app, "POST", "datasets/dd/items", &json!({"put": [{"input": text}]})).await;
    }
    let before = archived(&two, None, &["dd"]).await.1;
    let (status, told) = restored(&two, None, "", &archived(&one, None, &["dd"]).await.1).await;
    assert!(status == 409 && told["error"].as_str().unwrap().contains("datasets (dataset_id"), "{told}");
    assert_eq!(archived(&two, None, &["dd"]).await.1, before);
    one.stop().await.unwrap();

    // What was restored is durable.
    two.stop().await.unwrap();
    let two = start(config(there.path())).await;
    assert_eq!(archived(&two, None, &["dd"]).await.1, before);
    two.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_lands_with_its_tenant_and_brings_back_nothing_that_was_purged() {
    let folder = tempfile::tempdir().unwrap();
    let roles = [Role::Lab, Role::Query, Role::Admin];
    let who = tokens(&[
        ("a", Some("a"), &roles),
        ("b", Some("b"), &roles),
        ("reader", Some("b"), &[Role::Query]),
        ("chief", None, &[Role::Admin]),
    ]);
    let app = with_tokens(folder.path(), &who).await;
    for token in ["a", "b"] {
        assert_eq!(send(&app, "POST", "datasets", Some(token), &json!({"name": "d"})).await.0, 200);
    }
    let put = json!({"put": [{"external_id": "x", "input": "Who?"}, {"input": "What?"}]});
    assert_eq!(send(&app, "POST", "datasets/d/items", Some("a"), &put).await.0, 200);
    let bytes = archived(&app, Some("a"), &["d"]).await.1;

    // Another tenant's are not there, a taken name is told, and who only reads writes nothing.
    let id = send(&app, "GET", "datasets/d", Some("a"), &Json::Null).await.1["dataset_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let (status, told) = archived(&app, Some("b"), &[&format!("dataset:{id}")]).await;
    assert_eq!(status, 404, "{}", String::from_utf8_lossy(&told));
    assert_eq!(restored(&app, Some("reader"), "?as=e", &bytes).await.0, 403);
    let (status, told) = restored(&app, Some("b"), "", &bytes).await;
    assert!(status == 409 && told["error"].as_str().unwrap().contains("--as NAME"), "{told}");
    assert_eq!(restored(&app, Some("chief"), "?as=e", &bytes).await.0, 400);
    let (status, told) = restored(&app, Some("b"), "?as=e", &bytes).await;
    assert_eq!((status, &told["datasets"]), (200, &json!({"e": 2})), "{told}");
    let items = async |token: &str, dataset: &str| {
        let path = format!("datasets/{dataset}/items?format=json");
        send(&app, "GET", &path, Some(token), &Json::Null).await.1.as_array().unwrap().len()
    };
    assert_eq!((items("a", "d").await, items("b", "e").await, items("b", "d").await), (2, 2, 0));

    // What was purged stays purged, whatever an earlier archive has.
    assert_eq!(send(&app, "POST", "datasets/d/purge", Some("a"), &json!({"items": ["x"]})).await.0, 200);
    let (status, told) = restored(&app, Some("a"), "", &bytes).await;
    assert!(status == 409 && told["error"].as_str().unwrap().contains("purged"), "{told}");
    assert_eq!(items("a", "d").await, 1);
    // And an archive has the tombstone.
    let purged = archived(&app, Some("a"), &["d"]).await.1;
    assert_eq!(restored(&app, Some("chief"), "?tenant=c", &purged).await.0, 200);
    assert_eq!(items("b", "e").await, 2);
    let of_c = send(&app, "GET", "datasets/d/items?format=json&tenant=c", Some("chief"), &Json::Null).await.1;
    assert_eq!(of_c.as_array().unwrap().len(), 1, "{of_c}");

    // Version 3 of the same dataset is another one for each tenant, and what one purged the other still has.
    let put = json!({"put": [{"external_id": "x", "input": "Where?"}]});
    assert_eq!(send(&app, "POST", "datasets/e/items", Some("b"), &put).await.0, 200);
    let asked = async |token: &str, dataset: &str| {
        let new = json!({"name": "v", "dataset": dataset, "target": {"kind": "function"}, "evaluators": []});
        let (status, told) = send(&app, "POST", "experiments", Some(token), &new).await;
        assert_eq!(status, 200, "{told}");
        let todo = send(&app, "GET", "experiments/v/todo", Some(token), &Json::Null).await.1;
        todo.as_array().unwrap().iter().map(|run| run["input"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked("a", "d").await, ["What?"]);
    assert_eq!(asked("b", "e").await, ["Where?", "What?"]);
    app.stop().await.unwrap();
}

/// The number that a query of a token gives.
async fn counted(app: &App, token: &str, sql: &str) -> i64 {
    let url = format!("http://{}/v1/sql", app.addresses.http);
    let asked = reqwest::Client::new().post(url).bearer_auth(token).json(&json!({ "sql": sql }));
    let rows: Json = asked.send().await.unwrap().json().await.unwrap();
    rows[0]["n"].as_i64().unwrap_or_else(|| panic!("{sql}: {rows}"))
}

/// Three runs of the tenant a: two whose targets sent spans, three together, and one that names a trace of production.
async fn traced(app: &App) {
    let put = json!({"put": [{"input": "Who?"}, {"input": "What?"}, {"input": "Where?"}]});
    let asked =
        json!({"name": "v1", "dataset": "d", "target": {"kind": "function"}, "evaluators": ["looping"]});
    for (path, body) in
        [("datasets", &json!({"name": "d"})), ("datasets/d/items", &put), ("experiments", &asked)]
    {
        let (status, told) = send(app, "POST", path, Some("a"), body).await;
        assert_eq!(status, 200, "{told}");
    }
    let todo = send(app, "GET", "experiments/v1/todo", Some("a"), &Json::Null).await.1;
    let call = |run: usize, id: u64, parent: &str| {
        let output = r#"[{"role":"assistant","parts":[{"type":"text","content":"It depends."}]}]"#;
        let said = vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", output)];
        let (given, mut call) = (todo[run]["traceparent"].as_str().unwrap(), span(1, id, said));
        call.trace_id = hex::decode(&given[3..35]).unwrap();
        call.parent_span_id = hex::decode(parent).unwrap();
        call
    };
    let spans = vec![call(0, 1, ""), call(0, 2, "0000000000000002"), call(1, 1, ""), span(7, 7, Vec::new())];
    let production = hex::encode(&spans[3].trace_id);
    let sent = reqwest::Client::new()
        .post(format!("http://{}/v1/traces", app.addresses.otlp_http))
        .header("content-type", "application/x-protobuf")
        .bearer_auth("a")
        .body(request("shop", spans).encode_to_vec());
    assert_eq!(sent.send().await.unwrap().status(), 200);
    let answers: Vec<Json> = (0..3usize)
        .map(|at| {
            let mut run = json!({"item_id": todo[at]["item_id"], "repetition": 1, "output": "It depends."});
            if at == 2 {
                run["trace_id"] = json!(production);
            }
            run
        })
        .collect();
    let (status, told) = send(app, "POST", "experiments/v1/runs", Some("a"), &json!(answers)).await;
    assert_eq!((status, &told["stored"]), (200, &json!(3)), "{told}");
    until("the spans", async || counted(app, "a", "SELECT count(*) AS n FROM spans").await == 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_of_runs_come_back_once_and_those_of_production_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let roles = [Role::Ingest, Role::Lab, Role::Query];
    let who = tokens(&[("a", Some("a"), &roles), ("b", Some("b"), &roles), ("chief", None, &[Role::Admin])]);
    let app = with_tokens(folder.path(), &who).await;
    traced(&app).await;
    let plain = archived(&app, Some("a"), &["d"]).await.1;
    assert_eq!(traces_of(&plain), None);
    let wanted = json!({"names": ["d"], "with_traces": true});
    let (status, bytes) = made(&app, Some("a"), "", &wanted).await;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    assert_eq!(traces_of(&bytes), Some(OfTraces { traces: 2, spans: 3, left_out: 1 }));
    assert_eq!(made(&app, Some("a"), "", &wanted).await.1, bytes, "the same rows give the same bytes");

    // Under another name the runs still name their spans, which are the other tenant's now.
    let all = "SELECT count(*) AS n FROM spans";
    let linked = "SELECT count(*) AS n FROM runs_latest r JOIN spans s USING (trace_id) WHERE s.answer = 'It depends.' \
                  AND s.service_name = 'shop'";
    let (status, tried) = restored(&app, Some("b"), "?as=e&dry_run=true", &bytes).await;
    assert_eq!((status, &tried["written"]["spans"]), (200, &json!(3)), "{tried}");
    assert_eq!(counted(&app, "b", all).await, 0);
    let (status, told) = restored(&app, Some("b"), "?as=e", &bytes).await;
    assert_eq!((status, &told["written"]["spans"], &told["there"]), (200, &json!(3), &json!(0)), "{told}");
    assert_eq!((counted(&app, "b", all).await, counted(&app, "b", linked).await), (3, 3));
    let again = restored(&app, Some("b"), "?as=e", &bytes).await.1;
    assert!(again["written"].as_object().unwrap().values().all(|rows| *rows == 0), "{again}");
    assert_eq!((counted(&app, "b", all).await, counted(&app, "a", all).await), (3, 4));

    // Spans come to runs that were restored without them, and the whole gives the same bytes again.
    assert_eq!(restored(&app, Some("chief"), "?tenant=c", &plain).await.0, 200);
    let (status, told) = restored(&app, Some("chief"), "?tenant=c", &bytes).await;
    assert_eq!(
        (status, &told["written"]["spans"], &told["written"]["runs"]),
        (200, &json!(3), &json!(0)),
        "{told}"
    );
    assert_eq!(made(&app, Some("chief"), "?tenant=c", &wanted).await.1, bytes);

    // What was purged is gone with its spans, and no archive brings them back.
    let purge = send(&app, "POST", "datasets/d/purge?tenant=a", Some("chief"), &json!({"all": true})).await;
    assert_eq!(purge.0, 200, "{}", purge.1);
    assert_eq!(counted(&app, "a", all).await, 1);
    assert_eq!(restored(&app, Some("a"), "", &bytes).await.0, 409);
    assert_eq!((counted(&app, "a", all).await, counted(&app, "b", linked).await), (1, 3));
    app.stop().await.unwrap();
}

const LATER: &str = "the archive has format 99, and this release reads up to 3: a later release made it; restore it with that one or a newer one; nothing was changed";

/// The same archive as a release would make it that this one does not know.
fn of_a_later_release(archive: &[u8]) -> Vec<u8> {
    let mut files = unzipped(archive).unwrap();
    let mut manifest: Json = serde_json::from_slice(&files["manifest.json"]).unwrap();
    (manifest["format"], manifest["more"]) = (json!(99), json!({"tables": 12}));
    files.insert("manifest.json".to_owned(), serde_json::to_vec(&manifest).unwrap());
    zipped(&files).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_archive_or_was_changed_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    filled(&app).await;
    let bytes = archived(&app, None, &["v1"]).await.1;
    for (names, status, told) in [
        (vec!["nobody"], 404, "groundline experiment list"),
        (vec!["dd@1"], 400, "leave the version out"),
        (vec![], 400, "name 1 to 100"),
    ] {
        let (got, text) = archived(&app, None, &names).await;
        let text = String::from_utf8(text).unwrap();
        assert!(got == status && text.contains(told), "{got}: {text}");
    }
    let cut = &bytes[..bytes.len() / 2];
    let mut flipped = bytes.clone();
    // A byte of the packed content of the first file.
    flipped[90] ^= 0x40;
    for (what, sent, told) in [
        ("cut off", cut, "cut off"),
        ("changed", &flipped, "damaged"),
        ("empty", b"" as &[u8], "cut off"),
        ("a CSV file", b"input\nWho?\n", "no archive"),
    ] {
        let (status, text) = restored(&app, None, "", sent).await;
        assert!(status == 400 && text["error"].as_str().unwrap().contains(told), "{what}: {text}");
    }
    assert_eq!(restored(&app, None, "?as=a%40b", &bytes).await.0, 400);
    // What a later release made is told with its format and ours, whatever is asked, and nothing of it is taken.
    let (later, before) = (of_a_later_release(&bytes), archived(&app, None, &["dd"]).await.1);
    for params in ["", "?as=again", "?dry_run=true"] {
        let (status, told) = restored(&app, None, params, &later).await;
        assert_eq!((status, &told["error"]), (400, &json!(LATER)), "{params}");
    }
    assert_eq!(archived(&app, None, &["dd"]).await.1, before);
    assert_eq!(archived(&app, None, &["again"]).await.0, 404);
    let production = "SELECT count(*) AS n FROM scores WHERE source <> 'experiment'";
    assert_eq!(query(app.addresses.http, production).await[0]["n"], 0);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_verbs_archive_and_restore_work_on_a_server_and_on_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(&folder.path().join("data"))).await;
    let url = format!("http://{}", app.addresses.http);
    well(&["dataset", "import", "geography", &example()], &["--url", &url]).await;
    let file = |name: &str| folder.path().join(name).display().to_string();
    let said =
        well(&["lab", "archive", "geography", "--with-traces", "-o", &file("1.zip")], &["--url", &url]).await;
    assert!(said.contains("1.zip: ") && said.ends_with("; 0 spans of 0 traces\n"), "{said}");
    app.stop().await.unwrap();

    let other = folder.path().join("other").display().to_string();
    // What a server may be sent is no bound of the folder's own archive.
    let small = file("small.toml");
    std::fs::write(&small, "[lab]\nmax_import_size = \"1KiB\"\n").unwrap();
    assert!(std::fs::metadata(file("1.zip")).unwrap().len() > 1_024);
    let place = ["--data-dir", other.as_str(), "--config", small.as_str()];
    let said = well(&["lab", "restore", &file("1.zip"), "--dry-run"], &place).await;
    assert!(
        said.starts_with("geography: 1 versions\n") && said.ends_with("(nothing was stored)\n"),
        "{said}"
    );
    // One of a later release is refused by its format. Below, nothing of it is there.
    std::fs::write(file("later.zip"), of_a_later_release(&std::fs::read(file("1.zip")).unwrap())).unwrap();
    let refused = verb(&["lab", "restore", &file("later.zip")], &place).await;
    assert_eq!(refused, (1, String::new(), format!("groundline lab: {LATER}\n")));
    let said = well(&["lab", "restore", &file("1.zip")], &place).await;
    assert_eq!(
        said,
        "geography: 1 versions\n0 experiments; rows written: 6 of dataset_items, 1 of datasets, 0 of experiments, 0 of runs, \
         0 of scores; 0 were there\n"
    );
    well(&["lab", "archive", "geography", "--with-traces", "--output", &file("2.zip")], &place).await;
    assert_eq!(std::fs::read(file("1.zip")).unwrap(), std::fs::read(file("2.zip")).unwrap());
    let (code, _, err) = verb(&["lab", "restore", &file("none.zip")], &place).await;
    assert!(code == 1 && err.contains("none.zip"), "{err}");
}

const SUITE: &str = "[suite]\nname = \"places\"\nrepetitions = 1\n[[check]]\noperator = \"less_than_length\"\ncriteria = \"40\"\n\
    [[test]]\nid = \"a\"\ninput = \"Where is the Bay Area?\"\ncheck = [{ operator = \"includes_exactly\", criteria = \"California\" }]\n\
    [[test]]\nid = \"b\"\ninput = \"Is it far?\"\ncheck = [{ operator = \"includes_exactly\", criteria = \"Yes\" }]\n";

/// A suite with a run, of which one verdict was edited, and a review of one of its answers.
async fn reviewed(app: &App) -> String {
    let url = format!("http://{}/v1/lab/suites/import?format=toml", app.addresses.http);
    let sent = reqwest::Client::new().post(url).header("content-type", "application/toml").body(SUITE);
    let answer = sent.send().await.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    let answers =
        json!({"answers": [{"test": "a", "output": "In California."}, {"test": "b", "output": "No."}]});
    let ran = done(app, "POST", "suites/places/run", &answers).await;
    let id = ran["experiment_id"].as_str().unwrap().to_owned();
    let failed = "SELECT run_id, check_id FROM check_results WHERE auto_eval = 'fail'";
    let failed = query(app.addresses.http, failed).await;
    let edit = json!({"run_id": failed[0]["run_id"], "check_id": failed[0]["check_id"], "auto_eval": "pass", "feedback": "fine"});
    done(app, "POST", &format!("experiments/{id}/checks"), &edit).await;
    let templates = json!([{"name": "tone", "type": "categorical", "categories": ["polite", "rude"]}]);
    let queue =
        json!({"name": "tone", "source": {"experiment": id}, "templates": templates, "auto_evals": false});
    done(app, "POST", "queues", &queue).await;
    let given = done(app, "POST", "queues/tone/claim", &json!({"reviewer": "ana"})).await;
    let path = format!("queues/tone/items/{}/answer", given["items"][0]["item"].as_str().unwrap());
    done(app, "POST", &path, &json!({"reviewer": "ana", "templates": {"tone": "rude"}, "comment": "short"}))
        .await;
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suites_and_reviews_come_back_with_the_same_bytes() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, two) = (start(config(here.path())).await, start(config(there.path())).await);
    let id = reviewed(&one).await;
    let (status, bytes) = archived(&one, None, &["suite/places"]).await;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    let (status, told) = restored(&two, None, "", &bytes).await;
    assert_eq!((status, &told["there"], &told["experiments"]), (200, &json!(0), &json!(1)), "{told}");
    for (table, rows) in [
        ("suite_tests", 2),
        ("suite_checks", 3),
        ("check_results", 5),
        ("review_queues", 1),
        ("review_items", 2),
        ("review_answers", 1),
        ("annotations", 1),
    ] {
        assert_eq!(told["written"][table], rows, "{table}: {told}");
    }
    assert_eq!(
        archived(&two, None, &["suite/places"]).await.1,
        bytes,
        "export, import and export give equal bytes"
    );
    for path in [
        "suites/places?format=toml",
        &format!("experiments/{id}/export?part=results"),
        "queues/tone/export?format=json",
        "queues/tone/agreement",
    ] {
        assert_eq!(
            done(&two, "GET", path, &Json::Null).await,
            done(&one, "GET", path, &Json::Null).await,
            "{path}"
        );
    }

    // Again nothing is written. What people did there since comes back here, into the queue that is in use.
    let again = restored(&two, None, "", &bytes).await.1;
    assert!(again["written"].as_object().unwrap().values().all(|rows| *rows == 0), "{again}");
    let given = done(&two, "POST", "queues/tone/claim", &json!({"reviewer": "ben"})).await;
    let path = format!("queues/tone/items/{}/answer", given["items"][0]["item"].as_str().unwrap());
    done(&two, "POST", &path, &json!({"reviewer": "ben", "templates": {"tone": "polite"}})).await;
    let newer = archived(&two, None, &["suite/places"]).await.1;
    let back = restored(&one, None, "", &newer).await;
    assert_eq!((back.0, &back.1["written"]["review_answers"]), (200, &json!(1)), "{}", back.1);
    let counts = done(&one, "GET", "queues/tone", &Json::Null).await["counts"].clone();
    assert_eq!((&counts["final"], &counts["open"]), (&json!(2), &json!(0)), "{counts}");

    // A name that another suite has is told, and so is another name for its tests.
    let (status, told) = restored(&two, None, "?as=other", &bytes).await;
    assert!(status == 400 && told["error"].as_str().unwrap().contains("both keep their names"), "{told}");
    let production = "SELECT count(*) FROM scores_latest";
    assert_eq!(count(two.addresses.http, production).await, 0);
    one.stop().await.unwrap();
    two.stop().await.unwrap();
}
