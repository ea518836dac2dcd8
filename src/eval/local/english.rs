//! The networks that read were taught English: what is surely in another language gets no number.

use crate::eval::language::foreign;
use crate::eval::model::ModelError;

/// Why a text is not judged, where it is surely in a language other than English.
///
/// # Errors
/// When the table of languages that the program carries is damaged.
pub fn not_english<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Option<String>, ModelError> {
    let failed = |error: &ModelError| ModelError::Inference { model: "language", reason: error.to_string() };
    for text in texts {
        if let Some(code) = foreign(text).map_err(failed)? {
            return Ok(Some(format!("language: {code}; this evaluator reads English")));
        }
    }
    Ok(None)
}
