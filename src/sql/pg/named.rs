//! `PREPARE name AS query` and `EXECUTE name(values)` in SQL. The values are put into the text of the query in the place of
//! `$1`, `$2` …; what comes out of that takes the way of any other text, with the same limits.

use super::names::folded;
use super::rows::{error, hinted};
use crate::sql::explain::is_json;
use datafusion::sql::sqlparser::ast::{
    AnalyzeFormat, AnalyzeFormatKind, DataType, Expr, Ident, ObjectName, Statement, Value, ValueWithSpan,
    Visit, VisitMut, Visitor, VisitorMut,
};
use parking_lot::Mutex;
use pgwire::api::ClientInfo;
use pgwire::error::PgWireResult;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Statements that a connection may have prepared in SQL.
const MAX_STATEMENTS: usize = 256;
/// Bytes of text that they may have together.
const MAX_TEXT: usize = 16 << 20;
/// Bytes that the values of one EXECUTE may add to the text of its query.
const MAX_VALUES: usize = 16 << 20;

/// What `PREPARE` prepares.
#[derive(Debug, Clone)]
pub struct Named {
    name: String,
    /// The query as it was written.
    query: Statement,
    types: Vec<DataType>,
    /// How many values it needs, and how often it uses one.
    needed: usize,
    uses: usize,
    /// How long its text is.
    bytes: usize,
}

/// What a connection has prepared, by name.
#[derive(Default)]
struct Prepared(Mutex<HashMap<String, Named>>);

fn prepared<C: ClientInfo + ?Sized>(client: &C) -> Arc<Prepared> {
    client.session_extensions().get_or_insert_with(Prepared::default)
}

impl Named {
    /// What `statement` prepares; none if it is something else.
    ///
    /// # Errors
    /// For what is no query.
    pub fn parse(statement: &Statement) -> PgWireResult<Option<Self>> {
        let Statement::Prepare { name, data_types, statement } = statement else { return Ok(None) };
        if !matches!(**statement, Statement::Query(_)) {
            let hint = "PREPARE name AS SELECT …; everything else is sent as it is.";
            return Err(hinted("0A000", "PREPARE takes queries only".to_owned(), hint));
        }
        let mut places = Places::default();
        let _ = statement.visit(&mut places);
        Ok(Some(Self {
            name: folded(name),
            query: (**statement).clone(),
            types: data_types.clone(),
            needed: places.last.max(data_types.len()),
            uses: places.uses,
            bytes: statement.to_string().len(),
        }))
    }

    /// Keeps it for the connection.
    ///
    /// # Errors
    /// For a name that is taken, and for one statement too many.
    pub fn keep<C: ClientInfo + ?Sized>(&self, client: &C) -> PgWireResult<()> {
        let prepared = prepared(client);
        let mut names = prepared.0.lock();
        if names.contains_key(&self.name) {
            return Err(error("42P05", format!("prepared statement {:?} already exists", self.name)));
        }
        if names.len() >= MAX_STATEMENTS {
            let why = format!("a connection prepares at most {MAX_STATEMENTS} statements in SQL");
            return Err(hinted("53400", why, "DEALLOCATE some."));
        }
        let others: usize = names.values().map(|named| named.bytes).sum();
        if others.saturating_add(self.bytes) > MAX_TEXT {
            let why = format!("what a connection prepares in SQL has at most {MAX_TEXT} bytes");
            return Err(hinted("53400", why, "DEALLOCATE some."));
        }
        names.insert(self.name.clone(), self.clone());
        Ok(())
    }

    /// The text of the query with `values` in it.
    fn filled(&self, values: &[Expr]) -> PgWireResult<String> {
        if values.len() != self.needed {
            let (name, needed, given) = (&self.name, self.needed, values.len());
            let why = format!(
                "wrong number of parameters for prepared statement {name:?}: {needed} are needed, {given} given"
            );
            return Err(error("42601", why));
        }
        let mut texts = Vec::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            if value.visit(&mut Names).is_break() {
                return Err(error("0A000", format!("EXECUTE takes values, and {value} names something")));
            }
            texts.push(match self.types.get(at) {
                Some(data_type) => format!("CAST({value} AS {data_type})"),
                None if matches!(value, Expr::Value(_)) => value.to_string(),
                None => format!("({value})"),
            });
        }
        let longest = texts.iter().map(String::len).max().unwrap_or_default();
        if longest.saturating_mul(self.uses) > MAX_VALUES {
            return Err(error("54000", format!("the values are longer than {MAX_VALUES} bytes")));
        }
        let mut query = self.query.clone();
        let _ = VisitMut::visit(&mut query, &mut Filler(&texts));
        Ok(query.to_string())
    }
}

/// The text that an EXECUTE stands for; none for any other statement.
///
/// # Errors
/// For a name that nothing has, and for values that do not fit.
pub fn text_of<C: ClientInfo + ?Sized>(client: &C, statement: &Statement) -> PgWireResult<Option<String>> {
    let Statement::Execute { name: Some(ObjectName(parts)), parameters, immediate: false, .. } = statement
    else {
        return Ok(None);
    };
    let Some(name) = parts.last().and_then(|part| part.as_ident()).map(folded) else { return Ok(None) };
    let named = prepared(client).0.lock().get(&name).cloned();
    let named = named.ok_or_else(|| {
        let hint = "PREPARE it in this connection: what is prepared ends with its connection.";
        hinted("26000", format!("prepared statement {name:?} does not exist"), hint)
    })?;
    named.filled(parameters).map(Some)
}

/// The text of an EXPLAIN of what was prepared in SQL, with the query in the place of its EXECUTE; none for any other statement. What the
/// protocol has prepared is asked of elsewhere.
///
/// # Errors
/// For values that do not fit.
pub fn explained<C: ClientInfo + ?Sized>(client: &C, statement: &Statement) -> PgWireResult<Option<String>> {
    let mut whole = statement.clone();
    let Statement::Explain { statement: inner, format, options, .. } = &mut whole else { return Ok(None) };
    let Statement::Execute { name: Some(ObjectName(parts)), parameters, .. } = inner.as_ref() else {
        return Ok(None);
    };
    let Some(name) = parts.last().and_then(|part| part.as_ident()).map(folded) else { return Ok(None) };
    let Some(named) = prepared(client).0.lock().get(&name).cloned() else { return Ok(None) };
    let (text, executed) = (named.filled(parameters)?, inner.to_string());
    // What is heard of them is said outside of the parentheses.
    if is_json(format.as_ref(), options.as_deref()) {
        *format = Some(AnalyzeFormatKind::Keyword(AnalyzeFormat::JSON));
    }
    *options = None;
    let whole = whole.to_string();
    Ok(whole.strip_suffix(executed.as_str()).map(|words| format!("{words}{text}")))
}

/// Drops the statement with that name, if there is one.
pub fn forget<C: ClientInfo + ?Sized>(client: &C, name: &str) {
    prepared(client).0.lock().remove(name);
}

/// Drops all of them.
pub fn forget_all<C: ClientInfo + ?Sized>(client: &C) {
    prepared(client).0.lock().clear();
}

/// The number of a parameter, from 1.
fn number_of(expr: &Expr) -> Option<usize> {
    let Expr::Value(ValueWithSpan { value: Value::Placeholder(text), .. }) = expr else { return None };
    text.strip_prefix('$')?.parse().ok().filter(|number| *number > 0)
}

/// Which parameters a query has.
#[derive(Default)]
struct Places {
    last: usize,
    uses: usize,
}

impl Visitor for Places {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Some(number) = number_of(expr) {
            self.last = self.last.max(number);
            self.uses += 1;
        }
        ControlFlow::Continue(())
    }
}

/// Finds what would mean something else inside of the query.
struct Names;

impl Visitor for Names {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let is_name = matches!(
            expr,
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Subquery(_) | Expr::Exists { .. }
        );
        if is_name || number_of(expr).is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Puts texts in the place of parameters.
struct Filler<'a>(&'a [String]);

impl VisitorMut for Filler<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Some(text) = number_of(expr).and_then(|number| self.0.get(number - 1)) {
            // A bare name is written as it is: only the text of the query is made of this tree.
            *expr = Expr::Identifier(Ident::new(text.clone()));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;
    use pgwire::api::DefaultClient;

    fn statement(sql: &str) -> Statement {
        Parser::parse_sql(&PostgreSqlDialect {}, sql).expect(sql).remove(0)
    }

    fn executed(prepare: &str, execute: &str) -> Result<String, String> {
        let named = Named::parse(&statement(prepare)).map_err(|why| why.to_string())?.expect("a PREPARE");
        let Statement::Execute { parameters, .. } = statement(execute) else { panic!("{execute}") };
        named.filled(&parameters).map_err(|why| why.to_string())
    }

    #[test]
    fn values_take_the_places_of_parameters() {
        for (prepare, execute, text) in [
            ("PREPARE p AS SELECT $1, $2, $1", "EXECUTE p('it''s', 2)", "SELECT 'it''s', 2, 'it''s'"),
            ("PREPARE p (int) AS SELECT $1 + 1", "EXECUTE p('2')", "SELECT CAST('2' AS INT) + 1"),
            ("PREPARE p AS SELECT 2 * $1", "EXECUTE p(1 + 1)", "SELECT 2 * (1 + 1)"),
            ("PREPARE p AS SELECT 1 LIMIT $1", "EXECUTE p(3)", "SELECT 1 LIMIT 3"),
            ("PREPARE p AS SELECT '$1'", "EXECUTE p", "SELECT '$1'"),
        ] {
            assert_eq!(executed(prepare, execute).as_deref(), Ok(text), "{prepare}");
        }
    }

    #[test]
    fn long_statements_are_bounded_together() {
        let client = DefaultClient::<()>::new(([127, 0, 0, 1], 5432).into(), false);
        let named = |name: &str, bytes: usize| {
            let named = Named::parse(&statement(&format!("PREPARE {name} AS SELECT 1"))).unwrap().unwrap();
            Named { bytes, ..named }
        };
        assert_eq!(
            Named::parse(&statement("PREPARE p AS SELECT 1")).unwrap().unwrap().bytes,
            "SELECT 1".len()
        );
        named("a", MAX_TEXT - 1).keep(&client).unwrap();
        assert!(named("b", 2).keep(&client).is_err());
        named("b", 1).keep(&client).unwrap();
        forget(&client, "a");
        assert!(named("c", 2).keep(&client).is_ok());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (prepare, execute, why) in [
            ("PREPARE p AS SELECT $2", "EXECUTE p(1)", "2 are needed, 1 given"),
            ("PREPARE p (int, int) AS SELECT $1", "EXECUTE p(1)", "2 are needed"),
            ("PREPARE p AS SELECT $1 FROM spans", "EXECUTE p(name)", "names something"),
            ("PREPARE p AS SELECT $1", "EXECUTE p((SELECT 1))", "names something"),
            ("PREPARE p AS SELECT $1", "EXECUTE p($1)", "names something"),
            ("PREPARE p AS DELETE FROM spans", "EXECUTE p", "queries only"),
        ] {
            let told = executed(prepare, execute).unwrap_err();
            assert!(told.contains(why), "{prepare}: {told}");
        }
        let many = format!("PREPARE p AS SELECT {}", vec!["$1"; 5_000].join(", "));
        assert!(executed(&many, "EXECUTE p(1)").is_ok());
        let long = format!("EXECUTE p('{}')", "x".repeat(10_000));
        assert!(executed(&many, &long).unwrap_err().contains("longer than"));
    }
}
