//! Clients of the PostgreSQL port that are not ours: each as its users call it, unchanged.
//!
//! What each does is in `tests/clients`; `docs/sql.md` has a row for each test here.
//!
//! | file | what |
//! |---|---|
//! | `psql` | psql, by its commands |
//! | `rust` | tokio-postgres and sqlx |
//! | `types` | values of every type, in text and in binary, as results and as parameters |
//! | `memory` | what a long result takes of the server |
//! | `catalogue` | what tools ask the catalogue that cannot be installed here |
//! | `written` | what people write for PostgreSQL, names of columns, errors, transactions |
//! | `repeatable` | a transaction reads one snapshot |
//! | `faults` | faults of ours end a query, not its connection |

mod catalogue;
mod faults;
mod memory;
mod psql;
mod repeatable;
mod rust;
mod types;
mod written;

use crate::readme::pages::{hold_table, read};
use crate::sdk::{cache, node_modules, python};
use crate::sql::fixture;
use groundline::net::Access;
use groundline::sql::Sql;
use groundline::sql::pg::{PgEndpoint, serve};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// What clients do, in the order of the columns of the table.
const ASPECTS: [&str; 6] = ["metadata", "parameters", "types", "large", "cancel", "errors"];
/// Where a client has no such thing.
const NONE: &str = "has none";
/// Where the test of a client leaves it out.
const LEFT: &str = "not tested";

/// Names of tests, what is tested, and by what it does each of [`ASPECTS`]: its test shows each of the words between commas.
const CLIENTS: &[(&str, &str, [&str; 6])] = &[
    (
        "psql",
        "psql 15",
        ["backslash commands", NONE, "`\\gdesc`", "`FETCH_COUNT`, `\\copy`", "Ctrl-C", "SQLSTATE"],
    ),
    (
        "psycopg2",
        "psycopg2 2.9",
        ["columns", "yes", "times, lists", "named cursors, COPY", "`cancel`", "classes"],
    ),
    (
        "psycopg",
        "psycopg 3.3",
        [
            "columns, `TypeInfo`",
            "lists, pipelines",
            "text, binary",
            "server-side cursors, COPY in binary",
            "`cancel`",
            "classes, hints",
        ],
    ),
    (
        "asyncpg",
        "asyncpg 0.32",
        ["prepared statements", "yes", "times, lists", "cursors, COPY", "timeouts", "classes"],
    ),
    (
        "sqlalchemy",
        "SQLAlchemy 2.1 over psycopg2, psycopg 3, asyncpg",
        [
            "inspector, reflection but for asyncpg",
            "yes",
            "of tables",
            "streamed results",
            "`cancel` of psycopg2, `cancel` of psycopg",
            "yes",
        ],
    ),
    ("pandas", "pandas 3.1", ["`read_sql_table`", "yes", "times", "chunks", "`cancel` of the driver", "yes"]),
    (
        "polars",
        "polars 2.1 over connectorx, ADBC",
        [NONE, "ADBC", "times", "yes", "`cancel` of a connection", "yes"],
    ),
    (
        "connectorx",
        "connectorx 0.4",
        ["`get_meta`", NONE, "times", "binary, csv, cursor, simple, partitions", NONE, "yes"],
    ),
    (
        "adbc",
        "ADBC 1.13",
        ["objects, schemas of tables", "yes", "times, lists", "COPY", "`adbc_cancel`", "SQLSTATE"],
    ),
    (
        "jdbc",
        "pgjdbc 42.5",
        [
            "all of `DatabaseMetaData`",
            "lists, times",
            "yes",
            "rows in parts",
            "`cancel`, timeouts",
            "SQLSTATE",
        ],
    ),
    (
        "node_postgres",
        "node-postgres 8.23",
        ["columns", "lists, times", "times, lists", "cursors", "`cancel`, timeouts", "SQLSTATE"],
    ),
    (
        "postgres_js",
        "postgres.js 3.4",
        ["`describe`", "lists, times", "times, lists", "cursors", "`cancel`", "SQLSTATE"],
    ),
    (
        "pgcli",
        "pgcli 4.7",
        ["completion, backslash commands", NONE, "yes", "yes", "`cancel` of its connection", "yes"],
    ),
    (
        "duckdb",
        "DuckDB 1.4 with its postgres extension",
        ["tables, views", "yes", "times", "`postgres_query`", NONE, "yes"],
    ),
    (
        "tokio_postgres",
        "tokio-postgres 0.7",
        [
            "prepared statements",
            "lists",
            "times, lists",
            "portals in parts, COPY",
            "`cancel_query`",
            "SQLSTATE",
        ],
    ),
    (
        "sqlx",
        "sqlx 0.8",
        ["`describe` as its macros ask", "lists, times", "times, lists", "streams, COPY", NONE, "SQLSTATE"],
    ),
    (
        "superset",
        "Apache Superset 6.1",
        ["columns of tables, views, queries", NONE, "every time grain", LEFT, LEFT, LEFT],
    ),
];

#[test]
fn the_documents_name_the_clients() {
    let head = "| client | metadata | parameters | types | 100,000 rows | cancel | errors |";
    let mut rows = vec![head.to_owned(), "|---|---|---|---|---|---|---|".to_owned()];
    rows.extend(CLIENTS.iter().map(|(_, client, does)| format!("| {client} | {} |", does.join(" | "))));
    hold_table("docs/sql.md", "### Clients", &rows);
    let files = ["tests/it/clients.rs", "tests/it/clients/psql.rs", "tests/it/clients/rust.rs"];
    let tests = files.map(read).concat();
    for (name, ..) in CLIENTS {
        assert!(tests.contains(&format!("async fn {name}()")), "{name} has no test");
    }
}

/// What the test of a client has shown is what the table says, word by word: a check that is taken out takes its word with it.
fn hold_aspects(test: &str, said: &str) {
    let (_, _, does) = CLIENTS.iter().find(|(name, ..)| *name == test).unwrap();
    for (aspect, by) in ASPECTS.iter().zip(does) {
        let begin = format!("has {aspect}: ");
        let shown: BTreeSet<&str> =
            said.lines().filter_map(|line| line.trim().strip_prefix(begin.as_str())).collect();
        let written: BTreeSet<&str> =
            if [NONE, LEFT].contains(by) { BTreeSet::new() } else { by.split(", ").collect() };
        assert_eq!(shown, written, "{test}: {aspect}\n{said}");
    }
}

/// Says that a client does `what`, an aspect and a word of the table, once `checks` have passed.
async fn shows(what: &str, checks: impl Future<Output = ()>) -> String {
    checks.await;
    format!("has {what}\n")
}

/// The port over the rows of `tests/slt`.
async fn port() -> (SocketAddr, CancellationToken) {
    port_of(fixture::sql().await).await
}

/// The port over the rows of `sql`.
async fn port_of(sql: Arc<Sql>) -> (SocketAddr, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let shutdown = CancellationToken::new();
    let endpoint = PgEndpoint { access: Access::open("default"), tls: None, allow_plain: false };
    tokio::spawn(serve(listener, sql, endpoint, shutdown.clone()));
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
    hold_aspects(client, &told(&output));
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

/// Runs a program that takes the port: what it says holds what the table says of `client`.
async fn program_runs(command: &mut Command, client: &str) {
    let (at, _shutdown) = port().await;
    command.arg(at.port().to_string());
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = tokio::task::spawn_blocking(|| running.wait_with_output()).await.unwrap().unwrap();
    assert!(output.status.success() && told(&output).contains("all ok"), "{client}: {}", told(&output));
    hold_aspects(client, &told(&output));
}

/// A program of `tests/clients`.
fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jdbc() {
    let driver = Path::new("/usr/share/java/postgresql.jar");
    if is_there(driver, driver.exists()) {
        program_runs(Command::new("java").arg("-cp").arg(driver).arg(program("Metadata.java")), "jdbc").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute or two, and 800 MB that tests/setup-superset installs"]
async fn superset() {
    let python = cache("GROUNDLINE_SUPERSET_VENV", ".cache/groundline-superset-venv").join("bin/python");
    assert!(python.exists(), "{} is not there: run tests/setup-superset", python.display());
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(python);
    command.env("SUPERSET_HOME", home.path()).arg(program("superset_client.py"));
    program_runs(&mut command, "superset").await;
}

/// Runs one library of `tests/clients/node.cjs`.
async fn node_runs(library: &str) {
    let modules = node_modules();
    if is_there(&modules.join("pg"), modules.join("postgres").exists()) {
        let mut command = Command::new("node");
        command.env("NODE_PATH", modules).arg(program("node.cjs")).arg(library);
        program_runs(&mut command, library).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_postgres() {
    node_runs("node_postgres").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_js() {
    node_runs("postgres_js").await;
}
