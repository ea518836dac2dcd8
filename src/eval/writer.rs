//! Somebody who writes texts anew: a judge that is asked for something else than a verdict.

use crate::domain::score::Usage;
use async_trait::async_trait;
use tokio::time::Instant;

/// A text that was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewritten {
    /// The text.
    pub text: String,
    /// Who wrote it, and what that took.
    pub usage: Usage,
}

/// Writes texts anew.
#[async_trait]
pub trait Writer: Send + Sync {
    /// Texts that may be in work at once.
    fn at_once(&self) -> usize;

    /// What `task` makes of `text`, which is a text of `tenant`; gives up at `until`.
    ///
    /// # Errors
    /// Why nothing was written.
    async fn write(&self, task: &str, text: &str, tenant: &str, until: Instant) -> Result<Rewritten, String>;
}
