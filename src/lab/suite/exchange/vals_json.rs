//! Suites as JSON.

use super::super::fault::{Faults, SourceLine};
use super::super::spec::{CheckSpec, ConditionSpec, ExampleSpec, ExtractSpec, HeadSpec, TestSpec, Unmet};
use super::imported::Imported;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

#[derive(Debug, Serialize, Deserialize)]
struct Suite {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    id: String,
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(default)]
    global_checks: Vec<Check>,
    tests: Vec<Test>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Test {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    id: String,
    input_under_test: Json,
    #[serde(
        default,
        alias = "golden_output",
        alias = "fixed_output",
        skip_serializing_if = "Option::is_none"
    )]
    right_answer: Option<Json>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files_under_test: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    context: BTreeMap<String, Json>,
    #[serde(default)]
    checks: Vec<Check>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Check {
    operator: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    criteria: Option<Json>,
    #[serde(default, skip_serializing_if = "Modifiers::is_empty")]
    modifiers: Modifiers,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Modifiers {
    #[serde(skip_serializing_if = "Option::is_none")]
    optional: Option<bool>,
    /// The weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<ExampleSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extractor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conditional: Option<Conditional>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
}

impl Modifiers {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Conditional {
    operator: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    criteria: Option<Json>,
}

/// Whether an object is such a suite.
pub(super) fn is_suite(json: &Json) -> bool {
    let tests = json.get("tests").and_then(Json::as_array);
    tests.is_some_and(|tests| tests.first().is_none_or(|test| test.get("input_under_test").is_some()))
        && json.get("title").is_some()
}

/// Reads a suite; a test that is wrong is told with its number, and the others are there.
pub(super) fn read(json: &Json, name: &str, faults: &mut Faults) -> Imported {
    let mut imported = Imported::default();
    let Json::Object(mut object) = without_nulls(json) else { return imported };
    let tests = object.insert("tests".to_owned(), Json::Array(Vec::new()));
    match serde_json::from_value::<Suite>(Json::Object(object)) {
        Ok(suite) => {
            let head = HeadSpec {
                id: suite.id,
                name: suite.title,
                description: suite.description,
                version: suite.version,
                source: "vals".to_owned(),
                condition: Unmet::Pass,
                ..HeadSpec::default()
            };
            imported.spec.suite = head;
            imported.spec.check = suite.global_checks.into_iter().map(read_check).collect();
        }
        Err(error) => faults.add(format!("{name}: {error}")),
    }
    for (at, test) in tests.iter().flat_map(|tests| tests.as_array()).flatten().enumerate() {
        let place = SourceLine { file: format!("{name}: tests[{at}]"), line: 0 };
        match serde_json::from_value::<Test>(test.clone()) {
            Ok(test) if test.input_under_test.as_str().is_some_and(|text| text.trim().is_empty()) => {
                faults.add(format!("{place}: input_under_test is blank: write what is asked"));
            }
            Ok(test) => imported.tests.push((read_test(test), place)),
            Err(error) => faults.add(format!("{place}: {error}")),
        }
    }
    imported
}

/// The writers of such files give every key, and null where there is nothing.
fn without_nulls(json: &Json) -> Json {
    match json {
        Json::Object(object) => {
            let kept = object.iter().filter(|(_, value)| !value.is_null());
            Json::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect::<Map<_, _>>())
        }
        Json::Array(items) => Json::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

fn read_test(test: Test) -> TestSpec {
    TestSpec {
        id: test.id,
        input: test.input_under_test,
        right_answer: test.right_answer.filter(|answer| answer.as_str() != Some("")),
        tags: test.tags,
        files: test.files_under_test,
        context: test.context,
        check: test.checks.into_iter().map(read_check).collect(),
        ..TestSpec::default()
    }
}

fn read_check(check: Check) -> CheckSpec {
    let modifiers = check.modifiers;
    let text = |text: Option<String>| text.filter(|text| !text.is_empty());
    CheckSpec {
        operator: check.operator,
        criteria: check.criteria.filter(|criteria| criteria.as_str() != Some("")),
        weight: modifiers.severity,
        optional: modifiers.optional.unwrap_or(false),
        category: modifiers.category.unwrap_or_default(),
        extract: text(modifiers.extractor)
            .map(|prompt| ExtractSpec { prompt: Some(prompt), ..ExtractSpec::default() }),
        condition: modifiers.conditional.map(|conditional| ConditionSpec {
            operator: conditional.operator,
            criteria: conditional.criteria,
            ..ConditionSpec::default()
        }),
        examples: modifiers.examples,
        ..CheckSpec::default()
    }
}

/// Writes a suite. What has no form here is left out and told.
pub(super) fn write(
    head: &HeadSpec,
    common: &[CheckSpec],
    tests: &[TestSpec],
    warnings: &mut Vec<String>,
) -> Result<String, String> {
    let mut checks = |checks: &[CheckSpec], test: &str| -> Vec<Check> {
        let kept = checks.iter().filter(|check| super::vals_csv::is_kept(check, test, warnings));
        kept.map(write_check).collect()
    };
    let suite = Suite {
        id: head.id.clone(),
        title: head.name.clone(),
        description: head.description.clone(),
        version: head.version,
        global_checks: checks(common, "*"),
        tests: tests
            .iter()
            .map(|test| Test {
                id: test.id.clone(),
                input_under_test: test.input.clone(),
                right_answer: test.right_answer.clone(),
                tags: test.tags.clone(),
                files_under_test: test.files.clone(),
                context: test.context.clone(),
                checks: checks(&test.check, &test.id),
            })
            .collect(),
    };
    serde_json::to_string_pretty(&suite).map(|text| text + "\n").map_err(|e| e.to_string())
}

fn write_check(check: &CheckSpec) -> Check {
    let conditional = check
        .condition
        .clone()
        .map(|condition| Conditional { operator: condition.operator, criteria: condition.criteria });
    Check {
        operator: check.operator.clone(),
        criteria: check.criteria.clone(),
        modifiers: Modifiers {
            optional: check.optional.then_some(true),
            severity: check.weight,
            examples: check.examples.clone(),
            extractor: check.extract.as_ref().and_then(|extract| extract.prompt.clone()),
            conditional,
            category: Some(check.category.clone()).filter(|category| !category.is_empty()),
        },
    }
}
