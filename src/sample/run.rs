//! The loop of sampling: journal to open traces, ripe traces to decisions and items.

use super::again::{Found, Tables};
use super::assemble::{Open, OpenTrace};
use super::config::Config;
use super::decide::{Drawn, decide};
use super::decided::{Decided, REMEMBER_NANOS};
use super::input::View;
use super::late::Latecomers;
use super::memory::Memory;
use super::outgoing::{
    DECISIONS_A_FRAME, ITEM_BYTES_A_FRAME, Outgoing, count, count_queued, encoded, fitting, given_up,
    one_by_one, throttled,
};
use super::prices::Prices;
use super::progress::Progress;
use super::rule::Rule;
use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::id::TraceId;
use crate::domain::time::{Clock, UnixNanos};
use crate::journal::{Frame, Journal, JournalError, Reader};
use crate::queue::{Queue, QueueEvent, size};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, FrameKind, Part};
use arrow::array::RecordBatch;
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// The name of the journal cursor behind which sampling and the queue need no frames.
pub const CURSOR: &str = "sample";

/// How often open traces are looked at.
const TICK: Duration = Duration::from_millis(100);
/// Frames that are read between two looks at the open traces.
const FRAMES_A_TICK: usize = 2_000;

/// How decisions and queue events are written down. Another one stands here in tests only.
type Encode = fn(&[Decision], &[QueueEvent]) -> Result<(FrameKind, Bytes), FrameError>;

/// The sampling loop.
pub struct Sampler {
    journal: Journal,
    pub(super) rules: Arc<Vec<Rule>>,
    pub(super) queue: Arc<Queue>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) open: Open,
    pub(super) decided: Decided,
    pub(super) config: Config,
    pub(super) late: Latecomers,
    /// Up to which frame the spans of a trace are in an item, of what was written before the start: these are read again, and
    /// have not come late.
    covered: HashMap<TraceId, u64>,
    pub(super) tables: Option<Tables>,
    /// Old traces of which the tables are asked whether they were decided, and since when that is asked in vain.
    pub(super) suspect: VecDeque<(TraceId, OpenTrace)>,
    pub(super) in_vain: Option<UnixNanos>,
    /// What the tables said of traces with late spans.
    pub(super) found: (UnboundedSender<Found>, UnboundedReceiver<Found>),
    memory: Memory,
    reader: Reader,
    pub(super) at: u64,
    cursor: u64,
    /// The first frame of a trace whose decisions could not be written: the next start reads it again.
    unwritten: Option<u64>,
    encode: Encode,
    progress: Arc<Progress>,
}

impl Sampler {
    /// Opens the loop at its cursor.
    ///
    /// `known` are the traces that were decided in the last hour, from the table `decisions`: spans of them come late.
    pub fn new(
        journal: Journal,
        rules: Arc<Vec<Rule>>,
        queue: Arc<Queue>,
        clock: Arc<dyn Clock>,
        config: Config,
        known: impl Iterator<Item = TraceId>,
    ) -> Result<Self, JournalError> {
        let cursor = journal.cursor(CURSOR)?;
        let hour_ago = UnixNanos(clock.now().0.saturating_sub(REMEMBER_NANOS));
        let (mut decided, mut covered) = (Decided::since(hour_ago), HashMap::new());
        known.for_each(|id| decided.note(id, true, clock.now()));
        // What was decided before the crash must be known before the same spans are read again.
        let mut ahead = journal.reader(cursor)?;
        while let Some(frame) = ahead.next()? {
            for part in parts(&frame, FrameKind::of(Table::Decisions).and(FrameKind::queue())) {
                match part {
                    Part::Rows(_, batch) => decided.note_rows(&batch, clock.now()),
                    Part::Queue(bytes) => note_covered(&bytes, &mut covered),
                    Part::Drift(_) => {}
                }
            }
        }
        let late = Latecomers::new(config.late.clone());
        let reader = journal.reader(cursor)?;
        let (open, memory, progress) = (Open::new(config.clone()), Memory::new(&rules), Arc::default());
        Ok(Self {
            journal,
            rules,
            queue,
            clock,
            open,
            decided,
            config,
            late,
            covered,
            tables: None,
            suspect: VecDeque::new(),
            in_vain: None,
            found: unbounded_channel(),
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

    /// With the tables, which know what was decided long ago, and all that came of a trace. Without them nothing is evaluated
    /// again.
    #[must_use]
    pub fn with_tables(mut self, tables: Tables) -> Self {
        self.tables = Some(tables);
        self
    }

    /// What must be asked of the tables before [`Sampler::restore`]; none if no rule depends on the past, second phases included.
    pub fn past(&self) -> Option<&'static str> {
        self.memory.past()
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
            // Reading decodes and filters: too long for a thread that answers requests. Where there is nothing to read, no
            // other one is woken to take over.
            let behind = match self.journal.durable() > self.reader.position() {
                true => tokio::task::block_in_place(|| self.read())?,
                false => self.read()?,
            };
            self.close().await?;
            self.look_again().await?;
            self.progress.publish(self.at, &self.open, &self.suspect);
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
                let skip = |id: &TraceId| decided.is_sure(id);
                let Part::Rows(table, batch) = part else { continue };
                let is_span = table == Table::Spans;
                let late = match is_span {
                    true => self.open.add_spans(frame.seq, &batch, &self.rules, skip, now),
                    false => self.open.add_logs(frame.seq, &batch, &self.rules, skip, now),
                };
                for (trace, span) in late {
                    // A trace that goes on is remembered on.
                    let is_selected = self.decided.renew(trace, now);
                    let is_covered = self.covered.get(&trace).is_some_and(|until| frame.seq <= *until);
                    if self.tables.is_some() && is_selected && !is_covered {
                        self.late.note(trace, span, is_span, frame.seq, now);
                    }
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
        let ripe = match self.open.len() {
            0 => self.open.take_ripe(now, &self.rules),
            _ => tokio::task::block_in_place(|| self.open.take_ripe(now, &self.rules)),
        };
        metrics::gauge!("groundline_open_traces").set(self.open.len() as f64);
        let (mut frame, rules) = (Outgoing::default(), self.rules.clone());
        let ripe = self.undecided(ripe, now).await;
        for (id, trace) in &ripe {
            let view = View::new(trace);
            let drawn = decide(trace, &view, &rules);
            // A trace without a decision is none of ours yet: a model span may still come.
            if drawn.is_empty() {
                continue;
            }
            // A trace of which one frame is written and the next is not is known as decided after a crash.
            if frame.is_too_full_for(drawn.iter().map(|one| one.most_decisions(&rules)).sum()) {
                self.append(std::mem::take(&mut frame)).await?;
            }
            let mut is_selected = false;
            for mut one in drawn {
                if let Some((draw, rule, bit)) = one.matched() {
                    self.memory.settle(draw, rule, bit, now);
                }
                is_selected |= one.draw().is_some_and(|draw| draw.is_selected());
                self.put(&one, &view, trace.first_seq, now, &mut frame).await?;
                for shadow in one.shadows(&rules) {
                    self.put(&shadow, &view, trace.first_seq, now, &mut frame).await?;
                }
            }
            self.decided.note(*id, is_selected, now);
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
            let Some(mut item) = fitting(&self.queue, *lane, more, more_bytes, item) else {
                frame.decisions.push(throttled(one.decision(now), *lane));
                continue;
            };
            item.until = self.at;
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
    pub(super) async fn append(&mut self, outgoing: Outgoing) -> Result<(), JournalError> {
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
        count_queued(&events);
        self.queue.apply_all(events);
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
        let suspect = self.suspect.iter().map(|(_, trace)| trace.first_seq).min();
        let needed = [self.open.first_seq(), self.unwritten, self.late.first_seq(), suspect];
        let needed = needed.into_iter().flatten().min();
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

/// Takes note of items, and up to which frame the spans of their trace are in them.
fn note_covered(bytes: &Bytes, covered: &mut HashMap<TraceId, u64>) {
    // Who follows the queue tells of events that cannot be read.
    for event in QueueEvent::decode(bytes).unwrap_or_default() {
        if let QueueEvent::Queued(item) = event
            && item.until > 0
        {
            let until = covered.entry(item.trace_id).or_default();
            *until = item.until.max(*until);
        }
    }
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

#[cfg(test)]
#[path = "unwritten_tests.rs"]
mod unwritten_tests;
