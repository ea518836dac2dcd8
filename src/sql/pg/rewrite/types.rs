//! Types that the engine does not have, and literals that it does not read.

use super::build::parsed;
use datafusion::sql::sqlparser::ast::{DataType, Expr, Value, ValueWithSpan};

/// Bytes of `2026-01-01 10:30`.
const MINUTES: usize = 16;

/// Types whose values are texts here.
const TEXTS: &[&str] = &[
    "bpchar",
    "char",
    "character_data",
    "cidr",
    "citext",
    "cstring",
    "inet",
    "jsonpath",
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
    let Value::SingleQuotedString(text) = &mut value.value else { return };
    if has_time && ends_in_minutes(text) {
        text.push_str(":00");
    } else if has_time && has_zone_after_minutes(text) {
        text.insert_str(MINUTES, ":00");
    }
}

/// What stands for a constant that is a time by its name, such as `'today'::date` and `timestamp 'now'`.
pub fn moment(expr: &Expr) -> Option<Expr> {
    let (data_type, value) = match expr {
        Expr::Cast { expr, data_type, .. } => match expr.as_ref() {
            Expr::Value(value) => (data_type, value),
            _ => return None,
        },
        Expr::TypedString(typed) => (&typed.data_type, &typed.value),
        _ => return None,
    };
    let Value::SingleQuotedString(text) = &value.value else { return None };
    let named = match text.trim().to_lowercase().as_str() {
        "now" => "now()",
        "today" => "CURRENT_DATE",
        "yesterday" => "(CURRENT_DATE - 1)",
        "tomorrow" => "(CURRENT_DATE + 1)",
        "epoch" => "DATE '1970-01-01'",
        _ => return None,
    };
    let is_time = matches!(short_name(data_type).as_str(), "date" | "timestamp" | "timestamptz");
    if is_time { parsed(&format!("CAST({named} AS {data_type})")) } else { None }
}

/// [`complete`] for an expression that is cast.
pub fn complete_cast(data_type: &DataType, expr: &mut Expr) {
    if let Expr::Value(value) = expr {
        complete(data_type, value);
    }
}

/// Spells the clock in an interval out, as in `3 days 02:00:00`: PostgreSQL writes it so, and the engine does not read it.
pub fn complete_interval(expr: &mut Expr) {
    if let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = expr
        && text.contains(':')
    {
        let words: Vec<String> = text
            .split_whitespace()
            .map(|word| spelled_out(word).unwrap_or_else(|| word.to_owned()))
            .collect();
        *text = words.join(" ");
    }
}

/// `-02:30:05.5` in words; none if it is no clock.
fn spelled_out(clock: &str) -> Option<String> {
    let (sign, bare) = clock.strip_prefix('-').map_or(("", clock), |bare| ("-", bare));
    let mut parts = bare.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_clock = parts.next().is_none() && [hours, minutes, seconds].into_iter().all(is_number);
    is_clock.then(|| format!("{sign}{hours} hours {sign}{minutes} minutes {sign}{seconds} seconds"))
}

/// The digits of a constant such as `'\x00ff'` that is cast to bytes.
pub fn bytes_in_hex<'a>(expr: &'a Expr, data_type: &DataType) -> Option<&'a str> {
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = expr else { return None };
    let digits = text.strip_prefix("\\x")?;
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    (is_hex && short_name(data_type) == "bytea").then_some(digits)
}

/// `2026-01-01 10:30+02`, and with `Z`.
fn has_zone_after_minutes(text: &str) -> bool {
    let Some((time, zone)) = text.split_at_checked(MINUTES) else { return false };
    ends_in_minutes(time) && zone.starts_with(['+', '-', 'Z'])
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
    use super::{ends_in_minutes, has_zone_after_minutes, moment, spelled_out};
    use crate::sql::pg::rewrite::build::parsed;

    #[test]
    fn times_have_names() {
        for (constant, named) in [
            ("'today'::date", Some("CAST(CURRENT_DATE AS DATE)")),
            ("timestamp 'NOW'", Some("CAST(now() AS TIMESTAMP)")),
            ("'yesterday'::text", None),
            ("'2026-01-01'::date", None),
        ] {
            let found = moment(&parsed(constant).unwrap()).map(|found| found.to_string());
            assert_eq!(found.as_deref(), named, "{constant}");
        }
    }

    #[test]
    fn zones_come_after_minutes() {
        for (text, is) in [
            ("2026-01-01 10:30+02", true),
            ("2026-01-01T10:30Z", true),
            ("2026-01-01 10:30:00+02", false),
            ("2026-01-01 10:30", false),
            ("2026-01-01 10:3é+02", false),
        ] {
            assert_eq!(has_zone_after_minutes(text), is, "{text}");
        }
    }

    #[test]
    fn clocks_are_spelled_out() {
        for (clock, words) in [
            ("02:00:00.000005", Some("02 hours 00 minutes 00.000005 seconds")),
            ("-01:30", Some("-01 hours -30 minutes -0 seconds")),
            ("days", None),
            ("1:2:3:4", None),
            (":", None),
        ] {
            assert_eq!(spelled_out(clock).as_deref(), words, "{clock}");
        }
    }

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
