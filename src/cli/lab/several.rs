//! Several experiments against one baseline, as text.

use super::compared::{HEAD, difference, enough};
use super::told::{cell, estimate, left_out, named, number, table};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What a run takes.
const AMOUNTS: [&str; 4] = ["duration_ms", "cost_usd", "input_tokens", "output_tokens"];

/// Each metric, and what a run took, with what the baseline and every other experiment have, and its verdict; then each slice.
pub fn against(told: &Value) -> String {
    let baseline = &told["baseline"];
    let others: Vec<&Value> = told["experiments"].as_array().into_iter().flatten().collect();
    let mut text = format!("against {}\n", cell(&baseline["name"]));
    for one in &others {
        let name = cell(&one["name"]);
        let (paired, unpaired) = (&one["paired"], &one["unpaired"]);
        let _ = writeln!(text, "{name}: {paired} items in both, {unpaired} in one only or changed");
    }
    for one in std::iter::once(baseline).chain(others.iter().copied()) {
        if let Some(gone) = one["purged"].as_u64().filter(|gone| *gone > 0) {
            let _ =
                writeln!(text, "{}: {gone} items were purged since: they do not count", cell(&one["name"]));
        }
    }
    let head = ["metric", "experiment", "measure", "estimate", "difference", "p", "adjusted", "verdict", ""];
    let mut metrics: Vec<(&Value, &Value)> = Vec::new();
    for one in std::iter::once(baseline).chain(others.iter().copied()).flat_map(cells) {
        let metric = (&one["evaluator"], &one["metric"]);
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let all: Vec<&Value> = std::iter::once(baseline).chain(others.iter().copied()).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for metric in metrics {
        rows.extend(all.iter().filter_map(|one| row(one, metric)));
    }
    for name in AMOUNTS {
        rows.extend(all.iter().filter_map(|one| amount(one, name)));
    }
    let _ = write!(text, "\n{}", table(&head, &rows));
    text.push_str(&slices(&others));
    text
}

fn cells(one: &Value) -> impl Iterator<Item = &Value> {
    one["cells"].as_array().into_iter().flatten()
}

/// A line of a metric: an experiment, or the baseline, which has no difference.
fn row(one: &Value, (evaluator, metric): (&Value, &Value)) -> Option<Vec<String>> {
    let found = cells(one).find(|cell| cell["evaluator"] == *evaluator && cell["metric"] == *metric)?;
    let own = vec![cell(metric), cell(&one["name"]), cell(&found["measure"]), estimate(&found["estimate"])];
    Some([own, apart(one, &found["difference"])].concat())
}

/// The same of what a run took; none where that is not known.
fn amount(one: &Value, name: &str) -> Option<Vec<String>> {
    let mut differences = one["usage"].as_array().into_iter().flatten();
    let from = differences.find(|known| known["metric"] == *name).unwrap_or(&Value::Null);
    if one[name].is_null() && from.is_null() {
        return None;
    }
    let own = vec![name.to_owned(), cell(&one["name"]), "amount".to_owned(), estimate(&one[name])];
    Some([own, apart(one, from)].concat())
}

/// How an experiment differs from the baseline, and what that shows.
fn apart(one: &Value, from: &Value) -> Vec<String> {
    let is_baseline = one["paired"].is_null();
    match (from.is_null(), is_baseline) {
        (false, _) => vec![
            estimate(
                &json!({ "estimate": from["difference"], "lower": from["lower"], "upper": from["upper"] }),
            ),
            number(&from["p"]),
            number(&from["p_adjusted"]),
            cell(&from["verdict"]),
            enough(from),
        ],
        (true, true) => ["", "", "", "baseline"].map(str::to_owned).to_vec(),
        (true, false) => ["", "", "", "no pair has it"].map(str::to_owned).to_vec(),
    }
}

/// Each slice of each experiment, and how many are left out.
fn slices(others: &[&Value]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for one in others {
        for slice in one["slices"].as_array().into_iter().flatten() {
            for metric in slice["metrics"].as_array().into_iter().flatten() {
                let own = vec![cell(&one["name"])];
                rows.push([own, named(slice, "paired"), difference(metric)].concat());
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let more = others.iter().filter(|one| !left_out(one).is_empty());
    let more: String = more.map(|one| format!("{}: {}", cell(&one["name"]), left_out(one))).collect();
    format!("\n{}{more}", table(&[&["experiment", "slice", "items"][..], &HEAD].concat(), &rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_line_for_each_experiment() {
        let interval = json!({"estimate": 0.5, "lower": 0.25, "upper": 0.75});
        let lost = json!({"metric": "m", "measure": "pass_rate", "baseline": 1.0, "new": 0.5, "difference": -0.5, "lower": -0.7,
            "upper": -0.2, "p": 0.001, "p_adjusted": 0.002, "verdict": "worse", "detectable": 0.1, "n_for_two_points": 90});
        let of = |difference: &Value| {
            json!([{"evaluator": "e", "metric": "m", "measure": "pass_rate", "estimate": interval,
            "difference": difference}])
        };
        let none = Value::Null;
        let mut slower = lost.clone();
        (slower["metric"], slower["measure"]) = (json!("duration_ms"), json!("amount"));
        let told = json!({
            "baseline": {"name": "v1", "purged": 0, "cells": of(&none), "duration_ms": interval},
            "experiments": [
                {"name": "v2", "purged": 3, "paired": 24, "unpaired": 1, "cells": of(&lost), "usage": [slower], "slices_left_out": 2,
                    "duration_ms": interval, "cost_usd": null,
                    "slices": [{"by": "tag", "value": "de", "paired": 12, "metrics": [lost]}]},
                {"name": "v3", "purged": 0, "paired": 0, "unpaired": 25, "cells": of(&none), "usage": [], "slices": [], "slices_left_out": 5},
            ],
        });
        let text = against(&told);
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for wanted in [
            "against v1",
            "v2: 24 items in both, 1 in one only or changed",
            "v2: 3 items were purged since: they do not count",
            "m v1 pass_rate 0.500 [0.250, 0.750] baseline",
            "m v2 pass_rate 0.500 [0.250, 0.750] -0.500 [-0.700, -0.200] 0.001 0.002 worse 0.100 could be shown; 90 items show 0.02",
            "m v3 pass_rate 0.500 [0.250, 0.750] no pair has it",
            "duration_ms v1 amount 0.500 [0.250, 0.750] baseline",
            "duration_ms v2 amount 0.500 [0.250, 0.750] -0.500 [-0.700, -0.200] 0.001 0.002 worse 0.100 could be shown; 90 items show 0.02",
            "v2: 2 more slices are left out, those with the fewest items",
            "v3: 5 more slices are left out, those with the fewest items",
        ] {
            assert!(lines.iter().any(|line| line == wanted), "{wanted}: {text}");
        }
        assert!(lines.iter().any(|line| line.starts_with("v2 tag=de 12 m pass_rate 1.000 0.500")), "{text}");
    }
}
