//! Why a message was not taken, in words that may be shown: short, on one line, without secrets.

use std::cmp::Reverse;
use url::{Position, Url};

/// Characters that are kept.
const MOST: usize = 300;
/// Bytes of an answer that are read: a receiver must not fill the memory.
const READ: usize = 16 << 10;
/// Parts of an address with fewer characters are no secret, and are words of sentences.
const SHORTEST: usize = 8;
/// What stands in a secret's place.
const HIDDEN: &str = "[hidden]";

/// What must not be shown of an address that is a secret: all of it, and each part that may be one, the longest first. One may
/// begin with another, whose end would stay.
pub(super) fn secrets_of(address: &str) -> Vec<String> {
    let mut all = vec![address.to_owned()];
    if let Ok(url) = Url::parse(address) {
        all.push(url[Position::BeforePath..].to_owned());
        all.extend(url.path_segments().into_iter().flatten().map(str::to_owned));
        all.extend(url.query().map(str::to_owned));
        let values = url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        all.extend(values.map(|(_, value)| value.to_owned()));
        all.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
        all.extend([url.username(), url.password().unwrap_or_default()].map(str::to_owned));
    }
    all.retain(|part| part.chars().count() >= SHORTEST);
    all.sort_by_key(|part| Reverse(part.len()));
    all
}

/// `text` as it may be shown. An answer may repeat what it was sent.
pub(super) fn shown(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, HIDDEN);
    }
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST).collect()
}

/// Why nothing was answered, with the causes: the outermost error alone does not say that nobody listens. Without the address.
pub(super) fn unanswered(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

/// The beginning of what was answered.
pub(super) async fn beginning(mut answer: reqwest::Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < READ {
        match answer.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk[..chunk.len().min(READ - bytes.len())]),
            // The status says enough.
            Ok(None) | Err(_) => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_repeats_a_secret_is_shown_without_it() {
        let mut secrets =
            secrets_of("https://user:passw0rd!@chat.example/hooks/T0000001/abcdefghijkl?key=0123456789");
        secrets.push("routing-key".to_owned());
        for echoed in [
            "no hook https://user:passw0rd!@chat.example/hooks/T0000001/abcdefghijkl?key=0123456789 here",
            "no hook /hooks/T0000001/abcdefghijkl?key=0123456789 here",
            "no hook abcdefghijkl here",
            "no hook with key=0123456789 here",
            "no hook for 0123456789 here",
            "no hook for routing-key here",
        ] {
            let told = shown(echoed, &secrets);
            assert!(
                told.starts_with("no hook ") && told.ends_with(" here") && told.contains(HIDDEN),
                "{told}"
            );
            for secret in ["abcdefghijkl", "0123456789", "passw0rd", "routing-key"] {
                assert!(!told.contains(secret), "{secret} is in {told}");
            }
        }
        let nested = secrets_of("https://chat.example/abcdefgh/abcdefghijkl?to=a&key=x%2By0123456");
        let told = shown("abcdefghijkl, x+y0123456, x%2By0123456", &nested);
        assert_eq!(
            told, "[hidden], [hidden], [hidden]",
            "a part that begins with another; as it is and as it is meant"
        );
        assert_eq!(shown("hooks are off", &secrets), "hooks are off", "a short part is a word");
        assert_eq!(shown("two\nlines\u{1b}[2J", &[]), "two lines [2J");
        assert_eq!(shown(&"x".repeat(1_000), &[]).len(), MOST);
    }
}
