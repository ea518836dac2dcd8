//! Log records meet their spans.
//!
//! Some libraries send messages as log records, in another request than the span, before or after it. Content that
//! comes first waits here for its span; content that comes after is added to the hot row. Both are bounded: what has
//! waited too long stays in `log_records` alone.

use super::tail::SpanKey;
use crate::domain::span::Llm;
use crate::domain::time::UnixNanos;
use crate::domain::weight;
use crate::units::nanos;
use arrow::array::{AsArray, RecordBatch};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Most spans that are waited for.
const MAX_WAITING: usize = 20_000;
/// Most records that wait for one span.
const MAX_RECORDS: usize = 1_000;
/// Most bytes of content that wait, roughly.
const MAX_BYTES: usize = 64 << 20;

/// Content whose span was not seen yet.
pub struct Waiting {
    by_span: HashMap<SpanKey, Held>,
    /// The same spans by their numbers, each with the time of its first record.
    order: BTreeMap<u64, (UnixNanos, SpanKey)>,
    last_number: u64,
    bytes: usize,
    wait_nanos: i64,
}

/// What waits for one span.
struct Held {
    /// Its place in the order of arrival.
    number: u64,
    content: Vec<Llm>,
    bytes: usize,
}

impl Waiting {
    /// Waits for at most so long.
    pub fn new(wait: Duration) -> Self {
        let wait_nanos = nanos(wait);
        Self { by_span: HashMap::new(), order: BTreeMap::new(), last_number: 0, bytes: 0, wait_nanos }
    }

    /// Keeps the content of a record until its span comes. Gives how many records were given up, which may be this one.
    pub fn keep(&mut self, key: SpanKey, llm: Llm, now: UnixNanos) -> usize {
        let held = match self.by_span.entry(key) {
            Entry::Occupied(held) => held.into_mut(),
            Entry::Vacant(free) => {
                self.last_number += 1;
                self.order.insert(self.last_number, (now, free.key().clone()));
                free.insert(Held { number: self.last_number, content: Vec::new(), bytes: 0 })
            }
        };
        let is_kept = held.content.len() < MAX_RECORDS;
        if is_kept {
            let bytes = weight::of_content(&llm);
            held.content.push(llm);
            held.bytes += bytes;
            self.bytes += bytes;
        }
        usize::from(!is_kept) + self.forget(now)
    }

    fn forget(&mut self, now: UnixNanos) -> usize {
        let mut given_up = 0;
        while let Some(oldest) = self.order.first_entry() {
            let fits = self.by_span.len() <= MAX_WAITING && self.bytes <= MAX_BYTES;
            if fits && now.since(oldest.get().0) <= self.wait_nanos {
                break;
            }
            let (_, key) = oldest.remove();
            given_up += self.take(&key).map_or(0, |content| content.len());
        }
        given_up
    }

    /// What waits for the span `key`; it waits no more.
    fn take(&mut self, key: &SpanKey) -> Option<Vec<Llm>> {
        let held = self.by_span.remove(key)?;
        self.order.remove(&held.number);
        self.bytes -= held.bytes;
        Some(held.content)
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
            if let Some(content) = self.take(&key) {
                found.extend(content.into_iter().map(|llm| (row, llm)));
            }
        }
        if found.is_empty() {
            return Ok(batch);
        }
        super::tail::added(&batch, found, merge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::merge::merge_content;
    use crate::domain::message::Message;
    use crate::domain::time::SECOND;
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;

    fn key(span: usize) -> SpanKey {
        ("t".to_owned(), "1".to_owned(), span.to_string())
    }

    fn content(bytes: usize) -> Llm {
        let message = Message::text("user", "x".repeat(bytes));
        Llm { input_messages: vec![message], ..Llm::default() }
    }

    /// The ids of a span, without any column that content is added to.
    fn ids(span: usize) -> RecordBatch {
        let column = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text.to_owned()])) };
        let (tenant, trace, span) = key(span);
        let columns = [("tenant", column(&tenant)), ("trace_id", column(&trace)), ("span_id", column(&span))];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn what_waits_is_bounded_in_bytes() {
        let mut waiting = Waiting::new(Duration::from_mins(10));
        let given_up = (0..9).map(|span| waiting.keep(key(span), content(MAX_BYTES / 4), UnixNanos(0)));
        assert_eq!(given_up.collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1, 1, 1, 1], "the oldest goes");
        assert!(waiting.bytes <= MAX_BYTES && waiting.bytes > MAX_BYTES / 2);
        assert_eq!((waiting.by_span.len(), waiting.order.len()), (3, 3));
        assert!(waiting.take(&key(5)).is_none() && waiting.take(&key(6)).is_some());
        // More than fits, for one span.
        assert_eq!(waiting.keep(key(9), content(MAX_BYTES), UnixNanos(0)), 3);
        assert_eq!((waiting.bytes, waiting.by_span.len(), waiting.order.len()), (0, 0, 0));
    }

    #[test]
    fn each_record_that_is_given_up_counts() {
        let mut waiting = Waiting::new(Duration::from_secs(1));
        let kept = (0..MAX_RECORDS).map(|_| waiting.keep(key(1), content(1), UnixNanos(0)));
        assert_eq!(kept.sum::<usize>(), 0);
        assert_eq!(waiting.keep(key(1), content(1), UnixNanos(0)), 1, "no more wait for one span");
        assert_eq!(waiting.keep(key(2), content(1), UnixNanos(2 * SECOND)), MAX_RECORDS);
    }

    #[test]
    fn spans_that_were_met_leave_nothing_behind() {
        let mut waiting = Waiting::new(Duration::from_secs(1));
        for round in 0..100 {
            waiting.keep(key(7), content(10), UnixNanos(round));
            // The batch has no columns to add to, which is not the point here.
            let _ = waiting.meet(ids(7), merge_content);
        }
        assert_eq!((waiting.bytes, waiting.by_span.len(), waiting.order.len()), (0, 0, 0));
        // The time of a span that comes again begins anew.
        waiting.keep(key(7), content(10), UnixNanos(0));
        waiting.take(&key(7));
        waiting.keep(key(7), content(10), UnixNanos(SECOND));
        assert_eq!(waiting.keep(key(8), content(10), UnixNanos(SECOND + 1)), 0);
        assert_eq!(waiting.keep(key(8), content(10), UnixNanos(2 * SECOND + 1)), 1);
        assert!(waiting.take(&key(7)).is_none() && waiting.take(&key(8)).is_some());
    }
}
