//! Datasets over HTTP and SQL.

use super::{done, send};
use crate::access::{tokens, with_tokens};
use crate::support::{config, query, settled, span, start, text};
use groundline::app::App;
use groundline::net::Role;
use serde_json::{Value as Json, json};

async fn file(app: &App, path: &str, kind: &str, body: &str) -> (u16, Json) {
    let url = format!("http://{}/v1/lab/{path}", app.addresses.http);
    let sent = reqwest::Client::new().post(url).header("content-type", kind).body(body.to_owned());
    let answer = sent.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn inputs(app: &App, sql: &str) -> Vec<String> {
    let rows = query(app.addresses.http, sql).await;
    rows.iter().map(|row| row["input"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_is_a_version_and_each_can_be_read_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let made =
        done(&app, "POST", "datasets", &json!({"name": "refunds", "description": "What users ask."})).await;
    assert_eq!((&made["version"], &made["items"]), (&json!(1), &json!(0)));
    let put = json!({"put": [
        {"external_id": "a", "input": {"question": "How long?"}, "expected": "14 days"},
        {"external_id": "b", "input": "How much?", "expected output": "All of it", "tags": ["money"]},
    ], "message": "first", "if_version": 1});
    let two = done(&app, "POST", "datasets/refunds/items", &put).await;
    assert_eq!((&two["version"], &two["put"], &two["items"]), (&json!(2), &json!(2), &json!(2)));
    // The same again is no change, with the keys in another order too.
    let again =
        json!({"put": [{"expected": "14 days", "input": {"question": "How long?"}, "external_id": "a"}]});
    let same = done(&app, "POST", "datasets/refunds/items", &again).await;
    assert_eq!((&same["version"], &same["unchanged"]), (&json!(2), &json!(1)));
    let change =
        json!({"put": [{"external_id": "a", "input": {"question": "How many days?"}}], "delete": ["b"]});
    let three = done(&app, "POST", "datasets/refunds/items", &change).await;
    assert_eq!((&three["version"], &three["put"], &three["deleted"]), (&json!(3), &json!(1), &json!(1)));
    assert_ne!(three["content_hash"], two["content_hash"]);

    let diff = done(&app, "GET", "datasets/refunds/diff?from=2&to=3", &Json::Null).await;
    assert_eq!(diff["changed"][0]["after"]["input"]["question"], "How many days?");
    assert_eq!(
        (diff["removed"][0]["input"].as_str(), diff["added"].as_array().unwrap().len()),
        (Some("How much?"), 0)
    );

    let four = done(&app, "POST", "datasets/refunds/revert", &json!({"to": 2})).await;
    assert_eq!((&four["version"], &four["content_hash"]), (&json!(4), &two["content_hash"]));
    let versions = done(&app, "GET", "datasets/refunds/versions", &Json::Null).await;
    let changes: Vec<&str> =
        versions["versions"].as_array().unwrap().iter().map(|v| v["change"].as_str().unwrap()).collect();
    assert_eq!(changes, ["revert", "put", "put", "create"]);

    // SQL sees every version; reading an old one changes nothing.
    assert_eq!(
        inputs(&app, "SELECT input FROM dataset_at('refunds', 3)").await,
        ["{\"question\":\"How many days?\"}"]
    );
    let old = inputs(&app, "SELECT input FROM dataset_at('refunds', 2) ORDER BY ordinal").await;
    assert_eq!(old, ["{\"question\":\"How long?\"}", "\"How much?\""]);
    assert_eq!(inputs(&app, "SELECT input FROM dataset_items_latest ORDER BY ordinal").await, old);
    let newest = query(app.addresses.http, "SELECT name, version, items FROM datasets_latest").await;
    assert_eq!(newest, [json!({"name": "refunds", "version": 4, "items": 2})]);
    let old = done(&app, "GET", "datasets/refunds@3", &Json::Null).await;
    assert_eq!((&old["version"], &old["items"]), (&json!(3), &json!(1)));

    // It is all there after a restart.
    app.stop().await.unwrap();
    let app = start(config(folder.path())).await;
    assert_eq!(inputs(&app, "SELECT input FROM dataset_at('refunds', 1)").await, Vec::<String>::new());
    assert_eq!(inputs(&app, "SELECT input FROM dataset_at('refunds')").await.len(), 2);
    app.stop().await.unwrap();
}

/// Two people change one version: one of them is told, and nothing of the other's is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_changes_of_one_version_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    done(&app, "POST", "datasets", &json!({"name": "d"})).await;
    let put = |input: &str| json!({"put": [{"input": input}], "if_version": 1});
    let (one, other) = (put("one"), put("other"));
    let (one, other) = tokio::join!(
        send(&app, "POST", "datasets/d/items", None, &one),
        send(&app, "POST", "datasets/d/items", None, &other)
    );
    let mut statuses = [one.0, other.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{one:?} {other:?}");
    let refused = if one.0 == 409 { one.1 } else { other.1 };
    assert_eq!(refused["version"], 2);
    assert!(refused["error"].as_str().unwrap().contains("is in version 2, not 1"), "{refused}");
    assert_eq!(inputs(&app, "SELECT input FROM dataset_at('d')").await.len(), 1);
    let taken = send(&app, "POST", "datasets", None, &json!({"name": "d"})).await;
    assert_eq!(taken.0, 409, "{taken:?}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_imported_as_a_whole_or_every_fault_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let bad = "input.question,expected,weight\nWhere?,There.,1\nWhen?,Then.,heavy\n,Nothing.,1\n";
    let (status, told) = file(&app, "datasets/d/import?create=true", "text/csv", bad).await;
    assert_eq!(status, 400, "{told}");
    let faults = told["faults"].as_array().unwrap();
    assert_eq!((&faults[0]["line"], &faults[0]["column"]), (&json!(3), &json!("weight")));
    assert_eq!((&faults[1]["line"], &faults[1]["column"]), (&json!(4), &json!("input")));
    assert_eq!(send(&app, "GET", "datasets/d", None, &Json::Null).await.0, 404, "nothing was stored");

    let (_, tried) =
        file(&app, "datasets/d/import?create=true&partial=true&dry_run=true", "text/csv", bad).await;
    assert_eq!((&tried["items"], tried["faults"].as_array().unwrap().len()), (&json!(1), 2));
    assert_eq!(send(&app, "GET", "datasets/d", None, &Json::Null).await.0, 404, "it was only tried");
    let (_, some) =
        file(&app, "datasets/d/import?create=true&partial=true&file=bad.csv", "text/csv", bad).await;
    assert_eq!((&some["version"], &some["put"]), (&json!(1), &json!(1)));

    // A file twice, in another order and with an item doubled, is one version.
    let good = "{\"input\": \"a\"}\n{\"input\": \"b\", \"id\": 7}\n";
    let (_, first) = file(&app, "datasets/d/import?replace=true", "application/x-ndjson", good).await;
    assert_eq!((&first["version"], &first["items"], &first["deleted"]), (&json!(2), &json!(2), &json!(1)));
    let turned = "{\"input\": \"b\", \"id\": 7}\n{\"input\": \"a\"}\n{\"input\": \"a\"}\n";
    let (_, again) = file(&app, "datasets/d/import", "application/x-ndjson", turned).await;
    assert_eq!(
        (&again["version"], &again["duplicates"], &again["unchanged"]),
        (&json!(2), &json!(1), &json!(2))
    );
    let source = done(&app, "GET", "datasets/d@1", &Json::Null).await;
    assert_eq!((&source["source"]["file"], &source["change"]), (&json!("bad.csv"), &json!("import")));

    // What a form of a web page can send is refused, and so is what is not text.
    assert_eq!(file(&app, "datasets/d/import", "text/plain", good).await.0, 400);
    let (status, zip) = file(&app, "datasets/d/import", "application/octet-stream", "PK\u{3}\u{4}").await;
    assert!(status == 400 && zip["error"].as_str().unwrap().contains("cut off"), "{zip}");
    for (format, begins) in [("csv", "item_id,"), ("json", "["), ("openai_ft", "{\"messages\"")] {
        let (_, text) =
            send(&app, "GET", &format!("datasets/d/items?format={format}"), None, &Json::Null).await;
        let text = if let Json::String(text) = text { text } else { text.to_string() };
        assert!(text.starts_with(begins), "{format}: {text}");
    }
    app.stop().await.unwrap();
}

/// One statement makes a dataset of traces, which keeps where each item came from and how likely it was to be chosen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_makes_a_dataset_of_traces() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let call = |n: u64| {
        let input = format!(
            "[{{\"role\":\"user\",\"parts\":[{{\"type\":\"text\",\"content\":\"Question {n}?\"}}]}}]"
        );
        span(n, 0, vec![text("gen_ai.operation.name", "chat"), text("gen_ai.input.messages", &input)])
    };
    assert!(crate::support::send(app.addresses.otlp_http, (1..=3).map(call).collect()).await);
    settled(&app).await;
    let sql = "SELECT question AS input, trace_id, span_id, 0.5 AS inclusion_probability FROM spans ORDER BY question";
    let made = done(&app, "POST", "datasets/asked/import?create=true", &json!({ "sql": sql })).await;
    assert_eq!((&made["put"], &made["version"]), (&json!(3), &json!(1)));
    let rows =
        "SELECT input, source_trace_id, inclusion_probability FROM dataset_at('asked') ORDER BY ordinal";
    let rows = query(app.addresses.http, rows).await;
    assert_eq!(
        (&rows[0]["input"], &rows[0]["inclusion_probability"]),
        (&json!("\"Question 1?\""), &json!(0.5))
    );
    assert_eq!(rows[0]["source_trace_id"].as_str().unwrap().len(), 32);
    let wrong = send(&app, "POST", "datasets/asked/import", None, &json!({"sql": "DELETE FROM spans"})).await;
    assert!(wrong.0 == 400 && wrong.1["error"].as_str().unwrap().contains("read-only"), "{wrong:?}");
    app.stop().await.unwrap();
}

/// An import by a query has the rows of its own tenant, whatever the query names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_query_imports_the_spans_of_another_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let roles = [Role::Ingest, Role::Lab, Role::Query];
    let who = tokens(&[("a", Some("a"), &roles), ("b", Some("b"), &roles)]);
    let app = with_tokens(folder.path(), &who).await;
    for (token, trace) in [("a", 1), ("b", 2)] {
        let call = span(trace, 0, vec![text("gen_ai.operation.name", "chat"), text("whose", token)]);
        let body = prost::Message::encode_to_vec(&crate::support::request("shop", vec![call]));
        let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
        let sent = reqwest::Client::new().post(url).bearer_auth(token).body(body);
        let sent = sent.header("content-type", "application/x-protobuf").send().await.unwrap();
        assert_eq!(sent.status(), 200);
    }
    settled(&app).await;
    for (name, sql) in [
        ("all", "SELECT attributes AS input FROM spans"),
        ("named", "SELECT attributes AS input FROM spans WHERE tenant = 'a' OR tenant = 'b'"),
        ("joined", "SELECT s.attributes AS input FROM spans s JOIN traces t USING (trace_id)"),
    ] {
        let path = format!("datasets/{name}/import?create=true");
        let (status, told) = send(&app, "POST", &path, Some("b"), &json!({ "sql": sql })).await;
        assert_eq!((status, &told["put"]), (200, &json!(1)), "{name}: {told}");
        let items = send(&app, "GET", &format!("datasets/{name}/items"), Some("b"), &Json::Null).await.1;
        assert!(!items.to_string().contains("\\\"a\\\""), "{name}: {items}");
        assert!(items.to_string().contains("whose"), "{name}: {items}");
    }
    let wrong = json!({"sql": "SELECT attributes AS input FROM spans WHERE tenant = 'a'"});
    let none = send(&app, "POST", "datasets/theirs/import?create=true", Some("b"), &wrong).await.1;
    assert!(none["put"].is_null() || none["put"] == 0, "{none}");
    app.stop().await.unwrap();
}

/// Another tenant's dataset is not there, whoever asks; reading takes one role and writing another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dataset_belongs_to_a_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let who = tokens(&[
        ("lab-a", Some("a"), &[Role::Lab, Role::Query]),
        ("lab-b", Some("b"), &[Role::Lab, Role::Query]),
        ("read-a", Some("a"), &[Role::Query]),
        ("chief", None, &[Role::Admin]),
    ]);
    let app = with_tokens(folder.path(), &who).await;
    let put = json!({"put": [{"input": "a's question"}]});
    let new = json!({"name": "d"});
    assert_eq!(send(&app, "POST", "datasets", Some("lab-a"), &new).await.0, 200);
    assert_eq!(send(&app, "POST", "datasets/d/items", Some("lab-a"), &put).await.0, 200);
    for (token, method, path, body, status) in [
        (Some("read-a"), "GET", "datasets/d/items", &Json::Null, 200),
        (Some("read-a"), "POST", "datasets/d/items", &put, 403),
        (Some("lab-b"), "GET", "datasets/d", &Json::Null, 404),
        (Some("lab-b"), "POST", "datasets/d/items", &put, 404),
        (Some("lab-b"), "GET", "datasets/d?tenant=a", &Json::Null, 404),
        (None, "GET", "datasets", &Json::Null, 401),
        (Some("chief"), "GET", "datasets/d", &Json::Null, 400),
        (Some("chief"), "GET", "datasets/d?tenant=a", &Json::Null, 200),
        (Some("lab-b"), "POST", "datasets", &new, 200),
    ] {
        let (got, answer) = send(&app, method, path, token, body).await;
        assert_eq!(got, status, "{token:?} {method} {path}: {answer}");
    }
    let sql = json!({"sql": "SELECT input FROM dataset_at('d')"});
    for (token, rows) in [("read-a", 1), ("lab-b", 0)] {
        let url = format!("http://{}/v1/sql", app.addresses.http);
        let sent = reqwest::Client::new().post(url).bearer_auth(token).json(&sql);
        let answer: Json = sent.send().await.unwrap().json().await.unwrap();
        assert_eq!(answer.as_array().map(Vec::len), Some(rows), "{token}: {answer}");
    }
    let versions = send(&app, "GET", "datasets/d/versions", Some("read-a"), &Json::Null).await.1;
    assert_eq!(versions["versions"][0]["created_by"], "lab-a");
    app.stop().await.unwrap();
}

/// What is redacted in spans is redacted in items, before it is stored and hashed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_item_holds_what_is_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.ingest.redact.kinds = vec!["email".to_owned()];
    let app = start(config).await;
    done(&app, "POST", "datasets", &json!({"name": "d"})).await;
    let put = json!({"put": [{"input": {"question": "Write to jane.doe@example.org"}}]});
    done(&app, "POST", "datasets/d/items", &put).await;
    assert_eq!(
        inputs(&app, "SELECT input FROM dataset_at('d')").await,
        ["{\"question\":\"Write to [EMAIL]\"}"]
    );
    app.stop().await.unwrap();
}

/// A page may send JSON alone: the text of a file comes inside of it, is tried first, and every fault is told by its line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_text_of_a_file_comes_as_json_too() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let text = json!({"file_text": "input,expected\nWhat is one?,1\ntoo short\nWhat is two?,2\n"});
    let path = "datasets/page/import?create=true&file=page.csv";
    let tried = done(&app, "POST", &format!("{path}&dry_run=true&partial=true"), &text).await;
    assert_eq!((&tried["put"], &tried["faults"][0]["line"]), (&json!(2), &json!(3)), "{tried}");
    assert_eq!(send(&app, "GET", "datasets/page", None, &Json::Null).await.0, 404, "a trial makes nothing");
    let (status, told) = send(&app, "POST", path, None, &text).await;
    assert!(status == 400 && told["faults"][0]["line"] == 3, "{told}");
    let taken = done(&app, "POST", &format!("{path}&partial=true"), &text).await;
    assert_eq!((&taken["put"], &taken["version"]), (&json!(2), &json!(1)), "{taken}");
    app.stop().await.unwrap();
}

/// A strict schema refuses a change as a whole, one that warns lets it in; what is there is held against a new one first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_are_held_against_the_schemas_of_their_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    done(&app, "POST", "datasets", &json!({"name": "d"})).await;
    let item = |id: &str, input: Json| json!({"external_id": id, "input": input, "metadata": {"level": id}});
    let put = json!({"put": [item("a", json!({"question": "Who?"})), item("b", json!("Where?"))]});
    done(&app, "POST", "datasets/d/items", &put).await;
    let asked = json!({"type": "object", "required": ["question"]});
    let (status, told) = send(&app, "PATCH", "datasets/d", None, &json!({ "input_schema": asked })).await;
    let why = told["faults"][0]["message"].as_str().unwrap();
    assert!(status == 400 && why.contains("item \"b\"") && why.contains("(rule /type)"), "{told}");
    assert_eq!(done(&app, "GET", "datasets/d", &Json::Null).await["version"], 2);

    done(&app, "POST", "datasets/d/items", &json!({"put": [item("b", json!({"question": "Where?"}))]})).await;
    let level = json!({"properties": {"level": {"type": "integer"}}, "x-mode": "warn"});
    let edit = json!({"input_schema": asked, "metadata_schema": level});
    let head = done(&app, "PATCH", "datasets/d", &edit).await;
    assert_eq!(
        (&head["version"], &head["change"], &head["input_schema"]),
        (&json!(4), &json!("schema"), &asked)
    );
    let wrong =
        json!({"put": [item("c", json!({"question": "What?"})), item("d", json!({"query": "What?"}))]});
    let (status, told) = send(&app, "POST", "datasets/d/items", None, &wrong).await;
    assert_eq!(
        (status, &told["faults"][0]["item"], &told["faults"][0]["column"]),
        (400, &json!(2), &json!("input")),
        "{told}"
    );
    let right = json!({"put": [item("c", json!({"question": "What?"}))]});
    let told = done(&app, "POST", "datasets/d/items", &right).await;
    assert_eq!(
        (&told["version"], &told["warnings"][0]["column"]),
        (&json!(5), &json!("metadata/level")),
        "{told}"
    );

    // A file is told by its lines; with partial its good ones are taken. The schemas go with the versions.
    let lines = "{\"external_id\":\"e\",\"input\":{\"question\":\"Why?\"}}\n{\"external_id\":\"f\",\"input\":\"Why?\"}\n";
    let body = json!({ "file_text": lines });
    let (status, told) = send(&app, "POST", "datasets/d/import?format=jsonl", None, &body).await;
    assert_eq!((status, &told["faults"][0]["line"]), (400, &json!(2)), "{told}");
    let told = done(&app, "POST", "datasets/d/import?format=jsonl&partial=true", &body).await;
    assert_eq!((&told["put"], &told["faults"][0]["line"]), (&json!(1), &json!(2)), "{told}");
    assert_eq!(done(&app, "GET", "datasets/d", &Json::Null).await["input_schema"], asked);
    let head = done(&app, "PATCH", "datasets/d", &json!({"input_schema": null})).await;
    assert!(head.get("input_schema").is_none() && head["metadata_schema"] == level, "{head}");
    let (status, told) =
        send(&app, "PATCH", "datasets/d", None, &json!({"input_schema": {"type": "oject"}})).await;
    assert!(status == 400 && told["faults"][0]["column"] == "input_schema", "{told}");

    let url = format!("http://{}", app.addresses.http);
    let file = folder.path().join("s.json").display().to_string();
    std::fs::write(&file, asked.to_string()).unwrap();
    let place = ["--url", url.as_str()];
    let shown =
        super::verbs::well(&["dataset", "schema", "d", "--input", &file, "--clear", "metadata"], &place)
            .await;
    assert!(shown.contains("input: {\"type\":\"object\"") && !shown.contains("metadata:"), "{shown}");
    app.stop().await.unwrap();
}
