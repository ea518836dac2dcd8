//! Values that are neither logged nor dumped.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// What stands in the place of a secret.
const HIDDEN: &str = "<hidden>";

/// A text that is shown nowhere: not in logs, not by `config dump`.
#[derive(Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for who must send it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` without the secret: servers repeat what they refuse.
    pub(super) fn taken_out_of(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, HIDDEN) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_shown_nowhere() {
        let secret: Secret = serde_json::from_str("\"sk-1\"").unwrap();
        assert_eq!(secret.reveal(), "sk-1");
        assert_eq!((format!("{secret:?}"), serde_json::to_string(&secret).unwrap()), {
            (HIDDEN.to_owned(), format!("\"{HIDDEN}\""))
        });
        assert_eq!(secret.taken_out_of("wrong key sk-1."), "wrong key <hidden>.");
    }
}
