//! What clients write and the engine has no word for.
//!
//! The library's rewrites are for queries about the catalogue, and cost other queries their meaning: a subquery that names
//! a column outside of it becomes NULL there. So only queries about the catalogue take them.

use super::names::{is_about_catalog, is_correlated, reads_function};
use crate::sql::functions::like_escape;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArgumentList, FunctionArguments, Query, SelectItem,
    SetExpr, Statement, TableFactor, Value, ValueWithSpan, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion_postgres::datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use datafusion_postgres::datafusion_pg_catalog::sql::rules::{
    AliasDuplicatedProjectionRewrite, CurrentUserVariableToSessionUserFunctionCall, FixArrayLiteral,
    FixVersionColumnName, ResolveUnqualifiedIdentifier, RewriteArrayAnyAllOperation,
    RewritePgCatalogOperator, RewriteRegCastToSubquery, SqlStatementRewriteRule, StripCallableQualifier,
    StripCollate,
};
use std::ops::ControlFlow;

/// Functions as columns of the catalogue: texts, which clients compare with the number 0 for "none".
const PROCEDURES: &[&str] =
    &["typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze"];

/// Parses the PostgreSQL dialect into statements that the engine has words for.
#[derive(Debug)]
pub struct Dialect {
    library: PostgresCompatibilityParser,
    rules: Vec<Box<dyn SqlStatementRewriteRule>>,
}

impl Dialect {
    /// With the library's rewrites and our own.
    pub fn new() -> Self {
        let rules: Vec<Box<dyn SqlStatementRewriteRule>> = vec![
            Box::new(AliasDuplicatedProjectionRewrite),
            Box::new(ResolveUnqualifiedIdentifier),
            Box::new(RewriteArrayAnyAllOperation),
            Box::new(StripCallableQualifier),
            Box::new(FixArrayLiteral),
            Box::new(CurrentUserVariableToSessionUserFunctionCall),
            Box::new(StripCollate),
            Box::new(RewritePgCatalogOperator),
            Box::new(RewriteRegCastToSubquery::new()),
            Box::new(FixVersionColumnName),
        ];
        Self { library: PostgresCompatibilityParser::new(), rules }
    }

    /// The statements of `sql`.
    ///
    /// # Errors
    /// For text that does not parse.
    pub fn parse(&self, sql: &str) -> Result<Vec<Statement>, ParserError> {
        match Parser::parse_sql(&PostgreSqlDialect {}, sql) {
            Ok(plain) if !plain.iter().any(is_about_catalog) => {
                Ok(plain.into_iter().map(|statement| self.ruled(adapted(statement, false))).collect())
            }
            // What does not parse may be what the library replaces before it parses.
            _ => Ok(self.library.parse(sql)?.into_iter().map(|statement| adapted(statement, true)).collect()),
        }
    }

    fn ruled(&self, statement: Statement) -> Statement {
        self.rules.iter().fold(statement, |statement, rule| rule.rewrite(statement))
    }
}

fn adapted(mut statement: Statement, about_catalog: bool) -> Statement {
    let _ = VisitMut::visit(&mut statement, &mut Adapter { about_catalog });
    statement
}

struct Adapter {
    about_catalog: bool,
}

impl VisitorMut for Adapter {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        // The lists of the catalogue are empty, and the engine does not join with those of an outer row.
        if self.about_catalog
            && let TableFactor::UNNEST { alias: Some(alias), .. } = factor
        {
            let name = &alias.name;
            let none = format!("(SELECT CAST(NULL AS INT) AS {name} WHERE false) AS {name}");
            let none = Parser::new(&PostgreSqlDialect {}).try_with_sql(&none);
            if let Ok(none) = none.and_then(|mut parser| parser.parse_table_factor()) {
                *factor = none;
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right }
                if is_procedure(left) && is_zero(right) =>
            {
                **right = text("-");
            }
            Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
                escape_with_backslash(pattern, escape_char);
            }
            Expr::Subquery(query) if self.about_catalog && is_correlated(query) => {
                *expr = null(if is_condition(query) { "BOOLEAN" } else { "TEXT" });
            }
            Expr::Function(function) => {
                if let Some(other) = self.instead_of(function) {
                    *expr = other;
                }
            }
            Expr::Cast { expr: inner, data_type, .. } => {
                if let Some(other) = self.instead_of_cast(inner, data_type) {
                    *expr = other;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Adapter {
    /// What stands for a function that the engine does not have.
    fn instead_of(&self, function: &mut Function) -> Option<Expr> {
        let name = function.name.to_string().to_lowercase();
        match (name.as_str(), &mut function.args) {
            ("array", FunctionArguments::Subquery(query)) => {
                if self.about_catalog && (is_correlated(query) || reads_function(query)) {
                    return Some(null("TEXT[]"));
                }
                collected(query)
            }
            ("generate_subscripts", FunctionArguments::List(FunctionArgumentList { args, .. })) => {
                let list = args.first()?;
                parsed(&format!("unnest(generate_series(1, CAST(array_length({list}) AS BIGINT)))"))
            }
            ("localtimestamp", _) => parsed("CAST(now() AS TIMESTAMP)"),
            _ => None,
        }
    }

    /// Casts between names and numbers of tables.
    fn instead_of_cast(&self, inner: &Expr, data_type: &DataType) -> Option<Expr> {
        match inner {
            Expr::Value(name) if is_type(data_type, "regclass") && is_name(name) => {
                parsed(&format!("to_regclass(CAST({name} AS TEXT))"))
            }
            // In ORDER BY of a query about the catalogue the number must stay what it is in SELECT.
            Expr::Cast { expr: number, data_type: from, .. }
                if !self.about_catalog && is_type(from, "regclass") && is_type(data_type, "text") =>
            {
                let is_name = matches!(&**number, Expr::Value(name) if is_name(name));
                let number = if is_name { format!("to_regclass({number})") } else { number.to_string() };
                parsed(&format!("regclassout({number})"))
            }
            _ => None,
        }
    }
}

/// `ARRAY(SELECT x … ORDER BY y)` as a query of one row: `(SELECT array_agg(x ORDER BY y) …)`.
fn collected(query: &mut Box<Query>) -> Option<Expr> {
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }] =
        select.projection.as_mut_slice()
    else {
        return None;
    };
    let order = query.order_by.take().map(|order| order.to_string()).unwrap_or_default();
    let order = if order == "ORDER BY 1" { format!("ORDER BY {item}") } else { order };
    let all = parsed(&format!("array_agg({item} {order})"))?;
    select.projection = vec![SelectItem::UnnamedExpr(all)];
    Some(Expr::Subquery(query.clone()))
}

/// Whether the one column of `query` is true or false.
fn is_condition(query: &Query) -> bool {
    use BinaryOperator::{And, Eq, Gt, Lt, NotEq, Or};
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    matches!(
        select.projection.as_slice(),
        [SelectItem::UnnamedExpr(Expr::BinaryOp { op: Eq | NotEq | Lt | Gt | And | Or, .. })]
    )
}

/// The name of a type without its schema.
fn is_type(data_type: &DataType, name: &str) -> bool {
    let spelled = data_type.to_string().to_lowercase();
    spelled.strip_prefix("pg_catalog.").unwrap_or(&spelled) == name
}

fn is_name(value: &ValueWithSpan) -> bool {
    matches!(value.value, Value::SingleQuotedString(_) | Value::Placeholder(_))
}

fn is_procedure(expr: &Expr) -> bool {
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    name.is_some_and(|name| PROCEDURES.contains(&name.value.as_str()))
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) if *digits == "0")
}

/// Makes `'a/_b' ESCAPE '/'` what it means without ESCAPE.
fn escape_with_backslash(pattern: &mut Expr, escape: &mut Option<ValueWithSpan>) {
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

fn text(text: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(text.to_owned()).with_empty_span())
}

fn null(data_type: &str) -> Expr {
    let typed = parsed(&format!("CAST(NULL AS {data_type})"));
    typed.unwrap_or_else(|| Expr::Value(Value::Null.with_empty_span()))
}

fn parsed(expr: &str) -> Option<Expr> {
    Parser::new(&PostgreSqlDialect {}).try_with_sql(expr).ok()?.parse_expr().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(sql: &str) -> String {
        Dialect::new().parse(sql).expect(sql).iter().map(Statement::to_string).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn subqueries_of_ordinary_queries_keep_their_meaning() {
        let sql = "SELECT (SELECT count(*) FROM scores AS s WHERE s.trace_id = t.trace_id) FROM traces AS t";
        assert_eq!(spelled(sql), sql);
        let about = "SELECT (SELECT x FROM pg_attrdef d WHERE d.adrelid = c.oid) FROM pg_class c";
        assert!(spelled(about).contains("NULL"), "{}", spelled(about));
    }

    #[test]
    fn lists_of_a_query_are_aggregates() {
        assert_eq!(
            spelled("SELECT ARRAY(SELECT name FROM spans ORDER BY start_time)"),
            "SELECT (SELECT array_agg(name ORDER BY start_time) FROM spans)"
        );
        let about = "SELECT ARRAY(SELECT b.rolname FROM pg_roles b WHERE b.oid = r.oid) FROM pg_roles r";
        assert!(spelled(about).contains("CAST(NULL AS TEXT[])"), "{}", spelled(about));
    }

    #[test]
    fn patterns_are_escaped_by_backslashes() {
        assert_eq!(spelled(r"SELECT a LIKE 'pg/_\' || '%' ESCAPE '/'"), r"SELECT a LIKE 'pg\_\\' || '%'");
        assert_eq!(spelled(r"SELECT a LIKE b ESCAPE '/'"), r"SELECT a LIKE like_escape(b, '/')");
    }

    #[test]
    fn names_and_numbers_of_tables() {
        assert_eq!(spelled("SELECT 'spans'::regclass"), "SELECT to_regclass(CAST('spans' AS TEXT))");
        assert_eq!(spelled("SELECT x::regclass::text"), "SELECT regclassout(x)");
        assert!(spelled("SELECT 1 FROM pg_type WHERE typreceive != 0").contains("<> '-'"));
        assert_eq!(spelled("SELECT 1 FROM t WHERE size != 0"), "SELECT 1 FROM t WHERE size <> 0");
    }
}
