//! Clients of Rust: tokio-postgres here, and sqlx as a program of its own that `tests/setup` builds.

use super::{ASPECTS, hold_aspects, is_there, port, program_runs};
use crate::sdk::cache;
use ::tokio_postgres::types::Type;
use ::tokio_postgres::{Client, Column, NoTls, connect};
use futures::TryStreamExt;
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
    let prepared =
        client.prepare("SELECT count(*) FROM spans WHERE name <> $1 AND duration_ns > $2").await.unwrap();
    let named = |columns: &[Column]| -> Vec<_> {
        columns.iter().map(|c| (c.name().to_owned(), c.type_().clone())).collect()
    };
    assert_eq!(named(prepared.columns()), [("count".to_owned(), Type::INT8)]);
    assert_eq!(prepared.params(), [Type::TEXT, Type::INT8]);
    let count: i64 = client.query_one(&prepared, &[&"none", &-1i64]).await.unwrap().get("count");
    assert!(count > 0);
    let sql = "SELECT name, start_time, duration_ns, cost_usd, finish_reasons FROM spans WHERE finish_reasons IS NOT NULL";
    let row = client.query(sql, &[]).await.unwrap().remove(0);
    let _: (String, SystemTime, i64, Option<f64>, Vec<String>) =
        (row.get(0), row.get(1), row.get(2), row.get(3), row.get(4));
    let names = vec!["chat gpt-x", "none"];
    let named = client.query("SELECT name FROM spans WHERE name = ANY($1)", &[&names]).await.unwrap();
    assert!(!named.is_empty(), "lists are parameters");
    let transaction = client.build_transaction().read_only(true).start().await.unwrap();
    let portal = transaction.bind("SELECT value FROM generate_series(1, 100000)", &[]).await.unwrap();
    assert_eq!(transaction.query_portal(&portal, 10).await.unwrap().len(), 10);
    assert_eq!(transaction.query_portal(&portal, 0).await.unwrap().len(), 99_990);
    transaction.commit().await.unwrap();
    let copied =
        client.copy_out("COPY (SELECT value FROM generate_series(1, 100000)) TO STDOUT").await.unwrap();
    let lines: usize = copied.try_fold(0, |sum, part| async move { Ok(sum + part.len()) }).await.unwrap();
    assert!(lines > 500_000, "{lines}");
    let wrong = client.query("SELECT nope FROM spans", &[]).await.unwrap_err();
    assert_eq!(wrong.code().map(|code| code.code()), Some("42703"));
    // What a busy machine takes for it, it does not take every time.
    let (client, mut taken) = (Arc::new(client), Vec::new());
    while taken.len() < 10 && taken.iter().all(|one| *one >= Duration::from_secs(1)) {
        taken.push(cancelled(&client).await);
    }
    assert!(taken.iter().any(|one| *one < Duration::from_secs(1)), "cancelled after {taken:?}");
    hold_aspects("tokio_postgres", &ASPECTS.map(|aspect| format!("has {aspect}")).join("\n"));
}
