//! What clients ask the server about itself: `version()`, `current_setting`, `set_config`, `pg_size_pretty`; and how they
//! spell texts: `format`, `quote_literal`.

use super::bounded::check_bytes;
use crate::sql::settings;
use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
    create_udf,
};
use datafusion::scalar::ScalarValue;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

/// The functions.
pub fn server_functions() -> Vec<ScalarUDF> {
    let signature = Signature::variadic_any(Volatility::Immutable);
    let format = ScalarUDF::from(Format { signature });
    let settings = [setting("current_setting", &[1, 2], Verb::Show), setting("set_config", &[3], Verb::Set)];
    let quotes = [quote("quote_literal", None), quote("quote_nullable", Some("NULL"))];
    let type_of = ScalarUDF::from(TypeOf { signature: Signature::any(1, Volatility::Immutable) });
    let mut all = vec![version(), size_pretty(), escaped(), format, type_of];
    all.extend(settings);
    all.extend(quotes);
    all
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
            Some(like_escape(pattern, mark.chars().next()))
        };
        Ok(ColumnarValue::Array(Arc::new(rows.map(one).collect::<StringArray>())))
    };
    let texts = vec![DataType::Utf8, DataType::Utf8];
    create_udf("like_escape", texts, DataType::Utf8, Volatility::Immutable, Arc::new(escaped))
}

/// A pattern of LIKE that is escaped by `mark`, or by nothing, escaped by backslashes.
pub fn like_escape(pattern: &str, mark: Option<char>) -> String {
    let mut out = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if Some(letter) == mark {
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
fn setting(name: &'static str, arities: &[usize], verb: Verb) -> ScalarUDF {
    let signature = TypeSignature::OneOf(arities.iter().copied().map(TypeSignature::Any).collect());
    ScalarUDF::from(Setting { name, verb, signature: Signature::new(signature, Volatility::Stable) })
}

/// What a function does about a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Verb {
    /// Tells its value.
    Show,
    /// Tells the value that it was to have.
    Set,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Setting {
    name: &'static str,
    verb: Verb,
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
        let names = text(0)?;
        if self.verb == Verb::Set {
            let values = text(1)?;
            check_zones(names.as_string(), values.as_string())?;
            return Ok(ColumnarValue::Array(values));
        }
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

/// What a client may not be told of as if it were set: another zone than UTC.
fn check_zones(names: &StringArray, values: &StringArray) -> Result<()> {
    let is_other = |(name, value): (Option<&str>, Option<&str>)| match (name, value) {
        (Some(name), Some(value)) if name.eq_ignore_ascii_case("timezone") && !settings::is_utc(value) => {
            Some(DataFusionError::Plan(settings::other_zone(value)))
        }
        _ => None,
    };
    names.iter().zip(values.iter()).find_map(is_other).map_or(Ok(()), Err)
}

/// A text as a constant of SQL.
fn quoted(text: &str) -> String {
    let inner = text.replace('\'', "''");
    if inner.contains('\\') { format!("E'{}'", inner.replace('\\', "\\\\")) } else { format!("'{inner}'") }
}

/// `quote_literal(text)`, and `quote_nullable`, which has a word for NULL.
fn quote(name: &'static str, null: Option<&'static str>) -> ScalarUDF {
    let quote = move |args: &[ColumnarValue]| {
        let args = ColumnarValue::values_to_arrays(args)?;
        let Some(texts) = args.first() else { return Ok(ColumnarValue::Scalar(ScalarValue::Utf8(None))) };
        let texts =
            texts.as_string::<i32>().iter().map(|text| text.map(quoted).or_else(|| null.map(str::to_owned)));
        Ok(ColumnarValue::Array(Arc::new(texts.collect::<StringArray>())))
    };
    create_udf(name, vec![DataType::Utf8], DataType::Utf8, Volatility::Immutable, Arc::new(quote))
}

/// `pg_typeof(value)`: the type, as PostgreSQL calls what the port sends of it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TypeOf {
    signature: Signature,
}

impl ScalarUDFImpl for TypeOf {
    fn name(&self) -> &str {
        "pg_typeof"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let told = args.arg_fields.first().map(|field| type_name(field.data_type()));
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8(told)))
    }
}

fn type_name(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Null => "unknown",
        DataType::Boolean => "boolean",
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => "smallint",
        DataType::Int32 | DataType::UInt16 => "integer",
        DataType::Int64 | DataType::UInt32 | DataType::UInt64 => "bigint",
        DataType::Decimal128(..) | DataType::Decimal256(..) => "numeric",
        DataType::Float16 | DataType::Float32 => "real",
        DataType::Float64 => "double precision",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "bytea",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time without time zone",
        DataType::Timestamp(_, None) => "timestamp without time zone",
        DataType::Timestamp(_, Some(_)) => "timestamp with time zone",
        DataType::Interval(_) | DataType::Duration(_) => "interval",
        DataType::List(element) if !element.data_type().is_nested() => {
            return format!("{}[]", type_name(element.data_type()));
        }
        _ => "text",
    };
    name.to_owned()
}

/// `format('%s is %I', …)`: `%s` a text, `%I` a name, `%L` a constant, `%%` the sign itself; `%2$s` is the second value.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Format {
    signature: Signature,
}

impl ScalarUDFImpl for Format {
    fn name(&self) -> &str {
        "format"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let text = |value: &ColumnarValue| -> Result<ArrayRef> {
            Ok(cast(&value.to_array(args.number_rows)?, &DataType::Utf8)?)
        };
        let columns: Vec<ArrayRef> = args.args.iter().map(text).collect::<Result<_>>()?;
        let (mut out, mut bytes) = (StringBuilder::new(), 0i128);
        for row in 0..args.number_rows {
            let cell = |column: &ArrayRef| {
                let texts = column.as_string::<i32>();
                texts.is_valid(row).then(|| texts.value(row).to_owned())
            };
            let cells: Vec<Option<String>> = columns.iter().map(cell).collect();
            let Some((Some(form), values)) = cells.split_first() else {
                out.append_null();
                continue;
            };
            let text = filled(form, values)?;
            bytes += text.len() as i128;
            check_bytes("format", bytes)?;
            out.append_value(text);
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}

/// Letters that a value is filled up to, at most.
const MAX_WIDTH: usize = 1 << 20;

fn wrong(why: &str) -> DataFusionError {
    DataFusionError::Execution(format!("format: {why}"))
}

/// The number that comes next, if one does.
fn number(letters: &mut Peekable<Chars<'_>>) -> Result<Option<usize>> {
    let mut digits = String::new();
    while let Some(digit) = letters.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    if digits.is_empty() {
        return Ok(None);
    }
    let number = digits.parse().ok().filter(|number| *number <= MAX_WIDTH);
    number.map(Some).ok_or_else(|| wrong("a number is too large"))
}

/// `%`, the place of the value and `$`, `-` for blanks behind it, its width, and what it is: all but the last may be left out.
fn filled(form: &str, values: &[Option<String>]) -> Result<String> {
    let mut out = String::new();
    let (mut next, mut letters) = (0, form.chars().peekable());
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let (mut place, mut width) = (None, number(&mut letters)?);
        if width.is_some() && letters.next_if_eq(&'$').is_some() {
            (place, width) = (width, None);
        }
        let is_left = letters.next_if_eq(&'-').is_some();
        if width.is_none() {
            width = number(&mut letters)?;
        }
        let kind = letters.next().ok_or_else(|| wrong("the text ends after %"))?;
        if kind == '%' {
            out.push('%');
            continue;
        }
        let at = match place {
            Some(place) => place.checked_sub(1).ok_or_else(|| wrong("the first argument is 1$"))?,
            None => next,
        };
        next = at + 1;
        let value = values.get(at).ok_or_else(|| wrong("too few arguments"))?.as_deref();
        let (told, width) = (spelled(kind, value)?, width.unwrap_or(0));
        // `format!` panics beyond 65,535.
        let blanks = " ".repeat(width.saturating_sub(told.chars().count()));
        let (before, behind) = if is_left { ("", blanks.as_str()) } else { (blanks.as_str(), "") };
        out.extend([before, told.as_str(), behind]);
        // A short text can ask for many wide values.
        check_bytes("format", out.len() as i128)?;
    }
    Ok(out)
}

/// A value as a text, as a name or as a constant.
fn spelled(kind: char, value: Option<&str>) -> Result<String> {
    match kind {
        's' => Ok(value.unwrap_or_default().to_owned()),
        'L' => Ok(value.map_or_else(|| "NULL".to_owned(), quoted)),
        'I' => {
            let name = value.ok_or_else(|| wrong("a name is NULL"))?;
            let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
            let is_plain = is_plain && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty();
            Ok(if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) })
        }
        other => Err(wrong(&format!("%{other} is not known: %s, %I, %L and %%"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{DataType, MAX_WIDTH, filled, in_words, quoted, type_name};

    #[test]
    fn formats_are_filled() {
        let values = [Some("a'b".to_owned()), Some("Name".to_owned()), None];
        assert_eq!(filled("%% %s %I %s.", &values).unwrap(), "% a'b \"Name\" .");
        assert_eq!(filled("%L %L", &values).unwrap(), "'a''b' 'Name'");
        assert_eq!(filled("%2$s %1$s %s|%-5s|", &values).unwrap(), "Name a'b Name|     |");
        assert_eq!(filled("%1$6s|%-6s|%2$-3s|%%", &values).unwrap(), "   a'b|Name  |Name|%");
        let wide = filled("%70000s|%-1048576s", &values).unwrap();
        assert_eq!((wide.len(), wide.trim()), (70_001 + MAX_WIDTH, "a'b|Name"));
        for wrong in ["%3$s %s", "%0$s", "%9999999999s", "%1$", "%2"] {
            assert!(filled(wrong, &values).is_err(), "{wrong}");
        }
        assert!(filled("%s", &[]).is_err() && filled("%d", &values).is_err());
        assert_eq!(quoted("a\\b"), "E'a\\\\b'");
    }

    #[test]
    fn types_have_the_names_of_postgresql() {
        assert_eq!(type_name(&DataType::new_list(DataType::Float64, true)), "double precision[]");
        assert_eq!(type_name(&DataType::Utf8View), "text");
    }

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
