//! One segment file: its name, its header, its creation, and the scan over its records.

use super::error::JournalError;
use super::files::{self, Files, LogFile};
use super::record::{self, Frame, Header};
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes of a segment's header.
pub(super) const HEADER: usize = 32;
/// The format of segments that this release writes. Format 1 had a kind of one byte and said nothing of the payloads.
pub(super) const VERSION: u32 = 2;
const MAGIC: [u8; 8] = *b"GLJOURNL";
const READ_BUFFER: usize = 128 << 10;

/// The file of the segment that begins with `first_seq`.
pub(super) fn path(dir: &Path, first_seq: u64) -> PathBuf {
    dir.join(format!("{first_seq:020}.seg"))
}

/// The first sequence number that a file name tells; none if it is no segment.
pub(super) fn parse_name(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".seg")?;
    let seq =
        (digits.len() == 20 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())??;
    // Far from both ends, so that no stray file name can make the numbers overflow.
    (1..=u64::MAX / 2).contains(&seq).then_some(seq)
}

/// What the checksums of a segment's record headers begin with.
fn seed(salt: u32, first_seq: u64) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&salt.to_le_bytes()), &first_seq.to_le_bytes())
}

/// What the header of a segment says beside its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// What the checksums of the journal's records begin with.
    pub(super) salt: u32,
    /// The format of the payloads, as whoever appends them counts; 1 in segments of format 1.
    pub(super) payloads: u32,
    /// The format of the segment.
    version: u32,
}

impl Stamp {
    /// The stamp of a new segment.
    pub(super) fn new(salt: u32, payloads: u32) -> Self {
        Self { salt, payloads, version: VERSION }
    }
}

fn encode_header(first_seq: u64, stamp: Stamp) -> [u8; HEADER] {
    let Stamp { salt, payloads, version } = stamp;
    let mut bytes = [0; HEADER];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    bytes[12..16].copy_from_slice(&payloads.to_le_bytes());
    bytes[16..24].copy_from_slice(&first_seq.to_le_bytes());
    bytes[24..28].copy_from_slice(&salt.to_le_bytes());
    let crc = crc32c::crc32c(&bytes[..28]);
    bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Reads a segment's header; none if it is short, damaged or another segment's.
/// The only error besides I/O is a format that this release does not know.
pub(super) fn read_stamp(path: &Path, first_seq: u64) -> Result<Option<Stamp>, JournalError> {
    let mut bytes = [0; HEADER];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    match read {
        Err(e) if matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::NotFound) => {
            return Ok(None);
        }
        Err(e) => return Err(JournalError::io("read", path, e)),
        Ok(()) => {}
    }
    if bytes[..8] != MAGIC || crc32c::crc32c(&bytes[..28]) != record::u32_at(&bytes, 28) {
        return Ok(None);
    }
    let version = record::u32_at(&bytes, 8);
    if version == 0 || version > VERSION {
        return Err(JournalError::Version { path: path.to_owned(), version, supported: VERSION });
    }
    let payloads = if version == 1 { 1 } else { record::u32_at(&bytes, 12) };
    let stamp = Stamp { salt: record::u32_at(&bytes, 24), payloads, version };
    Ok((record::u64_at(&bytes, 16) == first_seq).then_some(stamp))
}

/// The segment that is written to.
pub(super) struct Active {
    pub(super) file: Box<dyn LogFile>,
    pub(super) path: PathBuf,
    /// Bytes that are durable; the file ends here between two commits.
    pub(super) bytes: u64,
    pub(super) seed: u32,
}

impl Active {
    /// Makes the file; its header and its name are durable when this returns. Lack of space leaves nothing behind.
    pub(super) fn create(
        files: &dyn Files,
        dir: &Path,
        first_seq: u64,
        stamp: Stamp,
    ) -> Result<Self, JournalError> {
        let path = path(dir, first_seq);
        let written = files.create(&path).and_then(|mut file| {
            files::write_all(file.as_mut(), &encode_header(first_seq, stamp))?;
            Ok(file)
        });
        let mut file = match written {
            Ok(file) => file,
            Err(e) => {
                // Best effort: the next try, or recovery, replaces a file without a whole header.
                let _ = files.remove(&path);
                return Err(JournalError::io("create", &path, e));
            }
        };
        file.sync().map_err(|e| JournalError::poison("sync", &path, &e))?;
        files.sync_dir(dir).map_err(|e| JournalError::poison("sync", dir, &e))?;
        Ok(Self { file, path, bytes: HEADER as u64, seed: seed(stamp.salt, first_seq) })
    }

    /// Goes on after `bytes` bytes of an existing file; what follows is cut off, durably.
    pub(super) fn resume(
        files: &dyn Files,
        dir: &Path,
        first_seq: u64,
        seed: u32,
        bytes: u64,
    ) -> Result<Self, JournalError> {
        let path = path(dir, first_seq);
        let mut file = files.open(&path).map_err(|e| JournalError::io("open", &path, e))?;
        file.truncate(bytes).map_err(|e| JournalError::io("truncate", &path, e))?;
        // What was read may have been in memory only: a killed process leaves unsynced bytes behind.
        file.sync().map_err(|e| JournalError::io("sync", &path, e))?;
        Ok(Self { file, path, bytes, seed })
    }
}

/// What the next step of a scan found.
#[derive(Debug)]
pub(super) enum Step {
    /// A good record.
    Record(Frame),
    /// No good record up to the limit.
    End,
}

/// Reads the records of one file in order, and finds the next good one after damage.
pub(super) struct Scanner {
    input: BufReader<File>,
    seed: u32,
    /// What the header says; none if it is damaged.
    stamp: Option<Stamp>,
    first_seq: u64,
    /// Where the next record begins.
    offset: u64,
    /// Bytes that may be read; what lies behind is not durable and may yet be rewritten.
    allowed: u64,
    /// The same, or the length of the file if that is less.
    limit: u64,
    /// The least sequence number that can come next.
    floor: u64,
    /// Something before `offset` did not check out.
    damaged: bool,
}

impl Scanner {
    /// Opens the file; `salt` is used if the file's own header does not tell it.
    pub(super) fn open(dir: &Path, first_seq: u64, salt: u32, limit: u64) -> Result<Self, JournalError> {
        let path = path(dir, first_seq);
        let stamp = read_stamp(&path, first_seq)?;
        let file = File::open(&path).map_err(|e| JournalError::io("open", &path, e))?;
        let mut scanner = Self {
            input: BufReader::with_capacity(READ_BUFFER, file),
            seed: seed(stamp.map_or(salt, |stamp| stamp.salt), first_seq),
            stamp,
            first_seq,
            offset: HEADER as u64,
            allowed: 0,
            limit: 0,
            floor: first_seq,
            damaged: stamp.is_none(),
        };
        scanner.extend(limit).map_err(|e| JournalError::io("read", &path, e))?;
        Ok(scanner)
    }

    /// Allows more bytes. What was read ahead is dropped: a failed commit may have replaced it since.
    pub(super) fn extend(&mut self, limit: u64) -> io::Result<()> {
        let length = self.input.get_ref().metadata()?.len();
        self.allowed = limit;
        self.limit = limit.min(length);
        self.damaged |= length < limit;
        self.input.seek(SeekFrom::Start(self.offset)).map(|_| ())
    }

    /// The first sequence number of the segment.
    pub(super) fn first_seq(&self) -> u64 {
        self.first_seq
    }

    /// What the segment's header says; none if it is damaged.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    /// What the checksums of the segment's record headers begin with.
    pub(super) fn seed(&self) -> u32 {
        self.seed
    }

    /// What [`Scanner::extend`] allowed last.
    pub(super) fn allowed(&self) -> u64 {
        self.allowed
    }

    /// Bytes up to the end of the last record that [`Scanner::next`] gave or passed over.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// True if something that was passed did not check out.
    pub(super) fn damaged(&self) -> bool {
        self.damaged
    }

    /// The next good record whose number is at least `wanted`. Good ones below it are passed without reading their
    /// payload. After [`Step::End`] the scan goes on behind the limit, once [`Scanner::extend`] allows more.
    pub(super) fn next(&mut self, wanted: u64) -> io::Result<Step> {
        loop {
            let Some(header) = self.header()? else { return Ok(Step::End) };
            let (start, end) = (self.offset, self.offset + header.record_bytes());
            if end > self.limit {
                return self.give_up();
            }
            self.floor = header.seq + 1;
            self.offset = end;
            if header.seq < wanted {
                self.input.seek_relative(i64::from(header.len))?;
                continue;
            }
            let mut payload = vec![0; header.len as usize];
            if let Err(e) = self.input.read_exact(&mut payload) {
                self.offset = start;
                return Err(e);
            }
            if crc32c::crc32c(&payload) == header.payload_crc {
                return Ok(Step::Record(Frame {
                    seq: header.seq,
                    kind: header.kind,
                    payload: Bytes::from(payload),
                }));
            }
            self.damaged = true;
        }
    }

    /// The header of the next record, here or after damage; the input stands behind it. None at the limit.
    fn header(&mut self) -> io::Result<Option<Header>> {
        let left = self.limit.saturating_sub(self.offset);
        if left == 0 {
            return Ok(None);
        }
        if left >= record::HEADER as u64 {
            let mut bytes = [0; record::HEADER];
            self.input.read_exact(&mut bytes)?;
            if let Some(header) = self.accept(&bytes, self.offset) {
                return Ok(Some(header));
            }
        }
        self.damaged = true;
        let found = self.search()?;
        if found.is_none() {
            self.give_up()?;
        }
        Ok(found)
    }

    /// Looks for the next header byte by byte. A header that checks out is trusted, so each byte is read once.
    fn search(&mut self) -> io::Result<Option<Header>> {
        let mut base = self.offset + 1;
        let mut chunk = Vec::with_capacity(READ_BUFFER);
        while base + (record::HEADER as u64) <= self.limit {
            self.input.seek(SeekFrom::Start(base))?;
            chunk.clear();
            let want = (self.limit - base).min(READ_BUFFER as u64);
            (&mut self.input).take(want).read_to_end(&mut chunk)?;
            for (at, window) in chunk.windows(record::HEADER).enumerate() {
                if window[..4] != record::MAGIC {
                    continue;
                }
                let Ok(bytes) = window.try_into() else { continue };
                let offset = base + at as u64;
                let Some(header) = self.accept(bytes, offset) else { continue };
                if offset + header.record_bytes() > self.limit {
                    continue;
                }
                self.offset = offset;
                self.input.seek(SeekFrom::Start(offset + record::HEADER as u64))?;
                return Ok(Some(header));
            }
            if chunk.len() < record::HEADER {
                break;
            }
            base += (chunk.len() - record::HEADER + 1) as u64;
        }
        Ok(None)
    }

    /// A header that belongs at this place: intact, and with a number that the records before it leave room for.
    fn accept(&self, bytes: &[u8; record::HEADER], offset: u64) -> Option<Header> {
        let header = Header::decode(bytes, self.seed)?;
        let most = self.first_seq + (offset - HEADER as u64) / record::HEADER as u64;
        (self.floor..=most).contains(&header.seq).then_some(header)
    }

    /// Nothing more can be read up to the limit, which is always the end of a record.
    fn give_up(&mut self) -> io::Result<Step> {
        self.damaged = true;
        self.offset = self.limit;
        Ok(Step::End)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_as_they_are_written() {
        let path = path(Path::new("/x"), 52311);
        let name = path.file_name().and_then(|n| n.to_str()).unwrap();
        assert_eq!(name, "00000000000000052311.seg");
        assert_eq!(parse_name(name), Some(52311));
        for other in [
            "1.seg",
            "00000000000000052311.seg.bad",
            "LOCK",
            "+0000000000000052311.seg",
            "00000000000000000000.seg",
            "18446744073709551615.seg",
        ] {
            assert_eq!(parse_name(other), None, "{other}");
        }
    }
}
