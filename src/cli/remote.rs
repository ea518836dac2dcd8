//! A running server, for the verbs that ask one.

use super::trust::Trust;
use clap::Args;
use reqwest::RequestBuilder;
use serde_json::Value;

/// Where the server is.
#[derive(Debug, Args)]
pub struct Server {
    /// A running server.
    #[arg(long, default_value = "http://127.0.0.1:4320")]
    pub url: String,
    /// A token of the server, if it has tokens: labels and the list of the queue take the role query, the rest takes admin.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    #[command(flatten)]
    pub(super) trust: Trust,
}

impl Server {
    /// What `GET path` answers.
    pub(super) async fn get(&self, path: &str) -> Result<Value, String> {
        let address = self.address(path);
        self.send(self.trust.client()?.get(&address), &address).await
    }

    /// What `POST path` answers to `body`.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let address = self.address(path);
        self.send(self.trust.client()?.post(&address).json(body), &address).await
    }

    /// What `DELETE path` answers.
    pub(super) async fn delete(&self, path: &str) -> Result<Value, String> {
        let address = self.address(path);
        self.send(self.trust.client()?.delete(&address), &address).await
    }

    /// What `GET path` answers, as text.
    pub(super) async fn get_text(&self, path: &str) -> Result<String, String> {
        let address = self.address(path);
        let (is_done, text) = self.exchange(self.trust.client()?.get(&address), &address).await?;
        if is_done { Ok(text) } else { Err(error_of(&text)) }
    }

    /// Whether `POST path` of a file succeeds, and what it answers.
    pub(super) async fn post_file(
        &self,
        path: &str,
        kind: &str,
        body: Vec<u8>,
    ) -> Result<(bool, Value), String> {
        let address = self.address(path);
        let request = self.trust.client()?.post(&address).header("content-type", kind).body(body);
        let (is_done, text) = self.exchange(request, &address).await?;
        let answer: Value = serde_json::from_str(&text).map_err(|_| text)?;
        Ok((is_done, answer))
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.url.trim_end_matches('/'))
    }

    async fn send(&self, request: RequestBuilder, address: &str) -> Result<Value, String> {
        let (is_done, text) = self.exchange(request, address).await?;
        match is_done {
            true => Ok(serde_json::from_str(&text).unwrap_or_default()),
            false => Err(error_of(&text)),
        }
    }

    /// Whether the server says yes, and its words.
    async fn exchange(&self, mut request: RequestBuilder, address: &str) -> Result<(bool, String), String> {
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.map_err(|e| unreached(address, e))?;
        let is_done = response.status().is_success();
        let text = response.text().await.map_err(|e| format!("{address}: {e}"))?;
        Ok((is_done, text))
    }
}

/// Why nobody answered at `address`, with the causes: the outermost error alone hides a certificate that is not trusted.
pub(super) fn unreached(address: &str, error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = format!("{address}: {error}");
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text.push_str(match address.split_once("://") {
        None => "; an address begins with http:// or https://",
        Some(("https", _)) => {
            "; is the server running (groundline serve), and is its certificate trusted here (--ca-file)?"
        }
        Some(_) => "; is the server running? (groundline serve)",
    });
    text
}

/// The server's sentence about what is wrong.
fn error_of(text: &str) -> String {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    answer["error"].as_str().unwrap_or(text).to_owned()
}
