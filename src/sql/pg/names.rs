//! Which names a statement uses, and whether they are its own.

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, Statement, TableFactor, Visit, Visitor,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Functions that stand in FROM and are no tables.
const FUNCTIONS: &[&str] = &["unnest", "generate_series", "pg_get_keywords"];

/// Whether `statement` reads a table of the catalogue.
pub fn is_about_catalog(statement: &Statement) -> bool {
    Names::of(statement).tables.iter().any(|table| is_of_catalog(table))
}

fn is_of_catalog(table: &[String]) -> bool {
    match table {
        [name] => name.starts_with("pg_"),
        [.., schema, _] => schema == "pg_catalog" || schema == "information_schema",
        [] => false,
    }
}

/// Whether `query` names a column of a table that is not its own.
pub fn is_correlated(query: &Query) -> bool {
    let names = Names::of(query);
    names.qualifiers.iter().any(|qualifier| !names.own.contains(qualifier))
}

/// Whether `query` reads a function as if it were a table.
pub fn reads_function(query: &Query) -> bool {
    let is_function =
        |table: &Vec<String>| table.last().is_some_and(|name| FUNCTIONS.contains(&name.as_str()));
    let names = Names::of(query);
    names.functions || names.tables.iter().any(is_function)
}

#[derive(Default)]
struct Names {
    /// Tables by the parts of their names.
    tables: Vec<Vec<String>>,
    /// What columns may be qualified by.
    own: HashSet<String>,
    /// What columns are qualified by.
    qualifiers: HashSet<String>,
    functions: bool,
}

impl Names {
    fn of(part: &impl Visit) -> Self {
        let mut names = Names::default();
        let _ = part.visit(&mut names);
        names
    }
}

/// A name as PostgreSQL keeps it: in lower case, unless it is quoted.
pub fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        let part = |part: &ObjectNamePart| part.as_ident().map(folded);
        let parts: Vec<String> = name.0.iter().filter_map(part).collect();
        self.own.extend(parts.last().cloned());
        self.tables.push(parts);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        let alias = match factor {
            TableFactor::Table { alias, args, .. } => {
                self.functions |= args.is_some();
                alias
            }
            TableFactor::Derived { alias, .. } => alias,
            TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::TableFunction { alias, .. } => {
                self.functions = true;
                alias
            }
            _ => &None,
        };
        self.own.extend(alias.as_ref().map(|alias| folded(&alias.name)));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [.., qualifier, _] = parts.as_slice()
        {
            self.qualifiers.insert(folded(qualifier));
        }
        ControlFlow::Continue(())
    }
}
