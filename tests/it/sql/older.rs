//! Files that an older release wrote, which lack a column.

use super::fixture;
use arrow::util::pretty::pretty_format_batches;
use futures::TryStreamExt;
use groundline::net::Scope;
use groundline::schema::columns::Table;
use groundline::sql::{Config, Sql, Work};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn row(id: u8, tenant: Option<&str>) -> Map<String, Value> {
    let row = json!({"trace_id": format!("{id:032x}"), "rule": "r", "decision": "queued", "tenant": tenant});
    row.as_object().cloned().expect("an object")
}

/// `decisions` in three places: a file without the column `tenant`, a file with it, and hot.
async fn sql() -> Sql {
    let mut decisions = fixture::snapshot(Table::Decisions, vec![row(3, Some("a"))]).await;
    let old = fixture::snapshot(Table::Decisions, vec![row(1, None)]).await.hot.remove(0);
    let tenant = old.schema().index_of("tenant").expect("the column");
    let kept: Vec<usize> = (0..old.num_columns()).filter(|at| *at != tenant).collect();
    let old = old.project(&kept).expect("a batch");
    let new = fixture::snapshot(Table::Decisions, vec![row(2, Some("a"))]).await.hot.remove(0);
    let mut files = Vec::new();
    for (name, batch) in [("old", old), ("new", new)] {
        files.push(fixture::file(Table::Decisions, &decisions.store, name, &batch).await);
    }
    decisions.files = Arc::new(files);
    let others = fixture::snapshots().await;
    let snapshots = Arc::new(move |t| if t == Table::Decisions { decisions.clone() } else { others(t) });
    Sql::new(snapshots, Config::default()).expect("the engine")
}

#[tokio::test]
async fn what_they_lack_is_null() {
    let sql = sql().await;
    for (scope, query, expected) in [
        (Scope::All, "SELECT count(*) AS n FROM decisions", "3"),
        (Scope::All, "SELECT max(trace_id) AS n FROM decisions WHERE tenant IS NULL", "1"),
        (Scope::All, "SELECT count(*) AS n FROM decisions WHERE tenant = 'a'", "2"),
        (Scope::All, "SELECT count(*) AS n FROM decisions WHERE tenant <> 'b' AND rule = 'r'", "2"),
        (Scope::All, "SELECT count(*) AS n FROM decisions WHERE tenant IS NULL OR rule = 'x'", "1"),
        (Scope::Tenant("a".into()), "SELECT count(*) AS n FROM decisions", "2"),
        (Scope::Tenant("a".into()), "SELECT count(*) AS n FROM decisions WHERE tenant IS NULL", "0"),
    ] {
        let rows = sql.run("test", &scope, Work::Text(query.to_owned()), None).await.expect(query);
        let rows: Vec<_> = rows.try_collect().await.expect(query);
        let text = pretty_format_batches(&rows).expect("a table").to_string();
        let value = text.lines().nth(3).expect("a row").trim_matches(['|', ' ']).trim_start_matches('0');
        let value = if value.is_empty() { "0" } else { value };
        assert_eq!(value, expected, "{scope:?} {query}\n{text}");
    }
}
