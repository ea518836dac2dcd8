//! Leaderboards, findings and flips as text.

use super::told::{cell, estimate, short, table};
use serde_json::Value;
use std::fmt::Write as _;

/// Characters of a question, an answer and a reason that are shown.
const SHOWN: usize = 160;

/// How often perturbed items flipped, metric by metric and method by method, and each flipped case with both answers.
pub fn flipped(told: &Value, cases: usize) -> String {
    let all: Vec<&Value> = told["flips"].as_array().into_iter().flatten().collect();
    if all.is_empty() {
        return "no item was perturbed: groundline perturb makes such a dataset\n".to_owned();
    }
    let row = |one: &&Value| {
        vec![
            cell(&one["metric"]),
            cell(&one["method"]),
            cell(&one["n"]),
            cell(&one["flipped"]),
            if one["has_copies"] == false { "no copies".to_owned() } else { cell(&one["copies_flipped"]) },
            estimate(&one["difference"]),
            cell(&one["p_adjusted"]),
            one["certainty"].as_str().unwrap_or("-").to_owned(),
        ]
    };
    let head = ["metric", "method", "items", "flipped", "copies flipped", "difference", "p adj.", ""];
    let mut text = table(&head, &all.iter().map(row).collect::<Vec<_>>());
    for one in all {
        for case in one["cases"].as_array().into_iter().flatten().take(cases) {
            let (then, now) = if case["passed"] == true { ("passed", "fails") } else { ("failed", "passes") };
            let method = cell(&one["method"]);
            let (metric, source) = (cell(&one["metric"]), cell(&case["source"]));
            let _ = writeln!(text, "{metric}: {source} {then}, {method} {now}: {}", cell(&case["item_id"]));
            ["before", "after"].iter().for_each(|side| text.push_str(&answered(side, &case[*side])));
        }
    }
    text
}

/// What an item was asked and answered, and why it has its verdict; nothing where that is not told.
fn answered(side: &str, told: &Value) -> String {
    if told.is_null() {
        return String::new();
    }
    let said = if told["error"].is_null() { &told["output"] } else { &told["error"] };
    let mut text = format!("    {side}: {:?} -> {}\n", short(&told["question"], SHOWN), short(said, SHOWN));
    if !told["rationale"].is_null() {
        let _ = writeln!(text, "        why: {}", short(&told["rationale"], SHOWN));
    }
    text
}

/// Experiments beside each other: a line for each, with its estimate and places by every metric.
pub fn ranked(told: &Value) -> String {
    let rows: Vec<&Value> = told["rows"].as_array().into_iter().flatten().collect();
    let mut metrics: Vec<String> = Vec::new();
    for one in rows.iter().flat_map(|row| row["cells"].as_array().into_iter().flatten()) {
        let name = cell(&one["metric"]);
        if !metrics.contains(&name) {
            metrics.push(name);
        }
    }
    let line = |row: &&Value| {
        let cells = row["cells"].as_array();
        let of = |name: &String| {
            let found = cells.into_iter().flatten().find(|one| cell(&one["metric"]) == *name);
            found.map_or_else(
                || "-".to_owned(),
                |one| format!("{} {}", places(one), estimate(&one["estimate"])),
            )
        };
        let mut line = vec![cell(&row["name"]), cell(&row["errors"]), estimate(&row["duration_ms"])];
        line.extend(metrics.iter().map(of));
        line
    };
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    let mut head = vec!["experiment", "errors", "duration, ms"];
    head.extend(metrics.iter().map(String::as_str));
    table(&head, &lines)
}

/// `#2`, or `#1-3` where the intervals leave it open.
fn places(one: &Value) -> String {
    match (one["rank_from"].as_u64(), one["rank_to"].as_u64()) {
        (Some(from), Some(to)) if from != to => format!("#{from}-{to}"),
        (Some(from), _) => format!("#{from}"),
        _ => String::new(),
    }
}

/// A line for each finding, and what to do about it.
pub fn found(told: &Value) -> String {
    let mut text = String::new();
    for one in told["findings"].as_array().into_iter().flatten() {
        let (kind, severity, certainty) =
            (cell(&one["kind"]), cell(&one["severity"]), cell(&one["certainty"]));
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "{kind} ({severity}, {certainty}): {}; {}",
            cell(&one["text"]),
            cell(&one["action"])
        );
        let ids: Vec<String> = one["item_ids"].as_array().into_iter().flatten().take(5).map(cell).collect();
        if !ids.is_empty() {
            let _ = writeln!(text, "    {}", ids.join(" "));
        }
        if let Some(why) = one["evidence"].get("rationale") {
            let _ = writeln!(text, "    why: {}", short(why, 200));
        }
    }
    if text.is_empty() { "nothing stands out\n".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_flipped_case_is_told_with_both_answers() {
        let side = |question: &str, output: &str, rationale: Value| json!({"question": question, "output": output, "error": null, "rationale": rationale});
        let case = json!({"source": "a", "item_id": "a~", "passed": true,
            "before": side("Where?", "in\nParis", Value::Null), "after": side("wHERE?", &"x".repeat(161), json!("It is no town."))});
        let bare = json!({"source": "b", "item_id": "b~", "passed": false});
        let told = json!({"flips": [{"metric": "m", "method": "case@high", "cases": [case, bare]}]});
        let wanted = format!(
            "m: a passed, case@high fails: a~\n    before: \"Where?\" -> in Paris\n    after: \"wHERE?\" -> {}…\n        \
             why: It is no town.\nm: b failed, case@high passes: b~\n",
            "x".repeat(160)
        );
        let text = flipped(&told, 9);
        assert!(text.ends_with(&wanted), "{text}");
        assert!(!flipped(&told, 0).contains("before"));
    }

    #[test]
    fn places_are_sets_and_findings_are_lines() {
        let interval = json!({"estimate": 0.5, "lower": 0.25, "upper": 0.75});
        let one = json!({"metric": "m", "estimate": interval, "rank_from": 1, "rank_to": 2});
        let rows = json!({"rows": [{"name": "a", "errors": 0, "duration_ms": null, "cells": [one]}, {"name": "b", "errors": 1, "cells": []}]});
        let text = ranked(&rows);
        assert!(text.contains("#1-2 0.500 [0.250, 0.750]") && text.lines().count() == 3, "{text}");
        assert_eq!(found(&json!({"findings": []})), "nothing stands out\n");
        let finding = json!({"kind": "problem", "severity": "high", "certainty": "certain", "text": "t", "action": "a",
            "item_ids": ["i"], "evidence": {"item_id": "i", "rationale": "\"It is red.\" is not supported"}});
        let told = found(&json!({ "findings": [finding] }));
        assert!(told.ends_with("    i\n    why: \"It is red.\" is not supported\n"), "{told}");
    }
}
