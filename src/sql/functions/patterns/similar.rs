//! Patterns of SIMILAR TO as regular expressions; `similar_to_escape(pattern[, mark])` does it for patterns that are known only when the
//! query runs, by the name that PostgreSQL has for it.

use super::compiled::told;
use super::lists::texts;
use crate::sql::error::SqlError;
use crate::sql::functions::bounded::check_bytes;
use arrow::array::{Array, StringBuilder};
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

/// What escapes where ESCAPE does not say.
pub const MARK: char = '\\';

/// The function.
pub fn similar_to_escape() -> ScalarUDF {
    let of = |count: usize| TypeSignature::Exact(vec![DataType::Utf8; count]);
    let signature = Signature::new(TypeSignature::OneOf(vec![of(1), of(2)]), Volatility::Immutable);
    ScalarUDF::from(Escape { signature })
}

/// Whether LIKE means the same by a pattern, and can skip files by it.
pub fn is_of_like(pattern: &str, mark: char) -> bool {
    !pattern.contains(|letter: char| letter == mark || "\\|*+?{}()[]".contains(letter))
}

/// The regular expression that a text must fit as a whole; without a `mark` nothing is escaped.
///
/// # Errors
/// [`SqlError::Wrong`] as an external error for more than two separators, which only `substring` has a use for.
pub fn expression(pattern: &str, mark: Option<char>) -> Result<String> {
    let mut out = String::with_capacity(pattern.len() + 16);
    // The dot is any letter, an end of line too.
    out.push_str("^(?s:");
    let (mut letters, mut separators) = (pattern.chars().peekable(), 0);
    while let Some(letter) = letters.next() {
        match letter {
            _ if Some(letter) == mark => match letters.next() {
                Some('"') => {
                    separators += 1;
                    out.push_str(")(?s:");
                }
                Some(escaped) => push_escaped(&mut out, escaped),
                None => {}
            },
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            '(' => out.push_str("(?:"),
            '[' => class(&mut out, &mut letters, mark),
            '\\' | '.' | '^' | '$' => out.extend(['\\', letter]),
            // What repeats and chooses is the same there, and so are letters.
            other => out.push(other),
        }
    }
    out.push_str(")$");
    if separators > 2 {
        let why = "a pattern of SIMILAR TO has more than two separators (an escaped double quote)";
        return Err(told(SqlError::Wrong(why.to_owned())));
    }
    Ok(out)
}

/// A letter after the mark: one of `\d` and its like as it is, any other as itself.
fn push_escaped(out: &mut String, letter: char) {
    if letter.is_ascii_alphanumeric() {
        out.extend(['\\', letter]);
    } else {
        out.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
    }
}

/// A class in brackets, of which the first was read. What combines classes in the engine's expressions are letters here.
fn class(out: &mut String, letters: &mut Peekable<Chars<'_>>, mark: Option<char>) {
    out.push('[');
    out.extend(letters.next_if_eq(&'^'));
    // A bracket that comes first is a letter.
    if letters.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    let mut before = None;
    while let Some(letter) = letters.next() {
        match letter {
            _ if Some(letter) == mark => {
                if let Some(escaped) = letters.next() {
                    push_escaped(out, escaped);
                }
            }
            ']' => {
                out.push(']');
                return;
            }
            '[' if letters.peek() == Some(&':') => named(out, letters),
            '[' | '&' | '~' | '^' | '\\' => out.extend(['\\', letter]),
            '-' if before == Some('-') => out.push_str("\\-"),
            other => out.push(other),
        }
        before = Some(letter);
    }
}

/// A class by its name, such as `[:digit:]`, of which the first bracket was read.
fn named(out: &mut String, letters: &mut Peekable<Chars<'_>>) {
    out.push('[');
    for letter in letters.by_ref() {
        out.push(letter);
        if letter == ']' {
            return;
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Escape {
    signature: Signature,
}

impl ScalarUDFImpl for Escape {
    fn name(&self) -> &str {
        "similar_to_escape"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(patterns) = texts(&args, 0)? else {
            return Err(DataFusionError::Internal("similar_to_escape takes a pattern".to_owned()));
        };
        let marks = texts(&args, 1)?;
        let (mut out, mut bytes) = (StringBuilder::new(), 0i128);
        for (row, pattern) in patterns.iter().enumerate() {
            let mark = marks.as_ref().map(|marks| marks.is_valid(row).then(|| marks.value(row)));
            // A mark that is NULL makes it NULL.
            let (Some(pattern), None | Some(Some(_))) = (pattern, mark) else {
                out.append_null();
                continue;
            };
            let spelled = expression(pattern, mark.flatten().map_or(Ok(Some(MARK)), mark_of)?)?;
            bytes += spelled.len() as i128;
            check_bytes("SIMILAR TO", bytes)?;
            out.append_value(spelled);
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}

/// The letter that ESCAPE names; none of an empty text.
fn mark_of(text: &str) -> Result<Option<char>> {
    let mut letters = text.chars();
    let mark = letters.next();
    if letters.next().is_some() {
        let why = "invalid escape string: that of SIMILAR TO is empty or one character";
        return Err(told(SqlError::Wrong(why.to_owned())));
    }
    Ok(mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn patterns_are_those_of_postgresql() {
        for (text, pattern, fits) in [
            ("abc", "abc", true),
            ("abc", "a", false),
            ("abc", "%(b|d)%", true),
            ("abc", "(b|c)%", false),
            ("a\nc", "a_c", true),
            ("gpt-4.1", "gpt-4.1", true),
            ("gpt-4x1", "gpt-4.1", false),
            ("^a$", "^a$", true),
            ("aab", "a{2,3}b?", true),
            ("foo", "(fo|ba)(o|r)", true),
            ("a%", "a\\%", true),
            ("ab", "a\\%", false),
            ("a1", "a\\d", true),
            ("a<", "a\\<", true),
            ("%", "[%_]", true),
            ("b", "[%_]", false),
            ("[", "[[]", true),
            ("]", "[]a]", true),
            ("b", "[^]a]", true),
            ("&", "[a&&b]", true),
            ("7", "[[:digit:]x]", true),
            ("a-", "a[+--]", true),
            ("ab", "a\\\"b\\\"", true),
            ("a", "|b", false),
        ] {
            let regex = Regex::new(&expression(pattern, Some(MARK)).unwrap()).unwrap();
            assert_eq!(regex.is_match(text), fits, "{text:?} {pattern:?}");
        }
        assert!(expression(&"\\\"".repeat(3), Some(MARK)).is_err());
        assert!(Regex::new(&expression("[a", Some(MARK)).unwrap()).is_err());
    }

    #[test]
    fn another_mark_escapes_and_none_does_not() {
        for (text, pattern, mark) in [
            ("a_", "a#_", Some('#')),
            ("a\\b", "a\\_", None),
            ("a\\b", "a\\b", Some('#')),
            ("é", "##é", Some('#')),
        ] {
            let regex = Regex::new(&expression(pattern, mark).unwrap()).unwrap();
            assert_eq!(regex.is_match(text), text != "é", "{text:?} {pattern:?}");
        }
        assert!(mark_of("").unwrap().is_none() && mark_of("##").is_err());
    }

    #[test]
    fn what_like_means_too_is_told() {
        assert!(is_of_like("^gpt-4.1%", MARK) && is_of_like("a", '#'));
        assert!(!is_of_like("a|b", MARK) && !is_of_like("a#_", '#') && !is_of_like("a\\_", '#'));
    }
}
