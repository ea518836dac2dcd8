//! The loop that keeps the queue's own log.
//!
//! What happens to items becomes durable in the journal first, together with what it belongs to: decisions with their
//! items, scores with the end of theirs. This loop copies the queue's part of those frames to the log in
//! `<data_dir>/queue` and moves the cursor "queue" behind them, so that an item which waits for hours keeps no spans in
//! the journal. The copy is idempotent: after a crash the loop reads again from its cursor, and events that are known
//! change nothing.
//!
//! The log is compacted: what is still needed of old items is written again at its end, when it has grown by as much as that.
//! The process may end between any two frames of it: an item then stands in the log twice, and the later one counts.

use super::event::{QueueError, QueueEvent};
use super::lane::Lane;
use super::queue::Queue;
use crate::journal::{Config as LogConfig, Frame, Full, Journal, JournalError, Reader};
use crate::schema::FORMAT;
use crate::schema::frame::{self, FrameKind, Part};
use crate::units::ByteSize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The name of the journal cursor behind which the queue has everything.
pub const CURSOR: &str = "queue";
/// The log's own cursor: what lies behind it is needed by no item.
const LOG_CURSOR: &str = "items";
/// How often the journal is looked at.
const TICK: Duration = Duration::from_millis(100);
/// How often the cursors move.
const SAVE: Duration = Duration::from_secs(2);
/// How long the log waits for room.
const FULL_WAIT: Duration = Duration::from_millis(500);
/// Bytes of events in one frame of the log.
const FRAME_BYTES: usize = 8 << 20;
/// What the events of one frame of the journal may grow by when they are written alone.
const OVERHEAD: u64 = 4 << 10;

/// The loop, and what it owns.
pub struct Follower {
    journal: Journal,
    log: Journal,
    queue: Arc<Queue>,
    reader: Reader,
    /// The cursor of the journal as it was saved last.
    saved: u64,
    /// Bytes that came to the log since it was compacted; at first all that it has.
    grown: u64,
    /// Bytes of items in one frame of a compaction.
    chunk_bytes: usize,
}

/// Events of the journal that are not in the log yet.
#[derive(Default)]
struct Batch {
    events: Vec<QueueEvent>,
    bytes: usize,
}

impl Follower {
    /// Opens the log in `dir`, and reads it and what the journal has behind it. When it returns, the queue holds every
    /// item that waited before.
    ///
    /// # Errors
    /// Those of opening and reading the journal and the log.
    pub fn open(
        journal: Journal,
        dir: &Path,
        queue: Arc<Queue>,
        config: &LogConfig,
    ) -> Result<Self, JournalError> {
        let log = Journal::open(dir, log_config(config, queue.config().max_disk_size), FORMAT)?;
        let mut items = log.reader(log.cursor(LOG_CURSOR)?)?;
        while let Some(frame) = items.next()? {
            for event in told(QueueEvent::decode(&frame.payload), frame.seq) {
                let whole = event.is_whole().then(|| event.id().to_owned());
                queue.apply(event);
                note(&queue, whole, frame.seq);
            }
        }
        let saved = journal.cursor(CURSOR)?;
        let mut ahead = journal.reader(saved)?;
        while let Some(frame) = ahead.next()? {
            queue.apply_all(events(&frame));
        }
        let reader = journal.reader(saved)?;
        let grown = log.stats().bytes_on_disk;
        Ok(Self { journal, log, queue, reader, saved, grown, chunk_bytes: FRAME_BYTES })
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    /// When the log or the journal can no longer be read or written.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), JournalError> {
        let mut last = tokio::time::Instant::now();
        loop {
            let stopping = stop.is_cancelled();
            let behind = self.copy().await?;
            if stopping || last.elapsed() > SAVE {
                self.compact().await?;
                tokio::task::block_in_place(|| self.save())?;
                last = tokio::time::Instant::now();
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

    /// Copies what the journal has, up to one frame of the log; true if there is more. When it returns, that is durable.
    pub(crate) async fn copy(&mut self) -> Result<bool, JournalError> {
        let (batch, more) = tokio::task::block_in_place(|| self.read())?;
        if !batch.events.is_empty() {
            // The sampling loop and the workers have applied them already, but after a crash nobody has.
            let is_new =
                |event: &&QueueEvent| !matches!(event, QueueEvent::Queued(item) if self.queue.knows(item));
            // Asked before the queue is held.
            let new: Vec<QueueEvent> = batch.events.iter().filter(is_new).cloned().collect();
            self.queue.apply_all(new);
            self.append(&batch.events).await?;
        }
        Ok(more)
    }

    fn read(&mut self) -> Result<(Batch, bool), JournalError> {
        let mut batch = Batch::default();
        while batch.bytes < FRAME_BYTES {
            let Some(frame) = self.reader.next()? else { return Ok((batch, false)) };
            batch.events.extend(events(&frame));
            if FrameKind(frame.kind).meets(FrameKind::queue()) {
                batch.bytes += frame.payload.len();
            }
        }
        Ok((batch, true))
    }

    async fn append(&mut self, events: &[QueueEvent]) -> Result<(), JournalError> {
        let payload = match QueueEvent::encode(events) {
            Ok(payload) => payload,
            // They were read from JSON, so they can be written as JSON. If not, the journal must keep them.
            Err(error) => return Err(JournalError::Payload { cause: error.to_string() }),
        };
        let bytes = payload.len() as u64;
        let seq = loop {
            match self.log.append_owed(FrameKind::queue().0, payload.clone()).await {
                Err(JournalError::Full(full)) => {
                    if !tokio::task::block_in_place(|| self.make_room(&full))? {
                        tokio::time::sleep(FULL_WAIT).await;
                    }
                }
                ended => break ended?,
            }
        };
        self.grown += bytes;
        let ids = events.iter().filter(|event| event.is_whole()).map(|event| event.id().to_owned());
        note(&self.queue, ids, seq);
        Ok(())
    }

    /// The log is full: lets go of what no item needs any more, because nobody else does; true if that was something.
    fn make_room(&self, full: &Full) -> Result<bool, JournalError> {
        let has_moved = self.save_log()?;
        if !has_moved {
            let dir = self.log.dir().display();
            let why = match full {
                // The log's words would name the journal's key.
                Full::Disk { used, .. } => format!(
                    "it takes {used} bytes (queue.max_disk_size is {})",
                    self.queue.config().max_disk_size
                ),
                Full::Queue { .. } | Full::Device => full.to_string(),
            };
            tracing::warn!(%dir, %why, "the queue's log is full; the journal keeps what comes until items end");
        }
        Ok(has_moved)
    }

    /// Writes again what is still needed, if the log has grown by as much as that since the last time.
    pub(crate) async fn compact(&mut self) -> Result<(), JournalError> {
        let Some(newest) = self.due() else { return Ok(()) };
        while self.compact_some(newest).await? {}
        self.grown = 0;
        metrics::counter!("groundline_queue_compactions_total").increment(1);
        Ok(())
    }

    /// The frame up to which the log is compacted now; none if that is not worth it.
    pub(super) fn due(&self) -> Option<u64> {
        let (live, oldest) = self.queue.with_state(|state| {
            let lanes = Lane::ALL.map(|lane| {
                let entries = state.lane(lane);
                (entries.bytes + entries.ended_bytes, entries.first_log_seq())
            });
            let bytes: usize = lanes.iter().map(|(bytes, _)| bytes).sum();
            (bytes as u64, lanes.iter().filter_map(|(_, seq)| *seq).min())
        });
        let config = self.queue.config();
        // A log that is full before it is compacted would take nothing more.
        let least = config.compact_after.bytes().min(config.max_disk_size.bytes() / 2).max(live);
        (oldest.is_some() && self.grown > least).then(|| self.log.durable())
    }

    /// Writes some of the items again whose newest copy stands in a frame up to `newest`, in one frame; true if there may be
    /// more.
    pub(super) async fn compact_some(&mut self, newest: u64) -> Result<bool, JournalError> {
        let mut chunk = self.kept_before(newest);
        if chunk.is_empty() {
            return Ok(false);
        }
        loop {
            match self.append(&chunk).await {
                // Texts with many quotes or odd characters are several times as long in JSON.
                Err(JournalError::FrameTooLarge { .. }) if chunk.len() > 1 => chunk.truncate(chunk.len() / 2),
                ended => return ended.map(|()| true),
            }
        }
    }

    /// Some of the items whose newest copy stands in a frame up to `newest`; the oldest copies first, whatever their lane, so
    /// that the log can soon let go of what is before them.
    fn kept_before(&self, newest: u64) -> Vec<QueueEvent> {
        self.queue.with_state(|state| {
            let (mut chunk, mut bytes) = (Vec::new(), 0);
            for entry in state.logged_through(newest) {
                if bytes > self.chunk_bytes {
                    break;
                }
                bytes += super::event::size(&entry.item);
                chunk.push(QueueEvent::Kept(Box::new(entry.kept())));
            }
            chunk
        })
    }

    /// Moves the cursors of the journal and of the log.
    pub(crate) fn save(&mut self) -> Result<(), JournalError> {
        let at = self.reader.position();
        if at > self.saved {
            match self.journal.set_cursor(CURSOR, at) {
                Ok(()) => self.saved = at,
                Err(error) if error.is_retryable() => tracing::warn!(%error, "the cursor is moved later"),
                Err(error) => return Err(error),
            }
        }
        self.save_log().map(|_| ())
    }

    /// Moves the cursor of the log; true if it has moved.
    fn save_log(&self) -> Result<bool, JournalError> {
        let first = self.queue.with_state(|state| {
            Lane::ALL.into_iter().filter_map(|lane| state.lane(lane).first_log_seq()).min()
        });
        let done = first.map_or(self.log.durable(), |seq| seq - 1);
        if done <= self.log.cursor(LOG_CURSOR)? {
            return Ok(false);
        }
        match self.log.set_cursor(LOG_CURSOR, done) {
            Ok(()) => Ok(true),
            Err(error) if error.is_retryable() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Compacts with few items in a frame, so that there are many steps at which to end.
    #[cfg(test)]
    pub(super) fn set_chunk_bytes(&mut self, bytes: usize) {
        self.chunk_bytes = bytes;
    }

    /// The log's size on the disk, bytes.
    #[cfg(test)]
    pub(super) fn disk_bytes(&self) -> u64 {
        self.log.stats().bytes_on_disk
    }
}

/// The frame `seq` of the log has what is needed of these items.
fn note(queue: &Queue, ids: impl IntoIterator<Item = String>, seq: u64) {
    queue.with_state(|state| {
        for id in ids {
            Lane::ALL.into_iter().for_each(|lane| state.lane(lane).logged(&id, seq));
        }
    });
}

/// The queue's part of a frame of the journal.
fn events(frame: &Frame) -> Vec<QueueEvent> {
    let wanted = FrameKind::queue();
    if !FrameKind(frame.kind).meets(wanted) {
        return Vec::new();
    }
    let parts = frame::decode(&frame.payload, wanted).unwrap_or_else(|error| {
        metrics::counter!("groundline_frames_unreadable_total").increment(1);
        tracing::error!(seq = frame.seq, %error, "journal frame left out of the queue");
        Vec::new()
    });
    let queued = parts.into_iter().filter_map(|part| match part {
        Part::Queue(bytes) => Some(told(QueueEvent::decode(&bytes), frame.seq)),
        Part::Rows(..) | Part::Drift(_) => None,
    });
    queued.flatten().collect()
}

/// The events, or none and a word in the log: the checksum held, so only a fault of a program can be behind it.
fn told(events: Result<Vec<QueueEvent>, QueueError>, seq: u64) -> Vec<QueueEvent> {
    events.unwrap_or_else(|error| {
        metrics::counter!("groundline_frames_unreadable_total").increment(1);
        tracing::error!(seq, %error, "queue events left out");
        Vec::new()
    })
}

/// The log takes whatever fits into a frame of the journal, and keeps nothing in memory: it is read only at a start.
fn log_config(journal: &LogConfig, max_disk_size: ByteSize) -> LogConfig {
    let more =
        |size: ByteSize, times: u64| ByteSize::new(size.bytes() + times * (OVERHEAD + FRAME_BYTES as u64));
    let segment_size = more(journal.segment_size, 2);
    LogConfig {
        max_frame_size: more(journal.max_frame_size, 1),
        segment_size,
        max_queued_size: more(journal.max_queued_size, 2),
        recent_size: ByteSize::ZERO,
        max_disk_size: max_disk_size.max(ByteSize::new(3 * segment_size.bytes())),
        commit_window: journal.commit_window,
    }
}
