//! A suite or a report in one of the forms.

use super::super::load::Suite;
use super::super::spec::TestSpec;
use super::blocks::csv_text;
use super::{h2o, promptfoo_out, results, vals_csv, vals_json};
use crate::lab::template::plain;
use crate::lab::zip;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// Longest file that goes into an archive, bytes.
const MAX_DOCUMENT: u64 = 100 << 20;

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For reading.
    Csv,
    /// For programs.
    Json,
    /// With the files that tests name.
    Zip,
    /// For H2O Eval Studio.
    H2o,
    /// A configuration of promptfoo, as JSON.
    Promptfoo,
}

/// What is written.
#[derive(Debug, Clone, Copy)]
pub enum Exported<'a> {
    /// The suite.
    Suite(&'a Suite),
    /// What it asks, one column.
    Questions(&'a Suite),
    /// The results of a report.
    Results(&'a Json),
    /// As CSV, one row a check.
    FlatResults(&'a Json),
    /// Questions and answers of a report.
    Answers(&'a Json),
}

/// The bytes of a part, and what was left out because it has no form there.
///
/// # Errors
/// When the part has no such form, or a file of a test cannot be read.
pub fn export(part: Exported<'_>, form: Form) -> Result<(Vec<u8>, Vec<String>), String> {
    let mut warnings = Vec::new();
    let text = match (part, form) {
        (Exported::Suite(suite), Form::Zip) => return archive(suite).map(|bytes| (bytes, warnings)),
        (Exported::Suite(suite), Form::Csv) => {
            vals_csv::write(&suite.head, &suite.common, &tests(suite), &mut warnings)?
        }
        (Exported::Suite(suite), Form::Json) => {
            vals_json::write(&suite.head, &suite.common, &tests(suite), &mut warnings)?
        }
        (Exported::Suite(suite), Form::H2o) => {
            h2o::write(&suite.head, &suite.common, &tests(suite), &mut warnings)?
        }
        (Exported::Suite(suite), Form::Promptfoo) => {
            promptfoo_out::write(&suite.head, &suite.common, &tests(suite), &mut warnings)?
        }
        (Exported::Questions(suite), Form::Csv) => {
            let head = std::iter::once("Test Input".to_owned());
            let rows = head.chain(suite.cases.iter().map(|case| plain(&case.item.spec.input)));
            csv_text(&rows.map(|cell| vec![cell]).collect::<Vec<_>>())?
        }
        (Exported::Questions(suite), Form::Json) => {
            let asked = suite.cases.iter().map(|case| json!({ "input_under_test": case.item.spec.input }));
            pretty(&asked.collect())?
        }
        (Exported::Results(report), Form::Csv) => results::results(report, false)?,
        (Exported::FlatResults(report), Form::Csv) => results::results(report, true)?,
        (Exported::Results(report), Form::Json) => {
            results::runs(report)?;
            pretty(report)?
        }
        (Exported::Results(report), Form::Zip) => {
            let files = BTreeMap::from([
                ("results.csv".to_owned(), results::results(report, false)?.into_bytes()),
                ("results.flat.csv".to_owned(), results::results(report, true)?.into_bytes()),
                ("results.json".to_owned(), (format!("{report:#}\n")).into_bytes()),
            ]);
            return zip::write(&files).map(|bytes| (bytes, warnings));
        }
        (Exported::Answers(report), Form::Csv) => results::answers(report)?,
        (Exported::Answers(report), Form::Json) => pretty(&results::pairs(report)?)?,
        _ => return Err("this part is not written in this format: try csv".to_owned()),
    };
    Ok((text.into_bytes(), warnings))
}

fn pretty(json: &Json) -> Result<String, String> {
    Ok(serde_json::to_string_pretty(json).map_err(|e| e.to_string())? + "\n")
}

fn tests(suite: &Suite) -> Vec<TestSpec> {
    suite.cases.iter().map(|case| case.item.spec.clone()).collect()
}

/// The suite as JSON with every file that a test names.
fn archive(suite: &Suite) -> Result<Vec<u8>, String> {
    let (mut files, mut warnings) = (BTreeMap::new(), Vec::new());
    let mut tests = tests(suite);
    for test in &mut tests {
        for file in &mut test.files {
            let path = suite.folder.join(&*file);
            let told = |why: String| format!("test {:?}: {}: {why}", test.id, path.display());
            let length = std::fs::metadata(&path).map_err(|e| told(e.to_string()))?.len();
            if length > MAX_DOCUMENT {
                return Err(told(format!("{length} bytes, at most {MAX_DOCUMENT} (100 MiB)")));
            }
            let is_below = Path::new(&*file).components().all(|part| matches!(part, Component::Normal(_)));
            if !is_below {
                return Err(told(
                    "a file of an archive lies in the folder of the suite or below it".to_owned(),
                ));
            }
            let content = std::fs::read(&path).map_err(|e| told(e.to_string()))?;
            let name = format!("documents/{}", file.strip_prefix("documents/").unwrap_or(file));
            *file = name.clone();
            files.insert(name, content);
        }
    }
    let json = vals_json::write(&suite.head, &suite.common, &tests, &mut warnings)?;
    if let Some(first) = warnings.first() {
        return Err(format!("{first}: export the suite as CSV or JSON to leave it out"));
    }
    files.insert("suite.json".to_owned(), json.into_bytes());
    zip::write(&files)
}
