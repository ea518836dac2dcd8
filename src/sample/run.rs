//! The loop of sampling: journal to open traces, ripe traces to decisions and items.

use super::assemble::Open;
use super::config::Config;
use super::decide::{Drawn, decide};
use super::input::View;
use super::memory::{Memory, PAST};
use super::outgoing::{Outgoing, given_up, one_by_one};
use super::prices::Prices;
use super::progress::Progress;
use super::rule::Rule;
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::id::TraceId;
use crate::domain::time::{Clock, SECOND, UnixNanos};
use crate::journal::{Frame, Journal, JournalError, Reader};
use crate::queue::{Item, Lane, Queue, QueueEvent, size};
use crate::schema::batch::decisions_to_batch;
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, FrameKind, Part};
use arrow::array::{AsArray, RecordBatch};
use arrow::error::ArrowError;
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The name of the journal cursor behind which sampling and the queue need no frames.
pub const CURSOR: &str = "sample";

/// Traces that were decided are remembered for this long, so that late spans do not open them again.
const REMEMBER_NANOS: i64 = 3_600 * SECOND;
const REMEMBER_TRACES: usize = 500_000;
/// How often open traces are looked at.
const TICK: Duration = Duration::from_millis(100);
/// Frames that are read between two looks at the open traces.
const FRAMES_A_TICK: usize = 2_000;
/// Decisions that go into one frame, and bytes of items: an item carries all that is judged.
const DECISIONS_A_FRAME: usize = 500;
const ITEM_BYTES_A_FRAME: usize = 8 << 20;

/// How decisions and queue events are written down. Another one stands here in tests only.
type Encode = fn(&[Decision], &[QueueEvent]) -> Result<(FrameKind, Bytes), FrameError>;

/// The sampling loop.
pub struct Sampler {
    journal: Journal,
    rules: Arc<Vec<Rule>>,
    queue: Arc<Queue>,
    clock: Arc<dyn Clock>,
    open: Open,
    decided: Decided,
    memory: Memory,
    reader: Reader,
    at: u64,
    cursor: u64,
    /// The first frame of a trace whose decisions could not be written: the next start reads it again.
    unwritten: Option<u64>,
    encode: Encode,
    progress: Arc<Progress>,
}

impl Sampler {
    /// Opens the loop at its cursor.
    ///
    /// `known` are traces that were decided before, from the table `decisions`: late spans of them change nothing.
    pub fn new(
        journal: Journal,
        rules: Arc<Vec<Rule>>,
        queue: Arc<Queue>,
        clock: Arc<dyn Clock>,
        config: Config,
        known: impl Iterator<Item = TraceId>,
    ) -> Result<Self, JournalError> {
        let cursor = journal.cursor(CURSOR)?;
        let mut decided = Decided::default();
        known.for_each(|id| decided.note(id, clock.now()));
        // What was decided before the crash must be known before the same spans are read again.
        let mut ahead = journal.reader(cursor)?;
        while let Some(frame) = ahead.next()? {
            for part in parts(&frame, FrameKind::of(Table::Decisions)) {
                if let Part::Rows(_, batch) = part {
                    decided.note_rows(&batch, clock.now());
                }
            }
        }
        let reader = journal.reader(cursor)?;
        let (open, memory, progress) = (Open::new(config), Memory::new(&rules), Arc::default());
        Ok(Self {
            journal,
            rules,
            queue,
            clock,
            open,
            decided,
            memory,
            reader,
            at: cursor,
            cursor,
            unwritten: None,
            encode: encoded,
            progress,
        })
    }

    /// With prices that are learned elsewhere, for budgets in money.
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.memory = self.memory.with_prices(prices);
        self
    }

    /// What must be asked of the tables before [`Sampler::restore`]; none if no rule depends on the past, second phases included.
    pub fn past(&self) -> Option<&'static str> {
        self.memory.is_needed().then_some(PAST)
    }

    /// Takes in the answer to [`Sampler::past`]: budgets and strata go on as they were before a restart.
    pub fn restore(&mut self, rows: &[RecordBatch]) {
        self.memory.restore(&self.rules, rows, self.clock.now());
    }

    /// How far the loop is; stays true while it runs.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// Runs until `stop`. Open traces are left open: the next start reads them again.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), JournalError> {
        let mut saved = tokio::time::Instant::now();
        loop {
            // Reading decodes and filters: too long for a thread that answers requests.
            let behind = tokio::task::block_in_place(|| self.read())?;
            self.close().await?;
            self.progress.publish(self.at, &self.open);
            let stopping = stop.is_cancelled();
            if stopping || saved.elapsed() > Duration::from_secs(2) {
                tokio::task::block_in_place(|| self.save_cursor())?;
                saved = tokio::time::Instant::now();
            }
            if stopping {
                return Ok(());
            }
            if !behind {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(TICK) => {}
                }
            }
        }
    }

    /// Reads some frames; true if there are more.
    fn read(&mut self) -> Result<bool, JournalError> {
        let wanted = FrameKind::of(Table::Spans).and(FrameKind::of(Table::LogRecords));
        for _ in 0..FRAMES_A_TICK {
            let Some(frame) = self.reader.next()? else { return Ok(false) };
            let now = self.clock.now();
            for part in parts(&frame, wanted) {
                let decided = &self.decided;
                let skip = |id: &TraceId| decided.has(id);
                match part {
                    Part::Rows(Table::Spans, batch) => {
                        self.open.add_spans(frame.seq, &batch, &self.rules, skip, now);
                    }
                    Part::Rows(_, batch) => self.open.add_logs(frame.seq, &batch, &self.rules, skip, now),
                    Part::Queue(_) | Part::Drift(_) => {}
                }
            }
            self.at = frame.seq;
            // The oldest traces are judged before more is read.
            if self.open.is_over() {
                break;
            }
        }
        Ok(true)
    }

    /// Decides about the ripe traces. When it returns, decisions and items are durable.
    async fn close(&mut self) -> Result<(), JournalError> {
        let now = self.clock.now();
        // What log records said is added now, and filters are asked again.
        let ripe = tokio::task::block_in_place(|| self.open.take_ripe(now, &self.rules));
        metrics::gauge!("groundline_open_traces").set(self.open.len() as f64);
        let (mut frame, rules) = (Outgoing::default(), self.rules.clone());
        for (id, trace) in &ripe {
            let view = View::new(trace);
            let drawn = decide(trace, &view, &rules);
            // A trace without a decision is none of ours yet: a model span may still come.
            if drawn.is_empty() {
                continue;
            }
            self.decided.note(*id, now);
            for mut one in drawn {
                if let Some((draw, rule, bit)) = one.matched() {
                    self.memory.settle(draw, rule, bit, now);
                }
                self.put(&one, &view, trace.first_seq, now, &mut frame).await?;
                for shadow in one.shadows(&rules) {
                    self.put(&shadow, &view, trace.first_seq, now, &mut frame).await?;
                }
            }
        }
        if !frame.decisions.is_empty() {
            self.append(frame).await?;
        }
        Ok(())
    }

    /// Puts a decision, and the items that follow from it, into the frame; one that is full is written first.
    async fn put<'a>(
        &mut self,
        one: &Drawn<'a>,
        view: &View<'a>,
        first_seq: u64,
        now: UnixNanos,
        frame: &mut Outgoing,
    ) -> Result<(), JournalError> {
        if frame.decisions.len() >= DECISIONS_A_FRAME {
            self.append(std::mem::take(frame)).await?;
        }
        frame.first_seq = Some(frame.first_seq.map_or(first_seq, |seq| seq.min(first_seq)));
        let decision = one.decision(now);
        if decision.decision != DecisionKind::Queued {
            frame.decisions.push(decision);
            return Ok(());
        }
        // One at a time: the items of one trace together may be many times what the queue holds.
        let mut decision = Some(decision);
        for lane in one.lanes() {
            let (more, more_bytes) = frame.lanes[*lane as usize];
            let item = || one.item(view, now, *lane);
            let Some(item) = fitting(&self.queue, *lane, more, more_bytes, item) else {
                frame.decisions.push(throttled(one.decision(now), *lane));
                continue;
            };
            let bytes = size(&item);
            if frame.bytes() + bytes > ITEM_BYTES_A_FRAME && !frame.decisions.is_empty() {
                self.append(std::mem::take(frame)).await?;
                frame.first_seq = Some(first_seq);
            }
            if let Some(decision) = decision.take() {
                frame.decisions.push(decision);
                self.memory.spend(one.bit(), now);
            }
            frame.push(item, bytes);
        }
        Ok(())
    }

    /// Makes decisions and items durable and gives the items to the queue. What cannot be written down stays owed: the
    /// cursor does not pass its trace, and the next start decides about it again.
    async fn append(&mut self, outgoing: Outgoing) -> Result<(), JournalError> {
        let Outgoing { decisions, items, first_seq, .. } = outgoing;
        let events: Vec<QueueEvent> =
            items.into_iter().map(|item| QueueEvent::Queued(Box::new(item))).collect();
        let Some(why) = self.write(&decisions, &events).await? else {
            self.written(&decisions, events);
            return Ok(());
        };
        if events.len() < 2 {
            return self.give_up(decisions, &why, first_seq).await;
        }
        // One item that cannot be written must not cost the others of its frame.
        for (decisions, events) in one_by_one(decisions, events) {
            match self.write(&decisions, &events).await? {
                None => self.written(&decisions, events),
                Some(why) => self.give_up(decisions, &why, first_seq).await?,
            }
        }
        Ok(())
    }

    /// Gives the items to the queue, now that they and their decisions are durable.
    fn written(&self, decisions: &[Decision], events: Vec<QueueEvent>) {
        events.into_iter().for_each(|event| self.queue.apply(event));
        count(decisions);
    }

    /// Decides that the items which cannot be written have failed.
    async fn give_up(
        &mut self,
        decisions: Vec<Decision>,
        why: &str,
        first_seq: Option<u64>,
    ) -> Result<(), JournalError> {
        metrics::counter!("groundline_sampling_errors_total").increment(1);
        tracing::error!(why, "items cannot be queued");
        let failed: Vec<Decision> = decisions.into_iter().map(|d| given_up(d, why)).collect();
        match self.write(&failed, &[]).await? {
            None => count(&failed),
            Some(why) => {
                tracing::error!(why, "decisions could not be written; they are made again after a restart");
                self.unwritten = self.unwritten.into_iter().chain(first_seq).min();
            }
        }
        Ok(())
    }

    /// Writes one frame; if it can never be written, why not.
    async fn write(
        &self,
        decisions: &[Decision],
        events: &[QueueEvent],
    ) -> Result<Option<String>, JournalError> {
        let (kind, payload) = match (self.encode)(decisions, events) {
            Ok(frame) => frame,
            Err(error) => return Ok(Some(error.to_string())),
        };
        match self.journal.append_durably(kind.0, payload).await {
            Ok(_) => Ok(None),
            // Only an item of its own can be too large; it would stop the loop at every start.
            Err(JournalError::FrameTooLarge { bytes, limit }) => Ok(Some(format!(
                "{} item(s) of {bytes} bytes are over journal.max_frame_size ({limit})",
                events.len()
            ))),
            Err(error) => Err(error),
        }
    }

    /// Moves the cursor to what no open trace needs.
    fn save_cursor(&mut self) -> Result<(), JournalError> {
        let needed = [self.open.first_seq(), self.unwritten].into_iter().flatten().min();
        let cursor = needed.map_or(self.at, |seq| (seq - 1).min(self.at));
        if cursor <= self.cursor {
            return Ok(());
        }
        match self.journal.set_cursor(CURSOR, cursor) {
            Ok(()) => self.cursor = cursor,
            Err(error) if error.is_retryable() => tracing::warn!(%error, "the cursor is moved later"),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// The frame of decisions and of the queue events that follow from them.
fn encoded(decisions: &[Decision], events: &[QueueEvent]) -> Result<(FrameKind, Bytes), FrameError> {
    let mut parts = vec![Part::Rows(Table::Decisions, decisions_to_batch(decisions)?)];
    if !events.is_empty() {
        let events = QueueEvent::encode(events).map_err(|e| ArrowError::ExternalError(Box::new(e)))?;
        parts.push(Part::Queue(events));
    }
    frame::encode(&parts)
}

/// The item that `build` makes, if it fits into the queue beside `more` items of `more_bytes` that are on their way. A
/// queue that is full costs no building.
fn fitting(
    queue: &Queue,
    lane: Lane,
    more: usize,
    more_bytes: usize,
    build: impl FnOnce() -> Option<Item>,
) -> Option<Item> {
    if queue.is_full(lane, more, more_bytes) {
        return None;
    }
    build().filter(|item| queue.has_room(item, more, more_bytes))
}

fn count(decisions: &[Decision]) {
    for decision in decisions {
        metrics::counter!("groundline_decisions_total", "rule" => decision.rule.clone(),
            "decision" => decision.decision.as_str())
        .increment(1);
    }
}

/// The decision about an item for which the lane has no room.
pub(super) fn throttled(decision: Decision, lane: Lane) -> Decision {
    let lane = lane.as_str();
    let reason = format!("the queue is full (queue.{lane}.max_items, queue.{lane}.max_size)");
    Decision { decision: DecisionKind::Throttled, reason, ..decision }
}

fn parts(frame: &Frame, wanted: FrameKind) -> Vec<Part> {
    if !FrameKind(frame.kind).meets(wanted) {
        return Vec::new();
    }
    frame::decode(&frame.payload, wanted).unwrap_or_else(|error| {
        metrics::counter!("groundline_frames_unreadable_total").increment(1);
        tracing::error!(seq = frame.seq, %error, "journal frame left out of sampling");
        Vec::new()
    })
}

/// Traces that were decided, oldest first.
#[derive(Default)]
struct Decided {
    when: HashMap<TraceId, UnixNanos>,
    order: VecDeque<(UnixNanos, TraceId)>,
}

impl Decided {
    fn has(&self, id: &TraceId) -> bool {
        self.when.contains_key(id)
    }

    fn note(&mut self, id: TraceId, now: UnixNanos) {
        if self.when.insert(id, now).is_none() {
            self.order.push_back((now, id));
        }
        while let Some((when, old)) = self.order.front() {
            if self.order.len() <= REMEMBER_TRACES && now.since(*when) <= REMEMBER_NANOS {
                break;
            }
            self.when.remove(old);
            self.order.pop_front();
        }
    }

    /// Only what is decided at once about a trace counts: `scored` and its like follow later.
    fn note_rows(&mut self, batch: &RecordBatch, now: UnixNanos) {
        let Some(ids) = batch.column_by_name("trace_id").and_then(|c| c.as_string_opt::<i32>()) else {
            return;
        };
        for id in ids.iter().flatten().filter_map(|text| TraceId::from_hex(text).ok()) {
            self.note(id, now);
        }
    }
}

#[cfg(test)]
#[path = "unwritten_tests.rs"]
mod unwritten_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::trace::EvalInput;
    use crate::queue::LaneConfig;
    use crate::units::ByteSize;

    fn item(id: &str, answer: usize) -> Item {
        let input = EvalInput { answer: Some("x".repeat(answer)), ..EvalInput::default() };
        Item { input, ..crate::queue::test_item(id) }
    }

    #[test]
    fn a_full_queue_costs_no_item() {
        let holding = |max_items, max_bytes| {
            let fast = LaneConfig { max_items, max_size: ByteSize::new(max_bytes), ..LaneConfig::default() };
            let queue = Queue::new(crate::queue::Config { fast, ..crate::queue::Config::default() });
            queue.apply(QueueEvent::Queued(Box::new(item("a", 100))));
            queue
        };
        let fitting = |queue: &Queue, more, bytes, build: &dyn Fn() -> Option<Item>| {
            super::fitting(queue, Lane::Fast, more, bytes, build)
        };
        let never = || -> Option<Item> { panic!("it is built") };
        // Full by number, and full by bytes, also with what is on its way.
        assert!(fitting(&holding(1, 1 << 20), 0, 0, &never).is_none());
        assert!(fitting(&holding(2, 1 << 20), 1, 600, &never).is_none());
        assert!(fitting(&holding(9, 1_000), 0, 0, &never).is_none());
        assert!(fitting(&holding(9, 1_500), 1, 600, &never).is_none());
        // What may fit is built, and then asked for by its size.
        let queue = holding(9, 2_000);
        assert!(fitting(&queue, 0, 0, &|| Some(item("b", 1_000))).is_none());
        assert_eq!(fitting(&queue, 0, 0, &|| Some(item("b", 100))).map(|item| item.id), Some("b".to_owned()));
    }
}
