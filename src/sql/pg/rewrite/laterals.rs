//! Functions in FROM that give rows, such as `FROM spans, unnest(documents) AS t(d)`.
//!
//! The engine unnests lists in SELECT only. So the table that the list comes from becomes a subquery that unnests it, and the
//! names of the function's columns become names of its columns.

use super::build::{folded, parsed, parsed_factor, quoted, text};
use super::calls::{columns_of, name_of, plain};
use super::columns::{self, MARK};
use super::types::is_json;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, Expr, Ident, Join, JoinConstraint, JoinOperator, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Subscript, TableAlias, TableAliasColumnDef, TableFactor,
    TableWithJoins, Visit, VisitMut, Visitor, VisitorMut,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Functions whose columns are told by their alias: `jsonb_to_recordset(json) AS t(a int, b text)`.
const RECORDS: [&str; 4] = ["json_to_record", "json_to_recordset", "jsonb_to_record", "jsonb_to_recordset"];

/// Functions in FROM that one query may have.
const MAX_CALLS: usize = 16;

/// Bytes of the arguments of a record, which stand there for each of its columns.
const MAX_RECORDS: usize = 4 << 20;

/// Makes subqueries of the functions in the FROM of `query`; what cannot be one stays as it is. Whether there was one.
pub fn flatten(query: &mut Query) -> bool {
    (0..MAX_CALLS).take_while(|_| step(query).is_some()).count() > 0
}

/// A function in FROM.
struct Call {
    /// Where it stands: the item of FROM, and the join of that item.
    item: usize,
    join: Option<usize>,
    name: String,
    args: Vec<Expr>,
    alias: Option<TableAlias>,
    ordinality: bool,
    /// Whether a row without elements stays.
    outer: bool,
    /// What a join asks of the rows.
    condition: Option<Expr>,
}

/// A column of a function.
struct Column {
    shown: String,
    inner: String,
    list: String,
}

/// Replaces the first function.
fn step(query: &mut Query) -> Option<()> {
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let call = find(select)?;
    let name = call.alias.as_ref().map_or_else(|| call.name.clone(), |alias| folded(&alias.name));
    let target = target(select, &call)?;
    let columns = columns(&call, &name, target.is_some())?;
    let unnested: Vec<String> =
        columns.iter().map(|c| format!("unnest({}) AS {}", c.list, quoted(&c.inner))).collect();
    let unnested = unnested.join(", ");
    let table = match &target {
        None => name.clone(),
        Some((_, _, table)) => table.clone(),
    };
    match target {
        None => {
            let alone = parsed_factor(&format!("(SELECT {unnested}) AS {}", quoted(&name)))?;
            *factor_mut(select, call.item, call.join)? = alone;
        }
        Some((item, join, _)) => {
            let own = factor_mut(select, item, join)?;
            let quoted = quoted(&table);
            let wrapped = format!("(SELECT {quoted}.*, {unnested} FROM {own}) AS {quoted}");
            *own = parsed_factor(&wrapped)?;
            remove(select, &call)?;
            if let Some(condition) = call.condition {
                let both = match select.selection.take() {
                    Some(other) => format!("({other}) AND ({condition})"),
                    None => condition.to_string(),
                };
                select.selection = Some(parsed(&both)?);
            }
        }
    }
    refer(query, &References { name, table, columns });
    Some(())
}

fn find(select: &Select) -> Option<Call> {
    for (item, from) in select.from.iter().enumerate() {
        // What is joined to a function cannot be moved with it.
        let is_alone = from.joins.is_empty() || item == 0;
        if let Some(call) = call_of(&from.relation, item, None).filter(|_| is_alone) {
            return Some(call);
        }
        for (place, join) in from.joins.iter().enumerate() {
            let Some(mut call) = call_of(&join.relation, item, Some(place)) else { continue };
            let (outer, constraint) = match &join.join_operator {
                JoinOperator::Join(on) | JoinOperator::Inner(on) | JoinOperator::CrossJoin(on) => (false, on),
                JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (true, on),
                _ => continue,
            };
            call.outer = outer;
            call.condition = match constraint {
                JoinConstraint::None => None,
                JoinConstraint::On(on) if on.to_string().eq_ignore_ascii_case("true") => None,
                JoinConstraint::On(on) if !outer => Some(on.clone()),
                _ => continue,
            };
            return Some(call);
        }
    }
    None
}

fn call_of(factor: &TableFactor, item: usize, join: Option<usize>) -> Option<Call> {
    let (name, args, alias, ordinality) = match factor {
        TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_ordinality, .. } => {
            ("unnest".to_owned(), array_exprs.clone(), alias, *with_ordinality)
        }
        TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. } => {
            (name_of(name), plain(&args.args)?, alias, *with_ordinality)
        }
        TableFactor::Function { name, args, alias, with_ordinality, .. } => {
            (name_of(name), plain(args)?, alias, *with_ordinality)
        }
        _ => return None,
    };
    let is_list = name == "unnest" || RECORDS.contains(&name.as_str());
    let is_known = columns_of(&name).is_some() || (is_list && args.len() == 1);
    let alias = alias.clone();
    is_known.then_some(Call { item, join, name, args, alias, ordinality, outer: false, condition: None })
}

/// The columns of `call`, each as a list. In the subquery of another table their names are made to differ from its own.
fn columns(call: &Call, name: &str, of_table: bool) -> Option<Vec<Column>> {
    let args: Vec<String> = call.args.iter().map(Expr::to_string).collect();
    let args = args.join(", ");
    let mut lists: Vec<(String, String)> = match columns_of(&call.name) {
        Some(columns) => {
            columns.iter().map(|(column, list)| ((*column).to_owned(), format!("{list}({args})"))).collect()
        }
        None if RECORDS.contains(&call.name.as_str()) => records(call, &args)?,
        None => vec![(name.to_owned(), args)],
    };
    if call.ordinality {
        let (_, first) = lists.first()?;
        let places = format!("generate_series(1, CAST(cardinality({first}) AS BIGINT))");
        lists.push(("ordinality".to_owned(), places));
    }
    let given = call.alias.as_ref().map(|alias| alias.columns.as_slice()).unwrap_or_default();
    let column = |(place, (default, list)): (usize, (String, String))| {
        let shown = given.get(place).map_or(default, |given| folded(&given.name));
        let inner = if of_table { format!("{shown}{MARK}{name}") } else { shown.clone() };
        let list = if call.outer {
            format!("CASE WHEN cardinality({list}) > 0 THEN {list} ELSE make_array(NULL) END")
        } else {
            list
        };
        Column { shown, inner, list }
    };
    Some(lists.into_iter().enumerate().map(column).collect())
}

/// The columns of a record, which have their names and types from the alias; none if one has no type.
fn records(call: &Call, json: &str) -> Option<Vec<(String, String)>> {
    let columns = &call.alias.as_ref()?.columns;
    if json.len().saturating_mul(columns.len()) > MAX_RECORDS {
        return None;
    }
    let column = |column: &TableAliasColumnDef| {
        let data_type = column.data_type.as_ref()?;
        let name = folded(&column.name);
        let list = if is_json(data_type) {
            format!("json_fields({json}, {})", text(&name))
        } else {
            format!("CAST(json_field_texts({json}, {}) AS {data_type}[])", text(&name))
        };
        Some((name, list))
    };
    let columns: Vec<(String, String)> = columns.iter().map(column).collect::<Option<_>>()?;
    (!columns.is_empty()).then_some(columns)
}

/// A table before the function: the item of FROM, the join of that item, and its name.
type Target = (usize, Option<usize>, String);

/// The table whose columns the arguments name: `Some(None)` if they name none, none if it is not clear which.
fn target(select: &Select, call: &Call) -> Option<Option<Target>> {
    let mut named = Named::default();
    for arg in &call.args {
        let _ = arg.visit(&mut named);
    }
    if named.tables.is_empty() && !named.any {
        return Some(None);
    }
    let mut before: Vec<Target> = Vec::new();
    for (item, from) in select.from.iter().enumerate() {
        let joined = from.joins.iter().enumerate().map(|(place, join)| (Some(place), &join.relation));
        for (join, factor) in std::iter::once((None, &from.relation)).chain(joined) {
            // None is before every place: the first table of an item comes before those that are joined to it.
            if (item, join) < (call.item, call.join)
                && let Some(name) = name_in_from(factor)
            {
                before.push((item, join, name));
            }
        }
    }
    let mut tables = named.tables.iter();
    match (tables.next(), tables.next()) {
        (Some(table), None) => before.into_iter().find(|(.., name)| name == table).map(Some),
        (None, _) => before.into_iter().next().map(Some),
        _ => None,
    }
}

/// What columns of `factor` are qualified by, if it is a table or a subquery.
fn name_in_from(factor: &TableFactor) -> Option<String> {
    match factor {
        TableFactor::Table { alias: Some(alias), args: None, .. }
        | TableFactor::Derived { alias: Some(alias), .. } => Some(folded(&alias.name)),
        TableFactor::Table { name, alias: None, args: None, .. } => {
            name.0.last().and_then(|part| part.as_ident()).map(folded)
        }
        _ => None,
    }
}

/// What the arguments of a function name.
#[derive(Default)]
struct Named {
    tables: BTreeSet<String>,
    any: bool,
}

impl Visitor for Named {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(_) => self.any = true,
            Expr::CompoundIdentifier(parts) => {
                if let [.., table, _] = parts.as_slice() {
                    self.tables.insert(folded(table));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn factor_mut(select: &mut Select, item: usize, join: Option<usize>) -> Option<&mut TableFactor> {
    let TableWithJoins { relation, joins } = select.from.get_mut(item)?;
    match join {
        None => Some(relation),
        Some(place) => joins.get_mut(place).map(|Join { relation, .. }| relation),
    }
}

fn remove(select: &mut Select, call: &Call) -> Option<()> {
    match call.join {
        None => {
            select.from.remove(call.item);
        }
        Some(place) => {
            select.from.get_mut(call.item)?.joins.remove(place);
        }
    }
    Some(())
}

/// What names the columns of a function, and where they are now.
struct References {
    /// The function's name in FROM.
    name: String,
    /// The subquery that has its columns.
    table: String,
    columns: Vec<Column>,
}

impl References {
    fn column(&self, inner: &str) -> Expr {
        Expr::CompoundIdentifier(vec![quoted(&self.table), quoted(inner)])
    }

    /// What stands for a column, a field of an element, or the element itself.
    fn instead_of(&self, expr: &Expr) -> Option<Expr> {
        match expr {
            Expr::Identifier(name) => {
                let name = folded(name);
                let known = self.columns.iter().find(|column| column.shown == name);
                let only = self.only().filter(|_| name == self.name);
                known.or(only).map(|column| self.column(&column.inner))
            }
            Expr::CompoundIdentifier(parts) => {
                let [table, field] = parts.as_slice() else { return None };
                self.part(table, field)
            }
            // `t.d['id']` is parsed as a chain that begins with the table.
            Expr::CompoundFieldAccess { root, access_chain } => {
                let Expr::Identifier(table) = root.as_ref() else { return None };
                let [AccessExpr::Dot(Expr::Identifier(field)), rest @ ..] = access_chain.as_slice() else {
                    return None;
                };
                let root = Box::new(self.part(table, field)?);
                Some(Expr::CompoundFieldAccess { root, access_chain: rest.to_vec() })
            }
            _ => None,
        }
    }

    /// What stands for `table.field`: a column, or a field of the only column.
    fn part(&self, table: &Ident, field: &Ident) -> Option<Expr> {
        if folded(table) != self.name {
            return None;
        }
        let field = folded(field);
        if let Some(column) = self.columns.iter().find(|column| column.shown == field) {
            return Some(self.column(&column.inner));
        }
        let index = text(&field);
        Some(Expr::CompoundFieldAccess {
            root: Box::new(self.column(&self.only()?.inner)),
            access_chain: vec![AccessExpr::Subscript(Subscript::Index { index })],
        })
    }

    fn only(&self) -> Option<&Column> {
        if let [only] = self.columns.as_slice() { Some(only) } else { None }
    }
}

impl VisitorMut for &References {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Some(other) = self.instead_of(expr) {
            *expr = other;
        }
        ControlFlow::Continue(())
    }
}

/// Lets `query` name the columns where they are now.
fn refer(query: &mut Query, mut references: &References) {
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    let mut items = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for item in std::mem::take(&mut select.projection) {
        match item {
            SelectItem::UnnamedExpr(mut expr) => {
                let (before, name) = (expr.to_string(), columns::name_of(&expr));
                let _ = VisitMut::visit(&mut expr, &mut references);
                let same = expr.to_string() == before;
                items.push(if same {
                    SelectItem::UnnamedExpr(expr)
                } else {
                    SelectItem::ExprWithAlias { expr, alias: quoted(&name) }
                });
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(table), _)
                if name_of(&table) == references.name =>
            {
                items.extend(references.columns.iter().map(|column| SelectItem::ExprWithAlias {
                    expr: references.column(&column.inner),
                    alias: quoted(&column.shown),
                }));
            }
            mut other => {
                if let SelectItem::ExprWithAlias { alias, .. } = &other {
                    names.insert(folded(alias));
                }
                let _ = VisitMut::visit(&mut other, &mut references);
                items.push(other);
            }
        }
    }
    let from = std::mem::take(&mut select.from);
    let _ = VisitMut::visit(select.as_mut(), &mut references);
    select.projection = items;
    select.from = from;
    for join in select.from.iter_mut().flat_map(|from| &mut from.joins) {
        let _ = VisitMut::visit(&mut join.join_operator, &mut references);
        later(&mut join.relation, references);
    }
    for from in select.from.iter_mut().skip(1) {
        later(&mut from.relation, references);
    }
    if let Some(order) = &mut query.order_by {
        // A name of a selected column goes before that of a table's.
        let mut sorted = Sorted { references, names };
        let _ = VisitMut::visit(order, &mut sorted);
    }
}

/// Functions may name the columns of those before them.
fn later(factor: &mut TableFactor, mut references: &References) {
    if call_of(factor, 0, None).is_some() {
        let _ = VisitMut::visit(factor, &mut references);
    }
}

struct Sorted<'a> {
    references: &'a References,
    names: BTreeSet<String>,
}

impl VisitorMut for Sorted<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let is_selected = matches!(expr, Expr::Identifier(Ident { value, .. }) if self.names.contains(value));
        if !is_selected && let Some(other) = self.references.instead_of(expr) {
            *expr = other;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::ast::Statement;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    fn flat(sql: &str) -> String {
        let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
        let Some(Statement::Query(mut query)) = statements.pop() else { panic!("{sql}") };
        flatten(&mut query);
        query.to_string().replace(MARK, "~")
    }

    #[test]
    fn a_list_of_a_table_is_unnested_in_its_subquery() {
        let expected = "SELECT s.name, \"s\".\"r~t\" AS \"r\" FROM \
            (SELECT \"s\".*, unnest(s.reasons) AS \"r~t\" FROM spans AS s) AS \"s\"";
        for sql in [
            "SELECT s.name, t.r FROM spans AS s, unnest(s.reasons) AS t(r)",
            "SELECT s.name, t.r FROM spans AS s CROSS JOIN unnest(s.reasons) AS t(r)",
            "SELECT s.name, r FROM spans AS s JOIN LATERAL unnest(s.reasons) AS t(r) ON true",
        ] {
            assert_eq!(flat(sql), expected, "{sql}");
        }
        let outer = flat("SELECT r FROM spans s LEFT JOIN LATERAL unnest(reasons) AS r ON true");
        assert!(outer.contains("CASE WHEN cardinality(reasons) > 0"), "{outer}");
        let condition =
            flat("SELECT r FROM spans s JOIN LATERAL unnest(reasons) AS r ON r <> 'x' WHERE s.a = 1");
        assert!(condition.ends_with("WHERE (s.a = 1) AND (\"s\".\"r~r\" <> 'x')"), "{condition}");
    }

    #[test]
    fn fields_of_elements_and_wildcards() {
        let sql = "SELECT d.id FROM spans, unnest(documents) AS d WHERE d.score > 1 ORDER BY d.score";
        let expected = "SELECT \"spans\".\"d~d\"['id'] AS \"id\" FROM \
            (SELECT \"spans\".*, unnest(documents) AS \"d~d\" FROM spans) AS \"spans\" \
            WHERE \"spans\".\"d~d\"['score'] > 1 ORDER BY \"spans\".\"d~d\"['score']";
        assert_eq!(flat(sql), expected);
        let all = flat("SELECT e.* FROM spans s, jsonb_each_text(s.attributes) AS e(k, v)");
        assert!(all.starts_with("SELECT \"s\".\"k~e\" AS \"k\", \"s\".\"v~e\" AS \"v\" FROM"), "{all}");
    }

    #[test]
    fn a_constant_list_is_a_subquery_of_its_own() {
        assert_eq!(
            flat("SELECT x FROM unnest(ARRAY[1, 2]) AS x"),
            "SELECT \"x\".\"x\" AS \"x\" FROM (SELECT unnest(ARRAY[1, 2]) AS \"x\") AS \"x\""
        );
        let numbered = flat("SELECT * FROM unnest(ARRAY['a']) WITH ORDINALITY AS t(x, n)");
        assert!(
            numbered.contains("unnest(generate_series(1, CAST(cardinality(ARRAY['a']) AS BIGINT))) AS \"n\"")
        );
        let plain = "SELECT * FROM generate_series(1, 3) AS t (x)";
        assert_eq!(flat(plain), plain);
    }

    #[test]
    fn records_have_the_columns_of_their_alias() {
        let found = flat("SELECT t.a FROM spans s, jsonb_to_recordset(s.j) AS t(a int, b jsonb)");
        let expected = "SELECT \"s\".\"a~t\" AS \"a\" FROM (SELECT \"s\".*, \
            unnest(CAST(json_field_texts(s.j, 'a') AS INT[])) AS \"a~t\", unnest(json_fields(s.j, 'b')) AS \"b~t\" \
            FROM spans s) AS \"s\"";
        assert_eq!(found.replace(" AS s)", " s)"), expected);
        let untyped = "SELECT * FROM jsonb_to_record(j) AS t (a)";
        assert_eq!(flat(untyped), untyped);
    }

    #[test]
    fn functions_name_the_columns_of_those_before_them() {
        let both =
            flat("SELECT e.key FROM spans s, jsonb_array_elements(s.events) AS v, jsonb_each(v.value) AS e");
        assert!(both.contains("unnest(json_keys(\"s\".\"value~v\")) AS \"key~e\""), "{both}");
    }
}
