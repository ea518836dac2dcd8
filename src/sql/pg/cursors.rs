//! `DECLARE … CURSOR`, `FETCH`, `MOVE` and `CLOSE`: rows of a query in parts, as the client asks for them.
//!
//! A cursor reads one snapshot, that of its first FETCH. Its rows are not kept: at most two batches wait for the client.

use super::names::folded;
use super::rewrite::MOVED;
use super::rows::{encode, error, wire_error, wire_fields};
use crate::sql::SqlError;
use crate::sql::stream::QueryStream;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{
    CloseCursor, Declare, DeclareType, FetchDirection, Statement, Value, ValueWithSpan,
};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;
use pgwire::api::ClientInfo;
use pgwire::api::portal::Format;
use pgwire::api::results::{FieldInfo, QueryResponse};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::response::TransactionStatus;
use pgwire::types::format::FormatOptions;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// Cursors that a connection may have open.
const MAX_CURSORS: usize = 16;

/// What `DECLARE` asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The query.
    pub query: Statement,
    /// Whether it outlives its transaction.
    hold: bool,
    binary: bool,
}

/// What `FETCH` or `MOVE` asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetch {
    /// The name of the cursor.
    pub name: String,
    /// Whether the rows are passed over and not sent.
    pub is_move: bool,
    /// How many rows; none is all.
    most: Option<usize>,
}

/// The open cursors of a connection by name.
#[derive(Default)]
struct Cursors(Mutex<HashMap<String, Cursor>>);

#[derive(Clone)]
struct Cursor {
    hold: bool,
    binary: bool,
    schema: SchemaRef,
    rows: Arc<tokio::sync::Mutex<Rows>>,
}

/// The rows of a cursor.
pub enum Rows {
    /// Nobody has fetched yet.
    Planned(Box<LogicalPlan>),
    /// What is left of the last batch, and the batches after it.
    Running(Option<RecordBatch>, Box<QueryStream>),
    /// There are no more, or they failed.
    Ended,
}

/// The rows of a cursor while one FETCH reads them.
pub struct Reading {
    /// The rows.
    pub rows: OwnedMutexGuard<Rows>,
    schema: SchemaRef,
    binary: bool,
}

impl Declared {
    /// What `statement` declares; none if it is something else.
    ///
    /// # Errors
    /// Several cursors at once, and what only scripts inside of a server declare.
    pub fn parse(statement: &Statement) -> PgWireResult<Option<Self>> {
        let Statement::Declare { stmts } = statement else { return Ok(None) };
        let [Declare { names, declare_type: Some(DeclareType::Cursor), for_query: Some(query), .. }] =
            stmts.as_slice()
        else {
            return Err(error("0A000", "DECLARE takes one cursor FOR a query".to_owned()));
        };
        let [name] = names.as_slice() else {
            return Err(error("42601", "DECLARE takes one name".to_owned()));
        };
        let is = |flag: Option<bool>| flag.unwrap_or(false);
        if is(stmts[0].scroll) {
            return Err(only_forward());
        }
        Ok(Some(Self {
            name: folded(name),
            query: Statement::Query(query.clone()),
            hold: is(stmts[0].hold),
            binary: is(stmts[0].binary),
        }))
    }
}

impl Fetch {
    /// What `statement` fetches; none if it is something else.
    ///
    /// # Errors
    /// Any way but forward.
    pub fn parse(statement: &Statement) -> PgWireResult<Option<Self>> {
        let Statement::Fetch { name, direction, into, .. } = statement else { return Ok(None) };
        let is_move = into.as_ref().is_some_and(|into| into.to_string() == MOVED);
        if into.is_some() && !is_move {
            return Ok(None);
        }
        let most = match direction {
            FetchDirection::Next | FetchDirection::Forward { limit: None } => Some(1),
            FetchDirection::All | FetchDirection::ForwardAll => None,
            FetchDirection::Count { limit } | FetchDirection::Forward { limit: Some(limit) } => {
                Some(count(limit)?)
            }
            _ => return Err(only_forward()),
        };
        Ok(Some(Self { name: folded(name), is_move, most }))
    }

    /// How many rows are wanted at most.
    pub fn most(&self) -> usize {
        self.most.unwrap_or(usize::MAX)
    }
}

fn count(limit: &ValueWithSpan) -> PgWireResult<usize> {
    let Value::Number(digits, _) = &limit.value else { return Err(only_forward()) };
    digits.to_string().parse().map_err(|_| only_forward())
}

fn only_forward() -> PgWireError {
    error("55000", "cursor can only scan forward".to_owned())
}

fn missing(name: &str) -> PgWireError {
    error("34000", format!("cursor {name:?} does not exist"))
}

fn cursors<C: ClientInfo + ?Sized>(client: &C) -> Arc<Cursors> {
    client.session_extensions().get_or_insert_with(Cursors::default)
}

/// Opens a cursor over `plan`; nothing is read before the first FETCH.
///
/// # Errors
/// Outside of a transaction, for a name that is taken, and for one cursor too many.
pub fn declare<C: ClientInfo + ?Sized>(
    client: &C,
    declared: &Declared,
    plan: LogicalPlan,
) -> PgWireResult<()> {
    if !declared.hold && client.transaction_status() == TransactionStatus::Idle {
        let why = "DECLARE CURSOR can only be used in transaction blocks";
        return Err(error("25P01", why.to_owned()));
    }
    let cursors = cursors(client);
    let mut open = cursors.0.lock();
    if open.contains_key(&declared.name) {
        return Err(error("42P03", format!("cursor {:?} already exists", declared.name)));
    }
    if open.len() >= MAX_CURSORS {
        let why = format!("a connection has at most {MAX_CURSORS} cursors: close some");
        return Err(error("53400", why));
    }
    let cursor = Cursor {
        hold: declared.hold,
        binary: declared.binary,
        schema: Arc::new(plan.schema().as_arrow().clone()),
        rows: Arc::new(tokio::sync::Mutex::new(Rows::Planned(Box::new(plan)))),
    };
    open.insert(declared.name.clone(), cursor);
    Ok(())
}

/// The columns of the cursor `name`, if there is one.
///
/// # Errors
/// For a type that the protocol has no name for.
pub fn columns<C>(client: &C, name: &str, format: &Format) -> PgWireResult<Option<Vec<FieldInfo>>>
where
    C: ClientInfo + ?Sized,
{
    let schema = cursors(client).0.lock().get(name).map(|cursor| cursor.schema.clone());
    schema.map(|schema| wire_fields(&schema, format, None)).transpose()
}

/// The rows of the cursor that `fetch` names, to be begun or gone on with.
///
/// # Errors
/// If there is no such cursor.
pub async fn reading<C: ClientInfo + ?Sized>(client: &C, fetch: &Fetch) -> PgWireResult<Reading> {
    let cursor = cursors(client).0.lock().get(&fetch.name).cloned();
    let cursor = cursor.ok_or_else(|| missing(&fetch.name))?;
    let (schema, binary) = (cursor.schema, cursor.binary);
    Ok(Reading { rows: cursor.rows.lock_owned().await, schema, binary })
}

/// The next rows, as many as `fetch` asks for.
///
/// # Errors
/// For a type that the protocol has no name for.
pub fn next(
    reading: Reading,
    fetch: &Fetch,
    format: &Format,
    options: Arc<FormatOptions>,
) -> PgWireResult<QueryResponse> {
    let format = if reading.binary { &Format::UnifiedBinary } else { format };
    let batches = batches(reading.rows, fetch.most());
    let mut response = encode(&reading.schema, batches, format, options)?;
    response.set_command_tag("FETCH");
    Ok(response)
}

/// Passes over the next rows, as many as `fetch` asks for, and says how many there were.
///
/// # Errors
/// The error that the query ends with.
pub async fn pass(reading: Reading, fetch: &Fetch) -> PgWireResult<usize> {
    let batches = batches(reading.rows, fetch.most());
    let passed = batches.try_fold(0, |passed, batch| async move { Ok(passed + batch.num_rows()) });
    passed.await.map_err(|why| wire_error(&why))
}

/// At most `left` rows; what is left of a batch stays with the cursor.
fn batches(
    rows: OwnedMutexGuard<Rows>,
    left: usize,
) -> impl Stream<Item = Result<RecordBatch, SqlError>> + Send {
    stream::unfold((rows, left), |(mut rows, left)| async move {
        if left == 0 {
            return None;
        }
        let next = match &mut *rows {
            Rows::Running(rest, stream) => match rest.take() {
                Some(batch) => Some(Ok(batch)),
                None => stream.next().await,
            },
            Rows::Planned(_) | Rows::Ended => None,
        };
        match next {
            Some(Ok(batch)) => {
                let taken = batch.num_rows().min(left);
                if let Rows::Running(rest, _) = &mut *rows
                    && taken < batch.num_rows()
                {
                    *rest = Some(batch.slice(taken, batch.num_rows() - taken));
                }
                Some((Ok(batch.slice(0, taken)), (rows, left - taken)))
            }
            // A stream that has ended, or failed, gives its place and its batches back at once.
            Some(Err(why)) => {
                *rows = Rows::Ended;
                Some((Err(why), (rows, 0)))
            }
            None => {
                *rows = Rows::Ended;
                None
            }
        }
    })
}

/// Drops what `which` names.
///
/// # Errors
/// If there is no such cursor.
pub fn close<C: ClientInfo + ?Sized>(client: &C, which: &CloseCursor) -> PgWireResult<()> {
    match which {
        CloseCursor::All => cursors(client).0.lock().clear(),
        CloseCursor::Specific { name } => {
            let name = folded(name);
            cursors(client).0.lock().remove(&name).ok_or_else(|| missing(&name))?;
        }
    }
    Ok(())
}

/// Drops the cursors that end with their transaction.
pub fn end_transaction<C: ClientInfo + ?Sized>(client: &C) {
    cursors(client).0.lock().retain(|_, cursor| cursor.hold);
}

/// Starts the rows with `begin` if nobody has fetched yet.
///
/// # Errors
/// The error of `begin`.
pub async fn start<B>(rows: &mut Rows, begin: impl FnOnce(LogicalPlan) -> B) -> PgWireResult<()>
where
    B: Future<Output = Result<QueryStream, SqlError>>,
{
    match std::mem::replace(rows, Rows::Ended) {
        Rows::Planned(plan) => {
            let stream = begin(*plan).await.map_err(|why| wire_error(&why))?;
            *rows = Rows::Running(None, Box::new(stream));
        }
        other => *rows = other,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    fn parsed(sql: &str) -> Statement {
        Parser::parse_sql(&PostgreSqlDialect {}, sql).expect(sql).remove(0)
    }

    #[test]
    fn a_cursor_has_a_name_and_a_query() {
        let declared = |sql: &str| Declared::parse(&parsed(sql)).expect(sql).expect(sql);
        let plain = declared("DECLARE C CURSOR FOR SELECT 1");
        assert_eq!((plain.name.as_str(), plain.hold, plain.binary), ("c", false, false));
        let quoted = declared("DECLARE \"C\" NO SCROLL CURSOR WITH HOLD FOR SELECT 1");
        assert_eq!((quoted.name.as_str(), quoted.hold), ("C", true));
        assert!(declared("DECLARE c BINARY CURSOR FOR SELECT 1").binary);
        assert!(Declared::parse(&parsed("DECLARE c SCROLL CURSOR FOR SELECT 1")).is_err());
        assert!(matches!(Declared::parse(&parsed("SELECT 1")), Ok(None)));
    }

    #[test]
    fn rows_are_fetched_forward() {
        let most = |sql: &str| Fetch::parse(&parsed(sql)).map(|fetch| fetch.map(|f| f.most)).ok().flatten();
        assert_eq!(most("FETCH NEXT FROM c"), Some(Some(1)));
        assert_eq!(most("FETCH 20 FROM c"), Some(Some(20)));
        assert_eq!(most("FETCH FORWARD 100 IN c"), Some(Some(100)));
        assert_eq!(most("FETCH ALL FROM c"), Some(None));
        assert_eq!(most("FETCH FORWARD ALL FROM c"), Some(None));
        let moves =
            |sql: &str| Fetch::parse(&parsed(sql)).map(|fetch| fetch.map(|f| f.is_move)).ok().flatten();
        assert_eq!(moves("FETCH 2 FROM c"), Some(false));
        assert_eq!(moves(&format!("FETCH 2 FROM c INTO {MOVED}")), Some(true));
        assert_eq!(moves("FETCH 2 FROM c INTO other"), None);
        for sql in ["FETCH PRIOR FROM c", "FETCH LAST FROM c", "FETCH ABSOLUTE 3 FROM c"] {
            assert!(Fetch::parse(&parsed(sql)).is_err(), "{sql}");
        }
    }
}
