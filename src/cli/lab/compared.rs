//! A comparison of two experiments as text.

use super::told::{cell, estimate, left_out, named, number, short, table};
use serde_json::Value;
use std::fmt::Write as _;

/// Characters of a question and of an answer that are shown.
const SHOWN: usize = 160;
/// The columns of a difference.
const HEAD: [&str; 9] =
    ["metric", "measure", "baseline", "new", "difference", "p", "adjusted", "verdict", ""];

/// How two experiments differ: each metric, what a run took, each slice; then so many of the items that moved, regressions
/// first, with what both sides answered.
pub fn compared(told: &Value, items: usize) -> String {
    let comparison = &told["comparison"];
    let mut text = format!(
        "{} against {}: {} items in both, {} in one only or changed\n\n",
        cell(&told["new"]["name"]),
        cell(&told["baseline"]["name"]),
        comparison["paired"],
        comparison["unpaired"]
    );
    let gone = [&told["new"], &told["baseline"]].map(|side| side["purged"].as_u64().unwrap_or_default());
    if let Some(gone) = gone.into_iter().max().filter(|gone| *gone > 0) {
        let _ =
            writeln!(text, "{gone} items were purged since, with their runs and scores: they do not count\n");
    }
    let rows = |key: &str| comparison[key].as_array().into_iter().flatten().map(difference);
    text.push_str(&table(&HEAD, &rows("metrics").chain(rows("usage")).collect::<Vec<_>>()));
    let slices: Vec<Vec<String>> = sliced(comparison);
    if !slices.is_empty() {
        let head = [&["slice", "items"][..], &HEAD].concat();
        let _ = write!(text, "\n{}{}", table(&head, &slices), left_out(comparison));
    }
    let moved: Vec<&Value> = comparison["items"].as_array().into_iter().flatten().collect();
    text.push('\n');
    moved.iter().take(items).for_each(|item| text.push_str(&one(item)));
    let more = moved.len().saturating_sub(items);
    let folded = if more > 0 { format!("{more} more items moved, ") } else { String::new() };
    let _ = writeln!(text, "{folded}{} items unchanged", comparison["unchanged"]);
    text
}

fn difference(metric: &Value) -> Vec<String> {
    let n = metric["n_for_two_points"].as_u64();
    let enough = n.map_or_else(String::new, |n| {
        format!("{} could be shown; {n} items show 0.02", number(&metric["detectable"]))
    });
    vec![
        cell(&metric["metric"]),
        cell(&metric["measure"]),
        number(&metric["baseline"]),
        number(&metric["new"]),
        estimate(&serde_json::json!({
            "estimate": metric["difference"], "lower": metric["lower"], "upper": metric["upper"]
        })),
        number(&metric["p"]),
        number(&metric["p_adjusted"]),
        cell(&metric["verdict"]),
        enough,
    ]
}

fn sliced(comparison: &Value) -> Vec<Vec<String>> {
    let slices = comparison["slices"].as_array().into_iter().flatten();
    let rows = slices.flat_map(|slice| {
        let metrics = slice["metrics"].as_array().into_iter().flatten();
        metrics.map(|metric| [named(slice, "paired"), difference(metric)].concat()).collect::<Vec<_>>()
    });
    rows.collect()
}

/// An item that moved: what it asks, its metrics, and what both sides answered.
fn one(item: &Value) -> String {
    let name = if item["external_id"].is_null() { &item["item_id"] } else { &item["external_id"] };
    let mut text = format!("{}: {}", cell(&item["kind"]), cell(name));
    if !item["question"].is_null() {
        let _ = write!(text, " {:?}", short(&item["question"], SHOWN));
    }
    text.push('\n');
    for metric in item["metrics"].as_array().into_iter().flatten() {
        let (then, now) = (side(&metric["baseline"]), side(&metric["new"]));
        let _ = writeln!(text, "    {}: {then} -> {now}", cell(&metric["metric"]));
    }
    for name in ["baseline", "new"] {
        if let Some(run) = item[name]["runs"].as_array().and_then(|runs| runs.first()) {
            let said = if run["error"].is_null() { &run["output"] } else { &run["error"] };
            let (said, trace) = (short(said, SHOWN), cell(&run["trace_id"]));
            let _ = writeln!(text, "    {name}: {said}  (trace {trace})");
        }
    }
    text
}

/// How often an item passed, or its mean.
fn side(side: &Value) -> String {
    match side["passed"].as_u64() {
        Some(passed) => format!("{passed}/{} passed", side["of"]),
        None => number(&side["mean"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_item_is_told_with_its_question_and_both_answers() {
        let run = |output: &str, trace: &str| json!({"runs": [{"output": output, "error": null, "trace_id": trace}]});
        let told = json!({
            "new": {"name": "v2", "purged": 0}, "baseline": {"name": "v1", "purged": 2},
            "comparison": {"paired": 3, "unpaired": 1, "unchanged": 2, "metrics": [], "usage": [], "items": [{
                "kind": "regression", "item_id": "x", "external_id": "g3", "question": "Which river?",
                "metrics": [{"metric": "m", "baseline": {"passed": 3, "of": 3}, "new": {"passed": 1, "of": 3}}],
                "baseline": run("the Danube", "aa"), "new": run("the Rhine", "bb")
            }]}
        });
        let text = compared(&told, 5);
        let wanted = "regression: g3 \"Which river?\"\n    m: 3/3 passed -> 1/3 passed\n    baseline: the Danube  (trace aa)\n    \
                      new: the Rhine  (trace bb)\n2 items unchanged\n";
        assert!(text.ends_with(wanted) && text.contains("2 items were purged"), "{text}");
        assert!(compared(&told, 0).ends_with("1 more items moved, 2 items unchanged\n"));
    }
}
