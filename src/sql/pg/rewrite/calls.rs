//! Functions that the engine knows by other names, or that are made of others.

use super::build::{parsed, seconds, text};
use super::formats::{Piece, engine_format, pieces};
use crate::sql::functions::is_of_numbers;
use datafusion::sql::sqlparser::ast::{
    Array, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Value,
    ValueWithSpan,
};

/// Functions that do the same under another name.
const RENAMED: &[(&str, &str)] = &[
    // All that are equal, not the first alone.
    ("array_remove", "array_remove_all"),
    ("array_replace", "array_replace_all"),
    ("clock_timestamp", "now"),
    ("every", "bool_and"),
    ("gen_random_uuid", "uuid"),
    ("sign", "signum"),
    ("statement_timestamp", "now"),
    ("transaction_timestamp", "now"),
    ("user", "session_user"),
    ("uuid_generate_v4", "uuid"),
    ("variance", "var_samp"),
];

/// Functions that give rows, each with the functions that give its columns as lists.
const SETS: &[(&str, &[(&str, &str)])] = &[
    ("json_array_elements", &[("value", "json_elements")]),
    ("jsonb_array_elements", &[("value", "json_elements")]),
    ("json_array_elements_text", &[("value", "json_element_texts")]),
    ("jsonb_array_elements_text", &[("value", "json_element_texts")]),
    ("json_each", &[("key", "json_keys"), ("value", "json_values")]),
    ("jsonb_each", &[("key", "json_keys"), ("value", "json_values")]),
    ("json_each_text", &[("key", "json_keys"), ("value", "json_value_texts")]),
    ("jsonb_each_text", &[("key", "json_keys"), ("value", "json_value_texts")]),
    ("json_object_keys", &[("json_object_keys", "json_keys")]),
    ("jsonb_object_keys", &[("jsonb_object_keys", "json_keys")]),
    ("jsonb_path_query", &[("jsonb_path_query", "json_path_items")]),
    ("regexp_matches", &[("regexp_matches", "regexp_matches_list")]),
    ("regexp_split_to_table", &[("regexp_split_to_table", "regexp_split_to_array")]),
    ("string_to_table", &[("string_to_table", "string_to_array")]),
];

/// The columns of a function that gives rows, each with the function that gives it as a list.
pub fn columns_of(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
    SETS.iter().find(|(known, _)| *known == name).map(|(_, columns)| *columns)
}

/// The last part of a function's name.
pub fn name_of(function: &ObjectName) -> String {
    let last = function.0.last().and_then(|part| part.as_ident());
    last.map(|name| name.value.to_lowercase()).unwrap_or_default()
}

/// The arguments of a call that are plain expressions; none if there are others.
pub fn plain(args: &[FunctionArg]) -> Option<Vec<Expr>> {
    let plain = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    args.iter().map(plain).collect()
}

/// What stands for a call that the engine has no function for; one that only has another name gets that.
pub fn instead_of(function: &mut Function) -> Option<Expr> {
    let name = name_of(&function.name);
    if let Some((_, other)) = RENAMED.iter().find(|(known, _)| *known == name) {
        function.name = ObjectName::from(vec![Ident::new(*other)]);
        return None;
    }
    let FunctionArguments::List(list) = &function.args else { return None };
    let args = plain(&list.args)?;
    if let Some([(_, list_of)]) = columns_of(&name) {
        let args: Vec<String> = args.iter().map(Expr::to_string).collect();
        return parsed(&format!("unnest({list_of}({}))", args.join(", ")));
    }
    match (name.as_str(), args.as_slice()) {
        ("json_agg" | "jsonb_agg", [_]) => {
            let mut all = function.clone();
            all.name = ObjectName::from(vec![Ident::new("array_agg")]);
            parsed(&format!("to_json({all})"))
        }
        ("time_bucket", [width, time, rest @ ..]) => bucket(width, time, rest.first()),
        ("to_char" | "to_date" | "to_timestamp", [value, Expr::Value(format)]) => {
            let format = literal(format)?;
            if name == "to_char" {
                return as_text(value, format);
            }
            let format = engine_format(format)?;
            parsed(&format!("{name}({value}, {})", text(&format)))
        }
        ("date_part", [Expr::Value(part), time]) if is_second(part) => seconds(time),
        ("age", [time]) => parsed(&format!("age(CURRENT_DATE, {time})")),
        ("timezone", [zone, time]) => parsed(&format!("({time} AT TIME ZONE {zone})")),
        ("percentile_cont", [Expr::Array(shares)]) => Some(each(function, shares)),
        ("percentile_disc", [share]) => discrete(function, share),
        _ => None,
    }
}

/// `to_char(value, format)`; none if the format is in the form of the engine.
fn as_text(value: &Expr, format: &str) -> Option<Expr> {
    if is_of_numbers(format) {
        return parsed(&format!("number_to_char({value}, {})", text(format)));
    }
    if format.contains('%') {
        return None;
    }
    let Some(pieces) = pieces(format) else {
        // The engine would write the format itself for every time: this says what is wrong.
        return parsed(&format!("number_to_char(0, {})", text(format)));
    };
    let piece = |piece: &Piece| match piece {
        Piece::Plain(own) if own.contains('%') => format!("to_char({value}, {})", text(own)),
        Piece::Plain(own) => text(own).to_string(),
        Piece::Upper(own) => format!("upper(to_char({value}, {}))", text(own)),
        Piece::Lower(own) => format!("lower(to_char({value}, {}))", text(own)),
        Piece::Quarter => format!("CAST(date_part('quarter', {value}) AS TEXT)"),
    };
    let pieces: Vec<String> = pieces.iter().map(piece).collect();
    match pieces.as_slice() {
        [one] => parsed(one),
        several => parsed(&format!("({})", several.join(" || "))),
    }
}

fn is_second(part: &ValueWithSpan) -> bool {
    literal(part).is_some_and(|part| ["second", "seconds"].contains(&part.to_lowercase().as_str()))
}

fn literal(value: &ValueWithSpan) -> Option<&str> {
    if let Value::SingleQuotedString(text) = &value.value { Some(text) } else { None }
}

/// `time_bucket(width, time[, origin])`: weeks begin on Mondays, months on their first day.
fn bucket(width: &Expr, time: &Expr, origin: Option<&Expr>) -> Option<Expr> {
    let spelled = width.to_string().to_lowercase();
    let in_months = ["mon", "year"].iter().any(|unit| spelled.contains(unit));
    let width = match width {
        Expr::Value(value) if literal(value).is_some() => format!("INTERVAL {value}"),
        other => other.to_string(),
    };
    let first = if in_months { "2000-01-01" } else { "2000-01-03" };
    let origin = origin.map_or_else(|| format!("TIMESTAMP '{first}'"), Expr::to_string);
    parsed(&format!("date_bin({width}, {time}, {origin})"))
}

/// `percentile_cont(ARRAY[a, b])` as an array of calls.
fn each(function: &Function, shares: &Array) -> Expr {
    let one = |share: &Expr| {
        let mut one = function.clone();
        if let FunctionArguments::List(list) = &mut one.args {
            list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(share.clone()))];
        }
        Expr::Function(one)
    };
    Expr::Array(Array { elem: shares.elem.iter().map(one).collect(), named: true })
}

/// `percentile_disc(f) WITHIN GROUP (ORDER BY x)`: of all values in order the first that the share of `f` does not exceed.
fn discrete(function: &Function, share: &Expr) -> Option<Expr> {
    let [key] = function.within_group.as_slice() else { return None };
    let value = &key.expr;
    let condition = match &function.filter {
        Some(filter) => format!("{value} IS NOT NULL AND ({filter})"),
        None => format!("{value} IS NOT NULL"),
    };
    let all = format!("array_agg({value} ORDER BY {key}) FILTER (WHERE {condition})");
    let count = format!("count({value}) FILTER (WHERE {condition})");
    parsed(&format!("array_element({all}, CAST(greatest(ceil({share} * {count}), 1) AS BIGINT))"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instead(call: &str) -> String {
        let Some(Expr::Function(mut function)) = parsed(call) else { panic!("{call}") };
        instead_of(&mut function).map_or_else(|| function.to_string(), |other| other.to_string())
    }

    #[test]
    fn calls_are_made_of_what_there_is() {
        for (call, other) in [
            ("every(a)", "bool_and(a)"),
            ("array_remove(a, 1)", "array_remove_all(a, 1)"),
            ("jsonb_array_elements(a)", "unnest(json_elements(a))"),
            ("jsonb_path_query(a, '$.b')", "unnest(json_path_items(a, '$.b'))"),
            ("jsonb_agg(a ORDER BY b)", "to_json(array_agg(a ORDER BY b))"),
            ("time_bucket('1 hour', t)", "date_bin(INTERVAL '1 hour', t, TIMESTAMP '2000-01-03')"),
            ("time_bucket(INTERVAL '1 month', t)", "date_bin(INTERVAL '1 month', t, TIMESTAMP '2000-01-01')"),
            ("time_bucket($1, t, o)", "date_bin($1, t, o)"),
            ("to_char(t, 'YYYY-MM')", "to_char(t, '%Y-%m')"),
            ("to_char(t, 'yyyy-mm')", "to_char(t, '%Y-%m')"),
            ("to_char(t, '%Y-%m')", "to_char(t, '%Y-%m')"),
            (
                "to_char(t, 'DD MON YYYY')",
                "(to_char(t, '%d ') || upper(to_char(t, '%b')) || to_char(t, ' %Y'))",
            ),
            ("to_char(t, 'YYYY-\"Q\"Q')", "(to_char(t, '%Y-Q') || CAST(date_part('quarter', t) AS TEXT))"),
            ("to_char(t, 'WW')", "number_to_char(0, 'WW')"),
            ("to_date(a, 'dd.mm.yyyy')", "to_date(a, '%d.%m.%Y')"),
            ("to_char(n, '99')", "number_to_char(n, '99')"),
            ("date_part('second', t)", "(CAST(date_part('microsecond', t) AS DOUBLE) / 1000000)"),
            ("date_part('minute', t)", "date_part('minute', t)"),
            ("age(t)", "age(CURRENT_DATE, t)"),
            ("age(a, b)", "age(a, b)"),
            ("timezone('UTC', t)", "(t AT TIME ZONE 'UTC')"),
            ("lower(a)", "lower(a)"),
        ] {
            assert_eq!(instead(call), other);
        }
        let both = instead("percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY a)");
        assert_eq!(both.matches("WITHIN GROUP").count(), 2, "{both}");
        let disc = instead("percentile_disc(0.5) WITHIN GROUP (ORDER BY a DESC)");
        assert!(disc.contains("array_agg(a ORDER BY a DESC) FILTER (WHERE a IS NOT NULL)"), "{disc}");
    }
}
