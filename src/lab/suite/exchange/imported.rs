//! What every reader gives.

use super::super::fault::SourceLine;
use super::super::spec::{SuiteSpec, TestSpec};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A suite of another system, brought to our form.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    pub(in crate::lab::suite) spec: SuiteSpec,
    pub(in crate::lab::suite) tests: Vec<(TestSpec, SourceLine)>,
    /// What was read in another way than it looks, or is not kept.
    pub warnings: Vec<String>,
    /// Files of an archive that tests name.
    pub documents: BTreeMap<String, Vec<u8>>,
}

impl Imported {
    pub(super) fn warn(&mut self, what: impl Into<String>) {
        self.warnings.push(what.into());
    }

    /// A suite of ours, so that it is written as one file.
    pub(in crate::lab::suite) fn of(mut spec: SuiteSpec) -> Self {
        let tests = std::mem::take(&mut spec.test);
        let tests = tests.into_iter().map(|test| (test, SourceLine::default())).collect();
        Self { spec, tests, ..Self::default() }
    }

    /// How many tests there are.
    pub fn tests(&self) -> usize {
        self.tests.len()
    }

    /// The suite as a file of ours.
    ///
    /// # Errors
    /// When a value has no form in TOML.
    pub fn toml(&self) -> Result<String, String> {
        let mut spec = self.spec.clone();
        spec.test = self.tests.iter().map(|(test, _)| plain_test(test.clone())).collect();
        toml::to_string_pretty(&spec).map_err(|e| format!("the suite cannot be written as TOML: {e}"))
    }
}

/// TOML has no null: what is null is left out.
fn plain_test(mut test: TestSpec) -> TestSpec {
    without_nulls(&mut test.input);
    for value in test.right_answer.iter_mut().chain(&mut test.output).chain(&mut test.constraints) {
        without_nulls(value);
    }
    for values in [&mut test.metadata, &mut test.context] {
        values.retain(|_, value| !value.is_null());
        values.values_mut().for_each(without_nulls);
    }
    test.contexts.iter_mut().chain(&mut test.history).for_each(without_nulls);
    test
}

fn without_nulls(json: &mut Json) {
    match json {
        Json::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(without_nulls);
        }
        Json::Array(items) => {
            items.retain(|value| !value.is_null());
            items.iter_mut().for_each(without_nulls);
        }
        _ => {}
    }
}

/// Whether `cell` is how we would write `json`.
fn is_written(json: &Json, cell: &str) -> bool {
    let written = json.to_string();
    written == cell
}

/// A text that is a JSON object, written as we would write it, is that object: then it is written as the same text again.
pub(super) fn value_of(cell: &str) -> Json {
    if cell.starts_with('{')
        && let Ok(json) = serde_json::from_str::<Json>(cell)
        && is_written(&json, cell)
    {
        return json;
    }
    Json::String(cell.to_owned())
}
