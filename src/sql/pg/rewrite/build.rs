//! Expressions from text.

use datafusion::sql::sqlparser::ast::{Expr, Ident, TableFactor, Value};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

/// The expression that `expr` spells; none if it does not parse.
pub fn parsed(expr: &str) -> Option<Expr> {
    Parser::new(&PostgreSqlDialect {}).try_with_sql(expr).ok()?.parse_expr().ok()
}

/// The seconds of a time with the part of one: the engine's have none.
pub fn seconds(time: &Expr) -> Option<Expr> {
    parsed(&format!("(CAST(date_part('microsecond', {time}) AS DOUBLE) / 1000000)"))
}

/// What `factor` spells in FROM; none if it does not parse.
pub fn parsed_factor(factor: &str) -> Option<TableFactor> {
    Parser::new(&PostgreSqlDialect {}).try_with_sql(factor).ok()?.parse_table_factor().ok()
}

/// A constant.
pub fn text(text: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(text.to_owned()).with_empty_span())
}

/// NULL with a type.
pub fn null(data_type: &str) -> Expr {
    let typed = parsed(&format!("CAST(NULL AS {data_type})"));
    typed.unwrap_or_else(|| Expr::Value(Value::Null.with_empty_span()))
}

/// A name that is taken as it is.
pub fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

/// A name as PostgreSQL keeps it: in lower case, unless it is quoted.
pub fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() }
}
