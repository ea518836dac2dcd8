//! Runs that requests judge now: nobody judges one of them a second time meanwhile.

use parking_lot::Mutex as Lock;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Runs that requests judge now. Cheap to clone.
#[derive(Clone, Default)]
pub struct Claims(Arc<Held>);

#[derive(Default)]
struct Held {
    runs: Lock<HashSet<String>>,
    freed: Notify,
}

/// Runs that one request has alone, until it is dropped.
pub struct Claim {
    held: Arc<Held>,
    runs: HashSet<String>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.held.runs.lock().retain(|run| !self.runs.contains(run));
        self.held.freed.notify_waiters();
    }
}

impl Claims {
    /// Has all of `runs` as soon as nobody has one of them; none if that is not before `until`. Who waits has none of them, so
    /// that no two wait for each other.
    pub async fn claim(&self, runs: HashSet<String>, until: Instant) -> Option<Claim> {
        loop {
            // Before the look: what is freed right after it is not missed.
            let freed = self.0.freed.notified();
            if self.takes(&runs) {
                return Some(Claim { held: self.0.clone(), runs });
            }
            timeout_at(until, freed).await.ok()?;
        }
    }

    fn takes(&self, runs: &HashSet<String>) -> bool {
        let mut held = self.0.runs.lock();
        let is_free = held.is_disjoint(runs);
        if is_free {
            held.extend(runs.iter().cloned());
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::time::Duration;

    fn runs(named: &[&str]) -> HashSet<String> {
        named.iter().map(|run| (*run).to_owned()).collect()
    }

    #[tokio::test]
    async fn who_comes_with_the_same_run_waits_until_it_is_done_with() {
        let (claims, now) = (Claims::default(), Instant::now());
        let until = now + Duration::from_hours(1);
        let first = claims.claim(runs(&["a", "b"]), until).await.unwrap();
        // Others go on beside it.
        let other = claims.claim(runs(&["c"]), until).await.unwrap();
        let mut second = Box::pin(claims.claim(runs(&["b", "d"]), until));
        assert!(second.as_mut().now_or_never().is_none());
        // Who waits keeps nobody else waiting.
        drop(claims.claim(runs(&["d"]), until).await.unwrap());
        drop(other);
        assert!(second.as_mut().now_or_never().is_none());
        drop(first);
        let second = second.await.unwrap();
        assert!(claims.claim(runs(&["a"]), now).await.is_some());
        // Nobody waits for ever.
        assert!(claims.claim(runs(&["d"]), now).await.is_none());
        drop(second);
        assert!(claims.claim(runs(&["d"]), now).await.is_some());
    }
}
