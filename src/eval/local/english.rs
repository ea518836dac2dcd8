//! The networks that read were taught English: what is surely in another language gets no number.

use crate::eval::language::foreign;
use crate::eval::model::ModelError;

/// The language of several texts is told from so many bytes of them; identification reads fewer.
const ENOUGH: usize = 16 << 10;

/// The start of several texts, put together.
pub fn start_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut start = String::new();
    for text in texts {
        if start.len() >= ENOUGH {
            break;
        }
        if !start.is_empty() {
            start.push(' ');
        }
        start.push_str(&text[..text.floor_char_boundary(ENOUGH)]);
    }
    start
}

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
