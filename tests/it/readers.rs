//! Readers that are not ours: psql over the wire, and a Delta library on the files.

use crate::support::{PATIENCE, busy, config, count, parquet, settled, start};
use groundline::app::App;
use groundline::cli::{Protocol, send_file};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Sends a few captures, so that every table has rows.
async fn filled(app: &App) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otlp/openinference-openai");
    let endpoint = format!("http://{}", app.addresses.otlp_http);
    for name in ["rag_grounded.pb", "rag_contradiction.pb", "pii_leak.pb", "toxic.pb"] {
        send_file(&endpoint, Protocol::Http, &fixtures.join(name)).await.unwrap();
    }
    settled(app).await;
}

/// Runs a program of the test set-up; none if it is not installed and this is not CI.
fn program(command: &mut Command) -> Option<Output> {
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            assert!(std::env::var("CI").is_err(), "{command:?}: {error}: run tests/setup");
            eprintln!("{command:?} is not installed; run tests/setup for this test");
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn psql_lists_tables_and_asks_for_quality() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    filled(&app).await;
    let port = app.addresses.pg.port().to_string();
    let psql = |sql: &'static str| {
        let port = port.clone();
        let task = tokio::task::spawn_blocking(move || {
            program(Command::new("psql").args([
                "-h",
                "127.0.0.1",
                "-p",
                &port,
                "-U",
                "anyone",
                "-d",
                "groundline",
                "-c",
                sql,
            ]))
        });
        async move { task.await.unwrap() }
    };
    let Some(listed) = psql("\\d").await else { return };
    let listed_text = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    for table in [
        "spans",
        "scores",
        "decisions",
        "annotations",
        "alerts",
        "traces",
        "scores_latest",
        "quality_hourly",
        "evaluator_quality",
    ] {
        assert!(listed_text.contains(table), "{table} is not listed:\n{listed_text}");
    }
    let asked = psql("SELECT service_name, evaluator, quality_rate(passed, inclusion_probability) FROM scores GROUP BY 1,2").await.unwrap();
    let text = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    assert!(text.contains("pii_leakage") && text.contains("estimate"), "{text}");
    let refused = psql("DROP TABLE spans").await.unwrap();
    assert!(!refused.status.success(), "a table was dropped");
    app.stop().await.unwrap();
}

const COUNT: &str = "
import os, sys
from deltalake import DeltaTable
for name in sys.argv[2:]:
    table = DeltaTable(sys.argv[1] + '/' + name).to_pyarrow_table()
    print(name, table.num_rows, flush=True)
# The library's threads sometimes end the interpreter with an error at exit, after all is printed.
os._exit(0)
";

/// The tables with how many rows SQL counts in them.
async fn counted(app: &App) -> Vec<String> {
    let mut counted = Vec::new();
    for table in ["spans", "scores", "decisions"] {
        let rows = count(app.addresses.http, &format!("SELECT count(*) AS n FROM {table}")).await;
        assert!(rows > 0, "{table} is empty");
        counted.push(format!("{table} {rows}"));
    }
    counted
}

/// The same as a Delta library counts it.
fn counted_by_a_library(data_dir: &Path) -> Option<Vec<String>> {
    let home = std::env::var("HOME").unwrap();
    let venv = std::env::var("GROUNDLINE_TEST_VENV")
        .map_or_else(|_| PathBuf::from(home).join(".cache/groundline-test-venv"), PathBuf::from);
    let mut python = Command::new(venv.join("bin/python"));
    python.args(["-c", COUNT]).arg(data_dir.join("lake")).args(["spans", "scores", "decisions"]);
    let output = program(&mut python)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delta_library_counts_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    filled(&app).await;
    let expected = counted(&app).await;
    app.stop().await.unwrap();
    if let Some(counted) = counted_by_a_library(folder.path()) {
        assert_eq!(counted, expected);
    }
}

/// And again after files were merged and the old ones deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delta_library_counts_the_same_rows_after_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(busy(config(folder.path()))).await;
    let spans = folder.path().join("lake/spans");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otlp/openinference-openai");
    let endpoint = format!("http://{}", app.addresses.otlp_http);
    let started = Instant::now();
    for name in ["rag_grounded.pb", "chat.pb", "pii_leak.pb", "toxic.pb"] {
        let before = parquet(&spans);
        send_file(&endpoint, Protocol::Http, &fixtures.join(name)).await.unwrap();
        while parquet(&spans).iter().all(|name| before.contains(name)) {
            assert!(started.elapsed() < PATIENCE, "no file was written");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    settled(&app).await;
    let merged = |names: &[String]| names.iter().filter(|name| name.starts_with("merged-")).count();
    while merged(&parquet(&spans)) == 0 || parquet(&spans).len() > 2 {
        assert!(started.elapsed() < PATIENCE, "{:?}", parquet(&spans));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let expected = counted(&app).await;
    app.stop().await.unwrap();
    if let Some(counted) = counted_by_a_library(folder.path()) {
        assert_eq!(counted, expected);
    }
}
