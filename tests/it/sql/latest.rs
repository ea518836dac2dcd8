//! `scores_latest` and what is built on it: the newest version wins under every filter, and a time filter reaches the files.

use super::fixture;
use arrow::array::{AsArray, RecordBatch};
use async_trait::async_trait;
use chrono::DateTime;

use futures::TryStreamExt;
use futures::stream::BoxStream;
use groundline::lake::TableSnapshot;
use groundline::net::Scope;
use groundline::schema::columns::Table;
use groundline::sql::{Config, Format, Sql, Work, encode};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// What the view is, as SQL.
const DEFINITION: &str = include_str!("../../../src/sql/views/scores_latest.sql");

pub(super) const HOUR: i64 = 3_600;
/// 2026-01-01T00:00:00Z.
pub(super) const START: i64 = 1_767_225_600;

/// A SplitMix64 generator: the same numbers in every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: i64) -> i64 {
        (self.next() % end.unsigned_abs()) as i64
    }
}

pub(super) fn time(seconds: i64) -> String {
    DateTime::from_timestamp(seconds, 0).expect("a time").format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(super) fn object(row: Value) -> Map<String, Value> {
    row.as_object().cloned().expect("an object")
}

pub(super) async fn over(tables: Vec<TableSnapshot>) -> Sql {
    let tables: std::collections::HashMap<Table, TableSnapshot> =
        tables.into_iter().map(|t| (t.table, t)).collect();
    let others = fixture::snapshots().await;
    let snapshots = Arc::new(move |t| tables.get(&t).cloned().unwrap_or_else(|| others(t)));
    Sql::new(snapshots, Config::default()).expect("the engine")
}

pub(super) async fn csv(sql: &Sql, statement: &str) -> String {
    let (schema, batches) = sql.collect(statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
    String::from_utf8(encode(Format::Csv, &schema, &batches, usize::MAX).expect("CSV")).expect("UTF-8")
}

/// Scores of production and others, of two tenants, in several versions, some of them twice, in files and hot.
fn versions(random: &mut Random) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    for item in 0..120i64 {
        let began = START + random.below(4 * HOUR);
        let source = if item % 7 == 0 { "ingested" } else { "rule" };
        let mut evaluated = began;
        for version in 1..=1 + random.below(3) {
            for _ in 0..=random.below(2) {
                evaluated += 1 + random.below(HOUR);
                rows.push(object(json!({
                    "_in": (["one", "two", "hot"][random.below(3) as usize]),
                    "score_id": format!("{item}/{version}"), "trace_id": format!("t{}", item / 3),
                    "span_id": format!("s{}", item % 3), "tenant": (if item % 2 == 0 { "a" } else { "b" }),
                    "span_time": time(began), "evaluated_at": time(evaluated), "score_version": version,
                    "rule": (["r1", "r2"][(item % 2) as usize]), "evaluator": "e", "metric": format!("m{}", item % 2),
                    "status": "ok", "value": random.below(1_000) as f64, "passed": random.below(2) == 0,
                    "service_name": format!("v{version}"), "source": source,
                })));
            }
        }
    }
    rows
}

#[tokio::test]
async fn the_newest_version_wins_under_every_filter() {
    for seed in 0..4 {
        let rows = versions(&mut Random(seed));
        let sql = over(vec![fixture::snapshot(Table::Scores, rows).await]).await;
        let mut seen = 0;
        for filter in [
            "true".to_owned(),
            format!("span_time >= '{}'", time(START + 2 * HOUR)),
            format!("span_time < '{}'", time(START + HOUR)),
            format!("evaluated_at >= '{}'", time(START + 3 * HOUR)),
            format!("'{}' > evaluated_at", time(START + 3 * HOUR)),
            format!("evaluated_at BETWEEN '{}' AND '{}'", time(START + HOUR), time(START + 3 * HOUR)),
            format!("date_trunc('hour', span_time) = '{}'", time(START + HOUR)),
            format!("evaluated_at > '{}' OR passed", time(START + 3 * HOUR)),
            "tenant = 'a' AND metric IN ('m0', 'm1') AND passed".to_owned(),
            "trace_id = 't7' OR trace_id LIKE 't1%'".to_owned(),
            "service_name = 'v1'".to_owned(),
            "score_version = 2".to_owned(),
            "source = 'ingested'".to_owned(),
        ] {
            let rest = format!(
                "WHERE {filter} ORDER BY tenant, trace_id, span_id, rule, evaluator, metric, evaluated_at"
            );
            let view = csv(&sql, &format!("SELECT * FROM scores_latest {rest}")).await;
            let meant = csv(&sql, &format!("SELECT * FROM ({DEFINITION}) {rest}")).await;
            assert_eq!(view, meant, "seed {seed}: {filter}");
            seen += view.lines().count() - 1;
        }
        assert!(seen > 500, "{seen} rows prove little");
    }
}

/// Two servers judged a half each of one trace, under one id.
#[tokio::test]
async fn a_score_id_has_one_row_whatever_is_asked() {
    let half = |span: &str, began: i64, evaluated: i64| {
        object(
            json!({"_in": span, "score_id": "x", "trace_id": "t", "span_id": span, "tenant": "a", "rule": "r",
            "span_time": time(START + began), "evaluated_at": time(START + evaluated), "evaluator": "e",
            "metric": "m", "status": "ok", "value": 0.5, "score_version": 1, "source": "rule"}),
        )
    };
    let rows = vec![half("one", 10, 200), half("two", 20, 100), half("hot", 15, 150)];
    let sql = over(vec![fixture::snapshot(Table::Scores, rows).await]).await;
    assert_eq!(csv(&sql, "SELECT span_id FROM scores_latest").await, "span_id\none\n");
    for filter in
        ["tenant = 'a'", "span_time > '2026-01-01T00:00:12Z'", "evaluated_at > '2026-01-01T00:02:00Z'"]
    {
        let rows = csv(&sql, &format!("SELECT score_id FROM scores_latest WHERE {filter}")).await;
        assert_eq!(rows, "score_id\nx\n", "{filter}");
    }
}

/// Counts what is read of each file.
#[derive(Debug)]
pub(super) struct Counted {
    inner: Arc<dyn ObjectStore>,
    read: Mutex<std::collections::BTreeMap<String, u64>>,
}

impl Counted {
    /// Of each file that was read since the last time, the bytes.
    pub(super) fn take(&self) -> std::collections::BTreeMap<String, u64> {
        std::mem::take(&mut self.read.lock().expect("a lock"))
    }
}

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("counted")
    }
}

#[async_trait]
impl ObjectStore for Counted {
    async fn put_opts(&self, at: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(at, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        let got = self.inner.get_opts(at, options).await?;
        let bytes = got.range.end - got.range.start;
        *self
            .read
            .lock()
            .expect("a lock")
            .entry(at.filename().unwrap_or_default().to_owned())
            .or_default() += bytes;
        Ok(got)
    }

    fn delete_stream(&self, at: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(at)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// Twelve hours, a file each of 400 rows with text that cannot be compressed. A trace has a span and four scores, each of
/// which came half an hour after it.
pub(super) async fn half_a_day() -> (Vec<TableSnapshot>, [Arc<Counted>; 2], u64) {
    let mut random = Random(7);
    let (mut scores, mut spans) = (Vec::new(), Vec::new());
    for hour in 0..12i64 {
        for n in 0..400i64 {
            let trace = format!("{:016x}{:016x}", random.next(), random.next());
            let text: String = (0..25).map(|_| format!("{:016x}", random.next())).collect();
            let began = START + hour * HOUR + n * 4;
            spans.push(object(json!({"_in": format!("spans{hour:02}"), "trace_id": trace, "tenant": "a",
                "span_id": format!("{n:016x}"), "name": "chat", "operation": "llm", "question": text,
                "answer": text, "start_time_unix_nano": began * 1_000_000_000})));
            for metric in 0..4 {
                scores.push(object(
                    json!({"_in": format!("scores{hour:02}"), "score_id": format!("{trace}{metric}"),
                    "trace_id": trace, "span_id": format!("{n:016x}"), "tenant": "a", "rule": "r",
                    "span_time": time(began), "evaluated_at": time(began + HOUR / 2), "evaluator": "e",
                    "metric": format!("m{metric}"), "status": "ok", "passed": true, "value": 0.5,
                    "rationale": text, "score_version": 1, "source": "rule", "service_name": "shop",
                    "request_model": "gpt-x"}),
                ));
            }
        }
    }
    let tables =
        [fixture::snapshot(Table::Scores, scores).await, fixture::snapshot(Table::Spans, spans).await];
    let all = tables[0].files.iter().map(|file| file.bytes).sum();
    let stores = tables
        .each_ref()
        .map(|table| Arc::new(Counted { inner: table.store.clone(), read: Mutex::default() }));
    let tables =
        tables.into_iter().zip(&stores).map(|(table, store)| TableSnapshot { store: store.clone(), ..table });
    (tables.collect(), stores.clone(), all)
}

pub(super) async fn rows(sql: &Sql, scope: &Scope, statement: &str) -> usize {
    let stream = sql.run("test", scope, Work::Text(statement.to_owned()), None).await;
    let batches: Vec<RecordBatch> = stream.expect(statement).try_collect().await.expect(statement);
    batches.iter().map(RecordBatch::num_rows).sum()
}

#[tokio::test]
async fn a_time_filter_reaches_the_files() {
    let (tables, [scores, _], all) = half_a_day().await;
    let sql = over(tables).await;
    let (last, noon) = (time(START + 11 * HOUR), time(START + 12 * HOUR));
    let everything = "SELECT * FROM scores_latest";
    assert_eq!(rows(&sql, &Scope::All, everything).await, 12 * 400 * 4);
    let whole: u64 = scores.take().values().sum();
    assert!(whole > all * 9 / 10, "{whole} of {all}");
    for (scope, statement, expected) in [
        (Scope::All, format!("{everything} WHERE span_time >= '{last}'"), 1_600),
        (Scope::Tenant("a".into()), format!("{everything} WHERE span_time >= '{last}'"), 1_600),
        (
            Scope::All,
            format!("{everything} WHERE evaluated_at >= '{last}' AND evaluated_at < '{noon}'"),
            1_600,
        ),
        (Scope::Tenant("a".into()), format!("{everything} WHERE evaluated_at >= '{last}'"), 1_600),
        (Scope::All, format!("SELECT * FROM quality_hourly WHERE hour >= '{last}'"), 4),
        (Scope::All, format!("SELECT * FROM quality_by_model WHERE day >= '{noon}'"), 0),
        (Scope::All, format!("SELECT * FROM evaluator_quality WHERE day >= '{noon}'"), 0),
    ] {
        assert_eq!(rows(&sql, &scope, &statement).await, expected, "{statement}");
        let read = scores.take();
        let bytes: u64 = read.values().sum();
        assert!(bytes < whole / 6, "{statement} read {bytes} of {whole} bytes: {read:?}");
    }
}

pub(super) async fn plan(sql: &Sql, explain: &str, statement: &str) -> String {
    let (_, batches) = sql.collect(&format!("{explain} {statement}")).await.expect(statement);
    let texts =
        batches.iter().flat_map(|b| b.column(1).as_string::<i32>().iter().flatten().map(str::to_owned));
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_plan_of_the_last_hour_has_its_files_alone() {
    let (tables, ..) = half_a_day().await;
    let sql = over(tables).await;
    let last = time(START + 11 * HOUR);
    for (statement, files) in [
        (format!("SELECT * FROM scores_latest WHERE evaluated_at >= '{last}'"), "scores11.parquet"),
        (format!("SELECT * FROM scores_latest WHERE span_time >= '{last}'"), ""),
        (format!("SELECT * FROM quality_hourly WHERE hour >= '{last}'"), ""),
        (format!("SELECT * FROM quality_by_model WHERE day >= '{last}'"), ""),
        (format!("SELECT * FROM evaluator_quality WHERE day >= '{last}'"), ""),
    ] {
        let text = plan(&sql, "EXPLAIN", &statement).await;
        assert!(text.contains("NewestExec"), "{text}");
        let source = text.lines().find(|line| line.contains("file_type=parquet")).expect(&text);
        if files.is_empty() {
            assert!(source.contains("span_time_max"), "the filter prunes row groups: {text}");
        } else {
            assert!(source.contains(files) && !source.contains("scores10.parquet"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_join_with_traces_reads_their_traces_alone() {
    let (tables, [_, spans], _) = half_a_day().await;
    let sql = over(tables).await;
    assert_eq!(rows(&sql, &Scope::All, "SELECT * FROM traces").await, 12 * 400);
    let whole: u64 = spans.take().values().sum();
    let last = time(START + 11 * HOUR + 1_500);
    let joined = format!(
        "SELECT s.value, t.question, t.answer FROM scores_latest s JOIN traces t USING (tenant, trace_id) \
         WHERE s.span_time >= '{last}'"
    );
    spans.take();
    assert_eq!(rows(&sql, &Scope::All, &joined).await, 25 * 4);
    let read = spans.take();
    let bytes: u64 = read.values().sum();
    assert!(bytes < whole / 3, "{bytes} of {whole}");
}
