//! Log records meet their spans.
//!
//! Some libraries send messages as log records, in another request than the span, before or after it. Content that
//! comes first waits here for its span; content that comes after is added to the hot row. Both are bounded: what has
//! waited too long stays in `log_records` alone.

use super::tail::SpanKey;
use crate::domain::span::Llm;
use crate::domain::time::{SECOND, UnixNanos};
use arrow::array::{AsArray, RecordBatch};
use std::collections::{HashMap, VecDeque};

/// Most spans that are waited for.
const MAX_WAITING: usize = 20_000;
/// Most records that wait for one span.
const MAX_RECORDS: usize = 1_000;

/// Content whose span was not seen yet.
pub struct Waiting {
    by_span: HashMap<SpanKey, Vec<Llm>>,
    order: VecDeque<(UnixNanos, SpanKey)>,
    wait_nanos: i64,
}

impl Waiting {
    /// Waits for at most `wait_ms` milliseconds.
    pub fn new(wait_ms: u64) -> Self {
        let wait_nanos = i64::try_from(wait_ms).unwrap_or(i64::MAX).saturating_mul(SECOND / 1_000);
        Self { by_span: HashMap::new(), order: VecDeque::new(), wait_nanos }
    }

    /// Keeps content until its span comes. Gives how many spans were given up for it.
    pub fn keep(&mut self, key: SpanKey, llm: Llm, now: UnixNanos) -> usize {
        let before = self.by_span.len();
        if !self.by_span.contains_key(&key) {
            self.order.push_back((now, key.clone()));
        }
        let content = self.by_span.entry(key).or_default();
        if content.len() < MAX_RECORDS {
            content.push(llm);
        }
        let kept = self.by_span.len();
        self.forget(now);
        kept.saturating_sub(self.by_span.len()).min(before)
    }

    fn forget(&mut self, now: UnixNanos) {
        while let Some((since, key)) = self.order.front() {
            if self.by_span.len() <= MAX_WAITING && now.since(*since) <= self.wait_nanos {
                break;
            }
            self.by_span.remove(key);
            self.order.pop_front();
        }
    }

    /// Adds to the spans of `batch` what has waited for them.
    pub fn meet(
        &mut self,
        batch: RecordBatch,
        merge: impl Fn(&mut Llm, &Llm),
    ) -> Result<RecordBatch, arrow::error::ArrowError> {
        if self.by_span.is_empty() {
            return Ok(batch);
        }
        let text = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
        let ids = (text("tenant"), text("trace_id"), text("span_id"));
        let (Some(tenants), Some(traces), Some(spans)) = ids else { return Ok(batch) };
        let mut found = Vec::new();
        for row in 0..batch.num_rows() {
            let owned = |column: &arrow::array::StringArray| column.value(row).to_owned();
            let key = (owned(tenants), owned(traces), owned(spans));
            if let Some(content) = self.by_span.remove(&key) {
                found.extend(content.into_iter().map(|llm| (row, llm)));
            }
        }
        if found.is_empty() {
            return Ok(batch);
        }
        super::tail::added(&batch, found, merge)
    }
}
