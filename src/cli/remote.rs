//! A running server, for the verbs that ask one.

use clap::Args;
use reqwest::RequestBuilder;
use serde_json::Value;

/// Where the server is.
#[derive(Debug, Args)]
pub struct Server {
    /// A running server.
    #[arg(long, default_value = "http://127.0.0.1:4320")]
    pub url: String,
    /// A token of the server with the role admin, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
}

impl Server {
    /// What `GET path` answers.
    pub(super) async fn get(&self, path: &str) -> Result<Value, String> {
        let address = self.address(path);
        self.send(reqwest::Client::new().get(&address), &address).await
    }

    /// What `POST path` answers to `body`.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let address = self.address(path);
        self.send(reqwest::Client::new().post(&address).json(body), &address).await
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.url.trim_end_matches('/'))
    }

    async fn send(&self, mut request: RequestBuilder, address: &str) -> Result<Value, String> {
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request
            .send()
            .await
            .map_err(|e| format!("{address}: {e}; is the server running? (groundline serve)"))?;
        let status = response.status();
        let text = response.text().await.map_err(|e| format!("{address}: {e}"))?;
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        match status.is_success() {
            true => Ok(answer),
            false => Err(answer["error"].as_str().unwrap_or(&text).to_owned()),
        }
    }
}
