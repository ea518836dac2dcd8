//! SET, SHOW and transactions, which only concern the connection.
//!
//! Drivers send these without being asked. None reaches the engine, whose session all connections share: what may be set
//! is remembered with the connection, anything else is refused.

use super::cursors;
use super::rows::{error, hinted, one_text};
use super::transactions;
use crate::sql::settings::{SETTABLE, default_of, is_settable, is_utc, other_zone};
use datafusion::sql::sqlparser::ast::{DiscardObject, Expr, Ident, Reset, Set, Statement};
use pgwire::api::ClientInfo;
use pgwire::api::results::{Response, Tag};
use pgwire::error::PgWireResult;
use pgwire::messages::response::TransactionStatus;
use std::time::Duration;

/// Where the connection remembers its own time limit, milliseconds.
const TIMEOUT: &str = "groundline_timeout_ms";

/// What to do instead of `SET TimeZone`.
const OF_ZONES: &str = "date_trunc('day', t, 'Europe/Vienna') cuts at the days of a zone. SET TimeZone TO 'UTC' and RESET TimeZone are taken; of what comes with the connection other zones are left out.";

/// Whether a statement concerns only the connection.
pub fn is_control(statement: &Statement) -> bool {
    match statement {
        Statement::Set(_)
        | Statement::Reset(_)
        | Statement::Discard { .. }
        | Statement::Deallocate { .. }
        | Statement::Close { .. }
        | Statement::UNLISTEN { .. }
        | Statement::StartTransaction { .. }
        | Statement::Savepoint { .. }
        | Statement::ReleaseSavepoint { .. }
        | Statement::Commit { .. }
        | Statement::Rollback { .. } => true,
        Statement::ShowVariable { .. } => show_value(statement, &|_| None).is_some(),
        _ => false,
    }
}

/// The column of a control statement that answers with a row.
pub fn column(statement: &Statement) -> Option<String> {
    show_value(statement, &|_| None).map(|(name, _)| name)
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
        Statement::Reset(statement) => {
            reset(client, &statement.reset);
            Ok(Response::Execution(Tag::new("RESET")))
        }
        Statement::Discard { object_type } => {
            if *object_type == DiscardObject::ALL {
                reset(client, &Reset::ALL);
            }
            Ok(Response::Execution(Tag::new(&format!("DISCARD {object_type}"))))
        }
        Statement::Close { cursor } => {
            cursors::close(client, cursor)?;
            Ok(Response::Execution(Tag::new("CLOSE CURSOR")))
        }
        Statement::UNLISTEN { .. } => Ok(Response::Execution(Tag::new("UNLISTEN"))),
        Statement::Deallocate { .. } => Ok(Response::Execution(Tag::new("DEALLOCATE"))),
        Statement::StartTransaction { modes, .. }
            if client.transaction_status() == TransactionStatus::Idle =>
        {
            transactions::begin(client, modes);
            Ok(Response::TransactionStart(Tag::new("BEGIN")))
        }
        Statement::StartTransaction { .. } => Ok(Response::Execution(Tag::new("BEGIN"))),
        // Nothing is written, so there is nothing to keep: what was read is forgotten with the transaction.
        Statement::Savepoint { .. } => in_transaction(client, "SAVEPOINT"),
        Statement::ReleaseSavepoint { .. } => in_transaction(client, "RELEASE"),
        Statement::Rollback { savepoint: Some(_), .. } => in_transaction(client, "ROLLBACK"),
        Statement::Commit { .. } if client.transaction_status() != TransactionStatus::Error => {
            transactions::end(client);
            Ok(Response::TransactionEnd(Tag::new("COMMIT")))
        }
        Statement::Commit { .. } | Statement::Rollback { .. } => {
            transactions::end(client);
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

/// Answers a statement about a savepoint; after one that failed the transaction goes on.
fn in_transaction<C: ClientInfo + ?Sized>(client: &mut C, tag: &str) -> PgWireResult<Response> {
    if client.transaction_status() == TransactionStatus::Idle {
        return Err(error("25P01", format!("{tag} of a savepoint can only be used in transaction blocks")));
    }
    client.set_transaction_status(TransactionStatus::Transaction);
    Ok(Response::Execution(Tag::new(tag)))
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
    let default = default_of(&name)?;
    let set = match name.as_str() {
        "transaction_isolation" | "transaction isolation level" => {
            known("transaction_isolation").or_else(|| known("default_transaction_isolation"))
        }
        other => known(other),
    };
    let value = set.unwrap_or_else(|| default.to_owned());
    Some((name, value))
}

fn assign<C: ClientInfo + ?Sized>(client: &mut C, set: &Set) -> PgWireResult<()> {
    let (name, value) = match set {
        Set::SingleAssignment { variable, values, .. } if is_default(values) => {
            forget(client, &variable.to_string().to_lowercase());
            return Ok(());
        }
        Set::SingleAssignment { variable, values, .. } => {
            let values: Vec<String> = values.iter().map(|v| unquoted(&v.to_string())).collect();
            (variable.to_string().to_lowercase(), values.join(", "))
        }
        Set::SetTimeZone { value: Expr::Identifier(word), .. } if is_own_zone(word) => {
            forget(client, "timezone");
            return Ok(());
        }
        Set::SetTimeZone { value, .. } => ("timezone".to_owned(), unquoted(&value.to_string())),
        Set::SetNames { charset_name, .. } => ("client_encoding".to_owned(), charset_name.to_string()),
        Set::SetTransaction { modes, session: true, .. } => {
            transactions::set_default(client, modes);
            return Ok(());
        }
        Set::SetTransaction { modes, .. } => return transactions::change(client, modes),
        // There is one role, and who connects has it.
        Set::SetRole { role_name: None, .. } | Set::SetSessionParam(_) | Set::SetNamesDefault {} => {
            return Ok(());
        }
        Set::SetSessionAuthorization(to) if to.to_string().eq_ignore_ascii_case("default") => return Ok(()),
        other => return Err(refused(&other.to_string())),
    };
    keep(client, name, value)
}

/// Remembers the value of a setting with the connection.
fn keep<C: ClientInfo + ?Sized>(client: &mut C, name: String, value: String) -> PgWireResult<()> {
    if !is_settable(&name) {
        return Err(refused(&name));
    }
    if name == "statement_timeout" {
        let limit = milliseconds(&value)
            .ok_or_else(|| error("22023", format!("statement_timeout cannot be {value:?}")))?;
        client.metadata_mut().insert(TIMEOUT.to_owned(), limit.to_string());
    }
    if name == "timezone" && !is_utc(&value) {
        return Err(hinted("0A000", other_zone(&value), OF_ZONES));
    }
    client.metadata_mut().insert(name, value);
    Ok(())
}

/// Takes the settings that came with the connection: parameters of its beginning, and `-c name=value` in `options`. Those that
/// nobody may set are left out, and so is a zone other than UTC: drivers send that of their machine without being asked, and are told
/// that it is UTC.
///
/// # Errors
/// For a value that a setting cannot have.
pub fn begin<C: ClientInfo + ?Sized>(client: &mut C) -> PgWireResult<()> {
    let options = client.metadata().get("options").cloned().unwrap_or_default();
    let mut given: Vec<(String, String)> =
        client.metadata().iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
    given.extend(in_options(&options));
    // What came under this very name is remembered already.
    client.metadata_mut().remove("timezone");
    let is_kept =
        |(name, value): &(String, String)| is_settable(name) && (name != "timezone" || is_utc(value));
    given.into_iter().filter(is_kept).try_for_each(|(name, value)| keep(client, name, value))
}

/// The settings in `-c name=value --name=value`; a backslash keeps the space behind it.
fn in_options(options: &str) -> Vec<(String, String)> {
    let kept = options.replace("\\ ", "\u{1}");
    let words = kept.split_whitespace().filter(|word| *word != "-c");
    let setting = |word: &str| {
        let word = word.trim_start_matches("-c").trim_start_matches("--");
        let (name, value) = word.split_once('=')?;
        Some((name.to_lowercase().replace('-', "_"), value.replace('\u{1}', " ")))
    };
    words.filter_map(setting).collect()
}

/// `LOCAL` and `DEFAULT` in `SET TIME ZONE`: the zone of the server.
fn is_own_zone(word: &Ident) -> bool {
    let is = |name: &str| word.value.eq_ignore_ascii_case(name);
    word.quote_style.is_none() && (is("local") || is("default"))
}

fn is_default(values: &[Expr]) -> bool {
    matches!(values, [Expr::Identifier(Ident { value, quote_style: None, .. })] if value.eq_ignore_ascii_case("default"))
}

/// Makes settings what they were when the connection began.
fn reset<C: ClientInfo + ?Sized>(client: &mut C, what: &Reset) {
    match what {
        Reset::ALL => SETTABLE.iter().for_each(|(name, _)| forget(client, name)),
        Reset::ConfigurationParameter(name) => forget(client, &name.to_string().to_lowercase()),
    }
}

fn forget<C: ClientInfo + ?Sized>(client: &mut C, name: &str) {
    if name == "statement_timeout" {
        client.metadata_mut().remove(TIMEOUT);
    }
    client.metadata_mut().remove(name);
}

fn refused(name: &str) -> pgwire::error::PgWireError {
    let name = name.trim_start_matches("SET ");
    let hint = "SELECT name FROM pg_settings WHERE context = 'user' lists what may be set.";
    hinted("42501", format!("SET {name} is refused: this endpoint is read-only"), hint)
}

fn unquoted(text: &str) -> String {
    text.trim_matches('\'').trim_matches('"').to_owned()
}

/// `500`, `500ms`, `5s`, `1min`, `1h`, `1d` or `5000us` in milliseconds.
fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let number: u64 = digits.parse().ok()?;
    match text[digits.len()..].trim() {
        "" | "ms" => Some(number),
        "s" => number.checked_mul(1000),
        "min" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        "d" => number.checked_mul(86_400_000),
        // Up, because nought would be no limit.
        "us" => Some(number.div_ceil(1_000)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_settings() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            in_options(r"-c statement_timeout=5s -cgeqo=off --search-path=a\ b"),
            [pair("statement_timeout", "5s"), pair("geqo", "off"), pair("search_path", "a b")]
        );
        assert!(in_options("").is_empty());
    }

    #[test]
    fn timeouts_have_units() {
        assert_eq!(milliseconds("500"), Some(500));
        assert_eq!(milliseconds("5s"), Some(5000));
        assert_eq!(milliseconds("2 min"), Some(120_000));
        assert_eq!(milliseconds("soon"), None);
        assert_eq!(milliseconds("1h"), Some(3_600_000));
        assert_eq!(milliseconds("2d"), Some(172_800_000));
        assert_eq!(milliseconds("1500us"), Some(2));
        assert_eq!(milliseconds("1 week"), None);
    }
}
