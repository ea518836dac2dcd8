//! JSON over HTTP: `GET <url>/describe`, and `POST <url>/score` of a batch.

use super::config::PluginConfig;
use super::describe::{Description, PROTOCOL};
use super::fault::Fault;
use super::item::{Answer, Item};
use super::ledger::Ledger;
use crate::score::secret::Secret;
use crate::score::wire::{client, read_secret, retry_after, said, sensitive, told};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;

/// Longest answer to a batch, bytes.
const MAX_ANSWER: usize = 16 << 20;

/// One plug-in's address.
pub(super) struct Http {
    client: reqwest::Client,
    config: Arc<PluginConfig>,
    url: url::Url,
}

impl Http {
    /// # Errors
    /// When the address cannot be used.
    pub(super) fn new(config: &Arc<PluginConfig>) -> Result<Self, String> {
        let client = client(&config.ca_file)?;
        let client = client.build().map_err(|e| format!("no HTTP client: {e}"))?;
        let url = config.address().map_err(|why| format!("url {why}"))?;
        Ok(Self { client, config: config.clone(), url })
    }

    /// # Errors
    /// When nobody answers, or nothing that can be kept to.
    pub(super) async fn describe(&self) -> Result<Description, String> {
        let request = self.client.get(self.path("describe")).timeout(self.config.start_timeout);
        let said = self.send(request).await.map_err(|fault| match fault {
            Fault::Away(why) | Fault::Busy(why, _) | Fault::Broken(why) | Fault::Refused(why) => why,
            Fault::Stale => "another version answered".to_owned(),
        });
        let said = said.map_err(|why| format!("it does not describe itself: {why}"))?;
        Description::from_json(said)
    }

    /// # Errors
    /// Why some items have no answer.
    pub(super) async fn score(&self, ledger: &mut Ledger) -> Result<(), Fault> {
        let items: Vec<Json> = ledger.items().map(Item::json).collect();
        let body = json!({"protocol": PROTOCOL, "items": items}).to_string();
        let request = self.client.post(self.path("score")).timeout(self.config.timeout).body(body);
        let said = self.send(request.header(CONTENT_TYPE, "application/json")).await?;
        if said["version"].as_str() != Some(ledger.version()) {
            return match said["version"].as_str() {
                Some(_) => Err(Fault::Stale),
                None => Err(Fault::Broken("the answer has no version, a text".to_owned())),
            };
        }
        let Some(answers) = said["answers"].as_array() else {
            return Err(Fault::Broken("the answer has no answers, a list".to_owned()));
        };
        for answer in answers {
            match Answer::from_json(answer) {
                Some(answer) => drop(ledger.take(answer)),
                None => drop(ledger.read(answer.to_string().as_bytes())),
            }
        }
        if ledger.is_done() {
            Ok(())
        } else {
            Err(Fault::Broken(format!("an item has no answer{}", ledger.strays())))
        }
    }

    fn path(&self, last: &str) -> url::Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(last);
        }
        url
    }

    async fn send(&self, mut request: reqwest::RequestBuilder) -> Result<Json, Fault> {
        let token = read_secret("secret_file", &self.config.secret_file).await.map_err(Fault::Away)?;
        if let Some(token) = &token {
            let bearer = Secret::new(format!("Bearer {}", token.reveal()));
            request = request.header(AUTHORIZATION, sensitive(&bearer).map_err(Fault::Away)?);
        }
        let failed = |error: reqwest::Error| {
            // Without the address: it may be a secret.
            let is_away = error.is_connect();
            let why = told(&error.without_url());
            if is_away { Fault::Away(why) } else { Fault::Broken(why) }
        };
        let mut response = request.send().await.map_err(failed)?;
        let (status, wait) = (response.status().as_u16(), retry_after(response.headers()));
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > MAX_ANSWER {
                return Err(Fault::Broken(format!("the answer is longer than {MAX_ANSWER} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        if status == 200 {
            return serde_json::from_slice(&bytes)
                .map_err(|e| Fault::Broken(format!("the answer is no JSON ({} bytes): {e}", bytes.len())));
        }
        let text = said(&String::from_utf8_lossy(&bytes), &token);
        Err(fault(status, format!("HTTP {status}: {}", text.trim()), wait))
    }
}

fn fault(status: u16, why: String, wait: Option<Duration>) -> Fault {
    match status {
        429 => Fault::Busy(why, wait),
        503 if wait.is_some() => Fault::Busy(why, wait),
        408 | 409 | 425 | 500..=599 => Fault::Broken(why),
        400 | 406 | 411..=424 => Fault::Refused(why),
        _ => Fault::Away(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_told_apart() {
        let word = |status: u16, wait| fault(status, String::new(), wait).word();
        assert_eq!(
            [400, 401, 404, 413, 422, 429, 500, 503, 302].map(|status| word(status, None)),
            ["refused", "away", "away", "refused", "refused", "busy", "broken", "broken", "away"]
        );
        assert_eq!(word(503, Some(Duration::ZERO)), "busy");
    }
}
