//! How well scores tell two classes apart, and how sure that is.
//!
//! Area under the ROC curve: Hanley and McNeil 1982, with half a point for each tie. Average precision: the sum over
//! thresholds of precision times the gain in recall. Expected calibration error: Naeini et al. 2015, with bins of equal
//! width. Intervals: the percentile bootstrap over groups (Davison and Hinkley 1997, chapter 2), because rows of one
//! article, template or conversation are not independent.

use super::seeded::Seeded;

/// Bins of the calibration error and of the reliability curve.
pub const BINS: usize = 15;

/// One item with its label and what a classifier said of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Classified {
    /// The label.
    pub positive: bool,
    /// The probability of the positive class, or a score that rises with it. Must be finite.
    pub score: f64,
    /// What the classifier decided at its own threshold.
    pub predicted: bool,
    /// Items of one group are drawn together.
    pub group: u32,
}

/// What is known of a classifier on some items. A figure that the items cannot give is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quality {
    /// Probability that a positive scores higher than a negative.
    pub auroc: Option<f64>,
    /// Average precision.
    pub auprc: Option<f64>,
    /// The mean of the two classes' recalls.
    pub balanced_accuracy: Option<f64>,
    /// Share of right decisions.
    pub accuracy: Option<f64>,
    /// Harmonic mean of precision and recall of the positive class.
    pub f1: Option<f64>,
    /// Share of the predicted positives that are positive.
    pub precision: Option<f64>,
    /// Share of the positives that are predicted.
    pub recall: Option<f64>,
    /// Share of the negatives that are predicted positive.
    pub false_positive_rate: Option<f64>,
    /// Mean distance between the score and the share of positives, by bin.
    pub ece: Option<f64>,
}

/// The names of [`Quality`]'s figures, in the order of [`Quality::figures`].
pub const FIGURES: [&str; 9] = [
    "auroc",
    "auprc",
    "balanced_accuracy",
    "accuracy",
    "f1",
    "precision",
    "recall",
    "false_positive_rate",
    "ece",
];

impl Quality {
    /// All figures, in the order of [`FIGURES`].
    pub fn figures(&self) -> [Option<f64>; FIGURES.len()] {
        [
            self.auroc,
            self.auprc,
            self.balanced_accuracy,
            self.accuracy,
            self.f1,
            self.precision,
            self.recall,
            self.false_positive_rate,
            self.ece,
        ]
    }
}

/// Items in falling order of their scores, ready to be counted many times with other weights.
pub struct Ranking {
    items: Vec<Classified>,
    groups: usize,
}

impl Ranking {
    /// Sorts the items. Panics in no case: a score that is not a number ranks by its bits.
    pub fn new(mut items: Vec<Classified>) -> Self {
        items.sort_by(|a, b| b.score.total_cmp(&a.score));
        let groups = items.iter().map(|item| item.group as usize + 1).max().unwrap_or(0);
        Self { items, groups }
    }

    /// How many items there are, and how many of them are positive.
    pub fn counts(&self) -> (usize, usize) {
        (self.items.len(), self.items.iter().filter(|item| item.positive).count())
    }

    /// Every item once.
    pub fn quality(&self) -> Quality {
        self.weighted(&vec![1; self.groups])
    }

    /// Bounds of each figure's 95 % interval from `draws` draws of groups with replacement; the same `seed` gives the
    /// same bounds. `None` where fewer than half of the draws had the figure, or there are fewer than two groups.
    pub fn intervals(&self, draws: usize, seed: u64) -> [Option<(f64, f64)>; FIGURES.len()] {
        let mut found: [Vec<f64>; FIGURES.len()] = Default::default();
        let present = self.present();
        if present.len() < 2 {
            return [None; FIGURES.len()];
        }
        let count = draws;
        for drawn in self::draws(present.len(), count, seed) {
            let mut times = vec![0u32; self.groups];
            present.iter().zip(drawn).for_each(|(group, count)| times[*group] = count);
            for (all, figure) in found.iter_mut().zip(self.weighted(&times).figures()) {
                all.extend(figure);
            }
        }
        found.map(|mut values| {
            values.sort_by(f64::total_cmp);
            let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
            (values.len() * 2 >= count && !values.is_empty()).then(|| (at(0.025), at(0.975)))
        })
    }

    /// Mean score, share of positives and count of each bin that has items.
    pub fn reliability(&self) -> Vec<(f64, f64, usize)> {
        let mut bins = [(0.0, 0.0, 0usize); BINS];
        for item in &self.items {
            let bin = &mut bins[bin(item.score)];
            *bin = (bin.0 + item.score, bin.1 + f64::from(u8::from(item.positive)), bin.2 + 1);
        }
        let mean = |(score, positive, n): (f64, f64, usize)| (score / n as f64, positive / n as f64, n);
        bins.into_iter().filter(|bin| bin.2 > 0).map(mean).collect()
    }

    fn present(&self) -> Vec<usize> {
        let mut there = vec![false; self.groups];
        self.items.iter().for_each(|item| there[item.group as usize] = true);
        (0..self.groups).filter(|group| there[*group]).collect()
    }

    fn weighted(&self, times: &[u32]) -> Quality {
        let weight = |item: &Classified| f64::from(times[item.group as usize]);
        let (mut positives, mut negatives) = (0.0, 0.0);
        let (mut hits, mut alarms) = (0.0, 0.0);
        let mut bins = [(0.0, 0.0, 0.0); BINS];
        for item in &self.items {
            let w = weight(item);
            *(if item.positive { &mut positives } else { &mut negatives }) += w;
            if item.predicted {
                *(if item.positive { &mut hits } else { &mut alarms }) += w;
            }
            let bin = &mut bins[bin(item.score)];
            let positive = if item.positive { w } else { 0.0 };
            *bin = (bin.0 + w * item.score, bin.1 + positive, bin.2 + w);
        }
        let total = positives + negatives;
        let (auroc, auprc) = self.areas(times, positives, negatives);
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let (recall, false_positive_rate) = (share(hits, positives), share(alarms, negatives));
        Quality {
            auroc,
            auprc,
            balanced_accuracy: recall.zip(false_positive_rate).map(|(r, f)| f64::midpoint(r, 1.0 - f)),
            accuracy: share(hits + negatives - alarms, total),
            f1: share(2.0 * hits, hits + alarms + positives).filter(|_| positives > 0.0),
            precision: share(hits, hits + alarms),
            recall,
            false_positive_rate,
            ece: share(bins.iter().map(|(score, positive, _)| (score - positive).abs()).sum(), total),
        }
    }

    /// The areas under the ROC and the precision-recall curve.
    fn areas(&self, times: &[u32], positives: f64, negatives: f64) -> (Option<f64>, Option<f64>) {
        let (mut above, mut below, mut pairs, mut precision) = (0.0, 0.0, 0.0, 0.0);
        for tie in self.items.chunk_by(|a, b| a.score == b.score) {
            let (mut positive, mut negative) = (0.0, 0.0);
            for item in tie {
                let w = f64::from(times[item.group as usize]);
                *(if item.positive { &mut positive } else { &mut negative }) += w;
            }
            pairs += positive * (negatives - below - negative / 2.0);
            (above, below) = (above + positive, below + negative);
            if positive > 0.0 {
                precision += positive * above / (above + below);
            }
        }
        let both = positives > 0.0 && negatives > 0.0;
        (both.then(|| pairs / (positives * negatives)), (positives > 0.0).then(|| precision / positives))
    }
}

fn bin(score: f64) -> usize {
    ((score.clamp(0.0, 1.0) * BINS as f64) as usize).min(BINS - 1)
}

/// How often each of `groups` groups is drawn, for each of `count` draws with replacement; the same `seed` gives the
/// same draws.
pub fn draws(groups: usize, count: usize, seed: u64) -> impl Iterator<Item = Vec<u32>> {
    let mut random = Seeded::new(seed);
    (0..count).map(move |_| {
        let mut times = vec![0u32; groups];
        for _ in 0..groups {
            times[below(&mut random, groups)] += 1;
        }
        times
    })
}

/// A number below `bound`; the bias for small bounds is below 1e-15.
fn below(random: &mut Seeded, bound: usize) -> usize {
    ((u128::from(random.bits()) * bound as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(rows: &[(bool, f64)]) -> Ranking {
        let judged = |(at, (positive, score)): (usize, &(bool, f64))| Classified {
            positive: *positive,
            score: *score,
            predicted: *score >= 0.5,
            group: at as u32,
        };
        Ranking::new(rows.iter().enumerate().map(judged).collect())
    }

    fn near(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?} is not {expected}");
    }

    /// Values of scikit-learn 1.9 (`roc_auc_score`, `average_precision_score`, `f1_score`, `balanced_accuracy_score`).
    #[test]
    fn agrees_with_the_reference() {
        let found =
            ranking(&[(true, 0.9), (false, 0.8), (true, 0.8), (true, 0.4), (false, 0.4), (false, 0.1)])
                .quality();
        near(found.auroc, 0.777_777_777_777_777_8);
        near(found.auprc, 0.755_555_555_555_555_5);
        near(found.f1, 2.0 / 3.0);
        near(found.balanced_accuracy, 2.0 / 3.0);
        near(found.precision, 2.0 / 3.0);
        near(found.false_positive_rate, 1.0 / 3.0);
    }

    #[test]
    fn a_calibrated_score_has_no_error_and_a_sure_wrong_one_has_all_of_it() {
        let rows: Vec<(bool, f64)> = (0..100).map(|i| (i % 4 == 0, 0.25)).collect();
        near(ranking(&rows).quality().ece, 0.0);
        near(ranking(&[(false, 1.0), (true, 0.0)]).quality().ece, 1.0);
    }

    #[test]
    fn one_class_or_none_gives_no_areas() {
        let found = ranking(&[(true, 0.9), (true, 0.2)]).quality();
        assert_eq!((found.auroc, found.balanced_accuracy), (None, None));
        near(found.recall, 0.5);
        assert_eq!(ranking(&[]).quality(), Quality::default());
        assert_eq!(ranking(&[]).intervals(10, 7), [None; FIGURES.len()]);
    }

    #[test]
    fn intervals_are_repeatable_and_wider_for_few_groups() {
        let rows: Vec<Classified> = (0..400u32)
            .map(|i| Classified {
                positive: i % 2 == 0,
                score: f64::from(i * 7 % 100) / 100.0 + f64::from(1 - i % 2) * 0.2,
                predicted: false,
                group: i,
            })
            .collect();
        let fine = Ranking::new(rows.clone());
        let coarse =
            Ranking::new(rows.iter().map(|row| Classified { group: row.group / 2 % 5, ..*row }).collect());
        let (low, high) = fine.intervals(500, 7)[0].unwrap();
        let auroc = fine.quality().auroc.unwrap();
        assert!(low < auroc && auroc < high && high - low < 0.15, "{low} {auroc} {high}");
        assert_eq!(fine.intervals(500, 7), fine.intervals(500, 7));
        assert!(coarse.intervals(500, 7)[0].is_some());
    }
}
