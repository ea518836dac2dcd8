//! Clients of the PostgreSQL port that are not ours: each as its users call it, unchanged.
//!
//! What each does is in `tests/clients`; `docs/sql.md` has a row for each test here.
//!
//! | file | what |
//! |---|---|
//! | `catalogue` | what tools ask the catalogue that cannot be installed here |
//! | `written` | what people write for PostgreSQL, names of columns, errors, transactions |
//! | `repeatable` | a transaction reads one snapshot |

mod catalogue;
mod repeatable;
mod written;

use crate::readme::pages::{hold_table, read};
use crate::sdk::{cache, node_modules, python};
use crate::sql::fixture;
use groundline::net::Access;
use groundline::sql::pg::{PgEndpoint, serve};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Names of tests, what is tested, and what it does beside queries with parameters, types, a large result and errors.
const CLIENTS: &[(&str, &str, &str)] = &[
    ("psql", "psql 15", "backslash commands, `\\copy`, cursors"),
    ("psycopg2", "psycopg2 2.9", "named cursors, COPY, cancel"),
    ("psycopg", "psycopg 3.3", "binary results, server-side cursors, COPY in binary, pipelines, cancel"),
    ("asyncpg", "asyncpg 0.32", "prepared statements, cursors, COPY, timeouts that cancel, reset"),
    (
        "sqlalchemy",
        "SQLAlchemy 2.1",
        "inspector and reflection over psycopg2, psycopg 3 and asyncpg, streamed results",
    ),
    ("pandas", "pandas 3.1", "`read_sql`, `read_sql_table`, chunks"),
    ("polars", "polars 2.1", "`read_database_uri` with connectorx and ADBC"),
    ("connectorx", "connectorx 0.4", "binary, csv, cursor and simple; partitions"),
    ("adbc", "ADBC 1.13", "objects and schemas of tables, COPY"),
    ("jdbc", "pgjdbc 42.5", "all of `DatabaseMetaData`, rows in parts, arrays, timeouts that cancel"),
    ("node_postgres", "node-postgres 8.23, postgres.js 3.4", "pools, cursors, lists as parameters, cancel"),
    ("pgcli", "pgcli 4.7", "completion, backslash commands"),
    ("duckdb", "DuckDB 1.4 with its postgres extension", "ATTACH, tables and views in its catalogue, scans"),
    ("tokio_postgres", "tokio-postgres 0.7", "prepared statements, portals in parts, COPY, cancel"),
    (
        "superset",
        "Apache Superset 6.1",
        "columns of tables, views and queries, charts with every time grain, filters, SQL Lab",
    ),
];

#[test]
fn the_documents_name_the_clients() {
    let mut rows = vec!["| client | beside queries |".to_owned(), "|---|---|".to_owned()];
    rows.extend(CLIENTS.iter().map(|(_, client, does)| format!("| {client} | {does} |")));
    hold_table("docs/sql.md", "### Clients", &rows);
    let tests = read("tests/it/clients.rs");
    for (name, ..) in CLIENTS {
        assert!(tests.contains(&format!("async fn {name}()")), "{name} has no test");
    }
}

/// The port over the rows of `tests/slt`.
async fn port() -> (SocketAddr, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let shutdown = CancellationToken::new();
    let endpoint = PgEndpoint { access: Access::open("default"), tls: None, allow_plain: false };
    tokio::spawn(serve(listener, fixture::sql().await, endpoint, shutdown.clone()));
    (at, shutdown)
}

/// Whether `program` is there; without it the test says so, and fails in CI.
fn is_there(program: &Path, found: bool) -> bool {
    if !found {
        is_missing(program);
    }
    found
}

/// In CI every program is there.
fn is_missing(program: &Path) {
    assert!(std::env::var("CI").is_err(), "{} is not there: run tests/setup", program.display());
    eprintln!("{} is not there; run tests/setup for this test", program.display());
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs one client of `tests/clients/clients.py`, which needs `module`.
async fn runs(client: &'static str, module: &'static str) {
    let python = python();
    let find = format!("import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)");
    let found = Command::new(&python).args(["-c", &find]).status().is_ok_and(|status| status.success());
    if !is_there(&python.with_file_name(module), found) {
        return;
    }
    let (at, _shutdown) = port().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/clients.py");
    let run = move || Command::new(python).arg(script).args([client, &at.port().to_string()]).output();
    let output = tokio::task::spawn_blocking(run).await.unwrap().unwrap();
    assert!(output.status.success() && told(&output).contains("ok"), "{client}: {}", told(&output));
}

/// What psql says to `commands`, one after the other on one connection.
async fn psql_says(at: SocketAddr, commands: &[&str]) -> Option<String> {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-h", "127.0.0.1", "-p", &at.port().to_string(), "-U", "me", "groundline"]);
    for command in commands {
        psql.args(["-c", command]);
    }
    match tokio::task::spawn_blocking(move || psql.output()).await.unwrap() {
        Ok(output) => Some(told(&output)),
        Err(_) => {
            is_missing(Path::new("psql"));
            None
        }
    }
}

/// Commands of psql, each with a part of what it says; none must be an error but where it is meant.
const PSQL: &[(&str, &str)] = &[
    (r"\d", "quality_hourly"),
    (r"\d spans", "trace_id"),
    (r"\d+ scores", "The metric."),
    (r"\dt", "spans"),
    (r"\dt+ sp*", "One row a span"),
    (r"\dv", "traces"),
    (r"\dv+", "traces"),
    (r"\dn", "public"),
    (r"\dn+", "public"),
    (r"\df", "quality_rate"),
    (r"\df+ attr", "json text, key text"),
    (r"\da", "quality_mean"),
    (r"\sf attr", "FUNCTION public.attr(json text, key text)"),
    (r"\du", "postgres"),
    (r"\l", "groundline"),
    (r"\l+", "groundline"),
    (r"\dT", "Name"),
    (r"\dT+", "Name"),
    (r"\di", "relations"),
    (r"\dp", "Access privileges"),
    (r"\z spans", "spans"),
    (r"\dx", "Version"),
    (r"\db", "Location"),
    (r"\db+", ""),
    (r"\dd", ""),
    (r"\dL", ""),
    (r"\dL+", ""),
    (r"\dconfig", "configuration parameters"),
    (r"\dconfig+ work*", ""),
    (r"\df+", "quality_rate"),
    (r"\dn+", "public"),
    (r"\du+", "postgres"),
    (r"\dg", ""),
    (r"\ddp", ""),
    (r"\drds", ""),
    (r"\dF", ""),
    (r"\dF+", ""),
    (r"\dm", ""),
    (r"\dE", ""),
    (r"\ds", ""),
    (r"\dA", ""),
    (r"\dc+", ""),
    (r"\dC+", ""),
    (r"\dD+", ""),
    (r"\do+", ""),
    (r"\dX", ""),
    (r"\dAc", ""),
    (r"\deu", ""),
    (r"\dS", ""),
    (r"\d pg_stat_activity", "query_start"),
    (r"\d information_schema.columns", "data_type"),
    (r"\sv traces", "CREATE OR REPLACE VIEW"),
    (r"\copy (SELECT 1, 'a b') TO STDOUT CSV", "1,a b"),
    ("SELECT version()", "PostgreSQL 16.0 (Groundline"),
    ("SHOW server_version", "16.0 (Groundline"),
    ("SELECT 'spans'::regclass::oid", "16"),
    ("SELECT obj_description('spans'::regclass)", "One row a span"),
    ("SELECT pg_size_pretty(10485760::bigint)", "10 MB"),
    ("SELECT '2026-11-23'::date, LOCALTIMESTAMP > '2020-01-01'", "| t"),
    (r#"SELECT '{"a":{"b":[1,"x"]}}'::text #>> '{a,b,1}'"#, "x"),
    (r#"SELECT '{"a":{"b":1}}'::text -> 'a' ->> 'b'"#, "1"),
    ("SELECT count(*) FROM spans", "count"),
    ("COPY (SELECT 1) TO '/tmp/groundline-no'", "read-only"),
    ("COPY (SELECT 1) TO PROGRAM 'cat'", "read-only"),
    ("COPY spans FROM STDIN", "read-only"),
    ("FETCH 1 FROM nope", "does not exist"),
    ("DECLARE c CURSOR FOR SELECT 1", "transaction"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn psql() {
    let (at, _shutdown) = port().await;
    for (command, part) in PSQL {
        let Some(said) = psql_says(at, &[command]).await else { return };
        let refused = *part == "read-only" || command.contains("nope") || command.starts_with("DECLARE");
        assert!(said.contains(part) && said.contains("ERROR") == refused, "{command}: {said}");
    }
    let commands = [
        "BEGIN",
        "DECLARE c CURSOR FOR SELECT value FROM generate_series(1, 9) ORDER BY 1",
        "FETCH 2 FROM c",
    ];
    let rest = ["FETCH ALL FROM c", "CLOSE c", "COMMIT"];
    let said = psql_says(at, &[&commands[..], &rest[..]].concat()).await.unwrap();
    assert!(said.contains("(2 rows)") && said.contains("(7 rows)") && !said.contains("ERROR"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn psycopg2() {
    runs("psycopg2", "psycopg2").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn psycopg() {
    runs("psycopg", "psycopg").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asyncpg() {
    runs("asyncpg", "asyncpg").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlalchemy() {
    runs("sqlalchemy", "sqlalchemy").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pandas() {
    runs("pandas", "pandas").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polars() {
    runs("polars", "polars").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connectorx() {
    runs("connectorx", "connectorx").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adbc() {
    runs("adbc", "adbc_driver_postgresql").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pgcli() {
    runs("pgcli", "pgcli").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duckdb() {
    runs("duckdb", "duckdb_ext").await;
}

/// Runs a program of `tests/clients` that takes the port.
async fn program_runs(command: &mut Command, name: &str) {
    let (at, _shutdown) = port().await;
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name));
    command.arg(at.port().to_string());
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = tokio::task::spawn_blocking(|| running.wait_with_output()).await.unwrap().unwrap();
    assert!(output.status.success() && told(&output).contains("all ok"), "{name}: {}", told(&output));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jdbc() {
    let driver = Path::new("/usr/share/java/postgresql.jar");
    if is_there(driver, driver.exists()) {
        program_runs(Command::new("java").arg("-cp").arg(driver), "Metadata.java").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute or two, and 800 MB that tests/setup-superset installs"]
async fn superset() {
    let python = cache("GROUNDLINE_SUPERSET_VENV", ".cache/groundline-superset-venv").join("bin/python");
    assert!(python.exists(), "{} is not there: run tests/setup-superset", python.display());
    let home = tempfile::tempdir().unwrap();
    program_runs(Command::new(python).env("SUPERSET_HOME", home.path()), "superset_client.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_postgres() {
    let modules = node_modules();
    if is_there(&modules.join("pg"), modules.join("postgres").exists()) {
        program_runs(Command::new("node").env("NODE_PATH", modules), "node.cjs").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_postgres() {
    use ::tokio_postgres::{NoTls, connect};
    use futures::TryStreamExt;
    use std::time::{Instant, SystemTime};
    let (at, _shutdown) = port().await;
    let config = format!("host=127.0.0.1 port={} user=me dbname=groundline", at.port());
    let (mut client, connection) = connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    let prepared =
        client.prepare("SELECT count(*) FROM spans WHERE name <> $1 AND duration_ns > $2").await.unwrap();
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
    let cancel = client.cancel_token();
    let endless = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b";
    let running = tokio::spawn(async move { client.query(endless, &[]).await });
    // Until the query runs there is nothing to cancel, and the request is lost.
    let began = Instant::now();
    while !running.is_finished() {
        cancel.cancel_query(NoTls).await.unwrap();
        tokio::task::yield_now().await;
    }
    let ended = running.await.unwrap().unwrap_err();
    assert_eq!(ended.code().map(|code| code.code()), Some("57014"), "{:?}", began.elapsed());
}
