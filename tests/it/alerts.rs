//! Alerts from the endpoints to those who are told: real requests, real evaluators, the real Alertmanager, and kills.

mod rebase;
mod receivers;
mod silences;

use crate::support::{Process, Reserved, config, query, send, settled, span, start, text, until};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A rule that asks the cheap evaluator of leaked personal data, and an alert on it by model.
const WATCHED: &str = "
[[sample.rules]]
name = \"leaks\"
filter = \"operation = 'llm'\"
rate = 1.0
evaluators = [\"pii_leakage\"]
[[alerts]]
name = \"leaks\"
metric = \"pii_leakage\"
slices = [\"request_model\"]
method = \"objective\"
objective = 0.9
min_n = 20
severity = \"page\"
labels = { team = \"search\" }
receivers = [\"them\"]
";

/// A model call that leaks a card number, or does not.
fn call(n: u64, model: &str, leaks: bool) -> Span {
    let answer = if leaks { "The card 4111 1111 1111 1111 was charged." } else { "All is well here." };
    let message = json!([{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]);
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", model),
        text("gen_ai.output.messages", &message.to_string()),
    ];
    span(n, 1, attributes)
}

/// Calls of two models; of the second one so many in a hundred leak.
fn calls(from: u64, count: u64, leaking: u64) -> Vec<Span> {
    let one = |n: u64| {
        call(n, if n.is_multiple_of(2) { "good" } else { "bad" }, n % 2 == 1 && n * 37 % 100 < leaking)
    };
    (from..from + count).map(one).collect()
}

/// What a receiver got, and how it answers.
#[derive(Clone, Default)]
struct Receiver {
    got: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    /// Answers before it takes anything.
    faults: Arc<Mutex<Vec<StatusCode>>>,
}

impl Receiver {
    async fn listen(self) -> SocketAddr {
        async fn take(State(to): State<Receiver>, headers: HeaderMap, body: String) -> StatusCode {
            if let Some(fault) = to.faults.lock().pop() {
                return fault;
            }
            to.got.lock().push((headers, serde_json::from_str(&body).unwrap()));
            StatusCode::OK
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().route("/hook", post(take)).with_state(self);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        address
    }

    fn states(&self) -> Vec<String> {
        let said = |(_, body): &(HeaderMap, Value)| body["status"].as_str().unwrap_or_default().to_owned();
        self.got.lock().iter().map(said).collect()
    }
}

const ROWS: &str = "SELECT state, slice, estimate, lower, upper, n, threshold, message, examples FROM alerts ORDER BY evaluated_at";

/// The server of the test with the webhook `hook`.
async fn served(dir: &std::path::Path, hook: SocketAddr, secret: &std::path::Path) -> groundline::app::App {
    served_with(dir, hook, secret, WATCHED).await
}

/// The server with these rules and alerts, and the webhook `hook`.
async fn served_with(
    dir: &std::path::Path,
    hook: SocketAddr,
    secret: &std::path::Path,
    watched: &str,
) -> groundline::app::App {
    let text = format!(
        "{watched}[[receivers]]\nname = \"them\"\nkind = \"webhook\"\nurl = \"http://{hook}/hook\"\nsecret_file = {secret:?}\n"
    );
    let mut made = groundline::config::Config::from_text("test", &text, std::iter::empty()).unwrap();
    let usual = config(dir);
    (made.server, made.sample.idle, made.sample.rootless_idle) =
        (usual.server, usual.sample.idle, usual.sample.rootless_idle);
    (made.ingest.grpc_listen, made.ingest.http_listen) = (usual.ingest.grpc_listen, usual.ingest.http_listen);
    start(made).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_model_leaks_more_and_who_is_named_is_told_once() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::default());
    // It is away, then does not know us, then takes it.
    *receiver.faults.lock() = vec![StatusCode::UNAUTHORIZED, StatusCode::SERVICE_UNAVAILABLE];
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "key").unwrap();
    let app = served(folder.path(), receiver.clone().listen().await, &secret).await;
    let (otlp, http) = (app.addresses.otlp_http, app.addresses.http);
    assert!(send(otlp, calls(0, 200, 5)).await);
    settled(&app).await;
    assert_eq!(query(http, ROWS).await, Vec::<Value>::new());
    assert!(send(otlp, calls(200, 200, 60)).await);
    until("the alert", async || receiver.states() == ["firing"]).await;
    // It is told as soon as it is durable, and seen a moment later.
    until("its row", async || !query(http, ROWS).await.is_empty()).await;
    let rows = query(http, ROWS).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["state"], &rows[0]["slice"]), (&json!("firing"), &json!("request_model=bad")));
    assert!(rows[0]["lower"].as_f64().unwrap() > 0.1 && rows[0]["n"].as_i64().unwrap() >= 5, "{rows:?}");
    let examples: Value = serde_json::from_str(rows[0]["examples"].as_str().unwrap()).unwrap();
    assert_eq!(examples.as_array().unwrap().len(), 3, "{examples}");
    let (headers, body) = receiver.got.lock()[0].clone();
    assert!(headers["groundline-signature"].to_str().unwrap().starts_with("v1="));
    assert_eq!((&body["labels"]["team"], &body["labels"]["slice"]), (&json!("search"), &rows[0]["slice"]));
    let shown = query(http, body["sql"].as_str().unwrap()).await;
    assert!(!shown.is_empty(), "the SQL of the message shows what happened");
    let now: Value = reqwest::get(format!("http://{http}/v1/alerts")).await.unwrap().json().await.unwrap();
    let firing =
        |v: &Value| v["alerts"].as_array().unwrap().iter().filter(|a| a["state"] == "firing").count();
    assert_eq!((now["alerts"].as_array().unwrap().len(), firing(&now)), (2, 1), "{now}");
    assert!(send(otlp, calls(400, 600, 0)).await);
    until("the end", async || {
        let states = receiver.states();
        assert!(states.len() < 3, "{states:?}");
        states == ["firing", "resolved"]
    })
    .await;
    assert_eq!(receiver.got.lock()[1].1["key"], body["key"]);
    app.stop().await.unwrap();
}

/// A trace of an agent that repeats what its model call answered; only the call names its prompt.
fn answered(n: u64, (name, version): (&str, &str), leaks: bool) -> [Span; 2] {
    let mut inner = call(n, "m", leaks);
    let mut outer = span(n, 0, vec![text("gen_ai.operation.name", "invoke_agent")]);
    outer.attributes.extend(inner.attributes.iter().filter(|a| a.key == "gen_ai.output.messages").cloned());
    inner.parent_span_id = outer.span_id.clone();
    if !name.is_empty() {
        inner.attributes.push(text("langfuse.prompt.name", name));
        inner.attributes.push(text("langfuse.prompt.version", version));
    }
    [outer, inner]
}

/// The prompt of a span is that of the scores of its trace, and alerts are cut by it and ask for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_of_a_prompt_that_leaks_more_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let alerts = WATCHED
        .replace("request_model\"]", "prompt_version\"]\nfilter = \"prompt_name = 'support'\"")
        .replace("receivers = [\"them\"]", "");
    let mut server = Process::start_with(folder.path(), &alerts);
    // Another prompt, and calls without any, leak all the time: they are none of the alert's business.
    let prompts = [("support", "1"), ("support", "2"), ("other", "1"), ("", "")];
    let spans = |n: u64| {
        let prompt = prompts[usize::try_from(n % 4).unwrap()];
        answered(n, prompt, n % 4 >= 2 || n % 4 == 1 && n % 8 == 1)
    };
    assert!(send(server.otlp_http, (0..160).flat_map(spans).collect()).await);
    until("the alert", async || !query(server.http, ROWS).await.is_empty()).await;
    let by_prompt = "SELECT prompt_name, prompt_version, count(*) AS n FROM scores_latest \
        WHERE metric = 'pii_leakage' GROUP BY 1, 2 ORDER BY 1 NULLS LAST, 2";
    until("all scores", async || {
        let rows = query(server.http, by_prompt).await;
        rows.iter().filter_map(|row| row["n"].as_i64()).sum::<i64>() == 160
    })
    .await;
    let of = |name: Option<&str>, version: Option<&str>| json!({"prompt_name": name, "prompt_version": version, "n": 40});
    let wanted = [
        of(Some("other"), Some("1")),
        of(Some("support"), Some("1")),
        of(Some("support"), Some("2")),
        of(None, None),
    ];
    assert_eq!(query(server.http, by_prompt).await, wanted);
    let rows = query(server.http, ROWS).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["state"], &rows[0]["slice"]), (&json!("firing"), &json!("prompt_version=2")));
    server.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_neither_loses_nor_repeats_an_alert() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::default());
    let hook = receiver.clone().listen().await;
    let text = format!(
        "{WATCHED}[[receivers]]\nname = \"them\"\nkind = \"webhook\"\nurl = \"http://{hook}/hook\"\n"
    );
    let cycles = std::env::var("GROUNDLINE_KILL_CYCLES").map_or(20, |n| n.parse().unwrap());
    let mut next = 0;
    for cycle in 0..cycles {
        let mut server = Process::start_with(folder.path(), &text);
        // The first half of the cycles is good, the second bad; it never comes back, so it fires once.
        let leaking = if cycle < cycles / 2 { 4 } else { 70 };
        let (otlp, heard) = (server.otlp_http, Arc::new(AtomicU64::new(0)));
        let acknowledged = heard.clone();
        let sender = tokio::spawn(async move {
            let mut sent = 0;
            while sent < 40 && send(otlp, calls(next + sent, 8, leaking)).await {
                sent += 8;
                acknowledged.store(sent, Ordering::Relaxed);
            }
            sent
        });
        tokio::time::sleep(Duration::from_millis(350 + cycle * 61 % 900)).await;
        // On a busy machine the kill waits for something to lose.
        until("a call is acknowledged", async || heard.load(Ordering::Relaxed) > 0).await;
        server.kill();
        next += sender.await.unwrap() + 8;
    }
    let mut server = Process::start_with(folder.path(), &text);
    until("the alert", async || !query(server.http, ROWS).await.is_empty()).await;
    let waiting = "SELECT (SELECT count(DISTINCT trace_id) FROM spans) - (SELECT count(DISTINCT trace_id) FROM scores) AS n";
    until("all scores", async || query(server.http, waiting).await[0]["n"] == 0).await;
    let rows = query(server.http, ROWS).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["state"], &rows[0]["slice"]), (&json!("firing"), &json!("request_model=bad")));
    // A message may come again after a kill, with the same key.
    until("the message", async || !receiver.got.lock().is_empty()).await;
    let mut keys: Vec<String> = receiver.got.lock().iter().map(|(_, body)| body["key"].to_string()).collect();
    keys.dedup();
    assert_eq!(keys.len(), 1, "{keys:?}");
    server.kill();
}

/// Alertmanager from Debian's package, on free ports.
pub struct Alertmanager(Child, SocketAddr);

impl Drop for Alertmanager {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Alertmanager {
    pub async fn start(dir: &std::path::Path) -> Option<Self> {
        let port = Reserved::new();
        Self::start_at(dir, port.address).await
    }

    /// As [`Alertmanager::start`], at this address.
    pub async fn start_at(dir: &std::path::Path, address: SocketAddr) -> Option<Self> {
        let file = dir.join("alertmanager.yml");
        std::fs::write(&file, "route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n").unwrap();
        let child = Command::new("prometheus-alertmanager")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.path={}", dir.join("am").display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--cluster.listen-address=")
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        let Ok(child) = child else {
            assert!(std::env::var("CI").is_err(), "Alertmanager is not installed: run tests/setup");
            eprintln!("Alertmanager is not installed; run tests/setup to test with it");
            return None;
        };
        let ready = format!("http://{address}/-/ready");
        until("Alertmanager", async || reqwest::get(&ready).await.is_ok_and(|a| a.status() == 200)).await;
        Some(Self(child, address))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.1
    }

    /// The alerts that are active.
    pub async fn active(&self) -> Vec<Value> {
        let url = format!("http://{}/api/v2/alerts?active=true", self.1);
        reqwest::get(url).await.unwrap().json().await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alertmanager_shows_the_alert_and_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let Some(manager) = Alertmanager::start(folder.path()).await else { return };
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let text = format!(
        "{WATCHED}[drift]\nrepeat_interval = \"1s\"\n[[receivers]]\nname = \"them\"\nkind = \"alertmanager\"\nurl = \"http://{}\"\n",
        manager.1
    );
    let mut server = Process::start_with(&data, &text);
    assert!(send(server.otlp_http, calls(0, 100, 70)).await);
    until("the alert", async || manager.active().await.len() == 1).await;
    let found = manager.active().await;
    assert_eq!(found[0]["labels"]["alertname"], "leaks");
    assert_eq!(found[0]["labels"]["slice"], "request_model=bad");
    assert_eq!(found[0]["labels"]["team"], "search");
    assert!(
        found[0]["annotations"]["summary"].as_str().unwrap().contains("pii_leakage scores fail"),
        "{found:?}"
    );
    // Told of again, it is still the same one.
    let updated = found[0]["updatedAt"].clone();
    until("the repetition", async || manager.active().await.iter().any(|a| a["updatedAt"] != updated)).await;
    assert_eq!(manager.active().await.len(), 1);
    // Also after a restart, without a new score.
    server.kill();
    let updated: Vec<Value> = manager.active().await.iter().map(|a| a["updatedAt"].clone()).collect();
    let mut server = Process::start_with(&data, &text);
    until("the repetition after a restart", async || {
        manager.active().await.iter().any(|a| !updated.contains(&a["updatedAt"]))
    })
    .await;
    assert_eq!(manager.active().await.len(), 1);
    // Acknowledged, it stays there with who knows of it, beyond that time, and its end is told all the same.
    let url = format!("http://{}/v1/alerts/acknowledge", server.http);
    let wish = json!({"alert": "leaks", "for": "1h", "by": "Ada"});
    assert_eq!(reqwest::Client::new().post(url).json(&wish).send().await.unwrap().status(), 200);
    until("who knows of it", async || {
        let said = |a: &Value| {
            a["annotations"]["summary"].as_str().is_some_and(|s| s.starts_with("acknowledged by Ada"))
        };
        manager.active().await.iter().any(said)
    })
    .await;
    assert_eq!(manager.active().await.len(), 1);
    assert!(send(server.otlp_http, calls(100, 600, 0)).await);
    until("the end", async || manager.active().await.is_empty()).await;
    server.kill();
}

/// What fires is acknowledged: it fires on, who is named is told so once, and after a restart it is still known.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fires_is_acknowledged_and_goes_on_firing() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::default());
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "key").unwrap();
    let hook = receiver.clone().listen().await;
    let app = served(folder.path(), hook, &secret).await;
    let url = format!("http://{}/v1/alerts/acknowledge", app.addresses.http);
    let post = async |body: Value| {
        let answer = reqwest::Client::new().post(&url).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let wish = json!({"alert": "leaks", "for": "4h", "by": "Ada", "note": "rolled back"});
    let (status, why) = post(wish.clone()).await;
    assert!(status == 409 && why.contains("nothing of this alert fires"), "{status}: {why}");
    for (wrong, expected, word) in [
        (json!({"alert": "none", "for": "4h", "by": "Ada"}), 404, "GET /v1/alerts"),
        (json!({"alert": "leaks", "for": "4h"}), 400, "by must"),
        (json!({"alert": "leaks", "for": "90d", "by": "Ada"}), 400, "30"),
        (json!({"alert": "leaks", "by": "Ada"}), 422, "for"),
    ] {
        let (status, why) = post(wrong.clone()).await;
        assert!(status == expected && why.contains(word), "{wrong}: {status} {why}");
    }
    assert!(send(app.addresses.otlp_http, calls(0, 200, 70)).await);
    until("the alert", async || receiver.states() == ["firing"]).await;
    let (status, answer) = post(wish).await;
    assert!(status == 200 && answer.contains("request_model=bad"), "{status}: {answer}");
    until("the message", async || receiver.states() == ["firing", "acknowledged"]).await;
    until("its row", async || query(app.addresses.http, ROWS).await.len() >= 2).await;
    let rows = query(app.addresses.http, ROWS).await;
    assert_eq!((rows.len(), &rows[1]["state"]), (2, &json!("firing")), "{rows:?}");
    assert!(rows[1]["message"].as_str().unwrap().starts_with("acknowledged by Ada until "), "{rows:?}");
    app.stop().await.unwrap();
    let app = served(folder.path(), hook, &secret).await;
    let now: Value =
        reqwest::get(format!("http://{}/v1/alerts", app.addresses.http)).await.unwrap().json().await.unwrap();
    let bad = now["alerts"].as_array().unwrap().iter().find(|a| a["slice"] == "request_model=bad").unwrap();
    assert_eq!((&bad["state"], &bad["acknowledged"]["note"]), (&json!("firing"), &json!("rolled back")));
    app.stop().await.unwrap();
    assert_eq!(receiver.states(), ["firing", "acknowledged"], "nobody is told again");
}

/// The anchors stand beside the alert: they say that the application moved, or that the evaluator did.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alert_says_whether_the_application_or_the_evaluator_moved() {
    for (moved, said) in [(false, "the application moved"), (true, "the evaluator moved, look at it first")] {
        let folder = tempfile::tempdir().unwrap();
        let (items, scores) = (folder.path().join("anchors.jsonl"), folder.path().join("scores.jsonl"));
        let lines: Vec<String> =
            (0..200).map(|n| json!({"id": n, "answer": "All is well here."}).to_string()).collect();
        std::fs::write(&items, lines.join("\n")).unwrap();
        if moved {
            // Those of then: what passes now passed, and what fails now passed too.
            let leak = json!({"id": 0, "answer": "The card 4111 1111 1111 1111 was charged."}).to_string();
            let bad: Vec<String> =
                (0..200).map(|n| leak.replace("\"id\":0", &format!("\"id\":{n}"))).collect();
            std::fs::write(&items, bad.join("\n")).unwrap();
            let then = |n: i32| {
                json!({"id": n, "evaluator": "pii_leakage", "evaluator_version": "1", "metric": "pii_leakage",
                    "value": 0.0, "passed": true, "status": "ok"})
                .to_string()
            };
            std::fs::write(&scores, (0..200).map(then).collect::<Vec<_>>().join("\n")).unwrap();
        }
        let text = format!(
            "{}[[anchors]]\nitems = {items:?}\nscores = {scores:?}\nevaluators = [\"pii_leakage\"]\n",
            WATCHED.replace("receivers = [\"them\"]", "")
        );
        let mut made = groundline::config::Config::from_text("test", &text, std::iter::empty()).unwrap();
        let usual = config(&folder.path().join("data"));
        (made.server, made.ingest, made.sample.idle) = (usual.server, usual.ingest, usual.sample.idle);
        made.sample.rootless_idle = usual.sample.rootless_idle;
        let app = start(made).await;
        let (otlp, http) = (app.addresses.otlp_http, app.addresses.http);
        let told = async || -> Value {
            reqwest::get(format!("http://{http}/v1/alerts")).await.unwrap().json().await.unwrap()
        };
        until("the anchors", async || !told().await["anchors"]["metrics"].as_array().unwrap().is_empty())
            .await;
        assert_eq!(told().await["anchors"]["metrics"][0]["moved"], moved);
        assert!(send(otlp, calls(0, 200, 70)).await);
        until("the alert", async || !query(http, ROWS).await.is_empty()).await;
        let message = query(http, ROWS).await[0]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("on 200 anchors") && message.ends_with(said), "{message}");
        // As SIGHUP does: the scores of now become those of then, and then nobody is watched.
        let set = app.anchors.borrow().clone();
        std::fs::remove_file(&scores).unwrap();
        app.anchors.send_replace(set);
        until("the anchors of now", async || {
            let told = told().await;
            told["anchors"]["metrics"][0]["moved"] == false && scores.exists()
        })
        .await;
        app.anchors.send_replace(Vec::new());
        let none = async || told().await["anchors"]["metrics"].as_array().unwrap().is_empty();
        until("no anchors", none).await;
        app.stop().await.unwrap();
    }
}
