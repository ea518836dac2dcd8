//! From the text of a query to statements that the engine has words for.
//!
//! The library's rewrites are for queries about the catalogue, and cost other queries their meaning: a subquery that names
//! a column outside of it becomes NULL there. So only queries about the catalogue take them.

use super::build::{folded, null, parsed, parsed_factor, text};
use super::columns::name_columns;
use super::laterals::flatten;
use super::numbers::{is_number, is_procedure, is_zero, number_of, procedure, rename};
use super::patterns::{escape_with_backslash, similar};
use super::spelled::spelled_out;
use super::{calls, composed, exists, explain, operators, types, whole};
use crate::sql::pg::names::{is_about_catalog, is_correlated, reads_function};
use datafusion::sql::sqlparser::ast::{
    AccessExpr, BinaryOperator, DataType, Distinct, Expr, Function, FunctionArgumentList, FunctionArguments,
    Ident, LimitClause, ObjectName, Query, Select, SelectItem, SetExpr, Statement, Subscript, TableFactor,
    Value, ValueWithSpan, VisitMut, VisitorMut,
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
use std::fmt::Display;
use std::ops::ControlFlow;

/// Bytes of SQL that may be made of one statement. What stands for a part may name its own parts twice, and theirs again.
const MAX_MADE: usize = 8 << 20;

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
    /// For text that does not parse, and for a statement that becomes too large.
    pub fn parse(&self, sql: &str) -> Result<Vec<Statement>, ParserError> {
        let spelled = spelled_out(sql);
        let sql = spelled.as_deref().unwrap_or(sql);
        match Parser::parse_sql(&PostgreSqlDialect {}, sql) {
            Ok(plain) if !plain.iter().any(|each| is_about_catalog(each) && !is_for_later(each)) => {
                plain.into_iter().map(|statement| self.worded(statement)).collect()
            }
            // What does not parse may be what the library replaces before it parses.
            _ => {
                let known = self.library.parse(sql)?;
                known.into_iter().map(|statement| adapted(named(statement), About::Catalog)).collect()
            }
        }
    }

    fn worded(&self, statement: Statement) -> Result<Statement, ParserError> {
        if is_for_later(&statement) {
            return Ok(statement);
        }
        let statement = adapted(named(statement), About::Rows)?;
        Ok(self.rules.iter().fold(statement, |statement, rule| rule.rewrite(statement)))
    }
}

/// Whether `statement` has a text that is read when it is executed, and not before.
fn is_for_later(statement: &Statement) -> bool {
    matches!(statement, Statement::Prepare { .. } | Statement::Execute { .. })
}

fn named(mut statement: Statement) -> Statement {
    explain::hear(&mut statement);
    name_columns(&mut statement);
    statement
}

fn adapted(mut statement: Statement, about: About) -> Result<Statement, ParserError> {
    match VisitMut::visit(&mut statement, &mut Adapter { about, made: 0 }) {
        ControlFlow::Continue(()) => Ok(statement),
        ControlFlow::Break(()) => {
            let why =
                format!("the statement becomes longer than {MAX_MADE} bytes: nest fewer functions in it");
            Err(ParserError::ParserError(why))
        }
    }
}

/// What a statement reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Rows,
    /// The catalogue, or what the library replaces.
    Catalog,
}

struct Adapter {
    about: About,
    /// Bytes of what was made so far.
    made: usize,
}

impl VisitorMut for Adapter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if self.about == About::Rows && flatten(query) && self.is_too_much(&*query) {
            return ControlFlow::Break(());
        }
        limit(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if self.about == About::Rows {
            whole::rows(select);
            whole::series(select);
        }
        select.projection.iter_mut().for_each(exists::count);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        composed::name_series(factor);
        // The library knows most names of the catalogue, and puts the schema before those.
        if let TableFactor::Table { name, args: None, .. } = factor
            && let [part] = name.0.as_slice()
            && let Some(table) = part.as_ident()
            && table.value.to_lowercase().starts_with("pg_")
        {
            *name = ObjectName::from(vec![Ident::new("pg_catalog"), table.clone()]);
        }
        // The lists of the catalogue are empty, and the engine does not join with those of an outer row.
        if self.about == About::Catalog
            && let TableFactor::UNNEST { alias: Some(alias), .. } = factor
        {
            let name = &alias.name;
            let none = format!("(SELECT CAST(NULL AS INT) AS {name} WHERE false) AS {name}");
            if let Some(none) = parsed_factor(&none) {
                *factor = none;
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let other = composed::like_any(expr)
            .or_else(|| composed::substring(expr))
            .or_else(|| similar(expr))
            .or_else(|| types::moment(expr))
            .or_else(|| operators::instead_of(expr));
        let mut is_made = other.is_some();
        if let Some(other) = other {
            *expr = other;
        }
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right }
                if is_procedure(left) && is_zero(right) =>
            {
                **right = text("-");
            }
            // A function is named here, where clients join by its number.
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right }
                if is_procedure(right) && is_number(left) =>
            {
                rename(left, "proname");
            }
            Expr::BinaryOp { left, right, .. } if is_procedure(left) => {
                if let Some(name) = procedure(right) {
                    **right = text(&name);
                }
            }
            Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
                escape_with_backslash(pattern, escape_char);
            }
            Expr::Subquery(query) if self.about == About::Catalog && number_of(query).is_some() => {
                if let Some(number) = number_of(query) {
                    *expr = number;
                }
            }
            Expr::Subquery(query) if self.about == About::Catalog && is_correlated(query) => {
                *expr = null(if is_condition(query) { "BOOLEAN" } else { "TEXT" });
            }
            Expr::Function(function) => {
                if let Some(other) = self.instead_of(function) {
                    *expr = other;
                    is_made = true;
                }
            }
            Expr::Interval(interval) => types::complete_interval(&mut interval.value),
            Expr::Cast { expr: inner, data_type, .. } => {
                if types::short_name(data_type) == "interval" {
                    types::complete_interval(inner);
                }
                if let Some(other) = self.instead_of_cast(inner, data_type) {
                    *expr = other;
                } else if let Some(other) = types::instead_of(data_type) {
                    *data_type = other;
                } else {
                    types::complete_cast(data_type, inner);
                }
            }
            Expr::TypedString(typed) => types::complete(&typed.data_type, &mut typed.value),
            Expr::CompoundFieldAccess { root, access_chain } => by_name(root, access_chain),
            _ => {}
        }
        if is_made && self.is_too_much(&*expr) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Adapter {
    /// Whether a statement may not become so large as it is with what was made now.
    fn is_too_much(&mut self, made: &impl Display) -> bool {
        self.made = self.made.saturating_add(made.to_string().len());
        self.made > MAX_MADE
    }

    /// What stands for a function that the engine does not have.
    fn instead_of(&self, function: &mut Function) -> Option<Expr> {
        let name = calls::name_of(&function.name);
        match (name.as_str(), &mut function.args) {
            ("array", FunctionArguments::Subquery(query)) => {
                if self.about == About::Catalog && (is_correlated(query) || reads_function(query)) {
                    return Some(null("TEXT[]"));
                }
                collected(query)
            }
            ("generate_subscripts", FunctionArguments::List(FunctionArgumentList { args, .. })) => {
                let list = args.first()?;
                // With its dimension, which may be a parameter whose type the client asks for.
                let list =
                    args.get(1).map_or_else(|| list.to_string(), |dimension| format!("{list}, {dimension}"));
                parsed(&format!("unnest(generate_series(1, CAST(array_length({list}) AS BIGINT)))"))
            }
            ("localtime", _) => parsed("CAST(now() AS TIME)"),
            ("localtimestamp", _) => parsed("CAST(now() AS TIMESTAMP)"),
            _ => composed::instead_of(function).or_else(|| calls::instead_of(function)),
        }
    }

    /// Casts between names and numbers of tables, and casts to JSON.
    fn instead_of_cast(&self, inner: &Expr, data_type: &DataType) -> Option<Expr> {
        if let Some(digits) = types::bytes_in_hex(inner, data_type) {
            return parsed(&format!("X'{digits}'"));
        }
        match inner {
            Expr::Value(name) if is_type(data_type, "regclass") && is_name(name) => {
                parsed(&format!("to_regclass(CAST({name} AS TEXT))"))
            }
            _ if is_type(data_type, "regclass") && is_text(inner) => parsed(&format!("to_regclass({inner})")),
            Expr::Value(name)
                if is_type(data_type, "regtype") && is_name(name) && self.about == About::Rows =>
            {
                parsed(&format!("to_regtype(CAST({name} AS TEXT))"))
            }
            // A constant is text; lists and structs become JSON.
            Expr::Value(_) if types::is_json(data_type) => parsed(&format!("CAST({inner} AS TEXT)")),
            _ if types::is_json(data_type) => parsed(&format!("as_json({inner})")),
            _ if is_type(data_type, "regtype[]") => parsed(&format!("regtypes({inner})")),
            Expr::Cast { expr: number, data_type: from, .. }
                if is_type(from, "regtype") && is_type(data_type, "text") && !is_constant(number) =>
            {
                parsed(&format!("format_type({number}, CAST(NULL AS INT))"))
            }
            // In ORDER BY of a query about the catalogue the number must stay what it is in SELECT.
            Expr::Cast { expr: number, data_type: from, .. }
                if self.about == About::Rows && is_type(from, "regclass") && is_type(data_type, "text") =>
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
    let is_cut = query.limit_clause.is_some() || query.fetch.is_some();
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let groups = select.group_by.to_string();
    if is_cut || !(groups.is_empty() || groups.trim() == "GROUP BY") {
        return cut(query);
    }
    let [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }] =
        select.projection.as_mut_slice()
    else {
        return None;
    };
    let order = query.order_by.take().map(|order| order.to_string()).unwrap_or_default();
    let order = if order == "ORDER BY 1" { format!("ORDER BY {item}") } else { order };
    let distinct = match select.distinct.take() {
        None | Some(Distinct::All) => "",
        Some(Distinct::Distinct) => "DISTINCT ",
        Some(Distinct::On(_)) => return None,
    };
    let all = parsed(&format!("array_agg({distinct}{item} {order})"))?;
    select.projection = vec![SelectItem::UnnamedExpr(all)];
    Some(Expr::Subquery(query.clone()))
}

/// `ARRAY(SELECT x … LIMIT n)`, and one over groups: the rows first, and then the list of them.
fn cut(query: &Query) -> Option<Expr> {
    let mut rows = query.clone();
    let SetExpr::Select(select) = rows.body.as_mut() else { return None };
    let [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }] =
        select.projection.as_slice()
    else {
        return None;
    };
    let alias = Ident::with_quote('"', "x");
    select.projection = vec![SelectItem::ExprWithAlias { expr: item.clone(), alias }];
    parsed(&format!("(SELECT array_agg(\"q\".\"x\") FROM ({rows}) AS \"q\")"))
}

/// Whether the one column of `query` is true or false.
fn is_condition(query: &Query) -> bool {
    use BinaryOperator::{And, Eq, Gt, Lt, NotEq, Or};
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    matches!(
        select.projection.as_slice(),
        [SelectItem::UnnamedExpr(Expr::BinaryOp { op: Eq | NotEq | Lt | Gt | And | Or, .. })
            | SelectItem::ExprWithAlias {
                expr: Expr::BinaryOp { op: Eq | NotEq | Lt | Gt | And | Or, .. },
                ..
            }]
    )
}

/// Makes `FETCH FIRST n ROWS ONLY` what it means: LIMIT.
fn limit(query: &mut Query) {
    let Some(fetch) = query.fetch.take_if(|fetch| !fetch.with_ties && !fetch.percent) else { return };
    let rows = fetch.quantity.or_else(|| parsed("1"));
    match &mut query.limit_clause {
        Some(LimitClause::LimitOffset { limit, .. }) => *limit = rows,
        other => *other = Some(LimitClause::LimitOffset { limit: rows, offset: None, limit_by: vec![] }),
    }
}

/// Makes `(struct).field` the field of that name. After a bare name a dot leads to a column.
fn by_name(root: &Expr, chain: &mut [AccessExpr]) {
    let is_dot = |step: &AccessExpr| matches!(step, AccessExpr::Dot(Expr::Identifier(_)));
    let columns = match root {
        Expr::Identifier(_) => chain.iter().take_while(|step| is_dot(step)).count(),
        _ => 0,
    };
    for step in &mut chain[columns..] {
        if let AccessExpr::Dot(Expr::Identifier(name)) = step {
            let index = text(&folded(name));
            *step = AccessExpr::Subscript(Subscript::Index { index });
        }
    }
}

/// The name of a type without its schema.
fn is_type(data_type: &DataType, name: &str) -> bool {
    let spelled = data_type.to_string().to_lowercase();
    spelled.strip_prefix("pg_catalog.").unwrap_or(&spelled) == name
}

/// Whether an expression surely gives a text.
fn is_text(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_text(inner),
        Expr::BinaryOp { op: BinaryOperator::StringConcat, .. } => true,
        Expr::Cast { data_type, .. } => is_type(data_type, "text"),
        Expr::Function(function) => {
            matches!(calls::name_of(&function.name).as_str(), "concat" | "format" | "quote_ident")
        }
        _ => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(_))
}

fn is_name(value: &ValueWithSpan) -> bool {
    matches!(value.value, Value::SingleQuotedString(_) | Value::Placeholder(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(sql: &str) -> String {
        Dialect::new().parse(sql).expect(sql).iter().map(Statement::to_string).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn subqueries_of_ordinary_queries_keep_their_meaning() {
        let sql = "SELECT (SELECT count(*) AS \"count\" FROM scores AS s WHERE s.trace_id = t.trace_id) AS \"count\" FROM traces AS t";
        assert_eq!(spelled(sql), sql);
        let about = "SELECT (SELECT x FROM pg_attrdef d WHERE d.adrelid = c.oid) FROM pg_class c";
        assert!(spelled(about).contains("NULL"), "{}", spelled(about));
    }

    #[test]
    fn lists_of_a_query_are_aggregates() {
        assert_eq!(
            spelled("SELECT ARRAY(SELECT name FROM spans ORDER BY start_time)"),
            "SELECT (SELECT array_agg(name ORDER BY start_time) FROM spans) AS \"array\""
        );
        assert!(
            spelled("SELECT ARRAY(SELECT DISTINCT name FROM spans)").contains("array_agg(DISTINCT name)")
        );
        assert!(spelled("SELECT ARRAY(SELECT name FROM spans LIMIT 2)").contains("LIMIT 2) AS \"q\""));
        let about = "SELECT ARRAY(SELECT b.rolname FROM pg_roles b WHERE b.oid = r.oid) FROM pg_roles r";
        assert!(spelled(about).contains("CAST(NULL AS TEXT[])"), "{}", spelled(about));
    }

    #[test]
    fn subscripts_keep_their_dimension() {
        let sql = spelled("SELECT generate_subscripts(finish_reasons, $1::INT) FROM spans");
        assert!(sql.contains("array_length(finish_reasons, ") && sql.contains("$1"), "{sql}");
    }

    #[test]
    fn what_names_its_parts_again_and_again_is_refused() {
        let long = format!("'{}'", "x".repeat(200_000));
        let nested = (0..6).fold(long, |inner, _| format!("({inner}, 1) IN (SELECT 1, 1)"));
        let why = Dialect::new().parse(&format!("SELECT {nested} AS a")).unwrap_err().to_string();
        assert!(why.contains("becomes longer than"), "{why}");
    }

    #[test]
    fn patterns_are_escaped_by_backslashes() {
        let where_like = |pattern: &str| spelled(&format!("SELECT 1 AS a FROM t WHERE a LIKE {pattern}"));
        let escaped = |pattern: &str| format!("SELECT 1 AS a FROM t WHERE a LIKE {pattern}");
        assert_eq!(where_like(r"'pg/_\' || '%' ESCAPE '/'"), escaped(r"'pg\_\\' || '%'"));
        assert_eq!(where_like(r"b ESCAPE '/'"), escaped(r"like_escape(b, '/')"));
        assert_eq!(where_like(r"'a\_' ESCAPE ''"), escaped(r"'a\\_'"));
        let known = "SELECT 1 AS a FROM t WHERE a SIMILAR TO b ESCAPE '#'";
        assert_eq!(spelled(known), known);
        let none = spelled("SELECT 1 AS a FROM t WHERE a NOT SIMILAR TO b ESCAPE ''");
        assert!(none.ends_with("WHERE ((a) !~ similar_to_escape(b, ''))"), "{none}");
    }

    #[test]
    fn names_and_numbers_of_tables() {
        assert!(spelled("SELECT 'spans'::regclass").contains("to_regclass(CAST('spans' AS TEXT))"));
        assert!(spelled("SELECT x::regclass::text").contains("regclassout(x)"));
        assert!(spelled("SELECT 1 FROM pg_type WHERE typreceive != 0").contains("<> '-'"));
        assert!(spelled("SELECT a FROM t WHERE size != 0").ends_with("WHERE size <> 0"));
        assert!(spelled("SELECT 1 FROM pg_type WHERE oid = 'bigint'::regtype").contains("to_regtype("));
        assert!(
            spelled("SELECT 1 FROM pg_class WHERE oid = 'a.b'::regclass")
                .contains("to_regclass('a.b'::TEXT)")
        );
        assert!(spelled("SELECT 1 FROM pg_indexes").contains("FROM pg_catalog.pg_indexes"));
        let is_list = spelled("SELECT 1 FROM pg_type WHERE typinput = 'pg_catalog.array_in'::regproc");
        assert!(is_list.ends_with("typinput = 'array_in'"), "{is_list}");
    }

    #[test]
    fn json_structs_and_conditions() {
        for (sql, part) in [
            ("SELECT a::jsonb FROM t", "SELECT as_json(a) AS"),
            ("SELECT '{}'::json", "CAST('{}' AS TEXT)"),
            ("SELECT (q).lower FROM t", "(q)['lower'] AS"),
            ("SELECT t.q['lower'] FROM t", "t.q['lower'] AS"),
            ("SELECT EXISTS (SELECT 1 FROM u)", "(SELECT count(*) > 0 FROM u) AS \"exists\""),
            ("SELECT a FROM t FETCH FIRST 2 ROWS ONLY", "LIMIT 2"),
            ("SELECT a FROM t OFFSET 3 ROWS FETCH NEXT 2 ROWS ONLY", "LIMIT 2 OFFSET 3"),
            ("SELECT timestamp '2026-01-01 10:30'", "'2026-01-01 10:30:00'"),
            ("SELECT a::name FROM t", "a::TEXT"),
            ("SELECT user", "session_user AS \"user\""),
        ] {
            assert!(spelled(sql).contains(part), "{sql}: {}", spelled(sql));
        }
    }
}
