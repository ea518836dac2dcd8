//! Functions on lists that the PostgreSQL port makes aggregates of: `list_mode`; and `regexp_matches_list`.

use super::bounded::check_bytes;
use arrow::array::{
    Array, ArrayRef, AsArray, ListBuilder, StringArray, StringBuilder, UInt64Array, make_comparator,
};
use arrow::compute::{SortOptions, cast, take};
use arrow::datatypes::{DataType, Field};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use regex::{Regex, RegexBuilder};
use std::cmp::Ordering;
use std::sync::Arc;

/// The functions.
pub fn list_functions() -> [ScalarUDF; 2] {
    let any = Signature::any(1, Volatility::Immutable);
    let arities = TypeSignature::OneOf(vec![TypeSignature::Any(2), TypeSignature::Any(3)]);
    let matches = Matches { signature: Signature::new(arities, Volatility::Immutable) };
    [ScalarUDF::from(Mode { signature: any }), ScalarUDF::from(matches)]
}

/// `list_mode(list)`: of a list in order the first of the most frequent values.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Mode {
    signature: Signature,
}

impl ScalarUDFImpl for Mode {
    fn name(&self) -> &str {
        "list_mode"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::List(element)] => Ok(element.data_type().clone()),
            _ => Err(DataFusionError::Plan("list_mode takes a list".to_owned())),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = args.args.first() else {
            return Err(DataFusionError::Internal("list_mode takes one argument".to_owned()));
        };
        let lists = value.to_array(args.number_rows)?;
        let lists = lists.as_list::<i32>();
        let values = lists.values();
        let compare = make_comparator(values.as_ref(), values.as_ref(), SortOptions::default())?;
        let mode = |row: usize| {
            let span = lists.value_offsets().get(row..=row + 1)?;
            let (from, to) = (usize::try_from(span[0]).ok()?, usize::try_from(span[1]).ok()?);
            (lists.is_valid(row) && from < to).then(|| longest(from, to, &compare) as u64)
        };
        let at: UInt64Array = (0..lists.len()).map(mode).collect();
        Ok(ColumnarValue::Array(take(values.as_ref(), &at, None)?))
    }
}

/// Where the first of the longest runs of equal values begins.
fn longest(from: usize, to: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> usize {
    let (mut best, mut most, mut start) = (from, 0, from);
    for end in from + 1..=to {
        if end == to || compare(start, end).is_ne() {
            if end - start > most {
                (best, most) = (start, end - start);
            }
            start = end;
        }
    }
    best
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
        let rows = args.number_rows;
        let text = |at: usize| -> Result<Option<StringArray>> {
            let Some(value) = args.args.get(at) else { return Ok(None) };
            let texts: ArrayRef = cast(&value.to_array(rows)?, &DataType::Utf8)?;
            Ok(Some(texts.as_string::<i32>().clone()))
        };
        let (Some(texts), Some(patterns)) = (text(0)?, text(1)?) else {
            return Err(DataFusionError::Internal("regexp_matches takes a text and a pattern".to_owned()));
        };
        let flags = text(2)?;
        let mut out = ListBuilder::new(ListBuilder::new(StringBuilder::new()));
        let mut last: Option<(String, String, Regex)> = None;
        let mut bytes = 0i128;
        for row in 0..rows {
            let flag = flags.as_ref().map_or("", |flags| flags.value(row));
            if !(texts.is_valid(row) && patterns.is_valid(row)) {
                out.append(true);
                continue;
            }
            let (text, pattern) = (texts.value(row), patterns.value(row));
            let known = match last.take().filter(|(p, f, _)| p == pattern && f == flag) {
                Some(known) => known,
                None => (pattern.to_owned(), flag.to_owned(), compiled(pattern, flag)?),
            };
            let most = if flag.contains('g') { usize::MAX } else { 1 };
            for found in known.2.captures_iter(text).take(most) {
                let skip = usize::from(found.len() > 1);
                bytes += found.iter().map(|group| 16 + group.map_or(0, |m| m.len()) as i128).sum::<i128>();
                check_bytes("regexp_matches", bytes)?;
                found
                    .iter()
                    .skip(skip)
                    .for_each(|m| out.values().values().append_option(m.map(|m| m.as_str())));
                out.values().append(true);
            }
            out.append(true);
            last = Some(known);
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}

fn compiled(pattern: &str, flags: &str) -> Result<Regex> {
    if let Some(flag) = flags.chars().find(|flag| !matches!(flag, 'g' | 'i' | 'c')) {
        let why = format!("regexp_matches: flag {flag:?} is not known: g, i and c are");
        return Err(DataFusionError::Execution(why));
    }
    RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .build()
        .map_err(|why| DataFusionError::Execution(format!("invalid pattern: {why}")))
}
