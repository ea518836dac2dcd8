//! The lists of the documents are complete: evaluators, OTLP cases, tables and columns, metrics, alerts, keys.

use super::pages::{self, hold_table, read, root};
use crate::support::{config, query, start};
use groundline::domain::time::{Clock, SystemClock};
use groundline::score::{Judges, JudgesSetup};
use groundline::watch::{METRICS, MetricKind};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The evaluators of the table are those that exist.
#[test]
fn the_evaluators_of_the_documents_exist() {
    let text = read("docs/evaluators.md");
    let table = text.split("\n## ").next().unwrap();
    let ids: Vec<&str> = table.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(ids, groundline::eval::IDS);
    let judged = pages::section(&text, "## Asked of a judge");
    let ids: Vec<&str> = judged.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(ids, groundline::eval::JUDGE_IDS);
}

/// The last cells of each row of a table, by the id in its first one.
fn last_cells(table: &str, count: usize) -> Vec<(&str, Vec<&str>)> {
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|line| line.trim_end_matches(" |").split(" | ").collect::<Vec<_>>());
    cells
        .map(|cells| {
            let last = cells[cells.len() - count..].iter().map(|cell| cell.trim_matches('`')).collect();
            (cells[0].trim_matches(['|', ' ', '`']), last)
        })
        .collect()
}

/// What a judge is asked has the version that the table tells.
#[test]
fn the_prompt_versions_of_the_documents_are_those_of_the_program() {
    let judge = "[[judges]]\nname = \"main\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n";
    let config = groundline::config::Config::from_text("test", judge, std::iter::empty()).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let judges = Judges::new(&JudgesSetup {
        judges: &config.judges,
        custom: &[],
        correctness_weight: config.eval.answer_correctness_weight,
        pairwise_runs: config.eval.pairwise_runs,
        cache: (&config.score.judge_cache, std::path::PathBuf::new()),
        policy: &Arc::default(),
        clock: &clock,
        similarity: None,
    });
    let evaluators = judges.unwrap().evaluators();
    let text = read("docs/evaluators.md");
    let section = pages::section(&text, "## Asked of a judge");
    let mut renewed = section.to_owned();
    let rows = last_cells(section, 2);
    assert_eq!(rows.len(), evaluators.len());
    for ((id, cells), evaluator) in rows.iter().zip(&evaluators) {
        assert_eq!(*id, evaluator.id());
        let (old, new) = (
            format!("`{}` | `{}` |", cells[0], cells[1]),
            format!("`{}` | `{}` |", evaluator.version(), cells[1]),
        );
        let row = section.lines().find(|line| line.starts_with(&format!("| `{id}` |"))).unwrap();
        renewed = renewed.replace(row, &row.replace(&old, &new));
    }
    if renewed != section && std::env::var("UPDATE_GOLDEN").is_ok() {
        std::fs::write(root().join("docs/evaluators.md"), text.replace(section, &renewed)).unwrap();
        return;
    }
    assert_eq!(section, renewed, "docs/evaluators.md: run with UPDATE_GOLDEN=1 and read it");
}

/// Every evaluator's test is one that there is.
#[test]
fn the_tests_that_the_table_of_evaluators_names_exist() {
    fn sources(folder: &Path, found: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                sources(&entry, found);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                found.push_str(&std::fs::read_to_string(entry).unwrap());
            }
        }
    }
    let mut all = String::new();
    ["src", "tests/it"].iter().for_each(|folder| sources(&root().join(folder), &mut all));
    let text = read("docs/evaluators.md");
    let tables = [text.split("\n## ").next().unwrap(), pages::section(&text, "## Asked of a judge")];
    let named: Vec<(&str, &str)> =
        tables.iter().flat_map(|table| last_cells(table, 1)).map(|(id, cells)| (id, cells[0])).collect();
    assert_eq!(named.len(), groundline::eval::IDS.len() + groundline::eval::JUDGE_IDS.len());
    for (id, test) in named {
        let (of_unit, of_runtime) = (format!("#[test]\n    fn {test}("), format!("async fn {test}("));
        let at_top = format!("#[test]\nfn {test}(");
        assert!(
            [of_unit, of_runtime, at_top].iter().any(|form| all.contains(form)),
            "{id}: {test} is no test"
        );
    }
}

/// The list of OTLP cases is made of the names of their tests.
#[test]
fn the_otlp_cases_of_the_documents_are_the_tests() {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/it/conformance")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for name in text.split("fn t").skip(1) {
            let name = name.split('(').next().unwrap();
            if let Some((number, words)) = name.split_once('_').filter(|(n, _)| n.parse::<u32>().is_ok()) {
                cases.push(format!("| T{number} | {} |", words.replace('_', " ")));
            }
        }
    }
    cases.sort();
    assert_eq!(cases.len(), 33, "{cases:#?}");
    cases.splice(..0, ["| case | what the test holds |".to_owned(), "|---|---|".to_owned()]);
    hold_table("docs/otlp.md", "## The cases", &cases);
}

/// The names of the tables and views that are published.
fn published() -> BTreeSet<String> {
    let names = std::fs::read_dir(root().join("schemas")).unwrap().map(|e| e.unwrap().file_name());
    let names = names.filter_map(|name| name.to_str()?.strip_suffix(".json").map(str::to_owned));
    names.filter(|name| name != "config" && name != "suite").collect()
}

fn columns(table: &str) -> Vec<(String, bool)> {
    let schema: Json = serde_json::from_str(&read(format!("schemas/{table}.json"))).unwrap();
    let columns = schema["columns"].as_array().unwrap().iter();
    columns.map(|c| (c["name"].as_str().unwrap().to_owned(), c["nullable"].as_bool().unwrap())).collect()
}

/// The SQL reference has every table and view with every column, in order; of tables with type and documentation as the
/// server tells them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sql_reference_has_every_column() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let told = query(app.addresses.http, "SELECT * FROM table_columns").await;
    app.stop().await.unwrap();
    let text = read("docs/sql.md");
    for table in published() {
        let heading = format!("### {table}");
        // A view's columns are documented where they come from, or by hand.
        let source = table.strip_suffix("_latest").unwrap_or(&table);
        let rows: Vec<&Json> = told.iter().filter(|row| row["table"] == source).collect();
        let part = pages::section(&text, &heading);
        let shown: Vec<&str> = part.lines().filter(|l| l.starts_with("| `")).collect();
        if rows.is_empty() {
            let wanted: Vec<String> = columns(&table).iter().map(|(name, _)| name.clone()).collect();
            let names: Vec<&str> = shown.iter().map(|l| l.split('`').nth(1).unwrap()).collect();
            assert_eq!(names, wanted, "docs/sql.md, {heading}");
            assert!(shown.iter().all(|l| l.split(" | ").count() == 4), "docs/sql.md, {heading}: empty cells");
            continue;
        }
        let mut wanted = vec!["| column | type | NULL | what |".to_owned(), "|---|---|---|---|".to_owned()];
        for (name, nullable) in columns(&table) {
            let row = rows.iter().find(|row| row["column"] == *name);
            let row = row.unwrap_or_else(|| panic!("{table}.{name} is not in table_columns"));
            let null = if nullable { "yes" } else { "no" };
            let (kind, doc) = (row["type"].as_str().unwrap(), row["doc"].as_str().unwrap());
            wanted.push(format!("| `{name}` | {kind} | {null} | {doc} |"));
        }
        hold_table("docs/sql.md", &heading, &wanted);
    }
}

#[test]
fn every_metric_is_documented() {
    let mut wanted = vec!["| metric | kind | what |".to_owned(), "|---|---|---|".to_owned()];
    for metric in METRICS {
        let kind = match metric.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        wanted.push(format!("| `{}` | {kind} | {} |", metric.name, metric.help));
    }
    hold_table("docs/metrics.md", "## Every metric", &wanted);
}

#[test]
fn every_alert_is_documented() {
    let rules = read("dashboards/groundline.rules.yml");
    let alerts: Vec<&str> =
        rules.lines().filter_map(|l| l.trim_start().strip_prefix("- alert: ")).map(str::trim).collect();
    let text = read("docs/metrics.md");
    let table = pages::section(&text, "## Alerts").lines();
    let shown: Vec<&str> = table.filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(shown, alerts);
}

/// Every `section.key` of the example, with the names of the sections.
fn keys() -> BTreeSet<String> {
    fn walk(table: &toml::Table, prefix: &str, keys: &mut BTreeSet<String>) {
        for (key, value) in table {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            let first = value.as_array().and_then(|values| values.first());
            if let Some(table) = value.as_table().or_else(|| first.and_then(toml::Value::as_table)) {
                walk(table, &path, keys);
            }
            keys.insert(path);
        }
    }
    let mut keys = BTreeSet::new();
    walk(&read("groundline.example.toml").parse().unwrap(), "", &mut keys);
    keys
}

/// Metrics and keys of the configuration that a page names are there.
#[test]
fn what_the_documents_name_exists() {
    let keys = keys();
    let sections: BTreeSet<&str> = keys.iter().filter(|k| !k.contains('.')).map(String::as_str).collect();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages::for_users() {
        for word in page.quoted() {
            let metric = word.strip_prefix("groundline_").map(|_| METRICS.iter().any(|m| m.name == word));
            let section = word.split_once('.').filter(|(section, key)| {
                sections.contains(section) && !["md", "rs", "toml", "json"].contains(key)
            });
            let bracketed =
                word.strip_prefix('[').and_then(|w| w.strip_suffix(']')).filter(|w| !w.is_empty());
            let lower = bracketed.filter(|w| w.chars().all(|c| c.is_ascii_lowercase() || ".[]_".contains(c)));
            let known = metric
                .or_else(|| section.map(|_| keys.contains(word.split(' ').next().unwrap())))
                .or_else(|| lower.map(|w| keys.contains(w.trim_matches(['[', ']']))));
            seen += usize::from(known.is_some());
            if known == Some(false) {
                wrong.push(format!("{}: `{word}`", page.path.display()));
            }
        }
    }
    assert!(seen > 40, "only {seen} names: the pages were not read");
    assert!(wrong.is_empty(), "these are no metrics and no keys:\n{}", wrong.join("\n"));
}
