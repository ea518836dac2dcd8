//! The rows of one query, under its limits.

use super::cancel::Flag;
use super::config::Config;
use super::error::SqlError;
use crate::units::words;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::SchemaRef;
use futures::{Stream, StreamExt};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Sleep;

/// What the query's task sends: batches, then `None` when all rows were sent, or an error.
pub type Item = Result<Option<RecordBatch>, SqlError>;

/// The rows of one query.
///
/// Ends with an error when a limit is met. Dropping it cancels the query.
pub struct QueryStream {
    schema: SchemaRef,
    rows: mpsc::Receiver<Item>,
    deadline: Pin<Box<Sleep>>,
    timeout: Duration,
    ended: bool,
    record: Record,
    abort: AbortOnDrop,
}

impl QueryStream {
    /// Wraps the receiving end of a query's task.
    pub fn new(
        schema: SchemaRef,
        rows: mpsc::Receiver<Item>,
        deadline: tokio::time::Instant,
        timeout: Duration,
        record: Record,
        abort: AbortOnDrop,
    ) -> Self {
        let deadline = Box::pin(tokio::time::sleep_until(deadline));
        Self { schema, rows, deadline, timeout, ended: false, record, abort }
    }

    /// The columns of the result.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The reader has all the rows that it wanted: the query ends, and has succeeded.
    pub fn suffice(&mut self) {
        self.end("ok");
    }

    fn end(&mut self, outcome: &'static str) {
        self.ended = true;
        self.abort.stop();
        self.record.outcome = outcome;
    }
}

/// The error of a query that ran out of time.
pub fn timed_out(timeout: Duration) -> SqlError {
    SqlError::Limit(format!("the query took longer than {} (sql.timeout)", words(timeout)))
}

impl Stream for QueryStream {
    type Item = Result<RecordBatch, SqlError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        match self.rows.poll_recv(cx) {
            Poll::Ready(Some(Ok(Some(batch)))) => return Poll::Ready(Some(Ok(batch))),
            Poll::Ready(Some(Ok(None))) => {
                self.end("ok");
                return Poll::Ready(None);
            }
            Poll::Ready(Some(Err(error))) => {
                self.end(error.outcome());
                return Poll::Ready(Some(Err(error)));
            }
            // The query's task ends at the same deadline, and may be first.
            Poll::Ready(None) if tokio::time::Instant::now() >= self.deadline.deadline() => {
                self.end("limit");
                return Poll::Ready(Some(Err(timed_out(self.timeout))));
            }
            Poll::Ready(None) => {
                self.end("internal");
                let error = SqlError::Internal("the query ended before its last row".to_owned());
                return Poll::Ready(Some(Err(error)));
            }
            Poll::Pending => {}
        }
        if self.deadline.as_mut().poll(cx).is_ready() {
            self.end("limit");
            let error = timed_out(self.timeout);
            return Poll::Ready(Some(Err(error)));
        }
        Poll::Pending
    }
}

/// Ends the query's task when nobody waits for its rows any more.
pub struct AbortOnDrop(pub AbortHandle, pub Flag);

impl AbortOnDrop {
    fn stop(&self) {
        self.1.set();
        self.0.abort();
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Counts the query when it is over, with the outcome known by then.
pub struct Record {
    endpoint: &'static str,
    outcome: &'static str,
    began: Instant,
}

impl Record {
    /// Begins to measure a query that came through `endpoint`.
    pub fn new(endpoint: &'static str) -> Self {
        Self { endpoint, outcome: "cancelled", began: Instant::now() }
    }

    /// Says how the query ended.
    pub fn set(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let labels = [("door", self.endpoint), ("outcome", self.outcome)];
        metrics::counter!("groundline_sql_queries_total", &labels).increment(1);
        metrics::histogram!("groundline_sql_seconds", "door" => self.endpoint).record(self.began.elapsed());
    }
}

/// Sends the batches of `rows` on while the limits of the result hold; returns when all were sent, a limit was met, or
/// nobody listens.
pub async fn pump(
    mut rows: datafusion::execution::SendableRecordBatchStream,
    config: &Config,
    to: &mpsc::Sender<Item>,
) {
    let mut caps = Caps { rows: 0, bytes: 0 };
    loop {
        // Waiting for room first keeps at most two batches of a slow reader in memory.
        let Ok(room) = to.reserve().await else { return };
        match rows.next().await {
            None => return room.send(Ok(None)),
            Some(Err(error)) => return room.send(Err(error.into())),
            Some(Ok(batch)) => match caps.count(&batch, config) {
                Ok(()) => room.send(Ok(Some(batch))),
                Err(error) => return room.send(Err(error)),
            },
        }
        tokio::task::yield_now().await;
    }
}

struct Caps {
    rows: u64,
    bytes: u64,
}

impl Caps {
    fn count(&mut self, batch: &RecordBatch, config: &Config) -> Result<(), SqlError> {
        self.rows += batch.num_rows() as u64;
        self.bytes += bytes_of(batch);
        if self.rows > config.max_rows {
            let most = config.max_rows;
            return Err(SqlError::Limit(format!("the result has more than {most} rows (sql.max_rows)")));
        }
        if self.bytes > config.max_result_size.bytes() {
            let most = config.max_result_size;
            return Err(SqlError::Limit(format!("the result is larger than {most} (sql.max_result_size)")));
        }
        Ok(())
    }
}

/// The bytes of the batch's own rows; a slice of a big batch counts as a slice.
pub fn bytes_of(batch: &RecordBatch) -> u64 {
    let of = |array: &dyn Array| {
        let own = array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size());
        own as u64 + viewed(array)
    };
    batch.columns().iter().map(|c| of(c.as_ref())).sum()
}

/// The bytes that views show: the size of a slice has only the views themselves.
fn viewed(array: &dyn Array) -> u64 {
    // The lower half of a view is the length of its text.
    let sum = |views: &[u128]| views.iter().map(|view| u64::from(*view as u32)).sum();
    if let Some(texts) = array.as_string_view_opt() {
        sum(texts.views())
    } else if let Some(bytes) = array.as_binary_view_opt() {
        sum(bytes.views())
    } else {
        0
    }
}

/// The instant at which a query that begins now has used up `timeout`.
pub fn deadline(timeout: Duration) -> tokio::time::Instant {
    tokio::time::Instant::now() + timeout
}
