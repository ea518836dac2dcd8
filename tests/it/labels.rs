//! Items to label, from the draw to the corrected rate; labels as files; who may what.

mod sent;

use crate::access::{tokens, with_tokens};
use crate::support::{config, count, query, request, settled, span, start, text};
use groundline::app::App;
use groundline::config::Config;
use groundline::net::Role;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;

const METRIC: &str = "unique_sentences";

/// A model call; every third answer says the same again and again.
fn chat(n: u64) -> Span {
    let answer = match n % 3 {
        0 => "It is a lamp. ".repeat(12),
        _ => format!("The lamp number {n} is bright. It costs {n} euros. You may return it."),
    };
    let messages = |role: &str, content: &str| {
        json!([{"role": role, "parts": [{"type": "text", "content": content}], "finish_reason": "stop"}])
            .to_string()
    };
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", "m"),
        text("gen_ai.input.messages", &messages("user", "What is it?")),
        text("gen_ai.output.messages", &messages("assistant", &answer)),
    ];
    span(n, 0, attributes)
}

/// Rules that judge every trace by one quick evaluator.
fn quick(folder: &Path) -> Config {
    let mut config = config(folder);
    for rule in &mut config.sample.rules {
        rule.evaluators = vec!["looping".to_owned()];
    }
    config
}

async fn send(app: &App, token: Option<&str>, spans: Vec<Span>) {
    let mut sent = reqwest::Client::new()
        .post(format!("http://{}/v1/traces", app.addresses.otlp_http))
        .header("content-type", "application/x-protobuf")
        .body(request("shop", spans).encode_to_vec());
    if let Some(token) = token {
        sent = sent.bearer_auth(token);
    }
    assert_eq!(sent.send().await.unwrap().status(), 200);
}

async fn get(at: SocketAddr, path: &str, token: Option<&str>) -> (u16, Json) {
    let mut request = reqwest::Client::new().get(format!("http://{at}{path}"));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
}

async fn post(at: SocketAddr, token: Option<&str>, body: &Json) -> (u16, Json) {
    let mut request = reqwest::Client::new().post(format!("http://{at}/v1/annotations")).json(body);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn next(at: SocketAddr, who: &str, count: usize) -> Vec<Json> {
    let path = format!("/v1/labels/next?metric={METRIC}&reviewer={who}&count={count}");
    let (status, answer) = get(at, &path, None).await;
    assert_eq!(status, 200, "{answer}");
    answer["items"].as_array().unwrap().clone()
}

/// What a person says: every third answer is bad.
fn label(item: &Json) -> &'static str {
    let trace = item["trace_id"].as_str().unwrap();
    let n = u64::from_str_radix(&trace[16..], 16).unwrap();
    if n.is_multiple_of(3) { "fail" } else { "pass" }
}

fn answer(item: &Json, who: &str, label: &str) -> Json {
    json!({"item": item["item"], "name": METRIC, "label": label, "annotator": who, "seconds": 2.5})
}

fn ids(items: &[Json]) -> Vec<&str> {
    items.iter().map(|item| item["item"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drawn_items_are_labelled_and_correct_the_rate() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.labels.draw_size = 40;
    let app = start(config.clone()).await;
    let at = app.addresses.http;
    send(&app, None, (1..=120).map(chat).collect()).await;
    settled(&app).await;
    // Two people never hold the same item, and nothing says what the evaluator thinks.
    let (ana, ben) = (next(at, "ana", 3).await, next(at, "ben", 3).await);
    assert!(ids(&ana).iter().all(|id| !ids(&ben).contains(id)), "{ana:?}");
    assert_eq!(ids(&next(at, "ana", 3).await), ids(&ana));
    let shown = &ana[0];
    assert_eq!(shown["content"]["question"], "What is it?");
    assert!(shown["content"]["answer"].as_str().unwrap().contains("lamp"));
    assert!(!shown.to_string().contains("passed") && !shown.to_string().contains("evaluator"), "{shown}");
    // The answer is taken once, and only then the evaluator's verdict is told.
    let mut said = answer(shown, "ana", label(shown));
    said["annotation_id"] = json!("first");
    let (status, told) = post(at, None, &said).await;
    assert_eq!((status, told["items"][0]["state"].as_str()), (200, Some("final")), "{told}");
    assert_eq!(told["items"][0]["evaluator"]["evaluator"], "looping");
    assert_eq!(post(at, None, &said).await, (200, told), "sent twice is taken once");
    let (status, twice) = post(at, None, &answer(shown, "ana", "fail")).await;
    assert_eq!(status, 409, "{twice}");
    // A restart forgets leases, and nothing else.
    app.stop().await.unwrap();
    let app = start(config).await;
    let at = app.addresses.http;
    let mut asked: HashSet<String> = HashSet::from([shown["item"].as_str().unwrap().to_owned()]);
    loop {
        let items = next(at, "eva", 10).await;
        if items.is_empty() {
            break;
        }
        let answers: Vec<Json> = items.iter().map(|item| answer(item, "eva", label(item))).collect();
        let (status, told) = post(at, None, &json!(answers)).await;
        assert_eq!((status, &told["refused"]), (200, &json!([])), "{told}");
        assert!(ids(&items).iter().all(|id| asked.insert((*id).to_owned())), "asked twice");
    }
    // Chance draws fewer than 18 or more than 65 once in a hundred thousand runs.
    assert!((18..=65).contains(&asked.len()), "{} of 120 were drawn, 40 were wanted", asked.len());
    settled(&app).await;
    assert_eq!(count(at, "SELECT count(*) FROM review_answers").await, asked.len() as i64);
    corrected(at, asked.len()).await;
    app.stop().await.unwrap();
}

/// The labels carry the probability of their draw, and the rate that they correct holds what people would say of all.
async fn corrected(at: SocketAddr, labels: usize) {
    let kept = "SELECT count(*) FROM annotations a JOIN review_items i ON a.item = i.item \
                WHERE a.label_probability = i.label_probability AND a.label_probability < 1 AND a.name = i.metric";
    assert_eq!(count(at, kept).await, labels as i64);
    let sql = format!(
        "SELECT q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n FROM (\
         SELECT ppi_rate(passed, label, inclusion_probability, label_probability) AS q FROM labelled_scores \
         WHERE metric = '{METRIC}' AND draw IS NOT NULL)"
    );
    let rows = query(at, &sql).await;
    let (lower, upper) = (rows[0]["lower"].as_f64().unwrap(), rows[0]["upper"].as_f64().unwrap());
    assert!(lower <= 2.0 / 3.0 && 2.0 / 3.0 <= upper && upper - lower < 0.4, "{rows:?}");
    assert_eq!(rows[0]["n"], labels);
    // The queue draws no second time from what it has drawn from.
    let (_, none) = get(at, &format!("/v1/labels/next?metric={METRIC}"), None).await;
    assert!(none["why_none"].as_str().unwrap().contains("nothing was evaluated since"), "{none}");
    let (_, list) = get(at, "/v1/labels?reviewer=eva", None).await;
    let queue = list["queues"].as_array().unwrap().iter().find(|queue| queue["metric"] == METRIC).unwrap();
    let counts = json!({"drawn": labels, "open": 0, "adjudicate": 0, "final": labels, "mine": labels - 1});
    assert_eq!((&queue["counts"], &queue["scored"]), (&counts, &json!(120)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_differ_go_to_a_third_and_agreement_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.labels.reviews_per_item = 2;
    let app = start(config).await;
    let at = app.addresses.http;
    send(&app, None, (1..=30).map(chat).collect()).await;
    settled(&app).await;
    for who in ["ana", "ben"] {
        for round in 0..3 {
            for item in next(at, who, 10).await {
                // Ben errs on two items.
                let trace = item["trace_id"].as_str().unwrap();
                let errs = who == "ben" && (trace.ends_with("01") || trace.ends_with("02"));
                let label = if errs { "fail" } else { label(&item) };
                let (status, told) = post(at, None, &answer(&item, who, label)).await;
                assert_eq!(status, 200, "{round} {told}");
                let expected = if who == "ana" {
                    "open"
                } else if errs {
                    "adjudicate"
                } else {
                    "final"
                };
                assert_eq!(told["items"][0]["state"], expected, "{told}");
            }
        }
    }
    let decide =
        |who: &str| format!("/v1/labels/next?metric={METRIC}&count=5&adjudicate=true&reviewer={who}");
    assert_eq!(get(at, &decide("ana"), None).await.1["items"], json!([]));
    let (_, differ) = get(at, &decide("eva"), None).await;
    let differ = differ["items"].as_array().unwrap();
    assert_eq!((differ.len(), differ[0]["answers"].as_array().unwrap().len()), (2, 2), "{differ:?}");
    for item in differ {
        let (_, told) = post(at, None, &answer(item, "eva", label(item))).await;
        assert_eq!(
            (&told["items"][0]["state"], &told["items"][0]["label"]),
            (&json!("final"), &json!("pass"))
        );
    }
    settled(&app).await;
    assert_eq!(count(at, "SELECT count(*) FROM annotations WHERE item IS NOT NULL").await, 30);
    let (_, told) = get(at, &format!("/v1/labels/agreement?metric={METRIC}"), None).await;
    let of = |between: &str, measure: &str| {
        let rows = told["measures"].as_array().unwrap().iter();
        rows.clone().find(|row| row["between"] == between && row["measure"] == measure).unwrap().clone()
    };
    let percent = of("reviewers", "percent");
    assert!((percent["estimate"].as_f64().unwrap() - 28.0 / 30.0).abs() < 1e-9, "{told}");
    for measure in ["cohen_kappa", "krippendorff_alpha", "gwet_ac1"] {
        let row = of("reviewers", measure);
        let [lower, estimate, upper] = ["lower", "estimate", "upper"].map(|key| row[key].as_f64().unwrap());
        assert!(lower < estimate && estimate < upper && estimate > 0.6, "{row}");
    }
    assert_eq!(of("evaluator and label", "percent")["items"], 30);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skipped_and_taken_back_answers_leave_no_label() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(quick(folder.path())).await;
    let at = app.addresses.http;
    send(&app, None, (1..=4).map(chat).collect()).await;
    settled(&app).await;
    let items = next(at, "ana", 2).await;
    let kind = |item: &Json, kind: &str| json!({"item": item["item"], "name": METRIC, "kind": kind, "annotator": "ana"});
    post(at, None, &answer(&items[0], "ana", "pass")).await;
    let (_, undone) = post(at, None, &kind(&items[0], "undo")).await;
    assert_eq!(undone["items"][0]["state"], "open", "{undone}");
    let (_, skipped) = post(at, None, &kind(&items[1], "skip")).await;
    assert_eq!(skipped["items"][0]["state"], "open");
    let truth =
        format!("SELECT count(*) FROM labelled_scores WHERE metric = '{METRIC}' AND truth IS NOT NULL");
    settled(&app).await;
    assert_eq!(count(at, &truth).await, 0);
    assert!(!ids(&next(at, "ana", 4).await).contains(&items[1]["item"].as_str().unwrap()));
    assert!(ids(&next(at, "ben", 4).await).contains(&items[1]["item"].as_str().unwrap()));
    for (body, status, part) in [
        (kind(&items[1], "answer"), 400, "label is missing"),
        (answer(&items[0], "ana", "perhaps"), 400, "pass or fail"),
        (answer(&json!({"item": "none"}), "ana", "pass"), 404, "never drawn"),
        (kind(&items[0], "undo"), 409, "no answer"),
    ] {
        let (found, told) = post(at, None, &body).await;
        assert_eq!(found, status, "{told}");
        assert!(told["error"].as_str().unwrap().contains(part), "{told}");
    }
    for (path, part) in [
        ("/v1/labels/next", "metric is missing"),
        ("/v1/labels/next?metric=m&count=99", "1 to 10"),
        ("/v1/labels/next?metrik=m", "metrik"),
    ] {
        let (status, told) = get(at, path, None).await;
        assert!(status == 400 && told["error"].as_str().unwrap().contains(part), "{told}");
    }
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_belong_to_the_tokens_tenant_and_a_reviewer_sees_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokens(&[
        ("send-a", Some("a"), &[Role::Ingest]),
        ("send-b", Some("b"), &[Role::Ingest]),
        ("rita", Some("a"), &[Role::Review]),
        ("read-b", Some("b"), &[Role::Query]),
        ("chief", None, &[Role::Admin]),
    ]);
    let app = with_tokens(folder.path(), &tokens).await;
    let at = app.addresses.http;
    send(&app, Some("send-a"), (1..=3).map(chat).collect()).await;
    // A trace id is decided about once.
    send(&app, Some("send-b"), (11..=13).map(chat).collect()).await;
    settled(&app).await;
    let path = format!("/v1/labels/next?metric={METRIC}&count=10&reviewer=somebody");
    let (_, rita) = get(at, &path, Some("rita")).await;
    assert_eq!(
        (rita["reviewer"].as_str(), rita["items"].as_array().unwrap().len()),
        (Some("rita"), 3),
        "{rita}"
    );
    let (_, other) = get(at, &path, Some("read-b")).await;
    let (own, others) = (rita["items"].as_array().unwrap(), other["items"].as_array().unwrap());
    assert!(ids(own).iter().all(|id| !ids(others).contains(id)));
    // The name of a token cannot be borrowed, another tenant's item is not there.
    assert_eq!(post(at, Some("rita"), &answer(&own[0], "chief", "pass")).await.0, 200);
    assert_eq!(post(at, Some("rita"), &answer(&others[0], "rita", "pass")).await.0, 404);
    settled(&app).await;
    let who = query_as(at, "read-b", "SELECT count(*) AS n FROM review_answers").await;
    assert_eq!(who, json!([{"n": 0}]));
    let who = query_as(at, "chief", "SELECT reviewer, tenant FROM review_answers").await;
    assert_eq!(who, json!([{"reviewer": "rita", "tenant": "a"}]));
    // The role review reads no table and annotates nothing else; an admin without a tenant has no queue.
    let note = json!({"trace_id": own[0]["trace_id"], "name": METRIC, "label": "pass"});
    assert_eq!(post(at, Some("rita"), &note).await.0, 400);
    assert_eq!(get(at, &format!("/v1/labels/agreement?metric={METRIC}"), Some("rita")).await.0, 403);
    let chosen = json!({"metric": METRIC, "trace_id": own[0]["trace_id"]});
    assert_eq!(sent::to_queue(at, Some("rita"), &chosen).await.0, 403);
    assert_eq!(
        sent::to_queue(at, Some("read-b"), &chosen).await.0,
        400,
        "another tenant's trace is not there"
    );
    assert_eq!(get(at, "/v1/labels", Some("rita")).await.0, 200);
    assert_eq!(get(at, &path, Some("chief")).await.0, 403);
    assert_eq!(get(at, &path, None).await.0, 401);
    let sql = reqwest::Client::new().post(format!("http://{at}/v1/sql")).bearer_auth("rita");
    assert_eq!(sql.json(&json!({"sql": "SELECT 1"})).send().await.unwrap().status(), 403);
    app.stop().await.unwrap();
}

async fn query_as(at: SocketAddr, token: &str, sql: &str) -> Json {
    let sent = reqwest::Client::new().post(format!("http://{at}/v1/sql")).bearer_auth(token);
    sent.json(&json!({ "sql": sql })).send().await.unwrap().json().await.unwrap()
}

/// Runs a verb of the program; its exit code and what it printed.
async fn verb(arguments: &[&str]) -> (i32, String, String) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_groundline"));
    let done = command.args(arguments).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_come_and_go_as_csv_and_calibrate_scores() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(quick(&folder.path().join("data"))).await;
    let at = app.addresses.http;
    let url = format!("http://{at}");
    send(&app, None, (1..=60).map(chat).collect()).await;
    settled(&app).await;
    let file = folder.path().join("labels.csv");
    let path = file.to_str().unwrap();
    let trace = |n: u64| format!("aaaaaaaaaaaaaaaa{n:016x}");
    let mut lines = vec!["trace_id,span_id,name,label,annotator,comment".to_owned()];
    // People do not agree with the evaluator everywhere.
    let says = |n: u64| if n.is_multiple_of(3) != n.is_multiple_of(10) { "fail" } else { "pass" };
    lines.extend(
        (1..=60)
            .map(|n| format!("{},0000000000000001,{METRIC},{},ana,\"fine, \"\"so\"\"\"", trace(n), says(n))),
    );
    lines.push(format!("{},,{METRIC},maybe,ana,", trace(1)));
    std::fs::write(&file, lines.join("\n")).unwrap();
    let (code, _, told) = verb(&["labels", "import", path, "--url", &url]).await;
    assert!(code == 1 && told.contains("line 62, label") && told.contains("nothing was imported"), "{told}");
    // What the verb has for it is named as well.
    assert!(told.contains("(--partial)") && told.contains("(--any-label)"), "{told}");
    assert_eq!(count(at, "SELECT count(*) FROM annotations").await, 0);
    lines.pop();
    lines.push(format!("{},,{METRIC},pass,ana,", trace(999)));
    std::fs::write(&file, lines.join("\n")).unwrap();
    let (code, told, _) = verb(&["labels", "import", path, "--url", &url]).await;
    assert!(code == 0 && told.contains("61 labels imported") && told.contains(&trace(999)), "{told}");
    // What goes out comes in again as it was.
    let (_, exported, _) = verb(&["labels", "export", "--metric", METRIC, "--url", &url]).await;
    assert_eq!(exported.trim().lines().count(), 62, "{exported}");
    std::fs::write(&file, &exported).unwrap();
    let (code, told, _) = verb(&["labels", "import", path, "--url", &url]).await;
    assert!(code == 0 && told.contains("61 labels imported"), "{told}");
    settled(&app).await;
    assert_eq!(count(at, "SELECT count(*) FROM annotations").await, 61, "the same ids are the same rows");
    let (code, listed, _) = verb(&["labels", "list", "--url", &url]).await;
    assert!(code == 0 && listed.contains(METRIC), "{listed}");
    let (code, told, _) = verb(&["labels", "agreement", "--metric", METRIC, "--url", &url]).await;
    assert!(code == 0 && told.contains("krippendorff_alpha"), "{told}");
    let (code, _, why) = verb(&["labels", "agreement", "--metric", "no_such", "--url", &url]).await;
    assert!(code == 1 && why.contains("no metric \"no_such\"") && why.contains(METRIC), "{why}");
    calibrated(&url, folder.path()).await;
    app.stop().await.unwrap();
}

/// The curve is told, written, read by a server, and answers in SQL.
async fn calibrated(url: &str, folder: &Path) {
    let file = folder.join("groundline.toml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "# ours\n[labels]\ndraw_size = 20\n").unwrap();
    let (code, told, error) =
        verb(&["calibrate", "--metric", METRIC, "--url", url, "--config", path, "--write"]).await;
    assert_eq!(code, 0, "{error}");
    for part in [
        "60 labels, 38 pass and 22 fail",
        "calibration error",
        "P(pass) said",
        "abstains between 0.2 and 0.8",
    ] {
        assert!(told.contains(part), "{part}:\n{told}");
    }
    let (_, object, _) =
        verb(&["calibrate", "--metric", METRIC, "--url", url, "--method", "platt", "--json"]).await;
    let object: Json = serde_json::from_str(&object).unwrap();
    let error = |method: &str| {
        let rows = object["compared"].as_array().unwrap().iter();
        rows.clone().find(|row| row["method"] == method).unwrap()["ece"].as_f64().unwrap()
    };
    let all = [error("none"), error("platt"), error("isotonic")];
    assert!(all.iter().all(|error| (0.0..0.2).contains(error)), "{object}");
    let (code, _, error) = verb(&["calibrate", "--metric", "toxicity", "--url", url]).await;
    assert!(code == 1 && error.contains("/v1/labels/next?metric=toxicity"), "{error}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("# ours\n[labels]\ndraw_size = 20\n"), "{written}");
    let mut config = quick(&folder.join("other"));
    config.labels = Config::load(Some(file.as_path())).unwrap().labels;
    let app = start(config).await;
    let sql = format!(
        "SELECT calibrated('looping', v, '{METRIC}', 1.0) AS high, calibrated('looping', v, '{METRIC}', 0.1) AS low, \
         calibrated('looping', 'another', '{METRIC}', 0.1) AS none, abstains('looping', v, '{METRIC}', 1.0) AS abstains \
         FROM (SELECT '{}' AS v)",
        object["evaluator_version"].as_str().unwrap()
    );
    let rows = query(app.addresses.http, &sql).await;
    let (high, low) = (rows[0]["high"].as_f64().unwrap(), rows[0]["low"].as_f64().unwrap());
    assert!(
        high > 0.6 && low < 0.4 && rows[0]["none"].is_null() && rows[0]["abstains"].is_boolean(),
        "{rows:?}"
    );
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anchors_tell_whether_an_evaluator_moved() {
    let folder = tempfile::tempdir().unwrap();
    let [anchors, scores] = ["anchors.jsonl", "scores.jsonl"].map(|name| folder.path().join(name));
    let write = |sentence: &str| {
        let line = |n: usize| {
            let answer = format!("It is a lamp. It costs {n} euros. {}", sentence.repeat(n % 5));
            json!({"id": n, "question": "What is it?", "answer": answer}).to_string()
        };
        std::fs::write(&anchors, (0..40).map(line).collect::<Vec<_>>().join("\n")).unwrap();
    };
    let [anchors_path, scores_path] = [&anchors, &scores].map(|path| path.to_str().unwrap());
    let arguments = ["anchors", anchors_path, "--scores", scores_path, "--evaluator", "looping"];
    write("It is really very bright. ");
    let (code, told, error) = verb(&arguments).await;
    assert!(code == 0 && told.contains("written"), "{told}{error}");
    let (code, told, _) = verb(&arguments).await;
    assert!(code == 0 && told.contains("did not move") && !told.contains("moved"), "{told}");
    // What a changed evaluator would do to the same ids.
    write(&"It is really very bright. ".repeat(4));
    let (code, told, _) = verb(&arguments).await;
    assert!(code == 1 && told.contains("moved"), "{told}");
    let (code, _, error) =
        verb(&["anchors", "none.jsonl", "--scores", scores_path, "--evaluator", "looping"]).await;
    assert!(code == 2 && error.contains("none.jsonl"), "{error}");
}
