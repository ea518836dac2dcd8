//! The console's statements run: with rows, without, and whatever stands in their parameters.

use super::client::ask;
use crate::support::{config, send, settled, span, start, text};
use groundline::app::App;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Every `console/sql/C*.sql` by its name; none where the console has none yet.
fn statements() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("console/sql");
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let found = paths.filter(|path| path.extension().is_some_and(|e| e == "sql"));
    found
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The statement with `$1` … for its names, as the console sends it, and the names in order. `$where`, `$order` and `$ids` are text of the query.
fn bound(text: &str, filter: &str) -> (String, Vec<String>) {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("--")).collect();
    let text = lines.join("\n");
    let mut parts = text.trim().trim_end_matches(';').split('$');
    let (mut query, mut names) = (parts.next().unwrap().to_owned(), Vec::<String>::new());
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '_')).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        // These three are text of the statement: the console checks or makes them.
        let plain = match name {
            "where" => Some(filter),
            "order" => Some("value DESC"),
            "ids" => Some("'aaaaaaaaaaaaaaaa0000000000000001'"),
            _ => None,
        };
        if let Some(plain) = plain {
            query.push_str(plain);
        } else {
            let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            query.push_str(&format!("${}", at + 1));
        }
        query.push_str(rest);
    }
    (query, names)
}

/// A value that fits the name.
fn fitting(name: &str) -> Json {
    match name {
        "from" => json!("2020-01-01T00:00:00Z"),
        "before" | "since" => json!("2019-01-01T00:00:00Z"),
        "to" | "t" => json!("2100-01-01T00:00:00Z"),
        "low" | "trial" => json!(0.0),
        "high" => json!(1.0),
        "up" => json!(true),
        "chosen" => json!(""),
        "step" => json!("1 hour"),
        "id" => json!(format!("{}{:016x}", "aa".repeat(8), 1)),
        "span" | "s" => json!("0000000000000002"),
        "metric" | "evaluator" => json!("pii_leakage"),
        _ => json!("some"),
    }
}

/// The metrics that the small multiples (C1b) show, where `chosen` are chosen as the console writes them.
async fn shown(app: &App, chosen: &str) -> BTreeSet<String> {
    let (query, names) = bound(&statements()["C1b"], "true");
    let value = |name: &String| if name == "chosen" { json!(chosen) } else { fitting(name) };
    let params: Vec<Json> = names.iter().map(value).collect();
    let (status, answer) = ask(app.addresses.http, &query, json!(params)).await;
    assert_eq!(status, 200, "{answer}");
    let metrics = answer["data"][1].as_array().unwrap().iter();
    metrics.map(|metric| metric.as_str().unwrap().to_owned()).collect()
}

/// Runs all of them; how many rows came.
async fn run(app: &App, filter: &str, value: impl Fn(&str) -> Json, fine: &[u16]) -> u64 {
    let mut rows = 0;
    for (name, text) in statements() {
        let (query, names) = bound(&text, filter);
        let params: Vec<Json> = names.iter().map(|name| value(name)).collect();
        let (status, answer) = ask(app.addresses.http, &query, json!(params)).await;
        assert!(fine.contains(&status), "{name} {params:?}: {status} {answer}\n{query}");
        rows += answer["rows"].as_u64().unwrap_or_default();
    }
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_consoles_statements_run() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    run(&app, "true", fitting, &[200]).await;
    let message = r#"[{"role":"assistant","parts":[{"type":"text","content":"All is well here."}]}]"#;
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.output.messages", message),
        text("session.id", "some"),
    ];
    assert!(send(app.addresses.otlp_http, vec![span(1, 1, attributes)]).await);
    settled(&app).await;
    let rows = run(&app, "service_name = 'shop'", fitting, &[200]).await;
    assert!(statements().is_empty() || rows > 10, "only {rows} rows");
    if statements().contains_key("C1b") {
        assert!(shown(&app, "").await.len() > 2);
        let two = shown(&app, ",pii_leakage,unique_sentences,").await;
        assert_eq!(two, BTreeSet::from(["pii_leakage", "unique_sentences"].map(str::to_owned)));
        // What is a part of names is none.
        assert_eq!(shown(&app, ",leakage,unique,").await, BTreeSet::new());
    }
    for hostile in ["' OR 1=1; --", "$1", "\u{0}", "", "NaN", "9999999999999999999999"] {
        run(&app, "true", |_| json!(hostile), &[200, 400]).await;
    }
    for hostile in [json!(null), json!(true), json!(-1), json!(1e308)] {
        run(&app, "true", |_| hostile.clone(), &[200, 400]).await;
    }
    let (_, left) = ask(app.addresses.http, "SELECT count(*) FROM spans", json!([])).await;
    assert_eq!(left["data"], json!([[1]]));
    app.stop().await.unwrap();
}
