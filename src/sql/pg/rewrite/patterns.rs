//! `LIKE … ESCAPE`: the engine escapes by backslashes only.

use super::build::{parsed, text};
use crate::sql::functions::like_escape;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value, ValueWithSpan};

/// Makes `'a/_b' ESCAPE '/'` what it means without ESCAPE.
pub fn escape_with_backslash(pattern: &mut Expr, escape: &mut Option<ValueWithSpan>) {
    let Some(mark) = escape.as_ref().and_then(|mark| match &mark.value {
        Value::SingleQuotedString(mark) if mark != "\\" => mark.chars().next(),
        _ => None,
    }) else {
        return;
    };
    let mut written = pattern.clone();
    let other = if respelled(&mut written, mark) {
        Some(written)
    } else {
        parsed(&format!("like_escape({pattern}, {})", text(&mark.to_string())))
    };
    if let Some(other) = other {
        *pattern = other;
        *escape = None;
    }
}

fn respelled(pattern: &mut Expr, mark: char) -> bool {
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
