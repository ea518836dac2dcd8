//! Assertions and tables of promptfoo. Code that they hold is not run.

use super::super::fault::{Faults, SourceLine};
use super::super::operator::find;
use super::super::spec::{CheckSpec, TestSpec};
use super::imported::Imported;
use crate::lab::template::plain;
use serde_json::{Map, Value as Json};

/// Assertions that have another name here.
pub(super) const NAMES: &[(&str, &str)] = &[
    // There `equals` compares letters, here it compares what is meant.
    ("equals", "equals_exactly"),
    ("answer-relevance", "answers"),
    ("context-faithfulness", "is_not_hallucinating"),
    ("is-valid-json", "is-json"),
];
/// Assertions whose threshold is the most that may be, and not the least that must.
pub(super) const AT_MOST: &[&str] = &["levenshtein", "cost", "latency"];
/// What stands before the name of an assertion that is kept and not run.
pub(super) const KEPT: &str = "promptfoo:";
/// Assertions that are code.
const CODE: &[&str] = &["javascript", "python", "ruby", "fn", "eval", "webhook"];

/// Whether a text is such a file of tests.
pub(super) fn is_csv(text: &str) -> bool {
    text.lines()
        .next()
        .unwrap_or_default()
        .split(',')
        .any(|cell| cell.trim_matches(['"', ' ']).starts_with("__expected"))
}

pub(super) fn started(description: &str) -> Imported {
    let mut imported = Imported::default();
    imported.spec.suite.source = "promptfoo".to_owned();
    imported.spec.suite.description = description.to_owned();
    imported
}

pub(super) fn asserts(
    test: &Json,
    place: &str,
    faults: &mut Faults,
    warnings: &mut Vec<String>,
) -> Vec<CheckSpec> {
    let asserts = test.get("assert").and_then(Json::as_array).cloned().unwrap_or_default();
    let read = asserts.iter().enumerate().filter_map(|(at, assert)| {
        let read = assert
            .as_object()
            .ok_or("it is no object".to_owned())
            .and_then(|assert| one(assert, place, warnings));
        read.map_err(|why| faults.add(format!("{place}: assert[{at}]: {why}"))).ok()
    });
    read.collect()
}

fn one(assert: &Map<String, Json>, place: &str, warnings: &mut Vec<String>) -> Result<CheckSpec, String> {
    let kind = assert.get("type").and_then(Json::as_str).ok_or("it has no type")?;
    let number = |key: &str| assert.get(key).and_then(Json::as_f64);
    let weight = number("weight");
    let category = assert.get("metric").and_then(Json::as_str).unwrap_or_default().to_owned();
    if kind == "assert-set" {
        let inner = assert.get("assert").and_then(Json::as_array).ok_or("an assert-set has a list assert")?;
        let checks: Result<Vec<CheckSpec>, String> = inner
            .iter()
            .map(|inner| one(inner.as_object().ok_or("it is no object")?, place, warnings))
            .collect();
        let checks = checks?;
        let share = number("threshold").unwrap_or(1.0).clamp(0.0, 1.0);
        let at_least = ((share * checks.len() as f64).ceil() as usize).max(1);
        return Ok(CheckSpec {
            all_of: checks,
            at_least: Some(at_least),
            weight,
            category,
            ..CheckSpec::default()
        });
    }
    let value = assert.get("value").filter(|value| !value.is_null());
    let mut check = asserted(kind, value.map(with_vars), number("threshold"));
    (check.weight, check.category) = (weight, category);
    let base = kind.strip_prefix("not-").unwrap_or(kind);
    if CODE.contains(&base) || value.and_then(Json::as_str).is_some_and(|text| text.starts_with("file://")) {
        warnings.push(format!(
            "{place}: {kind} is code or a file, and is not run: write a plug-in (docs/plugins.md)"
        ));
        // A name that no operator has: it stays in the file, and is an error when it runs.
        check.operator = format!("{KEPT}{kind}");
    }
    Ok(check)
}

/// A check out of type, value and threshold.
fn asserted(kind: &str, value: Option<Json>, threshold: Option<f64>) -> CheckSpec {
    let (negation, base) = match kind.strip_prefix("not-") {
        Some(base) => ("not-", base),
        None => ("", kind),
    };
    let base = NAMES.iter().find(|(theirs, _)| *theirs == base).map_or(base, |(_, ours)| *ours);
    let (base, value) = of_ours(base, value);
    let mut check = CheckSpec { operator: format!("{negation}{base}"), ..CheckSpec::default() };
    // Their bounds stand in the value, and a threshold says nothing.
    if find(base).is_some_and(|operator| operator.measure().is_some()) {
        check.criteria = value;
        return check;
    }
    if let Some(Json::Object(bounds)) = value.as_ref().filter(|_| base == "trajectory:step-count") {
        let bound = |key: &str| bounds.get(key).and_then(Json::as_f64);
        (check.min, check.max) = (bound("min"), bound("max"));
        return check;
    }
    if AT_MOST.contains(&base) {
        check.max = threshold
    } else {
        check.min = threshold
    }
    let is_unary = find(base).is_some_and(|operator| operator.is_unary);
    if !is_unary {
        check.criteria = value;
    }
    check
}

/// What is one assertion there and several operators here.
fn of_ours(base: &str, value: Option<Json>) -> (&str, Option<Json>) {
    match (base, value) {
        // With a schema it asks for more than JSON.
        ("is-json", Some(schema @ Json::Object(_))) => ("matches_json_schema", Some(schema)),
        ("trajectory:tool-sequence", Some(Json::Object(of))) if of.contains_key("steps") => {
            let is_exact = of.get("mode").is_some_and(|mode| mode == "exact");
            let base = if is_exact { "trajectory:exact" } else { base };
            (base, of.get("steps").cloned())
        }
        ("trajectory:tool-used" | "trajectory:tool-args-match", Some(call @ Json::Object(_))) => {
            (base, Some(Json::Array(vec![call])))
        }
        (_, value) => (base, value),
    }
}

/// `{{name}}` is `{{input.name}}` here.
fn with_vars(value: &Json) -> Json {
    match value {
        Json::String(text) => {
            let mut out = String::new();
            let mut rest = text.as_str();
            while let Some((before, after)) = rest.split_once("{{") {
                let Some((name, after)) = after.split_once("}}") else { break };
                out.push_str(&format!("{before}{{{{input.{}}}}}", name.trim()));
                rest = after;
            }
            Json::String(out + rest)
        }
        Json::Array(items) => Json::Array(items.iter().map(with_vars).collect()),
        Json::Object(of) => of.iter().map(|(key, value)| (key.clone(), with_vars(value))).collect(),
        other => other.clone(),
    }
}

/// Reads a file of tests: columns are variables, those that begin with two underscores are assertions and settings.
pub(super) fn read_csv(text: &str, name: &str, faults: &mut Faults) -> Imported {
    let mut imported = started("");
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let heads: Vec<String> = match reader.headers() {
        Ok(heads) => heads.iter().map(|head| head.trim().to_owned()).collect(),
        Err(error) => {
            faults.add(format!("{name}: {error}"));
            return imported;
        }
    };
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                faults.add(format!("{name}: {error}"));
                continue;
            }
        };
        let line = record.position().map_or(0, |at| usize::try_from(at.line()).unwrap_or(0));
        let place = SourceLine { file: name.to_owned(), line };
        let (mut test, mut vars) = (TestSpec::default(), Map::new());
        for (head, cell) in heads.iter().zip(record.iter()).filter(|(_, cell)| !cell.is_empty()) {
            if head.starts_with("__expected") {
                test.check.push(expression(cell, &place, &mut imported.warnings));
            } else if let Some(key) = head.strip_prefix("__metadata:") {
                test.metadata.insert(key.to_owned(), cell.into());
            } else if head == "__threshold" {
                match cell.trim().parse() {
                    Ok(threshold) => test.threshold = Some(threshold),
                    Err(_) => faults.add(format!("{place}: __threshold {cell:?} is no number")),
                }
            } else if head == "__description" {
                test.metadata.insert("description".to_owned(), cell.into());
            } else if head.starts_with("__") {
                imported.warnings.push(format!("{place}: {head} is not read"));
            } else {
                vars.insert(head.clone(), cell.into());
            }
        }
        test.input = Json::Object(vars);
        imported.tests.push((test, place));
    }
    imported
}

/// `contains: text`, `similar(0.8): text`; anything else is the whole answer.
fn expression(cell: &str, place: &SourceLine, warnings: &mut Vec<String>) -> CheckSpec {
    let known = |head: &str| {
        let base = head.strip_prefix("not-").unwrap_or(head);
        find(base).is_some() || CODE.contains(&base) || NAMES.iter().any(|(theirs, _)| *theirs == base)
    };
    let (head, value) = match cell.split_once(':') {
        Some((head, value)) => (head.trim(), value.trim()),
        None => (cell.trim(), ""),
    };
    let (kind, threshold) = match head.split_once('(') {
        Some((kind, rest)) => (kind.trim(), rest.trim_end_matches(')').trim().parse::<f64>().ok()),
        None => (head, None),
    };
    if !known(kind) {
        return asserted("equals", Some(with_vars(&Json::String(cell.to_owned()))), None);
    }
    let mut check = asserted(kind, Some(with_vars(&Json::String(value.to_owned()))), threshold);
    if CODE.contains(&kind) {
        warnings.push(format!("{place}: {kind} is code, and is not run: write a plug-in (docs/plugins.md)"));
        check.operator = format!("{KEPT}{kind}");
    }
    if check.criteria.as_ref().is_some_and(|criteria| plain(criteria).is_empty()) {
        check.criteria = None;
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_of_tests_has_its_assertions_in_columns() {
        let text = "q,__expected,__expected2,__metadata:lang,__threshold\nWho?,contains: Stoker,similar(0.8): x,en,0.5\nYes or no: which?,yes: surely,is-json,,\n";
        let mut faults = Faults::default();
        assert!(is_csv(text));
        let imported = read_csv(text, "p.csv", &mut faults);
        assert!(faults.is_empty(), "{faults}");
        let (first, second) = (&imported.tests[0].0, &imported.tests[1].0);
        assert_eq!((&first.input, first.check.len(), first.threshold), (&json!({"q": "Who?"}), 2, Some(0.5)));
        assert_eq!((first.check[1].min, first.metadata["lang"].as_str()), (Some(0.8), Some("en")));
        assert_eq!(second.check[0].criteria, Some(json!("yes: surely")));
        assert_eq!((second.check[1].operator.as_str(), &second.check[1].criteria), ("is-json", &None));
    }

    #[test]
    fn what_is_wanted_of_spans_stands_in_a_cell() {
        let text = "q,__expected,__expected2\nWho?,\"trace-span-count: {\"\"pattern\"\": \"\"{{q}}*\"\", \"\"max\"\": 2}\",trace-error-spans: 1\n\
                    Why?,not-trace-error-spans,trace-span-duration: x*\n";
        let mut faults = Faults::default();
        let imported = read_csv(text, "p.csv", &mut faults);
        assert!(faults.is_empty() && imported.warnings.is_empty(), "{faults}");
        let checks: Vec<(&str, Json)> = imported
            .tests
            .iter()
            .flat_map(|(test, _)| &test.check)
            .map(|check| (check.operator.as_str(), check.criteria.clone().unwrap_or_default()))
            .collect();
        let wanted = [
            ("trace-span-count", json!("{\"pattern\": \"{{input.q}}*\", \"max\": 2}")),
            ("trace-error-spans", json!("1")),
            ("not-trace-error-spans", Json::Null),
            ("trace-span-duration", json!("x*")),
        ];
        assert_eq!(checks, wanted);
    }
}
