//! A stored suite in the form of other systems.

use super::super::exchange::{Exported, Form, Imported, export};
use super::super::load::Suite;

/// A file of a suite.
pub(super) struct WrittenFile {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
    /// What was left out because it has no form there.
    pub left_out: Vec<String>,
}

/// The `part` of a suite, suite or questions, as `format`: toml, csv, json, zip, h2o or promptfoo.
///
/// # Errors
/// What there is, when the part has no such form.
pub(super) fn written(suite: &Suite, part: &str, format: &str) -> Result<WrittenFile, String> {
    if (part, format) == ("suite", "toml") {
        let spec = suite.written_out();
        let bytes = Imported::of(spec).toml()?.into_bytes();
        return Ok(WrittenFile { media_type: "application/toml", bytes, left_out: Vec::new() });
    }
    let (form, media_type) = match format {
        "csv" => (Form::Csv, "text/csv"),
        "json" => (Form::Json, "application/json"),
        "zip" => (Form::Zip, "application/zip"),
        "h2o" => (Form::H2o, "application/json"),
        "promptfoo" => (Form::Promptfoo, "application/json"),
        other => {
            return Err(format!(
                "there is no format {other:?}; there are toml, csv, json, zip, h2o and promptfoo"
            ));
        }
    };
    // Files of tests are not kept, and no path of a test is ever read here.
    let named = suite.cases.iter().find(|case| !case.item.spec.files.is_empty());
    if let (Form::Zip, Some(case)) = (form, named) {
        return Err(format!(
            "test {:?} names files, which the server does not keep: take csv or json, which have their names",
            case.item.spec.id
        ));
    }
    let part = match part {
        "suite" => Exported::Suite(suite),
        "questions" => Exported::Questions(suite),
        other => return Err(format!("there is no part {other:?} of a suite; there are suite and questions")),
    };
    let (bytes, left_out) = export(part, form)?;
    Ok(WrittenFile { media_type, bytes, left_out })
}
