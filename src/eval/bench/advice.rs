//! What labels say of an evaluator, and the threshold that they ask for.

use crate::domain::score::Better;
use crate::stats::ranking::{Classified, Ranking};
use crate::stats::threshold::{Counts, Goal, Labelled, choose, crossed};

const SEED: u64 = 7;
/// Fewer faults, or fewer sound answers, choose no threshold: it would be chance.
const LEAST: usize = 10;

/// The scores of one metric, each with what a person said.
pub struct Column {
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub version: String,
    /// Which way is good.
    pub better: Better,
    /// The threshold in force; none for a metric that only passes or fails.
    pub threshold: Option<f64>,
    /// Value, the evaluator's verdict, and whether a person found a fault.
    pub rows: Vec<(f64, Option<bool>, bool)>,
    /// Lines without a score: skipped, or failed.
    pub unscored: usize,
}

impl Column {
    /// The rows as the choice of a threshold wants them.
    pub fn labelled(&self) -> Vec<Labelled> {
        let suspicion = |value: f64| if self.better == Better::Higher { -value } else { value };
        self.rows
            .iter()
            .map(|(value, _, is_fault)| Labelled { suspicion: suspicion(*value), is_fault: *is_fault })
            .collect()
    }
}

/// One metric against a person's verdicts.
pub struct Advice {
    /// The metric.
    pub metric: String,
    /// Its evaluator.
    pub evaluator: String,
    /// The evaluator's version.
    pub version: String,
    /// The threshold in force; none for a metric that only passes or fails.
    pub threshold: Option<f64>,
    /// Lines without a score.
    pub unscored: usize,
    /// At the threshold in force.
    pub now: Counts,
    /// The area under the ROC curve, and its 95 % interval.
    pub auroc: (Option<f64>, Option<(f64, f64)>),
    /// The expected calibration error, for a score that is a probability.
    pub ece: Option<f64>,
    /// Mean P(fault), share of faults and rows of each bin; empty for a score that is no probability.
    pub reliability: Vec<(f64, f64, usize)>,
    /// What the threshold was to meet.
    pub goal: Option<Goal>,
    /// The threshold that meets it.
    pub choice: Option<Choice>,
    /// Why there is none, where there is none.
    pub why_none: &'static str,
}

/// A threshold, in the metric's own scale.
pub struct Choice {
    /// The threshold.
    pub threshold: f64,
    /// What it does on the rows that chose it.
    pub here: Counts,
    /// What thresholds that other rows chose do on each.
    pub elsewhere: Counts,
}

impl Advice {
    /// Measures `column`; with a goal, chooses the threshold that meets it.
    pub fn of(metric: &str, column: &Column, goal: Option<Goal>, draws: usize) -> Self {
        let items = column.labelled();
        let mut now = Counts::default();
        for (_, passed, is_fault) in &column.rows {
            now.add(*is_fault, *passed == Some(false));
        }
        let is_share = column.rows.iter().all(|(value, _, _)| (0.0..=1.0).contains(value));
        let ranking = Ranking::new(judged(column, is_share));
        let faults = items.iter().filter(|item| item.is_fault).count();
        let is_enough = faults >= LEAST && items.len() - faults >= LEAST;
        let wanted = goal.filter(|_| is_enough && column.threshold.is_some());
        let choice = wanted.and_then(|goal| {
            let cut = choose(&items, goal)?;
            let threshold = rounded(if column.better == Better::Higher { -cut } else { cut });
            let cut = if column.better == Better::Higher { -threshold } else { threshold };
            // "Passes at the threshold" and "fails at it": a rounded value is no value of a row.
            Some(Choice { threshold, here: Counts::of(&items, cut), elsewhere: crossed(&items, goal, SEED) })
        });
        Self {
            metric: metric.to_owned(),
            evaluator: column.evaluator.clone(),
            version: column.version.clone(),
            threshold: column.threshold,
            unscored: column.unscored,
            now,
            auroc: (ranking.quality().auroc, ranking.intervals(draws, SEED)[0]),
            ece: ranking.quality().ece.filter(|_| is_share && column.threshold.is_some()),
            reliability: if is_share { ranking.reliability() } else { Vec::new() },
            goal,
            choice,
            why_none: why_none(column, is_enough),
        }
    }
}

fn judged(column: &Column, is_share: bool) -> Vec<Classified> {
    let row = |(at, (value, passed, is_fault)): (usize, &(f64, Option<bool>, bool))| Classified {
        positive: *is_fault,
        score: match (column.better, is_share) {
            (Better::Higher, true) => 1.0 - value,
            (Better::Higher, false) => -value,
            (Better::Lower, _) => *value,
        },
        predicted: *passed == Some(false),
        group: at as u32,
    };
    column.rows.iter().enumerate().map(row).collect()
}

fn why_none(column: &Column, is_enough: bool) -> &'static str {
    match (column.threshold, is_enough) {
        (None, _) => "this metric has no threshold: it passes or fails",
        (_, false) => "a threshold needs at least 10 faulty and 10 sound answers",
        _ => "no threshold meets it on these answers",
    }
}

/// To a digit that a person would write, if that parts the rows alike.
fn rounded(threshold: f64) -> f64 {
    (threshold * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(better: Better) -> Column {
        // Sound answers from 0.5 up, faulty ones up to 0.6: they overlap.
        let rows = (0..60).map(|i| {
            let (value, is_fault) =
                if i % 3 == 0 { (f64::from(i) / 100.0, true) } else { (0.5 + f64::from(i) / 130.0, false) };
            let value = if better == Better::Higher { value } else { 1.0 - value };
            let passed = if better == Better::Higher { value >= 0.5 } else { value < 0.5 };
            (value, Some(passed), is_fault)
        });
        Column {
            evaluator: "hallucination".to_owned(),
            version: "1".to_owned(),
            better,
            threshold: Some(0.5),
            rows: rows.collect(),
            unscored: 2,
        }
    }

    #[test]
    fn both_directions_tell_the_same() {
        let [up, down] = [Better::Higher, Better::Lower]
            .map(|better| Advice::of("m", &column(better), Some(Goal::Precision(0.9)), 100));
        assert_eq!(up.now, down.now);
        assert_eq!(up.auroc.0, down.auroc.0);
        let (up, down) = (up.choice.unwrap(), down.choice.unwrap());
        assert_eq!(up.here, down.here);
        assert!((up.threshold + down.threshold - 1.0).abs() < 2e-4, "{} {}", up.threshold, down.threshold);
        let (right, flagged) = up.here.precision();
        assert!(right as f64 / flagged as f64 >= 0.9 && right >= 10, "{:?}", up.here);
    }

    #[test]
    fn too_few_labels_choose_nothing_and_say_so() {
        let mut few = column(Better::Higher);
        few.rows.truncate(12);
        let advice = Advice::of("m", &few, Some(Goal::Recall(0.9)), 100);
        assert!(advice.choice.is_none() && advice.why_none.contains("at least 10 faulty and 10 sound"));
    }
}
