//! A lake of generated spans, through the product's own receiver, journal and flush loop.

use crate::Failed;
use crate::args::Args;
use crate::common::services::Services;
use crate::common::system;
use groundline::app::{open_queue, open_sql, open_storage};
use groundline::config::Config;
use groundline::domain::time::SystemClock;
use groundline::ingest::Receiver;
use groundline::ingest::decode::Traces;
use groundline::lake::{Lake, Upkeep};
use groundline::schema::columns::Table;
use groundline::sql::Sql;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Spans of one request.
const BATCH: usize = 500;

/// A lake on the disk, opened for queries, with nothing in memory.
pub struct Filled {
    /// Asks it.
    pub sql: Arc<Sql>,
    /// Its files.
    pub lake: Arc<Lake>,
    /// The Parquet files of `spans`, without those that were merged into others.
    pub files: Vec<PathBuf>,
    /// How many spans it has.
    pub spans: u64,
    /// Ids of some traces, spread over all files.
    pub traces: Vec<String>,
    _folder: Option<TempDir>,
}

/// Fills a lake as `args` says, or opens one that was kept.
pub async fn fill(args: &Args) -> Result<Filled, Failed> {
    std::fs::create_dir_all(&args.folder)?;
    let (data, folder) = match &args.keep {
        Some(kept) => (kept.clone(), None),
        None => {
            let folder = tempfile::Builder::new().prefix("bench-query-").tempdir_in(&args.folder)?;
            (folder.path().join("data"), Some(folder))
        }
    };
    let mut config = Config::default();
    config.server.data_dir.clone_from(&data);
    if !data.join("lake/spans").is_dir() {
        write(&config, args.spans).await?;
    }
    // Opened anew, so that every row comes from a file.
    let (journal, lake, flush) = open_storage(&config, Arc::new(SystemClock)).await?;
    // A server that stops leaves in its journal what it had no room to read; here it is written too.
    let stopped = CancellationToken::new();
    stopped.cancel();
    flush.run(stopped).await?;
    if !args.unmerged && Upkeep::new(lake.clone()).round(&CancellationToken::new()).await > 0 {
        return Err("files could not be merged".into());
    }
    let files = lake.snapshot(Table::Spans).files;
    let files = files.iter().map(|file| data.join("lake/spans").join(file.path.as_ref())).collect();
    let (queue, _follower) = open_queue(&config, &journal)?;
    let sql = open_sql(lake.clone(), queue, &config)?;
    drop(journal);
    let spans = number(&sql, "SELECT count(*) FROM spans").await?;
    if spans == 0 {
        return Err("the lake is empty".into());
    }
    let traces = some_traces(&sql).await?;
    Ok(Filled { sql, lake, files, spans, traces, _folder: folder })
}

#[expect(clippy::expect_used, reason = "the request is our own")]
async fn write(config: &Config, spans: usize) -> Result<(), Failed> {
    let (journal, _lake, flush) = open_storage(config, Arc::new(SystemClock)).await?;
    let stop = CancellationToken::new();
    let flushing = tokio::spawn(flush.run(stop.clone()));
    let receiver = Receiver::new(journal.clone(), Arc::new(SystemClock), config.ingest.clone());
    let start = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos())?;
    let (mut from, mut sent, started) = (Services::new(7, start), 0, Instant::now());
    let cpu = system::cpu_seconds(std::process::id());
    while sent < spans {
        // Some requests at once, because each waits until the disk is sure.
        let requests: Vec<_> = (0..16).map(|_| from.request(BATCH)).collect();
        let answers = futures::future::join_all(requests.into_iter().map(|request| {
            receiver.spans(Traces::from_request(request).expect("our own request"), "default")
        }))
        .await;
        for answer in answers {
            let answer = answer?;
            if answer.rejected > 0 {
                return Err(format!("spans were refused: {}", answer.message).into());
            }
            sent += usize::try_from(answer.accepted)?;
        }
    }
    stop.cancel();
    flushing.await??;
    journal.close();
    let cpu = system::cpu_seconds(std::process::id()) - cpu;
    println!(
        "filled with {sent} spans in {:.1} s, {cpu:.1} CPU seconds with the making of the spans",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The only number of an answer.
pub async fn number(sql: &Sql, query: &str) -> Result<u64, Failed> {
    let (_, batches) = sql.collect(query).await?;
    let text = arrow::util::display::array_value_to_string(batches.first().ok_or("no rows")?.column(0), 0)?;
    Ok(text.parse()?)
}

/// Forty trace ids in the order of a hash, so that no run of the bench picks the convenient ones.
async fn some_traces(sql: &Sql) -> Result<Vec<String>, Failed> {
    let query = "SELECT trace_id FROM spans WHERE parent_span_id IS NULL ORDER BY reverse(trace_id) LIMIT 40";
    let (_, batches) = sql.collect(query).await?;
    let mut traces = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            traces.push(arrow::util::display::array_value_to_string(batch.column(0), row)?);
        }
    }
    Ok(traces)
}
