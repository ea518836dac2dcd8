//! A browser as far as the server can tell.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value as Json, json};
use std::net::SocketAddr;

/// A request with these headers; nothing is added.
pub fn request(at: SocketAddr, method: Method, path: &str, headers: &[(&str, &str)]) -> RequestBuilder {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let mut request = client.request(method, format!("http://{at}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request
}

pub async fn get(at: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Response {
    request(at, Method::GET, path, headers).send().await.unwrap()
}

/// The status of a POST of JSON, and its body; an empty body is null.
pub async fn post(at: SocketAddr, path: &str, headers: &[(&str, &str)], body: &Json) -> (u16, Json) {
    let answer = request(at, Method::POST, path, headers).json(body).send().await.unwrap();
    (answer.status().as_u16(), serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
}

/// The answer to a query with parameters, by columns.
pub async fn ask(at: SocketAddr, query: &str, params: Json) -> (u16, Json) {
    let headers = [("accept", "application/json; shape=columns")];
    post(at, "/v1/sql", &headers, &json!({"query": query, "params": params})).await
}

pub fn header(answer: &Response, name: &str) -> String {
    answer.headers().get(name).map(|v| v.to_str().unwrap().to_owned()).unwrap_or_default()
}
