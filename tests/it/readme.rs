//! What the README tells a user to type works.

use crate::support::{config, query_raw, start};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queries_of_the_readme_run() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let blocks = include_str!("../../README.md").split("```sql\n").skip(1);
    let queries: Vec<&str> = blocks.map(|block| block.split("```").next().unwrap()).collect();
    assert!(queries.len() >= 5, "the queries were not found");
    for sql in queries {
        let (status, body) = query_raw(app.addresses.http, sql.trim().trim_end_matches(';')).await;
        assert_eq!(status, 200, "{sql}: {body}");
    }
    app.stop().await.unwrap();
}

/// The evaluators of the table are those that exist.
#[test]
fn the_evaluators_of_the_readme_exist() {
    let text = include_str!("../../README.md");
    let table = text.split("## Evaluators").nth(1).unwrap().split("\n## ").next().unwrap();
    let ids: Vec<&str> = table.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(ids, groundline::eval::IDS);
}

/// The README's list of OTLP cases is made of the names of their tests.
#[test]
fn the_otlp_cases_of_the_readme_are_the_tests() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/conformance");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
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
    let table = format!("| case | what the test holds |\n|---|---|\n{}\n", cases.join("\n"));
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&table), "the table of OTLP cases must be:\n{table}");
}
