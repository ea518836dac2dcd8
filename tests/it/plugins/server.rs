//! A scripted plug-in over HTTP: it answers well unless its script says otherwise.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How one request for scores is answered.
#[derive(Debug, Clone)]
pub enum Act {
    /// A status, and the seconds of `Retry-After`.
    Status(u16, Option<u32>),
    /// No JSON at all.
    Garbage,
    /// Never.
    Hang,
    /// Well, and then another version is described.
    Renamed(&'static str),
    /// Without the last item.
    Short,
    /// With an answer to something else, and the first one twice.
    Strays,
    /// A text where a number belongs, in the first answer.
    Text,
}

#[derive(Clone)]
pub struct Server {
    pub script: Arc<Mutex<VecDeque<Act>>>,
    /// What came, in order.
    pub got: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    pub version: Arc<Mutex<&'static str>>,
    /// An item with this in its answer breaks its whole batch.
    pub poison: &'static str,
    /// So long nobody gets an answer after such an item, not even the description.
    pub falls: Duration,
    /// So long each request takes.
    pub takes: Duration,
    /// Until then.
    pub down: Arc<Mutex<Option<Instant>>>,
}

impl Server {
    pub fn with(script: impl IntoIterator<Item = Act>) -> Self {
        let script = Arc::new(Mutex::new(script.into_iter().collect()));
        let (version, falls) = (Arc::new(Mutex::new("1")), Duration::ZERO);
        let takes = Duration::ZERO;
        Self { script, got: Arc::default(), version, poison: "poison", falls, takes, down: Arc::default() }
    }

    pub async fn listen(&self) -> SocketAddr {
        self.listen_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub async fn listen_at(&self, address: SocketAddr) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new()
            .route("/base/describe", get(describe))
            .route("/base/score", post(score))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        address
    }

    fn is_down(&self) -> bool {
        self.down.lock().is_some_and(|until| until > Instant::now())
    }

    /// How often each answer came, by its text.
    pub fn asked(&self, text: &str) -> usize {
        let items = |body: &Value| body["items"].as_array().cloned().unwrap_or_default();
        self.got.lock().iter().flat_map(|(_, body)| items(body)).filter(|item| item["answer"] == text).count()
    }
}

async fn describe(State(server): State<Server>) -> Response {
    if server.is_down() {
        return (StatusCode::SERVICE_UNAVAILABLE, "it starts").into_response();
    }
    Json(json!({"protocol": 1, "name": "scripted", "version": *server.version.lock(), "inputs": ["answer"],
        "metrics": [{"name": "size", "threshold": 0.5}]}))
    .into_response()
}

async fn score(State(server): State<Server>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    server.got.lock().push((headers, body.clone()));
    let act = server.script.lock().pop_front();
    tokio::time::sleep(server.takes).await;
    let items = body["items"].as_array().unwrap();
    if items.iter().any(|item| item["answer"].as_str().unwrap().contains(server.poison)) {
        *server.down.lock() = Some(Instant::now() + server.falls);
        return (StatusCode::INTERNAL_SERVER_ERROR, "it broke").into_response();
    }
    let answer = |item: &Value| json!({"id": item["id"], "scores": [{"metric": "size", "value": 1.0}]});
    let mut answers: Vec<Value> = items.iter().map(answer).collect();
    let version = *server.version.lock();
    match act {
        Some(Act::Status(status, after)) => {
            let status = StatusCode::from_u16(status).unwrap();
            let after = after.map(|seconds| [("retry-after", seconds.to_string())]);
            return match after {
                Some(after) => (status, after, "no").into_response(),
                None => (status, "no, Bearer sk-secret").into_response(),
            };
        }
        Some(Act::Garbage) => return "<html>It works!</html>".into_response(),
        Some(Act::Hang) => return std::future::pending().await,
        Some(Act::Renamed(next)) => *server.version.lock() = next,
        Some(Act::Short) => drop(answers.pop()),
        Some(Act::Strays) => {
            let mut again = answers[0].clone();
            again["scores"][0]["value"] = json!(0.0);
            answers.extend([again, json!({"id": "nobody", "scores": []}), json!(["x"])]);
        }
        Some(Act::Text) => answers[0]["scores"][0]["value"] = json!("high"),
        None => {}
    }
    Json(json!({"version": version, "answers": answers})).into_response()
}
