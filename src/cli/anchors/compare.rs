//! Two scorings of the same items, by metric.

use crate::stats::{Estimate, Paired};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const LEVEL: f64 = 0.95;

/// A score of an anchor, as `groundline score` writes it.
#[derive(Debug, Clone, Deserialize)]
pub struct Scored {
    id: Value,
    evaluator: String,
    evaluator_version: String,
    metric: String,
    value: Option<f64>,
    passed: Option<bool>,
    status: String,
}

/// What became of one metric.
#[derive(Debug, Clone, Serialize)]
pub struct Metric {
    /// The metric.
    pub metric: String,
    /// The evaluator.
    pub evaluator: String,
    /// Its versions then and now.
    pub versions: [String; 2],
    /// Anchors with a score then and now.
    pub anchors: usize,
    /// Anchors with a score only then, or only now.
    pub unpaired: usize,
    /// Verdicts that changed.
    pub flipped: usize,
    /// Share that passes now less that of then.
    pub rate: Option<Estimate>,
    /// Mean value now less that of then.
    pub mean: Option<Estimate>,
    /// Whether an interval of the two leaves out 0, or scores came or went.
    pub moved: bool,
}

/// Reads a scoring, one object a line.
///
/// # Errors
/// The line that is none.
pub fn read(text: &str) -> Result<Vec<Scored>, String> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| serde_json::from_str(line).map_err(|e| format!("line {number}: {e}")))
        .collect()
}

/// Compares what was scored `then` with what is scored `now`, by metric.
pub fn compare(then: &[Scored], now: &[Scored]) -> Vec<Metric> {
    type Sides<'a> = [BTreeMap<String, &'a Scored>; 2];
    let mut metrics: BTreeMap<(&str, &str), Sides<'_>> = BTreeMap::new();
    for (side, rows) in [then, now].into_iter().enumerate() {
        for row in rows.iter().filter(|row| row.status == "ok") {
            let sides = metrics.entry((&row.evaluator, &row.metric)).or_default();
            sides[side].insert(row.id.to_string(), row);
        }
    }
    metrics.into_iter().map(|((evaluator, metric), sides)| one(evaluator, metric, &sides)).collect()
}

fn one(evaluator: &str, metric: &str, [then, now]: &[BTreeMap<String, &Scored>; 2]) -> Metric {
    let (mut verdicts, mut values) = (Paired::new(), Paired::new());
    let (mut anchors, mut flipped) = (0, 0);
    for (id, before) in then {
        let Some(after) = now.get(id) else { continue };
        anchors += 1;
        if let (Some(was), Some(is)) = (before.passed, after.passed) {
            flipped += usize::from(was != is);
            let share = |passed: bool| f64::from(u8::from(passed));
            // A probability of 1 is always counted.
            let _counted = verdicts.push(share(is), share(was), 1.0);
        }
        if let (Some(was), Some(is)) = (before.value, after.value) {
            let _counted = values.push(is, was, 1.0);
        }
    }
    let unpaired = then.len() + now.len() - 2 * anchors;
    let (rate, mean) = (verdicts.rate(LEVEL), values.mean(LEVEL));
    let leaves_out = |estimate: &Option<Estimate>| {
        estimate
            .is_some_and(|e| e.lower.is_some_and(|low| low > 0.0) || e.upper.is_some_and(|high| high < 0.0))
    };
    let version = |side: &BTreeMap<String, &Scored>| {
        side.values().next().map(|row| row.evaluator_version.clone()).unwrap_or_default()
    };
    Metric {
        metric: metric.to_owned(),
        evaluator: evaluator.to_owned(),
        versions: [version(then), version(now)],
        anchors,
        unpaired,
        flipped,
        moved: leaves_out(&rate) || leaves_out(&mean) || unpaired > 0,
        rate,
        mean,
    }
}

/// A table for people.
pub fn table(metrics: &[Metric]) -> String {
    let mut text = format!(
        "{:28}{:>12}{:>9}{:>9}  {:30}{:30}",
        "metric", "version", "anchors", "flipped", "pass rate, now less then", "mean value, now less then"
    );
    let told = |estimate: Option<Estimate>| match estimate.map(|e| (e.estimate, e.lower, e.upper)) {
        Some((estimate, Some(lower), Some(upper))) => format!("{estimate:+.3} [{lower:+.3}, {upper:+.3}]"),
        Some((estimate, ..)) => format!("{estimate:+.3}"),
        None => "-".to_owned(),
    };
    for one in metrics {
        let [then, now] = &one.versions;
        let version = if then == now { now.clone() } else { format!("{then} -> {now}") };
        let verdict = match (one.moved, one.unpaired) {
            (true, 0) => "moved".to_owned(),
            (true, count) => format!("moved; {count} scores only on one side"),
            (false, _) => "did not move".to_owned(),
        };
        let _ = write!(
            text,
            "\n{:28}{version:>12}{:>9}{:>9}  {:30}{:30}{verdict}",
            one.metric,
            one.anchors,
            one.flipped,
            told(one.rate),
            told(one.mean)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scored(n: usize, version: &str, value: f64) -> Scored {
        let row = json!({"id": n, "evaluator": "e", "evaluator_version": version, "metric": "m", "value": value,
            "passed": value >= 0.5, "status": "ok"});
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn an_evaluator_that_says_the_same_did_not_move() {
        let then: Vec<Scored> = (0..50).map(|n| scored(n, "1", n as f64 / 50.0)).collect();
        let same = &compare(&then, &then)[0];
        assert!(!same.moved && same.anchors == 50 && same.flipped == 0, "{same:?}");
        // Noise of a judge, as often up as down, is no movement.
        let noisy: Vec<Scored> = (0..50)
            .map(|n| scored(n, "1", n as f64 / 50.0 + if n % 2 == 0 { 0.02 } else { -0.02 }))
            .collect();
        assert!(!compare(&then, &noisy)[0].moved);
    }

    #[test]
    fn a_shift_of_values_or_verdicts_is_seen_and_so_are_missing_scores() {
        let then: Vec<Scored> = (0..50).map(|n| scored(n, "1", n as f64 / 50.0)).collect();
        let shifted: Vec<Scored> = (0..50).map(|n| scored(n, "2", n as f64 / 50.0 + 0.2)).collect();
        let found = &compare(&then, &shifted)[0];
        assert!(found.moved && found.flipped == 10 && found.versions == ["1", "2"], "{found:?}");
        let rate = found.rate.unwrap();
        assert!((rate.estimate - 0.2).abs() < 1e-9 && rate.lower.unwrap() > 0.0, "{rate:?}");
        assert!(table(std::slice::from_ref(found)).contains("1 -> 2"));
        let fewer = &compare(&then, &then[..40])[0];
        assert!(fewer.moved && fewer.unpaired == 10, "{fewer:?}");
        assert!(read("{}\n").unwrap_err().starts_with("line 1"));
    }
}
