//! Rows scored on all cores, figures with intervals.

use super::super::catalog::Registry;
use super::super::evaluator::Evaluator;
use super::super::parallel;
use super::rows::{Dataset, Row};
use super::tasks::Target;
use crate::domain::score::{Better, Score, ScoreStatus};
use crate::domain::trace::EvalInput;
use crate::stats::ranking::{Classified, FIGURES, Quality, Ranking};
use std::collections::HashMap;
use std::sync::Arc;

/// Told when rows begin to be scored, with their name and number; what it gives is called after each row.
pub type Progress = dyn Fn(&str, usize) -> Box<dyn Fn() + Send + Sync>;

/// What a measurement may use.
pub struct Limits<'a> {
    /// Threads.
    pub workers: usize,
    /// Draws of the bootstrap.
    pub draws: usize,
    /// Who wants to know how far it is.
    pub progress: &'a Progress,
}

/// The figures of one metric on one dataset.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The task.
    pub task: String,
    /// The dataset.
    pub dataset: String,
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub version: String,
    /// Its metric.
    pub metric: String,
    /// The threshold of the verdicts.
    pub threshold: Option<f64>,
    /// Rows with a score.
    pub scored: usize,
    /// Those of them that have label 1.
    pub positives: usize,
    /// Rows that were skipped or failed.
    pub unscored: usize,
    /// The figures of label 1.
    pub quality: Quality,
    /// 95 % bounds of each, in the order of [`FIGURES`].
    pub intervals: [Option<(f64, f64)>; FIGURES.len()],
    /// Mean score, share of label 1 and rows of each bin of scores.
    pub reliability: Vec<(f64, f64, usize)>,
    /// The rows with a score, each with its place in the dataset and its group.
    pub rows: Vec<(usize, String, Classified)>,
    /// Rows a CPU second of this process, all metrics of the evaluator together.
    pub rows_per_cpu_second: Option<f64>,
}

/// Scores `rows` by each evaluator that the targets name, and compares with the labels: the figures of each target whose
/// evaluator runs. Blocks until all rows are scored.
pub fn measure(
    dataset: &Dataset,
    rows: &[Row],
    targets: &[Target],
    registry: &Registry,
    limits: &Limits<'_>,
) -> Vec<Measured> {
    let mut measured = Vec::new();
    let mut names: Vec<(&str, bool)> =
        targets.iter().map(|target| (target.evaluator, target.sums_up)).collect();
    names.dedup();
    for (name, sums_up) in names {
        let Ok(found) = registry.select(&[name.to_owned()]) else { continue };
        let Some(evaluator) = found.first() else { continue };
        let before = cpu_seconds();
        let input = if sums_up { Row::summary } else { Row::input };
        let scores = score_all(dataset, rows, evaluator, registry, limits, input);
        let spent = cpu_seconds().zip(before).map(|(after, before)| after - before).filter(|s| *s > 0.0);
        for target in targets.iter().filter(|target| target.evaluator == name) {
            let mut row = figures(dataset, rows, &scores, target, limits.draws);
            evaluator.version().clone_into(&mut row.version);
            row.rows_per_cpu_second = spent.map(|seconds| rows.len() as f64 / seconds);
            measured.push(row);
        }
    }
    measured
}

fn score_all(
    dataset: &Dataset,
    rows: &[Row],
    evaluator: &Arc<dyn Evaluator>,
    registry: &Registry,
    limits: &Limits<'_>,
    input: fn(&Row) -> EvalInput,
) -> Vec<Vec<Score>> {
    let scored = (limits.progress)(&format!("{} {}", dataset.name, evaluator.id()), rows.len());
    parallel::map(rows, limits.workers, |_, row| {
        let scores = registry.evaluate(evaluator.as_ref(), &input(row));
        scored();
        scores
    })
}

fn figures(
    dataset: &Dataset,
    rows: &[Row],
    scores: &[Vec<Score>],
    target: &Target,
    draws: usize,
) -> Measured {
    let mut groups: HashMap<&str, u32> = HashMap::new();
    let (mut items, mut threshold, mut told) = (Vec::new(), None, Vec::new());
    for (at, (row, scores)) in rows.iter().zip(scores).enumerate() {
        let Some(label) = row.label.as_i64() else { continue };
        let Some(score) = scores.iter().find(|score| score.metric == target.metric) else { continue };
        let (Some(value), ScoreStatus::Ok) = (score.value, score.status) else { continue };
        let next = groups.len() as u32;
        let group = *groups.entry(row.group.as_str()).or_insert(next);
        threshold = score.threshold;
        let is_good = score.passed.unwrap_or(false);
        let judged = Classified {
            positive: label == 1,
            score: probability(value, target),
            predicted: is_good == target.one_is_good,
            group,
        };
        items.push(judged);
        told.push((at, row.group.clone(), judged));
    }
    let ranking = Ranking::new(items);
    let (scored, positives) = ranking.counts();
    Measured {
        task: dataset.task.clone(),
        dataset: dataset.name.clone(),
        evaluator: target.evaluator.to_owned(),
        version: String::new(),
        metric: target.metric.to_owned(),
        threshold,
        scored,
        positives,
        unscored: rows.len() - scored,
        quality: ranking.quality(),
        intervals: ranking.intervals(draws, 7),
        reliability: ranking.reliability(),
        rows: told,
        rows_per_cpu_second: None,
    }
}

/// The probability of label 1. Every metric here lies in 0..=1.
fn probability(value: f64, target: &Target) -> f64 {
    let better =
        if matches!(target.evaluator, "toxicity" | "fairness_bias") { Better::Lower } else { Better::Higher };
    let is_good = if better == Better::Higher { value } else { 1.0 - value };
    if target.one_is_good { is_good } else { 1.0 - is_good }
}

/// User and system time of this process, seconds; none where the system does not tell.
pub fn cpu_seconds() -> Option<f64> {
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS)
}
