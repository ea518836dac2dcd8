//! What `open` does to a directory that a crash left behind. It reads the headers of the old segments and all of the
//! last one. Where the last segment ends in bytes that make no record, a write was cut short: they are cut off. Damage
//! with good records behind it stays where it is, and readers pass over it.

use super::error::JournalError;
use super::files::Files;
use super::segment::{self, Active, Scanner, Stamp, Step};
use super::state::{Log, Segment};
use std::collections::VecDeque;
use std::path::Path;

/// A journal that is ready to be written.
pub(super) struct Recovered {
    pub(super) log: Log,
    pub(super) active: Active,
    pub(super) next_seq: u64,
    pub(super) torn_bytes_cut: u64,
}

/// What a scan of the last segment found.
struct Tail {
    /// What the header says; none if it is damaged.
    stamp: Option<Stamp>,
    /// What the checksums of its record headers begin with.
    seed: u32,
    /// The last good record.
    last_seq: Option<u64>,
    /// The end of the last good record.
    end: u64,
    /// Bytes of the file.
    length: u64,
}

/// Lists the segments in order.
pub(super) fn list(dir: &Path) -> Result<VecDeque<Segment>, JournalError> {
    let error = |e| JournalError::io("list", dir, e);
    let mut segments = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(error)? {
        let entry = entry.map_err(error)?;
        if let Some(first_seq) = entry.file_name().to_str().and_then(segment::parse_name) {
            segments.push(Segment { first_seq, bytes: entry.metadata().map_err(error)?.len() });
        }
    }
    segments.sort_by_key(|s| s.first_seq);
    Ok(segments.into())
}

/// The salt of the first segment whose header is intact.
pub(super) fn find_salt(dir: &Path, segments: &VecDeque<Segment>) -> Result<Option<u32>, JournalError> {
    for segment in segments {
        if let Some(stamp) = segment::read_stamp(&segment::path(dir, segment.first_seq), segment.first_seq)? {
            return Ok(Some(stamp.salt));
        }
    }
    Ok(None)
}

/// Brings the directory to a state in which frames can be appended. `passed` is the position of the fastest cursor: its
/// number is never given again, even if the frame is lost. New segments get `stamp`.
pub(super) fn recover(
    dir: &Path,
    files: &dyn Files,
    segments: VecDeque<Segment>,
    stamp: Stamp,
    passed: u64,
) -> Result<Recovered, JournalError> {
    let mut log = Log { segments, ..Log::default() };
    log.purged_through = log.segments.front().map_or(passed, |s| s.first_seq.saturating_sub(1));
    let mut next_seq = passed + 1;
    let mut cut = 0;
    check_headers(dir, stamp.payloads, &mut log)?;
    let mut resumed = None;
    while let Some(last) = log.segments.back().copied() {
        let tail = scan(dir, last, stamp.salt, &mut log)?;
        if tail.stamp != Some(stamp) && tail.last_seq.is_none() {
            // Its name promised this number to nobody yet, or to frames that are lost.
            next_seq = next_seq.max(last.first_seq);
            cut += set_aside(dir, files, last, &mut log)?;
            continue;
        }
        let active = Active::resume(files, dir, last.first_seq, tail.seed, tail.end)?;
        cut += tail.length - tail.end;
        if let Some(segment) = log.segments.back_mut() {
            segment.bytes = tail.end;
        }
        let after = tail.last_seq.map_or(last.first_seq, |seq| seq + 1);
        next_seq = next_seq.max(after);
        // Numbers are dense inside of a segment, and a header that is damaged should not cover new frames, nor one of an
        // older format frames of this one: an older release would read them as its own.
        resumed = (tail.stamp == Some(stamp) && next_seq == after).then_some(active);
        break;
    }
    let active = match resumed {
        Some(active) => active,
        None => {
            let active = Active::create(files, dir, next_seq, stamp)?;
            log.segments.push_back(Segment { first_seq: next_seq, bytes: active.bytes });
            active
        }
    };
    files.sync_dir(dir).map_err(|e| JournalError::io("sync", dir, e))?;
    log.durable = next_seq - 1;
    Ok(Recovered { log, active, next_seq, torn_bytes_cut: cut })
}

/// Old segments whose header is damaged are noted; their records are still found with the journal's salt. Payloads of a
/// newer format than `payloads` are refused before anything is changed.
fn check_headers(dir: &Path, payloads: u32, log: &mut Log) -> Result<(), JournalError> {
    let last = log.segments.len().saturating_sub(1);
    for (index, Segment { first_seq, .. }) in log.segments.iter().enumerate() {
        let path = segment::path(dir, *first_seq);
        match segment::read_stamp(&path, *first_seq)? {
            Some(stamp) if stamp.payloads > payloads => {
                return Err(JournalError::Version { path, version: stamp.payloads, supported: payloads });
            }
            None if index < last => {
                log.damage.note_segment(*first_seq);
            }
            _ => {}
        }
    }
    Ok(())
}

fn scan(dir: &Path, last: Segment, salt: u32, log: &mut Log) -> Result<Tail, JournalError> {
    let path = segment::path(dir, last.first_seq);
    let mut scanner = Scanner::open(dir, last.first_seq, salt, last.bytes)?;
    let end = last.bytes.min(segment::HEADER as u64);
    let mut tail =
        Tail { stamp: scanner.stamp(), seed: scanner.seed(), last_seq: None, end, length: last.bytes };
    let mut expected = last.first_seq;
    while let Step::Record(frame) = scanner.next(0).map_err(|e| JournalError::io("read", &path, e))? {
        if scanner.damaged() {
            log.damage.note_segment(last.first_seq);
        }
        log.damage.note_gap(expected, frame.seq - 1);
        expected = frame.seq + 1;
        tail.last_seq = Some(frame.seq);
        tail.end = scanner.offset();
    }
    if tail.end < tail.length {
        let bytes = tail.length - tail.end;
        tracing::warn!(path = %path.display(), bytes, "the journal's last write was cut short; its rest is cut off");
    }
    Ok(tail)
}

/// Takes the last segment away, which holds nothing readable. One that was cut short while it was made holds nothing at
/// all; of any other the bytes are kept for a person to look at. Returns the bytes that are gone.
fn set_aside(dir: &Path, files: &dyn Files, last: Segment, log: &mut Log) -> Result<u64, JournalError> {
    let path = segment::path(dir, last.first_seq);
    log.segments.pop_back();
    if last.bytes <= segment::HEADER as u64 {
        files.remove(&path).map_err(|e| JournalError::io("remove", &path, e))?;
        return Ok(last.bytes);
    }
    let aside = path.with_extension("seg.bad");
    files.rename(&path, &aside).map_err(|e| JournalError::io("rename", &path, e))?;
    log.damage.note_segment(last.first_seq);
    tracing::error!(path = %aside.display(), "a journal segment held nothing readable; it is set aside");
    Ok(0)
}
