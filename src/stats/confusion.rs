//! Which labels were taken for which.
//!
//! Averages over labels are macro averages: every label counts alike. A label that was never answered has precision 0,
//! one that was never expected has recall 0, as scikit-learn's `zero_division=0`.

use std::collections::{BTreeMap, BTreeSet};

/// How often each expected label got each answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confusion {
    counts: BTreeMap<(String, String), u64>,
}

/// Figures of a label, or their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelQuality {
    /// Share of the answers with the label that were right.
    pub precision: f64,
    /// Share of the items with the label that were found.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
}

impl Confusion {
    /// Counts one item.
    pub fn add(&mut self, expected: &str, answered: &str) {
        *self.counts.entry((expected.to_owned(), answered.to_owned())).or_insert(0) += 1;
    }

    /// How many items were counted.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Every label that was expected or answered, sorted.
    pub fn labels(&self) -> Vec<&str> {
        let all: BTreeSet<&str> = self.counts.keys().flat_map(|(a, b)| [a.as_str(), b.as_str()]).collect();
        all.into_iter().collect()
    }

    /// How often `expected` got the answer `answered`.
    pub fn count(&self, expected: &str, answered: &str) -> u64 {
        self.counts.get(&(expected.to_owned(), answered.to_owned())).copied().unwrap_or(0)
    }

    /// The share of right answers; none without items.
    pub fn accuracy(&self) -> Option<f64> {
        let right: u64 = self.counts.iter().filter(|((a, b), _)| a == b).map(|(_, count)| count).sum();
        (self.total() > 0).then(|| right as f64 / self.total() as f64)
    }

    /// The figures of one label.
    pub fn of(&self, label: &str) -> LabelQuality {
        let sum = |wanted: &dyn Fn(&(String, String)) -> bool| -> u64 {
            self.counts.iter().filter(|(pair, _)| wanted(pair)).map(|(_, count)| count).sum()
        };
        let right = self.count(label, label) as f64;
        let share = |whole: u64| if whole == 0 { 0.0 } else { right / whole as f64 };
        let (precision, recall) = (share(sum(&|pair| pair.1 == label)), share(sum(&|pair| pair.0 == label)));
        let f1 = if right == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) };
        LabelQuality { precision, recall, f1 }
    }

    /// The mean over labels; none without items.
    pub fn macro_average(&self) -> Option<LabelQuality> {
        let labels = self.labels();
        let all: Vec<LabelQuality> = labels.iter().map(|label| self.of(label)).collect();
        let mean = |figure: fn(&LabelQuality) -> f64| all.iter().map(figure).sum::<f64>() / all.len() as f64;
        (!all.is_empty()).then(|| LabelQuality {
            precision: mean(|l| l.precision),
            recall: mean(|l| l.recall),
            f1: mean(|l| l.f1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scikit-learn 1.9, `precision_recall_fscore_support(average="macro", zero_division=0)`.
    #[test]
    fn agrees_with_the_reference() {
        let mut found = Confusion::default();
        for (expected, answered) in
            [("a", "a"), ("a", "b"), ("b", "b"), ("b", "b"), ("c", "a"), ("c", "c"), ("c", "d")]
        {
            found.add(expected, answered);
        }
        assert_eq!((found.total(), found.labels()), (7, vec!["a", "b", "c", "d"]));
        let mean = found.macro_average().unwrap();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        near(found.accuracy().unwrap(), 4.0 / 7.0);
        near(mean.precision, 0.541_666_666_666_666_6);
        near(mean.recall, 0.458_333_333_333_333_3);
        near(mean.f1, 0.45);
        assert_eq!(Confusion::default().macro_average(), None);
    }
}
