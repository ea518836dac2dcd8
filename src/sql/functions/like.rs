//! `like_any(text, patterns)` and `ilike_any`: `text LIKE ANY (patterns)` where the patterns are a list that is known only when the
//! query runs, as drivers send it.

use super::json::list_of_texts;
use arrow::array::{Array, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::sync::Arc;

/// Patterns that one batch of rows may have.
const MAX_PATTERNS: usize = 1000;

/// Bytes that a pattern takes once it is compiled, and again where it is matched: the memory pool does not see them.
const MAX_PATTERN: usize = 256 << 10;

/// The functions.
pub fn like_functions() -> [ScalarUDF; 2] {
    [("like_any", false), ("ilike_any", true)].map(|(name, any_case)| {
        let signature = Signature::exact(vec![DataType::Utf8, list_of_texts()], Volatility::Immutable);
        ScalarUDF::from(LikeAny { name, any_case, signature })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct LikeAny {
    name: &'static str,
    any_case: bool,
    signature: Signature,
}

impl ScalarUDFImpl for LikeAny {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text, patterns] = args.args.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} takes two arguments", self.name)));
        };
        let is_constant = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
        let (one_text, one_list) = (is_constant(text), is_constant(patterns));
        let rows = if one_text && one_list { 1 } else { args.number_rows };
        let texts = cast(&text.to_array(if one_text { 1 } else { rows })?, &DataType::Utf8)?;
        let lists = cast(&patterns.to_array(if one_list { 1 } else { rows })?, &list_of_texts())?;
        let (texts, lists) = (texts.as_string::<i32>(), lists.as_list::<i32>());
        let mut known: HashMap<String, Regex> = HashMap::new();
        let mut out = Vec::with_capacity(rows);
        for row in 0..rows {
            let (at, list) = (if one_text { 0 } else { row }, if one_list { 0 } else { row });
            if texts.is_null(at) || lists.is_null(list) {
                out.push(None);
                continue;
            }
            let patterns = lists.value(list);
            out.push(self.fits_any(texts.value(at), patterns.as_string::<i32>().iter(), &mut known)?);
        }
        let out = BooleanArray::from(out);
        if one_text && one_list {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(Arc::new(out)))
    }
}

impl LikeAny {
    /// Whether a pattern fits; none if none does and one is NULL.
    fn fits_any<'a>(
        &self,
        text: &str,
        patterns: impl Iterator<Item = Option<&'a str>>,
        known: &mut HashMap<String, Regex>,
    ) -> Result<Option<bool>> {
        let mut any_null = false;
        for pattern in patterns {
            let Some(pattern) = pattern else {
                any_null = true;
                continue;
            };
            let fits = match known.get(pattern) {
                Some(regex) => regex.is_match(text),
                None => {
                    if known.len() >= MAX_PATTERNS {
                        let why = format!("{} has more than {MAX_PATTERNS} patterns for a batch", self.name);
                        return Err(DataFusionError::Execution(why));
                    }
                    let regex = expression(pattern, self.any_case)?;
                    let fits = regex.is_match(text);
                    known.insert(pattern.to_owned(), regex);
                    fits
                }
            };
            if fits {
                return Ok(Some(true));
            }
        }
        Ok((!any_null).then_some(false))
    }
}

/// A pattern of LIKE as a regular expression.
fn expression(pattern: &str, any_case: bool) -> Result<Regex> {
    let mut spelled = String::from("^");
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => spelled.push_str(".*"),
            '_' => spelled.push('.'),
            '\\' => spelled.push_str(&regex::escape(letters.next().unwrap_or('\\').encode_utf8(&mut [0; 4]))),
            plain => spelled.push_str(&regex::escape(plain.encode_utf8(&mut [0; 4]))),
        }
    }
    spelled.push('$');
    let built = RegexBuilder::new(&spelled)
        .case_insensitive(any_case)
        .dot_matches_new_line(true)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN)
        .build();
    built.map_err(|why| DataFusionError::Execution(format!("a pattern of LIKE ANY is too long: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_like() {
        let fits = |pattern: &str, text: &str| expression(pattern, false).unwrap().is_match(text);
        assert!(fits("a%", "a.b\nc") && fits("_b", "éb") && fits("50\\%", "50%") && fits("(x)", "(x)"));
        assert!(!fits("a", "ab") && !fits("50\\%", "500") && !fits("A%", "a"));
        assert!(expression("A%", true).unwrap().is_match("ab"));
        assert!(expression(&"_".repeat(100_000), false).is_err());
    }

    #[test]
    fn one_pattern_is_enough_and_null_is_unknown() {
        let signature = Signature::any(2, Volatility::Immutable);
        let like = LikeAny { name: "like_any", any_case: false, signature };
        let mut known = HashMap::new();
        let mut any =
            |patterns: &[Option<&str>]| like.fits_any("ab", patterns.iter().copied(), &mut known).unwrap();
        assert_eq!(any(&[Some("x"), None, Some("a%")]), Some(true));
        assert_eq!(any(&[Some("x"), None]), None);
        assert_eq!((any(&[Some("x")]), any(&[])), (Some(false), Some(false)));
    }
}
