//! What clients ask the server about itself: `version()`, `current_setting`, `set_config`, `pg_size_pretty`.

use crate::sql::settings;
use arrow::array::{AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
    create_udf,
};
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// The functions.
pub fn server_functions() -> Vec<ScalarUDF> {
    vec![version(), size_pretty(), escaped(), setting("current_setting", false), setting("set_config", true)]
}

/// `version()`: clients read the number in it before they say anything else.
fn version() -> ScalarUDF {
    let told = ScalarValue::from(settings::version());
    let told = move |_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(told.clone()));
    create_udf("version", vec![], DataType::Utf8, Volatility::Stable, Arc::new(told))
}

/// `pg_size_pretty(bytes)`: a size as people read it.
fn size_pretty() -> ScalarUDF {
    let pretty = |args: &[ColumnarValue]| {
        let args = ColumnarValue::values_to_arrays(args)?;
        let Some(sizes) = args.first() else { return Ok(ColumnarValue::Scalar(ScalarValue::Utf8(None))) };
        let sizes = cast(sizes, &DataType::Int64)?;
        let texts = sizes.as_primitive::<Int64Type>().iter().map(|size| size.map(in_words));
        Ok(ColumnarValue::Array(Arc::new(texts.collect::<StringArray>())))
    };
    create_udf(
        "pg_size_pretty",
        vec![DataType::Int64],
        DataType::Utf8,
        Volatility::Immutable,
        Arc::new(pretty),
    )
}

/// `like_escape(pattern, mark)`: the pattern as it is without `ESCAPE mark`.
fn escaped() -> ScalarUDF {
    let escaped = |args: &[ColumnarValue]| {
        let args = ColumnarValue::values_to_arrays(args)?;
        let [patterns, marks] = args.as_slice() else {
            return Err(DataFusionError::Internal("like_escape takes two arguments".to_owned()));
        };
        let rows = patterns.as_string::<i32>().iter().zip(marks.as_string::<i32>().iter());
        let one = |(pattern, mark): (Option<&str>, Option<&str>)| {
            let (pattern, mark) = (pattern?, mark?);
            Some(mark.chars().next().map_or_else(|| pattern.to_owned(), |mark| like_escape(pattern, mark)))
        };
        Ok(ColumnarValue::Array(Arc::new(rows.map(one).collect::<StringArray>())))
    };
    let texts = vec![DataType::Utf8, DataType::Utf8];
    create_udf("like_escape", texts, DataType::Utf8, Volatility::Immutable, Arc::new(escaped))
}

/// A pattern of LIKE that is escaped by `mark`, escaped by backslashes.
pub fn like_escape(pattern: &str, mark: char) -> String {
    let mut out = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == mark {
            out.push('\\');
            out.extend(letters.next());
        } else {
            out.extend((letter == '\\').then_some('\\'));
            out.push(letter);
        }
    }
    out
}

/// As PostgreSQL does it: up to ten thousand of a unit, halves rounded away from zero.
fn in_words(bytes: i64) -> String {
    const MOST: i64 = 10 * 1024;
    if bytes.unsigned_abs() < MOST.unsigned_abs() {
        return format!("{bytes} bytes");
    }
    let mut halves = bytes / 512;
    let mut units = ["kB", "MB", "GB", "TB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        if halves.unsigned_abs() < (2 * MOST - 1).unsigned_abs() {
            break;
        }
        halves /= 1024;
        unit = larger;
    }
    format!("{} {unit}", (halves + halves.signum()) / 2)
}

/// `current_setting(name[, missing_ok])` and `set_config(name, value, is_local)`, which tells the value and sets nothing.
fn setting(name: &'static str, sets: bool) -> ScalarUDF {
    let arities = if sets { vec![3] } else { vec![1, 2] };
    let signature = TypeSignature::OneOf(arities.into_iter().map(TypeSignature::Any).collect());
    ScalarUDF::from(Setting { name, sets, signature: Signature::new(signature, Volatility::Stable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Setting {
    name: &'static str,
    sets: bool,
    signature: Signature,
}

impl ScalarUDFImpl for Setting {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let text = |at: usize| match args.args.get(at) {
            Some(value) => Ok(cast(&value.to_array(args.number_rows)?, &DataType::Utf8)?),
            None => Err(DataFusionError::Internal(format!("{} lacks an argument", self.name))),
        };
        if self.sets {
            return Ok(ColumnarValue::Array(text(1)?));
        }
        let names = text(0)?;
        let strict = args.args.len() < 2;
        let told = names.as_string::<i32>().iter().map(|name| {
            let Some(name) = name else { return Ok(None) };
            match settings::default_of(&name.to_lowercase()) {
                None if strict => Err(DataFusionError::Plan(format!("setting {name:?} not found"))),
                known => Ok(known),
            }
        });
        Ok(ColumnarValue::Array(Arc::new(told.collect::<Result<StringArray>>()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn sizes_are_those_of_postgresql() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (10_239, "10239 bytes"),
            (10_240, "10 kB"),
            (10_485_247, "10239 kB"),
            (10_485_248, "10 MB"),
            (-10_240, "-10 kB"),
            (1 << 40, "1024 GB"),
        ] {
            assert_eq!(in_words(bytes), words, "{bytes}");
        }
    }
}
