//! Test suites of H2O Eval Studio as JSON: tests with documents, each with its test cases.

use super::super::fault::{Faults, SourceLine};
use super::super::spec::{CheckSpec, HeadSpec, TestSpec, Unmet};
use super::imported::Imported;
use crate::lab::condition::{constraints_of, text_of};
use crate::lab::template::plain;
use serde_json::{Map, Value as Json, json};

/// What of a test case has no place of its own here stands in its metadata under this key.
const KEPT: &str = "h2o";

/// Whether an object is such a suite.
pub(super) fn is_suite(json: &Json) -> bool {
    let tests = json.get("tests").and_then(Json::as_array);
    tests.is_some_and(|tests| tests.iter().any(|test| test.get("test_cases").is_some()))
}

/// Reads a suite; a test case that is wrong is told with its place.
pub(super) fn read(json: &Json, name: &str, faults: &mut Faults) -> Imported {
    let mut imported = Imported::default();
    let text = |of: &Json, key: &str| of.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    imported.spec.suite = HeadSpec {
        name: text(json, "name"),
        description: text(json, "description"),
        source: "h2o".to_owned(),
        condition: Unmet::Pass,
        ..HeadSpec::default()
    };
    for (at, test) in json["tests"].as_array().into_iter().flatten().enumerate() {
        let cases = test.get("test_cases").and_then(Json::as_array);
        for (inner, case) in cases.into_iter().flatten().enumerate() {
            let place = SourceLine { file: format!("{name}: tests[{at}].test_cases[{inner}]"), line: 0 };
            match read_case(test, case, &place, &mut imported.warnings) {
                Ok(spec) => imported.tests.push((spec, place)),
                Err(why) => faults.add(format!("{place}: {why}")),
            }
        }
    }
    imported
}

fn read_case(
    test: &Json,
    case: &Json,
    place: &SourceLine,
    warnings: &mut Vec<String>,
) -> Result<TestSpec, String> {
    let object = case.as_object().ok_or("a test case is an object")?;
    let prompt = object.get("prompt").and_then(Json::as_str).filter(|prompt| !prompt.trim().is_empty());
    let prompt = prompt.ok_or("prompt is missing: write what is asked")?;
    let expected = object.get("expected_output").and_then(Json::as_str).filter(|text| !text.is_empty());
    let categories = object.get("categories").and_then(Json::as_array);
    let mut kept = Map::new();
    kept.insert("test".to_owned(), test.get("key").cloned().unwrap_or_default());
    for (key, value) in [("documents", test.get("documents")), ("relationships", object.get("relationships"))]
    {
        let value = value.filter(|value| value.as_array().is_some_and(|list| !list.is_empty()));
        kept.extend(value.map(|value| (key.to_owned(), value.clone())));
    }
    let condition = object.get("condition").and_then(Json::as_str).filter(|text| !text.trim().is_empty());
    let constraints = match condition.map(constraints_of) {
        Some(Ok(constraints)) => Some(constraints),
        Some(Err(why)) => {
            warnings.push(format!(
                "{place}: condition {:?}: {why}; it is kept and not checked",
                condition.unwrap_or_default()
            ));
            kept.insert("condition".to_owned(), condition.into());
            None
        }
        None => object
            .get("output_constraints")
            .filter(|list| list.as_array().is_some_and(|l| !l.is_empty()))
            .cloned(),
    };
    let check = constraints
        .as_ref()
        .map(|_| CheckSpec { operator: "tokens_presence".to_owned(), ..CheckSpec::default() });
    Ok(TestSpec {
        id: object.get("key").map(plain).unwrap_or_default(),
        input: prompt.into(),
        right_answer: expected.map(Json::from),
        constraints,
        tags: categories.into_iter().flatten().map(plain).collect(),
        metadata: [(KEPT.to_owned(), Json::Object(kept))].into(),
        check: check.into_iter().collect(),
        ..TestSpec::default()
    })
}

/// Writes a suite. Checks other than those on constraints have no form here, and are told.
pub(super) fn write(
    head: &HeadSpec,
    common: &[CheckSpec],
    tests: &[TestSpec],
    warnings: &mut Vec<String>,
) -> Result<String, String> {
    let mut groups: Vec<(String, Json, Vec<Json>)> = Vec::new();
    for test in tests {
        let others =
            common.iter().chain(&test.check).filter(|check| check.operator != "tokens_presence").count();
        if others > 0 {
            warnings.push(format!(
                "test {:?}: {others} checks are left out: this format has constraints only",
                test.id
            ));
        }
        let kept = test.metadata.get(KEPT).cloned().unwrap_or_default();
        let key = kept.get("test").map(plain).unwrap_or_else(|| "test".to_owned());
        let documents = kept.get("documents").cloned().unwrap_or_else(|| json!(test.files));
        let case = write_case(test, &kept)?;
        match groups.iter_mut().find(|(other, of, _)| *other == key && *of == documents) {
            Some((_, _, cases)) => cases.push(case),
            None => groups.push((key, documents, vec![case])),
        }
    }
    let tests = groups
        .into_iter()
        .map(|(key, documents, cases)| json!({"key": key, "documents": documents, "test_cases": cases}));
    let suite = json!({
        "name": head.name,
        "description": head.description,
        "tests": tests.collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&suite).map(|text| text + "\n").map_err(|e| e.to_string())
}

fn write_case(test: &TestSpec, kept: &Json) -> Result<Json, String> {
    let told = |why: String| format!("test {:?}: {why}", test.id);
    // Those of an item that was perturbed here stand in its metadata; what is kept is then of its source.
    let relationships = test.metadata.get("relationships").or_else(|| kept.get("relationships"));
    let condition = match (&test.constraints, kept.get("condition")) {
        (Some(constraints), _) => text_of(constraints).map_err(told)?,
        (None, Some(condition)) => plain(condition),
        (None, None) => String::new(),
    };
    Ok(json!({
        "key": test.id,
        "prompt": plain(&test.input),
        "categories": test.tags,
        "relationships": relationships.cloned().unwrap_or_else(|| json!([])),
        "expected_output": test.right_answer.as_ref().map(plain).unwrap_or_default(),
        "condition": condition,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_read_and_written_to_the_same_bytes() {
        let suite = json!({"name": "n", "description": "", "tests": [
            {"key": "t1", "documents": ["https://e/x.pdf"], "test_cases": [
                {"key": "c1", "prompt": "How many?", "categories": ["q"], "relationships": [
                    {"type": "perturbation_source", "target": "c0", "target_type": "test_case"}],
                 "expected_output": "15,969", "condition": "\"15,969\" AND (\"million\" OR \"thousand\")"},
                {"key": "c2", "prompt": "Who?", "categories": [], "relationships": [], "expected_output": "", "condition": ""}]},
            {"key": "t2", "documents": [], "test_cases": [
                {"key": "c3", "prompt": "A?", "categories": [], "relationships": [], "expected_output": "", "condition": "regexp(^A.*)"},
                {"key": "c4", "prompt": "B?", "categories": [], "relationships": [], "expected_output": "", "condition": "NOT \"x\""}]}
        ]});
        let text = serde_json::to_string_pretty(&suite).unwrap() + "\n";
        assert!(is_suite(&suite));
        let mut faults = Faults::default();
        let imported = read(&suite, "s.json", &mut faults);
        assert!(faults.is_empty(), "{faults}");
        let constraints = imported.tests[0].0.constraints.clone();
        assert_eq!(constraints, Some(json!(["15,969", ["million", "thousand"]])));
        assert_eq!(imported.tests[2].0.constraints, Some(json!(["REGEXP:^A.*"])));
        assert!(imported.warnings.join("").contains("NOT"), "{:?}", imported.warnings);
        let tests: Vec<TestSpec> = imported.tests.iter().map(|(test, _)| test.clone()).collect();
        let mut told = Vec::new();
        assert_eq!(write(&imported.spec.suite, &[], &tests, &mut told).unwrap(), text);
        assert!(told.is_empty() && imported.toml().is_ok());
        let wrong = json!({"tests": [{"test_cases": [{"key": "x"}, 5]}]});
        read(&wrong, "s.json", &mut faults);
        let told = faults.to_string();
        assert!(
            told.contains("tests[0].test_cases[0]: prompt") && told.contains("test_cases[1]: a test case"),
            "{told}"
        );
    }
}
