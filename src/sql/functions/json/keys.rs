//! Paths of keys as PostgreSQL has them: lists of texts, and constants such as `{a,"b c",0}`.

use super::texts::Texts;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

/// The paths of an argument, row by row; a constant has one row.
#[derive(Debug)]
pub enum Paths {
    /// Such as `{a,0,b}`.
    Texts(Texts),
    /// Lists of keys, and whether there is one for all rows.
    Lists(bool, ArrayRef),
}

impl Paths {
    /// The paths of `value`, which has `rows` rows if it is no constant.
    ///
    /// # Errors
    /// For a value that has no text and is no list of such.
    pub fn new(value: &ColumnarValue, rows: usize) -> Result<Self> {
        if !value.data_type().is_nested() {
            return Ok(Paths::Texts(Texts::new(value, rows)?));
        }
        let is_one = matches!(value, ColumnarValue::Scalar(_));
        let list = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
        Ok(Paths::Lists(is_one, cast(&value.to_array(if is_one { 1 } else { rows })?, &list)?))
    }

    /// The keys of a row; none if it, or one of them, is NULL.
    ///
    /// # Errors
    /// As [`keys`].
    pub fn at(&self, row: usize) -> Result<Option<Vec<String>>> {
        match self {
            Paths::Texts(texts) => texts.at(row).map_or(Ok(None), keys),
            Paths::Lists(is_one, lists) => {
                let at = if *is_one { 0 } else { row };
                if lists.is_null(at) {
                    return Ok(None);
                }
                let keys = lists.as_list::<i32>().value(at);
                Ok(keys.as_string::<i32>().iter().map(|key| key.map(str::to_owned)).collect())
            }
        }
    }
}

/// The keys of a constant, by the rules of PostgreSQL for a list of one dimension: blanks around a key are none of it, a key in
/// double quotes is taken as it is, and a backslash takes the letter behind it as it is. None if a key is NULL, without quotes.
///
/// # Errors
/// For a text that is no such list: without braces, with an empty key that has no quotes, with a list in it, or with a quote or
/// a backslash that nothing follows.
pub fn keys(text: &str) -> Result<Option<Vec<String>>> {
    let wrong = || DataFusionError::Execution(format!("malformed array literal: {text:?}"));
    let inner = text.trim_matches(is_blank).strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let mut letters = inner.ok_or_else(wrong)?.trim_start_matches(is_blank).chars().peekable();
    let mut keys = Vec::new();
    while letters.peek().is_some() || !keys.is_empty() {
        while letters.next_if(|letter| is_blank(*letter)).is_some() {}
        let key = match letters.next_if_eq(&'"') {
            Some(_) => quoted(&mut letters).map(Some),
            None => plain(&mut letters),
        };
        keys.push(key.ok_or_else(wrong)?);
        while letters.next_if(|letter| is_blank(*letter)).is_some() {}
        match letters.next() {
            None => break,
            Some(',') => {}
            Some(_) => return Err(wrong()),
        }
    }
    Ok(keys.into_iter().collect())
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

/// A key behind its first quote; none if the second is not there.
fn quoted(letters: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut key = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(key),
            '\\' => key.push(letters.next()?),
            other => key.push(other),
        }
    }
}

/// A key without quotes, of which the inner none is NULL; none if it is no key.
fn plain(letters: &mut Peekable<Chars<'_>>) -> Option<Option<String>> {
    let (mut key, mut end, mut is_escaped) = (String::new(), 0, false);
    while let Some(letter) = letters.next_if(|letter| *letter != ',') {
        match letter {
            '"' | '{' | '}' => return None,
            '\\' => {
                key.push(letters.next()?);
                is_escaped = true;
                end = key.len();
            }
            other => {
                key.push(other);
                if !is_blank(other) {
                    end = key.len();
                }
            }
        }
    }
    key.truncate(end);
    match key.as_str() {
        "" => None,
        null if !is_escaped && null.eq_ignore_ascii_case("null") => Some(None),
        _ => Some(Some(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ListArray, StringArray};
    use arrow::datatypes::Int32Type;

    #[test]
    fn paths_are_lists_of_keys() {
        for (text, wanted) in [
            (r#" { a , "b, c" ,"d\"e", f g ,0} "#, vec!["a", "b, c", "d\"e", "f g", "0"]),
            (
                r#"{"{a}"," b ",\ c\ ,d\,e,"","null",n\ull}"#,
                vec!["{a}", " b ", " c ", "d,e", "", "null", "null"],
            ),
            ("{ä,b\u{a0}}", vec!["ä", "b\u{a0}"]),
            ("{}", vec![]),
            ("{ }", vec![]),
        ] {
            assert_eq!(keys(text).unwrap().unwrap(), wanted, "{text}");
        }
        assert_eq!(keys("{a,NULL}").unwrap(), None);
        for wrong in
            ["a", "", "{", "{a", "a}", "{a,}", "{,a}", "{,}", "{a,,b}", r#"{"a}"#, r#"{"a"b}"#, r#"{a"b"}"#]
        {
            let why = keys(wrong).expect_err(wrong).to_string();
            assert!(why.contains("malformed array literal"), "{why}");
        }
        assert!(keys(r"{a\}").is_err() && keys("{{a},{b}}").is_err() && keys("{a}}").is_err());
    }

    #[test]
    fn rows_have_paths_of_their_own() {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(-2)]), None]);
        let lists = Paths::new(&ColumnarValue::Array(Arc::new(lists)), 2).unwrap();
        assert_eq!(lists.at(0).unwrap().unwrap(), ["1", "-2"]);
        assert_eq!(lists.at(1).unwrap(), None);
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("{a}"), None, Some("b")]));
        let texts = Paths::new(&ColumnarValue::Array(texts), 3).unwrap();
        assert_eq!(texts.at(0).unwrap().unwrap(), ["a"]);
        assert_eq!(texts.at(1).unwrap(), None);
        assert!(texts.at(2).is_err());
    }
}
