//! The one thread that writes. It takes everything that waits, writes it, syncs once, then answers everybody: while one
//! group is being synced the next one gathers, so the disk sets the pace and the groups grow with the load.

use super::error::JournalError;
use super::files::{self, LogFile};
use super::record::Header;
use super::segment::{self, Active};
use super::state::{Pending, Shared};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Small payloads are copied together up to this many bytes, to be written at once.
const BUFFER_BYTES: usize = 1 << 20;
/// Larger payloads are written from where they are.
const COPY_BYTES: usize = 64 << 10;

/// The writer's own state.
pub(super) struct Writer {
    shared: Arc<Shared>,
    active: Active,
    next_seq: u64,
    buffer: Vec<u8>,
}

/// However the thread ends, nobody waits for it for ever.
struct LastWord(Arc<Shared>);

impl Drop for LastWord {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(JournalError::Poisoned { cause: "the writer thread panicked".to_owned() });
        }
    }
}

impl Writer {
    /// A writer that goes on in `active` with `next_seq`.
    pub(super) fn new(shared: Arc<Shared>, active: Active, next_seq: u64) -> Self {
        Self { shared, active, next_seq, buffer: Vec::with_capacity(BUFFER_BYTES) }
    }

    /// Writes until the queue is stopped and empty, or until the disk fails.
    pub(super) fn run(mut self) {
        let last_word = LastWord(Arc::clone(&self.shared));
        while let Some(batch) = self.shared.take_batch() {
            if let Err(error) = self.commit(batch.into()) {
                tracing::error!(%error, "the journal stops");
                self.shared.fail(error);
                break;
            }
        }
        drop(last_word);
    }

    /// Makes all frames durable and answers them. Lack of space is answered to the frames; an error ends the writer.
    fn commit(&mut self, mut batch: VecDeque<Pending>) -> Result<(), JournalError> {
        while !batch.is_empty() {
            let group = match self.next_group(&batch) {
                Ok(count) => batch.drain(..count).collect::<Vec<_>>(),
                Err(error) => return self.refuse(batch.into(), error),
            };
            match self.write_group(&group) {
                Ok(()) => {
                    let first_seq = self.next_seq;
                    self.next_seq += group.len() as u64;
                    self.shared.recent.push((first_seq..).zip(&group).map(|(seq, frame)| frame.durable(seq)));
                    self.shared.publish(self.next_seq - 1, self.active.bytes);
                    self.shared.acknowledge(group, first_seq);
                }
                Err(error) => return self.refuse(group.into_iter().chain(batch).collect(), error),
            }
        }
        Ok(())
    }

    fn refuse(&self, frames: Vec<Pending>, error: JournalError) -> Result<(), JournalError> {
        // Stopped first: whoever hears of the failure must not be able to append after it.
        if !error.is_retryable() {
            self.shared.stop(error.clone());
        }
        self.shared.refuse(frames, &error);
        if error.is_retryable() { Ok(()) } else { Err(error) }
    }

    /// How many of the first frames go into the active segment; begins a new one if not even one does.
    fn next_group(&mut self, batch: &VecDeque<Pending>) -> Result<usize, JournalError> {
        let first = batch.front().map_or(0, Pending::record_bytes);
        let empty = segment::HEADER as u64;
        let is_ending = self.shared.is_ending.swap(false, Ordering::Relaxed);
        let is_full = self.active.bytes + first > self.shared.config.segment_size.bytes();
        if self.active.bytes > empty && (is_ending || is_full) {
            self.roll().inspect_err(|_| {
                // Who asked for a new segment still waits for it.
                self.shared.is_ending.fetch_or(is_ending, Ordering::Relaxed);
            })?;
        }
        let mut bytes = self.active.bytes;
        let fitting = batch.iter().take_while(|frame| {
            bytes += frame.record_bytes();
            bytes <= self.shared.config.segment_size.bytes()
        });
        Ok(fitting.count().max(1))
    }

    fn roll(&mut self) -> Result<(), JournalError> {
        let shared = &self.shared;
        let created = Active::create(shared.files.as_ref(), &shared.dir, self.next_seq, shared.stamp);
        // Any other failure than lack of space ends the writer, and everybody is told alike until the restart.
        self.active = created.map_err(|error| match error {
            JournalError::Io { .. } => JournalError::Poisoned { cause: error.to_string() },
            other => other,
        })?;
        // The file and its directory.
        shared.counters.fsyncs.fetch_add(2, Ordering::Relaxed);
        shared.add_segment(self.next_seq);
        Ok(())
    }

    /// Writes and syncs the frames. If it fails for lack of space the file is as it was before.
    fn write_group(&mut self, group: &[Pending]) -> Result<(), JournalError> {
        let before = self.active.bytes;
        if let Err(error) = self.write_records(group) {
            return Err(self.roll_back(before, error));
        }
        self.shared.counters.fsyncs.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = self.active.file.sync() {
            // Best effort: frames that were not answered should not be found after the restart.
            let _ = self.active.file.truncate(before);
            return Err(JournalError::poison("sync", &self.active.path, &error));
        }
        self.active.bytes = before + group.iter().map(Pending::record_bytes).sum::<u64>();
        Ok(())
    }

    fn write_records(&mut self, group: &[Pending]) -> io::Result<()> {
        let file = self.active.file.as_mut();
        self.buffer.clear();
        for (seq, frame) in (self.next_seq..).zip(group) {
            let header = Header {
                seq,
                kind: frame.kind,
                // The limit on frames is below 4 GiB.
                len: frame.payload.len() as u32,
                payload_crc: frame.payload_crc,
            };
            self.buffer.extend_from_slice(&header.encode(self.active.seed));
            if frame.payload.len() > COPY_BYTES {
                flush(file, &mut self.buffer)?;
                files::write_all(file, &frame.payload)?;
                continue;
            }
            self.buffer.extend_from_slice(&frame.payload);
            if self.buffer.len() > BUFFER_BYTES - COPY_BYTES {
                flush(file, &mut self.buffer)?;
            }
        }
        flush(file, &mut self.buffer)
    }

    /// Takes a partial write back, so that later frames begin where the last durable one ends.
    fn roll_back(&mut self, bytes: u64, error: io::Error) -> JournalError {
        let path = &self.active.path;
        if let Err(error) = self.active.file.truncate(bytes).and_then(|()| self.active.file.sync()) {
            return JournalError::poison("take back a partial write to", path, &error);
        }
        match JournalError::io("write", path, error) {
            full @ JournalError::Full(_) => full,
            other => JournalError::Poisoned { cause: other.to_string() },
        }
    }
}

fn flush(file: &mut dyn LogFile, buffer: &mut Vec<u8>) -> io::Result<()> {
    files::write_all(file, buffer)?;
    buffer.clear();
    Ok(())
}
