//! Calls that are made of several others, or of operators.

use super::build::{parsed, text};
use super::calls::{name_of, plain};
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, TableAliasColumnDef,
    TableFactor, Value, ValueWithSpan,
};

/// The arguments of `make_interval` in their order, each with one of its units.
const UNITS: [(&str, &str); 7] = [
    ("years", "1 year"),
    ("months", "1 month"),
    ("weeks", "7 days"),
    ("days", "1 day"),
    ("hours", "1 hour"),
    ("mins", "1 minute"),
    ("secs", "1 second"),
];

/// What stands for a call.
pub fn instead_of(function: &Function) -> Option<Expr> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let name = name_of(&function.name);
    if name == "make_interval" {
        return interval(&list.args);
    }
    let args = plain(&list.args)?;
    match (name.as_str(), args.as_slice()) {
        ("mode", []) => most_frequent(function),
        ("json_object_agg" | "jsonb_object_agg", [key, value]) => object(function, &name, key, value),
        ("width_bucket", [value, low, high, count]) => bucket(value, low, high, count),
        ("count", [Expr::Tuple(parts)]) => rows_counted(function, parts),
        ("first", [value, time]) => at_the_end("first_value", function, value, time),
        ("last", [value, time]) => at_the_end("last_value", function, value, time),
        ("regexp_substr", [value, pattern]) => {
            parsed(&format!("array_element(regexp_match({value}, '(' || {pattern} || ')'), 1)"))
        }
        ("current_timestamp", [_]) => parsed("now()"),
        ("mod", [value, divisor]) => parsed(&format!("(({value}) % ({divisor}))")),
        ("div", [value, divisor]) => parsed(&format!("trunc(({value}) / ({divisor}))")),
        ("make_timestamp", [year, month, day, hour, minute, second]) => parsed(&format!(
            "(CAST(make_date({year}, {month}, {day}) AS TIMESTAMP) + INTERVAL '1 hour' * ({hour}) \
             + INTERVAL '1 minute' * ({minute}) + INTERVAL '1 second' * ({second}))"
        )),
        ("json_exists", [json, path]) if list.clauses.is_empty() => {
            parsed(&format!("coalesce(jsonb_path_exists({json}, {path}, '{{}}', true), false)"))
        }
        ("json_query", [json, path]) if list.clauses.is_empty() => {
            parsed(&format!("jsonb_path_query_first({json}, {path}, '{{}}', true)"))
        }
        ("json_value", [json, path]) if list.clauses.is_empty() => {
            parsed(&format!("(jsonb_path_query_first({json}, {path}, '{{}}', true) #>> '{{}}')"))
        }
        ("date", [time]) => parsed(&format!("CAST({time} AS DATE)")),
        // A time without a zone is UTC here, also before it is seen from another.
        ("date_trunc", [unit, time, zone]) => {
            parsed(&format!("date_trunc({unit}, ({time}) AT TIME ZONE 'UTC' AT TIME ZONE {zone})"))
        }
        _ => None,
    }
}

/// `first(value, time)` and `last`, which come with `time_bucket`.
fn at_the_end(name: &str, function: &Function, value: &Expr, time: &Expr) -> Option<Expr> {
    // Over a window it is another question.
    if function.over.is_some() {
        return None;
    }
    let filter = function.filter.as_ref().map(|filter| format!(" FILTER (WHERE {filter})"));
    parsed(&format!("{name}({value} ORDER BY {time}){}", filter.unwrap_or_default()))
}

/// `count(DISTINCT (a, b))`: the engine takes memory without end for structs, and little for their texts.
fn rows_counted(function: &Function, parts: &[Expr]) -> Option<Expr> {
    let mut counted = function.clone();
    let FunctionArguments::List(list) = &mut counted.args else { return None };
    let parts: Vec<String> = parts.iter().map(Expr::to_string).collect();
    let row = parsed(&format!("jsonb_build_array({})", parts.join(", ")))?;
    list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(row))];
    Some(Expr::Function(counted))
}

/// `make_interval(hours => 2)`, by names and by places.
fn interval(args: &[FunctionArg]) -> Option<Expr> {
    let mut parts = Vec::new();
    for (place, arg) in args.iter().enumerate() {
        let (unit, value) = match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => (UNITS.get(place)?.1, value),
            FunctionArg::ExprNamed {
                name: Expr::Identifier(name),
                arg: FunctionArgExpr::Expr(value),
                ..
            }
            | FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => {
                let name = name.value.to_lowercase();
                (UNITS.iter().find(|(known, _)| *known == name)?.1, value)
            }
            _ => return None,
        };
        parts.push(format!("INTERVAL '{unit}' * ({value})"));
    }
    let sum = if parts.is_empty() { "INTERVAL '0 seconds'".to_owned() } else { parts.join(" + ") };
    parsed(&format!("({sum})"))
}

/// `mode() WITHIN GROUP (ORDER BY x)`: of the values in order the first of the most frequent.
fn most_frequent(function: &Function) -> Option<Expr> {
    let [key] = function.within_group.as_slice() else { return None };
    let value = &key.expr;
    let condition = match &function.filter {
        Some(filter) => format!("{value} IS NOT NULL AND ({filter})"),
        None => format!("{value} IS NOT NULL"),
    };
    parsed(&format!("list_mode(array_agg({value} ORDER BY {key}) FILTER (WHERE {condition}))"))
}

/// `json_object_agg(key, value)`: of the list of pairs, with the order and the filter of the call.
fn object(function: &Function, name: &str, key: &Expr, value: &Expr) -> Option<Expr> {
    let mut all = function.clone();
    all.name = ObjectName::from(vec![Ident::new("array_agg")]);
    let FunctionArguments::List(list) = &mut all.args else { return None };
    let pair = parsed(&format!("named_struct('key', {key}, 'value', {value})"))?;
    list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(pair))];
    parsed(&format!("{}({all})", name.replace("_agg", "_of")))
}

/// `width_bucket(value, low, high, count)`; the bounds may fall.
fn bucket(value: &Expr, low: &Expr, high: &Expr, count: &Expr) -> Option<Expr> {
    let place = format!(
        "CAST(floor((CAST({value} AS DOUBLE PRECISION) - ({low})) / (CAST({high} AS DOUBLE PRECISION) - ({low})) * ({count})) AS INT) + 1"
    );
    let (before, after) = (format!("({value}) < ({low})"), format!("({value}) >= ({high})"));
    let (over, under) = (format!("({value}) > ({low})"), format!("({value}) <= ({high})"));
    let end = format!("({count}) + 1");
    parsed(&format!(
        "CASE WHEN ({low}) < ({high}) AND {before} OR ({low}) > ({high}) AND {over} THEN 0 \
         WHEN ({low}) < ({high}) AND {after} OR ({low}) > ({high}) AND {under} THEN {end} ELSE {place} END"
    ))
}

/// `substring(text from 'pattern')`: the first group of the pattern, or all that it matches.
pub fn substring(expr: &Expr) -> Option<Expr> {
    let Expr::Substring { expr: value, substring_from: Some(from), substring_for: None, .. } = expr else {
        return None;
    };
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(pattern), .. }) = from.as_ref() else {
        return None;
    };
    parsed(&format!("array_element(regexp_match({value}, {}), 1)", text(pattern)))
}

/// `x LIKE ANY (ARRAY[a, b])`: one of them.
pub fn like_any(expr: &Expr) -> Option<Expr> {
    let (negated, any, value, pattern, word) = match expr {
        Expr::Like { negated, any, expr, pattern, escape_char: None } => {
            (negated, any, expr, pattern, "LIKE")
        }
        Expr::ILike { negated, any, expr, pattern, escape_char: None } => {
            (negated, any, expr, pattern, "ILIKE")
        }
        _ => return None,
    };
    let mut list = pattern.as_ref();
    while let Expr::Nested(inner) = list {
        list = inner;
    }
    let Expr::Array(patterns) = list else {
        if !any || *negated {
            return None;
        }
        let cast = if matches!(list, Expr::Value(_)) { "::TEXT[]" } else { "" };
        return parsed(&format!("{}_any({value}, {list}{cast})", word.to_lowercase()));
    };
    if !any || patterns.elem.is_empty() {
        return None;
    }
    let not = if *negated { "NOT " } else { "" };
    let one = |pattern: &Expr| format!("({value}) {not}{word} ({pattern})");
    parsed(&format!("({})", patterns.elem.iter().map(one).collect::<Vec<_>>().join(" OR ")))
}

/// Names the column of `generate_series(…) AS g` as PostgreSQL does, and lets a step be a text.
pub fn name_series(factor: &mut TableFactor) {
    let TableFactor::Table { name, args: Some(args), alias, .. } = factor else { return };
    if name_of(name) != "generate_series" {
        return;
    }
    if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(step))) = args.args.get_mut(2)
        && matches!(step, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(_), .. }))
        && let Some(typed) = parsed(&format!("INTERVAL {step}"))
    {
        *step = typed;
    }
    if let Some(alias) = alias
        && alias.columns.is_empty()
    {
        alias.columns.push(TableAliasColumnDef { name: alias.name.clone(), data_type: None });
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::parsed_factor;
    use super::*;

    fn instead(call: &str) -> Option<String> {
        let Some(Expr::Function(function)) = parsed(call) else { panic!("{call}") };
        instead_of(&function).map(|other| other.to_string())
    }

    #[test]
    fn calls_are_composed() {
        for (call, other) in [
            ("make_interval(hours => 2)", "(INTERVAL '1 hour' * (2))"),
            ("make_interval(0, 1)", "(INTERVAL '1 year' * (0) + INTERVAL '1 month' * (1))"),
            ("make_interval()", "(INTERVAL '0 seconds')"),
            ("date(t)", "CAST(t AS DATE)"),
            ("count(DISTINCT (a, b))", "count(DISTINCT jsonb_build_array(a, b))"),
            ("mod(a, 2)", "((a) % (2))"),
            ("json_query(a, '$.b')", "jsonb_path_query_first(a, '$.b', '{}', true)"),
            (
                "json_object_agg(k, v ORDER BY k)",
                "json_object_of(array_agg(named_struct('key', k, 'value', v) ORDER BY k))",
            ),
            (
                "mode() WITHIN GROUP (ORDER BY a DESC) FILTER (WHERE b)",
                "list_mode(array_agg(a ORDER BY a DESC) FILTER (WHERE a IS NOT NULL AND (b)))",
            ),
        ] {
            assert_eq!(instead(call).as_deref(), Some(other), "{call}");
        }
        for own in [
            "make_interval(fortnights => 2)",
            "date_trunc('day', t)",
            "mode(a)",
            "last(a, t) OVER (PARTITION BY b)",
        ] {
            assert_eq!(instead(own), None, "{own}");
        }
    }

    #[test]
    fn patterns_and_series() {
        let any = parsed("a ILIKE ANY (ARRAY['x%', 'y'])").unwrap();
        assert_eq!(like_any(&any).unwrap().to_string(), "((a) ILIKE ('x%') OR (a) ILIKE ('y'))");
        assert!(like_any(&parsed("a LIKE 'x'").unwrap()).is_none());
        let sent = parsed("a LIKE ANY ($1)").unwrap();
        assert_eq!(like_any(&sent).unwrap().to_string(), "like_any(a, $1::TEXT[])");
        let part = parsed("substring(a FROM 'it''s (.*)')").unwrap();
        let other = substring(&part).unwrap().to_string();
        assert_eq!(other, "array_element(regexp_match(a, 'it''s (.*)'), 1)");
        assert!(substring(&parsed("substring(a FROM 2)").unwrap()).is_none());
        for (series, named) in [
            ("generate_series(1, 3) AS g", "generate_series(1, 3) AS g (g)"),
            ("generate_series(1, 3) AS t (n)", "generate_series(1, 3) AS t (n)"),
            ("generate_series(a, b, '1 day') AS d", "generate_series(a, b, INTERVAL '1 day') AS d (d)"),
        ] {
            let mut factor = parsed_factor(series).unwrap();
            name_series(&mut factor);
            assert_eq!(factor.to_string(), named);
        }
    }
}
