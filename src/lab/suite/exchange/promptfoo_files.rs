//! Configurations of promptfoo as YAML and JSON, with the tests that stand in other files.

use super::super::fault::{Faults, SourceLine};
use super::super::spec::TestSpec;
use super::imported::Imported;
use super::promptfoo;
use crate::lab::rows::yaml;
use serde_json::Value as Json;

/// The text of a file that a configuration names.
pub(super) type TextOf<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// A test, as it was found.
enum Found {
    /// As the configuration writes it.
    Written(Json),
    /// Of a table.
    Read(Box<TestSpec>),
}

/// Whether an object is such a configuration.
pub(super) fn is_suite(json: &Json) -> bool {
    let tests = json.get("tests");
    let has_vars =
        tests.is_some_and(|tests| tests.as_array().map_or(is_test(tests), |all| all.iter().any(is_test)));
    has_vars || (json.get("prompts").is_some() && json.get("providers").is_some())
}

/// Whether a value is one of the tests of such a configuration without the rest of it, or a list of them.
pub(super) fn is_tests(json: &Json) -> bool {
    json.as_array().map_or(json.is_object() && is_test(json), |all| all.iter().any(is_test))
}

fn is_test(json: &Json) -> bool {
    json.get("vars").is_some() || json.get("assert").is_some() || named(json).is_some()
}

/// Reads a configuration; a test that is wrong is told with its number.
///
/// Tests of files that it names are read by `text_of`.
pub(super) fn read(json: &Json, name: &str, text_of: &TextOf<'_>, faults: &mut Faults) -> Imported {
    let mut imported = promptfoo::started(json.get("description").and_then(Json::as_str).unwrap_or_default());
    for key in ["prompts", "providers"].iter().filter(|key| json.get(**key).is_some()) {
        imported.warn(format!("{name}: {key} are not called: write a [target]"));
    }
    let shared = json.get("defaultTest").cloned().unwrap_or_default();
    let shared_vars = shared.get("vars").and_then(Json::as_object).cloned().unwrap_or_default();
    imported.spec.check =
        promptfoo::asserts(&shared, &format!("{name}: defaultTest"), faults, &mut imported.warnings);
    imported.spec.suite.threshold = shared.get("threshold").and_then(Json::as_f64);
    let all = json.get("tests").cloned().unwrap_or_default();
    for (test, place) in tests(&all, name, text_of, faults, &mut imported.warnings) {
        let mut spec = match test {
            Found::Written(test) => written(&test, &place, faults, &mut imported.warnings),
            Found::Read(spec) => *spec,
        };
        let mut vars = shared_vars.clone();
        vars.extend(spec.input.as_object().cloned().unwrap_or_default());
        spec.input = Json::Object(vars);
        imported.tests.push((spec, place));
    }
    imported
}

fn written(test: &Json, place: &SourceLine, faults: &mut Faults, warnings: &mut Vec<String>) -> TestSpec {
    let mut metadata = test.get("metadata").and_then(Json::as_object).cloned().unwrap_or_default();
    if let Some(description) = test.get("description") {
        metadata.insert("description".to_owned(), description.clone());
    }
    TestSpec {
        input: test.get("vars").cloned().unwrap_or_default(),
        threshold: test.get("threshold").and_then(Json::as_f64),
        metadata: metadata.into_iter().collect(),
        check: promptfoo::asserts(test, &place.to_string(), faults, warnings),
        ..TestSpec::default()
    }
}

/// The file that stands in the place of tests.
fn named(json: &Json) -> Option<&str> {
    json.as_str()?.strip_prefix("file://")
}

/// All tests in their order, each with its place.
fn tests(
    tests: &Json,
    name: &str,
    text_of: &TextOf<'_>,
    faults: &mut Faults,
    warnings: &mut Vec<String>,
) -> Vec<(Found, SourceLine)> {
    let alone = std::slice::from_ref(tests);
    let all = tests.as_array().map_or(alone, Vec::as_slice);
    let mut found = Vec::new();
    for (at, test) in all.iter().enumerate() {
        let place = SourceLine { file: format!("{name}: tests[{at}]"), line: 0 };
        match (named(test), test) {
            (Some(file), _) => match of_file(file, text_of, faults, warnings) {
                Ok(tests) => found.extend(tests),
                Err(why) => faults.add(format!("{place}: {file}: {why}")),
            },
            (None, Json::Object(_)) => found.push((Found::Written(test.clone()), place)),
            (None, _) => {
                faults.add(format!("{place}: a test is an object, or file:// and a file below the folder"))
            }
        }
    }
    found
}

fn of_file(
    file: &str,
    text_of: &TextOf<'_>,
    faults: &mut Faults,
    warnings: &mut Vec<String>,
) -> Result<Vec<(Found, SourceLine)>, String> {
    let ending = file.rsplit('.').next().unwrap_or_default();
    let json = match ending {
        "csv" => {
            let read = promptfoo::read_csv(&text_of(file)?, file, faults);
            warnings.extend(read.warnings);
            return Ok(read
                .tests
                .into_iter()
                .map(|(spec, place)| (Found::Read(Box::new(spec)), place))
                .collect());
        }
        "yaml" | "yml" => yaml::value(&text_of(file)?)?,
        "json" => serde_json::from_str(&text_of(file)?).map_err(|e| e.to_string())?,
        "jsonl" => {
            let text = text_of(file)?;
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let read: Result<Vec<Json>, _> = lines.map(serde_json::from_str).collect();
            Json::Array(read.map_err(|e| e.to_string())?)
        }
        _ => return Err("it is no CSV, YAML, JSON or JSON lines; code is not run".to_owned()),
    };
    let Json::Array(tests) = json else { return Err("it is no list of tests".to_owned()) };
    let place = |at| SourceLine { file: format!("{file}: [{at}]"), line: 0 };
    Ok(tests.into_iter().enumerate().map(|(at, test)| (Found::Written(test), place(at))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn assertions_become_checks() {
        let suite = json!({
            "prompts": ["{{q}}"],
            "providers": ["echo"],
            "defaultTest": {"assert": [{"type": "latency", "threshold": 500}]},
            "tests": [{
                "vars": {"q": "Who?"}, "threshold": 0.5,
                "assert": [
                    {"type": "equals", "value": "{{q}}"},
                    {"type": "not-contains", "value": "x", "weight": 2, "metric": "Style"},
                    {"type": "similar", "value": "y", "threshold": 0.8},
                    {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "is-json"}, {"type": "is-xml"}]},
                    {"type": "javascript", "value": "output.length > 3"}
                ]
            }, {"assert": ["x", {"value": 1}]}]
        });
        let mut faults = Faults::default();
        assert!(is_suite(&suite));
        let none = |_: &str| Err("there is none".to_owned());
        let imported = read(&suite, "p.json", &none, &mut faults);
        let checks = &imported.tests[0].0.check;
        assert_eq!(
            (checks[0].operator.as_str(), &checks[0].criteria),
            ("equals_exactly", &Some(json!("{{input.q}}")))
        );
        assert_eq!((checks[1].weight, checks[1].category.as_str()), (Some(2.0), "Style"));
        assert_eq!(
            (checks[2].min, checks[3].at_least, checks[4].operator.as_str()),
            (Some(0.8), Some(1), "promptfoo:javascript")
        );
        assert_eq!((imported.spec.check[0].max, imported.tests[0].0.threshold), (Some(500.0), Some(0.5)));
        let told = faults.to_string();
        assert!(told.contains("tests[1]: assert[0]") && told.contains("assert[1]: it has no type"), "{told}");
        assert_eq!(imported.warnings.len(), 3, "{:?}", imported.warnings);
    }

    #[test]
    fn tests_stand_in_the_configuration_or_in_files_beside_it() {
        let text_of = |file: &str| match file {
            "a.csv" => Ok("q,__expected\nWho?,contains: Anna\n".to_owned()),
            "b.yaml" => Ok("- vars: {q: When?}\n  assert:\n    - type: is-json\n".to_owned()),
            "c.jsonl" => Ok("{\"vars\": {\"q\": \"Where?\"}}\n".to_owned()),
            other => Err(format!("{other} is not there")),
        };
        let config = json!({
            "prompts": ["{{q}}"], "providers": ["echo"], "defaultTest": {"vars": {"lang": "en"}},
            "tests": ["file://a.csv", {"vars": {"q": "Why?"}}, "file://b.yaml", "file://c.jsonl", "file://code.js", 7],
        });
        let mut faults = Faults::default();
        let imported = read(&config, "p", &text_of, &mut faults);
        let asked: Vec<&str> =
            imported.tests.iter().map(|(test, _)| test.input["q"].as_str().unwrap()).collect();
        assert_eq!(asked, ["Who?", "Why?", "When?", "Where?"]);
        assert!(imported.tests.iter().all(|(test, _)| test.input["lang"] == "en"));
        assert_eq!(
            (imported.tests[0].0.check.len(), imported.tests[2].0.check[0].operator.as_str()),
            (1, "is-json")
        );
        let told = faults.to_string();
        assert!(
            told.contains("tests[4]: code.js: it is no CSV") && told.contains("tests[5]: a test is"),
            "{told}"
        );
        let alone = json!({"prompts": ["x"], "providers": ["y"], "tests": "file://c.jsonl"});
        assert!(is_suite(&alone));
        assert_eq!(read(&alone, "p", &text_of, &mut Faults::default()).tests.len(), 1);
    }
}
