//! Results that another system, or our own export, wrote as CSV, back into a report.

use super::super::fault::Faults;
use super::super::report::FORMAT;
use super::blocks::{Block, blocks};
use super::imported::value_of;
use super::results::{CHECK, RUN, TEST};
use serde_json::{Map, Value as Json, json};

/// How far a share may lie from what the checks say: some systems round, some write per cent.
const NEAR: f64 = 0.005;

/// The report that a text of results is, and where its head says otherwise than its rows.
///
/// # Errors
/// Every fault with its line.
pub(super) fn read(text: &str, name: &str) -> Result<(Json, Vec<String>), Faults> {
    let mut faults = Faults::default();
    let blocks = blocks(text, &[RUN, TEST, CHECK], name, &mut faults);
    let empty = Block::default();
    let head = blocks.iter().find(|block| block.has("Run Id")).unwrap_or(&empty);
    let mut runs: Vec<Json> = Vec::new();
    for block in blocks.iter().filter(|block| block.has("Auto Eval") || block.has("LLM Output")) {
        for (line, row) in &block.rows {
            if let Err(why) = add(&mut runs, block, row) {
                faults.add(format!("{name}:{line}: {why}"));
            }
        }
    }
    if runs.is_empty() && faults.is_empty() {
        faults
            .add(format!("{name}: no results: a table with Test Input, LLM Output and Auto Eval is missing"));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    runs.iter_mut().for_each(judge);
    let none = Vec::new();
    let row = head.rows.first().map_or(&none, |(_, row)| row);
    let warnings = differences(head, row, &runs, name);
    Ok((report(head, row, runs), warnings))
}

/// One row: a test begins where it has an id or an input; else it continues the one above.
fn add(runs: &mut Vec<Json>, block: &Block, row: &[String]) -> Result<(), String> {
    let cell = |name: &str| block.cell(row, name).trim();
    let text = |name: &str| Some(block.cell(row, name)).filter(|text| !text.is_empty());
    let id = text("Test Result Id").or_else(|| text("Test Id")).or_else(|| text("Test Input"));
    // A flat table has the test's columns in every row.
    let is_same = id.is_some() && runs.last().is_some_and(|run| run["row"] == json!(id));
    if let Some(id) = id.filter(|_| !is_same) {
        let mut run = json!({
            "row": id, "run_id": cell("Test Result Id"), "test": cell("Test Id"), "place": "", "hash": "", "weight": 1.0,
            "repetition": 1, "trace_id": "", "input": value_of(block.cell(row, "Test Input")),
            "checks": [], "values": {}
        });
        let is_error = cell("Test Status").eq_ignore_ascii_case("error");
        if is_error || !cell("Test Error Message").is_empty() {
            run["error"] = cell("Test Error Message").into();
        }
        if let Some(output) = text("LLM Output") {
            run["output"] = output.into();
        }
        for (key, name) in [("in_tokens", "In Tokens"), ("out_tokens", "Out Tokens")] {
            if let Some(count) = number(cell(name), name)? {
                run[key] = (count.round() as i64).into();
            }
        }
        if let Some(seconds) = number(cell("Duration"), "Duration")? {
            run["duration_ms"] = (seconds * 1e3).into();
        }
        runs.push(run);
    }
    let run =
        runs.last_mut().ok_or("no test stands above this row: it has neither Test Id nor Test Input")?;
    for (kept, keys, values) in [
        ("input_context", "Input Context Keys", "Input Context Values"),
        ("output_context", "Output Context Keys", "Output Context Values"),
    ] {
        let Some(key) = text(keys) else { continue };
        if run[kept].is_null() {
            run[kept] = json!({});
        }
        run[kept][key] = value_of(block.cell(row, values));
    }
    // Every row of a flat table has the first file.
    if let Some(file) = text("Files") {
        listed(run, "files", file.into());
    }
    let checks = run["checks"].as_array_mut().ok_or("the test has no list of checks")?;
    if text("Operator").is_some() {
        checks.push(check(block, row)?);
    } else if let Some(kind) = text("Example Type") {
        let above = checks.last_mut().ok_or("no check stands above this example")?;
        listed(
            above,
            "examples",
            json!({"type": kind.to_lowercase(), "text": block.cell(row, "Example Value")}),
        );
    }
    Ok(())
}

/// Puts a value at the end of a list, unless it is there.
fn listed(of: &mut Json, key: &str, value: Json) {
    match of[key].as_array_mut() {
        None => of[key] = json!([value]),
        Some(all) if all.contains(&value) => {}
        Some(all) => all.push(value),
    }
}

fn check(block: &Block, row: &[String]) -> Result<Json, String> {
    let cell = |name: &str| block.cell(row, name).trim();
    let weight = number(cell("Weight"), "Weight")?.unwrap_or(1.0);
    let auto = cell("Auto Eval").to_lowercase();
    let edited = cell("Edited Auto Eval").to_lowercase();
    let (status, value) = verdict(if edited.is_empty() { &auto } else { &edited })?;
    let mut check = json!({
        "operator": cell("Operator"), "category": cell("Category"), "weight": weight, "counts": weight > 0.0,
        "status": status, "engine": "", "feedback": block.cell(row, "Feedback")
    });
    for (key, name) in [("criteria", "Criteria"), ("extracted", "Extractor")] {
        let text = block.cell(row, name);
        if !text.is_empty() {
            check[key] = text.into();
        }
    }
    if let Some(value) = value {
        check["value"] = value.into();
    }
    if !cell("Example Type").is_empty() {
        let example =
            json!({"type": cell("Example Type").to_lowercase(), "text": block.cell(row, "Example Value")});
        listed(&mut check, "examples", example);
    }
    if !cell("Conditional Operator").is_empty() {
        check["condition"] = json!({"operator": cell("Conditional Operator"), "criteria": block.cell(row, "Conditional Criteria")});
    }
    if !edited.is_empty() {
        check["auto_eval"] = auto.into();
        check["edited_feedback"] = block.cell(row, "Edited Auto Eval Feedback").into();
    }
    match cell("Confidence Level").to_lowercase().as_str() {
        "" => {}
        level @ ("high" | "low") => check["confidence"] = level.into(),
        other => return Err(format!("Confidence Level {other:?} is neither high nor low")),
    }
    Ok(check)
}

/// A word, or a number: 1 passes and 0 fails; what lies between is a value and no verdict.
fn verdict(word: &str) -> Result<(&'static str, Option<f64>), String> {
    match word {
        "pass" | "true" | "yes" => Ok(("pass", None)),
        "fail" | "false" | "no" => Ok(("fail", None)),
        "error" => Ok(("error", None)),
        "skipped" | "" => Ok(("skipped", None)),
        other => match other.parse::<f64>() {
            Ok(value) if value == 1.0 => Ok(("pass", Some(value))),
            Ok(value) if value == 0.0 => Ok(("fail", Some(value))),
            Ok(value) if value.is_finite() => Ok(("skipped", Some(value))),
            _ => Err(format!("Auto Eval {other:?} is neither pass nor fail nor a number")),
        },
    }
}

fn number(cell: &str, name: &str) -> Result<Option<f64>, String> {
    match cell {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("{name} {text:?} is no number")),
    }
}

/// The verdict of a test from its checks, and what is of no use behind this.
fn judge(run: &mut Json) {
    let checks = run["checks"].as_array().cloned().unwrap_or_default();
    let counted = || checks.iter().filter(|check| check["counts"] == true && check["status"] != "skipped");
    let has = |status: &str| counted().any(|check| check["status"] == status);
    let status = match () {
        () if run.get("error").is_some() || has("error") => "error",
        () if has("fail") => "fail",
        () if has("pass") => "pass",
        () => "skipped",
    };
    let weight = |check: &&Json| check["weight"].as_f64().unwrap_or(1.0);
    let all: f64 = counted().map(|check| weight(&check)).sum();
    let passed: f64 = counted().filter(|check| check["status"] == "pass").map(|check| weight(&check)).sum();
    run["status"] = status.into();
    run["score"] = if all > 0.0 { (passed / all).into() } else { Json::Null };
    if let Some(run) = run.as_object_mut() {
        run.shift_remove("row");
    }
}

fn report(head: &Block, row: &[String], runs: Vec<Json>) -> Json {
    let cell = |name: &str| head.cell(row, name);
    let is_error = cell("Run Status").eq_ignore_ascii_case("error");
    let parameters = dict(cell("Run Parameters"));
    let target = parameters.get("target").cloned().unwrap_or_else(|| parameters.clone());
    let mut report = json!({
        "format": FORMAT, "suite": cell("Test Suite Title"), "target": target, "completed_at": cell("Completed At"),
        "verdict": if is_error { "errors" } else { "held" },
        "summary": {"needs_review": cell("Needs Review Percentage").parse::<f64>().unwrap_or_default()},
        "runs": runs,
    });
    for (key, name) in [
        ("run_id", "Run Id"),
        ("suite_id", "Test Suite Id"),
        ("error", "Run Error Message"),
        ("analysis", "Run Error Analysis"),
    ] {
        if !cell(name).is_empty() {
            report[key] = cell(name).into();
        }
    }
    if !cell("Run Parameters").is_empty() {
        report["parameters"] = parameters;
    }
    report
}

/// Where the head says otherwise than its rows: the rows count.
fn differences(head: &Block, row: &[String], runs: &[Json], name: &str) -> Vec<String> {
    let checks: Vec<&Json> = runs
        .iter()
        .flat_map(|run| run["checks"].as_array().into_iter().flatten())
        .filter(|check| check["counts"] == true && check["status"] != "skipped")
        .collect();
    let tests: Vec<&Json> = runs.iter().filter(|run| run["status"] != "skipped").collect();
    let mut told = Vec::new();
    for (column, all) in [("Percent Of Checks Passed", checks), ("Percent Of Tests Passed", tests)] {
        let passed = all.iter().filter(|one| one["status"] == "pass").count();
        let share = passed as f64 / all.len().max(1) as f64;
        let written = head.cell(row, column).trim().trim_end_matches('%').parse::<f64>().ok();
        if let Some(written) = written
            && (written - share).abs() > NEAR
            && (written / 100.0 - share).abs() > NEAR
        {
            told.push(format!(
                "{name}: {column} is {written}, its rows say {share:.3} ({passed} of {})",
                all.len()
            ));
        }
    }
    told
}

/// An object as JSON, or as Python writes it.
fn dict(text: &str) -> Json {
    let parsed = serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&plain_json(text)).ok());
    parsed.filter(Json::is_object).unwrap_or_else(|| Json::Object(Map::new()))
}

/// Python's notation of data as JSON: single quotes, True, False and None.
fn plain_json(text: &str) -> String {
    let (mut out, mut word, mut quote) = (String::new(), String::new(), None);
    let flush = |word: &mut String, out: &mut String| {
        out.push_str(match word.as_str() {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            other => other,
        });
        word.clear();
    };
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => match chars.next() {
                Some('\'') => out.push('\''),
                Some(next) => out.extend(['\\', next]),
                None => {}
            },
            (Some(open), c) if c == open => {
                out.push('"');
                quote = None;
            }
            (Some(_), '"') => out.push_str("\\\""),
            (Some(_), c) => out.push(c),
            (None, '\'' | '"') => {
                flush(&mut word, &mut out);
                out.push('"');
                quote = Some(c);
            }
            (None, c) if c.is_alphanumeric() => word.push(c),
            (None, c) => {
                flush(&mut word, &mut out);
                out.push(c);
            }
        }
    }
    flush(&mut word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::super::export::{Exported, Form, export};
    use super::super::results::results;
    use super::*;
    use crate::lab::zip;

    /// Results as that system writes them: words in capitals, counts with a point, columns that are missing.
    const THEIRS: &str = "Run Id,Test Suite Id,Test Suite Title,Run Status,Completed At,Run Parameters,Percent Of Checks Passed\n\
        r1,s1,Refunds,Success,2026-01-02T03:04:05Z,\"{'model': 'm', 'it''s': True, 'n': None}\",90\n\n\
        Test Result Id,Test Id,Test Status,Test Input,LLM Output,In Tokens,Duration,Operator,Criteria,Auto Eval,Confidence Level,Weight\n\
        t1,1,success,How long?,\"14 days,\nor more\",12.0,0.5,includes,14 days,Pass,High,2\n\
        ,,,,,,,grammar,,Fail,Low,1\n\
        ,,,,,,,similar,x,0.7,,1\n\
        t2,2,error,Where?,,,,includes,here,Error,,1\n";

    #[test]
    fn results_of_the_other_system_are_read_and_the_rows_count() {
        let (report, told) = read(&THEIRS.replace("it''s", "its"), "r.csv").unwrap();
        let runs = report["runs"].as_array().unwrap();
        assert_eq!((report["suite"].as_str(), runs.len()), (Some("Refunds"), 2));
        assert_eq!(report["parameters"], json!({"model": "m", "its": true, "n": null}));
        assert_eq!(
            (&runs[0]["status"], &runs[0]["in_tokens"], &runs[0]["output"]),
            (&json!("fail"), &json!(12), &json!("14 days,\nor more"))
        );
        let checks = runs[0]["checks"].as_array().unwrap();
        assert_eq!((&checks[0]["confidence"], &checks[1]["confidence"]), (&json!("high"), &json!("low")));
        // A value is no verdict.
        assert_eq!((&checks[2]["status"], &checks[2]["value"]), (&json!("skipped"), &json!(0.7)));
        assert_eq!((&runs[0]["score"], &runs[1]["status"]), (&json!(2.0 / 3.0), &json!("error")));
        assert!(told[0].contains("Percent Of Checks Passed is 90, its rows say 0.333 (1 of 3)"), "{told:?}");
    }

    /// The columns are those of a public file; its README tells which.
    #[test]
    fn a_public_file_of_the_other_system_is_read_whole() {
        let text = include_str!("../../../../tests/fixtures/vals/results.csv");
        let (report, told) = read(text, "results.csv").unwrap();
        assert!(told.is_empty(), "{told:?}");
        assert_eq!(report["completed_at"], "2025-07-22 19:24:02.291794+00:00");
        assert_eq!(report["target"]["model_under_test"], "gpt-4o-mini");
        assert_eq!(report["parameters"]["run_confidence_evaluation"], true);
        assert_eq!(report["analysis"], "The answers say more than they were asked.\n");
        let run = &report["runs"][0];
        assert!(run["output"].as_str().unwrap().contains("every \"regional\" one.\n\n- Buses"), "{run}");
        assert_eq!((&run["in_tokens"], &run["duration_ms"]), (&json!(12), &json!(7780.0)));
        let said =
            |check: &Json| (check["operator"].clone(), check["status"].clone(), check["confidence"].clone());
        let checks: Vec<_> = run["checks"].as_array().unwrap().iter().map(said).collect();
        let wanted = |operator: &str, status: &str| (json!(operator), json!(status), json!("high"));
        assert_eq!(checks, [wanted("equals", "fail"), wanted("grammar", "pass")]);
        assert_eq!((&run["status"], &run["score"]), (&json!("fail"), &json!(0.5)));
    }

    #[test]
    fn files_contexts_examples_conditions_and_edits_come_back() {
        let text = "Test Result Id,Test Id,Test Status,Test Input,LLM Output,Files,Input Context Keys,Input Context Values,\
            Output Context Keys,Output Context Values,Operator,Criteria,Auto Eval,Edited Auto Eval,Edited Auto Eval Feedback,\
            Example Type,Example Value,Conditional Operator,Conditional Criteria\n\
            t1,1,success,How long?,14 days,documents/a.pdf,town,Bonn,tokens,7,includes,14 days,pass,fail,it is 30,positive,two weeks,includes,days\n\
            ,,,,,documents/b.pdf,street,,,,,,,,,negative,a month,,\n\
            ,,,,,,,,,,is_safe,,pass,,,,,,\n\
            t2,2,success,Where?,here,,,,,,is_safe,,pass,,,,,,\n";
        let (report, _) = read(text, "r.csv").unwrap();
        let (run, check) = (&report["runs"][0], &report["runs"][0]["checks"][0]);
        assert_eq!(run["files"], json!(["documents/a.pdf", "documents/b.pdf"]));
        assert_eq!(run["input_context"], json!({"town": "Bonn", "street": ""}));
        assert_eq!(run["output_context"]["tokens"], value_of("7"));
        assert_eq!(check["examples"][1], json!({"type": "negative", "text": "a month"}));
        assert_eq!(check["condition"], json!({"operator": "includes", "criteria": "days"}));
        assert_eq!((&check["status"], &check["auto_eval"]), (&json!("fail"), &json!("pass")));
        assert_eq!((run["checks"].as_array().unwrap().len(), run["status"].as_str()), (2, Some("fail")));
        let written = results(&report, false).unwrap();
        let (again, told) = read(&written, "r.csv").unwrap();
        assert!(told.is_empty(), "{told:?}");
        assert_eq!(again["runs"], report["runs"], "{written}");
        assert_eq!(results(&again, false).unwrap(), written);
        let (bytes, _) = export(Exported::Results(&report), Form::Zip).unwrap();
        let files = zip::read(&bytes).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["results.csv", "results.flat.csv", "results.json"]);
        assert_eq!(files["results.csv"], written.into_bytes());
    }

    #[test]
    fn every_fault_of_results_has_its_line() {
        let wrong = THEIRS.replace("Pass,High", "Perhaps,High").replace("Fail,Low", "Fail,Middling");
        let told = read(&wrong, "r.csv").unwrap_err().to_string();
        assert!(
            told.contains("r.csv:5: Auto Eval \"perhaps\"") && told.contains("r.csv:7: Confidence Level"),
            "{told}"
        );
        let none = read("Run Id,Test Suite Id,Run Status\n1,2,success\n", "r.csv").unwrap_err().to_string();
        assert!(none.contains("no results"), "{none}");
    }

    /// Ids, title, status, time and parameters of a run are those that came in, and not ours; shares are counted again.
    #[test]
    fn a_run_keeps_its_ids_and_parameters() {
        let theirs =
            THEIRS.replace("it''s", "its").replacen("Run Status,", "Run Status,Run Error Analysis,", 1);
        let theirs = theirs.replacen("Success,", "Success,it is rude,", 1);
        let (report, _) = read(&theirs, "r.csv").unwrap();
        for flat in [false, true] {
            let text = results(&report, flat).unwrap();
            let of = |text: &str| blocks(text, &[RUN, TEST, CHECK], "r.csv", &mut Faults::default());
            let (came, went) = (of(&theirs), of(&text));
            let (came, went) = (&came[0], &went[0]);
            let (before, after) = (&came.rows[0].1, &went.rows[0].1);
            for name in ["Run Id", "Test Suite Id", "Test Suite Title", "Completed At", "Run Error Analysis"]
            {
                assert_eq!(came.cell(before, name), went.cell(after, name), "{name}: {text}");
            }
            let parameters =
                [came.cell(before, "Run Parameters"), went.cell(after, "Run Parameters")].map(dict);
            assert_eq!(parameters[0], parameters[1], "{text}");
            assert_eq!(parameters[1]["model"], "m");
        }
    }

    #[test]
    fn what_is_exported_comes_back_to_the_same_bytes() {
        let (first, _) = read(&THEIRS.replace("it''s", "its"), "r.csv").unwrap();
        for flat in [false, true] {
            let text = results(&first, flat).unwrap();
            let (again, told) = read(&text, "r.csv").unwrap();
            assert!(told.is_empty(), "{told:?}");
            assert_eq!(results(&again, flat).unwrap(), text);
        }
    }
}
