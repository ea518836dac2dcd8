//! Operators that the engine lacks, or has with the meaning that they have for texts.

use super::build::{parsed, seconds, text};
use super::spelled::SYMMETRIC;
use super::types::short_name;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, BinaryOperator, DateTimeField, Expr, Query, Subscript, UnaryOperator, Value, ValueWithSpan,
};

/// What stands for an operator, or a text with escapes of Unicode.
pub fn instead_of(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::BinaryOp { left, op, right } => {
            let either = || is_jsonb(left) || is_jsonb(right);
            let is_sum = matches!(op, BinaryOperator::Plus | BinaryOperator::Minus);
            if is_sum && is_interval(right) && !is_jsonb(left) {
                return parsed(&format!("({left}) {op} INTERVAL {right}"));
            }
            let function = match op {
                BinaryOperator::StringConcat if either() => "jsonb_concat",
                BinaryOperator::Minus if is_jsonb(left) => "jsonb_delete",
                BinaryOperator::Eq if either() => "jsonb_eq",
                BinaryOperator::NotEq if either() => "jsonb_ne",
                BinaryOperator::PGStartsWith => "starts_with",
                BinaryOperator::Overlaps => return overlaps(left, right),
                _ => return None,
            };
            parsed(&format!("{function}({left}, {right})"))
        }
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => among(left, "IN", right),
        Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => among(left, "NOT IN", right),
        Expr::Between { expr, negated, low, high } => symmetric(expr, *negated, low, high),
        Expr::Extract { field: DateTimeField::Second | DateTimeField::Seconds, expr, .. } => seconds(expr),
        Expr::InSubquery { expr, subquery, negated: false } => match expr.as_ref() {
            Expr::Tuple(row) => row_in(row, subquery),
            _ => None,
        },
        Expr::CompoundFieldAccess { root, access_chain } if is_jsonb(root) => {
            let step = |step: &AccessExpr| match step {
                AccessExpr::Subscript(Subscript::Index { index }) => Some(format!(" -> {index}")),
                _ => None,
            };
            let steps: String = access_chain.iter().map(step).collect::<Option<_>>()?;
            parsed(&format!("({root}{steps})"))
        }
        Expr::UnaryOp { op, expr } => {
            let function = match op {
                UnaryOperator::PGSquareRoot => "sqrt",
                UnaryOperator::PGCubeRoot => "cbrt",
                UnaryOperator::PGAbs => "abs",
                UnaryOperator::BitwiseNot => return parsed(&format!("(-1 - ({expr}))")),
                _ => return None,
            };
            parsed(&format!("{function}({expr})"))
        }
        Expr::Value(ValueWithSpan { value: Value::UnicodeStringLiteral(letters), .. }) => Some(text(letters)),
        _ => None,
    }
}

/// `x = ANY (SELECT …)` and `x <> ALL (SELECT …)`; none where it is a list.
fn among(value: &Expr, word: &str, rows: &Expr) -> Option<Expr> {
    match rows {
        Expr::Nested(inner) => among(value, word, inner),
        Expr::Subquery(query) => parsed(&format!("(({value}) {word} ({query}))")),
        _ => None,
    }
}

/// `x BETWEEN SYMMETRIC low AND high`: whichever end is the lower one.
fn symmetric(value: &Expr, negated: bool, low: &Expr, high: &Expr) -> Option<Expr> {
    let low = low.to_string();
    let low = low.strip_prefix(SYMMETRIC)?;
    let not = if negated { "NOT " } else { "" };
    let between = |low: &str, high: &str| format!("(({value}) BETWEEN ({low}) AND ({high}))");
    let high = high.to_string();
    parsed(&format!("({not}({} OR {}))", between(low, &high), between(&high, low)))
}

/// `(a, b) OVERLAPS (c, d)`: spans of time that have a moment in common; the second is the end, or how long it lasts. Where an end is
/// not known the answer is, as in PostgreSQL, only if the other span goes on when this one begins.
fn overlaps(one: &Expr, other: &Expr) -> Option<Expr> {
    let ((a, b), (c, d)) = (ends(one)?, ends(other)?);
    parsed(&format!(
        "(CASE WHEN {a} > {c} THEN {a} < {d} OR ({b} IS NULL AND NULL) \
         WHEN {a} < {c} THEN {c} < {b} OR ({d} IS NULL AND NULL) \
         WHEN {a} = {c} THEN {b} = {b} AND {d} = {d} END)"
    ))
}

/// Where a span begins, whichever end is written first, and where it ends; NULL where either is not known.
fn ends(span: &Expr) -> Option<(String, String)> {
    let Expr::Tuple(ends) = span else { return None };
    let [one, other] = ends.as_slice() else { return None };
    let other =
        if matches!(other, Expr::Interval(_)) { format!("({one} + {other})") } else { other.to_string() };
    let last = format!("(CASE WHEN {one} <= {other} THEN {other} WHEN {one} > {other} THEN {one} END)");
    Some((format!("least({one}, {other})"), last))
}

/// `(a, b) IN (SELECT …)`: the engine compares one column. A row with a NULL in it is in none. NOT IN is not among it: there a
/// NULL in one place does not matter where another differs.
fn row_in(row: &[Expr], subquery: &Query) -> Option<Expr> {
    let one = |cells: &[String]| {
        let nulls: Vec<String> = cells.iter().map(|cell| format!("({cell}) IS NULL")).collect();
        let cells = cells.join(", ");
        format!("CASE WHEN {} THEN NULL ELSE jsonb_build_array({cells}) END", nulls.join(" OR "))
    };
    let cells: Vec<String> = row.iter().map(Expr::to_string).collect();
    let names: Vec<String> = (0..row.len()).map(|place| format!("c{place}")).collect();
    let (outer, inner, names) = (one(&cells), one(&names), names.join(", "));
    parsed(&format!("({outer}) IN (SELECT {inner} AS r FROM ({subquery}) AS q ({names}))"))
}

/// Whether a constant is an interval such as `'5 minutes'`: no other text is added to something.
fn is_interval(expr: &Expr) -> bool {
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = expr else {
        return false;
    };
    let mut words = text.split_whitespace();
    let is_number = words.next().is_some_and(|word| word.parse::<f64>().is_ok());
    let units = ["sec", "min", "hour", "day", "week", "mon", "year"];
    is_number
        && words.next().is_some_and(|word| units.iter().any(|unit| word.to_lowercase().starts_with(unit)))
}

/// Whether the statement says that a value is of `jsonb`, which is text here.
fn is_jsonb(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_jsonb(inner),
        Expr::Cast { data_type, .. } => short_name(data_type) == "jsonb",
        Expr::TypedString(typed) => short_name(&typed.data_type) == "jsonb",
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => is_jsonb(left) || is_jsonb(right),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::Arrow | BinaryOperator::HashArrow | BinaryOperator::Minus,
            ..
        } => is_jsonb(left),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_jsonb_is_no_text() {
        for (expr, other) in [
            ("a::jsonb || b", "jsonb_concat(a::JSONB, b)"),
            ("a::jsonb || b || c", "jsonb_concat(a::JSONB || b, c)"),
            ("(a::jsonb -> 'k') = '1'", "jsonb_eq((a::JSONB -> 'k'), '1')"),
            ("a <> '{}'::jsonb", "jsonb_ne(a, '{}'::JSONB)"),
            ("a::jsonb - 'k'", "jsonb_delete(a::JSONB, 'k')"),
            ("(a::jsonb)['k'][0]", "((a::JSONB) -> 'k' -> 0)"),
            ("|/ a", "sqrt(a)"),
            ("extract(second FROM a)", "(CAST(date_part('microsecond', a) AS DOUBLE) / 1000000)"),
            ("t - '5 minutes'", "(t) - INTERVAL '5 minutes'"),
            (
                "(a, b) IN (SELECT x, y FROM t)",
                "(CASE WHEN (a) IS NULL OR (b) IS NULL THEN NULL ELSE jsonb_build_array(a, b) END) IN \
                 (SELECT CASE WHEN (c0) IS NULL OR (c1) IS NULL THEN NULL ELSE jsonb_build_array(c0, c1) END AS r \
                 FROM (SELECT x, y FROM t) AS q (c0, c1))",
            ),
            (
                "a BETWEEN !! b + 1 AND c",
                "((((a) BETWEEN (b + 1) AND (c)) OR ((a) BETWEEN (c) AND (b + 1))))",
            ),
            ("@ a", "abs(a)"),
            ("~ a", "(-1 - (a))"),
            ("a ^@ 'b'", "starts_with(a, 'b')"),
            ("a = ANY (SELECT x FROM t)", "((a) IN (SELECT x FROM t))"),
            ("a <> ALL (SELECT x FROM t)", "((a) NOT IN (SELECT x FROM t))"),
        ] {
            let found = instead_of(&parsed(expr).unwrap()).map(|other| other.to_string());
            assert_eq!(found.as_deref(), Some(other), "{expr}");
        }
        for own in [
            "a || b",
            "a::jsonb ->> 'k' = 'x'",
            "(a::jsonb ->> 'n')::int - 1",
            "a::json = b",
            "- a",
            "a - '5'",
            "a BETWEEN 1 AND 2",
            "a IN (SELECT 1)",
            "a = ANY (b)",
            "extract(minute FROM a)",
            "(a, b, c) OVERLAPS (d, e)",
            "(a, b) NOT IN (SELECT x, y FROM t)",
        ] {
            assert!(instead_of(&parsed(own).unwrap()).is_none(), "{own}");
        }
    }
}
