//! Runs that this server stored. Of several on one bucket each makes the spans of its own.

use parking_lot::Mutex as Lock;
use std::collections::HashSet;
use std::sync::Arc;

/// Most runs that are remembered, in two generations; one that is forgotten is nobody's.
const MOST: usize = 100_000;

/// Traces of runs that were stored since the start. Cheap to clone.
#[derive(Clone, Default)]
pub struct Own(Arc<Lock<Generations>>);

#[derive(Default)]
struct Generations {
    current: HashSet<String>,
    previous: HashSet<String>,
}

impl Own {
    /// The run of this trace is stored.
    pub fn add(&self, trace_id: &str) {
        let mut all = self.0.lock();
        if all.current.len() >= MOST / 2 {
            all.previous = std::mem::take(&mut all.current);
        }
        all.current.insert(trace_id.to_owned());
    }

    /// Whether this server stored the run of this trace, as far as it remembers.
    pub fn has(&self, trace_id: &str) -> bool {
        let all = self.0.lock();
        all.current.contains(trace_id) || all.previous.contains(trace_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let own = Own::default();
        (0..MOST).for_each(|at| own.add(&at.to_string()));
        assert!(own.has("0") && own.has(&(MOST - 1).to_string()) && !own.has("x"));
        own.add("x");
        assert!(!own.has("0") && own.has(&(MOST / 2).to_string()) && own.has("x"));
        let all = own.0.lock();
        assert_eq!(all.current.len() + all.previous.len(), MOST / 2 + 1);
    }
}
