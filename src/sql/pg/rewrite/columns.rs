//! The names that PostgreSQL gives to columns that have none, and names that come twice.
//!
//! The engine calls a column by its whole expression, and refuses two of one name. Here each gets the name that clients know,
//! such as `count`; what would come twice gets a mark behind it that is not shown.

use super::build::{folded, quoted};
use super::types::short_name;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, Distinct, Expr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr, Statement, VisitMut,
    VisitorMut,
};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Begins the part of a name that is not shown.
pub const MARK: char = '\u{1}';

/// What the library puts before a column that a wildcard has too.
const TWICE: &str = "__alias_";

/// What a column is called that has no better name.
const NAMELESS: &str = "?column?";

/// The name of a column as clients see it.
pub fn shown(name: &str) -> &str {
    let name = name.strip_prefix(TWICE).unwrap_or(name);
    name.split(MARK).next().unwrap_or(name)
}

/// Names the columns of every query in `statement`.
pub fn name_columns(statement: &mut Statement) {
    let _ = VisitMut::visit(statement, &mut Namer);
}

struct Namer;

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        // With DISTINCT the engine sorts by what is selected only, and knows it by its new name.
        if let SetExpr::Select(select) = query.body.as_mut()
            && matches!(select.distinct, Some(Distinct::Distinct))
            && let Some(order) = &mut query.order_by
            && let OrderByKind::Expressions(keys) = &mut order.kind
        {
            name_items(select);
            for key in keys {
                if let Some(name) = alias_of(&select.projection, &key.expr) {
                    key.expr = Expr::Identifier(name);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        name_items(select);
        ControlFlow::Continue(())
    }
}

fn alias_of(items: &[SelectItem], key: &Expr) -> Option<Ident> {
    let key = key.to_string();
    items.iter().find_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if expr.to_string() == key => Some(alias.clone()),
        _ => None,
    })
}

fn name_items(select: &mut Select) {
    let is_wild =
        |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    // What a wildcard stands for is not known here.
    let any_wild = select.projection.iter().any(is_wild);
    let mut taken: HashMap<String, Vec<Option<String>>> = HashMap::new();
    for (place, item) in select.projection.iter_mut().enumerate() {
        let (name, column) = match item {
            SelectItem::UnnamedExpr(expr) => (name_of(expr), is_column(expr).then(|| expr.to_string())),
            SelectItem::ExprWithAlias { alias, .. } => (folded(alias), None),
            _ => continue,
        };
        let others = taken.entry(name.clone()).or_default();
        let is_plain = column.is_some();
        // Columns of one name in two tables are told apart by their tables.
        let is_taken = others.iter().any(|other| !is_plain || other.is_none() || *other == column);
        others.push(column);
        let marked = || quoted(&format!("{name}{MARK}{place}"));
        match item {
            SelectItem::UnnamedExpr(expr) if is_taken || !is_plain => {
                let alias = if is_taken || any_wild { marked() } else { quoted(&name) };
                *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
            }
            SelectItem::ExprWithAlias { alias, .. } if is_taken => *alias = marked(),
            _ => {}
        }
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Wildcard(_))
}

/// What PostgreSQL calls a column of `expr`.
pub fn name_of(expr: &Expr) -> String {
    known_name(expr).map_or_else(|| NAMELESS.to_owned(), |name| shown(&name).to_owned())
}

fn known_name(expr: &Expr) -> Option<String> {
    let word = |word: &str| Some(word.to_owned());
    match expr {
        Expr::Identifier(name) => Some(folded(name)),
        Expr::CompoundIdentifier(parts) => parts.last().map(folded),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let last = access_chain.iter().rev().find_map(|step| match step {
                AccessExpr::Dot(field) => known_name(field),
                AccessExpr::Subscript(_) => None,
            });
            last.or_else(|| known_name(root))
        }
        Expr::Function(function) => function.name.0.last().and_then(|part| part.as_ident()).map(folded),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => known_name(inner),
        Expr::Cast { expr, data_type, .. } => known_name(expr).or_else(|| Some(short_name(data_type))),
        Expr::TypedString(typed) => Some(short_name(&typed.data_type)),
        Expr::Interval(_) => word("interval"),
        Expr::Case { else_result, .. } => match else_result.as_deref() {
            Some(other) if is_column(other) || matches!(other, Expr::Function(_)) => known_name(other),
            _ => word("case"),
        },
        Expr::Subquery(query) => match query.body.as_ref() {
            SetExpr::Select(select) => match select.projection.first()? {
                SelectItem::UnnamedExpr(expr) => known_name(expr),
                SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
                _ => None,
            },
            _ => None,
        },
        Expr::Exists { .. } => word("exists"),
        Expr::Array(_) => word("array"),
        Expr::AtTimeZone { .. } => word("timezone"),
        Expr::Extract { .. } => word("extract"),
        Expr::Substring { .. } => word("substring"),
        Expr::Trim { .. } => word("btrim"),
        Expr::Position { .. } => word("position"),
        Expr::Overlay { .. } => word("overlay"),
        Expr::Ceil { .. } => word("ceil"),
        Expr::Floor { .. } => word("floor"),
        Expr::Tuple(_) => word("row"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    fn named(sql: &str) -> String {
        let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0);
        name_columns(&mut statement);
        statement.to_string().replace(MARK, "~")
    }

    #[test]
    fn columns_have_the_names_of_postgresql() {
        for (expr, name) in [
            ("count(*)", "count"),
            ("pg_catalog.lower(a)", "lower"),
            ("1", "?column?"),
            ("a + 1", "?column?"),
            ("a::text", "a"),
            ("'1'::int", "int4"),
            ("CAST('x' AS double precision)", "float8"),
            ("(q).estimate", "estimate"),
            ("(q).list[1]", "list"),
            ("CASE WHEN a THEN 1 END", "case"),
            ("date '2026-01-01'", "date"),
            ("(SELECT max(a) FROM t)", "max"),
            ("EXISTS (SELECT 1)", "exists"),
            ("extract(hour FROM a)", "extract"),
        ] {
            let sql = named(&format!("SELECT {expr} FROM t"));
            assert!(sql.contains(&format!(" AS \"{name}\" FROM t")), "{expr}: {sql}");
        }
        assert_eq!(named("SELECT a, t.b, c AS d FROM t"), "SELECT a, t.b, c AS d FROM t");
    }

    #[test]
    fn names_that_come_twice_are_marked() {
        assert_eq!(named("SELECT 1, 2"), "SELECT 1 AS \"?column?\", 2 AS \"?column?~1\"");
        assert_eq!(named("SELECT a, a FROM t"), "SELECT a, a AS \"a~1\" FROM t");
        assert_eq!(named("SELECT t.a, u.a FROM t, u"), "SELECT t.a, u.a FROM t, u");
        assert_eq!(named("SELECT 1 AS a, 2 AS A"), "SELECT 1 AS a, 2 AS \"a~1\"");
        assert_eq!(named("SELECT lower(a), * FROM t"), "SELECT lower(a) AS \"lower~0\", * FROM t");
        assert_eq!((shown("a\u{1}1"), shown("__alias_oid"), shown("a b")), ("a", "oid", "a b"));
    }

    #[test]
    fn distinct_rows_are_sorted_by_what_is_selected() {
        assert_eq!(
            named("SELECT DISTINCT lower(a) FROM t ORDER BY lower(a)"),
            "SELECT DISTINCT lower(a) AS \"lower\" FROM t ORDER BY \"lower\""
        );
    }
}
