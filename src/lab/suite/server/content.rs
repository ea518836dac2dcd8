//! A suite as rows, and rows as a suite.

use super::super::fault::{Faults, SourceLine};
use super::super::load::{Placed, StoredItems, Suite, build};
use super::super::spec::{CheckSpec, HeadSpec, SuiteSpec, TestSpec};
use super::redaction::redacted;
use crate::lab::dataset::Redact;
use crate::lab::template::plain;
use crate::schema::batch::{SuiteCheckRow, SuiteTestRow};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;

/// What a revision says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Content {
    /// The suite without its tests and checks, JSON.
    pub spec: String,
    /// Its tests, in their order.
    pub tests: Vec<SuiteTestRow>,
    /// Its checks: those of every test, then those of each.
    pub checks: Vec<SuiteCheckRow>,
    /// SHA-256 of all of it.
    pub hash: String,
}

impl Content {
    /// What `suite` says. Its target is none of it: each run says who is asked.
    ///
    /// # Errors
    /// When a part of it has no JSON.
    pub fn of(suite: &Suite) -> Result<Self, String> {
        let head = suite.bare();
        let spec = written(&head)?;
        let mut hash = Sha256::new();
        hash.update(&spec);
        let mut checks = check_rows(&suite.common, None, &mut hash)?;
        let mut tests = Vec::with_capacity(suite.cases.len());
        for (ordinal, case) in (0..).zip(&suite.cases) {
            let test = &case.item.spec;
            let row = test_row(test, ordinal)?;
            hash.update([0_u8]);
            hash.update(&row.spec);
            tests.push(row);
            checks.extend(check_rows(&test.check, Some(&test.id), &mut hash)?);
        }
        Ok(Self { spec, tests, checks, hash: hex::encode(hash.finalize()) })
    }

    /// The same, each test and check with the item that it is.
    #[must_use]
    pub fn with_items(mut self, items: &HashMap<String, String>) -> Self {
        for test in &mut self.tests {
            test.item_id = items.get(&test.test_id).cloned().unwrap_or_default();
        }
        for check in &mut self.checks {
            check.item_id = check.test_id.as_ref().and_then(|test| items.get(test).cloned());
        }
        self
    }
}

impl Suite {
    /// It without its tests, its checks, its target and its version.
    fn bare(&self) -> SuiteSpec {
        let head = HeadSpec { version: None, dataset: None, ..self.head.clone() };
        SuiteSpec { suite: head, target: None, check: Vec::new(), test: Vec::new(), gate: self.gates.clone() }
    }

    /// It as one file, with the tests of all files and datasets that it names.
    pub(super) fn written_out(&self) -> SuiteSpec {
        SuiteSpec {
            suite: HeadSpec { dataset: None, ..self.head.clone() },
            check: self.common.clone(),
            test: self.cases.iter().map(|case| case.item.spec.clone()).collect(),
            ..self.bare()
        }
    }

    /// It as JSON, as a server takes it: one file with all its tests, without its target.
    ///
    /// # Errors
    /// When a part of it has no JSON.
    pub fn sendable(&self) -> Result<String, String> {
        written(&self.written_out())
    }
}

/// The hash of what a revision says, from its rows: [`Content::of`] of the suite that they are has the same.
///
/// # Errors
/// A row that is none of a suite, or has what `redact` would take out.
pub fn revision_hash(
    spec: &str,
    tests: &[(String, String)],
    checks: &[(Option<String>, String)],
    redact: Option<&Redact>,
) -> Result<String, String> {
    let mut suite: SuiteSpec = serde_json::from_str(spec).map_err(|e| e.to_string())?;
    let is_bare = suite.suite.dataset.is_none()
        && suite.target.is_none()
        && suite.check.is_empty()
        && suite.test.is_empty();
    // Files that it names would be read here, on the server.
    if !is_bare {
        return Err("it names files or a target, or has tests within: no suite that is kept does".to_owned());
    }
    let read = |text: &String| serde_json::from_str::<CheckSpec>(text).map_err(|e| e.to_string());
    suite.check = checks.iter().map(|(_, text)| read(text)).collect::<Result<_, _>>()?;
    let read = |text: &String| serde_json::from_str::<TestSpec>(text).map_err(|e| e.to_string());
    let placed = tests.iter().map(|(_, text)| read(text).map(|test| (test, SourceLine::default())));
    let mut placed: Vec<Placed> = placed.collect::<Result<_, _>>()?;
    if let Some(redact) = redact {
        let all = |suite: &SuiteSpec, placed: &[Placed]| -> Result<String, String> {
            Ok(written(suite)? + &written(&placed.iter().map(|(test, _)| test).collect::<Vec<_>>())?)
        };
        let before = all(&suite, &placed)?;
        redacted(&mut suite, &mut placed, redact);
        if all(&suite, &placed)? != before {
            return Err("ingest.redact would change it: make the archive where it was redacted".to_owned());
        }
    }
    let mut of_tests: HashMap<Option<&str>, Vec<&str>> = HashMap::new();
    for (test, check) in checks {
        of_tests.entry(test.as_deref()).or_default().push(check);
    }
    let mut hash = Sha256::new_with_prefix(spec);
    let mut add = |mark: u8, text: &str| {
        hash.update([mark]);
        hash.update(text);
    };
    let common = of_tests.remove(&None).unwrap_or_default();
    common.into_iter().for_each(|check| add(1, check));
    for (id, test) in tests {
        add(0, test);
        let own = of_tests.remove(&Some(id.as_str())).unwrap_or_default();
        own.into_iter().for_each(|check| add(1, check));
    }
    Ok(hex::encode(hash.finalize()))
}

/// A test as it is stored: the whole of it but for its checks.
#[derive(Debug, Clone)]
pub(super) struct StoredTest {
    pub id: String,
    pub spec: String,
}

/// A check as it is stored, and its test; none for one of every test.
#[derive(Debug, Clone)]
pub(super) struct StoredCheck {
    pub test: Option<String>,
    pub spec: String,
}

/// The suite that rows are, in their order. `name` says where they stand.
///
/// # Errors
/// What is wrong with it: an operator that this release does not have, or a row that is no JSON.
pub(super) fn suite_of(
    spec: &str,
    version: i64,
    (tests, checks): (Vec<StoredTest>, Vec<StoredCheck>),
    name: &str,
) -> Result<Suite, Faults> {
    let wrong = |e: serde_json::Error| Faults::one(format!("{name}: {e}"));
    let mut suite: SuiteSpec = serde_json::from_str(spec).map_err(wrong)?;
    suite.suite.version = u64::try_from(version).ok();
    let mut of_tests: HashMap<String, Vec<CheckSpec>> = HashMap::new();
    for check in checks {
        let spec: CheckSpec = serde_json::from_str(&check.spec).map_err(wrong)?;
        match check.test {
            None => suite.check.push(spec),
            Some(test) => of_tests.entry(test).or_default().push(spec),
        }
    }
    let mut placed: Vec<Placed> = Vec::with_capacity(tests.len());
    for (line, test) in (1..).zip(tests) {
        let mut spec: TestSpec = serde_json::from_str(&test.spec).map_err(wrong)?;
        spec.check = of_tests.remove(&test.id).unwrap_or_default();
        placed.push((spec, SourceLine { file: name.to_owned(), line }));
    }
    let (suite, _) = build(suite, placed, (Path::new(""), &StoredItems::new()), name, false)?;
    Ok(suite)
}

fn written(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|e| e.to_string())
}

fn test_row(test: &TestSpec, ordinal: i64) -> Result<SuiteTestRow, String> {
    let spec = written(&TestSpec { check: Vec::new(), ..test.clone() })?;
    Ok(SuiteTestRow {
        test_id: test.id.clone(),
        item_id: String::new(),
        ordinal,
        input: Some(test.input.to_string()),
        right_answer: test.right_answer.as_ref().map(ToString::to_string),
        tags: test.tags.clone(),
        files: test.files.clone(),
        context: (!test.context.is_empty()).then(|| json!(test.context).to_string()),
        content_hash: hex::encode(Sha256::digest(&spec)),
        spec,
    })
}

fn check_rows(
    checks: &[CheckSpec],
    test: Option<&str>,
    hash: &mut Sha256,
) -> Result<Vec<SuiteCheckRow>, String> {
    let mut rows = Vec::with_capacity(checks.len());
    for (ordinal, check) in (0..).zip(checks) {
        let row = check_row(check, ordinal, test)?;
        hash.update([1_u8]);
        hash.update(&row.spec);
        rows.push(row);
    }
    Ok(rows)
}

fn check_row(check: &CheckSpec, ordinal: i64, test: Option<&str>) -> Result<SuiteCheckRow, String> {
    let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let condition = check.condition.as_ref();
    Ok(SuiteCheckRow {
        test_id: test.map(str::to_owned),
        item_id: None,
        ordinal,
        check_id: said(&check.id),
        operator: said(&check.operator),
        criteria: check.criteria.as_ref().map(plain),
        weight: check.weight,
        optional: check.optional,
        category: said(&check.category),
        engine: said(&check.engine),
        extract: check.extract.as_ref().map(|extract| json!(extract).to_string()),
        condition_operator: condition.and_then(|condition| said(&condition.operator)),
        condition_criteria: condition.and_then(|condition| condition.criteria.as_ref()).map(plain),
        examples: (!check.examples.is_empty()).then(|| json!(check.examples).to_string()),
        spec: written(check)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::load::parsed;
    use super::*;

    const TEXT: &str = "[suite]\nname = \"s\"\nrepetitions = 2\n[target]\nkind = \"http\"\nurl = \"http://x/\"\n\
        headers = { authorization = \"secret\" }\n[[check]]\noperator = \"is-json\"\nweight = 2\n[[gate]]\nmetric = \"tests_passed\"\nmin = 0.5\n\
        [[test]]\nid = \"a\"\ninput = { q = \"?\" }\nright_answer = \"r\"\ntags = [\"t\"]\n\
        check = [{ id = \"c\", operator = \"contains\", criteria = \"x\", if = { operator = \"icontains\", criteria = \"y\" }, \
        examples = [{ type = \"positive\", text = \"x\" }] }, { any_of = [{ operator = \"is-json\" }, { operator = \"contains\", criteria = \"z\" }] }]\n\
        [[test]]\nid = \"b\"\ninput = \"?\"\n";

    fn suite(text: &str) -> Suite {
        let (spec, tests) = parsed(text, "s").unwrap();
        build(spec, tests, (Path::new(""), &StoredItems::new()), "s", false).unwrap().0
    }

    #[test]
    fn a_suite_comes_back_from_its_rows() {
        let before = suite(TEXT);
        let content = Content::of(&before).unwrap();
        assert_eq!((content.tests.len(), content.checks.len()), (2, 3));
        assert!(!content.spec.contains("secret"), "{}", content.spec);
        let check = &content.checks[1];
        assert_eq!(
            (check.test_id.as_deref(), check.check_id.as_deref(), check.condition_criteria.as_deref()),
            (Some("a"), Some("c"), Some("y"))
        );
        let tests =
            content.tests.iter().map(|row| StoredTest { id: row.test_id.clone(), spec: row.spec.clone() });
        let checks = content
            .checks
            .iter()
            .map(|row| StoredCheck { test: row.test_id.clone(), spec: row.spec.clone() });
        let after = suite_of(&content.spec, 3, (tests.collect(), checks.collect()), "s@3").unwrap();
        assert_eq!((after.head.version, after.checks(), after.gates()), (Some(3), before.checks(), 1));
        assert_eq!(Content::of(&after).unwrap(), content);
        let tests: Vec<(String, String)> =
            content.tests.iter().map(|row| (row.test_id.clone(), row.spec.clone())).collect();
        let checks: Vec<(Option<String>, String)> =
            content.checks.iter().map(|row| (row.test_id.clone(), row.spec.clone())).collect();
        assert_eq!(revision_hash(&content.spec, &tests, &checks, None), Ok(content.hash.clone()));
        let named = content.spec.replacen("{\"name\"", "{\"dataset\":\"cases.csv\",\"name\"", 1);
        assert!(revision_hash(&named, &tests, &checks, None).unwrap_err().contains("names files"));
        let redact: Redact = std::sync::Arc::new(|text: &mut String| *text = text.replace('z', "-"));
        assert!(revision_hash(&content.spec, &tests, &checks, Some(&redact)).unwrap_err().contains("redact"));
        let hashes = |suite: &Suite| -> Vec<(String, String)> {
            suite.cases.iter().map(|case| (case.item.hash.clone(), case.checks_hash.clone())).collect()
        };
        assert_eq!(hashes(&after), hashes(&before));
    }

    #[test]
    fn every_change_of_what_a_suite_says_changes_its_hash() {
        let hash = |text: &str| Content::of(&suite(text)).unwrap().hash;
        let before = hash(TEXT);
        for (from, to) in [
            ("right_answer = \"r\"", "right_answer = \"s\""),
            ("criteria = \"x\"", "criteria = \"w\""),
            ("min = 0.5", "min = 0.6"),
            ("weight = 2", "weight = 3"),
            ("repetitions = 2", "repetitions = 3"),
        ] {
            assert_ne!(hash(&TEXT.replacen(from, to, 1)), before, "{to}");
        }
        // Neither its version nor who is asked is what it says.
        assert_eq!(hash(&TEXT.replacen("name = \"s\"", "name = \"s\"\nversion = 7", 1)), before);
        assert_eq!(hash(&TEXT.replacen("http://x/", "http://y/", 1)), before);
    }
}
