//! What the console's own statements (`console/sql`) take over the spans and as many scores of theirs, and how long its first
//! page waits for all that it asks at once.

use crate::Failed;
use crate::args::Args;
use crate::common::random::Random;
use crate::fill::{Filled, fill, number};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, new_null_array,
};
use arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use datafusion::scalar::ScalarValue;
use groundline::lake::{DataFile, TableSnapshot};
use groundline::net::Scope;
use groundline::schema::columns::{Column, Kind, Table};
use groundline::sql::{Config, Sql, Work};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use parquet::arrow::ArrowWriter;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// What a span is judged by.
const METRICS: [&str; 4] = ["hallucination", "answer_relevance", "toxicity", "groundedness"];
const SHARES: [f64; 3] = [1.0, 0.25, 0.1];
/// Rows of one file of scores, and of decisions.
const FILE: usize = 250_000;
/// What the first page asks at once.
const OVERVIEW: [&str; 4] = ["C24", "C1b", "C2", "C3"];
/// At most so many milliseconds for that, over a million spans.
const GOAL_MS: f64 = 800.0;

/// Fills a lake, makes the scores and decisions, and prints the times. Gives what makes them worthless.
pub async fn measure(args: &Args) -> Result<Vec<String>, Failed> {
    let filled = fill(args).await?;
    let folder = tempfile::Builder::new().prefix("bench-console-").tempdir_in(&args.folder)?;
    let made = Made::write(&filled, folder.path()).await?;
    let sql = &made.sql(&filled)?;
    let values = Values::of(sql).await?;
    let scores = number(sql, "SELECT count(*) FROM scores").await?;
    println!("\n{} spans, {scores} scores; {} warm runs, milliseconds\n", filled.spans, args.runs);
    println!("| statement | rows | first | median | p95 | slowest |\n|---|---|---|---|---|---|");
    let (mut faults, statements) = (Vec::new(), statements()?);
    for (name, text) in &statements {
        if args.only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let (query, bound) = values.bind(text);
        let (mut times, mut rows) = (Vec::new(), 0);
        for _ in 0..=args.runs {
            let started = Instant::now();
            match ask(sql, &query, &bound).await {
                Ok(found) => rows = found,
                Err(why) => faults.push(format!("{name}: {why}")),
            }
            times.push(started.elapsed().as_secs_f64() * 1_000.0);
        }
        println!("| {name} | {rows} | {} |", told(&times));
    }
    let mut times = Vec::new();
    for _ in 0..=args.runs {
        let started = Instant::now();
        let asked =
            statements.iter().filter(|(name, _)| OVERVIEW.contains(&name.as_str())).map(|(_, text)| {
                let (query, bound) = values.bind(text);
                async move { ask(sql, &query, &bound).await }
            });
        for answer in futures::future::join_all(asked).await {
            answer?;
        }
        times.push(started.elapsed().as_secs_f64() * 1_000.0);
    }
    let all = OVERVIEW.join(", ");
    let goal = if percentile(&times, 0.95) < GOAL_MS { "met" } else { "NOT met" };
    println!(
        "| overview: {all} at once | | {} |\n\ngoal: p95 of the overview under {GOAL_MS} ms: {goal}",
        told(&times)
    );
    Ok(faults)
}

/// First, median, 95th percentile and slowest.
fn told(times: &[f64]) -> String {
    let [median, p95, slowest] = [0.5, 0.95, 1.0].map(|share| percentile(times, share));
    format!("{:.1} | {median:.1} | {p95:.1} | {slowest:.1}", times[0])
}

/// Of the warm runs: the smallest time that at least this share of them did not exceed.
fn percentile(times: &[f64], share: f64) -> f64 {
    let mut warm = times[1..].to_vec();
    warm.sort_by(f64::total_cmp);
    let place = (warm.len() as f64 * share).ceil() as usize;
    warm[place.clamp(1, warm.len()) - 1]
}

async fn ask(sql: &Sql, query: &str, bound: &[ScalarValue]) -> Result<usize, Failed> {
    let work = Work::Bound(query.to_owned(), bound.to_vec());
    let found = sql.collect_from("bench", &Scope::All, work, None).await?;
    Ok(found.batches.iter().map(RecordBatch::num_rows).sum())
}

/// The console's statements by name.
fn statements() -> Result<Vec<(String, String)>, Failed> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("console/sql");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.push((name, std::fs::read_to_string(&path)?));
    }
    found.sort();
    Ok(found)
}

/// What stands for the names in statements.
struct Values(HashMap<&'static str, ScalarValue>);

impl Values {
    /// The whole time of the spans in sixty buckets, one metric, and the ids of a trace that is there.
    async fn of(sql: &Sql) -> Result<Self, Failed> {
        let text = |value: &str| ScalarValue::from(value);
        let first =
            number(sql, "SELECT CAST(date_part('epoch', min(start_time)) AS BIGINT) FROM spans").await?;
        let last =
            number(sql, "SELECT CAST(date_part('epoch', max(start_time)) AS BIGINT) + 1 FROM spans").await?;
        let at = |seconds: u64| {
            let moment = i64::try_from(seconds).ok().and_then(|s| chrono::DateTime::from_timestamp(s, 0));
            ScalarValue::from(moment.unwrap_or_default().to_rfc3339())
        };
        let (_, ids) =
            sql.collect("SELECT trace_id, span_id FROM scores ORDER BY reverse(trace_id) LIMIT 1").await?;
        let id = |column: usize| {
            let cell = ids.first().and_then(|batch| batch.column(column).as_string_opt::<i32>());
            ScalarValue::from(cell.map(|cell| cell.value(0)).unwrap_or_default())
        };
        let (trace, span) = (id(0), id(1));
        let step = format!("{} seconds", ((last - first) / 60).max(1));
        Ok(Self(HashMap::from([
            ("from", at(first)),
            ("to", at(last)),
            ("before", at(first.saturating_sub(last - first))),
            ("since", at(last)),
            ("t", at((first + last) / 2)),
            ("step", ScalarValue::from(step)),
            ("low", ScalarValue::from(0.0)),
            ("high", ScalarValue::from(1.0)),
            ("trial", ScalarValue::from(0.5)),
            ("up", ScalarValue::from(true)),
            ("chosen", text("")),
            ("metric", text(METRICS[0])),
            ("evaluator", text(METRICS[0])),
            ("id", trace.clone()),
            ("trace", trace),
            ("span", span.clone()),
            ("s", span),
        ])))
    }

    /// The statement with `$1` … for its names, and their values in order; what is text of the statement is put into it.
    fn bind(&self, text: &str) -> (String, Vec<ScalarValue>) {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("--")).collect();
        let text = lines.join("\n");
        let mut parts = text.trim().trim_end_matches(';').split('$');
        let (mut query, mut names) = (parts.next().unwrap_or_default().to_owned(), Vec::<&str>::new());
        for part in parts {
            let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '_')).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            match name {
                "where" => query.push_str("true"),
                "order" => query.push_str("value"),
                "ids" => query.push_str(&format!("'{}'", self.value("id"))),
                _ => {
                    let place = names.iter().position(|known| *known == name).unwrap_or(names.len());
                    if place == names.len() {
                        names.push(name);
                    }
                    query.push_str(&format!("${}", place + 1));
                }
            }
            query.push_str(rest);
        }
        let bound = names.into_iter().map(|name| self.value(name)).collect();
        (query, bound)
    }

    fn value(&self, name: &str) -> ScalarValue {
        self.0.get(name).cloned().unwrap_or_else(|| ScalarValue::from("none"))
    }
}

/// The files of scores and decisions.
struct Made {
    store: Arc<dyn ObjectStore>,
    scores: Arc<Vec<DataFile>>,
    decisions: Arc<Vec<DataFile>>,
}

impl Made {
    /// Four scores of each of a quarter of the spans, and one decision of each of those.
    async fn write(filled: &Filled, folder: &std::path::Path) -> Result<Self, Failed> {
        let (mut scores, mut decisions, mut random) = (Vec::new(), Vec::new(), Random::new(1));
        let judged = filled.spans / METRICS.len() as u64;
        for first in (0..judged).step_by(FILE / METRICS.len()) {
            let count = (judged - first).min((FILE / METRICS.len()) as u64);
            let query = format!(
                "SELECT trace_id, span_id, service_name, start_time \
                 FROM spans ORDER BY start_time, trace_id, span_id LIMIT {count} OFFSET {first}"
            );
            let (schema, batches) = filled.sql.collect(&query).await?;
            let spans = arrow::compute::concat_batches(&schema, &batches)?;
            let spans = Spans::of(&spans)?;
            scores.push(spans.file(Table::Scores, &METRICS, folder, &mut random)?);
            decisions.push(spans.file(Table::Decisions, &[""], folder, &mut random)?);
        }
        let store: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new_with_prefix(folder)?);
        Ok(Self { store, scores: Arc::new(scores), decisions: Arc::new(decisions) })
    }

    /// The spans of the lake, and these.
    fn sql(&self, filled: &Filled) -> Result<Sql, Failed> {
        let (lake, store) = (filled.lake.clone(), self.store.clone());
        let (scores, decisions) = (self.scores.clone(), self.decisions.clone());
        let snapshots = Arc::new(move |table: Table| {
            let files = match table {
                Table::Scores => scores.clone(),
                Table::Decisions => decisions.clone(),
                _ => return lake.snapshot(table),
            };
            TableSnapshot { table, schema: table.schema(), store: store.clone(), files, hot: Vec::new() }
        });
        Ok(Sql::new(snapshots, Config::default())?)
    }
}

/// The spans that are judged.
struct Spans {
    ids: [StringArray; 3],
    times: TimestampMicrosecondArray,
}

impl Spans {
    fn of(batch: &RecordBatch) -> Result<Self, Failed> {
        let text = |at: usize| -> Result<StringArray, Failed> {
            Ok(arrow::compute::cast(batch.column(at), &DataType::Utf8)?.as_string::<i32>().clone())
        };
        let micros = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let times = arrow::compute::cast(batch.column(3), &micros)?;
        let times = times.as_primitive::<TimestampMicrosecondType>().clone();
        Ok(Self { ids: [text(0)?, text(1)?, text(2)?], times })
    }

    /// A file with a row for each span and metric.
    fn file(
        &self,
        table: Table,
        metrics: &[&str],
        folder: &std::path::Path,
        random: &mut Random,
    ) -> Result<DataFile, Failed> {
        let name = format!("{}-{}.parquet", table.name(), random.bits());
        let columns = table.columns().iter().map(|column| self.values(column, metrics, random));
        let batch = RecordBatch::try_new(table.schema(), columns.collect())?;
        let mut writer =
            ArrowWriter::try_new(std::fs::File::create(folder.join(&name))?, table.schema(), None)?;
        writer.write(&batch)?;
        writer.close()?;
        let bytes = std::fs::metadata(folder.join(&name))?.len();
        // Both happen two seconds after the span.
        let late = if table == Table::Decisions { 2_000_000 } else { 0 };
        let [min_time, max_time] = [arrow::compute::min(&self.times), arrow::compute::max(&self.times)]
            .map(|time| time.map(|time| time + late));
        Ok(DataFile { path: Path::from(name), bytes, rows: batch.num_rows() as u64, min_time, max_time })
    }

    fn values(&self, column: &Column, metrics: &[&str], random: &mut Random) -> ArrayRef {
        let rows = self.times.len() * metrics.len();
        let place = |row: usize| row / metrics.len();
        let text = |from: &StringArray| -> ArrayRef {
            Arc::new(
                (0..rows)
                    .map(|row| from.is_valid(place(row)).then(|| from.value(place(row))))
                    .collect::<StringArray>(),
            )
        };
        let times = |late: i64| -> ArrayRef {
            let times = (0..rows).map(|row| self.times.value(place(row)) + late);
            Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"))
        };
        let metric = || -> ArrayRef {
            Arc::new(StringArray::from_iter_values((0..rows).map(|row| metrics[row % metrics.len()])))
        };
        let same = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text; rows])) };
        let mut each = |one: &mut dyn FnMut(&mut Random) -> f64| -> ArrayRef {
            Arc::new((0..rows).map(|_| Some(one(random))).collect::<Float64Array>())
        };
        match (column.name, column.kind) {
            ("trace_id", _) => text(&self.ids[0]),
            ("span_id", _) => text(&self.ids[1]),
            ("service_name", _) => text(&self.ids[2]),
            ("span_time", _) => times(0),
            ("evaluated_at" | "decided_at", _) => times(2_000_000),
            ("score_id", _) => Arc::new(StringArray::from_iter_values((0..rows).map(|row| {
                format!(
                    "{}-{}-{}",
                    self.ids[0].value(place(row)),
                    self.ids[1].value(place(row)),
                    row % metrics.len()
                )
            }))),
            ("evaluator" | "metric", _) => metric(),
            ("status", _) => same("ok"),
            ("source" | "rule" | "rule_version", _) => same("rule"),
            ("decision", _) => same("scored"),
            ("value", _) => each(&mut Random::unit),
            ("threshold", _) => each(&mut |_| 0.5),
            ("inclusion_probability", _) => each(&mut |random| *random.pick(&SHARES)),
            ("passed", _) => Arc::new((0..rows).map(|_| Some(random.unit() < 0.9)).collect::<BooleanArray>()),
            (_, kind) if column.nullable => new_null_array(&kind.data_type(), rows),
            (_, Kind::Micros) => times(0),
            (_, Kind::Int) => Arc::new(Int64Array::from_value(1, rows)),
            (_, Kind::Double) => Arc::new(Float64Array::from_value(1.0, rows)),
            (_, Kind::Bool) => Arc::new(BooleanArray::from(vec![false; rows])),
            _ => same("x"),
        }
    }
}
