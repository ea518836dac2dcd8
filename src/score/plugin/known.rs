//! The metrics of a plug-in for as long as the process lives: they are named without a copy everywhere else.

use super::describe::Description;
use crate::domain::score::Better;
use crate::eval::Metric;
use parking_lot::Mutex;

/// Ways in which a plug-in may describe itself while the server runs: what is named is never freed.
const MAX_WAYS: usize = 100;

/// What is known of a plug-in without asking it.
#[derive(Debug, PartialEq)]
pub(super) struct Facts {
    pub version: &'static str,
    pub metrics: Vec<Metric>,
}

/// The way in which a plug-in describes itself now, and those before.
pub(super) struct Known {
    ways: Mutex<Vec<&'static Facts>>,
}

impl Known {
    /// Before it has described itself, its errors have one metric, `id`.
    pub(super) fn new(id: &str) -> Self {
        let metrics = vec![Metric { name: kept(id), better: Better::Higher, threshold: None }];
        Self { ways: Mutex::new(vec![Box::leak(Box::new(Facts { version: "", metrics }))]) }
    }

    /// What is known now.
    pub(super) fn facts(&self) -> &'static Facts {
        const NOTHING: &Facts = &Facts { version: "", metrics: Vec::new() };
        self.ways.lock().last().copied().unwrap_or(NOTHING)
    }

    /// Takes a description as the present one.
    ///
    /// # Errors
    /// When there were too many others.
    pub(super) fn learn(&self, description: &Description) -> Result<(), String> {
        let is_same = |facts: &&'static Facts| {
            facts.version == description.version
                && facts.metrics.len() == description.metrics.len()
                && facts.metrics.iter().zip(&description.metrics).all(|(known, told)| {
                    (known.name, known.better, known.threshold)
                        == (told.name.as_str(), told.better, told.threshold)
                })
        };
        let mut ways = self.ways.lock();
        if let Some(at) = ways.iter().position(is_same) {
            let now = ways.remove(at);
            ways.push(now);
            return Ok(());
        }
        if ways.len() > MAX_WAYS {
            return Err(format!(
                "it has described itself in {MAX_WAYS} ways since the start: give it one version until its code changes"
            ));
        }
        let metric = |told: &super::describe::Told| Metric {
            name: kept(&told.name),
            better: told.better,
            threshold: told.threshold,
        };
        let metrics = description.metrics.iter().map(metric).collect();
        ways.push(Box::leak(Box::new(Facts { version: kept(&description.version), metrics })));
        Ok(())
    }
}

fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::super::describe::tests::tone;
    use super::*;

    #[test]
    fn the_last_description_is_known_and_the_ways_are_bounded() {
        let (known, mut told) = (Known::new("plugin/tone"), Description::from_json(tone()).unwrap());
        assert_eq!(known.facts().metrics[0].name, "plugin/tone");
        known.learn(&told).unwrap();
        let first = known.facts();
        assert_eq!((first.version, first.metrics[1].name), ("3", "promise"));
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
