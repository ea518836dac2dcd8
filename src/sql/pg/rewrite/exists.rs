//! `EXISTS (…)` among the columns, where the engine knows it as a condition only.

use super::build::parsed;
use datafusion::sql::sqlparser::ast::{Expr, Query, SelectItem, SetExpr, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// Makes `EXISTS (…)` in `item` a count of the subquery's rows.
pub fn count(item: &mut SelectItem) {
    let _ = VisitMut::visit(item, &mut Counter::default());
}

#[derive(Default)]
struct Counter {
    /// Subqueries around the expression: in theirs it may be a condition.
    depth: usize,
}

impl VisitorMut for Counter {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Expr::Exists { subquery, negated } = expr
            && let Some(counted) = counted(subquery, *negated)
        {
            *expr = counted;
        }
        ControlFlow::Continue(())
    }
}

fn counted(query: &Query, negated: bool) -> Option<Expr> {
    let condition = parsed(if negated { "count(*) = 0" } else { "count(*) > 0" })?;
    let mut query = Box::new(query.clone());
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    // Groups and limits are not what they were when their rows are counted.
    let is_plain = query.limit_clause.is_none() && query.fetch.is_none() && select.having.is_none();
    let text = select.group_by.to_string();
    if !is_plain || !(text.is_empty() || text.trim() == "GROUP BY") {
        return None;
    }
    (select.projection, select.distinct) = (vec![SelectItem::UnnamedExpr(condition)], None);
    query.order_by = None;
    Some(Expr::Subquery(query))
}
