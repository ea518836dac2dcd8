//! Waiting for others on a thread of one's own.

use super::evaluator::Away;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The longest wait for a judge or plug-in, its retries included, where nobody says when to give up.
pub const PATIENCE: Duration = Duration::from_mins(10);

/// Asks until there is an answer, or until the next try would come after `until`. Blocks; a runtime must be entered.
///
/// # Errors
/// Who is away then.
pub(super) fn patiently<T, F>(until: Instant, ask: impl Fn() -> F) -> Result<T, Away>
where
    F: Future<Output = Result<T, Away>>,
{
    let asked = async {
        loop {
            match ask().await {
                Err(Away { wait: Some(wait), .. }) if Instant::now() + wait < until => sleep(wait).await,
                asked => return asked,
            }
        }
    };
    futures::executor::block_on(asked)
}
