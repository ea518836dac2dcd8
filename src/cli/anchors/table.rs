//! What became of each metric, for people.

use crate::drift::AnchorMetric;
use crate::stats::Estimate;
use std::fmt::Write as _;

/// A table for people.
pub fn table(metrics: &[AnchorMetric]) -> String {
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
        let mut verdict = match (one.moved, one.unpaired) {
            (true, 0) => "moved".to_owned(),
            (true, count) => format!("moved; {count} scores only on one side"),
            (false, _) => "did not move".to_owned(),
        };
        if one.errors > 0 {
            let _ = write!(verdict, "; {} anchors were not scored", one.errors);
        }
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
