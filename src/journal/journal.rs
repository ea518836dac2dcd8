//! The facade: one open journal.

use super::config::Config;
use super::cursor::Cursors;
use super::error::JournalError;
use super::files::{Files, SystemFiles, create_dirs};
use super::reader::Reader;
use super::recover;
use super::segment::Stamp;
use super::state::{Claim, Pending, Shared};
use super::writer::Writer;
use bytes::Bytes;
use parking_lot::Mutex;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

const LOCK: &str = "LOCK";

/// How long a lock is waited for. A child of who had it holds a copy from its start until it runs its program.
const LOCK_WAIT: Duration = Duration::from_secs(1);
/// How often it is tried meanwhile.
const LOCK_TRY: Duration = Duration::from_millis(10);
/// How long a loop waits before it tries again to write what it owes.
const FULL_WAIT: Duration = Duration::from_millis(500);

/// The durable log of opaque frames. Clones share one journal; the last one to go closes it.
#[derive(Clone)]
pub struct Journal(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    cursors: Mutex<Cursors>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Held as long as anybody can write to the directory.
    _lock: File,
}

/// What the journal says of itself; all counts since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct JournalStats {
    /// Segment files.
    pub segments: u64,
    /// Bytes of all segment files.
    pub bytes_on_disk: u64,
    /// The first frame that is kept; one more than `durable_seq` if none is.
    pub oldest_seq: u64,
    /// The last durable frame, 0 for none.
    pub durable_seq: u64,
    /// Bytes of frames that wait for the writer.
    pub queued_bytes: u64,
    /// Syncs that the writer asked for.
    pub fsyncs: u64,
    /// Bytes that recovery cut from the end because they were no whole record.
    pub torn_bytes_cut: u64,
    /// Segments in which damage was met.
    pub quarantined_segments: u64,
    /// Frames that are damaged or missing, as far as recovery and readers have met them.
    pub quarantined_frames: u64,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("dir", &self.0.shared.dir).finish_non_exhaustive()
    }
}

impl Journal {
    /// Opens the journal in `dir`, which is made if need be, and starts its writer thread. When this returns the
    /// directory is locked for this handle, a write that a crash cut short is cut off, and all that is left is durable.
    ///
    /// `payloads` is the format of what is appended, counted by the caller. It stands in every segment, and a directory
    /// with a segment of a higher one is refused before anything in it is changed.
    pub fn open(dir: &Path, config: Config, payloads: u32) -> Result<Self, JournalError> {
        Self::open_with(dir, config, payloads, Arc::new(SystemFiles))
    }

    pub(super) fn open_with(
        dir: &Path,
        config: Config,
        payloads: u32,
        files: Arc<dyn Files>,
    ) -> Result<Self, JournalError> {
        let faults = config.faults();
        if !faults.is_empty() {
            return Err(JournalError::Config(faults));
        }
        create_dirs(dir).map_err(|e| JournalError::io("create", dir, e))?;
        let mut lock = lock(dir)?;
        let segments = recover::list(dir)?;
        let salt = salt(dir, &mut lock, || recover::find_salt(dir, &segments))?;
        let stamp = Stamp::new(salt, payloads);
        let cursors = Cursors::load(dir, Arc::clone(&files))?;
        let recovered = recover::recover(dir, files.as_ref(), segments, stamp, cursors.fastest())?;
        let shared = Arc::new(Shared::new(dir.to_owned(), config, files, stamp, recovered.log));
        shared.counters.torn_bytes_cut.store(recovered.torn_bytes_cut, Ordering::Relaxed);
        let writer = Writer::new(Arc::clone(&shared), recovered.active, recovered.next_seq);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run())
            .map_err(|e| JournalError::io("start the writer thread for", dir, e))?;
        // A power cut can bring purged files back.
        if let Some(slowest) = cursors.slowest() {
            shared.purge(slowest);
        }
        let writer = Mutex::new(Some(thread));
        Ok(Self(Arc::new(Inner { shared, cursors: Mutex::new(cursors), writer, _lock: lock })))
    }

    /// Appends one frame and returns its sequence number once it is synced to the disk. Over the limits on queue or
    /// disk, or without space, the answer is a retryable error and nothing is kept. A caller that stops waiting does not
    /// take the frame back. Frames of concurrent calls are in no promised order.
    pub async fn append(&self, kind: u32, payload: Bytes) -> Result<u64, JournalError> {
        self.append_frame(kind, payload, Claim::New).await
    }

    /// As [`Journal::append`], for what a reader owes for frames that it has read: it may use an eighth more disk than
    /// the limit, because only such frames let cursors move and space be given back.
    pub async fn append_owed(&self, kind: u32, payload: Bytes) -> Result<u64, JournalError> {
        self.append_frame(kind, payload, Claim::Owed).await
    }

    /// As [`Journal::append_owed`], and comes back for as long as the journal says "later": what a loop owes does not get
    /// lost in a full disk.
    pub async fn append_durably(&self, kind: u32, payload: Bytes) -> Result<u64, JournalError> {
        loop {
            match self.append_owed(kind, payload.clone()).await {
                Err(error) if error.is_retryable() => {
                    tracing::warn!(%error, "the journal is full; waiting");
                    tokio::time::sleep(FULL_WAIT).await;
                }
                ended => return ended,
            }
        }
    }

    /// The next frame begins a segment: what came before can go when every cursor has passed it, however much it is.
    pub fn begin_segment(&self) {
        self.0.shared.is_ending.store(true, Ordering::Relaxed);
    }

    /// A number that no other journal is likely to have; it stays as long as the directory.
    pub fn id(&self) -> u32 {
        self.0.shared.stamp.salt
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.0.shared.dir
    }

    async fn append_frame(&self, kind: u32, payload: Bytes, claim: Claim) -> Result<u64, JournalError> {
        let shared = &self.0.shared;
        let (bytes, limit) = (payload.len() as u64, shared.config.max_frame_size);
        if bytes > limit.bytes() {
            return Err(JournalError::FrameTooLarge { bytes, limit });
        }
        // Here, not in the writer, because callers run side by side.
        let payload_crc = crc32c::crc32c(&payload);
        let (done, answer) = oneshot::channel();
        shared.enqueue(Pending { kind, payload, payload_crc, done }, claim)?;
        answer.await.unwrap_or_else(|_| {
            Err(JournalError::Poisoned { cause: "the writer ended without an answer".to_owned() })
        })
    }

    /// The last durable frame; 0 for none.
    pub fn durable(&self) -> u64 {
        self.0.shared.durable_seq()
    }

    /// Tells of every change of [`Journal::durable`].
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.shared.durable.subscribe()
    }

    /// Reads the frames after `after`, from the oldest one that is kept.
    pub fn reader(&self, after: u64) -> Result<Reader, JournalError> {
        Ok(Reader::new(Arc::clone(&self.0.shared), after))
    }

    /// The last frame that the reader `name` is done with, 0 at first. From this call on, also after a restart, no
    /// segment with a later frame is purged. Blocks on the disk the first time.
    pub fn cursor(&self, name: &str) -> Result<u64, JournalError> {
        self.0.cursors.lock().get_or_register(name)
    }

    /// Every reader, with the last frame that it is done with.
    pub fn cursors(&self) -> Vec<(String, u64)> {
        self.0.cursors.lock().all()
    }

    /// The reader `name` is done with all frames up to `seq`; that is durable when this returns. Segments that every
    /// cursor has passed are removed. Blocks on the disk.
    pub fn set_cursor(&self, name: &str, seq: u64) -> Result<(), JournalError> {
        let mut cursors = self.0.cursors.lock();
        cursors.set(name, seq, self.durable())?;
        if let Some(slowest) = cursors.slowest() {
            self.0.shared.purge(slowest);
        }
        Ok(())
    }

    /// Bytes of the segments that have frames after `seq`, and of the active one: what a reader that stands there keeps.
    pub fn held_after(&self, seq: u64) -> u64 {
        let log = self.0.shared.log.lock();
        let from = log.index_of(seq.saturating_add(1));
        log.segments.iter().skip(from).map(|segment| segment.bytes).sum()
    }

    /// Why the journal takes no more frames; none while it does.
    pub fn failure(&self) -> Option<JournalError> {
        self.0.shared.stopped()
    }

    /// What the journal says of itself now.
    pub fn stats(&self) -> JournalStats {
        let shared = &self.0.shared;
        let queued_bytes = shared.queued_bytes();
        let log = shared.log.lock();
        JournalStats {
            segments: log.segments.len() as u64,
            bytes_on_disk: shared.disk_bytes(),
            oldest_seq: log.segments.front().map_or(0, |s| s.first_seq),
            durable_seq: log.durable,
            queued_bytes,
            fsyncs: shared.counters.fsyncs.load(Ordering::Relaxed),
            torn_bytes_cut: shared.counters.torn_bytes_cut.load(Ordering::Relaxed),
            quarantined_segments: log.damage.segments(),
            quarantined_frames: log.damage.frames(),
        }
    }

    /// Writes what waits, answers it, and ends the writer. Later appends get [`JournalError::Closed`]; readers and
    /// cursors go on working. Blocks until the writer has ended. The directory stays locked until the last clone goes.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Inner {
    fn close(&self) {
        self.shared.stop(JournalError::Closed);
        if let Some(thread) = self.writer.lock().take() {
            // A panic of the writer was already answered to everybody who waited.
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

fn lock(dir: &Path) -> Result<File, JournalError> {
    let path = dir.join(LOCK);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| JournalError::io("open", &path, e))?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_WAIT => std::thread::sleep(LOCK_TRY),
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked { dir: dir.to_owned() }),
            Err(TryLockError::Error(e)) => return Err(JournalError::io("lock", &path, e)),
        }
    }
}

/// The salt in the lock file; if it is not there, the one that `find` finds, or a new one, is written to it.
fn salt(
    dir: &Path,
    lock: &mut File,
    find: impl FnOnce() -> Result<Option<u32>, JournalError>,
) -> Result<u32, JournalError> {
    let path = dir.join(LOCK);
    let mut text = Vec::new();
    lock.take(9).read_to_end(&mut text).map_err(|e| JournalError::io("read", &path, e))?;
    let known = std::str::from_utf8(&text).ok().filter(|t| t.len() == 8);
    if let Some(salt) = known.and_then(|t| u32::from_str_radix(t, 16).ok()) {
        return Ok(salt);
    }
    let salt = match find()? {
        Some(salt) => salt,
        None => uuid::Uuid::new_v4().as_u128() as u32,
    };
    lock.set_len(0)
        .and_then(|()| lock.seek(SeekFrom::Start(0)))
        .and_then(|_| lock.write_all(format!("{salt:08x}").as_bytes()))
        .and_then(|()| lock.sync_data())
        .map_err(|e| JournalError::io("write", &path, e))?;
    Ok(salt)
}
