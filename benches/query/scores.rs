//! What the quality aggregates cost beside `avg`, over generated scores in Parquet files.

use crate::Failed;
use crate::args::Args;
use crate::common::random::Random;
use crate::common::system;
use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
    new_null_array,
};
use groundline::lake::{DataFile, TableSnapshot};
use groundline::schema::columns::{Column, Kind, Table};
use groundline::sql::{Config, Sql};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use parquet::arrow::ArrowWriter;
use std::sync::Arc;
use std::time::Instant;

/// Rows of one file.
const FILE: usize = 1_000_000;
/// Rows that are made at once.
const BATCH: usize = 100_000;
/// 2026-01-01T00:00:00Z, microseconds.
const START: i64 = 1_767_225_600_000_000;
const DAY: u64 = 86_400_000_000;

/// The aggregates; the first is what the others are compared with.
const AGGREGATES: [&str; 7] = [
    "avg(value)",
    "quality_rate(passed, inclusion_probability)",
    "quality_mean(value, inclusion_probability)",
    "quality_total(value, inclusion_probability)",
    "quality_diff(value, threshold, inclusion_probability)",
    "ppi_rate(passed, passed, inclusion_probability, 0.5)",
    "quality_quantile(value, 0.9, inclusion_probability)",
];

/// The most that `quality_rate` may take, of the time of `avg`.
const MOST_OF_AVG: f64 = 1.5;

/// What is grouped by.
const GROUPS: [&str; 2] = ["service_name, metric", "date_trunc('hour', span_time), service_name, metric"];

/// Writes `args.scores` rows and prints the times. Gives what makes them worthless.
pub async fn measure(args: &Args) -> Result<Vec<String>, Failed> {
    std::fs::create_dir_all(&args.folder)?;
    let folder = tempfile::Builder::new().prefix("bench-scores-").tempdir_in(&args.folder)?;
    let files = Arc::new(write(folder.path(), args.scores)?);
    let store: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new_with_prefix(folder.path())?);
    let snapshots = Arc::new(move |table: Table| TableSnapshot {
        table,
        schema: table.schema(),
        store: store.clone(),
        files: if table == Table::Scores { files.clone() } else { Arc::default() },
        hot: Vec::new(),
    });
    let sql = Sql::new(snapshots, Config::default())?;
    println!(
        "\n{} scores; median of {} warm runs in turn, milliseconds; CPU of a run",
        args.scores, args.runs
    );
    let mut faults = Vec::new();
    for groups in GROUPS {
        println!("\n| by {groups} | ms | of avg | CPU ms | of avg |\n|---|---|---|---|---|");
        let found = turns(&sql, groups, args.runs).await?;
        let first = found[0];
        for (aggregate, (wall, cpu)) in AGGREGATES.iter().zip(&found) {
            let (of_wall, of_cpu) = (wall / first.0, cpu / first.1);
            println!("| `{aggregate}` | {wall:.0} | {of_wall:.2} | {cpu:.0} | {of_cpu:.2} |");
            if *aggregate == AGGREGATES[1] && of_wall > MOST_OF_AVG {
                faults.push(format!(
                    "{aggregate} by {groups} takes {of_wall:.2} times as long as avg, and {MOST_OF_AVG} is promised"
                ));
            }
        }
    }
    println!("\npromised: quality_rate takes at most {MOST_OF_AVG} times as long as avg");
    Ok(faults)
}

/// Median wall and CPU time of each aggregate, asked in turn so that the neighbours disturb all alike.
async fn turns(sql: &Sql, groups: &str, runs: usize) -> Result<Vec<(f64, f64)>, Failed> {
    let mut times = vec![(Vec::new(), Vec::new()); AGGREGATES.len()];
    for run in 0..=runs {
        for (aggregate, (wall, cpu)) in AGGREGATES.iter().zip(&mut times) {
            let (before, started) = (system::cpu_seconds(std::process::id()), Instant::now());
            sql.collect(&format!("SELECT {groups}, {aggregate} FROM scores GROUP BY {groups}")).await?;
            if run > 0 {
                wall.push(started.elapsed().as_secs_f64() * 1_000.0);
                cpu.push((system::cpu_seconds(std::process::id()) - before) * 1_000.0);
            }
        }
    }
    let median = |mut of: Vec<f64>| {
        of.sort_by(f64::total_cmp);
        of[of.len() / 2]
    };
    Ok(times.into_iter().map(|(wall, cpu)| (median(wall), median(cpu))).collect())
}

fn write(folder: &std::path::Path, rows: usize) -> Result<Vec<DataFile>, Failed> {
    let mut random = Random::new(1);
    let mut files = Vec::new();
    for (number, first) in (0..rows).step_by(FILE).enumerate() {
        let name = format!("{number}.parquet");
        let file = std::fs::File::create(folder.join(&name))?;
        let mut writer = ArrowWriter::try_new(file, Table::Scores.schema(), None)?;
        let count = FILE.min(rows - first);
        for done in (0..count).step_by(BATCH) {
            writer.write(&batch(&mut random, BATCH.min(count - done))?)?;
        }
        writer.close()?;
        let bytes = std::fs::metadata(folder.join(&name))?.len();
        let (min_time, max_time) = (Some(START), Some(START + DAY as i64));
        files.push(DataFile { path: Path::from(name), bytes, rows: count as u64, min_time, max_time });
    }
    Ok(files)
}

fn batch(random: &mut Random, rows: usize) -> Result<RecordBatch, Failed> {
    let columns = Table::Scores.columns().iter().map(|column| values(random, column, rows));
    Ok(RecordBatch::try_new(Table::Scores.schema(), columns.collect())?)
}

/// A day of scores of four metrics and eight services under three sampling rules; what nobody asks is empty.
fn values(random: &mut Random, column: &Column, rows: usize) -> ArrayRef {
    const METRICS: [&str; 4] = ["hallucination", "answer_relevance", "toxicity", "groundedness"];
    const SERVICES: [&str; 8] = ["shop", "desk", "search", "mail", "chat", "docs", "code", "voice"];
    const SHARES: [f64; 3] = [1.0, 0.25, 0.1];
    let mut each = |one: &mut dyn FnMut(&mut Random) -> f64| -> ArrayRef {
        Arc::new((0..rows).map(|_| Some(one(random))).collect::<Float64Array>())
    };
    match (column.name, column.kind) {
        ("value", _) => each(&mut Random::unit),
        ("threshold", _) => each(&mut |_| 0.5),
        ("inclusion_probability", _) => each(&mut |random| *random.pick(&SHARES)),
        ("passed", _) => Arc::new((0..rows).map(|_| Some(random.unit() < 0.9)).collect::<BooleanArray>()),
        ("metric", _) => Arc::new((0..rows).map(|_| Some(*random.pick(&METRICS))).collect::<StringArray>()),
        ("service_name", _) => {
            Arc::new((0..rows).map(|_| Some(*random.pick(&SERVICES))).collect::<StringArray>())
        }
        ("span_time", _) => {
            let times = (0..rows).map(|_| START + random.below(DAY) as i64);
            Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"))
        }
        (_, kind) if column.nullable => new_null_array(&kind.data_type(), rows),
        (_, Kind::Micros) => {
            Arc::new(TimestampMicrosecondArray::from_value(START, rows).with_timezone("UTC"))
        }
        (_, Kind::Int) => Arc::new(Int64Array::from_value(1, rows)),
        (_, Kind::Double) => Arc::new(Float64Array::from_value(1.0, rows)),
        (_, Kind::Bool) => Arc::new(BooleanArray::from(vec![false; rows])),
        _ => Arc::new(StringArray::from(vec!["x"; rows])),
    }
}
