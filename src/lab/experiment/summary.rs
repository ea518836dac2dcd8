//! Estimates of one experiment: repetitions of an item are averaged first, and items of one group count as one draw.

use super::reading::{Experiment, Key, Runs, Scored, StoredRun};
use super::slices::{Dimension, Slice, slices};
use crate::eval::scale_of;
use crate::schema::batch::ItemRow;
use crate::stats::{Clustered, Estimate, Rate, Weighted};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The confidence level of every interval.
pub const LEVEL: f64 = 0.95;

/// What an item counts for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Weights {
    /// Its own weight: the estimate is about the dataset.
    #[default]
    Items,
    /// Its weight over the probability with which its trace was selected: the estimate is about the traffic.
    Traffic,
}

/// What came of an experiment.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Items that are asked.
    pub items: usize,
    /// Runs that are wanted.
    pub runs: usize,
    /// Runs that are stored.
    pub done: usize,
    /// Runs without an answer.
    pub errors: usize,
    /// Each metric, by evaluator and name.
    pub metrics: Vec<MetricSummary>,
    /// How long the target took for a run, milliseconds.
    pub duration_ms: Option<Estimate>,
    /// What a run cost, US dollars.
    pub cost_usd: Option<Estimate>,
    /// Tokens that the target read for a run.
    pub input_tokens: Option<Estimate>,
    /// Tokens that it wrote.
    pub output_tokens: Option<Estimate>,
}

/// What came of the items of one slice.
#[derive(Debug, Serialize)]
pub struct SliceSummary {
    /// tag, split, category or a key of the metadata.
    pub by: String,
    /// The value that its items share.
    pub value: String,
    /// How many items it has.
    pub items: usize,
    /// Each metric.
    pub metrics: Vec<MetricSummary>,
}

/// A metric of an experiment.
#[derive(Debug, Serialize)]
pub struct MetricSummary {
    /// The evaluator.
    pub evaluator: String,
    /// The metric.
    pub metric: String,
    /// The share that passes; none for a metric without verdicts.
    pub passed: Option<Estimate>,
    /// The mean value.
    pub value: Option<Estimate>,
    /// Scores with a value.
    pub scores: usize,
    /// Scores that an evaluator failed to give.
    pub errors: usize,
    /// Scores that an input was missing for.
    pub skipped: usize,
}

/// What is known of an experiment.
pub struct Data<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its items.
    pub items: &'a [ItemRow],
    /// Its runs.
    pub runs: &'a Runs,
    /// Its scores.
    pub scores: &'a [Scored],
}

/// A metric of an evaluator.
pub type Of = (String, String);

/// The summary of an experiment.
pub fn summary(data: &Data<'_>, weights: Weights) -> Summary {
    let places = Places::of(data.items, weights);
    let mut runs: Vec<(&Key, &StoredRun)> = data.runs.iter().collect();
    runs.sort_by_key(|((_, repetition), _)| *repetition);
    let of_runs = |get: fn(&StoredRun) -> Option<f64>| {
        let mut values: HashMap<&str, Vec<f64>> = HashMap::new();
        for ((item, _), run) in &runs {
            values.entry(item).or_default().extend(get(run).filter(|_| !run.is_error));
        }
        // Nothing takes less than no time, and costs less than nothing.
        estimate(&places.units(&values)).map(|found| found.within((0.0, f64::INFINITY)))
    };
    Summary {
        items: data.items.len(),
        runs: data.items.len() * usize::try_from(data.experiment.repetitions).unwrap_or(1),
        done: data.runs.len(),
        errors: data.runs.values().filter(|run| run.is_error).count(),
        metrics: metrics(data, &places),
        duration_ms: of_runs(|run| run.duration_ms),
        cost_usd: of_runs(|run| run.cost_usd),
        input_tokens: of_runs(|run| run.input_tokens.map(|tokens| tokens as f64)),
        output_tokens: of_runs(|run| run.output_tokens.map(|tokens| tokens as f64)),
    }
}

/// The same of each slice of the items, and how many slices were left out.
pub fn sliced(data: &Data<'_>, weights: Weights, dimensions: &[Dimension]) -> (Vec<SliceSummary>, usize) {
    let places = Places::of(data.items, weights);
    let (slices, beyond) = slices(data.items.iter(), dimensions);
    let one = |slice: Slice<'_>| SliceSummary {
        metrics: metrics(data, &places.within(&slice.items)),
        items: slice.items.len(),
        by: slice.by,
        value: slice.value,
    };
    (slices.into_iter().map(one).collect(), beyond)
}

/// Each metric of the items that have a place.
fn metrics(data: &Data<'_>, places: &Places<'_>) -> Vec<MetricSummary> {
    let of_places = data.scores.iter().filter(|score| places.0.contains_key(score.item_id.as_str()));
    let metric = |((evaluator, metric), scores): (Of, Vec<&Scored>)| {
        let with = |status: &str| scores.iter().filter(|score| score.status == status).count();
        let range = scale_of(&evaluator, &metric).map(|scale| (scale.least, scale.most));
        let value = estimate(&places.units(&by_item(&scores, |score| score.value)));
        MetricSummary {
            evaluator,
            metric,
            passed: rate(&places.units(&by_item(&scores, verdict))),
            value: value.map(|found| range.map_or(found, |range| found.within(range))),
            scores: with("ok"),
            errors: with("error"),
            skipped: with("skipped"),
        }
    };
    by_metric(of_places).into_iter().map(metric).collect()
}

/// Scores by their metrics, each in the order that they come in.
pub fn by_metric<'a>(scores: impl Iterator<Item = &'a Scored>) -> BTreeMap<Of, Vec<&'a Scored>> {
    let mut all: BTreeMap<(&str, &str), Vec<&Scored>> = BTreeMap::new();
    for score in scores {
        all.entry((&score.evaluator, &score.metric)).or_default().push(score);
    }
    let named = all.into_iter().map(|((of, metric), scores)| ((of.to_owned(), metric.to_owned()), scores));
    named.collect()
}

/// 1 for a pass, 0 for a fail.
pub fn verdict(score: &Scored) -> Option<f64> {
    score.passed.map(|passed| if passed { 1.0 } else { 0.0 })
}

/// The values of the scores that have one, by item: one for each repetition.
pub fn by_item<'a>(
    scores: &[&'a Scored],
    get: impl Fn(&'a Scored) -> Option<f64>,
) -> HashMap<&'a str, Vec<f64>> {
    let mut values: HashMap<&str, Vec<f64>> = HashMap::new();
    for score in scores.iter().filter(|score| score.status == "ok") {
        if let Some(value) = get(score).filter(|value| value.is_finite()) {
            values.entry(&score.item_id).or_default().push(value);
        }
    }
    values
}

/// An item's mean over its repetitions, what it counts for, and what it is not independent of.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit<'a> {
    /// Its group; its own id if it has none.
    pub group: &'a str,
    /// Above 0.
    pub weight: f64,
    /// The mean over the repetitions.
    pub value: f64,
    /// How many there were.
    pub repetitions: usize,
}

/// The group of an item, which is its own id if it has none, and what it counts for.
pub fn place(item: &ItemRow, weights: Weights) -> (&str, f64) {
    let pi = item.inclusion_probability.filter(|_| weights == Weights::Traffic).unwrap_or(1.0);
    (item.group_id.as_deref().unwrap_or(&item.item_id), item.weight.unwrap_or(1.0) / pi)
}

/// What items count for, and their groups; by their ids.
pub struct Places<'a>(BTreeMap<&'a str, (&'a str, f64)>);

impl<'a> Places<'a> {
    /// Of these items.
    pub fn of(items: impl IntoIterator<Item = &'a ItemRow>, weights: Weights) -> Self {
        let known = |item: &'a ItemRow| (item.item_id.as_str(), place(item, weights));
        Self(items.into_iter().map(known).collect())
    }

    /// Those of these items alone.
    pub fn within(&self, items: &BTreeSet<&str>) -> Self {
        let places = items.iter().filter_map(|item| self.0.get_key_value(*item));
        Self(places.map(|(item, place)| (*item, *place)).collect())
    }

    /// The items that have values and count for something, by their ids: sums do not depend on the order of a hash map then.
    pub fn units(&self, values: &HashMap<&str, Vec<f64>>) -> Vec<Unit<'a>> {
        let unit = |(item, (group, weight)): (&&'a str, &(&'a str, f64))| {
            let values = values.get(*item).filter(|values| !values.is_empty() && *weight > 0.0)?;
            let value = values.iter().sum::<f64>() / values.len() as f64;
            Some(Unit { group, weight: *weight, value, repetitions: values.len() })
        };
        self.0.iter().filter_map(unit).collect()
    }
}

/// The mean over units. One verdict an item, each on its own, is a rate with the interval of rates; everything else has
/// Student's interval over groups. None without units.
pub fn estimate(units: &[Unit<'_>]) -> Option<Estimate> {
    let groups = grouped(units);
    if is_plain(units, groups.len()) {
        let mut rate = Rate::new();
        for unit in units {
            // A probability of 1 is counted.
            let _ = rate.push(unit.value > 0.5, 1.0);
        }
        return rate.estimate(LEVEL);
    }
    spread(&groups).mean(LEVEL)
}

/// The share that passes, of units that are means of verdicts. None without units. Where every repetition passes nothing
/// tells how alike they are, and each group counts once: no spread is no certainty.
pub fn rate(units: &[Unit<'_>]) -> Option<Estimate> {
    let mut groups: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for unit in units {
        let one = (unit.value, unit.weight / unit.repetitions as f64);
        groups.entry(unit.group).or_default().extend(std::iter::repeat_n(one, unit.repetitions));
    }
    if is_plain(units, groups.len()) {
        return estimate(units);
    }
    let mut all = Clustered::new();
    groups.values().for_each(|values| all.push(values));
    let found = all.rate(LEVEL)?;
    Some(Estimate { n: units.len() as u64, ..found })
}

/// Whether each unit is one verdict of its own that counts as every other.
pub fn is_plain(units: &[Unit<'_>], groups: usize) -> bool {
    let Some(first) = units.first() else { return false };
    let alike = |unit: &Unit<'_>| {
        unit.repetitions == 1 && (unit.value == 0.0 || unit.value == 1.0) && unit.weight == first.weight
    };
    groups == units.len() && units.iter().all(alike)
}

/// The mean and weight of each group.
pub fn grouped(units: &[Unit<'_>]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<&Unit<'_>> = units.iter().collect();
    // Most are in order already, and those of a group stay as they are, so that their sum does, too.
    sorted.sort_by_key(|unit| unit.group);
    let mean = |group: &[&Unit<'_>]| {
        let (mut sum, mut weight) = (0.0, 0.0);
        for unit in group {
            sum += unit.value * unit.weight;
            weight += unit.weight;
        }
        (sum / weight, weight)
    };
    sorted.chunk_by(|a, b| a.group == b.group).map(mean).collect()
}

/// The groups as draws whose probability is the inverse of their weight.
pub fn spread(groups: &[(f64, f64)]) -> Weighted {
    let least = groups.iter().map(|(_, weight)| *weight).fold(f64::INFINITY, f64::min);
    let mut all = Weighted::new();
    for (value, weight) in groups {
        // The least weight over any is above 0 and at most 1.
        let _ = all.push(*value, least / weight);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::tried::Tried;
    use super::*;

    fn unit(group: &str, weight: f64, value: f64, repetitions: usize) -> Unit<'_> {
        Unit { group, weight, value, repetitions }
    }

    #[test]
    fn plain_verdicts_are_a_rate() {
        let units = [unit("a", 1.0, 1.0, 1), unit("b", 1.0, 1.0, 1), unit("c", 1.0, 0.0, 1)];
        let got = estimate(&units).unwrap();
        let mut rate = Rate::new();
        assert!(rate.push(true, 1.0) && rate.push(true, 1.0) && rate.push(false, 1.0));
        assert_eq!(Some(got), rate.estimate(LEVEL));
    }

    #[test]
    fn items_of_a_group_are_one_draw() {
        let alone =
            [unit("a", 1.0, 0.2, 1), unit("b", 1.0, 0.4, 1), unit("c", 1.0, 0.9, 1), unit("d", 1.0, 0.7, 1)];
        let mut twice = alone.to_vec();
        twice.extend(alone.iter().cloned());
        let (one, two) = (estimate(&alone).unwrap(), estimate(&twice).unwrap());
        assert_eq!((one.n, two.n), (4, 4));
        assert!((one.estimate - two.estimate).abs() < 1e-12);
        assert!((one.lower.unwrap() - two.lower.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn passing_every_time_is_no_certainty() {
        let names: Vec<String> = (0..10).map(|at| at.to_string()).collect();
        let all: Vec<Unit<'_>> = names.iter().map(|name| unit(name, 1.0, 1.0, 3)).collect();
        let got = rate(&all).unwrap();
        // Ten groups, each counted once: as ten verdicts that were given once.
        let once: Vec<Unit<'_>> = names.iter().map(|name| unit(name, 1.0, 1.0, 1)).collect();
        assert_eq!((got.estimate, got.n, got.upper), (1.0, 10, Some(1.0)));
        assert!((got.lower.unwrap() - rate(&once).unwrap().lower.unwrap()).abs() < 0.02, "{got:?}");
        let mixed = [unit("a", 1.0, 1.0, 3), unit("b", 1.0, 1.0 / 3.0, 3), unit("c", 2.0, 2.0 / 3.0, 3)];
        assert!((rate(&mixed).unwrap().estimate - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_of_two_items_end_where_values_end() {
        let mut tried = Tried::of(&[&[true], &[true]]);
        for (score, value) in tried.scores.iter_mut().zip([0.5, 0.9]) {
            (score.evaluator, score.metric) = ("groundedness".into(), "groundedness".into());
            score.value = Some(value);
        }
        for ((item, _), run) in &mut tried.runs {
            run.duration_ms = Some(if item == "0" { 10.0 } else { 900.0 });
        }
        let got = summary(&tried.data(), Weights::Items);
        let value = got.metrics[0].value.unwrap();
        assert_eq!((value.lower, value.upper), (Some(0.0), Some(1.0)));
        let duration = got.duration_ms.unwrap();
        assert!(duration.lower == Some(0.0) && duration.upper.unwrap() > 900.0, "{duration:?}");
    }

    #[test]
    fn weights_count() {
        let units = [unit("a", 3.0, 1.0, 2), unit("b", 1.0, 0.0, 2)];
        assert!((estimate(&units).unwrap().estimate - 0.75).abs() < 1e-12);
        assert_eq!(estimate(&[]), None);
    }
}
