//! A query with a tenant's token sees that tenant's rows and nothing else, whatever it says.

use super::fixture;
use arrow::util::pretty::pretty_format_batches;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use futures::TryStreamExt;
use groundline::net::Scope;
use groundline::schema::columns::Table;
use groundline::sql::{Sql, SqlError, Work};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// What only the other tenant's rows have.
pub const SECRET: &str = "SECRET";

fn rows(table: Table) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    for (at, place) in ["one", "one", "two", "hot"].into_iter().enumerate() {
        for tenant in ["a", "b"] {
            let word = if tenant == "a" { "plain".to_owned() } else { format!("{SECRET} {at}") };
            let trace = format!("{:032x}", at * 16 + usize::from(tenant == "b") + 1);
            let row = match table {
                Table::Spans => json!({"trace_id": trace, "span_id": "00f067aa0ba902b7", "tenant": tenant,
                    "name": word, "answer": word, "question": word, "service_name": word, "operation": "llm",
                    "start_time_unix_nano": 1_767_225_600_000_000_000_i64 + at as i64, "input_tokens": 1}),
                Table::Scores => json!({"score_id": format!("{trace}{tenant}"), "trace_id": trace,
                    "tenant": tenant, "metric": word, "evaluator": word, "status": "ok", "passed": true,
                    "value": 1.0, "rationale": word, "score_version": 1, "source": "rule"}),
                Table::Decisions => {
                    json!({"trace_id": trace, "rule": word, "decision": "queued", "tenant": tenant})
                }
                Table::Annotations => json!({"annotation_id": trace, "trace_id": trace, "name": word,
                    "comment": word, "tenant": tenant}),
                Table::Alerts => json!({"alert": SECRET, "state": "ok"}),
                Table::LogRecords => json!({"tenant": tenant, "body": word, "trace_id": trace}),
                Table::ReviewItems => json!({"item": word, "draw": word, "metric": word, "trace_id": trace,
                    "tenant": tenant}),
                Table::ReviewAnswers => json!({"answer_id": word, "item": word, "trace_id": trace,
                    "reviewer": word, "comment": word, "tenant": tenant}),
                Table::Datasets => {
                    json!({"dataset_id": format!("set of {tenant}"), "version": at, "name": "set",
                    "description": word, "tenant": tenant})
                }
                Table::DatasetItems => json!({"dataset_id": format!("set of {tenant}"), "item_id": trace,
                    "version": at, "op": "put", "input": word, "tenant": tenant}),
                Table::Experiments => json!({"experiment_id": trace, "name": word, "tenant": tenant}),
                Table::Runs => json!({"run_id": trace, "experiment_id": trace, "item_id": trace,
                    "output": word, "tenant": tenant}),
                Table::Suites => json!({"suite_id": trace, "revision": 1, "name": word, "tenant": tenant}),
                Table::SuiteTests => {
                    json!({"suite_id": trace, "revision": 1, "test_id": trace, "input": word,
                    "tenant": tenant})
                }
                Table::SuiteChecks => json!({"suite_id": trace, "revision": 1, "criteria": word,
                    "tenant": tenant}),
                Table::CheckResults => json!({"run_id": trace, "experiment_id": trace, "item_id": trace,
                    "feedback": word, "tenant": tenant}),
                Table::ReviewQueues => json!({"queue_id": trace, "name": word, "tenant": tenant}),
            };
            let mut row = row.as_object().expect("an object").clone();
            row.insert("_in".to_owned(), json!(place));
            rows.push(row);
        }
    }
    rows
}

/// The engine over rows of two tenants.
pub async fn sql() -> Arc<Sql> {
    let mut tables = HashMap::new();
    for table in Table::ALL {
        tables.insert(table, fixture::snapshot(table, rows(table)).await);
    }
    let snapshots = Arc::new(move |table| tables[&table].clone());
    Arc::new(Sql::new(snapshots, groundline::sql::Config::default()).expect("the engine"))
}

async fn ask(sql: &Sql, tenant: &str, work: Work) -> Result<String, SqlError> {
    let scope = Scope::Tenant(tenant.into());
    let rows: Vec<_> = sql.run("http", &scope, work, None).await?.try_collect().await?;
    Ok(pretty_format_batches(&rows).expect("a table").to_string())
}

async fn said(sql: &Sql, tenant: &str, query: &str) -> String {
    match ask(sql, tenant, Work::Text(query.to_owned())).await {
        Ok(text) => text,
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn every_table_and_view_is_cut() {
    let sql = sql().await;
    let views = [
        "scores_latest",
        "traces",
        "quality_hourly",
        "quality_by_model",
        "evaluator_quality",
        "evaluation_hourly",
        "evaluation_outcomes",
        "datasets_latest",
        "dataset_items_latest",
        "experiments_latest",
        "runs_latest",
        "review_queues_latest",
        "dataset_at('set')",
    ];
    let names = Table::ALL.iter().map(|t| t.name()).chain(views);
    for name in names {
        let text = said(&sql, "a", &format!("SELECT * FROM {name}")).await;
        assert!(!text.contains(SECRET), "{name}:\n{text}");
        let everything = sql.collect(&format!("SELECT * FROM {name}")).await.expect(name).1;
        let everything = pretty_format_batches(&everything).expect("a table").to_string();
        assert!(everything.contains(SECRET) || name == "traces", "{name}: the test's rows are not there");
    }
    for name in ["spans", "scores", "decisions", "annotations", "log_records", "scores_latest", "traces"] {
        for (tenant, rows) in [("a", "| 4 "), ("b", "| 4 "), ("", "| 0 "), ("nobody", "| 0 ")] {
            let text = said(&sql, tenant, &format!("SELECT count(*) AS n FROM {name}")).await;
            assert!(text.contains(rows), "{name} for {tenant:?}:\n{text}");
        }
    }
    // Alerts are about everybody's traffic and belong to nobody.
    assert!(said(&sql, "a", "SELECT count(*) AS n FROM alerts").await.contains("| 0 "));
}

/// Whoever sees everything sees two traces where two tenants chose one id.
#[tokio::test]
async fn a_trace_id_of_two_tenants_is_two_traces() {
    let trace = "a".repeat(32);
    // The span of one is, by its id, the parent of the other's.
    let spans = [("a", "00f067aa0ba902b7", None, 10), ("b", "00f067aa0ba902b8", Some("00f067aa0ba902b7"), 5)];
    let row = |(tenant, span, parent, tokens): (&str, &str, Option<&str>, i64)| {
        let row = json!({"trace_id": trace, "span_id": span, "parent_span_id": parent, "tenant": tenant,
            "name": tenant, "question": tenant, "operation": "llm", "input_tokens": tokens,
            "start_time_unix_nano": 1_767_225_600_000_000_000_i64});
        row.as_object().cloned().expect("an object")
    };
    let spans = fixture::snapshot(Table::Spans, spans.into_iter().map(row).collect()).await;
    let others = fixture::snapshots().await;
    let snapshots = Arc::new(move |table| if table == Table::Spans { spans.clone() } else { others(table) });
    let sql = Sql::new(snapshots, groundline::sql::Config::default()).expect("the engine");
    let query = "SELECT tenant, name, question, spans, llm_calls, input_tokens FROM traces ORDER BY tenant";
    let (_, found) = sql.collect(query).await.expect(query);
    let found = pretty_format_batches(&found).expect("a table").to_string();
    let cells = |line: &str| line.split('|').map(str::trim).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = found.lines().skip(3).map(cells).filter(|line| !line.starts_with('+')).collect();
    assert_eq!(lines, [" a a a 1 1 10 ", " b b b 1 1 5 "], "{found}");
}

/// Each of these told another tenant's rows to somebody, in some system.
#[tokio::test]
async fn no_query_gets_around_it() {
    let sql = sql().await;
    let b = format!("{:032x}", 2);
    for query in [
        "SELECT * FROM spans WHERE tenant = 'b'".to_owned(),
        "SELECT * FROM spans WHERE tenant = 'a' OR true".to_owned(),
        format!("SELECT * FROM spans WHERE trace_id = '{b}'"),
        format!("SELECT answer FROM spans WHERE '{b}' = trace_id OR trace_id = '{b}'"),
        "SELECT min(answer), max(answer), array_agg(answer) FROM spans".to_owned(),
        "SELECT answer FROM spans ORDER BY answer DESC LIMIT 1".to_owned(),
        "SELECT answer FROM spans OFFSET 1".to_owned(),
        "SELECT answer FROM spans UNION ALL SELECT rationale FROM scores".to_owned(),
        "SELECT (SELECT max(answer) FROM spans) AS x".to_owned(),
        "SELECT * FROM traces t WHERE EXISTS (SELECT 1 FROM spans s WHERE s.tenant <> t.tenant)".to_owned(),
        "WITH s AS (SELECT * FROM spans) SELECT a.answer, b.answer FROM s a CROSS JOIN s b".to_owned(),
        "SELECT b.answer FROM scores a JOIN spans b ON a.trace_id <> b.trace_id".to_owned(),
        "SELECT b.answer FROM scores a RIGHT JOIN spans b USING (trace_id)".to_owned(),
        "SELECT first_value(answer) OVER (ORDER BY answer DESC) FROM spans".to_owned(),
        "SELECT quality_rate(passed, inclusion_probability), max(metric) FROM scores GROUP BY metric"
            .to_owned(),
        "SELECT * FROM groundline.public.spans".to_owned(),
        "SELECT * FROM information_schema.columns".to_owned(),
        "SELECT * FROM pg_catalog.pg_class".to_owned(),
        "SELECT * FROM table_columns".to_owned(),
        "SHOW TABLES".to_owned(),
        "DESCRIBE spans".to_owned(),
        // An error about a row tells the row, if the row is looked at before it is cut.
        "SELECT CAST(answer AS INT) FROM spans".to_owned(),
        "SELECT 1 FROM spans WHERE CAST(answer AS INT) = 1".to_owned(),
        "SELECT 1 FROM spans WHERE tenant = 'b' AND CAST(answer AS INT) = 1".to_owned(),
        "SELECT 1 FROM spans WHERE arrow_cast(answer, 'Int32') = 1 ORDER BY 1 LIMIT 1".to_owned(),
        "SELECT 1 FROM spans ORDER BY CAST(answer AS INT) LIMIT 1".to_owned(),
        "SELECT count(*) FROM spans GROUP BY CAST(answer AS TIMESTAMP)".to_owned(),
        "SELECT 1 FROM spans WHERE to_timestamp(answer) > now()".to_owned(),
        "SELECT 1 FROM spans WHERE regexp_like(answer, answer || '(')".to_owned(),
        "SELECT 1 FROM scores JOIN spans ON CAST(spans.answer AS INT) = scores.score_version".to_owned(),
    ] {
        let text = said(&sql, "a", &query).await;
        assert!(!text.contains(SECRET), "{query}:\n{text}");
    }
    // The same errors about rows of its own are told, so the queries above do look at rows.
    assert!(said(&sql, "b", "SELECT CAST(answer AS INT) FROM spans").await.contains(SECRET));
    for query in
        ["EXPLAIN SELECT * FROM spans", "EXPLAIN ANALYZE SELECT * FROM spans", "EXPLAIN VERBOSE SELECT 1"]
    {
        let text = said(&sql, "a", query).await;
        assert!(text.contains("EXPLAIN is refused"), "{query}:\n{text}");
        sql.collect(query).await.expect("whoever sees everything may see plans");
    }
    let json = Parser::parse_sql(&PostgreSqlDialect {}, "EXPLAIN (FORMAT JSON) SELECT * FROM spans");
    let json = json.unwrap().remove(0);
    for (scope, is_refused) in [(Scope::Tenant("a".into()), true), (Scope::All, false)] {
        let told = sql.run("test", &scope, Work::Parsed(Box::new(json.clone())), None).await;
        let refused = told.is_err_and(|why| why.to_string().contains("EXPLAIN is refused"));
        assert_eq!(refused, is_refused, "{scope:?}");
    }
}

#[tokio::test]
async fn numbers_do_not_count_others_and_files_are_still_pruned() {
    let sql = sql().await;
    for (query, expected) in [
        ("SELECT count(*) AS n FROM spans", "| 4 "),
        ("SELECT count(*) AS n FROM spans WHERE answer = 'plain'", "| 4 "),
        ("SELECT sum(input_tokens) AS n FROM spans", "| 4 "),
        ("SELECT count(*) AS n FROM (SELECT * FROM spans LIMIT 3)", "| 3 "),
        ("SELECT count(*) AS n FROM spans WHERE start_time > '2026-01-01T00:00:00.000000000Z'", "| 3 "),
        (
            "SELECT count(DISTINCT trace_id) AS n FROM spans WHERE input_tokens >= 1 AND 2 > input_tokens",
            "| 4 ",
        ),
    ] {
        let text = said(&sql, "a", query).await;
        assert!(text.contains(expected), "{query}:\n{text}");
    }
    let own = format!("{:032x}", 33);
    let text = said(&sql, "a", &format!("SELECT count(*) AS n FROM spans WHERE trace_id = '{own}'")).await;
    assert!(text.contains("| 1 "), "{text}");
}

/// A plan that was made before is run with the scope of whoever runs it.
#[tokio::test]
async fn a_prepared_plan_is_cut_too() {
    use datafusion::sql::sqlparser::{dialect::PostgreSqlDialect, parser::Parser};
    let sql = sql().await;
    let query = "SELECT answer FROM spans UNION ALL SELECT name FROM annotations";
    let statement = Parser::parse_sql(&PostgreSqlDialect {}, query).expect("SQL").remove(0);
    let plan = sql.prepare(statement).await.expect("a plan");
    let text = ask(&sql, "a", Work::Plan(Box::new(plan.clone()))).await.expect("rows");
    assert!(text.contains("plain") && !text.contains(SECRET), "{text}");
    assert!(ask(&sql, "b", Work::Plan(Box::new(plan))).await.expect("rows").contains(SECRET));
}
