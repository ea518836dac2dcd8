//! Somebody who writes texts anew: a judge that is asked for something else than a verdict.

use crate::domain::score::Usage;
use async_trait::async_trait;
use tokio::time::Instant;

/// What came of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewritten {
    /// The text that was written, or why there is none.
    pub text: Result<String, String>,
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
