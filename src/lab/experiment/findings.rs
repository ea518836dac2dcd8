//! What stands out in an experiment: metrics on the wrong side of their threshold, perturbed items that flipped, scores that
//! could not be given, and the hardest items.

use super::flips::flips;
use super::reading::Scored;
use super::summary::{Data, Of, Places, Weights, by_item, by_metric, estimate, verdict};
use crate::domain::score::Better;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Items that a finding names.
const MAX_ITEMS: usize = 20;

/// Which side of a metric is good, and its threshold.
pub type Line = (Better, Option<f64>);

/// One finding.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// problem, flip, unscorable or insight.
    pub kind: &'static str,
    /// high, medium or low.
    pub severity: &'static str,
    /// certain where the whole interval says so, else possible.
    pub certainty: &'static str,
    /// The evaluator and metric; none for what concerns all.
    pub metric: Option<String>,
    /// The items that show it, the worst first.
    pub item_ids: Vec<String>,
    /// What was measured.
    pub estimate: Option<f64>,
    /// Lower end of its 95 % interval.
    pub lower: Option<f64>,
    /// Upper end of its 95 % interval.
    pub upper: Option<f64>,
    /// What it was held against.
    pub threshold: Option<f64>,
    /// In words.
    pub text: String,
    /// What can be done.
    pub action: String,
}

/// The findings, problems first. `line` tells of an evaluator's metric which side is good, and where the threshold lies.
pub fn findings(data: &Data<'_>, line: impl Fn(&str, &str) -> Line) -> Vec<Finding> {
    let metrics = by_metric(data.scores.iter());
    let mut found = Vec::new();
    for (of, scores) in &metrics {
        let (better, threshold) = line(&of.0, &of.1);
        found.extend(threshold.and_then(|threshold| problem(data, of, scores, (better, threshold))));
        found.extend(unscorable(of, scores));
    }
    found.extend(flips(data.items, data.scores).into_iter().filter(|one| one.flipped > 0).map(flip));
    found.extend(hardest(data, &metrics));
    let rank = |finding: &Finding| {
        ["problem", "flip", "unscorable", "insight"].iter().position(|k| *k == finding.kind)
    };
    found.sort_by_key(rank);
    found
}

/// The mean of a metric on the wrong side of its threshold.
fn problem(
    data: &Data<'_>,
    of: &Of,
    scores: &[&Scored],
    (better, threshold): (Better, f64),
) -> Option<Finding> {
    let values = by_item(scores, |score| score.value);
    let mean = estimate(&Places::of(data.items, Weights::Items).units(&values))?;
    let is_low_good = better == Better::Lower;
    let is_wrong = |value: f64| if is_low_good { value > threshold } else { value < threshold };
    if !is_wrong(mean.estimate) {
        return None;
    }
    let (lower, upper) = (mean.lower, mean.upper);
    // The end that is nearest to the good side.
    let nearest = if is_low_good { lower } else { upper };
    let is_far =
        if is_low_good { mean.estimate >= threshold * 1.5 } else { mean.estimate <= threshold * 0.5 };
    let mut items: Vec<(&str, f64)> =
        values.iter().map(|(item, all)| (*item, all.iter().sum::<f64>() / all.len() as f64)).collect();
    items.retain(|(_, value)| is_wrong(*value));
    let worst = |a: f64, b: f64| if is_low_good { b.total_cmp(&a) } else { a.total_cmp(&b) };
    items.sort_by(|a, b| worst(a.1, b.1).then(a.0.cmp(b.0)));
    let side = if is_low_good { "above" } else { "below" };
    let name = name(of);
    Some(Finding {
        kind: "problem",
        severity: if is_far { "high" } else { "medium" },
        certainty: if nearest.is_some_and(is_wrong) { "certain" } else { "possible" },
        item_ids: items.iter().take(MAX_ITEMS).map(|(item, _)| (*item).to_owned()).collect(),
        estimate: Some(mean.estimate),
        lower,
        upper,
        threshold: Some(threshold),
        text: format!("the mean of {name} is {:.3}, {side} its threshold {threshold}", mean.estimate),
        action: format!("look at the {} items that are on the wrong side, the worst first", items.len()),
        metric: Some(name),
    })
}

fn unscorable(of: &Of, scores: &[&Scored]) -> Option<Finding> {
    let mut items: Vec<String> =
        scores.iter().filter(|score| score.status == "error").map(|score| score.item_id.clone()).collect();
    items.sort();
    items.dedup();
    let count = items.len();
    items.truncate(MAX_ITEMS);
    (count > 0).then(|| Finding {
        text: format!("{} gave no score of {count} items", name(of)),
        action: "the rationale of each score says why".to_owned(),
        ..plain("unscorable", "medium", Some(name(of)), items)
    })
}

fn flip(found: super::flips::Flips) -> Finding {
    let of = (found.evaluator, found.metric);
    let ends = found.difference.map(|difference| (difference.lower, difference.upper));
    let is_certain = found.certainty == Some("certain");
    Finding {
        severity: if is_certain { "high" } else { "low" },
        certainty: found.certainty.unwrap_or("possible"),
        estimate: found.difference.map(|difference| difference.estimate),
        lower: ends.and_then(|(lower, _)| lower),
        upper: ends.and_then(|(_, upper)| upper),
        text: format!(
            "{} of {} items flip {} under {}, {}",
            found.flipped,
            found.n,
            name(&of),
            found.method,
            if found.has_copies {
                format!("{} of their plain copies do", found.copies_flipped)
            } else {
                "and without plain copies it is not known how many do by themselves".to_owned()
            }
        ),
        action: "compare the answers of each flipped item with those of its source".to_owned(),
        ..plain(
            "flip",
            "low",
            Some(name(&of)),
            found.cases.into_iter().take(MAX_ITEMS).map(|c| c.item_id).collect(),
        )
    }
}

/// The items that fail most metrics.
fn hardest(data: &Data<'_>, metrics: &BTreeMap<Of, Vec<&Scored>>) -> Option<Finding> {
    let mut failed: HashMap<&str, (usize, usize)> = HashMap::new();
    for scores in metrics.values() {
        for (item, verdicts) in by_item(scores, verdict) {
            let entry = failed.entry(item).or_default();
            entry.0 += verdicts.iter().filter(|passed| **passed < 0.5).count();
            entry.1 += verdicts.len();
        }
    }
    let mut items: Vec<(&str, f64)> = failed
        .iter()
        .filter(|(_, (failed, _))| *failed > 0)
        .map(|(item, (f, all))| (*item, *f as f64 / *all as f64))
        .collect();
    items.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let (first, share) = *items.first()?;
    let ties = items.iter().take_while(|(_, other)| *other == share).count();
    let also = match ties {
        0 | 1 => String::new(),
        2 => ", as 1 other does".to_owned(),
        _ => format!(", as {} others do", ties - 1),
    };
    let asked =
        data.items.iter().find(|item| item.item_id == first).and_then(|item| item.external_id.clone());
    Some(Finding {
        estimate: Some(share),
        text: format!(
            "the hardest item is {}: it fails {:.0} % of its verdicts{also}",
            asked.as_deref().unwrap_or(first),
            share * 100.0
        ),
        action: "begin with it".to_owned(),
        ..plain(
            "insight",
            "low",
            None,
            items.iter().take(MAX_ITEMS).map(|(item, _)| (*item).to_owned()).collect(),
        )
    })
}

fn plain(
    kind: &'static str,
    severity: &'static str,
    metric: Option<String>,
    item_ids: Vec<String>,
) -> Finding {
    Finding {
        kind,
        severity,
        certainty: "certain",
        metric,
        item_ids,
        estimate: None,
        lower: None,
        upper: None,
        threshold: None,
        text: String::new(),
        action: String::new(),
    }
}

/// What findings call a metric: its evaluator, and the metric behind it where that has another name.
pub fn metric_name(evaluator: &str, metric: &str) -> String {
    if evaluator == metric { metric.to_owned() } else { format!("{evaluator}/{metric}") }
}

fn name((evaluator, metric): &Of) -> String {
    metric_name(evaluator, metric)
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
