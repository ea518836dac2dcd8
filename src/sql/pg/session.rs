//! SET, SHOW and transactions, which only concern the connection.
//!
//! Drivers send these without being asked. None reaches the engine, whose session all connections share: what may be set
//! is remembered with the connection, anything else is refused.

use super::cursors;
use super::rows::{error, hinted, one_text};
use super::transactions;
use crate::sql::settings::{SETTABLE, default_of, is_off, is_settable, is_utc, is_utf8, other_zone};
use datafusion::sql::sqlparser::ast::{ContextModifier, DiscardObject, Expr, Ident, Reset, Set, Statement};
use parking_lot::Mutex;
use pgwire::api::ClientInfo;
use pgwire::api::results::{Response, Tag};
use pgwire::error::PgWireResult;
use pgwire::messages::response::TransactionStatus;
use std::collections::HashMap;
use std::time::Duration;

/// Where the connection remembers its own time limit, milliseconds.
const TIMEOUT: &str = "groundline_timeout_ms";

/// What to do instead of `SET TimeZone`.
const OF_ZONES: &str = "date_trunc('day', t, 'Europe/Vienna') cuts at the days of a zone. SET TimeZone TO 'UTC' and RESET TimeZone are taken; of what comes with the connection other zones are left out.";

/// What to do instead of `SET client_encoding`.
const OF_ENCODINGS: &str =
    "Set the encoding of the client to UTF8. Of what comes with the connection other encodings are left out.";

/// What to do instead of `SET standard_conforming_strings TO off`.
const OF_STRINGS: &str = "E'…' takes backslashes as escapes.";

/// The settings that came with the connection: those that RESET goes back to.
struct Begun(HashMap<String, String>);

/// What settings were before SET LOCAL changed them; none is what nobody had set.
#[derive(Default)]
struct Before(Mutex<HashMap<String, Option<String>>>);

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
            end_transaction(client);
            Ok(Response::TransactionEnd(Tag::new("COMMIT")))
        }
        Statement::Commit { .. } | Statement::Rollback { .. } => {
            end_transaction(client);
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

/// Forgets what holds for a transaction only.
fn end_transaction<C: ClientInfo + ?Sized>(client: &mut C) {
    transactions::end(client);
    end_local(client);
}

/// Undoes SET LOCAL where no transaction is open: in a message of several statements it holds for those behind it.
pub fn end_series<C: ClientInfo + ?Sized>(client: &mut C) {
    if client.transaction_status() == TransactionStatus::Idle {
        end_local(client);
    }
}

fn end_local<C: ClientInfo + ?Sized>(client: &mut C) {
    let Some(kept) = client.session_extensions().get::<Before>() else { return };
    let before = std::mem::take(&mut *kept.0.lock());
    for (name, value) in before {
        clear(client, &name);
        if let Some(value) = value {
            // It was taken before.
            let _ = keep(client, name, value);
        }
    }
}

/// Sets what `set` says, with LOCAL until the transaction ends.
fn assign<C: ClientInfo + ?Sized>(client: &mut C, set: &Set) -> PgWireResult<()> {
    let Set::SingleAssignment { scope, variable, .. } = set else { return assign_any(client, set) };
    let name = variable.to_string().to_lowercase();
    let before = client.metadata().get(&name).cloned();
    assign_any(client, set)?;
    let kept = client.session_extensions().get_or_insert_with(Before::default);
    if *scope == Some(ContextModifier::Local) {
        kept.0.lock().entry(name).or_insert(before);
    } else {
        kept.0.lock().remove(&name);
    }
    Ok(())
}

fn assign_any<C: ClientInfo + ?Sized>(client: &mut C, set: &Set) -> PgWireResult<()> {
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
        Set::SetNames { charset_name, .. } => ("client_encoding".to_owned(), charset_name.value.clone()),
        Set::SetTransaction { modes, session: true, .. } => {
            transactions::set_default(client, modes);
            return Ok(());
        }
        // Without a transaction it says nothing: the snapshot would be that of all statements from here on.
        Set::SetTransaction { .. } if client.transaction_status() == TransactionStatus::Idle => return Ok(()),
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
    if let Some((why, hint)) = unfit(&name, &value) {
        return Err(hinted("0A000", why, hint));
    }
    client.metadata_mut().insert(name, value);
    Ok(())
}

/// Why a setting cannot have a value that PostgreSQL takes, and what to do instead; none if it can. What clients do goes by these.
fn unfit(name: &str, value: &str) -> Option<(String, &'static str)> {
    match name {
        "timezone" if !is_utc(value) => Some((other_zone(value), OF_ZONES)),
        "client_encoding" if !is_utf8(value) => {
            Some((format!("the encoding {value:?} is not supported: text is UTF8"), OF_ENCODINGS))
        }
        "standard_conforming_strings" if is_off(value) => {
            Some(("standard_conforming_strings is always on".to_owned(), OF_STRINGS))
        }
        _ => None,
    }
}

/// Takes the settings that came with the connection: parameters of its beginning, and `-c name=value` in `options`. Those that
/// nobody may set are left out, and so is a zone other than UTC, and an encoding other than UTF8: drivers send those of their machine
/// without being asked, and are told what they are.
///
/// # Errors
/// For a value that a setting cannot have.
pub fn begin<C: ClientInfo + ?Sized>(client: &mut C) -> PgWireResult<()> {
    let options = client.metadata().get("options").cloned().unwrap_or_default();
    let mut given: Vec<(String, String)> =
        client.metadata().iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
    given.extend(in_options(&options));
    // What came under these very names is remembered already.
    client.metadata_mut().retain(|name, _| !is_settable(name));
    given.retain(|(name, value)| is_settable(name) && unfit(name, value).is_none());
    for (name, value) in &given {
        keep(client, name.clone(), value.clone())?;
    }
    client.session_extensions().insert(Begun(given.into_iter().collect()));
    Ok(())
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
    clear(client, name);
    let begun = client.session_extensions().get::<Begun>();
    if let Some(value) = begun.and_then(|begun| begun.0.get(name).cloned()) {
        // It was taken when it came.
        let _ = keep(client, name.to_owned(), value);
    }
}

fn clear<C: ClientInfo + ?Sized>(client: &mut C, name: &str) {
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
    use crate::net::Scope;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;
    use pgwire::api::DefaultClient;
    use pgwire::error::PgWireError;

    /// A connection that began with `given`.
    fn client(given: &[(&str, &str)]) -> DefaultClient<()> {
        let mut client = DefaultClient::new(([127, 0, 0, 1], 5432).into(), false);
        client.metadata.extend(given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        begin(&mut client).unwrap();
        client
    }

    fn answer(client: &mut DefaultClient<()>, sql: &str) -> PgWireResult<Response> {
        let statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).expect(sql);
        respond(client, &statements[0])
    }

    fn seconds(client: &DefaultClient<()>) -> Option<u64> {
        timeout(client).map(|limit| limit.as_secs())
    }

    #[test]
    fn what_is_set_locally_ends_with_the_transaction() {
        for (before, after) in [(None, None), (Some("SET statement_timeout = '7s'"), Some(7))] {
            for end in ["COMMIT", "ROLLBACK"] {
                let mut client = client(&[]);
                if let Some(sql) = before {
                    answer(&mut client, sql).unwrap();
                }
                client.set_transaction_status(TransactionStatus::Transaction);
                answer(&mut client, "SET LOCAL statement_timeout = '5s'").unwrap();
                answer(&mut client, "SET LOCAL statement_timeout TO '3s'").unwrap();
                end_series(&mut client);
                assert_eq!(seconds(&client), Some(3), "it holds in the transaction");
                answer(&mut client, end).unwrap();
                assert_eq!(seconds(&client), after, "{end}");
            }
        }
        let mut client = client(&[]);
        answer(&mut client, "SET LOCAL statement_timeout = '5s'").unwrap();
        end_series(&mut client);
        assert_eq!(seconds(&client), None, "without a transaction it ends with the message");
        client.set_transaction_status(TransactionStatus::Transaction);
        answer(&mut client, "SET LOCAL statement_timeout = '5s'").unwrap();
        answer(&mut client, "SET statement_timeout = '6s'").unwrap();
        answer(&mut client, "COMMIT").unwrap();
        assert_eq!(seconds(&client), Some(6), "what is set for the connection stays");
    }

    #[test]
    fn a_reset_goes_back_to_what_came_with_the_connection() {
        let given = [("options", "-c statement_timeout=5s"), ("DateStyle", "German"), ("user", "me")];
        for reset in
            ["RESET statement_timeout", "RESET ALL", "DISCARD ALL", "SET statement_timeout TO DEFAULT"]
        {
            let mut client = client(&given);
            answer(&mut client, "SET statement_timeout = 0").unwrap();
            assert_eq!(seconds(&client), None);
            answer(&mut client, reset).unwrap();
            assert_eq!(seconds(&client), Some(5), "{reset}");
            assert_eq!(client.metadata.get("datestyle").map(String::as_str), Some("German"));
        }
        let mut client = client(&[]);
        answer(&mut client, "SET statement_timeout = '9s'").unwrap();
        answer(&mut client, "RESET ALL").unwrap();
        assert_eq!(seconds(&client), None);
    }

    #[test]
    fn what_would_change_the_meaning_of_bytes_is_refused() {
        let mut client = client(&[("client_encoding", "WIN1252"), ("standard_conforming_strings", "off")]);
        assert!(client.metadata.is_empty(), "{:?}", client.metadata);
        for sql in [
            "SET client_encoding TO 'LATIN1'",
            "SET NAMES LATIN1",
            "SET standard_conforming_strings = off",
            "SET LOCAL standard_conforming_strings TO 'false'",
        ] {
            match answer(&mut client, sql) {
                Err(PgWireError::UserError(why)) => assert_eq!(why.code, "0A000", "{sql}"),
                other => panic!("{sql}: {other:?}"),
            }
        }
        for sql in
            ["SET client_encoding = 'utf-8'", "SET NAMES 'UTF8'", "SET standard_conforming_strings = on"]
        {
            assert!(answer(&mut client, sql).is_ok(), "{sql}");
        }
        answer(&mut client, "SET NAMES 'UTF8'").unwrap();
        assert_eq!(client.metadata.get("client_encoding").map(String::as_str), Some("UTF8"));
    }

    #[test]
    fn the_modes_of_no_transaction_say_nothing() {
        let mut client = client(&[]);
        answer(&mut client, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").unwrap();
        let snapshots = |client: &DefaultClient<()>| transactions::snapshots(client, &Scope::All).unwrap();
        assert!(snapshots(&client).is_none());
        assert!(!client.metadata.contains_key("transaction_isolation"));
    }

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
