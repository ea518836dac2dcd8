//! Waiting for others.

use super::evaluator::Away;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The longest wait for a judge or plug-in, its retries included, where nobody says when to give up.
pub const PATIENCE: Duration = Duration::from_mins(10);

/// Asks until there is an answer, or until the next try would come after `until`. `wait` tells of a failure how long asking
/// again is of no use; none where it always is.
///
/// # Errors
/// The last failure.
pub async fn patient<T, E, F>(
    until: Instant,
    ask: impl Fn() -> F,
    wait: impl Fn(&E) -> Option<Duration>,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    loop {
        let asked = ask().await;
        let again = asked.as_ref().err().and_then(&wait);
        match again {
            Some(wait) if Instant::now() + wait < until => sleep(wait).await,
            _ => return asked,
        }
    }
}

/// [`patient`] on a thread of one's own. Blocks; a runtime must be entered.
///
/// # Errors
/// Who is away then.
pub(super) fn patiently<T, F>(until: Instant, ask: impl Fn() -> F) -> Result<T, Away>
where
    F: Future<Output = Result<T, Away>>,
{
    futures::executor::block_on(patient(until, ask, |away: &Away| away.wait))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test]
    async fn who_is_away_for_a_while_is_asked_again_and_nobody_is_for_ever() {
        let (now, times) = (Instant::now(), Cell::new(0));
        let ask = || {
            times.set(times.get() + 1);
            std::future::ready(if times.get() < 3 { Err(times.get()) } else { Ok("here") })
        };
        let soon = |_: &i32| Some(Duration::ZERO);
        let hour = Duration::from_hours(1);
        assert_eq!(patient(now + hour, ask, soon).await, Ok("here"));
        times.set(0);
        assert_eq!(patient(now, ask, soon).await, Err(1));
        assert_eq!(patient(now + hour, ask, |_| None).await, Err(2));
        times.set(0);
        assert_eq!(patient(now + hour, ask, |_| Some(2 * hour)).await, Err(1));
    }
}
