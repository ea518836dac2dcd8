//! Clients of Rust: tokio-postgres here, and sqlx as a program of its own that `tests/setup` builds.

use super::{hold_aspects, is_there, port, program_runs, shows};
use crate::sdk::cache;
use ::tokio_postgres::types::Type;
use ::tokio_postgres::{Client, Column, NoTls, connect};
use futures::TryStreamExt;
use groundline::sql::Config;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlx() {
    let folder = cache("GROUNDLINE_SQLX_CLIENT", ".cache/groundline-sqlx-client");
    let client = folder.join("debug/sqlx-client");
    if is_there(&client, client.exists()) {
        program_runs(&mut Command::new(client), "sqlx").await;
    }
}

/// How long an endless query goes on that is cancelled.
async fn cancelled(client: &Arc<Client>) -> Duration {
    let (cancel, client) = (client.cancel_token(), client.clone());
    let endless = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b";
    let running = tokio::spawn(async move { client.query(endless, &[]).await });
    // Until the query runs there is nothing to cancel, and the request is lost.
    let began = Instant::now();
    while !running.is_finished() {
        cancel.cancel_query(NoTls).await.unwrap();
        tokio::task::yield_now().await;
    }
    let ended = running.await.unwrap().unwrap_err();
    assert_eq!(ended.code().map(|code| code.code()), Some("57014"));
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_postgres() {
    let (at, _shutdown) = port().await;
    let config = format!("host=127.0.0.1 port={} user=me dbname=groundline", at.port());
    let (mut client, connection) = connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    let mut said = vec![
        shows("metadata: prepared statements", prepared(&client)).await,
        shows("types: times", times(&client)).await,
        shows("types: lists", lists(&client)).await,
        shows("parameters: lists", sought(&client)).await,
        shows("large: portals in parts", in_parts(&mut client)).await,
        shows("large: COPY", copied(&client)).await,
        shows("errors: SQLSTATE", refused(&client)).await,
    ];
    said.push(shows("cancel: `cancel_query`", ends_in_time(&Arc::new(client))).await);
    hold_aspects("tokio_postgres", &said.concat());
}

/// A request to cancel needs no place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_is_cancelled_while_all_places_are_taken() {
    let one = Config { max_connections: 1, ..Config::default() };
    let (at, _shutdown) = super::port_of(super::fixture::limited(one).await).await;
    let config = format!("host=127.0.0.1 port={} user=me dbname=groundline", at.port());
    let (client, connection) = connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    let Err(full) = connect(&config, NoTls).await else { panic!("all places are taken") };
    assert_eq!(full.code().map(|code| code.code()), Some("53300"));
    let cancel = client.cancel_token();
    let endless = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b";
    let running = tokio::spawn(async move { client.query(endless, &[]).await });
    while !running.is_finished() {
        // One may come before the server is done with those before it.
        let _ = cancel.cancel_query(NoTls).await;
        tokio::task::yield_now().await;
    }
    let ended = running.await.unwrap().unwrap_err();
    let told = ended.as_db_error().expect("an answer of the server");
    assert_eq!(told.code().code(), "57014");
    assert!(!told.message().contains("sql.timeout"), "{told}");
}

/// Drivers send the zone of their machine without being asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_that_comes_with_the_connection_is_left_out() {
    let (at, _shutdown) = port().await;
    for (sent, told) in [("Europe/Vienna", "UTC"), ("Etc/UTC", "Etc/UTC")] {
        let options = format!("options='-c TimeZone={sent}'");
        let config = format!("host=127.0.0.1 port={} user=me dbname=groundline {options}", at.port());
        let (client, connection) = connect(&config, NoTls).await.unwrap();
        tokio::spawn(connection);
        let row = client.query_one("SHOW TimeZone", &[]).await.unwrap();
        assert_eq!(row.get::<_, String>(0), told);
    }
}

async fn prepared(client: &Client) {
    let prepared =
        client.prepare("SELECT count(*) FROM spans WHERE name <> $1 AND duration_ns > $2").await.unwrap();
    let named = |columns: &[Column]| -> Vec<_> {
        columns.iter().map(|c| (c.name().to_owned(), c.type_().clone())).collect()
    };
    assert_eq!(named(prepared.columns()), [("count".to_owned(), Type::INT8)]);
    assert_eq!(prepared.params(), [Type::TEXT, Type::INT8]);
    let count: i64 = client.query_one(&prepared, &[&"none", &-1i64]).await.unwrap().get("count");
    assert!(count > 0);
    let (number, moment) = (Type::INT8, Type::TIMESTAMPTZ);
    for (sql, types) in [
        ("SELECT count(*) FROM generate_series($1, $2)", vec![number.clone(), number]),
        ("SELECT count(*) FROM generate_series($1, $2, '1 hour')", vec![moment.clone(), moment]),
        ("SELECT start_time AT TIME ZONE $1 FROM spans", vec![Type::TEXT]),
    ] {
        assert_eq!(client.prepare(sql).await.unwrap().params(), types, "{sql}");
    }
    let sql = "SELECT min(h) FROM generate_series($1, $2, '1 hour') AS h";
    for kind in [Type::TIMESTAMP, Type::TIMESTAMPTZ] {
        let typed = client.prepare_typed(sql, &[kind.clone(), kind.clone()]).await.unwrap();
        assert_eq!(typed.params(), [kind.clone(), kind.clone()]);
        assert_eq!(*typed.columns()[0].type_(), kind);
    }
    // A zone is more than none.
    let sql = "SELECT min(h) FROM generate_series(TIMESTAMP '2026-01-01 00:00:00', $1, '1 hour') AS h";
    let typed = client.prepare_typed(sql, &[Type::TIMESTAMPTZ]).await.unwrap();
    assert_eq!(*typed.columns()[0].type_(), Type::TIMESTAMPTZ);
    let sql = "SELECT max(n) FROM generate_series($1, $2) AS n";
    let last: i64 = client.query_one(sql, &[&1i64, &3i64]).await.unwrap().get(0);
    assert_eq!(last, 3);
}

async fn times(client: &Client) {
    let sql = "SELECT name, start_time, duration_ns, cost_usd FROM spans WHERE finish_reasons IS NOT NULL";
    let row = client.query(sql, &[]).await.unwrap().remove(0);
    // A value of another type panics here.
    let (name, start, duration_ns, _): (String, SystemTime, i64, Option<f64>) =
        (row.get(0), row.get(1), row.get(2), row.get(3));
    assert!(!name.is_empty() && start > SystemTime::UNIX_EPOCH && duration_ns >= 0);
}

async fn lists(client: &Client) {
    let sql = "SELECT finish_reasons FROM spans WHERE finish_reasons IS NOT NULL";
    let reasons: Vec<String> = client.query(sql, &[]).await.unwrap().remove(0).get(0);
    assert!(!reasons.is_empty());
}

async fn sought(client: &Client) {
    let names = vec!["chat gpt-x", "none"];
    let named = client.query("SELECT name FROM spans WHERE name = ANY($1)", &[&names]).await.unwrap();
    assert!(!named.is_empty(), "lists are parameters");
}

async fn in_parts(client: &mut Client) {
    let transaction = client.build_transaction().read_only(true).start().await.unwrap();
    let portal = transaction.bind("SELECT value FROM generate_series(1, 100000)", &[]).await.unwrap();
    assert_eq!(transaction.query_portal(&portal, 10).await.unwrap().len(), 10);
    assert_eq!(transaction.query_portal(&portal, 0).await.unwrap().len(), 99_990);
    transaction.commit().await.unwrap();
}

async fn copied(client: &Client) {
    let copied =
        client.copy_out("COPY (SELECT value FROM generate_series(1, 100000)) TO STDOUT").await.unwrap();
    let lines: usize = copied.try_fold(0, |sum, part| async move { Ok(sum + part.len()) }).await.unwrap();
    assert!(lines > 500_000, "{lines}");
}

async fn refused(client: &Client) {
    let wrong = client.query("SELECT nope FROM spans", &[]).await.unwrap_err();
    assert_eq!(wrong.code().map(|code| code.code()), Some("42703"));
}

/// What a busy machine takes for it, it does not take every time.
async fn ends_in_time(client: &Arc<Client>) {
    let mut taken = Vec::new();
    while taken.len() < 10 && taken.iter().all(|one| *one >= Duration::from_secs(1)) {
        taken.push(cancelled(client).await);
    }
    assert!(taken.iter().any(|one| *one < Duration::from_secs(1)), "cancelled after {taken:?}");
}
