//! How large the constants of a plan may be.
//!
//! `repeat('x', 16000000)` is worked out once while planning, but a projection copies a constant into every row of a
//! batch, where no memory limit sees it.

use super::error::SqlError;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::scalar::ScalarValue;

/// Bytes of the large constants of one part of a plan. A batch has 8,192 rows: with this it copies half a gigabyte.
const MAX_CONSTANTS: usize = 64 << 10;

/// A constant of no more bytes is not counted: a list of ten thousand ids is no danger.
const SMALL: usize = 256;

/// Refuses an optimized plan that holds larger constants.
///
/// # Errors
/// [`SqlError::Limit`] for a part of the plan with more than 64 KiB of them.
pub fn check(plan: &LogicalPlan) -> Result<(), SqlError> {
    let mut largest = 0usize;
    plan.apply_with_subqueries(|node| {
        let mut sum = 0usize;
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                sum = sum.saturating_add(large(part));
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        largest = largest.max(sum);
        Ok(TreeNodeRecursion::Continue)
    })?;
    if largest > MAX_CONSTANTS {
        return Err(SqlError::Limit(format!(
            "the constants of the query have {largest} bytes; the limit is {MAX_CONSTANTS} for one part of its plan"
        )));
    }
    Ok(())
}

fn large(expr: &Expr) -> usize {
    let size = match expr {
        Expr::Literal(ScalarValue::Utf8(Some(text)), _)
        | Expr::Literal(ScalarValue::LargeUtf8(Some(text)), _)
        | Expr::Literal(ScalarValue::Utf8View(Some(text)), _) => text.len(),
        Expr::Literal(value, _) => value.size(),
        _ => 0,
    };
    if size > SMALL { size } else { 0 }
}
