//! The published schemas are what the code says: one JSON file per SQL table and view, and the configuration's schema.
//! `UPDATE_GOLDEN=1` writes them anew.

use groundline::config::Config;
use groundline::lake::TableSnapshot;
use groundline::schema::columns::Table;
use groundline::sql::Sql;
use object_store::memory::InMemory;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;

fn golden(name: &str, now: &Json) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(format!("{name}.json"));
    let text = serde_json::to_string_pretty(now).unwrap() + "\n";
    if std::env::var("UPDATE_GOLDEN").is_ok() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == text,
        "{} is not what the code says; run with UPDATE_GOLDEN=1 and read it",
        path.display()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_as_published() {
    let snapshots = Arc::new(|table: Table| TableSnapshot {
        table,
        schema: table.schema(),
        store: Arc::new(InMemory::new()),
        files: Arc::default(),
        hot: Vec::new(),
    });
    let sql = Sql::new(snapshots, Config::default().sql).unwrap();
    let views = [
        "scores_latest",
        "traces",
        "quality_hourly",
        "quality_by_model",
        "evaluator_quality",
        "evaluation_hourly",
        "evaluation_outcomes",
        "labelled_scores",
        "datasets_latest",
        "dataset_items_latest",
        "experiments_latest",
        "runs_latest",
        "review_queues_latest",
        "queue",
        "watermarks",
    ];
    let names = Table::ALL.iter().map(|t| t.name()).chain(views);
    for name in names {
        let (schema, _) = sql.collect(&format!("SELECT * FROM {name} LIMIT 0")).await.unwrap();
        let columns: Vec<Json> = schema
            .fields()
            .iter()
            .map(
                |f| json!({"name": f.name(), "type": f.data_type().to_string(), "nullable": f.is_nullable()}),
            )
            .collect();
        golden(name, &json!({"table": name, "columns": columns}));
    }
}

/// Columns that users and checks rely on, in `spans` and `scores`.
#[test]
fn the_contracts_columns_are_there() {
    let spans = "trace_id span_id parent_span_id name span_kind start_time duration_ns status_code status_message \
        service_name scope_name resource_attributes attributes events links trace_state flags tenant received_at \
        dialect operation provider request_model response_model system_prompt question answer input_messages \
        output_messages documents tool_calls finish_reasons temperature max_tokens input_tokens output_tokens \
        cache_read_tokens reasoning_tokens cost_usd session_id user_id prompt_name prompt_version error_type";
    let scores = "score_id trace_id span_id span_time evaluated_at service_name request_model tenant rule rule_version \
        evaluator evaluator_version metric value label passed threshold status rationale error inclusion_probability \
        stratum sampling_reason score_version attempt latency_ms judge_model input_tokens output_tokens cost_usd source";
    for (table, names) in [(Table::Spans, spans), (Table::Scores, scores)] {
        for name in names.split_whitespace() {
            assert!(table.schema().column_with_name(name).is_some(), "{}.{name} is missing", table.name());
        }
    }
}

#[test]
fn the_configurations_schema_is_as_published() {
    let schema = schemars::schema_for!(Config);
    golden("config", &serde_json::to_value(schema).unwrap());
}

#[test]
fn suites_are_as_published() {
    golden("suite", &groundline::lab::suite::suite_schema());
}
