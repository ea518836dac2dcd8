//! What is known of a plug-in without asking it: the version and the metrics that it has told last.

use super::describe::Description;
use crate::domain::score::Better;
use crate::eval::Metric;
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ways in which a plug-in may describe itself while the server runs. Each is kept as long as the plug-in is, because who
/// reads the facts holds no lock on them.
const MAX_WAYS: usize = 100;

/// One way in which a plug-in has described itself.
#[derive(Debug, PartialEq)]
pub(super) struct Facts {
    pub version: String,
    pub metrics: Vec<Metric>,
}

/// The way in which a plug-in describes itself now, and those before.
pub(super) struct KnownFacts {
    /// What is known before it has described itself.
    unasked: Facts,
    /// In the order in which they were told first; those that are set come first.
    ways: Box<[OnceLock<Facts>]>,
    /// How many of the ways there are, up to the present one: 0 before the first.
    now: AtomicUsize,
    learning: Mutex<()>,
}

impl KnownFacts {
    /// Before it has described itself, its errors have one metric, `id`.
    pub(super) fn new(id: &str) -> Self {
        let metrics = vec![Metric::named(id.to_owned(), Better::Higher, None)];
        Self {
            unasked: Facts { version: String::new(), metrics },
            ways: (0..MAX_WAYS).map(|_| OnceLock::new()).collect(),
            now: AtomicUsize::new(0),
            learning: Mutex::new(()),
        }
    }

    /// What is known now.
    pub(super) fn facts(&self) -> &Facts {
        let told = self.now.load(Ordering::Acquire).checked_sub(1);
        told.and_then(|at| self.ways.get(at)?.get()).unwrap_or(&self.unasked)
    }

    /// Takes a description as the present one.
    ///
    /// # Errors
    /// When there were too many others.
    pub(super) fn learn(&self, description: &Description) -> Result<(), String> {
        let metric =
            |told: &super::describe::Told| Metric::named(told.name.clone(), told.better, told.threshold);
        let facts = Facts {
            version: description.version.clone(),
            metrics: description.metrics.iter().map(metric).collect(),
        };
        let _one_at_a_time = self.learning.lock();
        let is_place = |way: &OnceLock<Facts>| way.get().is_none_or(|known| *known == facts);
        let Some(at) = self.ways.iter().position(is_place) else {
            return Err(format!(
                "it has described itself in {MAX_WAYS} ways since the start: give it one version until its code changes"
            ));
        };
        self.ways[at].get_or_init(|| facts);
        self.now.store(at + 1, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::describe::tests::tone;
    use super::*;

    #[test]
    fn the_last_description_is_known_and_the_ways_are_bounded() {
        let (known, mut told) = (KnownFacts::new("plugin/tone"), Description::from_json(tone()).unwrap());
        assert_eq!(known.facts().metrics[0].name, "plugin/tone");
        known.learn(&told).unwrap();
        let first = known.facts();
        assert_eq!((first.version.as_str(), first.metrics[1].name.as_ref()), ("3", "promise"));
        told.version = "4".to_owned();
        known.learn(&told).unwrap();
        assert_eq!(known.facts().version, "4");
        told.version = "3".to_owned();
        known.learn(&told).unwrap();
        assert!(std::ptr::eq(known.facts(), first));
        let mut learned = 0;
        let refused = (5..).find_map(|version| {
            told.version = version.to_string();
            learned += 1;
            known.learn(&told).err()
        });
        assert!(refused.unwrap().contains("100 ways") && learned <= MAX_WAYS);
    }
}
