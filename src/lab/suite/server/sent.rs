//! A suite that was sent, whatever form it has.

use super::super::cases::text_of;
use super::super::exchange::import_sent;
use super::super::fault::{Faults, SourceLine};
use super::super::load::{Placed, parsed};
use super::super::spec::SuiteSpec;
use crate::lab::error::{Fault, LabError};
use crate::lab::zip::Limits;
use serde_json::Value as Json;
use std::str::FromStr;

/// What was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SentForm {
    /// Its content tells.
    #[default]
    Auto,
    /// A suite file of ours.
    Toml,
}

impl FromStr for SentForm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "toml" => Ok(Self::Toml),
            // Which of the systems that write these it is stands in the file.
            "auto" | "csv" | "json" | "yaml" | "zip" => Ok(Self::Auto),
            other => {
                Err(format!("there is no format {other:?}; there are auto, toml, csv, json, yaml and zip"))
            }
        }
    }
}

/// A suite as it was sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub spec: SuiteSpec,
    pub tests: Vec<Placed>,
    /// What was read in another way than it looks, or is not kept.
    pub warnings: Vec<String>,
    /// Tests that are wrong.
    pub faults: Faults,
}

/// Reads the bytes of a file called `name`; of an archive as much as `limits` allow.
///
/// # Errors
/// Every fault, when nothing could be read.
pub(super) fn read(bytes: Vec<u8>, name: &str, form: SentForm, limits: Limits) -> Result<Sent, Faults> {
    let text = text_of(bytes.clone());
    if let Ok(text) = &text {
        if form == SentForm::Toml || is_toml(text) {
            let (spec, tests) = parsed(text, name)?;
            return Ok(Sent { spec, tests, ..Sent::default() });
        }
        if let Some(sent) = of_json(text, name) {
            return sent;
        }
    } else if let (Err(why), SentForm::Toml) = (text, form) {
        return Err(Faults::one(format!("{name}: {why}")));
    }
    let (imported, faults) = import_sent(bytes, name, limits)?;
    let mut warnings = imported.warnings;
    if !imported.documents.is_empty() {
        warnings.push(format!(
            "{name}: {} files of tests are not kept: of files the tests have the names",
            imported.documents.len()
        ));
    }
    Ok(Sent { spec: imported.spec, tests: imported.tests, warnings, faults })
}

/// Whether a text has a line that begins a table of ours.
fn is_toml(text: &str) -> bool {
    text.lines().any(|line| matches!(line.trim(), "[suite]" | "[[test]]" | "[[check]]"))
}

/// A suite of ours as JSON, as the command line sends it.
fn of_json(text: &str, name: &str) -> Option<Result<Sent, Faults>> {
    let json = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Json>(text).ok())??;
    if !json.get("suite").is_some_and(Json::is_object) {
        return None;
    }
    let read = serde_json::from_value::<SuiteSpec>(json);
    Some(read.map_err(|e| Faults::one(format!("{name}: {e}"))).map(|mut spec| {
        let at = |at: usize| SourceLine { file: format!("{name}: test[{at}]"), line: 0 };
        let tests = std::mem::take(&mut spec.test).into_iter().enumerate();
        let tests = tests.map(|(number, test)| (test, at(number))).collect();
        Sent { spec, tests, ..Sent::default() }
    }))
}

/// The same as an answer of a route.
pub(super) fn refused(faults: &Faults) -> LabError {
    LabError::Faults(faults.lines().iter().map(|line| Fault::new(line.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &str, form: SentForm) -> Result<Sent, Faults> {
        read(text.as_bytes().to_vec(), "s", form, Limits::default())
    }

    #[test]
    fn the_content_tells_the_form() {
        let toml = "[suite]\nname = \"a\"\n[[test]]\nid = \"1\"\ninput = \"q\"\n";
        let json =
            r#"{"suite": {"name": "a", "repetitions": 1}, "test": [{"id": "1", "input": {"k": null}}]}"#;
        let vals = r#"{"title": "a", "tests": [{"id": "1", "input_under_test": "q"}]}"#;
        let csv = "Test Id,Test Input\n1,q\n";
        for text in [toml, json, vals, csv] {
            let read = sent(text, SentForm::Auto).unwrap();
            assert_eq!((read.tests.len(), read.tests[0].0.id.as_str()), (1, "1"), "{text}");
            assert!(read.spec.test.is_empty() && read.faults.is_empty());
        }
        assert_eq!(sent(toml, SentForm::Auto).unwrap().tests[0].1.line, 3);
        assert_eq!("zip".parse::<SentForm>(), Ok(SentForm::Auto));
        assert!("xml".parse::<SentForm>().unwrap_err().contains("yaml"));
    }

    #[test]
    fn what_is_no_suite_is_refused_with_its_line() {
        assert!(sent("[suite]\nname = 1\n", SentForm::Auto).unwrap_err().to_string().contains("line 2"));
        assert!(sent("hello", SentForm::Auto).unwrap_err().to_string().contains("no suite of a known form"));
        assert!(sent("hello", SentForm::Toml).is_err());
        // A file beside a configuration is never read here.
        let beside = "prompts: [a]\ntests: file://cases.csv\n";
        let told = read(beside.as_bytes().to_vec(), "p.yaml", SentForm::Auto, Limits::default());
        let told = told.map_or_else(|faults| faults.to_string(), |sent| sent.faults.to_string());
        assert!(told.contains("no file beside it was sent"), "{told}");
    }
}
