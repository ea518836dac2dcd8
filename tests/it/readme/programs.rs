//! The programs of the quickstart send a model call whose question and answer are found.

use super::pages::{self, Page, read};
use crate::sdk::{node_modules, python};
use crate::support::{config, query, start, until};
use groundline::app::App;
use std::path::Path;
use std::process::Command;

#[path = "../../sdk/quickstart.rs"]
mod quickstart;

fn quickstart_page() -> Page {
    let mut pages = pages::of("docs");
    pages.swap_remove(pages.iter().position(|p| p.path.ends_with("quickstart.md")).unwrap())
}

/// The only program of the page in `language`.
fn program(language: &str) -> String {
    let mut programs = quickstart_page().blocks(language);
    assert_eq!(programs.len(), 1, "{language}");
    programs.remove(0)
}

/// Runs a program as the page says; none if what it needs is not installed and this is not CI.
fn run(app: &App, mut command: Command, service: &str, needs: &Path) -> bool {
    if !needs.exists() {
        assert!(std::env::var("CI").is_err(), "{} is not there: run tests/setup", needs.display());
        eprintln!("{} is not there; run tests/setup for this test", needs.display());
        return false;
    }
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", app.addresses.otlp_http));
    let output = command.env("OTEL_SERVICE_NAME", service).output().unwrap();
    assert!(output.status.success(), "{service}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_programs_of_the_quickstart_send_a_model_call() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    assert_eq!(
        program("rust"),
        read("tests/sdk/quickstart.rs"),
        "docs/quickstart.md, tests/sdk/quickstart.rs"
    );
    quickstart::send_a_model_call(&format!("http://{}", app.addresses.grpc)).unwrap();
    let mut sent = 1;
    let mut command = Command::new(python());
    command.arg("-c").arg(program("python"));
    sent += usize::from(run(&app, command, "quickstart-python", &python()));
    let mut command = Command::new("node");
    command.arg("-e").arg(program("js")).env("NODE_PATH", node_modules());
    sent += usize::from(run(&app, command, "quickstart-node", &node_modules().join("@opentelemetry")));
    let sql =
        "SELECT operation, request_model, question, answer, service_name FROM spans ORDER BY service_name";
    // What was acknowledged is seen a moment later.
    until("every call", async || query(app.addresses.http, sql).await.len() >= sent).await;
    let rows = query(app.addresses.http, sql).await;
    assert_eq!(rows.len(), sent, "{rows:?}");
    for row in &rows {
        assert_eq!(row["operation"], "llm", "{row}");
        assert_eq!(row["request_model"], "my-model", "{row}");
        assert_eq!(row["question"], "How do I pay?", "{row}");
        assert_eq!(row["answer"], "You can pay by card.", "{row}");
    }
    let named = rows.iter().filter(|row| row["service_name"].as_str().unwrap().starts_with("quickstart-"));
    assert_eq!(named.count(), sent - 1, "{rows:?}");
    app.stop().await.unwrap();
}
