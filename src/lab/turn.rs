//! Production first: what an experiment answered is judged while nothing of production waits for its evaluators.

use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often it is looked whether production still waits.
const LOOK: Duration = Duration::from_millis(20);
/// The longest that one answer waits: where production never gets done, experiments do, an answer a second.
const LONGEST: Duration = Duration::from_secs(1);

/// Whether items of production wait for a worker.
#[derive(Clone)]
pub struct Production(Arc<dyn Fn() -> bool + Send + Sync>);

impl Production {
    /// Asks `waits` before each answer is judged.
    pub fn new(waits: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(waits))
    }

    /// Where nothing is evaluated but experiments.
    pub fn none() -> Self {
        Self::new(|| false)
    }

    /// Returns when nothing of production waits, or after a second, but not after `until`.
    pub async fn passed(&self, until: Instant) {
        let until = until.min(Instant::now() + LONGEST);
        while (self.0)() && Instant::now() < until {
            sleep(LOOK).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn an_answer_waits_for_production_and_no_longer_than_it_must() {
        let looks = Arc::new(AtomicUsize::new(0));
        let counted = looks.clone();
        let production = Production::new(move || counted.fetch_add(1, Ordering::Relaxed) < 5);
        let far = Instant::now() + Duration::from_mins(10);
        // Slow days have fewer looks within a second.
        production.passed(far).await;
        let first = looks.load(Ordering::Relaxed);
        assert!((2..=6).contains(&first), "{first} looks: it waited for what went before");
        let busy = Production::new(|| true);
        let began = Instant::now();
        busy.passed(far).await;
        assert!(began.elapsed() >= LONGEST, "production goes first for a second");
        busy.passed(Instant::now()).await;
        Production::none().passed(far).await;
    }
}
