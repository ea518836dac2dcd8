//! The view `traces`: a time filter leaves files unread and changes no row.

use super::fixture;
use super::latest::{HOUR, Random, START, half_a_day, object, over, plan, rows, time};
use arrow::array::RecordBatch;
use futures::TryStreamExt;
use groundline::net::Scope;
use groundline::schema::columns::Table;
use groundline::sql::{Format, Sql, Work, encode};
use serde_json::{Map, Value, json};

/// What the view is, as SQL.
const DEFINITION: &str = include_str!("../../../src/sql/views/traces.sql");

/// Traces of two tenants whose spans lie up to three hours apart, in files by the hour and hot, some twice in two files.
/// The files of the last hours hold less than half of the rows.
fn straddling(random: &mut Random) -> Vec<Map<String, Value>> {
    let mut spans = Vec::new();
    for trace in 0..80i64 {
        let began = START + random.below(9 * HOUR);
        for span in 0..1 + random.below(5) {
            let start = if span == 0 { began } else { began + random.below(3 * HOUR) };
            let nanos = start * 1_000_000_000 + random.below(1_000_000_000);
            let parent = (span > 0).then(|| format!("s{}", random.below(span)));
            let file = match random.below(12) {
                0 => "hot".to_owned(),
                _ => format!("hour{:02}", (start - START) / HOUR),
            };
            spans.push(object(json!({
                "_in": file, "trace_id": format!("t{}", trace / 2), "span_id": format!("s{span}"),
                "tenant": (["a", "b"][(trace % 2) as usize]), "parent_span_id": parent, "name": format!("n{span}"),
                "operation": (["llm", "chain"][random.below(2) as usize]), "start_time_unix_nano": nanos,
                "duration_ns": random.below(2 * HOUR) * 1_000_000_000, "question": format!("q{}", random.below(50)),
                "answer": format!("a{}", random.below(50)), "input_tokens": random.below(100),
            })));
        }
    }
    spans
}

async fn csv(sql: &Sql, scope: &Scope, statement: &str) -> String {
    let stream = sql.run("test", scope, Work::Text(statement.to_owned()), None).await;
    let stream = stream.unwrap_or_else(|e| panic!("{statement}: {e}"));
    let schema = stream.schema();
    let batches: Vec<RecordBatch> = stream.try_collect().await.expect(statement);
    String::from_utf8(encode(Format::Csv, &schema, &batches, usize::MAX).expect("CSV")).expect("UTF-8")
}

#[tokio::test]
async fn a_time_filter_changes_no_row() {
    let (mut seen, mut halved) = (0, 0);
    for seed in 0..3 {
        let sql = over(vec![fixture::snapshot(Table::Spans, straddling(&mut Random(seed))).await]).await;
        for filter in [
            "true".to_owned(),
            format!("start_time >= '{}'", time(START + 8 * HOUR)),
            format!("start_time < '{}'", time(START + HOUR)),
            format!(
                "'{}' < start_time AND start_time <= '{}'",
                time(START + 3 * HOUR),
                time(START + 4 * HOUR)
            ),
            format!("start_time BETWEEN '{}' AND '{}'", time(START + HOUR), time(START + 3 * HOUR)),
            format!("date_trunc('hour', start_time) = '{}'", time(START + 5 * HOUR)),
            format!("end_time >= '{}'", time(START + 11 * HOUR)),
            format!("end_time < '{}'", time(START + HOUR)),
            format!("start_time > '{}' AND end_time < '{}'", time(START + HOUR), time(START + 4 * HOUR)),
            format!("start_time > '{}' OR spans > 3", time(START + 8 * HOUR)),
            format!("start_time > '{}' AND trace_id LIKE 't1%'", time(START + 7 * HOUR)),
            format!("start_time > '{}' AND start_time < '{}'", time(START + 2 * HOUR), time(START + HOUR)),
            "start_time > now()".to_owned(),
        ] {
            for scope in [Scope::All, Scope::Tenant("a".into())] {
                let rest = format!("WHERE {filter} ORDER BY tenant, trace_id");
                let view = csv(&sql, &scope, &format!("SELECT * FROM traces {rest}")).await;
                let meant = csv(&sql, &scope, &format!("SELECT * FROM ({DEFINITION}) {rest}")).await;
                assert_eq!(view, meant, "seed {seed}, {scope:?}: {filter}");
                seen += view.lines().count() - 1;
            }
            let explained = plan(&sql, "EXPLAIN", &format!("SELECT * FROM traces WHERE {filter}")).await;
            halved += usize::from(explained.contains("RightSemi"));
        }
    }
    assert!(seen > 600, "{seen} rows prove little");
    assert!(halved >= 15, "{halved} of the plans have two passes");
}

#[tokio::test]
async fn the_view_can_be_used_as_any() {
    let sql = over(vec![fixture::snapshot(Table::Spans, straddling(&mut Random(9))).await]).await;
    let late = format!("start_time >= '{}'", time(START + 8 * HOUR));
    let count = |statement: String| {
        let sql = &sql;
        async move { csv(sql, &Scope::All, &statement).await.lines().nth(1).expect("a row").to_owned() }
    };
    assert_eq!(count("SELECT count(*) FROM traces".to_owned()).await, "80");
    let some = count(format!("SELECT count(*) FROM traces t WHERE t.{late}")).await;
    assert!(some != "0" && some != "80", "{some}");
    for statement in [
        format!("WITH x AS (SELECT * FROM traces) SELECT count(*) FROM x WHERE {late}"),
        format!("SELECT count(*) FROM traces a JOIN traces b USING (tenant, trace_id) WHERE a.{late}"),
        format!(
            "SELECT sum(1) FROM traces WHERE EXISTS (SELECT 1 FROM spans s WHERE s.tenant = traces.tenant AND s.trace_id = traces.trace_id) AND {late}"
        ),
        format!("SELECT sum(n) FROM (SELECT name, count(*) AS n FROM traces WHERE {late} GROUP BY 1)"),
    ] {
        assert_eq!(count(statement.clone()).await, some, "{statement}");
    }
    let keyed = "SELECT name, spans FROM traces GROUP BY tenant, trace_id, name, spans ORDER BY tenant, trace_id LIMIT 1";
    assert_eq!(csv(&sql, &Scope::All, keyed).await.lines().count(), 2);
}

/// The files of other hours give their ids (and their times, where ends are asked for); prompts and answers are read of the
/// last hour alone.
#[tokio::test]
async fn a_time_filter_reaches_the_files() {
    let (tables, [_, spans], _) = half_a_day().await;
    let sql = over(tables).await;
    assert_eq!(rows(&sql, &Scope::All, "SELECT * FROM traces").await, 12 * 400);
    let whole: u64 = spans.take().values().sum();
    let last = time(START + 11 * HOUR);
    for scope in [Scope::All, Scope::Tenant("a".into())] {
        for (statement, expected) in [
            (format!("SELECT * FROM traces WHERE start_time >= '{last}'"), 400),
            (format!("SELECT * FROM traces WHERE date_trunc('hour', start_time) = '{last}'"), 400),
            (format!("SELECT * FROM traces WHERE end_time >= '{last}'"), 400),
            (
                format!(
                    "SELECT * FROM traces WHERE start_time >= '{last}' ORDER BY start_time DESC LIMIT 20"
                ),
                20,
            ),
        ] {
            assert_eq!(rows(&sql, &scope, &statement).await, expected, "{statement}");
            let read = spans.take();
            let bytes: u64 = read.values().sum();
            let share = if statement.contains("end_time >=") { 3 } else { 4 };
            assert!(bytes < whole / share, "{scope:?}: {statement} read {bytes} of {whole} bytes: {read:?}");
            let other = read.iter().filter(|(file, _)| *file != "spans11.parquet").map(|(_, bytes)| bytes);
            let most = other.max().copied().unwrap_or_default();
            assert!(most < whole / 12 / 3, "{scope:?}: {statement} read {most} bytes of one other file");
        }
    }
}

#[tokio::test]
async fn the_first_pass_has_the_files_of_its_time_alone() {
    let (tables, ..) = half_a_day().await;
    let sql = over(tables).await;
    let last = time(START + 11 * HOUR);
    let text = plan(&sql, "EXPLAIN", &format!("SELECT * FROM traces WHERE start_time >= '{last}'")).await;
    assert_eq!(
        text.matches("join_type=RightSemi").count(),
        2,
        "spans, and which of them have model calls: {text}"
    );
    let sources: Vec<&str> = text.lines().filter(|line| line.contains("file_type=parquet")).collect();
    let (first, second): (Vec<&str>, Vec<&str>) = sources
        .iter()
        .partition(|line| line.contains("spans11.parquet") && !line.contains("spans00.parquet"));
    assert_eq!((first.len(), second.len()), (2, 2), "{text}");
    assert!(first.iter().all(|line| line.contains("projection=[trace_id")), "{text}");
    assert!(second.iter().all(|line| line.contains("DynamicFilter")), "what was found goes down: {text}");
    // Most of the day, all of it, or one trace: one pass.
    for filter in [format!("start_time < '{last}'"), "true".to_owned(), "trace_id = 'x'".to_owned()] {
        let text = plan(&sql, "EXPLAIN", &format!("SELECT * FROM traces WHERE {filter}")).await;
        assert!(!text.contains("RightSemi"), "{filter}: {text}");
    }
}

#[tokio::test]
async fn one_absurd_trace_does_not_fail_the_others() {
    let span = |trace: &str, span: &str, tokens: i64| {
        object(json!({
            "trace_id": trace, "span_id": span, "tenant": "a", "name": "n", "operation": "llm",
            "start_time_unix_nano": START * 1_000_000_000, "duration_ns": 1, "output_tokens": tokens,
        }))
    };
    let spans = vec![span("t1", "s1", i64::MAX), span("t1", "s2", 1), span("t2", "s1", 5)];
    let sql = over(vec![fixture::snapshot(Table::Spans, spans).await]).await;
    let all =
        csv(&sql, &Scope::All, "SELECT trace_id, output_tokens FROM traces ORDER BY output_tokens").await;
    assert_eq!(all.lines().skip(1).collect::<Vec<_>>(), ["t2,5", "t1,9223372036854775807"]);
    let why = sql.collect("SELECT sum(output_tokens) FROM traces").await.unwrap_err().to_string();
    assert!(why.contains("bigint out of range"), "{why}");
}
