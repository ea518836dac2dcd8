//! `LIKE … ESCAPE`: the engine escapes by backslashes only. `SIMILAR TO … ESCAPE`: the engine wants one byte.

use super::build::{parsed, text};
use crate::sql::functions::like_escape;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value, ValueWithSpan};

/// Makes `'a/_b' ESCAPE '/'` what it means without ESCAPE; with `ESCAPE ''` nothing escapes.
pub fn escape_with_backslash(pattern: &mut Expr, escape: &mut Option<ValueWithSpan>) {
    let Some(mark) = escape.as_ref().and_then(|mark| match &mark.value {
        Value::SingleQuotedString(mark) if mark != "\\" => Some(mark.chars().next()),
        _ => None,
    }) else {
        return;
    };
    let mut written = pattern.clone();
    let other = if respelled(&mut written, mark) {
        Some(written)
    } else {
        parsed(&format!("like_escape({pattern}, {})", text(&mark.map(String::from).unwrap_or_default())))
    };
    if let Some(other) = other {
        *pattern = other;
        *escape = None;
    }
}

/// What stands for `SIMILAR TO … ESCAPE` where that is empty, NULL or no letter of ASCII.
pub fn similar(expr: &Expr) -> Option<Expr> {
    let Expr::SimilarTo { negated, expr, pattern, escape_char: Some(mark) } = expr else { return None };
    if matches!(&mark.value, Value::SingleQuotedString(mark) if mark.len() == 1) {
        return None;
    }
    let operator = if *negated { "!~" } else { "~" };
    parsed(&format!("(({expr}) {operator} similar_to_escape({pattern}, {mark}))"))
}

fn respelled(pattern: &mut Expr, mark: Option<char>) -> bool {
    match pattern {
        Expr::Nested(inner) => respelled(inner, mark),
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => {
            respelled(left, mark) && respelled(right, mark)
        }
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => {
            *text = like_escape(text, mark);
            true
        }
        _ => false,
    }
}
