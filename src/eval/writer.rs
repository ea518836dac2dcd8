//! Somebody who writes texts anew: a judge that is asked for something else than a verdict.

use crate::domain::score::Usage;
use async_trait::async_trait;
use tokio::time::Instant;

/// Why a text was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotWritten {
    /// The same text would fail again.
    #[error("{0}")]
    Never(String),
    /// No text is written until somebody changes something: a key, an address, a bill.
    #[error("{0}")]
    Closed(String),
    /// Another try later may help.
    #[error("{0}")]
    Away(String),
}

/// What came of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewritten {
    /// The text that was written, or why there is none.
    pub text: Result<String, NotWritten>,
    /// Who was asked, and what all replies took; none where nobody replied.
    pub usage: Option<Usage>,
}

/// Writes texts anew.
#[async_trait]
pub trait Writer: Send + Sync {
    /// Texts that may be in work at once.
    fn at_once(&self) -> usize;

    /// What `task` makes of `text`, which is a text of `tenant`; gives up at `until`.
    async fn write(&self, task: &str, text: &str, tenant: &str, until: Instant) -> Rewritten;
}
