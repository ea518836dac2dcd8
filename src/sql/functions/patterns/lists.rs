//! `regexp_matches_list` and `regexp_split_to_array`.

use super::compiled::{Last, told};
use super::watch::Watch;
use crate::sql::error::SqlError;
use crate::sql::functions::bounded::check_bytes;
use arrow::array::{Array, ArrayRef, AsArray, ListBuilder, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::sync::Arc;

/// The functions.
pub fn pattern_functions() -> [ScalarUDF; 2] {
    let arities = TypeSignature::OneOf(vec![TypeSignature::Any(2), TypeSignature::Any(3)]);
    let matches = Matches { signature: Signature::new(arities, Volatility::Immutable) };
    let texts = vec![DataType::Utf8, DataType::Utf8];
    let split = Split { signature: Signature::exact(texts, Volatility::Immutable) };
    [ScalarUDF::from(matches), ScalarUDF::from(split)]
}

/// The texts of an argument, one a row; none where there is no such argument.
///
/// # Errors
/// For what is no text and cannot become one.
pub fn texts(args: &ScalarFunctionArgs, at: usize) -> Result<Option<StringArray>> {
    let Some(value) = args.args.get(at) else { return Ok(None) };
    let texts: ArrayRef = cast(&value.to_array(args.number_rows)?, &DataType::Utf8)?;
    Ok(Some(texts.as_string::<i32>().clone()))
}

/// `regexp_matches_list(text, pattern[, flags])`: of each match its groups, or all of it where there is none. One match
/// without the flag `g`, none as an empty list: the rows of `regexp_matches`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Matches {
    signature: Signature,
}

impl ScalarUDFImpl for Matches {
    fn name(&self) -> &str {
        "regexp_matches_list"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        let groups = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
        Ok(DataType::List(Arc::new(Field::new_list_field(groups, true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (Some(values), Some(patterns)) = (texts(&args, 0)?, texts(&args, 1)?) else {
            return Err(DataFusionError::Internal("regexp_matches takes a text and a pattern".to_owned()));
        };
        let flags = texts(&args, 2)?;
        let mut out = ListBuilder::new(ListBuilder::new(StringBuilder::new()));
        let (mut last, mut watch) = (Last::default(), Watch::new("regexp_matches", &args.config_options));
        let mut bytes = 0i128;
        for row in 0..args.number_rows {
            if !(values.is_valid(row) && patterns.is_valid(row)) {
                out.append(true);
                continue;
            }
            let (text, flag) = (values.value(row), flags.as_ref().map_or("", |flags| flags.value(row)));
            let (known, is_new) = last.get(patterns.value(row), known_flags(flag)?)?;
            if is_new {
                watch.look()?;
            }
            watch.once(known, text)?;
            let most = if flag.contains('g') { usize::MAX } else { 1 };
            for found in known.regex().captures_iter(text).take(most) {
                let skip = usize::from(found.len() > 1);
                bytes += found.iter().map(|group| 16 + group.map_or(0, |m| m.len()) as i128).sum::<i128>();
                check_bytes("regexp_matches", bytes)?;
                found
                    .iter()
                    .skip(skip)
                    .for_each(|m| out.values().values().append_option(m.map(|m| m.as_str())));
                out.values().append(true);
                watch.once(known, text)?;
            }
            out.append(true);
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}

/// What `flags` say about the expression itself.
fn known_flags(flags: &str) -> Result<&'static str> {
    if let Some(flag) = flags.chars().find(|flag| !matches!(flag, 'g' | 'i' | 'c')) {
        let why = format!("regexp_matches: flag {flag:?} is not known: g, i and c are");
        return Err(told(SqlError::Wrong(why)));
    }
    Ok(if flags.contains('i') { "i" } else { "" })
}

/// `regexp_split_to_array(text, pattern)`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Split {
    signature: Signature,
}

impl ScalarUDFImpl for Split {
    fn name(&self) -> &str {
        "regexp_split_to_array"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (Some(values), Some(patterns)) = (texts(&args, 0)?, texts(&args, 1)?) else {
            return Err(DataFusionError::Internal("regexp_split_to_array takes two arguments".to_owned()));
        };
        let mut out = ListBuilder::new(StringBuilder::new());
        let (mut last, mut watch) =
            (Last::default(), Watch::new("regexp_split_to_array", &args.config_options));
        let mut bytes = 0i128;
        for (text, pattern) in values.iter().zip(patterns.iter()) {
            let Some((text, pattern)) = text.zip(pattern) else {
                out.append_null();
                continue;
            };
            let (known, is_new) = last.get(pattern, "")?;
            if is_new {
                watch.look()?;
            }
            for part in known.regex().split(text) {
                watch.once(known, text)?;
                bytes += part.len() as i128 + 16;
                check_bytes("regexp_split_to_array", bytes)?;
                out.values().append_value(part);
            }
            out.append(true);
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}
