//! Reports as CSV: results of a run, and questions with their answers. They are made from the JSON report, so that a run
//! needs not be there any more.

use super::super::analysis::{counted, failed_in};
use super::blocks::csv_text;
use crate::lab::template::plain;
use serde_json::{Map, Value as Json};

pub(super) const RUN: &[&str] = &[
    "Run Id",
    "Test Suite Id",
    "Test Suite Title",
    "Run Status",
    "Run Error Message",
    "Run Error Analysis",
    "Completed At",
    "Run Parameters",
    "Percent Of Checks Passed",
    "Amount Of Checks Passed",
    "Standard Deviation For Checks Passed",
    "Percent Of Tests Passed",
    "Amount Of Tests Passed",
    "Standard Deviation For Tests Passed",
    "Needs Review Percentage",
];
pub(super) const TEST: &[&str] = &[
    "Test Result Id",
    "Test Id",
    "Test Status",
    "Test Error Message",
    "Test Input",
    "LLM Output",
    "Files",
    "In Tokens",
    "Out Tokens",
    "Duration",
    "Input Context Keys",
    "Input Context Values",
    "Output Context Keys",
    "Output Context Values",
];
pub(super) const CHECK: &[&str] = &[
    "Operator",
    "Criteria",
    "Auto Eval",
    "Edited Auto Eval",
    "Edited Auto Eval Feedback",
    "Confidence Level",
    "Feedback",
    "Weight",
    "Example Type",
    "Example Value",
    "Extractor",
    "Conditional Criteria",
    "Conditional Operator",
    "Category",
];
/// The place of the files among the columns of a test, and of the first of its contexts.
const FILES: usize = 6;
const CONTEXTS: usize = 10;
/// The place of the examples among the columns of a check.
const EXAMPLE: usize = 8;

/// The runs of a report.
///
/// # Errors
/// When it is none.
pub(super) fn runs(report: &Json) -> Result<&Vec<Json>, String> {
    let runs = report.get("runs").and_then(Json::as_array);
    runs.ok_or_else(|| "no report of groundline test --json: it has no runs".to_owned())
}

/// Results as CSV: a table of the run, then one of its tests with their checks. With `flat` one row a check, which has the
/// run's columns too.
pub(super) fn results(report: &Json, flat: bool) -> Result<String, String> {
    let runs = runs(report)?;
    let run = of_run(report, runs);
    let heads =
        |parts: &[&[&str]]| -> Vec<String> { parts.concat().iter().map(|s| (*s).to_owned()).collect() };
    if flat {
        let mut rows = vec![heads(&[RUN, TEST, CHECK])];
        for one in runs {
            let whole = test_row(one, 0);
            for check in checks(one).into_iter().filter(|row| !row[0].is_empty()) {
                rows.push([run.clone(), whole.clone(), check].concat());
            }
        }
        return csv_text(&rows);
    }
    let mut rows = vec![heads(&[TEST, CHECK])];
    for one in runs {
        let checks = checks(one);
        let down = context(one, "input_context").len().max(context(one, "output_context").len());
        let down = down.max(list(one, "files").len());
        for at in 0..checks.len().max(down).max(1) {
            let check = checks.get(at).cloned().unwrap_or_else(|| vec![String::new(); CHECK.len()]);
            rows.push([test_row(one, at), check].concat());
        }
    }
    Ok(csv_text(&[heads(&[RUN]), run])? + "\n" + &csv_text(&rows)?)
}

/// Questions and answers as CSV.
pub(super) fn answers(report: &Json) -> Result<String, String> {
    let mut rows =
        vec![["Question", "Answer", "In Tokens", "Out Tokens", "Duration"].map(str::to_owned).to_vec()];
    for run in runs(report)?.iter().filter(|run| run.get("output").is_some()) {
        let number =
            |key: &str| run.get(key).filter(|v| !v.is_null()).map_or_else(|| "0".to_owned(), Json::to_string);
        rows.push(vec![
            plain(&run["input"]),
            text(run, "output"),
            number("in_tokens"),
            number("out_tokens"),
            seconds(run).unwrap_or_else(|| "0".to_owned()),
        ]);
    }
    csv_text(&rows)
}

/// The same as JSON, in the words in which answers are sent.
pub(super) fn pairs(report: &Json) -> Result<Json, String> {
    let keys = [
        ("output", "output"),
        ("in_tokens", "input_tokens"),
        ("out_tokens", "output_tokens"),
        ("duration_ms", "duration_ms"),
    ];
    let answered = runs(report)?.iter().filter(|run| run.get("output").is_some());
    let pair = |run: &Json| {
        let mut pair = Map::from_iter([("question".to_owned(), plain(&run["input"]).into())]);
        let said = keys.iter().filter_map(|(from, to)| Some(((*to).to_owned(), run.get(*from)?.clone())));
        pair.extend(said.filter(|(_, value)| !value.is_null()));
        Json::Object(pair)
    };
    Ok(answered.map(pair).collect())
}

fn text(of: &Json, key: &str) -> String {
    of.get(key).filter(|value| !value.is_null()).map(plain).unwrap_or_default()
}

fn seconds(run: &Json) -> Option<String> {
    Some((run.get("duration_ms")?.as_f64()? / 1e3).to_string())
}

fn of_run(report: &Json, runs: &[Json]) -> Vec<String> {
    let checks: Vec<bool> = runs
        .iter()
        .flat_map(|run| run["checks"].as_array().into_iter().flatten())
        .filter(|check| check["counts"] == true && check["status"] != "skipped")
        .map(|check| check["status"] == "pass")
        .collect();
    let tests: Vec<bool> =
        runs.iter().filter(|run| run["status"] != "skipped").map(|run| run["status"] == "pass").collect();
    let is_error = report["verdict"] == "errors";
    let review = report["summary"]["needs_review"].as_f64().unwrap_or_default();
    let shares = [of(&checks), of(&tests)].concat();
    // A run that was imported keeps its own id; one of ours is known by the trace of its first answer.
    let first = || text(&runs.first().cloned().unwrap_or_default(), "trace_id");
    let or = |key: &str, other: &dyn Fn() -> String| match text(report, key) {
        said if said.is_empty() => other(),
        said => said,
    };
    let bears = || if is_error { "more errors than the suite bears".to_owned() } else { String::new() };
    let target =
        || Json::Object(Map::from_iter([("target".to_owned(), report["target"].clone())])).to_string();
    let mut row = vec![
        or("run_id", &first),
        text(report, "suite_id"),
        text(report, "suite"),
        if is_error { "error" } else { "success" }.to_owned(),
        or("error", &bears),
        or("analysis", &|| counted(&failed_in(runs))),
        text(report, "completed_at"),
        report.get("parameters").map_or_else(target, Json::to_string),
    ];
    row.extend(shares);
    row.push(review.to_string());
    row
}

/// Share, count and standard deviation of what passed.
fn of(passed: &[bool]) -> [String; 3] {
    let count = passed.iter().filter(|passed| **passed).count();
    let share = if passed.is_empty() { 0.0 } else { count as f64 / passed.len() as f64 };
    [share.to_string(), count.to_string(), (share * (1.0 - share)).sqrt().to_string()]
}

fn context(run: &Json, key: &str) -> Vec<(String, String)> {
    let context = run.get(key).and_then(Json::as_object);
    context.into_iter().flatten().map(|(key, value)| (key.clone(), plain(value))).collect()
}

fn list<'a>(of: &'a Json, key: &str) -> &'a [Json] {
    of.get(key).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Row `at` of a test: all of it in the first one, then only what runs down.
fn test_row(run: &Json, at: usize) -> Vec<String> {
    let pair = |key: &str| context(run, key).get(at).cloned().unwrap_or_default();
    let (input, output) = (pair("input_context"), pair("output_context"));
    let file = list(run, "files").get(at).map(plain).unwrap_or_default();
    if at > 0 {
        let mut row = vec![String::new(); TEST.len()];
        row[FILES] = file;
        for (cell, text) in row[CONTEXTS..].iter_mut().zip([input.0, input.1, output.0, output.1]) {
            *cell = text;
        }
        return row;
    }
    let status = if run.get("error").is_some() { "error" } else { "success" };
    vec![
        text(run, "run_id"),
        text(run, "test"),
        status.to_owned(),
        text(run, "error"),
        plain(&run["input"]),
        text(run, "output"),
        file,
        text(run, "in_tokens"),
        text(run, "out_tokens"),
        seconds(run).unwrap_or_default(),
        input.0,
        input.1,
        output.0,
        output.1,
    ]
}

/// The rows of the checks: each in one, with its first example, and one more for each further example.
fn checks(run: &Json) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for check in list(run, "checks") {
        let mut examples = list(check, "examples").iter().map(|one| [text(one, "type"), text(one, "text")]);
        rows.push(check_row(check, examples.next().unwrap_or_default()));
        for example in examples {
            let mut row = vec![String::new(); CHECK.len()];
            row[EXAMPLE..EXAMPLE + example.len()].clone_from_slice(&example);
            rows.push(row);
        }
    }
    rows
}

fn check_row(check: &Json, [kind, example]: [String; 2]) -> Vec<String> {
    let weight = if check["counts"] == true { text(check, "weight") } else { "0".to_owned() };
    let is_edited = check.get("auto_eval").is_some();
    let (auto, edited) = match is_edited {
        true => (text(check, "auto_eval"), text(check, "status")),
        false => (text(check, "status"), String::new()),
    };
    let condition = &check["condition"];
    vec![
        text(check, "operator"),
        text(check, "criteria"),
        auto,
        edited,
        text(check, "edited_feedback"),
        text(check, "confidence"),
        text(check, "feedback"),
        weight,
        kind,
        example,
        text(check, "extracted"),
        text(condition, "criteria"),
        text(condition, "operator"),
        text(check, "category"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_head_has_shares_amounts_and_standard_deviations() {
        let check =
            |status: &str, counts: bool| json!({"operator": "contains", "status": status, "counts": counts});
        let run = |status: &str, checks: &[Json]| json!({"status": status, "checks": checks});
        let report = json!({
            "run_id": "r", "analysis": "it is rude", "verdict": "failed", "summary": {"needs_review": 0.25},
            "runs": [
                run("pass", &[check("pass", true), check("pass", true)]),
                // What does not count and what was skipped is in none of them; an error is no pass.
                run("fail", &[check("fail", true), check("pass", true), check("fail", false), check("skipped", true)]),
                run("error", &[check("error", true)]),
                run("skipped", &[]),
            ],
        });
        let row = of_run(&report, runs(&report).unwrap());
        let cell = |head: &str| row[RUN.iter().position(|one| *one == head).unwrap()].as_str();
        assert_eq!((cell("Percent Of Checks Passed"), cell("Amount Of Checks Passed")), ("0.6", "3"));
        assert_eq!((cell("Amount Of Tests Passed"), cell("Needs Review Percentage")), ("1", "0.25"));
        let number = |head: &str| cell(head).parse::<f64>().unwrap();
        for (head, wanted) in [
            ("Percent Of Tests Passed", 1.0 / 3.0),
            ("Standard Deviation For Checks Passed", 0.24_f64.sqrt()),
            ("Standard Deviation For Tests Passed", 2.0_f64.sqrt() / 3.0),
        ] {
            assert!((number(head) - wanted).abs() < 1e-12, "{head}: {}", cell(head));
        }
        // Of nothing there is no share that divides by 0.
        assert_eq!(of(&[]), ["0", "0", "0"].map(str::to_owned));
    }
}
