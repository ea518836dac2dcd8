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
    assert_eq!(ids, groundline::score::IDS);
}
