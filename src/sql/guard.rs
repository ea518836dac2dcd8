//! Which statements may run: those that only read.

use super::error::SqlError;
use super::explain::is_explained;
use super::literals;
use super::shape;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::{DFParserBuilder, Statement as Parsed};
use datafusion::sql::sqlparser::ast::{Query, Statement, TableFactor, Visit, Visitor, visit_relations};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Nested parentheses and subqueries deeper than this are refused while parsing.
const MAX_DEPTH: usize = 64;

/// Scans, filters, joins and so on that the plan of one query may have.
const MAX_PARTS: usize = 5000;

/// What SHOW TABLES lists: the tables and views of users, not the two hundred of the system catalogs.
const OWN_TABLES: &str = "SELECT table_name, table_type FROM information_schema.tables \
WHERE table_schema = 'public' ORDER BY table_name";

/// Parses exactly one reading statement; SHOW TABLES as [`listed`].
///
/// # Errors
/// [`SqlError::Wrong`] for text that does not parse, for none or several statements, and for any that writes;
/// [`SqlError::Limit`] for one that is too deep.
pub fn parse(sql: &str) -> Result<Parsed, SqlError> {
    let sql = literals::joined(sql)?;
    shape::check(&sql)?;
    let mut statements = DFParserBuilder::new(&*sql)
        .with_dialect(&PostgreSqlDialect {})
        .with_recursion_limit(MAX_DEPTH)
        .build()
        .and_then(|mut parser| parser.parse_statements())?;
    match (statements.pop_front(), statements.is_empty()) {
        (Some(statement), true) => {
            check_parsed(&statement)?;
            listed(statement)
        }
        (None, _) => Err(SqlError::Wrong("the query is empty".to_owned())),
        (Some(_), false) => Err(SqlError::Wrong("one statement at a time".to_owned())),
    }
}

/// The query that stands for SHOW TABLES without more words; any other statement as it is.
///
/// # Errors
/// None for a statement that [`check`] lets pass.
pub fn listed(statement: Parsed) -> Result<Parsed, SqlError> {
    let lists = |inner: &Statement| {
        matches!(inner, Statement::ShowTables { .. }) && inner.to_string() == "SHOW TABLES"
    };
    match &statement {
        Parsed::Statement(inner) if lists(inner) => parse(OWN_TABLES),
        _ => Ok(statement),
    }
}

fn check_parsed(statement: &Parsed) -> Result<(), SqlError> {
    match statement {
        Parsed::Statement(inner) => check(inner),
        Parsed::Explain(explain) => check_parsed(&explain.statement),
        other => Err(refused(&other.to_string())),
    }
}

/// Lets pass what only reads.
///
/// # Errors
/// [`SqlError::Wrong`] with the first words of anything else, [`SqlError::Limit`] for a query that would grow too large.
pub fn check(statement: &Statement) -> Result<(), SqlError> {
    if statement.visit(&mut Weigher::default()).is_break() {
        return Err(too_many_parts());
    }
    if statement.visit(&mut Sampled).is_break() {
        let why = "TABLESAMPLE is not supported: choose rows by a condition, such as trace_id < '1'";
        return Err(SqlError::Wrong(why.to_owned()));
    }
    match statement {
        Statement::Query(_)
        | Statement::ExplainTable { .. }
        | Statement::ShowTables { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowVariable { .. }
        | Statement::ShowFunctions { .. } => Ok(()),
        Statement::Explain { statement, .. } => check(statement),
        other => Err(refused(&other.to_string())),
    }
}

/// Finds samples of tables, which the engine would leave out without a word.
struct Sampled;

impl Visitor for Sampled {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { sample: Some(_), .. } | TableFactor::Derived { sample: Some(_), .. } => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Counts what the names of common table expressions stand for, because planning copies each into every place of use.
#[derive(Default)]
struct Weigher {
    weights: HashMap<String, usize>,
}

impl Weigher {
    fn weigh(&self, part: &impl Visit) -> usize {
        let mut sum = 1usize;
        let _ = visit_relations(part, |name| {
            let weight = self.weights.get(&name.to_string().to_lowercase()).copied().unwrap_or(1);
            sum = sum.saturating_add(weight);
            ControlFlow::<()>::Continue(())
        });
        sum
    }
}

impl Visitor for Weigher {
    type Break = ();

    /// Inner queries come first, so their names are known when the outer query is counted.
    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            let weight = self.weigh(&table.query);
            if weight > MAX_PARTS {
                return ControlFlow::Break(());
            }
            self.weights.insert(table.alias.name.to_string().to_lowercase(), weight);
        }
        if self.weigh(query) > MAX_PARTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn too_many_parts() -> SqlError {
    SqlError::Limit(format!("the plan of the query would have more than {MAX_PARTS} parts"))
}

fn refused(text: &str) -> SqlError {
    let start: Vec<&str> = text.split_whitespace().take(2).collect();
    SqlError::Wrong(format!(
        "{} is refused: this endpoint is read-only (SELECT, WITH, VALUES, EXPLAIN, SHOW and DESCRIBE)",
        start.join(" ").to_uppercase()
    ))
}

/// Checks the plan as well, because SELECT INTO is a query that writes.
///
/// Common table expressions and views are copied into the plan wherever they are named, so a short query that names each
/// of thirty twice in the next would have a plan of a thousand million parts; those are counted here, up to a limit.
///
/// # Errors
/// [`SqlError::Wrong`] for a plan that has a part which writes, [`SqlError::Limit`] for one with too many parts.
pub fn verify(plan: &LogicalPlan) -> Result<(), SqlError> {
    let mut parts = 0;
    plan.apply_with_subqueries(|_| {
        parts += 1;
        Ok(if parts > MAX_PARTS { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    if parts > MAX_PARTS {
        return Err(too_many_parts());
    }
    SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false)
        .verify_plan(plan)
        .map_err(SqlError::from)
}

/// Refuses plans that describe plans: files and numbers of rows in them are every tenant's.
///
/// # Errors
/// [`SqlError::Wrong`] for EXPLAIN in any form.
pub fn no_explain(plan: &LogicalPlan) -> Result<(), SqlError> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= is_explained(node) || matches!(node, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    if found {
        let why =
            "EXPLAIN is refused for the token of one tenant: plans tell of files that all tenants share";
        return Err(SqlError::Wrong(why.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_passes() {
        for sql in [
            "SELECT 1",
            "WITH a AS (SELECT 1) SELECT * FROM a",
            "VALUES (1)",
            "EXPLAIN ANALYZE SELECT 1",
            "SHOW TABLES",
            "DESCRIBE spans",
            "SELECT 1;",
        ] {
            assert!(parse(sql).is_ok(), "{sql}: {:?}", parse(sql).err());
        }
    }

    #[test]
    fn show_tables_asks_for_the_tables_of_users() {
        for sql in ["SHOW TABLES", "show tables;"] {
            assert!(parse(sql).unwrap().to_string().contains("table_schema = 'public'"), "{sql}");
        }
        assert!(parse("SHOW COLUMNS FROM spans").unwrap().to_string().starts_with("SHOW COLUMNS"));
    }

    #[test]
    fn writing_is_refused_with_its_first_words() {
        for sql in [
            "CREATE TABLE t AS SELECT 1",
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'",
            "CREATE VIEW v AS SELECT 1",
            "COPY spans TO '/tmp/x.csv'",
            "COPY (SELECT 1) TO '/tmp/x.parquet'",
            "INSERT INTO spans SELECT * FROM spans",
            "DELETE FROM spans",
            "UPDATE spans SET name = 'x'",
            "DROP TABLE spans",
            "SET datafusion.execution.batch_size = 1",
            "PREPARE p AS SELECT 1",
            "BEGIN",
            "EXPLAIN ANALYZE INSERT INTO spans SELECT * FROM spans",
            "EXPLAIN COPY spans TO '/tmp/x'",
        ] {
            let error = parse(sql).expect_err(sql).to_string();
            assert!(error.contains("read-only"), "{sql}: {error}");
        }
    }

    #[test]
    fn several_statements_and_none_are_refused() {
        assert!(parse("SELECT 1; SELECT 2").is_err());
        assert!(parse("  ;").is_err());
        assert!(parse("-- nothing").is_err());
    }

    #[test]
    fn samples_are_refused() {
        let error =
            parse("SELECT * FROM (SELECT * FROM spans TABLESAMPLE BERNOULLI (10)) s").expect_err("a sample");
        assert!(error.to_string().contains("TABLESAMPLE"), "{error}");
    }

    #[test]
    fn deep_nesting_ends_in_an_error() {
        let deep = format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(parse(&deep).is_err());
    }
}
