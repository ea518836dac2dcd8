//! One HTTP request with its limits and retries.

use crate::lab::template::brief;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Longest answer, bytes.
pub(super) const MAX_ANSWER: usize = 16 << 20;
/// The wait before a second request; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// No server is left alone for longer because it says so.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// An address, and what every request to it carries.
pub(super) struct Wire {
    client: reqwest::Client,
    url: url::Url,
    headers: HeaderMap,
    retries: u32,
}

/// Why there is no answer.
enum Fault {
    /// The same request may be answered later; the server may have said when.
    Passing(String, Option<Duration>),
    Final(String),
}

impl Wire {
    /// # Errors
    /// When a header or the token's variable cannot be used.
    pub fn new(
        url: &str,
        headers: &BTreeMap<String, String>,
        api_key_env: &str,
        retries: u32,
    ) -> Result<Self, String> {
        let url = url::Url::parse(url).map_err(|e| format!("target: {url:?}: {e}"))?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let wrong = |_| format!("target.headers.{name} is no HTTP header");
            let value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong(()))?;
            map.insert(HeaderName::try_from(name.as_str()).map_err(|_| wrong(()))?, value);
        }
        if !api_key_env.is_empty() {
            let key = std::env::var(api_key_env).ok().filter(|key| !key.trim().is_empty());
            let key = key.ok_or_else(|| {
                format!("target.api_key_env: the environment variable {api_key_env} is not set")
            })?;
            let value = HeaderValue::try_from(format!("Bearer {}", key.trim()));
            let mut value =
                value.map_err(|_| format!("target.api_key_env: {api_key_env} holds no HTTP header"))?;
            value.set_sensitive(true);
            map.insert(reqwest::header::AUTHORIZATION, value);
        }
        // A redirect would carry question and token to whom nobody has named.
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        let client = client.map_err(|e| format!("no HTTP client: {e}"))?;
        Ok(Self { client, url, headers: map, retries })
    }

    /// What the server answers to `body`: bytes of at most 16 MiB. Network errors, 408, 429 and 5xx are tried again.
    pub async fn post(&self, body: &Json, traceparent: &str) -> Result<Vec<u8>, String> {
        let (text, mut tries) = (body.to_string(), 0);
        loop {
            let fault = match self.once(text.clone(), traceparent).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            match fault {
                Fault::Passing(_, wait) if tries < self.retries => {
                    let backoff = FIRST_WAIT * 2u32.saturating_pow(tries);
                    tokio::time::sleep(wait.unwrap_or(backoff).min(LONGEST_WAIT)).await;
                    tries += 1;
                }
                Fault::Passing(why, _) | Fault::Final(why) if tries == 0 => return Err(why),
                Fault::Passing(why, _) | Fault::Final(why) => {
                    return Err(format!("{why} (asked {} times)", tries + 1));
                }
            }
        }
    }

    async fn once(&self, body: String, traceparent: &str) -> Result<Vec<u8>, Fault> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let request = request.header("content-type", "application/json").header("traceparent", traceparent);
        let sent = request.body(body).send().await;
        let mut response = sent.map_err(|e| Fault::Passing(told(e.without_url()), None))?;
        let status = response.status().as_u16();
        let wait =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let wait = wait.map(Duration::from_secs);
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|e| Fault::Passing(told(e.without_url()), None))?
        {
            if bytes.len() + chunk.len() > MAX_ANSWER {
                return Err(Fault::Final("the answer is longer than 16 MiB".to_owned()));
            }
            bytes.extend_from_slice(&chunk);
        }
        match status {
            200..=299 => Ok(bytes),
            408 | 425 | 429 | 500..=599 => Err(Fault::Passing(refused(status, &bytes), wait)),
            _ => Err(Fault::Final(refused(status, &bytes))),
        }
    }
}

fn refused(status: u16, body: &[u8]) -> String {
    format!("HTTP {status}: {}", brief(&String::from_utf8_lossy(body)))
}

/// An error with its causes: the outermost one alone says only that the request failed.
fn told(error: reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}
