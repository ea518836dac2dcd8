//! A statement between its parsing and its execution.

use super::copy::Copy;
use super::cursors::{Declared, Fetch};
use super::explain::Explained;
use super::named::Named;
use super::rows::hinted;
use super::session;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::Statement;
use pgwire::error::PgWireResult;
use std::sync::Arc;

/// What a statement asks for.
#[derive(Debug, Clone)]
pub enum Command {
    /// Concerns only the connection.
    Control(Box<Statement>),
    /// Rows in the form of COPY.
    Copy(Arc<Copy>),
    /// A cursor.
    Declare(Box<Declared>),
    /// Rows of a cursor.
    Fetch(Fetch),
    /// Whether columns of a prepared statement may be NULL.
    Explain(Explained),
    /// A query under a name, for EXECUTE.
    Prepare(Box<Named>),
    /// Rows, if it is allowed at all.
    Query(Box<Statement>),
}

impl Command {
    /// What `statement` asks for.
    ///
    /// # Errors
    /// For a copy or a cursor with options that nothing here has, and for a PREPARE of what is no query.
    pub fn of(statement: Statement) -> PgWireResult<Self> {
        if session::is_control(&statement) {
            return Ok(Command::Control(Box::new(statement)));
        }
        if let Some(copy) = Copy::parse(&statement)? {
            return Ok(Command::Copy(Arc::new(copy)));
        }
        if let Some(declared) = Declared::parse(&statement)? {
            return Ok(Command::Declare(Box::new(declared)));
        }
        if let Some(fetch) = Fetch::parse(&statement)? {
            return Ok(Command::Fetch(fetch));
        }
        if let Some(explained) = Explained::parse(&statement) {
            return Ok(Command::Explain(explained));
        }
        if let Some(named) = Named::parse(&statement)? {
            return Ok(Command::Prepare(Box::new(named)));
        }
        match refused(&statement) {
            Some((what, hint)) => Err(hinted("0A000", format!("{what} is not supported"), hint)),
            None => Ok(Command::Query(Box::new(statement))),
        }
    }

    /// The statement that is planned before it runs, with parameters if it has any.
    pub fn planned(&self) -> Option<&Statement> {
        match self {
            Command::Query(statement) => Some(statement),
            Command::Declare(declared) => Some(&declared.query),
            Command::Control(_)
            | Command::Copy(_)
            | Command::Fetch(_)
            | Command::Explain(_)
            | Command::Prepare(_) => None,
        }
    }

    /// Whether it may run in a transaction that has failed.
    pub fn ends_transaction(&self) -> bool {
        let Command::Control(statement) = self else { return false };
        matches!(**statement, Statement::Commit { .. } | Statement::Rollback { .. })
    }
}

/// What writes nothing and still has no meaning here, and what does instead.
fn refused(statement: &Statement) -> Option<(&'static str, &'static str)> {
    Some(match statement {
        Statement::LISTEN { .. } => {
            ("LISTEN", "Nothing is notified here: alerts have receivers, see the page on alerts.")
        }
        Statement::NOTIFY { .. } => {
            ("NOTIFY", "Nothing listens here: alerts have receivers, see the page on alerts.")
        }
        Statement::Execute { .. } => {
            ("EXECUTE of a text", "EXECUTE name runs what PREPARE name AS … prepared.")
        }
        Statement::Lock(_) => {
            ("LOCK TABLE", "BEGIN ISOLATION LEVEL REPEATABLE READ reads one snapshot without locks.")
        }
        Statement::Call(_) => ("CALL", "There are no procedures."),
        _ => return None,
    })
}

/// A statement that was parsed for later.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What it asks for.
    pub command: Command,
    /// The plan of what is planned, its parameters still open.
    pub plan: Option<Arc<LogicalPlan>>,
}
