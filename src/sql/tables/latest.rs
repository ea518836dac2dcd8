//! `scores_latest`: what of a query's filters may go below the choice of the newest version of each score of production.
//!
//! # What may be asked of the files
//!
//! The newest version must win whatever a query asks, so a filter goes below the choice only if it takes all versions of a
//! score or none, or leaves at least the newest:
//!
//! * What a score is about and who gave it ([`KEY`]): the versions of a score have it in common.
//! * `span_time`, both ends: it is that of the item, and a new evaluation of the item keeps it.
//! * `evaluated_at`, the lower end: a newer version was evaluated no earlier than an older one. If the newest passes, it is
//!   there and wins; if it does not, no older one does. The upper end would let an older version win; it stays above.
//!
//! Everything else stays above, such as `passed` and `status`, in which versions differ. All filters are checked again
//! above the choice. Rows with one `score_id` that differ in `span_id` or `span_time` are repeats (a trace that two servers
//! judged by halves): one of them is shown, and these filters may choose which.

use super::newest::KEY;
use super::time_range::TimeRange;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr, col, lit};
use datafusion::scalar::ScalarValue;

/// A span is judged within about this time, nanoseconds.
const SOON: i128 = 3_600 * 1_000_000_000;

/// What of `filters` may go below the choice of the newest scores, and about when the scores that pass them were evaluated.
pub fn of_scores(filters: &[Expr]) -> (Vec<Expr>, TimeRange) {
    (below(filters), evaluated_about(filters))
}

fn below(filters: &[Expr]) -> Vec<Expr> {
    let mut below: Vec<Expr> = filters.iter().filter(|filter| is_of(filter, KEY)).cloned().collect();
    let (from, to) = TimeRange::of(filters, "span_time").ends_micros();
    below.extend(from.map(|at| col("span_time").gt_eq(micros(at))));
    below.extend(to.map(|at| col("span_time").lt_eq(micros(at))));
    let (from, _) = TimeRange::of(filters, "evaluated_at").ends_micros();
    below.extend(from.map(|at| col("evaluated_at").gt_eq(micros(at))));
    below
}

/// When the scores that pass `filters` were evaluated, by experience: soon after their spans began. Only for guesses, by
/// which a join decides what it reads first.
fn evaluated_about(filters: &[Expr]) -> TimeRange {
    let began = TimeRange::of(filters, "span_time");
    let soon = TimeRange { from: began.from, to: began.to.saturating_add(SOON) };
    TimeRange::of(filters, "evaluated_at").and(soon)
}

fn micros(at: i64) -> Expr {
    lit(ScalarValue::TimestampMicrosecond(Some(at), Some("UTC".into())))
}

/// Whether `filter` says the same of all rows that have the columns `key` in common, by these and constants alone.
pub fn is_of(filter: &Expr, key: &[&str]) -> bool {
    let queries = |expr: &Expr| {
        matches!(
            expr,
            Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::OuterReferenceColumn(..)
        )
    };
    let columns = filter.column_refs();
    !columns.is_empty()
        && columns.iter().all(|column| key.contains(&column.name.as_str()))
        && !filter.exists(|expr| Ok(queries(expr))).unwrap_or(true)
}
