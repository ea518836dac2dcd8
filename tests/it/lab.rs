//! The lab: datasets and experiments over HTTP, SQL and the command line.

mod archive;
mod clients;
mod datasets;
mod experiments;
mod files;
mod killed;
mod large;
mod path;
mod perturbed;
mod playground;
mod purge;
mod review;
mod rows;
mod slices;
mod suite_server;
mod suites;
mod targets;
mod verbs;

use groundline::app::App;
use serde_json::Value as Json;

/// A request to a route of the lab with a JSON body; status and answer.
async fn send(app: &App, method: &str, path: &str, token: Option<&str>, body: &Json) -> (u16, Json) {
    let url = format!("http://{}/v1/lab/{path}", app.addresses.http);
    let mut request = reqwest::Client::new().request(method.parse().unwrap(), url);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    if !body.is_null() {
        request = request.json(body);
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Json::String(text)))
}

/// A request that must succeed.
async fn done(app: &App, method: &str, path: &str, body: &Json) -> Json {
    let (status, answer) = send(app, method, path, None, body).await;
    assert_eq!(status, 200, "{method} {path}: {answer}");
    answer
}
