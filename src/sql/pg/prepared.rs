//! A statement between its parsing and its execution.

use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::Statement;

/// A statement that was parsed for later.
#[derive(Debug, Clone)]
pub enum Prepared {
    /// Concerns only the connection.
    Control(Box<Statement>),
    /// A planned query, its parameters still open.
    Query(Box<Statement>, Box<LogicalPlan>),
}

impl Prepared {
    /// Whether it gives rows that are planned.
    pub fn is_query(&self) -> bool {
        matches!(self, Prepared::Query(..))
    }
}
