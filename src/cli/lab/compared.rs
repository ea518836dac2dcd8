//! A comparison of two experiments as text.

use super::told::{cell, estimate, identity, left_out, named, number, short, table};
use super::words::differing;
use serde_json::Value;
use std::fmt::Write as _;

/// Characters of a question and of an answer that are shown.
const SHOWN: usize = 160;
/// The columns of a difference.
pub const HEAD: [&str; 9] =
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
    let targets = [("baseline", &told["baseline"]), ("new", &told["new"])];
    let targets =
        targets.map(|(side, one)| identity(&one["target"]).map(|target| format!("{side}: {target}\n")));
    if targets.iter().any(Option::is_some) {
        let _ = writeln!(text, "{}", targets.into_iter().flatten().collect::<String>());
    }
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

/// What so many items could have shown, and how many would show two points; nothing where that is not known.
pub fn enough(metric: &Value) -> String {
    let n = metric["n_for_two_points"].as_u64();
    n.map_or_else(String::new, |n| {
        format!("{} could be shown; {n} items show 0.02", number(&metric["detectable"]))
    })
}

/// The cells of a difference.
pub fn difference(metric: &Value) -> Vec<String> {
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
        enough(metric),
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

/// An item that moved: what it asks, its metrics, and what both sides answered; why, and in which words they differ.
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
    let shown = ["baseline", "new"].map(|name| shown(item, name));
    for (name, run) in ["baseline", "new"].iter().zip(&shown) {
        let Some(run) = run else { continue };
        let (said, trace) = (short(said(run), SHOWN), cell(&run["trace_id"]));
        let of = match item[*name]["runs"].as_array().map_or(0, Vec::len) {
            0 | 1 => String::new(),
            all => format!(" ({} of {all})", run["repetition"]),
        };
        let _ = writeln!(text, "    {name}{of}: {said}  (trace {trace})");
        if let Some(why) = score(run, &item["metrics"][0]).and_then(|score| score["rationale"].as_str()) {
            let _ = writeln!(text, "        why: {}", short(&why.into(), SHOWN));
        }
    }
    if let [Some(then), Some(now)] = shown
        && let Some(words) = differing(&cell(said(then)), &cell(said(now)))
    {
        let _ = writeln!(text, "    differing: {}", short(&words.into(), 2 * SHOWN));
    }
    text
}

/// The answer of a run, or why it has none.
fn said(run: &Value) -> &Value {
    if run["error"].is_null() { &run["output"] } else { &run["error"] }
}

/// The repetition of a side that shows what moved: where the first metric fell the lowest of the new experiment and the highest
/// of the baseline, and the other way round where it rose. Of an item without an answer it is the first that has none.
fn shown<'a>(item: &'a Value, name: &str) -> Option<&'a Value> {
    let runs = item[name]["runs"].as_array()?;
    let metric = &item["metrics"][0];
    if metric.is_null() {
        let of_side = |run: &&Value| run["error"].is_null() != (name == "new");
        return runs.iter().find(of_side).or(runs.first());
    }
    let mean = |side: &str| metric[side]["mean"].as_f64().unwrap_or_default();
    let is_lowest = (mean("new") < mean("baseline")) == (name == "new");
    let is_verdict = !metric[name]["passed"].is_null();
    let worth = |run: &'a Value| {
        let score = score(run, metric)?;
        let value = match is_verdict {
            true => f64::from(u8::from(score["passed"].as_bool()?)),
            false => score["value"].as_f64()?,
        };
        Some((if is_lowest { value } else { -value }, run))
    };
    let found = runs.iter().filter_map(worth).min_by(|one, other| one.0.total_cmp(&other.0));
    found.map(|(_, run)| run).or(runs.first())
}

/// What was said of a run by a metric that moved.
fn score<'a>(run: &'a Value, metric: &Value) -> Option<&'a Value> {
    let is_it = |score: &&Value| {
        score["evaluator"] == metric["evaluator"] && score["metric"] == metric["metric"] && !metric.is_null()
    };
    run["scores"].as_array()?.iter().find(is_it)
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
                      new: the Rhine  (trace bb)\n    differing: the [-Danube-] {+Rhine+}\n2 items unchanged\n";
        assert!(text.ends_with(wanted) && text.contains("2 items were purged"), "{text}");
        assert!(compared(&told, 0).ends_with("1 more items moved, 2 items unchanged\n"));
    }
    #[test]
    fn of_repetitions_those_are_shown_that_show_the_change() {
        let run = |repetition: u64, output: &str, passed: bool| {
            let rationale = format!("{output} is {passed}");
            json!({"repetition": repetition, "output": output, "error": null, "trace_id": "t", "scores": [
                {"evaluator": "f", "metric": "m", "passed": !passed, "rationale": "of another evaluator"},
                {"evaluator": "e", "metric": "m", "passed": passed, "rationale": rationale}
            ]})
        };
        let moved = |then: f64, now: f64, baseline: &[Value], new: &[Value]| {
            let side = |mean: f64| json!({"passed": (mean * 3.0).round(), "of": 3, "mean": mean});
            one(&json!({
                "kind": "regression", "item_id": "x", "external_id": null, "question": null,
                "metrics": [{"evaluator": "e", "metric": "m", "baseline": side(then), "new": side(now)}],
                "baseline": {"runs": baseline}, "new": {"runs": new}
            }))
        };
        let good = [run(1, "river Danube", true), run(2, "river Danube", true), run(3, "river Danube", true)];
        let bad = [run(1, "river Danube", true), run(2, "river Rhine", false), run(3, "river Po", false)];
        let text = moved(1.0, 1.0 / 3.0, &good, &bad);
        let wanted = "    baseline (1 of 3): river Danube  (trace t)\n        why: river Danube is true\n    new (2 of 3): river Rhine  (trace t)\n\
                      \u{20}       why: river Rhine is false\n    differing: river [-Danube-] {+Rhine+}\n";
        assert!(text.ends_with(wanted), "{text}");
        // What got better is shown by one that failed before and one that passes now.
        let text = moved(1.0 / 3.0, 1.0, &bad, &good);
        assert!(
            text.contains("baseline (2 of 3): river Rhine") && text.contains("new (1 of 3): river Danube"),
            "{text}"
        );
        // An item that has no answer any more is shown by what has none.
        let mut failed = run(2, "", false);
        (failed["output"], failed["error"]) = (Value::Null, json!("no answer in 10 s"));
        let item = json!({"kind": "error", "item_id": "x", "metrics": [], "baseline": {"runs": good}, "new": {"runs": [bad[0], failed]}});
        assert!(one(&item).contains("new (2 of 2): no answer in 10 s"), "{}", one(&item));
    }
}
