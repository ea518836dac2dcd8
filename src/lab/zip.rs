//! ZIP archives: read with every claim checked, written so that equal entries give equal bytes.
//!
//! Only what our files need: stored and deflated entries below 4 GiB, and those of zstd, no encryption. Sizes are counted
//! while unpacking, not believed; names that lead out of a folder, and links, are refused.

use super::config::Config;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// Bytes of all entries together, unpacked.
const MAX_UNPACKED: u64 = 1 << 30;
/// Entries of an archive.
const MAX_ENTRIES: usize = 100_000;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Of the record at the end, without its comment.
const END_BYTES: usize = 22;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ZSTD: u16 = 93;
/// The first of January 1980, which is where ZIP's time begins: equal entries give equal bytes.
const DATE: u16 = 0x0021;
/// Names are UTF-8.
const UTF8: u16 = 1 << 11;
/// The mode of a link in the upper half of the external attributes.
const LINK: u32 = 0o120_000;
const KIND: u32 = 0o170_000;

/// Bytes of an unpacked file that are held at once where it is only checked.
const PIECE: usize = 64 << 10;

/// How much of an archive is read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most bytes of one entry, unpacked.
    pub entry: u64,
    /// Most bytes of all entries together, unpacked.
    pub all: u64,
    /// Most entries.
    pub entries: usize,
    /// The keys of the configuration that say so, in this order; empty where it is not configured.
    pub keys: [&'static str; 3],
}

impl Default for Limits {
    fn default() -> Self {
        Self { entry: MAX_UNPACKED, all: MAX_UNPACKED, entries: MAX_ENTRIES, keys: [""; 3] }
    }
}

impl Limits {
    /// What is configured.
    pub fn of(config: &Config) -> Self {
        Self {
            entry: config.max_file_size.bytes(),
            all: config.max_zip_size.bytes(),
            entries: config.max_zip_entries,
            keys: ["lab.max_file_size", "lab.max_zip_size", "lab.max_zip_entries"],
        }
    }

    /// The same where no file has a limit of its own.
    #[must_use]
    pub fn together(self) -> Self {
        let [_, all, entries] = self.keys;
        Self { entry: self.all, keys: [all, all, entries], ..self }
    }
}

/// An archive whose entries are unpacked one by one, so that the whole of it is never in memory.
#[derive(Debug)]
pub struct Archive<B> {
    bytes: B,
    entries: BTreeMap<String, Entry>,
    limits: Limits,
}

impl<B: AsRef<[u8]>> Archive<B> {
    /// Reads the list of entries. When it returns, no name leads out of a folder, none is there twice, and what the entries
    /// claim together is within the limits, unpacked and, beyond the length of the archive, packed.
    ///
    /// # Errors
    /// What is damaged, refused or too large, with the entry's name.
    pub fn open(bytes: B, limits: Limits) -> Result<Self, String> {
        let (mut at, count) = directory(bytes.as_ref(), limits)?;
        let (mut entries, mut claimed, mut packed) = (BTreeMap::new(), 0u64, 0u64);
        // Entries may share their bytes, and be long to unpack though they claim little.
        let most_packed = limits.all.max(bytes.as_ref().len() as u64);
        for _ in 0..count {
            let (entry, next) = Entry::read(bytes.as_ref(), at)?;
            at = next;
            if entry.name.ends_with('/') {
                continue;
            }
            entry.refused(limits)?;
            claimed = claimed.saturating_add(entry.size);
            packed = packed.saturating_add(entry.packed as u64);
            if claimed > limits.all || packed > most_packed {
                let (most, key) = (shown(limits.all), key(limits.keys[1]));
                return Err(format!("the files of the archive have more than {most} together{key}"));
            }
            if let Some(twice) = entries.insert(entry.name.clone(), entry) {
                return Err(format!("{:?} is there twice", twice.name));
            }
        }
        Ok(Self { bytes, entries, limits })
    }

    /// The names of its files, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Whether it has a file of that name.
    pub fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// The content of a file, of the length and the sum that the archive says.
    ///
    /// # Errors
    /// What is damaged, packed in another way, or not there.
    pub fn unpacked(&self, name: &str) -> Result<Vec<u8>, String> {
        let entry = self.entries.get(name).ok_or_else(|| format!("{name:?} is not in the archive"))?;
        entry.unpacked(self.bytes.as_ref(), self.limits.entry)
    }

    /// That those of its files which nobody unpacks are of the length and the sum that the archive says, too: damage there may
    /// be damage of the whole. None of them is in memory as a whole.
    ///
    /// # Errors
    /// As [`Archive::unpacked`].
    pub fn check_others(&self, is_unpacked: impl Fn(&str) -> bool) -> Result<(), String> {
        let mut others = self.entries.values().filter(|entry| !is_unpacked(&entry.name));
        others.try_for_each(|entry| entry.check(self.bytes.as_ref(), self.limits.entry))
    }
}

/// The key of a limit, behind what it says.
fn key(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!(" ({key})") }
}

/// A number of bytes for people.
fn shown(bytes: u64) -> String {
    match bytes {
        whole if whole.is_multiple_of(1 << 30) => format!("{} GiB", whole >> 30),
        whole if whole.is_multiple_of(1 << 20) => format!("{} MiB", whole >> 20),
        other => format!("{other} bytes"),
    }
}

/// Whether `bytes` begin like an archive.
pub fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(&LOCAL.to_le_bytes()) || bytes.starts_with(&END.to_le_bytes())
}

/// Whether a name stays in the folder that it is unpacked into, on every system.
pub fn stays(name: &str) -> bool {
    let leaves = name.starts_with('/')
        || name.contains(['\\', ':', '\0'])
        || name.split('/').any(|part| part == ".." || part == ".");
    !leaves && !name.is_empty()
}

/// The files of an archive by name.
///
/// # Errors
/// What is damaged, refused or too large, with the entry's name.
pub fn read(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, String> {
    read_within(bytes, Limits::default())
}

fn read_within(bytes: &[u8], limits: Limits) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let archive = Archive::open(bytes, limits)?;
    archive.entries.keys().map(|name| Ok((name.clone(), archive.unpacked(name)?))).collect()
}

/// Where the list of entries begins, and how many there are.
fn directory(bytes: &[u8], limits: Limits) -> Result<(usize, usize), String> {
    const DAMAGED: &str = "the ZIP archive is cut off, or no archive: its list of files is not there";
    let last = bytes.len().checked_sub(END_BYTES).ok_or(DAMAGED)?;
    // Behind the record stands a comment of at most 64 KiB.
    let earliest = last.saturating_sub(usize::from(u16::MAX));
    let end = (earliest..=last).rev().find(|at| u32_at(bytes, *at) == Some(END)).ok_or(DAMAGED)?;
    let count = usize::from(u16_at(bytes, end + 10).ok_or(DAMAGED)?);
    let start = u32_at(bytes, end + 16).ok_or(DAMAGED)?;
    if start == u32::MAX || count == usize::from(u16::MAX) {
        return Err("a ZIP64 archive is not read: pack fewer or smaller files".to_owned());
    }
    if count > limits.entries {
        return Err(format!("{count} files, at most {}{}", limits.entries, key(limits.keys[2])));
    }
    Ok((start as usize, count))
}

#[derive(Debug)]
struct Entry {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    /// As the archive claims.
    size: u64,
    mode: u32,
    offset: usize,
}

impl Entry {
    /// The entry of the list that begins at `at`, and where the next one does.
    fn read(bytes: &[u8], at: usize) -> Result<(Self, usize), String> {
        const DAMAGED: &str = "the list of files of the ZIP archive is damaged";
        if u32_at(bytes, at) != Some(CENTRAL) {
            return Err(DAMAGED.to_owned());
        }
        let short = |offset| u16_at(bytes, at + offset).ok_or(DAMAGED);
        let long = |offset| u32_at(bytes, at + offset).ok_or(DAMAGED);
        let (name, extra, comment) =
            (usize::from(short(28)?), usize::from(short(30)?), usize::from(short(32)?));
        let name_bytes = bytes.get(at + 46..at + 46 + name).ok_or(DAMAGED)?;
        let entry = Self {
            name: String::from_utf8_lossy(name_bytes).into_owned(),
            flags: short(8)?,
            method: short(10)?,
            crc: long(16)?,
            packed: long(20)? as usize,
            size: u64::from(long(24)?),
            mode: long(38)? >> 16,
            offset: long(42)? as usize,
        };
        Ok((entry, at + 46 + name + extra + comment))
    }

    fn refused(&self, limits: Limits) -> Result<(), String> {
        let name = &self.name;
        if !stays(name) {
            return Err(format!("the name {name:?} leads out of the archive's folder, and is refused"));
        }
        if self.mode & KIND == LINK {
            return Err(format!("{name:?} is a link, and is refused"));
        }
        if self.flags & 1 == 1 {
            return Err(format!("{name:?} is encrypted: pack it without a password"));
        }
        if self.size > limits.entry {
            let (most, key) = (shown(limits.entry), key(limits.keys[0]));
            return Err(format!("{name:?} claims {} bytes; a file has at most {most}{key}", self.size));
        }
        Ok(())
    }

    fn damaged(&self) -> String {
        format!("{:?} is damaged in the ZIP archive", self.name)
    }

    /// Its unpacked bytes, of which one more comes than may be: that tells the whole from the too long.
    fn content<'a>(&self, bytes: &'a [u8], limit: u64) -> Result<Box<dyn Read + 'a>, String> {
        let damaged = || self.damaged();
        if u32_at(bytes, self.offset) != Some(LOCAL) {
            return Err(damaged());
        }
        let skip = |at| u16_at(bytes, self.offset + at).map(usize::from).ok_or_else(damaged);
        let start = self.offset + 30 + skip(26)? + skip(28)?;
        let end = start.checked_add(self.packed).ok_or_else(damaged)?;
        let packed = bytes.get(start..end).ok_or_else(damaged)?;
        let most = limit.min(self.size).saturating_add(1);
        match self.method {
            STORED => Ok(Box::new(Read::take(packed, most))),
            DEFLATED => Ok(Box::new(DeflateDecoder::new(packed).take(most))),
            ZSTD => {
                let decoder = zstd::stream::read::Decoder::new(packed).map_err(|_| damaged())?;
                Ok(Box::new(decoder.take(most)))
            }
            other => {
                let name = &self.name;
                Err(format!("{name:?} is packed by method {other}: deflate and zstd are read"))
            }
        }
    }

    fn unpacked(&self, bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        let mut content = Vec::new();
        self.content(bytes, limit)?.read_to_end(&mut content).map_err(|_| self.damaged())?;
        let mut crc = Crc::new();
        crc.update(&content);
        self.held(content.len() as u64, &crc)?;
        Ok(content)
    }

    /// As [`Entry::unpacked`], piece by piece.
    fn check(&self, bytes: &[u8], limit: u64) -> Result<(), String> {
        // What is packed in another way is left to those who read it.
        if ![STORED, DEFLATED, ZSTD].contains(&self.method) {
            return Ok(());
        }
        let mut content = self.content(bytes, limit)?;
        let (mut crc, mut length, mut piece) = (Crc::new(), 0u64, vec![0; PIECE]);
        loop {
            let read = content.read(&mut piece).map_err(|_| self.damaged())?;
            if read == 0 {
                return self.held(length, &crc);
            }
            crc.update(&piece[..read]);
            length += read as u64;
        }
    }

    /// That so many bytes with this sum are its content.
    fn held(&self, length: u64, crc: &Crc) -> Result<(), String> {
        if length == self.size && crc.sum() == self.crc { Ok(()) } else { Err(self.damaged()) }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(two.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

/// An archive of `files` in the order of their names.
///
/// # Errors
/// When there are too many files, or they are too large.
pub fn write(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, String> {
    let mut writer = Writer::default();
    for (name, content) in files {
        writer.add(name, content)?;
    }
    writer.finish()
}

/// An archive that is written file by file, so that they need not all be in memory.
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    list: Vec<u8>,
    count: u16,
}

impl Writer {
    /// Adds a file, whose name no other one has. What fails leaves an archive that is good for nothing.
    ///
    /// # Errors
    /// When there are too many files, or they are too large.
    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<(), String> {
        let count = self.count.checked_add(1).filter(|count| *count < u16::MAX);
        self.count = count.ok_or("too many files for a ZIP archive")?;
        let large = |_| format!("{name:?} is too large for a ZIP archive");
        let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
        let packed = encoder.write_all(content).and_then(|()| encoder.finish()).map_err(|e| e.to_string())?;
        let mut crc = Crc::new();
        crc.update(content);
        let offset = u32::try_from(self.out.len()).map_err(large)?;
        let sizes =
            [u32::try_from(packed.len()).map_err(large)?, u32::try_from(content.len()).map_err(large)?];
        let length = u16::try_from(name.len()).map_err(|_| format!("the name {name:?} is too long"))?;
        let mut shared = Vec::new();
        for short in [20, UTF8, DEFLATED, 0, DATE] {
            shared.extend_from_slice(&short.to_le_bytes());
        }
        for long in [crc.sum(), sizes[0], sizes[1]] {
            shared.extend_from_slice(&long.to_le_bytes());
        }
        shared.extend_from_slice(&length.to_le_bytes());
        let (out, list) = (&mut self.out, &mut self.list);
        out.extend_from_slice(&LOCAL.to_le_bytes());
        out.extend_from_slice(&shared);
        out.extend_from_slice(&0u16.to_le_bytes());
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&packed);
        list.extend_from_slice(&CENTRAL.to_le_bytes());
        list.extend_from_slice(&20u16.to_le_bytes());
        list.extend_from_slice(&shared);
        // No extra field, no comment, the first disk, no attributes.
        list.extend_from_slice(&[0; 12]);
        list.extend_from_slice(&offset.to_le_bytes());
        list.extend_from_slice(name.as_bytes());
        Ok(())
    }

    /// The bytes of the archive, whose files are in the order in which they were added.
    ///
    /// # Errors
    /// When they are too large.
    pub fn finish(self) -> Result<Vec<u8>, String> {
        let Self { mut out, list, count } = self;
        let large = |_| "the archive is too large".to_owned();
        let (start, length) =
            (u32::try_from(out.len()).map_err(large)?, u32::try_from(list.len()).map_err(large)?);
        out.extend_from_slice(&list);
        out.extend_from_slice(&END.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&start.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        Ok(out)
    }
}

#[cfg(test)]
#[path = "zip_tests.rs"]
mod tests;
