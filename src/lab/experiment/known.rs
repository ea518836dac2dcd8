//! Which runs of an experiment are stored already, in memory while it is being run: each batch of answers would read all of
//! them again.

use super::super::store::Store;
use super::reading::{self, Experiment, Key, StoredRun};
use crate::lab::error::LabError;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

/// Experiments whose runs are kept.
const MAX_EXPERIMENTS: usize = 4;
/// An experiment with more runs is read from the tables each time.
const MAX_RUNS: usize = 1_000_000;

/// A run that is stored, as far as it says what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The last attempt.
    pub number: i64,
    /// Whether it has no answer.
    pub is_error: bool,
}

/// A run that is about to be stored: its last attempt, and why it has no answer.
pub type Added<'a> = (Key, Attempt, Option<&'a str>);

/// What is true of an experiment when some runs are stored.
#[derive(Debug, PartialEq, Eq)]
pub struct After {
    /// How many runs are stored.
    pub runs: usize,
    /// Why none of them has an answer; none if one has, or nothing is stored.
    pub failed: Option<String>,
}

/// The runs of one experiment that are stored.
#[derive(Debug, Clone, Default)]
pub struct Known {
    runs: HashMap<Key, Attempt>,
    errors: usize,
    /// Why one of them has no answer.
    why: String,
}

impl Known {
    /// Reads those of an experiment, but for items that `is_purged`.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn read(
        store: &Store,
        tenant: &str,
        experiment: &Experiment,
        is_purged: impl Fn(&str) -> bool,
    ) -> Result<Self, LabError> {
        let mut known = Self::default();
        for (key, run) in reading::runs(store, tenant, &experiment.experiment_id).await? {
            if !is_purged(&key.0) {
                let StoredRun { attempt, is_error, error, .. } = run;
                known.add(key, Attempt { number: attempt, is_error }, error.as_deref());
            }
        }
        Ok(known)
    }

    /// The last attempt of a run, if there is one.
    pub fn get(&self, key: &Key) -> Option<Attempt> {
        self.runs.get(key).copied()
    }

    /// What is true when these are stored, too.
    pub fn after(&self, added: &[Added<'_>]) -> After {
        let (mut runs, mut errors) = (self.runs.len(), self.errors);
        for (key, attempt, _) in added {
            match self.runs.get(key) {
                Some(before) => errors -= usize::from(before.is_error),
                None => runs += 1,
            }
            errors += usize::from(attempt.is_error);
        }
        let first = added.iter().find_map(|(_, _, why)| *why).unwrap_or_default();
        let why = if self.why.is_empty() { first } else { &self.why };
        After { runs, failed: (runs > 0 && errors == runs).then(|| why.to_owned()) }
    }

    /// Adds the last attempt of a run, in the place of an earlier one.
    pub fn add(&mut self, key: Key, attempt: Attempt, why: Option<&str>) {
        let before = self.runs.insert(key, attempt);
        self.errors -= usize::from(before.is_some_and(|before| before.is_error));
        self.errors += usize::from(attempt.is_error);
        if let (true, Some(why)) = (attempt.is_error && self.why.is_empty(), why) {
            why.clone_into(&mut self.why);
        }
    }
}

/// Read by many, written by who holds the lock of writing.
pub type Shared = Arc<RwLock<Known>>;

/// A tenant, and an experiment of it: an archive gives two tenants one of the same id.
type Of = (String, String);

/// The runs of the experiments that were written last. Only who holds the lock of writing may put something in, so what
/// is here is what is stored.
#[derive(Default)]
pub struct Kept(Vec<(Of, usize, Shared)>);

impl Kept {
    /// Those of an experiment, unless items were purged since.
    pub fn get(&self, tenant: &str, experiment_id: &str, purges: usize) -> Option<Shared> {
        let is_it = |(whose, id): &Of| whose == tenant && id == experiment_id;
        let found = self.0.iter().find(|(of, then, _)| is_it(of) && *then == purges);
        found.map(|(_, _, known)| known.clone())
    }

    /// Keeps them in the place of what was known before.
    pub fn put(&mut self, tenant: &str, experiment_id: &str, purges: usize, known: Shared) {
        self.forget(tenant, experiment_id);
        if known.read().runs.len() > MAX_RUNS {
            return;
        }
        if self.0.len() >= MAX_EXPERIMENTS {
            self.0.remove(0);
        }
        self.0.push(((tenant.to_owned(), experiment_id.to_owned()), purges, known));
    }

    /// Forgets those of an experiment.
    pub fn forget(&mut self, tenant: &str, experiment_id: &str) {
        self.0.retain(|((whose, id), ..)| whose != tenant || id != experiment_id);
    }

    /// Forgets all: rows come from elsewhere.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_attempt_counts_and_an_answer_ends_a_failure() {
        let mut known = Known::default();
        let after = |runs, failed: Option<&str>| After { runs, failed: failed.map(str::to_owned) };
        assert_eq!(known.after(&[]), after(0, None));
        let key = || ("a".to_owned(), 1);
        let (away, answered) =
            (Attempt { number: 1, is_error: true }, Attempt { number: 2, is_error: false });
        assert_eq!(known.after(&[(key(), away, Some("away"))]), after(1, Some("away")));
        known.add(key(), away, Some("away"));
        assert_eq!(known.after(&[]), after(1, Some("away")));
        // Another one that has an answer ends it, and so does the next attempt.
        assert_eq!(known.after(&[(("b".to_owned(), 1), answered, None)]), after(2, None));
        assert_eq!(known.after(&[(key(), answered, None)]), after(1, None));
        known.add(key(), answered, None);
        assert_eq!((known.after(&[]), known.get(&key())), (after(1, None), Some(answered)));
    }

    #[test]
    fn what_was_read_before_a_purge_is_not_taken() {
        let mut kept = Kept::default();
        kept.put("t", "e", 0, Arc::default());
        let is_there = |tenant: &str, id: &str, purges| kept.get(tenant, id, purges).is_some();
        assert!(is_there("t", "e", 0) && !is_there("t", "e", 1) && !is_there("t", "f", 0));
        assert!(!is_there("u", "e", 0), "another tenant has restored the same archive");
        kept.forget("u", "e");
        (1..MAX_EXPERIMENTS).for_each(|at| kept.put("t", &at.to_string(), 0, Arc::default()));
        assert!(kept.get("t", "e", 0).is_some());
        kept.put("t", "0", 0, Arc::default());
        assert!(kept.get("t", "e", 0).is_none() && kept.get("t", "0", 0).is_some());
        kept.clear();
        assert!(kept.get("t", "0", 0).is_none());
    }
}
