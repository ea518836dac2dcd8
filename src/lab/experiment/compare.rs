//! The difference of two experiments over the items that both have asked, item by item.
//!
//! The difference of an item is the mean over its repetitions in the new experiment minus that in the baseline. Verdicts
//! that were given once for items of their own have Tango's interval and McNemar's exact test; everything else has
//! that of `stats::difference` over groups. The p-values of all metrics share a false-discovery rate.

use super::both::{Both, Placed, Spot, Sum};
use super::reading::{Scored, StoredRun};
use super::slices::{Dimension, Slice, slices};
use super::summary::{Data, LEVEL, Unit, grouped, is_plain, spread, verdict};
use crate::domain::score::Better;
use crate::eval::scale_of;
use crate::stats::{difference, matched, multiple, normal};
use serde::Serialize;
use std::cmp::Ordering;

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
    let both = Both::of(new, baseline);
    let metrics = metrics(&both, new, baseline, &better);
    let within = |spots: &[Spot<'_>]| -> Vec<Difference> {
        metrics.iter().filter_map(|one| one.pairs.difference(one.of, spots)).collect()
    };
    let mut whole = within(both.spots());
    let pairs = new.items.iter().filter(|item| both.paired_at(&item.item_id).is_some());
    let (slices, slices_left_out) = slices(pairs, dimensions);
    let one = |slice: Slice<'_>| SliceDifference {
        metrics: within(&both.within(&slice.items)),
        paired: slice.items.len(),
        by: slice.by,
        value: slice.value,
    };
    let mut slices: Vec<SliceDifference> = slices.into_iter().map(one).collect();
    let in_slices = slices.iter_mut().flat_map(|slice| &mut slice.metrics);
    conclude(whole.iter_mut().chain(in_slices).collect(), &better);
    let mut usage = usage(&both);
    conclude(usage.iter_mut().collect(), |_, _| Better::Lower);
    let (items, changed) = listed(&both, &metrics);
    Comparison {
        paired: both.paired(),
        unpaired: both.asked() - both.paired(),
        unchanged: both.paired().saturating_sub(changed),
        items,
        metrics: whole,
        usage,
        slices,
        slices_left_out,
    }
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
fn usage(both: &Both<'_>) -> Vec<Difference> {
    const AMOUNTS: [Amount; 4] = [
        ("duration_ms", |run| run.duration_ms),
        ("cost_usd", |run| run.cost_usd),
        ("input_tokens", |run| run.input_tokens.map(|tokens| tokens as f64)),
        ("output_tokens", |run| run.output_tokens.map(|tokens| tokens as f64)),
    ];
    let one = |(name, get): Amount| {
        let [new, baseline] = both.amounts(get);
        Pairs { measure: "amount", new, baseline }.difference(("", name), both.spots())
    };
    AMOUNTS.into_iter().filter_map(one).collect()
}

/// A metric that both have.
struct Metric<'a> {
    /// The evaluator and the metric.
    of: (&'a str, &'a str),
    better: Better,
    pairs: Pairs,
}

fn metrics<'a>(
    both: &Both<'a>,
    new: &Data<'a>,
    baseline: &Data<'a>,
    better: impl Fn(&str, &str) -> Better,
) -> Vec<Metric<'a>> {
    let (now, then) = (both.metrics(new.scores), both.metrics(baseline.scores));
    let one = |(of, now): ((&'a str, &'a str), Vec<Placed<'a>>)| {
        let pairs = Pairs::of(both, &now, then.get(&of)?);
        Some(Metric { of, better: better(of.0, of.1), pairs })
    };
    now.into_iter().filter_map(one).collect()
}

/// The values of a metric on both sides, by the places of their items. A pair is an item that has values on both.
struct Pairs {
    measure: &'static str,
    new: Vec<Sum>,
    baseline: Vec<Sum>,
}

impl Pairs {
    fn of(both: &Both<'_>, new: &[Placed<'_>], baseline: &[Placed<'_>]) -> Self {
        let judged = |scores: &[Placed<'_>]| scores.iter().any(|(_, score)| score.passed.is_some());
        let (measure, get): (_, fn(&Scored) -> Option<f64>) = match judged(new) && judged(baseline) {
            true => ("pass_rate", verdict),
            false => ("value", |score| score.value),
        };
        let sums = |scores: &[Placed<'_>]| {
            let given = scores.iter().filter(|(_, score)| score.status == "ok");
            both.sums(given.filter_map(|(at, score)| Some((*at, get(score)?))))
        };
        Self { measure, new: sums(new), baseline: sums(baseline) }
    }

    /// What the item at a place has on both sides: new, then baseline.
    fn at(&self, at: usize) -> Option<(&Sum, &Sum)> {
        let (now, then) = (self.new.get(at)?, self.baseline.get(at)?);
        (now.of > 0 && then.of > 0).then_some((now, then))
    }

    /// The difference over these items; its verdict follows when all differences are known.
    fn difference<'a>(&self, (evaluator, metric): (&str, &str), spots: &[Spot<'a>]) -> Option<Difference> {
        let units = |spot: &Spot<'a>| {
            let (now, then) = self.at(spot.at)?;
            Some((spot.unit(now), spot.unit(then)))
        };
        let (now, then): (Vec<Unit<'_>>, Vec<Unit<'_>>) = spots.iter().filter_map(units).unzip();
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
        // Of a few items the interval is wider than any two values can be apart.
        let most = match self.measure {
            "pass_rate" => 1.0,
            _ => scale_of(evaluator, metric).map_or(f64::INFINITY, |scale| scale.most - scale.least),
        };
        let most = most.max(over_groups.estimate.abs());
        let mean = |units: &[Unit<'_>]| spread(&grouped(units)).value();
        let needed = normal::critical(LEVEL) + normal::quantile(POWER);
        let deviation = error * (groups.len() as f64).sqrt();
        let enough = (needed * deviation / TWO_POINTS).powi(2).ceil();
        Some(Difference {
            evaluator: evaluator.to_owned(),
            metric: metric.to_owned(),
            measure: self.measure,
            baseline: mean(&then),
            new: mean(&now),
            difference: over_groups.estimate,
            lower: lower.map(|lower| lower.max(-most)),
            upper: upper.map(|upper| upper.min(most)),
            n: apart.len(),
            groups: groups.len(),
            p,
            p_adjusted: p,
            verdict: "",
            detectable: (error > 0.0).then_some(needed * error),
            n_for_two_points: (error > 0.0 && self.measure != "amount").then_some(enough as u64),
        })
    }

    /// By how much the item at a place got worse; none where its mean is the same.
    fn worse(&self, at: usize, better: Better) -> Option<f64> {
        let (now, then) = self.at(at)?;
        if (now.mean() - then.mean()).abs() < f64::EPSILON {
            return None;
        }
        let drop = then.mean() - now.mean();
        let is_good_low = self.measure == "value" && better == Better::Lower;
        Some(if is_good_low { -drop } else { drop })
    }

    fn side(&self, sum: &Sum) -> Side {
        let passed = (self.measure == "pass_rate").then_some(sum.passed);
        Side { passed, of: sum.of, mean: sum.mean() }
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

/// An item that moved: in which part of the list it comes, by how much it got worse, and its place.
struct Fate {
    rank: usize,
    worst: f64,
    at: usize,
}

/// What became of the item at a place by its metrics; none where none moved.
fn fate(metrics: &[Metric<'_>], at: usize) -> Option<Fate> {
    let worse = |one: &Metric<'_>| Some((one.pairs.worse(at, one.better)?, one.pairs.measure));
    let mut moved = metrics.iter().filter_map(worse);
    let (mut worst, measure) = moved.next()?;
    let mut is_lost = worst > 0.0 && measure == "pass_rate";
    for (worse, measure) in moved {
        worst = if worse.total_cmp(&worst).is_gt() { worse } else { worst };
        is_lost |= worse > 0.0 && measure == "pass_rate";
    }
    let rank = match (worst > 0.0, is_lost) {
        (true, true) => 0,
        (true, false) => 1,
        _ => 3,
    };
    Some(Fate { rank, worst, at })
}

/// The first items that moved, and how many did. Regressions first: a verdict that was lost before a value that fell, the largest
/// first; then items that have no answer any more; then improvements.
fn listed(both: &Both<'_>, metrics: &[Metric<'_>]) -> (Vec<Moved>, usize) {
    let fails = both.fails();
    let failed = |at: usize| fails[at].then_some(Fate { rank: 2, worst: 0.0, at });
    let mut all: Vec<Fate> =
        (0..both.places()).filter_map(|at| fate(metrics, at).or_else(|| failed(at))).collect();
    let changed = all.len();
    all.sort_by(|a, b| {
        let by_size = a.rank.cmp(&b.rank).then(b.worst.total_cmp(&a.worst));
        by_size.then_with(|| both.id(a.at).cmp(both.id(b.at)))
    });
    // Texts are copied for those alone that are listed.
    all.truncate(MAX_LISTED);
    (all.into_iter().map(|one| moved(both, metrics, one)).collect(), changed)
}

/// An item with its metrics that moved, the one that got worst first.
fn moved(both: &Both<'_>, metrics: &[Metric<'_>], Fate { rank, at, .. }: Fate) -> Moved {
    let one = |metric: &Metric<'_>| {
        let Metric { of: (evaluator, name), better, pairs } = metric;
        let (worse, (now, then)) = (pairs.worse(at, *better)?, pairs.at(at)?);
        let (evaluator, metric) = ((*evaluator).to_owned(), (*name).to_owned());
        Some((worse, MovedMetric { evaluator, metric, baseline: pairs.side(then), new: pairs.side(now) }))
    };
    let mut all: Vec<(f64, MovedMetric)> = metrics.iter().filter_map(one).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let kind = match rank {
        0 | 1 => "regression",
        2 => "error",
        _ => "improvement",
    };
    let metrics = all.into_iter().map(|(_, metric)| metric).collect();
    Moved { item_id: both.id(at).to_owned(), kind, metrics }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
