//! What is written is read again: random suites with texts that CSV, JSON and TOML must each mark in some way.

use super::super::fault::Faults;
use super::super::spec::{
    CheckSpec, ConditionSpec, ExampleSpec, ExtractSpec, HeadSpec, SuiteSpec, TestSpec, Unmet,
};
use super::imported::Imported;
use super::{h2o, vals_csv, vals_json};
use crate::lab::zip;
use crate::stats::seeded::Seeded;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const SUITES: u64 = 10_000;
const PIECES: &[&str] = &[
    "a",
    "B c",
    "\"",
    ",",
    "\n",
    "\r\n",
    ";",
    "{\"k\":1}",
    "{",
    "é",
    "\u{1f600}",
    "'",
    "\\",
    "=1+1",
    " ",
    "{{input}}",
    "#",
    "\t",
];

fn below(random: &mut Seeded, n: usize) -> usize {
    usize::try_from(random.bits() % n as u64).unwrap()
}

/// A text that is not blank.
fn text(random: &mut Seeded) -> String {
    let pieces = 1 + below(random, 4);
    let text: String = (0..pieces).map(|_| PIECES[below(random, PIECES.len())]).collect();
    if text.trim().is_empty() { format!("x{text}") } else { text }
}

fn maybe<T>(random: &mut Seeded, make: impl FnOnce(&mut Seeded) -> T) -> Option<T> {
    random.unit().lt(&0.5).then(|| make(random))
}

fn many<T>(random: &mut Seeded, most: usize, mut make: impl FnMut(&mut Seeded) -> T) -> Vec<T> {
    (0..below(random, most + 1)).map(|_| make(random)).collect()
}

fn check(random: &mut Seeded) -> CheckSpec {
    let operators = ["includes", "includes_exactly", "is_safe", "satisfies_statement", "their own"];
    CheckSpec {
        operator: operators[below(random, operators.len())].to_owned(),
        criteria: Some(Json::String(text(random))),
        weight: maybe(random, |random| below(random, 7) as f64 / 2.0 - 0.5),
        category: maybe(random, text).unwrap_or_default(),
        extract: maybe(random, |random| ExtractSpec { prompt: Some(text(random)), ..ExtractSpec::default() }),
        condition: maybe(random, |random| ConditionSpec {
            operator: "includes".to_owned(),
            criteria: Some(Json::String(text(random))),
            ..ConditionSpec::default()
        }),
        examples: many(random, 3, |random| ExampleSpec {
            kind: if random.unit() < 0.5 { "positive" } else { "negative" }.to_owned(),
            text: text(random),
        }),
        ..CheckSpec::default()
    }
}

fn suite(random: &mut Seeded) -> (HeadSpec, Vec<TestSpec>) {
    let head = HeadSpec {
        id: maybe(random, |_| "19025787-7245-45aa-8d27-c6047bc804c0".to_owned()).unwrap_or_default(),
        name: text(random),
        description: maybe(random, text).unwrap_or_default(),
        version: maybe(random, |random| random.bits() % 100),
        source: "vals".to_owned(),
        condition: Unmet::Pass,
        ..HeadSpec::default()
    };
    let mut at = 0;
    let mut tests = many(random, 5, |random| {
        at += 1;
        TestSpec {
            id: format!("id-{at}"),
            input: Json::String(text(random)),
            right_answer: maybe(random, |random| Json::String(text(random))),
            tags: many(random, 3, text),
            context: many(random, 3, |random| (text(random), Json::String(text(random))))
                .into_iter()
                .collect(),
            check: many(random, 4, check),
            ..TestSpec::default()
        }
    });
    if tests.is_empty() {
        tests.push(TestSpec { id: "id".to_owned(), input: "x".into(), ..TestSpec::default() });
    }
    (head, tests)
}

fn again(imported: &Imported) -> Vec<TestSpec> {
    imported.tests.iter().map(|(test, _)| test.clone()).collect()
}

#[test]
fn random_suites_survive_csv_json_and_toml() {
    let mut random = Seeded::new(20_261_123);
    for number in 0..SUITES {
        let (head, tests) = suite(&mut random);
        let mut told = Vec::new();
        let csv = vals_csv::write(&head, &[], &tests, &mut told).unwrap();
        let mut faults = Faults::default();
        let imported = vals_csv::read(&csv, "s.csv", None, &mut faults);
        assert!(faults.is_empty() && told.is_empty(), "{number}: {faults} {told:?}\n{csv}");
        let wrong: Vec<&String> =
            imported.warnings.iter().filter(|what| what.contains("Number Of")).collect();
        assert!(wrong.is_empty(), "{number}: {wrong:?}");
        let twice = vals_csv::write(&imported.spec.suite, &imported.spec.check, &again(&imported), &mut told);
        assert_eq!(twice.unwrap(), csv, "{number}");

        let files = BTreeMap::from([
            ("suite.csv".to_owned(), csv.clone().into_bytes()),
            (format!("documents/{number}.txt"), text(&mut random).into_bytes()),
        ]);
        assert_eq!(zip::read(&zip::write(&files).unwrap()), Ok(files), "{number}");

        let json = vals_json::write(&head, &[], &tests, &mut told).unwrap();
        let parsed: Json = serde_json::from_str(&json).unwrap();
        assert!(vals_json::is_suite(&parsed), "{json}");
        let read = vals_json::read(&parsed, "s.json", &mut faults);
        assert!(faults.is_empty(), "{number}: {faults}");
        assert_eq!(again(&read), tests, "{number}");
        assert_eq!(
            vals_json::write(&read.spec.suite, &[], &again(&read), &mut told).unwrap(),
            json,
            "{number}"
        );

        let toml = read.toml().unwrap();
        let ours: SuiteSpec = toml::from_str(&toml).unwrap_or_else(|e| panic!("{number}: {e}\n{toml}"));
        assert_eq!((ours.suite, ours.test), (head, tests), "{number}");
    }
}

/// A suite of H2O as that system writes it.
fn of_h2o(random: &mut Seeded) -> Json {
    let conditions =
        ["", "\"15,969\" AND \"million\"", "(\"a\" OR \"b\") AND \"c\"", "regexp(^A.*)", "NOT \"x\""];
    let mut cases = 0;
    let mut case = |random: &mut Seeded| {
        cases += 1;
        let relationships: Vec<Json> = many(
            random,
            2,
            |random| json!({"type": "perturbation_source", "target": format!("c{}", below(random, 9)), "target_type": "test_case"}),
        );
        json!({"key": format!("c{cases}"), "prompt": text(random), "categories": many(random, 3, text),
            "relationships": relationships, "expected_output": maybe(random, text).unwrap_or_default(),
            "condition": conditions[below(random, conditions.len())]})
    };
    let tests: Vec<Json> = (0..=below(random, 3))
        .map(|at| {
            let cases: Vec<Json> = (0..=below(random, 3)).map(|_| case(random)).collect();
            json!({"key": format!("t{at}"), "documents": many(random, 2, text), "test_cases": cases})
        })
        .collect();
    json!({"name": text(random), "description": maybe(random, text).unwrap_or_default(), "tests": tests})
}

#[test]
fn random_suites_of_h2o_survive() {
    let mut random = Seeded::new(20_261_124);
    for number in 0..SUITES {
        let suite = of_h2o(&mut random);
        let text = serde_json::to_string_pretty(&suite).unwrap() + "\n";
        let (mut faults, mut told) = (Faults::default(), Vec::new());
        let imported = h2o::read(&suite, "s.json", &mut faults);
        assert!(faults.is_empty(), "{number}: {faults}\n{text}");
        let written = h2o::write(&imported.spec.suite, &[], &again(&imported), &mut told).unwrap();
        assert_eq!(written, text, "{number}");
    }
}

#[test]
fn faults_of_a_table_are_all_told_with_their_lines() {
    let text = "Test Id,Test Input,Tags,Operator,Criteria,Weight,Example Type,Example Value\n\
        1,Where?,\"Bay, Easy\",includes,California,-1,positive,SF\n\
        ,,Hard,includes_exactly,,1,,\n\
        ,,,,lonely,,,\n\
        ,,,is_safe,,x,maybe,y\n\
        2,,,,,,,\n";
    let mut faults = Faults::default();
    let imported = vals_csv::read(text, "s.csv", None, &mut faults);
    let told = faults.to_string();
    for part in [
        "s.csv:3: Criteria is missing: includes_exactly needs it",
        "s.csv:4: Criteria without an Operator",
        "s.csv:5: Weight \"x\" is no number",
        "s.csv:5: Example Type \"maybe\"",
        "s.csv:6: Test Input is missing",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    let warned = imported.warnings.join("\n");
    assert!(warned.contains("s.csv:2: Tags") && warned.contains("s.csv:2: Weight -1"), "{warned}");
    let test = &imported.tests[0].0;
    assert_eq!((test.tags.len(), test.check.len(), test.check[0].examples.len()), (2, 3, 1));
}
