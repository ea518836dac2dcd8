//! What appenders, writer and readers share. Lock order: cursors, then log; the locks of the queue and of the last frames
//! are taken alone.

use super::config::Config;
use super::damage::Damage;
use super::error::{Full, JournalError};
use super::files::Files;
use super::recent::Recent;
use super::record::Frame;
use super::segment::Stamp;
use super::{record, segment};
use crate::units::ByteSize;
use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::{oneshot, watch};

/// The answer to one append.
pub(super) type Answer = Result<u64, JournalError>;

/// What an appender may use of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// Up to the limit.
    New,
    /// An eighth more: what moves cursors must not wait for the space that only cursors free.
    Owed,
}

/// A frame that waits for the writer.
pub(super) struct Pending {
    pub(super) kind: u32,
    pub(super) payload: Bytes,
    pub(super) payload_crc: u32,
    pub(super) done: oneshot::Sender<Answer>,
}

impl Pending {
    /// Bytes of the record that it becomes.
    pub(super) fn record_bytes(&self) -> u64 {
        (record::HEADER + self.payload.len()) as u64
    }

    /// What readers get of it.
    pub(super) fn durable(&self, seq: u64) -> Frame {
        Frame { seq, kind: self.kind, payload: self.payload.clone() }
    }
}

/// Why the queue takes nothing more; none while it does.
type Stopped = Option<JournalError>;

struct Queue {
    waiting: Vec<Pending>,
    /// Record bytes that wait or are being written: they are given back when they are answered.
    bytes: u64,
    stopped: Stopped,
}

/// One segment file, up to where it is durable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) first_seq: u64,
    pub(super) bytes: u64,
}

/// The segment list and what is known of it.
#[derive(Default)]
pub(super) struct Log {
    /// In order; the last is the active one. Never empty once the journal is open.
    pub(super) segments: VecDeque<Segment>,
    /// Purged, but the file could not be removed yet.
    pub(super) doomed: Vec<Segment>,
    pub(super) durable: u64,
    /// Numbers up to this one are gone because every cursor had passed them.
    pub(super) purged_through: u64,
    pub(super) damage: Damage,
}

impl Log {
    /// Where in the list the frame `seq` is, or would be; the first segment if it is before all of them.
    pub(super) fn index_of(&self, seq: u64) -> usize {
        self.segments.partition_point(|s| s.first_seq <= seq).saturating_sub(1)
    }
}

/// Counters that nothing depends on.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) fsyncs: AtomicU64,
    pub(super) torn_bytes_cut: AtomicU64,
}

/// The shared state of one open journal.
pub(super) struct Shared {
    pub(super) dir: PathBuf,
    pub(super) config: Config,
    pub(super) files: Arc<dyn Files>,
    /// What new segments say of themselves.
    pub(super) stamp: Stamp,
    pub(super) log: Mutex<Log>,
    pub(super) durable: watch::Sender<u64>,
    pub(super) counters: Counters,
    pub(super) recent: Recent,
    /// Whether the active segment takes no further frames.
    pub(super) is_ending: AtomicBool,
    /// Bytes of all segment files, also those that could not be removed.
    disk_bytes: AtomicU64,
    queue: Mutex<Queue>,
    wake: Condvar,
}

impl Shared {
    /// The state of a journal that was just recovered.
    pub(super) fn new(dir: PathBuf, config: Config, files: Arc<dyn Files>, stamp: Stamp, log: Log) -> Self {
        let disk_bytes = log.segments.iter().map(|s| s.bytes).sum();
        let recent = Recent::new(config.recent_size.bytes());
        Self {
            dir,
            config,
            files,
            stamp,
            durable: watch::Sender::new(log.durable),
            log: Mutex::new(log),
            counters: Counters::default(),
            recent,
            is_ending: AtomicBool::new(false),
            disk_bytes: AtomicU64::new(disk_bytes),
            queue: Mutex::new(Queue { waiting: Vec::new(), bytes: 0, stopped: None }),
            wake: Condvar::new(),
        }
    }

    /// Hands a frame to the writer. Never blocks: over a limit, the answer is a retryable error.
    pub(super) fn enqueue(&self, pending: Pending, claim: Claim) -> Result<(), JournalError> {
        let bytes = pending.record_bytes();
        let mut queue = self.queue.lock();
        if let Some(error) = &queue.stopped {
            return Err(error.clone());
        }
        let (queued, limit) = (queue.bytes, self.config.max_queued_size);
        if queued + bytes > limit.bytes() {
            return Err(JournalError::Full(Full::Queue { queued, limit }));
        }
        let (used, mut limit) = (self.disk_bytes(), self.config.max_disk_size);
        if claim == Claim::Owed {
            limit = ByteSize::new(limit.bytes().saturating_add(limit.bytes() / 8));
        }
        if used + queued + bytes > limit.bytes() {
            return Err(JournalError::Full(Full::Disk { used, limit }));
        }
        queue.bytes += bytes;
        queue.waiting.push(pending);
        drop(queue);
        self.wake.notify_one();
        Ok(())
    }

    /// Waits for frames and takes all of them; none once the queue is stopped and empty.
    pub(super) fn take_batch(&self) -> Option<Vec<Pending>> {
        let mut queue = self.queue.lock();
        while queue.waiting.is_empty() {
            if queue.stopped.is_some() {
                return None;
            }
            self.wake.wait(&mut queue);
        }
        if !self.config.commit_window.is_zero() && queue.stopped.is_none() {
            drop(queue);
            std::thread::sleep(self.config.commit_window);
            queue = self.queue.lock();
        }
        Some(std::mem::take(&mut queue.waiting))
    }

    /// Answers frames that are durable, as `first_seq` and following.
    pub(super) fn acknowledge(&self, frames: Vec<Pending>, first_seq: u64) {
        self.release(&frames);
        for (seq, frame) in (first_seq..).zip(frames) {
            // An appender that went away has no use for the answer.
            let _ = frame.done.send(Ok(seq));
        }
    }

    /// Answers frames that were not kept.
    pub(super) fn refuse(&self, frames: Vec<Pending>, error: &JournalError) {
        self.release(&frames);
        for frame in frames {
            let _ = frame.done.send(Err(error.clone()));
        }
    }

    /// Gives room in the queue back. Before the answer: who appends again on it must not meet the old frame's bytes.
    fn release(&self, frames: &[Pending]) {
        let bytes: u64 = frames.iter().map(Pending::record_bytes).sum();
        self.queue.lock().bytes -= bytes;
    }

    /// Why no frames are taken; none while they are.
    pub(super) fn stopped(&self) -> Option<JournalError> {
        self.queue.lock().stopped.clone()
    }

    /// Takes no further frames; the first reason stays. What waits is still written.
    pub(super) fn stop(&self, reason: JournalError) {
        self.queue.lock().stopped.get_or_insert(reason);
        self.wake.notify_all();
    }

    /// Takes no further frames and answers those that wait with the reason.
    pub(super) fn fail(&self, reason: JournalError) {
        let waiting = {
            let mut queue = self.queue.lock();
            queue.stopped = Some(reason.clone());
            std::mem::take(&mut queue.waiting)
        };
        self.refuse(waiting, &reason);
    }

    /// Frames up to `seq` are durable, and the active segment has `bytes` bytes.
    pub(super) fn publish(&self, seq: u64, bytes: u64) {
        let mut log = self.log.lock();
        log.durable = seq;
        if let Some(active) = log.segments.back_mut() {
            self.disk_bytes.fetch_add(bytes - active.bytes, Ordering::Relaxed);
            active.bytes = bytes;
        }
        drop(log);
        self.durable.send_replace(seq);
    }

    /// A new active segment, still without records.
    pub(super) fn add_segment(&self, first_seq: u64) {
        let segment = Segment { first_seq, bytes: segment::HEADER as u64 };
        self.log.lock().segments.push_back(segment);
        self.disk_bytes.fetch_add(segment.bytes, Ordering::Relaxed);
    }

    /// Removes the segments that lie wholly at or before `seq`, except the active one. What cannot be removed now is
    /// tried again by the next call. The caller makes sure that only one purge runs.
    pub(super) fn purge(&self, seq: u64) {
        let mut doomed = {
            let mut log = self.log.lock();
            while log.segments.len() > 1 && log.segments[1].first_seq <= seq.saturating_add(1) {
                log.purged_through = log.segments[1].first_seq - 1;
                let behind = log.segments.pop_front();
                log.doomed.extend(behind);
            }
            let through = log.purged_through;
            log.damage.forget_through(through);
            std::mem::take(&mut log.doomed)
        };
        doomed.retain(|segment| {
            let path = segment::path(&self.dir, segment.first_seq);
            match self.files.remove(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!(path = %path.display(), %error, "cannot remove a journal segment that is done with");
                    true
                }
                _ => {
                    self.disk_bytes.fetch_sub(segment.bytes, Ordering::Relaxed);
                    false
                }
            }
        });
        self.log.lock().doomed = doomed;
    }

    /// Frames `from..=to` cannot be served. Those that were purged are not missed.
    pub(super) fn note_gap(&self, from: u64, to: u64) {
        let mut log = self.log.lock();
        let from = from.max(log.purged_through + 1);
        if log.damage.note_gap(from, to) > 0 {
            tracing::error!(from, to, dir = %self.dir.display(), "journal frames are damaged or missing; skipped");
        }
    }

    /// The segment that begins with `first_seq` has damage.
    pub(super) fn note_segment(&self, first_seq: u64) {
        if self.log.lock().damage.note_segment(first_seq) {
            tracing::error!(path = %segment::path(&self.dir, first_seq).display(), "journal segment is damaged");
        }
    }

    /// Bytes of all segment files.
    pub(super) fn disk_bytes(&self) -> u64 {
        self.disk_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of records that are not answered yet.
    pub(super) fn queued_bytes(&self) -> u64 {
        self.queue.lock().bytes
    }

    /// The last durable frame.
    pub(super) fn durable_seq(&self) -> u64 {
        *self.durable.borrow()
    }
}
