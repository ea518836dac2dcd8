//! A suite as a configuration of promptfoo, as JSON: what has no form there is told.

use super::super::operator::find;
use super::super::spans::whole;
use super::super::spec::{CheckSpec, HeadSpec, TestSpec};
use super::promptfoo::{AT_MOST, KEPT, NAMES};
use serde_json::{Map, Value as Json, json};

/// Operators of ours that are assertions there under another name; beside those that are read from there.
const ALSO: &[(&str, &str)] = &[
    ("includes_exactly", "contains"),
    ("excludes_exactly", "not-contains"),
    ("valid_json", "is-json"),
    ("satisfies_statement", "llm-rubric"),
];
/// Operators that have the same name on both sides.
const SAME: &[&str] = &[
    "contains",
    "contains-all",
    "contains-any",
    "contains-json",
    "cost",
    "factuality",
    "finish-reason",
    "icontains",
    "icontains-all",
    "icontains-any",
    "is-json",
    "is-refusal",
    "is-sql",
    "is-valid-openai-tools-call",
    "is-xml",
    "latency",
    "levenshtein",
    "llm-rubric",
    "model-graded-closedqa",
    "regex",
    "similar",
    "starts-with",
    "tool-call-f1",
    "trajectory:step-count",
    "trajectory:tool-args-match",
    "trajectory:tool-sequence",
    "trajectory:tool-used",
    "word-count",
];

/// Writes a suite. Prompts and providers are not among it: a suite of ours asks a target.
pub(super) fn write(
    head: &HeadSpec,
    common: &[CheckSpec],
    tests: &[TestSpec],
    warnings: &mut Vec<String>,
) -> Result<String, String> {
    let is_theirs = head.source == "promptfoo";
    let mut suite = Map::new();
    if !head.description.is_empty() {
        suite.insert("description".to_owned(), head.description.as_str().into());
    }
    let mut shared = Map::new();
    let asserts = asserts(common, "every test", is_theirs, warnings);
    if !asserts.is_empty() {
        shared.insert("assert".to_owned(), asserts.into());
    }
    if let Some(threshold) = head.threshold {
        shared.insert("threshold".to_owned(), json!(threshold));
    }
    if !shared.is_empty() {
        suite.insert("defaultTest".to_owned(), Json::Object(shared));
    }
    let tests = tests.iter().map(|test| written(test, is_theirs, warnings));
    suite.insert("tests".to_owned(), tests.collect());
    serde_json::to_string_pretty(&suite).map(|text| text + "\n").map_err(|e| e.to_string())
}

fn written(test: &TestSpec, is_theirs: bool, warnings: &mut Vec<String>) -> Json {
    let place = format!("test {:?}", test.id);
    let without = [
        ("right_answer", test.right_answer.is_some()),
        ("output", test.output.is_some()),
        ("contexts", !test.contexts.is_empty()),
        ("expected_documents", !test.expected_documents.is_empty()),
        ("constraints", test.constraints.is_some()),
        ("system_prompt", test.system_prompt.is_some()),
        ("history", !test.history.is_empty()),
        ("tags", !test.tags.is_empty()),
        ("files", !test.files.is_empty()),
        ("weight", test.weight.is_some()),
        ("group", !test.group.is_empty()),
        ("context", !test.context.is_empty()),
    ];
    let lost: Vec<&str> =
        without.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect();
    if !lost.is_empty() {
        warnings.push(format!("{place}: {} left out: this format has no place for it", lost.join(", ")));
    }
    let mut out = Map::new();
    let mut metadata: Map<String, Json> = test.metadata.clone().into_iter().collect();
    if let Some(description) = metadata.shift_remove("description") {
        out.insert("description".to_owned(), description);
    }
    let vars = if test.input.is_object() { test.input.clone() } else { json!({ "input": test.input }) };
    out.insert("vars".to_owned(), vars);
    let asserts = asserts(&test.check, &place, is_theirs, warnings);
    if !asserts.is_empty() {
        out.insert("assert".to_owned(), asserts.into());
    }
    if let Some(threshold) = test.threshold {
        out.insert("threshold".to_owned(), json!(threshold));
    }
    if !metadata.is_empty() {
        out.insert("metadata".to_owned(), Json::Object(metadata));
    }
    Json::Object(out)
}

fn asserts(checks: &[CheckSpec], place: &str, is_theirs: bool, warnings: &mut Vec<String>) -> Vec<Json> {
    let one = |check: &CheckSpec| match assert(check, is_theirs) {
        Ok((assert, lost)) => {
            if !lost.is_empty() {
                warnings.push(format!("{place}: {} of a check left out", lost.join(", ")));
            }
            Some(assert)
        }
        Err(why) => {
            warnings.push(format!("{place}: {why}: the check is left out"));
            None
        }
    };
    checks.iter().filter_map(one).collect()
}

/// An assertion, and what of the check it lacks.
///
/// # Errors
/// Why there is no such assertion.
fn assert(check: &CheckSpec, is_theirs: bool) -> Result<(Json, Vec<&'static str>), String> {
    let without = [
        ("id", !check.id.is_empty()),
        ("optional", check.optional),
        ("engine", !check.engine.is_empty()),
        ("votes", check.votes.is_some()),
        ("extract", check.extract.is_some()),
        ("if", check.condition.is_some()),
        ("examples", !check.examples.is_empty()),
    ];
    let mut lost: Vec<&'static str> =
        without.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect();
    let mut out = Map::new();
    if check.operator.is_empty() {
        lost.extend(set(check, is_theirs, &mut out)?);
    } else {
        single(check, is_theirs, &mut out)?;
    }
    if let Some(weight) = check.weight {
        out.insert("weight".to_owned(), json!(weight));
    }
    if !check.category.is_empty() {
        out.insert("metric".to_owned(), check.category.as_str().into());
    }
    Ok((Json::Object(out), lost))
}

/// Several checks of which so many must pass.
fn set(check: &CheckSpec, is_theirs: bool, out: &mut Map<String, Json>) -> Result<Vec<&'static str>, String> {
    let (inner, least) = match check.any_of.is_empty() {
        true => (&check.all_of, check.at_least.unwrap_or(check.all_of.len())),
        false => (&check.any_of, check.at_least.unwrap_or(1)),
    };
    let mut lost = Vec::new();
    let mut asserts = Vec::with_capacity(inner.len());
    for check in inner {
        let (assert, more) = assert(check, is_theirs)?;
        asserts.push(assert);
        lost.extend(more);
    }
    out.insert("type".to_owned(), "assert-set".into());
    if least != inner.len() {
        let (least, all) = (least as f64, inner.len() as f64);
        let share = least / all;
        // Rounding must not ask for one more.
        let share = if (share * all).ceil() > least { (least - 0.5) / all } else { share };
        out.insert("threshold".to_owned(), json!(share));
    }
    out.insert("assert".to_owned(), asserts.into());
    Ok(lost)
}

fn single(check: &CheckSpec, is_theirs: bool, out: &mut Map<String, Json>) -> Result<(), String> {
    let operator = check.operator.as_str();
    if let Some(kind) = operator.strip_prefix(KEPT) {
        let base = kind.strip_prefix("not-").unwrap_or(kind);
        out.insert("type".to_owned(), kind.into());
        return bounded(check, AT_MOST.contains(&base), out);
    }
    let (negation, base) = match operator.strip_prefix("not-") {
        Some(base) => ("not-", base),
        None => ("", operator),
    };
    if let Some(measure) = find(base).and_then(|operator| operator.measure()) {
        let value = whole(measure, check.criteria.as_ref(), (check.min, check.max))?;
        out.insert("type".to_owned(), operator.into());
        if check.criteria.is_some() || !value.is_empty() {
            out.insert("value".to_owned(), without_input(&Json::Object(value)));
        }
        return Ok(());
    }
    if base == "trajectory:step-count" {
        let bounds = [("min", check.min), ("max", check.max)];
        let bounds = bounds.into_iter().filter_map(|(key, bound)| Some((key.to_owned(), json!(bound?))));
        out.insert("type".to_owned(), operator.into());
        out.insert("value".to_owned(), Json::Object(bounds.collect()));
        return Ok(());
    }
    let theirs = NAMES.iter().find(|(_, ours)| *ours == base).map(|(theirs, _)| *theirs);
    let theirs = theirs.or_else(|| ALSO.iter().find(|(ours, _)| *ours == base).map(|(_, theirs)| *theirs));
    let kind = match base {
        "matches_json_schema" => "is-json",
        "trajectory:exact" => "trajectory:tool-sequence",
        same if SAME.contains(&same) || (is_theirs && find(same).is_none()) => same,
        other => theirs.ok_or_else(|| format!("{other} is no assertion of promptfoo"))?,
    };
    // Two negations are none.
    let kind = match (negation, kind.strip_prefix("not-")) {
        ("not-", Some(plain)) => plain.to_owned(),
        _ => format!("{negation}{kind}"),
    };
    out.insert("type".to_owned(), kind.into());
    bounded(check, AT_MOST.contains(&base), out)?;
    if let Some(value) = out.get_mut("value") {
        *value = match (base, value.take()) {
            ("trajectory:exact", steps) => json!({ "mode": "exact", "steps": steps }),
            ("trajectory:tool-sequence", steps) => json!({ "steps": steps }),
            ("trajectory:tool-used" | "trajectory:tool-args-match", Json::Array(mut calls))
                if calls.len() == 1 && calls[0].is_object() =>
            {
                calls.swap_remove(0)
            }
            (_, value) => value,
        };
    }
    Ok(())
}

/// Adds the value and the threshold.
///
/// # Errors
/// When the check has a bound on the other side.
fn bounded(check: &CheckSpec, is_most: bool, out: &mut Map<String, Json>) -> Result<(), String> {
    let (threshold, other) = if is_most { (check.max, check.min) } else { (check.min, check.max) };
    if other.is_some() {
        let (has, takes) = if is_most { ("min", "max") } else { ("max", "min") };
        return Err(format!(
            "{} has a {has}, and a threshold of promptfoo is a {takes} there",
            check.operator
        ));
    }
    if let Some(criteria) = &check.criteria {
        out.insert("value".to_owned(), without_input(criteria));
    }
    if let Some(threshold) = threshold {
        out.insert("threshold".to_owned(), json!(threshold));
    }
    Ok(())
}

/// `{{input.name}}` is `{{name}}` there.
fn without_input(value: &Json) -> Json {
    match value {
        Json::String(text) => text.replace("{{input.", "{{").into(),
        Json::Array(items) => items.iter().map(without_input).collect(),
        Json::Object(of) => of.iter().map(|(key, value)| (key.clone(), without_input(value))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fault::Faults;
    use super::super::promptfoo_files::read;
    use super::*;

    /// The suite of a configuration: head, common checks and tests.
    fn suite(config: &Json) -> (HeadSpec, Vec<CheckSpec>, Vec<TestSpec>) {
        let mut faults = Faults::default();
        let none = |_: &str| Err::<String, String>("no files".to_owned());
        let imported = read(config, "p.json", &none, &mut faults);
        assert!(faults.is_empty(), "{faults}");
        let tests = imported.tests.iter().map(|(test, _)| test.clone()).collect();
        (imported.spec.suite, imported.spec.check, tests)
    }

    #[test]
    fn what_maps_comes_back_as_it_was() {
        let config = json!({
            "description": "d",
            "defaultTest": {"assert": [{"type": "latency", "threshold": 2000.0}, {"type": "not-is-refusal"}], "threshold": 0.5},
            "tests": [
                {"description": "one", "vars": {"q": "Who?", "n": 3}, "metadata": {"lang": "en"}, "threshold": 0.75, "assert": [
                    {"type": "equals", "value": "Stoker {{ n }}", "weight": 2.0, "metric": "Facts"},
                    {"type": "not-contains", "value": "Shelley"},
                    {"type": "similar", "value": "x", "threshold": 0.8},
                    {"type": "is-json", "value": {"type": "object"}},
                    {"type": "is-json"},
                    {"type": "context-faithfulness", "threshold": 0.9},
                    {"type": "contains-any", "value": ["a", "b"]},
                    {"type": "javascript", "value": "output.length < 3"},
                    {"type": "rouge-n", "value": "x", "threshold": 0.3},
                    {"type": "trajectory:step-count", "value": {"min": 1.0, "max": 4.0}},
                    {"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": ["a", "b"]}},
                    {"type": "trajectory:tool-sequence", "value": {"steps": ["a"]}},
                    {"type": "trajectory:tool-used", "value": {"name": "search"}},
                    {"type": "trajectory:tool-args-match", "value": {"name": "search", "args": {"for": "{{q}}"}}},
                    {"type": "trace-span-count", "value": {"pattern": "{{q}} *", "min": 1, "max": 3}},
                    {"type": "not-trace-span-duration", "value": {"max": 900, "percentile": 95}},
                    {"type": "trace-error-spans", "value": {"max_percentage": 5}},
                    {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "icontains", "value": "a"}, {"type": "is-xml"}]},
                    {"type": "assert-set", "assert": [{"type": "is-sql"}]}]},
                {"vars": {}}]
        });
        let (head, common, tests) = suite(&config);
        let mut told = Vec::new();
        let text = write(&head, &common, &tests, &mut told).unwrap();
        assert_eq!(told, [""; 0]);
        let again: Json = serde_json::from_str(&text).unwrap();
        let (head_again, common_again, tests_again) = suite(&again);
        assert_eq!((&common_again, &tests_again), (&common, &tests), "{text}");
        assert_eq!(
            (head_again.threshold, head_again.description),
            (head.threshold, head.description.clone())
        );
        assert_eq!(again["tests"][0]["assert"][0]["value"], "Stoker {{n}}");
        assert_eq!(write(&head, &common_again, &tests_again, &mut told).unwrap(), text);
    }

    #[test]
    fn shares_of_sets_ask_for_as_many_as_before() {
        for count in 1..=40 {
            for least in 1..=count {
                let check = CheckSpec {
                    all_of: vec![CheckSpec { operator: "is-json".to_owned(), ..CheckSpec::default() }; count],
                    at_least: Some(least),
                    ..CheckSpec::default()
                };
                let (assert, _) = assert(&check, false).unwrap();
                let config = json!({"tests": [{"vars": {}, "assert": [assert]}]});
                let (_, _, tests) = suite(&config);
                assert_eq!(tests[0].check[0].at_least, Some(least), "{least} of {count}");
            }
        }
    }

    #[test]
    fn what_has_no_form_there_is_told() {
        let check = |operator: &str| CheckSpec { operator: operator.to_owned(), ..CheckSpec::default() };
        let plain = CheckSpec { criteria: Some("a".into()), votes: Some(3), ..check("includes_exactly") };
        let bound = CheckSpec { min: Some(1.0), ..check("latency") };
        let test = TestSpec {
            id: "t".to_owned(),
            input: "Who?".into(),
            right_answer: Some("Stoker".into()),
            check: vec![plain, check("includes_only"), bound],
            ..TestSpec::default()
        };
        let mut told = Vec::new();
        let text = write(&HeadSpec::default(), &[], &[test], &mut told).unwrap();
        let wanted =
            json!({"tests": [{"vars": {"input": "Who?"}, "assert": [{"type": "contains", "value": "a"}]}]});
        assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), wanted);
        for part in [
            "right_answer left out",
            "votes of a check",
            "includes_only is no assertion",
            "latency has a min",
        ] {
            assert!(told.iter().any(|one| one.contains(part)), "{part}: {told:?}");
        }
    }
}
