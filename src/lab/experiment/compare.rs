//! The difference of two experiments over the items that both have asked, item by item.
//!
//! The difference of an item is the mean over its repetitions in the new experiment minus that in the baseline. Verdicts
//! that were given once for items of their own have Tango's interval and McNemar's exact test; everything else has
//! that of `stats::difference` over groups. The p-values of all metrics share a false-discovery rate.

use super::reading::{Key, Scored, StoredRun};
use super::slices::{Dimension, Slice, slices};
use super::summary::{
    Data, LEVEL, Of, Places, Unit, Weights, by_item, by_metric, grouped, is_plain, spread, verdict,
};
use crate::domain::score::Better;
use crate::stats::{difference, matched, multiple, normal};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Differences below this adjusted p are told as better or worse.
const ALPHA: f64 = 0.05;
/// The power for which the smallest difference is told that could have been shown.
const POWER: f64 = 0.8;
/// The difference for which the number of items is told that would show it.
const TWO_POINTS: f64 = 0.02;
/// Most items that are listed.
const MAX_LISTED: usize = 1_000;

/// How two experiments differ.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Items that both have asked and that say the same in both.
    pub paired: usize,
    /// Items that only one has asked, or that were changed in between.
    pub unpaired: usize,
    /// Each metric that both have.
    pub metrics: Vec<Difference>,
    /// Tokens, cost and duration of a run; less is better.
    pub usage: Vec<Difference>,
    /// The metrics within each slice that was asked for; they share the false-discovery rate of `metrics`.
    pub slices: Vec<SliceDifference>,
    /// Slices beyond the most that are looked at.
    pub slices_left_out: usize,
    /// Items that got worse, the worst first; then those that got better.
    pub items: Vec<Moved>,
    /// Items of which no metric moved.
    pub unchanged: usize,
}

/// How two experiments differ on the items of one slice.
#[derive(Debug, Serialize)]
pub struct SliceDifference {
    /// tag, split, category or a key of the metadata.
    pub by: String,
    /// The value that its items share.
    pub value: String,
    /// Items of it that are in both.
    pub paired: usize,
    /// Each metric.
    pub metrics: Vec<Difference>,
}

/// The difference of a metric, new minus baseline.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// The evaluator; empty for an amount.
    pub evaluator: String,
    /// The metric, or the amount.
    pub metric: String,
    /// `pass_rate` where there are verdicts, else `value`; `amount` of tokens, cost and duration.
    pub measure: &'static str,
    /// The mean of the baseline over the pairs.
    pub baseline: f64,
    /// The mean of the new experiment over the pairs.
    pub new: f64,
    /// The difference of the two.
    pub difference: f64,
    /// Lower end of its 95 % interval.
    pub lower: Option<f64>,
    /// Upper end of its 95 % interval.
    pub upper: Option<f64>,
    /// Pairs behind it.
    pub n: usize,
    /// Groups of them.
    pub groups: usize,
    /// The p-value of no difference.
    pub p: f64,
    /// The same, adjusted for the number of metrics and slices.
    pub p_adjusted: f64,
    /// better, worse, or no difference shown.
    pub verdict: &'static str,
    /// The smallest difference that so many pairs could have shown with a power of 0.8.
    pub detectable: Option<f64>,
    /// Groups that would show a difference of two points with that power.
    pub n_for_two_points: Option<u64>,
}

/// An item of which a metric moved.
#[derive(Debug, Serialize)]
pub struct Moved {
    /// The item.
    pub item_id: String,
    /// regression, error or improvement.
    pub kind: &'static str,
    /// Each metric that moved.
    pub metrics: Vec<MovedMetric>,
}

/// A metric of an item on both sides.
#[derive(Debug, Serialize)]
pub struct MovedMetric {
    /// The evaluator.
    pub evaluator: String,
    /// The metric.
    pub metric: String,
    /// In the baseline.
    pub baseline: Side,
    /// In the new experiment.
    pub new: Side,
}

/// A metric of an item in one experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// How many repetitions passed.
    pub passed: Option<usize>,
    /// How many repetitions have a value.
    pub of: usize,
    /// The mean over them.
    pub mean: f64,
}

/// How `new` differs from `baseline`, as a whole and within the slices of `dimensions`. `better` says which side of a metric
/// is good.
pub fn compare(
    new: &Data<'_>,
    baseline: &Data<'_>,
    dimensions: &[Dimension],
    better: impl Fn(&str, &str) -> Better,
) -> Comparison {
    let (now, then) = (asked(new), asked(baseline));
    let paired: HashSet<&str> =
        now.iter().filter(|(item, hash)| then.get(**item) == Some(*hash)).map(|(item, _)| *item).collect();
    let all = now.len() + then.keys().filter(|item| !now.contains_key(**item)).count();
    let pairs = new.items.iter().filter(|item| paired.contains(item.item_id.as_str()));
    let places = Places::of(pairs.clone(), Weights::Items);
    let (scores, before) = (metrics(new.scores, &paired), metrics(baseline.scores, &paired));
    let both = scores.iter().filter_map(|(of, now)| Some((of.clone(), Pairs::of(now, before.get(of)?))));
    let both: Vec<(Of, Pairs<'_>)> = both.collect();
    let within = |places: &Places<'_>| -> Vec<Difference> {
        both.iter().filter_map(|(of, pairs)| pairs.difference(of, places)).collect()
    };
    let mut whole = within(&places);
    let (slices, slices_left_out) = slices(pairs, dimensions);
    let one = |slice: Slice<'_>| SliceDifference {
        metrics: within(&places.within(&slice.items)),
        paired: slice.items.len(),
        by: slice.by,
        value: slice.value,
    };
    let mut slices: Vec<SliceDifference> = slices.into_iter().map(one).collect();
    let in_slices = slices.iter_mut().flat_map(|slice| &mut slice.metrics);
    conclude(whole.iter_mut().chain(in_slices).collect(), &better);
    let mut usage = usage(new, baseline, &places);
    conclude(usage.iter_mut().collect(), |_, _| Better::Lower);
    let mut moved: BTreeMap<&str, Vec<(f64, MovedMetric)>> = BTreeMap::new();
    both.iter().for_each(|(of, pairs)| pairs.moved(of, better(&of.0, &of.1), &mut moved));
    let listed = listed(moved, new, baseline, &paired);
    Comparison {
        paired: paired.len(),
        unpaired: all - paired.len(),
        unchanged: paired.len().saturating_sub(listed.len()),
        items: listed.into_iter().take(MAX_LISTED).collect(),
        metrics: whole,
        usage,
        slices,
        slices_left_out,
    }
}

/// What the items were that an experiment has asked, by their ids.
fn asked<'a>(data: &Data<'a>) -> HashMap<&'a str, Option<&'a str>> {
    data.runs.iter().map(|((item, _), run)| (item.as_str(), run.item_hash.as_deref())).collect()
}

/// Adjusts the p-values of differences that are told together, and says what each shows.
pub fn conclude(mut all: Vec<&mut Difference>, better: impl Fn(&str, &str) -> Better) {
    let adjusted = multiple::adjusted(&all.iter().map(|one| one.p).collect::<Vec<_>>());
    for (one, p) in all.iter_mut().zip(adjusted) {
        one.p_adjusted = p;
        one.conclude(better(&one.evaluator, &one.metric));
    }
}

/// What an amount is called, and where a run has it.
type Amount = (&'static str, fn(&StoredRun) -> Option<f64>);

/// What a run of each of the paired items took.
fn usage(new: &Data<'_>, baseline: &Data<'_>, places: &Places<'_>) -> Vec<Difference> {
    const AMOUNTS: [Amount; 4] = [
        ("duration_ms", |run| run.duration_ms),
        ("cost_usd", |run| run.cost_usd),
        ("input_tokens", |run| run.input_tokens.map(|tokens| tokens as f64)),
        ("output_tokens", |run| run.output_tokens.map(|tokens| tokens as f64)),
    ];
    let one = |(name, get): Amount| {
        let pairs = Pairs::both("amount", amounts(new, get), amounts(baseline, get));
        pairs.difference(&(String::new(), name.to_owned()), places)
    };
    AMOUNTS.into_iter().filter_map(one).collect()
}

/// An amount of the runs that have an answer, by item.
fn amounts<'a>(data: &Data<'a>, get: fn(&StoredRun) -> Option<f64>) -> HashMap<&'a str, Vec<f64>> {
    let mut runs: Vec<(&Key, &StoredRun)> = data.runs.iter().filter(|(_, run)| !run.is_error).collect();
    runs.sort_by_key(|((_, repetition), _)| *repetition);
    let mut values: HashMap<&str, Vec<f64>> = HashMap::new();
    for ((item, _), run) in runs {
        if let Some(value) = get(run).filter(|value| value.is_finite()) {
            values.entry(item).or_default().push(value);
        }
    }
    values
}

fn metrics<'a>(scores: &'a [Scored], paired: &HashSet<&str>) -> BTreeMap<Of, Vec<&'a Scored>> {
    by_metric(scores.iter().filter(|score| paired.contains(score.item_id.as_str())))
}

/// The values of a metric on both sides, by item.
struct Pairs<'a> {
    measure: &'static str,
    new: HashMap<&'a str, Vec<f64>>,
    baseline: HashMap<&'a str, Vec<f64>>,
}

impl<'a> Pairs<'a> {
    fn of(new: &[&'a Scored], baseline: &[&'a Scored]) -> Self {
        let judged = |scores: &[&Scored]| scores.iter().any(|score| score.passed.is_some());
        let (measure, get): (_, fn(&Scored) -> Option<f64>) = match judged(new) && judged(baseline) {
            true => ("pass_rate", verdict),
            false => ("value", |score| score.value),
        };
        Self::both(measure, by_item(new, get), by_item(baseline, get))
    }

    /// Of the items that have values on both sides.
    fn both(
        measure: &'static str,
        mut new: HashMap<&'a str, Vec<f64>>,
        mut baseline: HashMap<&'a str, Vec<f64>>,
    ) -> Self {
        new.retain(|item, _| baseline.contains_key(item));
        baseline.retain(|item, _| new.contains_key(item));
        Self { measure, new, baseline }
    }

    /// The difference over the items that have a place; its verdict follows when all differences are known.
    fn difference(&self, (evaluator, metric): &Of, places: &Places<'_>) -> Option<Difference> {
        let (now, then) = (places.units(&self.new), places.units(&self.baseline));
        let pairs = now.iter().zip(&then);
        let apart: Vec<Unit<'_>> =
            pairs.map(|(a, b)| Unit { value: a.value - b.value, ..a.clone() }).collect();
        let groups = grouped(&apart);
        let is_rate = self.measure == "pass_rate";
        let over_groups = difference::difference(&groups, is_rate, LEVEL)?;
        let plain = is_rate && is_plain(&now, groups.len()) && is_plain(&then, groups.len());
        let error = over_groups.error;
        let (lower, upper, p) = if plain {
            let count = |sign: f64| apart.iter().filter(|unit| unit.value == sign).count() as u64;
            let (gained, lost) = (count(1.0), count(-1.0));
            let ends = matched::interval(gained, lost, apart.len() as u64, LEVEL);
            (ends.map(|(lower, _)| lower), ends.map(|(_, upper)| upper), matched::p(gained, lost))
        } else {
            (over_groups.lower, over_groups.upper, over_groups.p)
        };
        let mean = |units: &[Unit<'_>]| spread(&grouped(units)).value();
        let needed = normal::critical(LEVEL) + normal::quantile(POWER);
        let deviation = error * (groups.len() as f64).sqrt();
        let enough = (needed * deviation / TWO_POINTS).powi(2).ceil();
        Some(Difference {
            evaluator: evaluator.clone(),
            metric: metric.clone(),
            measure: self.measure,
            baseline: mean(&then),
            new: mean(&now),
            difference: over_groups.estimate,
            lower,
            upper,
            n: apart.len(),
            groups: groups.len(),
            p,
            p_adjusted: p,
            verdict: "",
            detectable: (error > 0.0).then_some(needed * error),
            n_for_two_points: (error > 0.0 && self.measure != "amount").then_some(enough as u64),
        })
    }

    /// Items whose mean differs, each with by how much it got worse.
    fn moved(
        &self,
        (evaluator, metric): &Of,
        better: Better,
        to: &mut BTreeMap<&'a str, Vec<(f64, MovedMetric)>>,
    ) {
        for (item, now) in &self.new {
            let Some(then) = self.baseline.get(item) else { continue };
            let (now, then) = (self.side(now), self.side(then));
            if (now.mean - then.mean).abs() < f64::EPSILON {
                continue;
            }
            let drop = then.mean - now.mean;
            let is_good_low = self.measure == "value" && better == Better::Lower;
            let worse = if is_good_low { -drop } else { drop };
            let (evaluator, metric) = (evaluator.clone(), metric.clone());
            let moved = MovedMetric { evaluator, metric, baseline: then, new: now };
            to.entry(*item).or_default().push((worse, moved));
        }
    }

    fn side(&self, values: &[f64]) -> Side {
        let passed = values.iter().filter(|value| **value > 0.5).count();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Side { passed: (self.measure == "pass_rate").then_some(passed), of: values.len(), mean }
    }
}

impl Difference {
    /// On which side of 0 the difference surely lies: all of its interval, or without one what the exact test says.
    pub fn sure_sign(&self) -> Option<Ordering> {
        let side = match (self.lower, self.upper) {
            (Some(lower), _) if lower > 0.0 => Ordering::Greater,
            (_, Some(upper)) if upper < 0.0 => Ordering::Less,
            (None, None) if self.p < 1.0 - LEVEL => self.difference.partial_cmp(&0.0)?,
            _ => return None,
        };
        (side != Ordering::Equal).then_some(side)
    }

    fn conclude(&mut self, better: Better) {
        let is_good_low = self.measure != "pass_rate" && better == Better::Lower;
        let gain = if is_good_low { -self.difference } else { self.difference };
        self.verdict = match self.p_adjusted < ALPHA {
            false => "no difference shown",
            true if gain > 0.0 => "better",
            true => "worse",
        };
    }
}

/// Items of which a run has no answer.
fn failing<'a>(data: &Data<'a>) -> BTreeSet<&'a str> {
    data.runs.iter().filter(|(_, run)| run.is_error).map(|((item, _), _)| item.as_str()).collect()
}

/// Regressions first: a verdict that was lost before a value that fell, the largest first; then items that have no
/// answer any more; then improvements.
fn listed(
    moved: BTreeMap<&str, Vec<(f64, MovedMetric)>>,
    new: &Data<'_>,
    baseline: &Data<'_>,
    paired: &HashSet<&str>,
) -> Vec<Moved> {
    let (now, then) = (failing(new), failing(baseline));
    let known: HashSet<&str> = moved.keys().copied().collect();
    let mut all: Vec<(usize, f64, Moved)> = Vec::new();
    for (item, mut metrics) in moved {
        metrics.sort_by(|a, b| b.0.total_cmp(&a.0));
        let worst = metrics.first().map_or(0.0, |(worse, _)| *worse);
        let lost = metrics.iter().any(|(worse, metric)| *worse > 0.0 && metric.new.passed.is_some());
        let (rank, kind) = match (worst > 0.0, lost) {
            (true, true) => (0, "regression"),
            (true, false) => (1, "regression"),
            _ => (3, "improvement"),
        };
        let metrics = metrics.into_iter().map(|(_, metric)| metric).collect();
        all.push((rank, worst, Moved { item_id: item.to_owned(), kind, metrics }));
    }
    for item in now.difference(&then).filter(|item| paired.contains(**item) && !known.contains(**item)) {
        all.push((2, 0.0, Moved { item_id: (*item).to_owned(), kind: "error", metrics: Vec::new() }));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then_with(|| a.2.item_id.cmp(&b.2.item_id)));
    all.into_iter().map(|(_, _, moved)| moved).collect()
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
