//! How far raters agree, beyond chance.
//!
//! Cohen 1960 (κ of two raters) and 1968 (weighted); Krippendorff 2019, chapter 12 (α for any number of raters, with
//! answers missing); Gwet 2008 (AC1, where one label dominates and κ falls although raters agree). Intervals: percentile
//! bootstrap over items (Davison and Hinkley 1997, chapter 2).

use super::ranking::draws;

/// Fewer items with two answers have no interval, and no measure that is worth telling.
pub const LEAST_ITEMS: usize = 20;

/// The answers to one item: rater and category, each rater once.
pub type Unit = Vec<(u32, u32)>;

/// What the categories are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Names.
    Nominal,
    /// Ranks.
    Ordinal,
    /// Numbers with equal distances.
    Interval,
}

/// How much a disagreement of two ranks weighs in κ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// Any disagreement is one.
    Plain,
    /// By the distance.
    Linear,
    /// By its square.
    Quadratic,
}

/// A measure with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The measure over all items.
    pub estimate: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Items with at least two answers.
    pub items: usize,
}

/// The share of equal answers among the pairs of answers to an item, averaged over items. None without two answers to any.
pub fn percent(units: &[&Unit]) -> Option<f64> {
    let shares: Vec<f64> = units.iter().filter(|unit| unit.len() > 1).map(|unit| agreeing(unit)).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// The share of equal answers among the ordered pairs of answers to one item.
fn agreeing(unit: &Unit) -> f64 {
    let equal = |(at, one): (usize, &(u32, u32))| {
        unit.iter().enumerate().filter(|(other, two)| *other != at && two.1 == one.1).count()
    };
    let pairs: usize = unit.iter().enumerate().map(equal).sum();
    pairs as f64 / (unit.len() * (unit.len() - 1)) as f64
}

/// Cohen's κ of the raters `first` and `second` over the items that both answered. None without such items, and where both
/// only ever gave one and the same answer: then there is nothing beyond chance.
pub fn cohen(
    units: &[&Unit],
    (first, second): (u32, u32),
    categories: usize,
    weights: Weights,
) -> Option<f64> {
    let by =
        |unit: &Unit, rater: u32| unit.iter().find(|(by, _)| *by == rater).map(|(_, what)| *what as usize);
    let pairs: Vec<(usize, usize)> =
        units.iter().filter_map(|unit| by(unit, first).zip(by(unit, second))).collect();
    let n = pairs.len() as f64;
    let (mut one, mut two) = (vec![0.0; categories], vec![0.0; categories]);
    for (a, b) in &pairs {
        one[*a] += 1.0 / n;
        two[*b] += 1.0 / n;
    }
    let apart = |a: usize, b: usize| {
        let distance = a.abs_diff(b) as f64;
        match weights {
            Weights::Plain => f64::from(u8::from(a != b)),
            Weights::Linear => distance,
            Weights::Quadratic => distance * distance,
        }
    };
    let seen: f64 = pairs.iter().map(|(a, b)| apart(*a, *b) / n).sum();
    let places = || (0..categories).flat_map(|a| (0..categories).map(move |b| (a, b)));
    let chance: f64 = places().map(|(a, b)| one[a] * two[b] * apart(a, b)).sum();
    (chance > 0.0).then(|| 1.0 - seen / chance)
}

/// Krippendorff's α. None without two answers to any item, and where all answers are one and the same.
pub fn krippendorff(units: &[&Unit], categories: usize, level: Level) -> Option<f64> {
    let mut pairs = vec![vec![0.0; categories]; categories];
    for unit in units.iter().filter(|unit| unit.len() > 1) {
        let each = 1.0 / (unit.len() - 1) as f64;
        for (at, (_, a)) in unit.iter().enumerate() {
            for (_, b) in unit.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, answer)| answer)
            {
                pairs[*a as usize][*b as usize] += each;
            }
        }
    }
    let counts: Vec<f64> = pairs.iter().map(|row| row.iter().sum()).collect();
    let n: f64 = counts.iter().sum();
    let apart = |a: usize, b: usize| match level {
        Level::Nominal => f64::from(u8::from(a != b)),
        Level::Interval => (a as f64 - b as f64).powi(2),
        Level::Ordinal => {
            let (low, high) = (a.min(b), a.max(b));
            let ranks: f64 = counts[low..=high].iter().sum();
            if a == b { 0.0 } else { (ranks - f64::midpoint(counts[a], counts[b])).powi(2) }
        }
    };
    let places = || (0..categories).flat_map(|a| (0..categories).map(move |b| (a, b)));
    let seen: f64 = places().map(|(a, b)| pairs[a][b] * apart(a, b)).sum();
    let chance: f64 = places().map(|(a, b)| counts[a] * counts[b] * apart(a, b)).sum();
    (chance > 0.0).then(|| 1.0 - (n - 1.0) * seen / chance)
}

/// Gwet's AC1. None without two answers to any item.
pub fn gwet(units: &[&Unit], categories: usize) -> Option<f64> {
    let seen = percent(units)?;
    let answered: Vec<&&Unit> = units.iter().filter(|unit| !unit.is_empty()).collect();
    let share = |category: usize| -> f64 {
        let of = |unit: &&&Unit| {
            unit.iter().filter(|(_, what)| *what as usize == category).count() as f64 / unit.len() as f64
        };
        answered.iter().map(of).sum::<f64>() / answered.len() as f64
    };
    let spread: f64 = (0..categories).map(share).map(|share| share * (1.0 - share)).sum();
    let chance = spread / (categories.max(2) - 1) as f64;
    (chance < 1.0).then(|| (seen - chance) / (1.0 - chance))
}

/// `measure` over all items with its percentile interval of `count` draws of items. None below [`LEAST_ITEMS`] items with two
/// answers, and where the measure itself is none. The same `seed` gives the same interval.
pub fn with_interval(
    units: &[Unit],
    count: usize,
    seed: u64,
    measure: impl Fn(&[&Unit]) -> Option<f64>,
) -> Option<Measured> {
    let twice: Vec<&Unit> = units.iter().filter(|unit| unit.len() > 1).collect();
    if twice.len() < LEAST_ITEMS {
        return None;
    }
    let estimate = measure(&twice)?;
    let mut found: Vec<f64> = Vec::with_capacity(count);
    for times in draws(twice.len(), count, seed) {
        let drawn: Vec<&Unit> =
            twice.iter().zip(times).flat_map(|(unit, times)| (0..times).map(move |_| *unit)).collect();
        found.extend(measure(&drawn));
    }
    if found.len() * 2 < count || found.is_empty() {
        return None;
    }
    found.sort_by(f64::total_cmp);
    let at = |share: f64| found[((found.len() - 1) as f64 * share).round() as usize];
    Some(Measured { estimate, lower: at(0.025), upper: at(0.975), items: twice.len() })
}

#[cfg(test)]
#[path = "agreement_tests.rs"]
mod tests;
