//! SET, SHOW and transactions, which only concern the connection.
//!
//! Drivers send these without being asked. None reaches the engine, whose session all connections share: what may be set
//! is remembered with the connection, anything else is refused.

use super::rows::{error, one_text};
use datafusion::sql::sqlparser::ast::{Set, Statement};
use pgwire::api::ClientInfo;
use pgwire::api::results::{Response, Tag};
use pgwire::error::PgWireResult;
use pgwire::messages::response::TransactionStatus;
use std::time::Duration;

/// Where the connection remembers its own time limit, milliseconds.
const TIMEOUT: &str = "groundline_timeout_ms";

/// What a client may set, with what SHOW says before it did.
const SETTINGS: &[(&str, &str)] = &[
    ("application_name", ""),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("datestyle", "ISO, MDY"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("extra_float_digits", "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("intervalstyle", "postgres"),
    ("lock_timeout", "0"),
    ("row_security", "off"),
    ("search_path", "public"),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("synchronize_seqscans", "on"),
    ("timezone", "UTC"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "on"),
];

/// What SHOW says and nobody sets.
const FIXED: &[(&str, &str)] = &[
    ("integer_datetimes", "on"),
    ("is_superuser", "off"),
    ("max_identifier_length", "63"),
    ("server_encoding", "UTF8"),
    ("server_version", "16.6"),
    ("server_version_num", "160006"),
    ("transaction isolation level", "read committed"),
];

/// Whether a statement concerns only the connection.
pub fn is_control(statement: &Statement) -> bool {
    match statement {
        Statement::Set(_)
        | Statement::Reset(_)
        | Statement::Discard { .. }
        | Statement::Deallocate { .. }
        | Statement::StartTransaction { .. }
        | Statement::Commit { .. }
        | Statement::Rollback { .. } => true,
        Statement::ShowVariable { .. } => show_value(statement, &|_| None).is_some(),
        _ => false,
    }
}

/// Whether a control statement answers with a row.
pub fn has_row(statement: &Statement) -> bool {
    matches!(statement, Statement::ShowVariable { .. })
}

/// Answers a control statement.
///
/// # Errors
/// Refuses settings that are not known to be harmless.
pub fn respond<C: ClientInfo + ?Sized>(client: &mut C, statement: &Statement) -> PgWireResult<Response> {
    match statement {
        Statement::Set(set) => {
            assign(client, set)?;
            Ok(Response::Execution(Tag::new("SET")))
        }
        Statement::Reset(_) => Ok(Response::Execution(Tag::new("RESET"))),
        Statement::Discard { .. } => Ok(Response::Execution(Tag::new("DISCARD ALL"))),
        Statement::Deallocate { .. } => Ok(Response::Execution(Tag::new("DEALLOCATE"))),
        Statement::StartTransaction { .. } if client.transaction_status() == TransactionStatus::Idle => {
            Ok(Response::TransactionStart(Tag::new("BEGIN")))
        }
        Statement::StartTransaction { .. } => Ok(Response::Execution(Tag::new("BEGIN"))),
        Statement::Commit { .. } if client.transaction_status() != TransactionStatus::Error => {
            Ok(Response::TransactionEnd(Tag::new("COMMIT")))
        }
        Statement::Commit { .. } | Statement::Rollback { .. } => {
            Ok(Response::TransactionEnd(Tag::new("ROLLBACK")))
        }
        other => {
            let known = |name: &str| client.metadata().get(name).cloned();
            let (name, value) =
                show_value(other, &known).ok_or_else(|| error("42704", "unknown setting".to_owned()))?;
            one_text(&name, &value)
        }
    }
}

/// The error for anything but the end of a transaction that has failed.
///
/// # Errors
/// That error, if the transaction has failed.
pub fn check_transaction<C: ClientInfo + ?Sized>(client: &C, statement: &Statement) -> PgWireResult<()> {
    let ends = matches!(statement, Statement::Commit { .. } | Statement::Rollback { .. });
    if client.transaction_status() == TransactionStatus::Error && !ends {
        let why = "current transaction is aborted, commands ignored until end of transaction block";
        return Err(error("25P02", why.to_owned()));
    }
    Ok(())
}

/// The time limit that the connection has set for itself.
pub fn timeout<C: ClientInfo + ?Sized>(client: &C) -> Option<Duration> {
    let millis = client.metadata().get(TIMEOUT).and_then(|t| t.parse().ok()).filter(|t| *t > 0);
    millis.map(Duration::from_millis)
}

fn show_value(statement: &Statement, known: &dyn Fn(&str) -> Option<String>) -> Option<(String, String)> {
    let Statement::ShowVariable { variable } = statement else { return None };
    let words: Vec<String> = variable.iter().map(|v| v.value.to_lowercase()).collect();
    let name = match words.join(" ").as_str() {
        "time zone" => "timezone".to_owned(),
        other => other.to_owned(),
    };
    let default = SETTINGS.iter().chain(FIXED).find(|(n, _)| *n == name).map(|(_, value)| *value)?;
    let value = known(&name).unwrap_or_else(|| default.to_owned());
    Some((name, value))
}

fn assign<C: ClientInfo + ?Sized>(client: &mut C, set: &Set) -> PgWireResult<()> {
    let (name, value) = match set {
        Set::SingleAssignment { variable, values, .. } => {
            let values: Vec<String> = values.iter().map(|v| unquoted(&v.to_string())).collect();
            (variable.to_string().to_lowercase(), values.join(", "))
        }
        Set::SetTimeZone { value, .. } => ("timezone".to_owned(), unquoted(&value.to_string())),
        Set::SetNames { charset_name, .. } => ("client_encoding".to_owned(), charset_name.to_string()),
        // Isolation and access mode: every query reads one snapshot and writes nothing, whatever is asked.
        Set::SetTransaction { .. } | Set::SetSessionParam(_) | Set::SetNamesDefault {} => return Ok(()),
        other => return Err(refused(&other.to_string())),
    };
    if !SETTINGS.iter().any(|(known, _)| *known == name) {
        return Err(refused(&name));
    }
    if name == "statement_timeout" {
        let limit = milliseconds(&value)
            .ok_or_else(|| error("22023", format!("statement_timeout cannot be {value:?}")))?;
        client.metadata_mut().insert(TIMEOUT.to_owned(), limit.to_string());
    }
    client.metadata_mut().insert(name, value);
    Ok(())
}

fn refused(name: &str) -> pgwire::error::PgWireError {
    error("42501", format!("SET {name} is refused: this door is read-only"))
}

fn unquoted(text: &str) -> String {
    text.trim_matches('\'').trim_matches('"').to_owned()
}

/// `500`, `500ms`, `5s` or `1min` in milliseconds.
fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let number: u64 = digits.parse().ok()?;
    match text[digits.len()..].trim() {
        "" | "ms" => Some(number),
        "s" => number.checked_mul(1000),
        "min" => number.checked_mul(60_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_units() {
        assert_eq!(milliseconds("500"), Some(500));
        assert_eq!(milliseconds("5s"), Some(5000));
        assert_eq!(milliseconds("2 min"), Some(120_000));
        assert_eq!(milliseconds("soon"), None);
        assert_eq!(milliseconds("1h"), None);
    }
}
