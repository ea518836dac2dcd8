//! What a user is told to type works: queries, configurations, commands.

use super::pages;
use crate::support::{config, query_raw, start};
use groundline::config::Config;
use std::collections::BTreeMap;
use std::process::Command;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queries_of_the_documents_run() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let mut counts = BTreeMap::new();
    for page in pages::for_users() {
        for sql in page.blocks("sql") {
            let (status, body) = query_raw(app.addresses.http, sql.trim().trim_end_matches(';')).await;
            assert_eq!(status, 200, "{}: {sql}: {body}", page.path.display());
            *counts.entry(page.path.display().to_string()).or_insert(0) += 1;
        }
        for line in page.blocks("sh").iter().flat_map(|block| block.lines()) {
            let Some(sql) = line.split_once("groundline sql ").and_then(|(_, l)| l.split('"').nth(1)) else {
                continue;
            };
            let (status, body) = query_raw(app.addresses.http, sql).await;
            assert_eq!(status, 200, "{}: {line}: {body}", page.path.display());
        }
    }
    assert_eq!(counts["README.md"], 5, "{counts:?}");
    assert!(counts["docs/sql.md"] >= 6, "{counts:?}");
    app.stop().await.unwrap();
}

#[test]
fn the_configurations_of_the_documents_are_valid() {
    let mut seen = 0;
    for page in pages::for_users() {
        for block in page.blocks("toml") {
            let name = page.path.display().to_string();
            // Files that it names are read at the start only.
            Config::from_text(&name, &block, std::iter::empty()).unwrap_or_else(|e| panic!("{e}\n{block}"));
            seen += 1;
        }
    }
    assert!(seen >= 6, "only {seen} configurations: the pages were not read");
}

/// The program's verbs and flags, as the pages spell them, are there.
#[test]
fn the_commands_of_the_documents_exist() {
    let mut help: BTreeMap<String, String> = BTreeMap::new();
    let mut seen = 0;
    for page in pages::for_users() {
        let lines = page.blocks("sh").join("").replace("\\\n", " ");
        let quoted = page.quoted().join("\n");
        for line in lines.lines().chain(quoted.lines()) {
            let words: Vec<&str> = line.split('#').next().unwrap().split_whitespace().collect();
            // In a text the name alone is no command.
            let is_command = |at: &usize| at + 1 < words.len();
            let Some(at) = words.iter().position(|w| *w == "groundline").filter(is_command) else { continue };
            let plain =
                |w: &&&str| w.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !w.starts_with('-');
            let verb = words.get(at + 1).filter(plain).unwrap_or_else(|| panic!("{line}: no verb"));
            let inner = [
                "alerts",
                "config",
                "dataset",
                "experiment",
                "lab",
                "labels",
                "queue",
                "review",
                "suite",
                "token",
            ]
            .contains(verb)
            .then(|| words.get(at + 2))
            .flatten();
            let deeper = (*verb == "review").then(|| words.get(at + 3)).flatten();
            let verbs: Vec<&str> = [*verb].into_iter().chain(inner.copied()).chain(deeper.copied()).collect();
            let text = help.entry(verbs.join(" ")).or_insert_with(|| {
                let output =
                    Command::new(env!("CARGO_BIN_EXE_groundline")).args(&verbs).arg("--help").output();
                let output = output.unwrap();
                assert!(output.status.success(), "{}: {line}", page.path.display());
                String::from_utf8(output.stdout).unwrap()
            });
            for flag in words[at..].iter().filter(|w| w.starts_with("--")) {
                assert!(text.contains(&format!("{flag} ")), "{}: {line}: no {flag}", page.path.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "only {seen} flags: the pages were not read");
}
