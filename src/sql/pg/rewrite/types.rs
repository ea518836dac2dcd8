//! Types that the engine does not have, and literals that it does not read.

use datafusion::sql::sqlparser::ast::{DataType, Expr, Value, ValueWithSpan};

/// Types whose values are texts here.
const TEXTS: &[&str] = &[
    "bpchar",
    "char",
    "character_data",
    "cidr",
    "citext",
    "cstring",
    "inet",
    "macaddr",
    "name",
    "sql_identifier",
    "unknown",
    "uuid",
    "xml",
    "yes_or_no",
];

/// Types whose values are numbers here.
const NUMBERS: &[&str] = &["cardinal_number", "cid", "xid"];

/// The short names of types that SQL spells at length.
const SHORT: &[(&str, &str)] = &[
    ("bigint", "int8"),
    ("boolean", "bool"),
    ("double precision", "float8"),
    ("double", "float8"),
    ("float", "float8"),
    ("int", "int4"),
    ("integer", "int4"),
    ("real", "float4"),
    ("smallint", "int2"),
    ("decimal", "numeric"),
    ("character varying", "varchar"),
    ("timestamp with time zone", "timestamptz"),
    ("timestamp without time zone", "timestamp"),
];

/// The name of a type without its schema and its modifiers.
pub fn short_name(data_type: &DataType) -> String {
    let spelled = data_type.to_string().to_lowercase();
    let bare = spelled.split('(').next().unwrap_or_default().trim();
    let bare = bare.rsplit('.').next().unwrap_or(bare).trim_matches('"');
    SHORT.iter().find(|(long, _)| *long == bare).map_or(bare, |(_, short)| short).to_owned()
}

/// Whether the type is one of JSON.
pub fn is_json(data_type: &DataType) -> bool {
    matches!(short_name(data_type).as_str(), "json" | "jsonb")
}

/// The type that the engine has for `data_type`; none if it has that one itself.
pub fn instead_of(data_type: &DataType) -> Option<DataType> {
    // `char` without quotes is a type of its own.
    if !matches!(data_type, DataType::Custom(..) | DataType::Uuid) {
        return None;
    }
    let name = short_name(data_type);
    if TEXTS.contains(&name.as_str()) {
        return Some(DataType::Text);
    }
    NUMBERS.contains(&name.as_str()).then_some(DataType::BigInt(None))
}

/// Writes the seconds that PostgreSQL takes for nought into a time, if `data_type` is one.
pub fn complete(data_type: &DataType, value: &mut ValueWithSpan) {
    let has_time = matches!(data_type, DataType::Timestamp(..) | DataType::Time(..));
    if let Value::SingleQuotedString(text) = &mut value.value
        && has_time
        && ends_in_minutes(text)
    {
        text.push_str(":00");
    }
}

/// [`complete`] for an expression that is cast.
pub fn complete_cast(data_type: &DataType, expr: &mut Expr) {
    if let Expr::Value(value) = expr {
        complete(data_type, value);
    }
}

/// `10:30`, alone or after a date.
fn ends_in_minutes(text: &str) -> bool {
    let Some(at) = text.len().checked_sub(5) else { return false };
    let (before, time) = (text.as_bytes().get(..at).unwrap_or_default(), &text.as_bytes()[at..]);
    let digits = |place: &[usize]| place.iter().all(|place| time[*place].is_ascii_digit());
    let is_time = digits(&[0, 1, 3, 4]) && time[2] == b':';
    is_time && (before.is_empty() || (before.len() == 11 && matches!(before[10], b' ' | b'T')))
}

#[cfg(test)]
mod tests {
    use super::ends_in_minutes;

    #[test]
    fn minutes_end_a_time() {
        for (text, is) in [
            ("2026-01-01 10:30", true),
            ("2026-01-01T10:30", true),
            ("10:30", true),
            ("2026-01-01 10:30:00", false),
            ("2026-01-01", false),
            ("2026-01-01 00:00+00:00", false),
            ("é:30", false),
            ("", false),
        ] {
            assert_eq!(ends_in_minutes(text), is, "{text}");
        }
    }
}
