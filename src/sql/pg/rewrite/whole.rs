//! Whole rows as values, and series as rows.

use super::build::{folded, parsed, parsed_factor, quoted, text};
use super::calls::{name_of, plain};
use super::columns;
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query, Select, SelectItem, SetExpr,
    TableFactor, TableWithJoins, VisitMut, VisitorMut,
};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Functions that people give a whole row.
const TAKE_ROWS: [&str; 5] = ["row_to_json", "to_json", "to_jsonb", "json_agg", "jsonb_agg"];

/// Makes a struct of `t` in `json_agg(t)` and its like, where `t` is a subquery in FROM whose columns have names.
pub fn rows(select: &mut Select) {
    let mut known = Rows::default();
    for from in &select.from {
        let joined = from.joins.iter().map(|join| &join.relation);
        std::iter::once(&from.relation).chain(joined).for_each(|factor| known.add(factor));
    }
    if !known.tables.is_empty() {
        for item in &mut select.projection {
            let _ = VisitMut::visit(item, &mut known);
        }
    }
}

/// The columns of subqueries in FROM, by their names.
#[derive(Default)]
struct Rows {
    tables: HashMap<String, Vec<String>>,
}

impl Rows {
    fn add(&mut self, factor: &TableFactor) {
        if let TableFactor::Derived { subquery, alias: Some(alias), .. } = factor
            && alias.columns.is_empty()
            && let Some(columns) = columns_of(subquery)
        {
            self.tables.insert(folded(&alias.name), columns);
        }
    }

    fn whole(&self, name: &Ident) -> Option<Expr> {
        let name = folded(name);
        let columns = self.tables.get(&name)?;
        // A column goes before a row of its name.
        if columns.contains(&name) {
            return None;
        }
        let field = |column: &String| {
            let key = text(columns::shown(column));
            format!("{key}, {}.{}", quoted(&name), quoted(column))
        };
        let fields: Vec<String> = columns.iter().map(field).collect();
        parsed(&format!("named_struct({})", fields.join(", ")))
    }
}

impl VisitorMut for Rows {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr
            && TAKE_ROWS.contains(&name_of(&function.name).as_str())
            && let FunctionArguments::List(list) = &mut function.args
            && let Some([Expr::Identifier(name)]) = plain(&list.args).as_deref()
            && let Some(whole) = self.whole(name)
        {
            list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(whole))];
        }
        ControlFlow::Continue(())
    }
}

/// The names of the columns of `query`; none if they are not all known here.
fn columns_of(query: &Query) -> Option<Vec<String>> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let name = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) => Some(columns::name_of(expr)),
        SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
        _ => None,
    };
    select.projection.iter().map(name).collect()
}

/// Makes `SELECT generate_series(a, b) AS n` the rows of `FROM generate_series(a, b) AS n`.
pub fn series(select: &mut Select) {
    let is_series = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { expr: Expr::Function(call), .. } => {
            name_of(&call.name) == "generate_series"
        }
        _ => false,
    };
    let mut places = (0..select.projection.len()).filter(|place| is_series(&select.projection[*place]));
    let (Some(place), None, true) = (places.next(), places.next(), select.from.is_empty()) else { return };
    let SelectItem::ExprWithAlias { expr, alias } = &mut select.projection[place] else { return };
    let name = quoted(&folded(alias));
    if let Some(relation) = parsed_factor(&format!("{expr} AS {name}")) {
        *expr = Expr::Identifier(name);
        select.from = vec![TableWithJoins { relation, joins: vec![] }];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::ast::Statement;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    fn spelled(sql: &str, change: fn(&mut Select)) -> String {
        let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
        let Some(Statement::Query(mut query)) = statements.pop() else { panic!("{sql}") };
        let SetExpr::Select(select) = query.body.as_mut() else { panic!("{sql}") };
        change(select);
        query.to_string()
    }

    #[test]
    fn whole_rows_are_structs() {
        let found = spelled("SELECT json_agg(t) FROM (SELECT name, 1 AS n FROM spans) AS t", rows);
        let row = "named_struct('name', \"t\".\"name\", 'n', \"t\".\"n\")";
        assert_eq!(found, format!("SELECT json_agg({row}) FROM (SELECT name, 1 AS n FROM spans) AS t"));
        for own in [
            "SELECT json_agg(t) FROM (SELECT * FROM spans) AS t",
            "SELECT json_agg(t) FROM (SELECT 1 AS t) AS t",
            "SELECT count(t) FROM (SELECT 1 AS n) AS t",
            "SELECT json_agg(n) FROM (SELECT 1 AS n) AS t",
        ] {
            assert_eq!(spelled(own, rows), own);
        }
    }

    #[test]
    fn series_are_rows() {
        let found = spelled("SELECT generate_series(1, 3) AS n, 0 AS v", series);
        assert_eq!(found, "SELECT \"n\" AS n, 0 AS v FROM generate_series(1, 3) AS \"n\"");
        for own in ["SELECT generate_series(1, 3) AS n FROM t", "SELECT 1 AS n"] {
            assert_eq!(spelled(own, series), own);
        }
    }
}
