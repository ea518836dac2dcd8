//! Times in parameters that a count of nanoseconds in 64 bits does not reach, such as the year 9999 for an open end.

use super::rows::error;
use datafusion::common::ParamValues;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::{Expr, LogicalPlan, Operator};
use datafusion::scalar::ScalarValue;
use pgwire::api::portal::Portal;
use pgwire::error::PgWireResult;

/// The last day whose midnight is reached, counted from 1970; the first lies as far before.
const LAST_DAY: i64 = 106_751;

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// Mends values of which the library made NULL. What is too far away, and only tells what lies before or behind it, becomes the
/// first or the last day that is reached: as many rows lie there.
///
/// # Errors
/// For other values that the library lost: datetime field overflow, or numeric value out of range.
pub fn reach<S>(portal: &Portal<S>, plan: &LogicalPlan, mut read: ParamValues) -> PgWireResult<ParamValues> {
    let ParamValues::List(values) = &mut read else { return Ok(read) };
    for (place, (sent, read)) in portal.parameters.iter().zip(values.iter_mut()).enumerate() {
        let Some(sent) = sent else { continue };
        if !read.value.is_null() || matches!(read.value, ScalarValue::Null) {
            continue;
        }
        let name = format!("${}", place + 1);
        let ScalarValue::TimestampNanosecond(moment, _) = &mut read.value else {
            return Err(error("22003", format!("{name} is out of range for its type")));
        };
        if !only_orders(plan, &name).unwrap_or(false) {
            let why = format!("{name} is out of range: times are from 1677-09-22 to 2262-04-11");
            return Err(error("22008", why));
        }
        let is_past = is_past(sent, portal.parameter_format.is_binary(place));
        *moment = Some(if is_past { -LAST_DAY * DAY } else { LAST_DAY * DAY });
    }
    Ok(read)
}

/// Whether a moment far away lies in the past.
fn is_past(sent: &[u8], is_binary: bool) -> bool {
    if is_binary {
        // A signed count, whose first bit is the sign.
        return sent.first().is_some_and(|first| *first >= 0x80);
    }
    let text = String::from_utf8_lossy(sent);
    let text = text.trim();
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    text.starts_with('-') || text.ends_with("BC") || digits.parse::<u64>().is_ok_and(|year| year < 1970)
}

/// Whether the parameter `name` only stands beside `<`, `<=`, `>`, `>=` and in BETWEEN.
fn only_orders(plan: &LogicalPlan, name: &str) -> DataFusionResult<bool> {
    let (mut uses, mut orders) = (0_usize, 0_usize);
    let is_it = |side: &Expr| is_parameter(side, name);
    let mut look = |expr: &Expr| match expr {
        Expr::Placeholder(placeholder) if placeholder.id == name => uses += 1,
        Expr::BinaryExpr(of)
            if matches!(of.op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq) =>
        {
            orders += usize::from(is_it(&of.left)) + usize::from(is_it(&of.right));
        }
        Expr::Between(of) => {
            orders += [&of.expr, &of.low, &of.high].into_iter().filter(|side| is_it(side)).count();
        }
        _ => {}
    };
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                look(expr);
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(uses > 0 && uses == orders)
}

/// Whether `side` is the parameter `name`, with or without a cast.
fn is_parameter(side: &Expr, name: &str) -> bool {
    match side {
        Expr::Placeholder(placeholder) => placeholder.id == name,
        Expr::Cast(cast) => is_parameter(&cast.expr, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use datafusion::common::metadata::ScalarAndMetadata;
    use datafusion::logical_expr::{LogicalPlanBuilder, col, lit, placeholder};
    use pgwire::api::stmt::StoredStatement;
    use pgwire::error::PgWireError;
    use pgwire::messages::extendedquery::Bind;
    use std::sync::Arc;

    fn filtered(by: Expr) -> LogicalPlan {
        let row = vec![vec![lit(ScalarValue::TimestampNanosecond(Some(1), None))]];
        LogicalPlanBuilder::values(row).unwrap().filter(by).unwrap().build().unwrap()
    }

    /// What becomes of `sent` where the library read `value`: nanoseconds, or the code of the error.
    fn reached(by: Expr, sent: Option<&'static str>, value: ScalarValue) -> Result<ScalarValue, String> {
        let message =
            Bind::new(None, None, vec![], vec![sent.map(|s| Bytes::from_static(s.as_bytes()))], vec![]);
        let statement = StoredStatement::new("s".to_owned(), (), vec![]);
        let portal = Portal::try_new(&message, Arc::new(statement)).unwrap();
        let read = ParamValues::List(vec![ScalarAndMetadata::from(value)]);
        match reach(&portal, &filtered(by), read) {
            Ok(ParamValues::List(values)) => Ok(values[0].value.clone()),
            Err(PgWireError::UserError(why)) => Err(why.code),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_open_end_is_the_last_day_and_anything_else_an_error() {
        let lost = || ScalarValue::TimestampNanosecond(None, None);
        let day = |days: i64| Ok(ScalarValue::TimestampNanosecond(Some(days * DAY), None));
        let time = || col("column1");
        let before = || time().lt(placeholder("$1"));
        assert_eq!(reached(before(), Some("9999-12-31 00:00:00"), lost()), day(LAST_DAY));
        assert_eq!(reached(before(), Some("0001-01-01 00:00:00"), lost()), day(-LAST_DAY));
        let within = time().between(placeholder("$1"), lit(ScalarValue::TimestampNanosecond(Some(2), None)));
        assert_eq!(reached(within, Some("0001-01-01"), lost()), day(-LAST_DAY));
        assert_eq!(reached(before(), None, lost()), Ok(lost()), "a NULL stays one");
        let same = time().eq(placeholder("$1"));
        assert_eq!(reached(same, Some("9999-12-31"), lost()), Err("22008".to_owned()));
        let both = before().and(placeholder("$1").is_not_null());
        assert_eq!(reached(both, Some("9999-12-31"), lost()), Err("22008".to_owned()));
        assert_eq!(reached(before(), Some("1e30"), ScalarValue::Int64(None)), Err("22003".to_owned()));
    }

    #[test]
    fn the_past_is_told_from_the_future() {
        for past in ["0001-01-01 00:00:00+00", "1500-01-01", "9999-01-01 00:00:00 BC", "-0001-01-01"] {
            assert!(is_past(past.as_bytes(), false), "{past}");
        }
        assert!(!is_past(b"9999-12-31", false) && !is_past(b"20000-01-01", false));
        assert!(is_past(&(-1_i64).to_be_bytes(), true) && !is_past(&1_i64.to_be_bytes(), true));
    }
}
