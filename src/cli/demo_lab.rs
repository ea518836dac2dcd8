//! The demo of the lab: a dataset of received traces, two versions of an application, and what got worse.

use super::demo::{config, send_all};
use super::demo_times::Shift;
use super::lab::{compared, summarized};
use super::pipe::say;
use crate::app::App;
use crate::domain::time::{Clock, SystemClock};
use crate::lab::target::{Kind, TargetSpec};
use axum::extract::{Path as UrlPath, State};
use axum::routing::post;
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The libraries whose captured requests are sent: enough for every question that the captures have.
const LIBRARIES: [&str; 3] =
    ["otel-openai-v2-latest-span", "openinference-openai", "openllmetry-traceloop-sdk"];
/// One item a question that production answered.
const ITEMS: &str = "SELECT question AS input, min(answer) AS expected, min(trace_id) AS trace_id FROM spans \
    WHERE operation = 'llm' AND length(question) > 0 AND length(answer) > 0 GROUP BY question ORDER BY question";
/// The traces that the items of the dataset were made of, as they are stored.
const TRACES: &str = "SELECT count(DISTINCT s.trace_id) AS traces FROM dataset_at('demo', 1) d \
    JOIN spans s ON s.trace_id = d.source_trace_id WHERE s.operation = 'llm'";
/// What both versions are judged by.
const EVALUATORS: [&str; 2] = ["rouge", "answer_relevance"];
/// Spans are visible two seconds after they were taken; the demo fails if they are not there by then.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers by question, as production gave them, each with its place.
type Answers = Arc<Mutex<HashMap<String, (usize, String)>>>;

/// Runs it.
pub async fn run() -> ExitCode {
    super::serve::log("warn,groundline::drift=error");
    match demo().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("groundline demo: {error}");
            ExitCode::from(1)
        }
    }
}

async fn demo() -> Result<(), String> {
    let started = Instant::now();
    let folder = tempfile::Builder::new().prefix("groundline-demo-").tempdir().map_err(|e| e.to_string())?;
    let answers = Answers::default();
    let at = application(answers.clone()).await?;
    let mut config = config(folder.path());
    // Nothing is watched here: the lab judges by itself.
    config.sample.rules.clear();
    config.alerts.clear();
    for version in ["v1", "v2"] {
        let url = format!("{at}/{version}");
        config
            .lab
            .targets
            .insert(version.to_owned(), TargetSpec { kind: Kind::Http, url, ..TargetSpec::default() });
    }
    let app = App::start(config).await.map_err(|e| e.to_string())?;
    let wanted = |library: &str, name: &str| LIBRARIES.contains(&library) && !name.contains(".metrics.");
    send_all(&app, folder.path(), Shift::to(SystemClock.now())?, wanted).await?;
    let told = told(&app, &answers).await;
    app.stop().await.map_err(|e| e.to_string())?;
    say(format_args!("{}\nAll of it took {:.1} s.", told?, started.elapsed().as_secs_f64()));
    Ok(())
}

/// An application in two versions: the first answers as production did; of every third answer of the second only the
/// beginning is left, and a promise.
async fn application(answers: Answers) -> Result<String, String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|e| e.to_string())?;
    let at = listener.local_addr().map_err(|e| e.to_string())?;
    let routes = Router::new().route("/{version}", post(answer)).with_state(answers);
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(format!("http://{at}"))
}

async fn answer(
    State(answers): State<Answers>,
    UrlPath(version): UrlPath<String>,
    Json(asked): Json<Value>,
) -> Json<Value> {
    let question = asked["input"].as_str().unwrap_or_default();
    let (place, known) = answers.lock().get(question).cloned().unwrap_or_default();
    if version == "v1" || !place.is_multiple_of(3) {
        return Json(json!({ "output": known }));
    }
    let beginning: Vec<&str> = known.split_whitespace().take(3).collect();
    Json(json!({ "output": format!("{} … our team will come back to you.", beginning.join(" ")) }))
}

/// Makes the dataset, asks both versions and compares them; all of it over HTTP, as any program would.
async fn told(app: &App, answers: &Answers) -> Result<String, String> {
    let client =
        Client { http: reqwest::Client::new(), base: format!("http://{}/v1/lab", app.addresses.http) };
    let items = items(app, &client).await?;
    for (place, item) in items.iter().enumerate() {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        answers.lock().insert(text("input"), (place, text("expected")));
    }
    let traces = client.rows(app, TRACES).await?;
    let mut out = format!(
        "\nThe dataset demo@1 has {} questions that production was asked, with its answers, from {} traces.\n",
        items.len(),
        traces[0]["traces"]
    );
    for version in ["v1", "v2"] {
        let new = json!({
            "name": version, "dataset": "demo@1", "evaluators": EVALUATORS, "baseline": version == "v1",
            "target": {"kind": "named", "name": version}
        });
        let made = client.post("experiments", &new).await?;
        let id = made["experiment_id"].as_str().unwrap_or_default().to_owned();
        loop {
            let stored = client.post(&format!("experiments/{id}/run"), &json!({})).await?;
            if stored["missing"] == 0 {
                break;
            }
            if stored["stored"] == 0 {
                return Err(format!("no run of {version} was stored: {stored}"));
            }
        }
        let summary = client.get(&format!("experiments/{id}/summary")).await?;
        out.push_str(&format!("\n{}", summarized(&summary)));
    }
    let comparison = client.get("compare?new=v2").await?;
    out.push_str(&format!("\n{}", compared(&comparison, 10)));
    Ok(out)
}

/// The items of the dataset, which is made of the traces when all of them are visible.
async fn items(app: &App, client: &Client) -> Result<Vec<Value>, String> {
    let started = Instant::now();
    while app.unfinished().0 > 0 {
        if started.elapsed() > PATIENCE {
            return Err(format!("the spans are not visible after {PATIENCE:?}"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    client.post("datasets/demo/import?create=true", &json!({ "sql": ITEMS })).await?;
    let items = client.get("datasets/demo@1/items?format=json").await?;
    Ok(items.as_array().cloned().unwrap_or_default())
}

/// The routes of the lab.
struct Client {
    http: reqwest::Client,
    base: String,
}

impl Client {
    async fn get(&self, path: &str) -> Result<Value, String> {
        self.answer(self.http.get(format!("{}/{path}", self.base)), path).await
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.answer(self.http.post(format!("{}/{path}", self.base)).json(body), path).await
    }

    async fn rows(&self, app: &App, sql: &str) -> Result<Value, String> {
        let url = format!("http://{}/v1/sql", app.addresses.http);
        self.answer(self.http.post(url).json(&json!({ "sql": sql })), "sql").await
    }

    async fn answer(&self, request: reqwest::RequestBuilder, path: &str) -> Result<Value, String> {
        let answer = request.send().await.map_err(|e| format!("{path}: {e}"))?;
        let status = answer.status();
        let told: Value = answer.json().await.map_err(|e| format!("{path}: {e}"))?;
        if status.is_success() { Ok(told) } else { Err(format!("{path}: {status}: {}", told["error"])) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::demo_captures::CAPTURES;
    use super::*;

    #[test]
    fn the_captures_have_the_libraries() {
        for library in LIBRARIES {
            assert!(CAPTURES.iter().any(|(known, ..)| *known == library), "{library}");
        }
    }
}
