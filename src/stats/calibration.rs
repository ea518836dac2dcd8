//! Scores to probabilities, learned from labels: Platt's logistic curve and isotonic regression.
//!
//! Platt 1999 with the targets and the Newton iteration of Lin, Lin and Weng 2007. Isotonic regression by pool adjacent
//! violators (Ayer, Brunk, Ewing, Reid and Silverman 1955), with straight lines between the pools; its direction is that of
//! the logistic curve. Labels weigh 1/(π·π_label), so that a curve learned from labels that were drawn by uncertainty is one
//! for all items. No curve says 0 or 1: an isotonic one of n labels nothing nearer to them than 1/(n+2).

use super::seeded::Seeded;

/// Bins of the calibration error and of the reliability table, of equal width.
pub const BINS: usize = 10;
/// Parts of the cross-validation.
pub const FOLDS: usize = 5;
/// Most knots of an isotonic curve.
const MAX_KNOTS: usize = 128;
/// Most steps of the Newton iteration; it needs about ten.
const MAX_STEPS: usize = 100;

/// A logistic curve says nothing surer: beyond, it would be 1 by rounding.
const SUREST: f64 = f64::EPSILON;

/// A score with its label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labelled {
    /// The evaluator's value, finite.
    pub value: f64,
    /// Whether a person says that it passes.
    pub good: bool,
    /// How many items it stands for, above 0 and finite.
    pub weight: f64,
}

/// How a curve is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A logistic curve: two numbers, for few labels.
    Platt,
    /// Any curve that only rises or only falls: for a few hundred labels and more.
    Isotonic,
}

impl Method {
    /// Both, the simpler one first.
    pub const ALL: [Method; 2] = [Method::Platt, Method::Isotonic];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Platt => "platt",
            Method::Isotonic => "isotonic",
        }
    }

    /// Fits a curve. None without at least one label of each kind, and for values that are all one.
    pub fn fit(self, items: &[Labelled]) -> Option<Curve> {
        let logistic = platt(items)?;
        match self {
            Method::Platt => Some(logistic),
            Method::Isotonic => Some(isotonic(items, logistic.rises())),
        }
    }
}

/// Probability that a person passes an item, by the evaluator's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    /// 1 / (1 + exp(−(slope·value + intercept))).
    Platt {
        /// What the log odds gain by one unit of the value.
        slope: f64,
        /// The log odds at the value 0.
        intercept: f64,
    },
    /// Straight lines between knots of value and probability, by rising value; level outside.
    Isotonic(Vec<(f64, f64)>),
}

impl Curve {
    /// The probability at `value`, above 0 and below 1 for every curve that was fitted; NaN for a value that is none.
    pub fn probability(&self, value: f64) -> f64 {
        match self {
            Curve::Platt { slope, intercept } => {
                logistic(slope * value + intercept).clamp(SUREST, 1.0 - SUREST)
            }
            Curve::Isotonic(knots) => between(knots, value),
        }
    }

    /// Whether higher values are better.
    pub fn rises(&self) -> bool {
        match self {
            Curve::Platt { slope, .. } => *slope > 0.0,
            Curve::Isotonic(knots) => {
                knots.first().zip(knots.last()).is_none_or(|(first, last)| last.1 >= first.1)
            }
        }
    }
}

/// The curve of one metric of one version of an evaluator.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// The evaluator's id.
    pub evaluator: String,
    /// Its version.
    pub evaluator_version: String,
    /// The metric.
    pub metric: String,
    /// The curve.
    pub curve: Curve,
    /// Between these probabilities the evaluator abstains.
    pub abstain: Option<(f64, f64)>,
}

impl Calibrated {
    /// Whether it is about these scores.
    pub fn is_of(&self, evaluator: &str, version: &str, metric: &str) -> bool {
        self.metric == metric && self.evaluator == evaluator && self.evaluator_version == version
    }

    /// Whether the evaluator abstains at this probability.
    pub fn abstains(&self, probability: f64) -> bool {
        self.abstain.is_some_and(|(low, high)| low < probability && probability < high)
    }
}

fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

fn between(knots: &[(f64, f64)], value: f64) -> f64 {
    let at = knots.partition_point(|knot| knot.0 < value);
    match (at.checked_sub(1).and_then(|at| knots.get(at)), knots.get(at)) {
        _ if value.is_nan() => f64::NAN,
        (None, Some(first)) => first.1,
        (Some(last), None) => last.1,
        (Some(low), Some(high)) => low.1 + (high.1 - low.1) * (value - low.0) / (high.0 - low.0),
        (None, None) => f64::NAN,
    }
}

/// The weights, brought to a mean of 1.
fn evened(items: &[Labelled]) -> Vec<f64> {
    let total: f64 = items.iter().map(|item| item.weight).sum();
    items.iter().map(|item| item.weight * items.len() as f64 / total).collect()
}

fn platt(items: &[Labelled]) -> Option<Curve> {
    let weights = evened(items);
    let sum =
        |of: &dyn Fn(&Labelled) -> f64| -> f64 { items.iter().zip(&weights).map(|(i, w)| w * of(i)).sum() };
    let n = items.len() as f64;
    let (good, mean) = (sum(&|i| f64::from(u8::from(i.good))), sum(&|i| i.value) / n);
    let spread = (sum(&|i| (i.value - mean).powi(2)) / n).sqrt();
    let (has_good, has_bad) = (items.iter().any(|i| i.good), items.iter().any(|i| !i.good));
    // Rounding gives values that are all one a spread that is not quite 0.
    let is_flat = items.iter().all(|item| item.value == items[0].value);
    if is_flat || !(has_good && has_bad && spread > 0.0 && spread.is_finite()) {
        return None;
    }
    // Targets that are not quite 1 and 0 keep the curve finite where values part the labels.
    let targets = [1.0 / (n - good + 2.0), (good + 1.0) / (good + 2.0)];
    let rows: Vec<(f64, f64, f64)> = items
        .iter()
        .zip(&weights)
        .map(|(i, w)| ((i.value - mean) / spread, targets[usize::from(i.good)], *w))
        .collect();
    let (a, b) = newton(&rows, ((good + 1.0) / (n - good + 1.0)).ln());
    Some(Curve::Platt { slope: a / spread, intercept: b - a * mean / spread })
}

/// Minimises Σ w·(log(1 + e^z) − t·z) with z = a·x + b, by Newton steps that are halved until they help.
fn newton(rows: &[(f64, f64, f64)], start: f64) -> (f64, f64) {
    let softplus = |z: f64| z.max(0.0) + (-z.abs()).exp().ln_1p();
    let loss = |a: f64, b: f64| -> f64 {
        rows.iter().map(|(x, t, w)| w * (softplus(a * x + b) - t * (a * x + b))).sum()
    };
    let (mut a, mut b) = (0.0, start);
    let mut now = loss(a, b);
    for _ in 0..MAX_STEPS {
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (0.0, 0.0, 1e-12, 0.0, 1e-12);
        for (x, t, w) in rows {
            let p = logistic(a * x + b);
            let (d, h) = (w * (p - t), w * p * (1.0 - p));
            (ga, gb) = (ga + d * x, gb + d);
            (haa, hab, hbb) = (haa + h * x * x, hab + h * x, hbb + h);
        }
        if f64::abs(ga) < 1e-9 && f64::abs(gb) < 1e-9 {
            break;
        }
        let det = haa * hbb - hab * hab;
        let (da, db) = ((hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det);
        let mut step = 1.0;
        while step > 1e-10 && loss(a - step * da, b - step * db) > now {
            step /= 2.0;
        }
        (a, b) = (a - step * da, b - step * db);
        let before = std::mem::replace(&mut now, loss(a, b));
        if step <= 1e-10 || before - now < 1e-14 * now.abs() {
            break;
        }
    }
    (a, b)
}

/// Items of neighbouring values with one probability.
#[derive(Debug, Clone, Copy)]
struct Pool {
    low: f64,
    high: f64,
    good: f64,
    weight: f64,
}

impl Pool {
    fn share(&self) -> f64 {
        self.good / self.weight
    }
}

fn isotonic(items: &[Labelled], rises: bool) -> Curve {
    let sign = if rises { 1.0 } else { -1.0 };
    let mut rows: Vec<(f64, bool, f64)> =
        items.iter().zip(evened(items)).map(|(i, w)| (sign * i.value, i.good, w)).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pools: Vec<Pool> = Vec::new();
    for tie in rows.chunk_by(|a, b| a.0 == b.0) {
        let weight: f64 = tie.iter().map(|row| row.2).sum();
        let good = tie.iter().filter(|row| row.1).map(|row| row.2).sum();
        pools.push(Pool { low: tie[0].0, high: tie[0].0, good, weight });
        while let [.., before, last] = pools.as_mut_slice()
            && before.share() >= last.share()
        {
            let (good, weight) = (before.good + last.good, before.weight + last.weight);
            *before = Pool { low: before.low, high: last.high, good, weight };
            pools.pop();
        }
    }
    let least = 1.0 / (items.len() as f64 + 2.0);
    let ends = |pool: &Pool| {
        let share = pool.share().clamp(least, 1.0 - least);
        let second = (pool.high > pool.low).then_some((sign * pool.high, share));
        std::iter::once((sign * pool.low, share)).chain(second)
    };
    let mut knots: Vec<(f64, f64)> = pools.iter().flat_map(ends).collect();
    if !rises {
        knots.reverse();
    }
    while knots.len() > MAX_KNOTS {
        let last = knots.len() - 1;
        let mut at = 0;
        knots.retain(|_| {
            at += 1;
            at == 1 || at - 1 == last || at % 2 == 0
        });
    }
    Curve::Isotonic(knots)
}

/// A probability that was said, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The probability of passing.
    pub probability: f64,
    /// Whether a person says that it passes.
    pub good: bool,
    /// How many items it stands for.
    pub weight: f64,
}

/// What curves say of labels that they were not fitted to, in [`FOLDS`] parts. None where a part cannot be fitted: too few
/// labels of one kind. The same `seed` gives the same parts; labels of both kinds are spread evenly over them.
pub fn crossed(items: &[Labelled], method: Method, seed: u64) -> Option<Vec<Said>> {
    let mut random = Seeded::new(seed);
    let mut order: Vec<(u64, usize)> = (0..items.len()).map(|at| (random.bits(), at)).collect();
    order.sort_by_key(|(key, at)| (items[*at].good, *key));
    let mut part = vec![0; items.len()];
    order.iter().enumerate().for_each(|(place, (_, at))| part[*at] = place % FOLDS);
    let mut said = Vec::with_capacity(items.len());
    for fold in 0..FOLDS {
        let others = |(item, part): (&Labelled, &usize)| (*part != fold).then_some(*item);
        let curve = method.fit(&items.iter().zip(&part).filter_map(others).collect::<Vec<_>>())?;
        for (item, _) in items.iter().zip(&part).filter(|(_, part)| **part == fold) {
            let probability = curve.probability(item.value);
            said.push(Said { probability, good: item.good, weight: item.weight });
        }
    }
    Some(said)
}

/// A row of the reliability table.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Bin {
    /// Mean probability that was said.
    pub said: f64,
    /// Weighted share that passes.
    pub found: f64,
    /// Labels.
    pub n: usize,
    /// Their share of all weights.
    pub share: f64,
}

/// The bins that have labels, by rising probability.
pub fn reliability(said: &[Said]) -> Vec<Bin> {
    let total: f64 = said.iter().map(|s| s.weight).sum();
    let mut sums = [(0.0, 0.0, 0.0, 0usize); BINS];
    for one in said {
        let at = ((one.probability.clamp(0.0, 1.0) * BINS as f64) as usize).min(BINS - 1);
        let sum = &mut sums[at];
        let good = if one.good { one.weight } else { 0.0 };
        *sum = (sum.0 + one.weight * one.probability, sum.1 + good, sum.2 + one.weight, sum.3 + 1);
    }
    let bin = |(said, good, weight, n): (f64, f64, f64, usize)| Bin {
        said: said / weight,
        found: good / weight,
        n,
        share: weight / total,
    };
    sums.into_iter().filter(|sum| sum.3 > 0).map(bin).collect()
}

/// Expected calibration error (Naeini, Cooper and Hauskrecht 2015): the mean distance between said and found, by share.
pub fn ece(bins: &[Bin]) -> f64 {
    bins.iter().map(|bin| bin.share * (bin.said - bin.found).abs()).sum()
}

/// Brier's score: the mean squared distance between the probability and what came; NaN without labels.
pub fn brier(said: &[Said]) -> f64 {
    let total: f64 = said.iter().map(|s| s.weight).sum();
    let one = |s: &Said| s.weight * (s.probability - f64::from(u8::from(s.good))).powi(2);
    said.iter().map(one).sum::<f64>() / total
}

#[cfg(test)]
#[path = "calibration_tests.rs"]
mod tests;
