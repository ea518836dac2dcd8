//! Frames in order, never one that is not durable. Damage is passed over and counted.

use super::error::JournalError;
use super::record::Frame;
use super::segment::{self, Scanner, Step};
use super::state::Shared;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads forward from one place. It does not pin anything: that is what cursors are for.
pub struct Reader {
    shared: Arc<Shared>,
    /// The least number that was not passed yet.
    next_seq: u64,
    /// The same, for whoever keeps frames for readers.
    place: Arc<AtomicU64>,
    scanner: Option<Scanner>,
}

/// What the segment list says of one segment.
struct View {
    first_seq: u64,
    bytes: u64,
    following: Option<u64>,
    durable: u64,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, after: u64) -> Self {
        let next_seq = after.saturating_add(1);
        let place = shared.recent.register(next_seq);
        Self { shared, next_seq, place, scanner: None }
    }

    /// The last frame that was given or had to be passed over. A reader that has seen None is done up to here.
    pub fn position(&self) -> u64 {
        self.next_seq - 1
    }

    /// The next durable frame; None means that it has caught up: call again after `watch` tells of more.
    /// Frames that are damaged or missing are left out and counted in the statistics. Blocks on the disk.
    /// After an error the next call begins at the same frame again.
    #[expect(clippy::should_implement_trait, reason = "None is not the end: more may come")]
    pub fn next(&mut self) -> Result<Option<Frame>, JournalError> {
        let result = self.advance();
        if result.is_err() {
            self.scanner = None;
        }
        self.place.store(self.next_seq, Ordering::Relaxed);
        result
    }

    fn advance(&mut self) -> Result<Option<Frame>, JournalError> {
        if let Some(frame) = self.remembered() {
            self.next_seq = frame.seq + 1;
            return Ok(Some(frame));
        }
        loop {
            if let Some(scanner) = &mut self.scanner {
                let (step, first_seq) = (scanner.next(self.next_seq), scanner.first_seq());
                if let Step::Record(frame) = step.map_err(|e| self.read_error(first_seq, e))? {
                    self.pass_to(frame.seq);
                    self.next_seq = frame.seq + 1;
                    return Ok(Some(frame));
                }
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// The next frame if it is still in memory. The scanner stays behind, and passes over it when it is needed again.
    fn remembered(&self) -> Option<Frame> {
        if self.shared.durable_seq() < self.next_seq {
            return None;
        }
        self.shared.recent.get(self.next_seq)
    }

    /// Opens the segment of the next frame, or allows more of it; false if everything durable was passed.
    fn more(&mut self) -> Result<bool, JournalError> {
        let view = self.view();
        if let Some(scanner) = &mut self.scanner {
            if scanner.damaged() {
                self.shared.note_segment(scanner.first_seq());
            }
            if scanner.first_seq() != view.first_seq {
                self.scanner = None;
                return Ok(true);
            }
            if scanner.allowed() < view.bytes {
                scanner.extend(view.bytes).map_err(|e| self.read_error(view.first_seq, e))?;
                return Ok(true);
            }
            return Ok(self.leave(&view));
        }
        if view.durable < self.next_seq {
            return Ok(false);
        }
        self.pass_to(view.first_seq);
        match Scanner::open(&self.shared.dir, view.first_seq, self.shared.stamp.salt, view.bytes) {
            Ok(scanner) => {
                self.scanner = Some(scanner);
                Ok(true)
            }
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(self.leave(&view))
            }
            Err(error) => Err(error),
        }
    }

    /// The segment in view gives nothing more: goes on behind it. False if there is nothing durable behind it.
    fn leave(&mut self, view: &View) -> bool {
        match view.following {
            Some(first_seq) => self.pass_to(first_seq),
            // The scanner stays: the next frames come into the same file.
            None => {
                self.pass_to(view.durable + 1);
                return false;
            }
        }
        self.scanner = None;
        true
    }

    /// The segment that is being read or, if there is none or it was purged, the one that holds the next frame.
    fn view(&self) -> View {
        let log = self.shared.log.lock();
        let reading = self.scanner.as_ref().map(Scanner::first_seq);
        let index = reading
            .and_then(|first| log.segments.binary_search_by_key(&first, |s| s.first_seq).ok())
            .unwrap_or_else(|| log.index_of(self.next_seq));
        let segment = log.segments[index];
        let following = log.segments.get(index + 1).map(|s| s.first_seq);
        View { first_seq: segment.first_seq, bytes: segment.bytes, following, durable: log.durable }
    }

    /// Frames before `seq` that were not given are missing.
    fn pass_to(&mut self, seq: u64) {
        if self.next_seq < seq {
            self.shared.note_gap(self.next_seq, seq - 1);
            self.next_seq = seq;
        }
    }

    fn read_error(&self, first_seq: u64, error: io::Error) -> JournalError {
        JournalError::io("read", &segment::path(&self.shared.dir, first_seq), error)
    }
}
