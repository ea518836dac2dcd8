//! What the routes answer, as text.

use serde_json::Value;
use std::fmt::Write as _;

/// Rows of texts in columns that are as wide as they must be, without spaces at the ends of lines.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.chain([head[at].chars().count()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    for row in std::iter::once(&head).chain(rows) {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// A value in a cell: a text as it is, nothing for null.
pub fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value cut to `most` characters, on one line.
pub fn short(value: &Value, most: usize) -> String {
    let text = cell(value).replace(['\n', '\r', '\t'], " ");
    match text.char_indices().nth(most) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// The first digits of a hash.
pub fn hash(value: &Value) -> String {
    value.as_str().unwrap_or_default().chars().take(12).collect()
}

/// A fault with the name of its file.
pub fn fault(file: &str, fault: &Value) -> String {
    let mut text = format!("{file}:");
    if let Some(line) = fault["line"].as_u64() {
        let _ = write!(text, " line {line}:");
    }
    if let Some(item) = fault["item"].as_u64() {
        let _ = write!(text, " item {item}:");
    }
    if let Some(column) = fault["column"].as_str() {
        let _ = write!(text, " {column}:");
    }
    format!("{text} {}", cell(&fault["message"]))
}

/// A number with as many digits as say something.
pub fn number(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), |number| format!("{number:.3}"))
}

/// An estimate with its interval.
pub fn estimate(value: &Value) -> String {
    if value.is_null() {
        return "-".to_owned();
    }
    format!("{} [{}, {}]", number(&value["estimate"]), number(&value["lower"]), number(&value["upper"]))
}

/// The commit that a target was asked at, and whether files differed from it; none where it is not known.
pub fn revision(target: &Value) -> Option<String> {
    target["git_commit"].as_str()?;
    let changed = if target["git_dirty"] == true { " with changes" } else { "" };
    Some(format!("commit {}{changed}", hash(&target["git_commit"])))
}

/// What tells a target from the next one of its kind, on one line: its prompt and its commit; none where neither is known.
pub fn identity(target: &Value) -> Option<String> {
    let prompt =
        target["prompt_sha256"].is_string().then(|| format!("prompt {}", hash(&target["prompt_sha256"])));
    let known: Vec<String> = prompt.into_iter().chain(revision(target)).collect();
    if known.is_empty() { None } else { Some(format!("{}, {}", cell(&target["kind"]), known.join(", "))) }
}

/// What came of an experiment.
pub fn summarized(told: &Value) -> String {
    let (experiment, summary) = (&told["experiment"], &told["summary"]);
    let mut text = format!(
        "{}: {}, {} of {} runs over {} items, {} without an answer\n",
        cell(&experiment["name"]),
        cell(&experiment["status"]),
        summary["done"],
        summary["runs"],
        summary["items"],
        summary["errors"]
    );
    if let Some(error) = experiment["error"].as_str().filter(|error| !error.is_empty()) {
        let _ = writeln!(text, "error: {error}");
    }
    if summary["errors"].as_u64().is_some_and(|errors| errors > 0) {
        let id = cell(&experiment["experiment_id"]);
        let _ = writeln!(
            text,
            "why: SELECT item_id, error FROM runs_latest WHERE experiment_id = '{id}' AND error IS NOT NULL"
        );
    }
    if let Some(target) = identity(&experiment["target"]) {
        let _ = writeln!(text, "target: {target}");
    }
    if let Some(gone) = told["purged"].as_u64().filter(|gone| *gone > 0) {
        let _ =
            writeln!(text, "{gone} items were purged since, with their runs and scores: they do not count");
    }
    let gone: Vec<&str> =
        told["evaluators_gone"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !gone.is_empty() {
        let gone = gone.join(", ");
        let _ = writeln!(
            text,
            "not there any more: {gone}: what was said stands, and no run is taken until it is back"
        );
    }
    for (key, name) in [
        ("duration_ms", "duration, ms"),
        ("cost_usd", "cost, US dollars"),
        ("input_tokens", "tokens read"),
        ("output_tokens", "tokens written"),
    ] {
        if !summary[key].is_null() {
            let _ = writeln!(text, "{name}: {}", estimate(&summary[key]));
        }
    }
    let rows: Vec<Vec<String>> =
        summary["metrics"].as_array().into_iter().flatten().map(metric_row).collect();
    if !rows.is_empty() {
        text.push_str(&format!("\n{}", table(&METRIC, &rows)));
    }
    let slices: Vec<&Value> = told["slices"].as_array().into_iter().flatten().collect();
    let rows = slices.iter().flat_map(|slice| {
        let own = |metric: &Value| [named(slice, "items"), metric_row(metric)].concat();
        slice["metrics"].as_array().into_iter().flatten().map(own).collect::<Vec<_>>()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        let head = [&["slice", "items"][..], &METRIC].concat();
        text.push_str(&format!("\n{}{}", table(&head, &rows), left_out(told)));
    }
    text
}

/// The columns of a metric.
const METRIC: [&str; 6] = ["metric", "passed", "value", "scores", "errors", "skipped"];

fn metric_row(metric: &Value) -> Vec<String> {
    vec![
        cell(&metric["metric"]),
        estimate(&metric["passed"]),
        estimate(&metric["value"]),
        cell(&metric["scores"]),
        cell(&metric["errors"]),
        cell(&metric["skipped"]),
    ]
}

/// The cells that name a slice: what its items share, and how many they are.
pub fn named(slice: &Value, count: &str) -> Vec<String> {
    vec![format!("{}={}", cell(&slice["by"]), short(&slice["value"], 40)), cell(&slice[count])]
}

/// A line about slices beyond the most that are looked at.
pub fn left_out(told: &Value) -> String {
    match told["slices_left_out"].as_u64() {
        None | Some(0) => String::new(),
        Some(more) => format!("{more} more slices are left out, those with the fewest items\n"),
    }
}

/// What is suspicious about a dataset: a line a finding, errors first, with some of its items.
pub fn linted(told: &Value) -> String {
    let mut text = String::new();
    for one in told["findings"].as_array().into_iter().flatten() {
        let named: Vec<String> = one["items"].as_array().into_iter().flatten().take(5).map(cell).collect();
        let count = one["count"].as_u64().unwrap_or_default();
        let more = count.saturating_sub(named.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (rule, severity) = (cell(&one["rule"]), cell(&one["severity"]));
        let _ = writeln!(text, "{severity}: {rule}: {}: {}{more}", cell(&one["message"]), named.join(", "));
    }
    let (errors, warnings, items) = (&told["errors"], &told["warnings"], &told["items"]);
    let of = format!("{}@{}", cell(&told["dataset"]), told["version"]);
    let _ = writeln!(text, "{of}: {items} items, {errors} errors, {warnings} warnings");
    text
}

/// What was purged.
pub fn purged(name: &str, told: &Value) -> String {
    let (version, items) = (&told["version"], told["items"].as_array().map_or(0, Vec::len));
    let (revisions, runs, scores) = (&told["revisions"], &told["runs"], &told["scores"]);
    let mut text = format!(
        "{name}: version {version}, {items} items purged: {revisions} revisions, {runs} runs, {scores} scores"
    );
    let more = [
        ("spans", "spans"),
        ("annotations", "annotations"),
        ("files", "files"),
        ("check_results", "results of checks"),
        ("suite_rows", "tests and checks of suites"),
    ];
    for (key, what) in more {
        if let Some(count) = told[key].as_u64().filter(|count| *count > 0) {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text + "
"
}

/// One line on what a change did.
pub fn said(name: &str, outcome: &Value) -> String {
    let count = |key: &str| outcome[key].as_u64().unwrap_or_default();
    let mut text = format!(
        "{name}: version {}, {} items: {} put, {} deleted, {} unchanged",
        outcome["version"],
        count("items"),
        count("put"),
        count("deleted"),
        count("unchanged")
    );
    for (key, word) in [("duplicates", "there twice and left out"), ("archived", "archived and left out")] {
        if count(key) > 0 {
            text.push_str(&format!(", {} {word}", count(key)));
        }
    }
    text.push('\n');
    for warning in outcome["warnings"].as_array().into_iter().flatten() {
        let _ = writeln!(text, "{}", fault("warning", warning));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_target_is_told_by_its_prompt_and_its_commit() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let mut target = json!({"kind": "openai", "model": "m"});
        assert_eq!((identity(&target), revision(&target)), (None, None));
        (target["git_commit"], target["git_dirty"]) = (json!(commit), json!(false));
        assert_eq!(identity(&target).unwrap(), "openai, commit 0123456789ab");
        (target["prompt_sha256"], target["git_dirty"]) = (json!("f".repeat(64)), json!(true));
        assert_eq!(
            identity(&target).unwrap(),
            "openai, prompt ffffffffffff, commit 0123456789ab with changes"
        );
        let told = json!({"experiment": {"name": "v2", "target": target}, "summary": {}});
        assert!(
            summarized(&told).contains("\ntarget: openai, prompt ffffffffffff, commit"),
            "{}",
            summarized(&told)
        );
    }

    #[test]
    fn where_runs_have_no_answer_the_query_that_says_why_is_told() {
        let told = |errors: u64| {
            summarized(
                &json!({"experiment": {"experiment_id": "e", "error": "away"}, "summary": {"errors": errors}}),
            )
        };
        assert!(
            told(1).contains("\nwhy: SELECT item_id, error FROM runs_latest WHERE experiment_id = 'e' AND")
        );
        assert!(told(0).contains("\nerror: away\n") && !told(0).contains("why:"), "{}", told(0));
    }

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let rows = vec![vec!["a".to_owned(), "12".to_owned()], vec!["long".to_owned(), String::new()]];
        assert_eq!(table(&["name", "n"], &rows), "name  n\na     12\nlong\n");
        assert_eq!(short(&json!("äöü\nx"), 3), "äöü…");
        let wrong = json!({"line": 3, "column": "weight", "message": "it must be a number"});
        assert_eq!(fault("a.csv", &wrong), "a.csv: line 3: weight: it must be a number");
    }
}
