//! Several experiments on one dataset beside each other. Ranks are sets: where the paired intervals of two experiments leave
//! open which one is better, both have the same places.

use super::compare::compare;
use super::summary::{Data, Summary, Weights, summary};
use crate::domain::score::Better;
use crate::stats::Estimate;
use serde::Serialize;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Most experiments of one table: every two of them are compared.
pub const MAX_ROWS: usize = 20;

/// A row.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The experiment.
    pub experiment_id: String,
    /// Its name.
    pub name: String,
    /// What answered.
    pub target: Value,
    /// Its parameters.
    pub parameters: Value,
    /// Runs without an answer.
    pub errors: usize,
    /// Milliseconds a run.
    pub duration_ms: Option<Estimate>,
    /// US dollars a run.
    pub cost_usd: Option<Estimate>,
    /// Each metric.
    pub cells: Vec<Cell>,
}

/// A metric of an experiment.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// The evaluator.
    pub evaluator: String,
    /// The metric.
    pub metric: String,
    /// The share that passes where there are verdicts, else the mean value.
    pub estimate: Option<Estimate>,
    /// `pass_rate` or `value`.
    pub measure: &'static str,
    /// The best place that the intervals allow, from 1.
    pub rank_from: usize,
    /// The worst place that they allow.
    pub rank_to: usize,
}

/// The rows in the order of `all`. `better` says which side of a metric is good.
pub fn leaderboard(all: &[Data<'_>], better: impl Fn(&str, &str) -> Better) -> Vec<Row> {
    let summaries: Vec<Summary> = all.iter().map(|data| summary(data, Weights::Items)).collect();
    // Of each metric and row: how many others are surely worse, and how many surely better.
    let mut sure: BTreeMap<(String, String, usize), (usize, usize)> = BTreeMap::new();
    for (one, two) in (0..all.len()).flat_map(|one| (one + 1..all.len()).map(move |two| (one, two))) {
        for found in compare(&all[one], &all[two], &[], &better).metrics {
            let is_good_low =
                found.measure == "value" && better(&found.evaluator, &found.metric) == Better::Lower;
            let (winner, loser) = match (found.sure_sign(), is_good_low) {
                (Some(Ordering::Greater), false) | (Some(Ordering::Less), true) => (one, two),
                (Some(Ordering::Less), false) | (Some(Ordering::Greater), true) => (two, one),
                _ => continue,
            };
            let key = |at| (found.evaluator.clone(), found.metric.clone(), at);
            sure.entry(key(winner)).or_default().0 += 1;
            sure.entry(key(loser)).or_default().1 += 1;
        }
    }
    let cell = |at: usize, summary: &Summary| -> Vec<Cell> {
        let of = |metric: &super::summary::MetricSummary| {
            let key = (metric.evaluator.clone(), metric.metric.clone(), at);
            let (worse, above) = sure.get(&key).copied().unwrap_or_default();
            let measure = if metric.passed.is_some() { "pass_rate" } else { "value" };
            Cell {
                evaluator: metric.evaluator.clone(),
                metric: metric.metric.clone(),
                estimate: metric.passed.or(metric.value),
                measure,
                rank_from: above + 1,
                rank_to: all.len() - worse,
            }
        };
        summary.metrics.iter().map(of).collect()
    };
    let row = |(at, (data, summary)): (usize, (&Data<'_>, &Summary))| Row {
        experiment_id: data.experiment.experiment_id.clone(),
        name: data.experiment.name.clone(),
        target: serde_json::json!(data.experiment.target),
        parameters: data.experiment.parameters.clone(),
        errors: summary.errors,
        duration_ms: summary.duration_ms,
        cost_usd: summary.cost_usd,
        cells: cell(at, summary),
    };
    all.iter().zip(&summaries).enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tried::Tried;
    use super::*;

    #[test]
    fn a_place_is_a_set_where_the_intervals_leave_it_open() {
        let good = Tried::of(&[&[true] as &[bool]; 40]);
        let mut passed = vec![&[true] as &[bool]; 40];
        passed[7] = &[false];
        let near = Tried::of(&passed);
        let bad = Tried::of(&[&[false] as &[bool]; 40]);
        let rows = leaderboard(&[bad.data(), good.data(), near.data()], |_, _| Better::Higher);
        let places: Vec<(usize, usize)> =
            rows.iter().map(|row| (row.cells[0].rank_from, row.cells[0].rank_to)).collect();
        assert_eq!(places, [(3, 3), (1, 2), (1, 2)]);
        assert_eq!(
            (rows[1].cells[0].measure, rows[1].cells[0].estimate.unwrap().estimate),
            ("pass_rate", 1.0)
        );
        // Repetitions that all passed and now all fail have no spread, and their places are sure all the same.
        let (always, never) =
            (Tried::of(&[&[true; 3] as &[bool]; 10]), Tried::of(&[&[false; 3] as &[bool]; 10]));
        let rows = leaderboard(&[never.data(), always.data()], |_, _| Better::Higher);
        assert_eq!((rows[0].cells[0].rank_from, rows[1].cells[0].rank_to), (2, 1));
        assert_eq!(leaderboard(&[good.data()], |_, _| Better::Higher)[0].cells[0].rank_to, 1);
    }
}
