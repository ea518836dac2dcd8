//! The weights of n-grams, as bytes of the program.
//!
//! ```text
//! file   = "GLLANG01" | CRC-32C of the rest, u32 | payload, zstd
//! payload = number of groups, u8 | groups
//! group  = script, u8 | number of languages, u8 | their ISO 639-3 codes, 3 bytes each
//!        | scale of the temperature, its exponent, step of a weight, f32 each
//!        | number of letters, u16 | letters, u32 each | rows, u32 | votes, u32 | five streams
//! stream = length, u32 | bytes
//! ```
//!
//! The streams: per row the symbols shared with the row before (upper four bits) and those that follow (lower four);
//! these symbols, u8, or u16 where there are more than 253 letters; votes per row, u8; languages of the votes, u8; weights
//! of the votes in steps, i8. All numbers are little-endian. Symbol 1 is a word's edge, 2 the first letter.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::script::Script;
use crate::eval::model::ModelError;

static BYTES: &[u8] = include_bytes!("../../../models/language/table.bin");

/// Names the weights; part of an evaluator's version.
pub const LANGUAGE_VERSION: &str = "language-3e3099a0";

const MAGIC: &[u8] = b"GLLANG01";
const NAME: &str = "language";
/// The scripts of the groups, by the number in the table.
const SCRIPTS: [Script; 5] =
    [Script::Latin, Script::Cyrillic, Script::Arabic, Script::Devanagari, Script::Han];
/// The longest n-gram.
const ORDER: usize = 5;
/// Bits of a symbol in a key.
const BITS: u32 = 12;
const EDGE: u64 = 1;
/// No table is larger than this, unpacked.
const MAX_PAYLOAD: usize = 64 << 20;
const EMPTY: u32 = u32::MAX;

/// The languages of one script and the votes of its n-grams.
pub struct Group {
    pub script: Script,
    /// ISO 639-3.
    pub codes: Vec<String>,
    /// Of the temperature by which scores become probabilities, see [`Group::temperature`].
    scale: f32,
    exponent: f32,
    step: f32,
    letters: HashMap<char, u16>,
    keys: Vec<u64>,
    /// Where each row's votes begin, and where the last one's end.
    from: Vec<u32>,
    /// Language and weight.
    votes: Vec<(u8, i8)>,
    /// Open addressing: row by hash of its key.
    slots: Vec<u32>,
}

/// All groups; opened at the first use.
///
/// # Errors
/// When the table is damaged.
pub fn table() -> Result<&'static [Group], &'static ModelError> {
    static TABLE: LazyLock<Result<Vec<Group>, ModelError>> = LazyLock::new(|| open(BYTES));
    TABLE.as_deref()
}

fn open(bytes: &[u8]) -> Result<Vec<Group>, ModelError> {
    let damaged = |reason: &str| ModelError::open(NAME, reason);
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("it does not begin as such a file"))?;
    let (sum, packed) = rest.split_first_chunk::<4>().ok_or_else(|| damaged("it ends too early"))?;
    if crc32c::crc32c(packed) != u32::from_le_bytes(*sum) {
        return Err(damaged("its checksum is another"));
    }
    let payload = zstd::bulk::decompress(packed, MAX_PAYLOAD).map_err(|e| ModelError::open(NAME, e))?;
    let mut reader = TableBytes(&payload);
    let groups: Option<Vec<Group>> = reader.u8().and_then(|n| (0..n).map(|_| reader.group()).collect());
    groups.ok_or_else(|| damaged("its parts do not fit each other"))
}

struct TableBytes<'a>(&'a [u8]);

impl<'a> TableBytes<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn f32(&mut self) -> Option<f32> {
        self.array().map(f32::from_le_bytes)
    }

    fn stream(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    fn group(&mut self) -> Option<Group> {
        let script = *SCRIPTS.get(usize::from(self.u8()?))?;
        let languages = self.u8()?;
        let codes: Vec<String> = (0..languages)
            .map(|_| self.array::<3>().and_then(|code| String::from_utf8(code.to_vec()).ok()))
            .collect::<Option<_>>()?;
        let (scale, exponent, step) = (self.f32()?, self.f32()?, self.f32()?);
        let count = u16::from_le_bytes(self.array()?);
        let letters: HashMap<char, u16> = (0..count)
            .map(|at| Some((char::from_u32(self.u32()?)?, at.checked_add(2)?)))
            .collect::<Option<_>>()?;
        let (rows, all) = (self.u32()? as usize, self.u32()? as usize);
        let (shapes, symbols) = (self.stream()?, self.stream()?);
        let keys = keys(shapes, symbols, letters.len() > 253)?;
        let (counts, voters, weights) = (self.stream()?, self.stream()?, self.stream()?);
        let mut from = vec![0u32];
        let mut end = 0u32;
        for count in counts {
            end += u32::from(*count);
            from.push(end);
        }
        let fits = keys.len() == rows
            && counts.len() == rows
            && end as usize == all
            && voters.len() == all
            && weights.len() == all
            && voters.iter().all(|l| *l < languages);
        let votes = voters.iter().zip(weights).map(|(l, w)| (*l, w.cast_signed())).collect();
        let slots = slots(&keys);
        fits.then_some(Group { script, codes, scale, exponent, step, letters, keys, from, votes, slots })
    }
}

/// Sorted keys from the symbols that each has more than the one before.
fn keys(shapes: &[u8], symbols: &[u8], is_wide: bool) -> Option<Vec<u64>> {
    let mut bytes = symbols.iter();
    let mut symbol = || {
        let low = u64::from(*bytes.next()?);
        Some(if is_wide { low | u64::from(*bytes.next()?) << 8 } else { low })
    };
    let mut out = Vec::with_capacity(shapes.len());
    let mut current: Vec<u64> = Vec::new();
    for shape in shapes {
        current.truncate(usize::from(shape >> 4));
        for _ in 0..shape & 15 {
            current.push(symbol()?);
        }
        if current.len() > ORDER {
            return None;
        }
        out.push(current.iter().fold(0, |key, s| push(key, *s)));
    }
    Some(out)
}

fn push(key: u64, symbol: u64) -> u64 {
    key << BITS | symbol
}

fn slot(key: u64, slots: usize) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (slots - 1)
}

fn slots(keys: &[u64]) -> Vec<u32> {
    let size = (keys.len() * 4 / 3 + 1).next_power_of_two();
    let mut slots = vec![EMPTY; size];
    for (row, key) in keys.iter().enumerate() {
        let mut at = slot(*key, size);
        while slots[at] != EMPTY {
            at = (at + 1) & (size - 1);
        }
        slots[at] = row as u32;
    }
    slots
}

impl Group {
    /// The symbol of a letter that the group knows.
    pub fn symbol(&self, c: char) -> Option<u64> {
        self.letters.get(&c).map(|s| u64::from(*s))
    }

    /// What a score is divided by before it is an exponent. Longer texts have larger scores, not as much surer ones.
    pub fn temperature(&self, letters: usize) -> f32 {
        self.scale * (letters.max(1) as f32).powf(self.exponent)
    }

    /// Adds the votes of a word's n-grams, edges included. Ideographs vote one by one.
    pub fn vote(&self, word: &[u64], scores: &mut [f32]) {
        if self.script == Script::Han {
            word.iter().for_each(|symbol| self.add(*symbol, scores));
            return;
        }
        let symbol = |at: usize| if at == 0 { EDGE } else { word.get(at - 1).copied().unwrap_or(EDGE) };
        let end = word.len() + 2;
        for first in 0..end {
            let mut key = 0;
            for at in first..(first + ORDER).min(end) {
                key = push(key, symbol(at));
                self.add(key, scores);
            }
        }
    }

    fn add(&self, key: u64, scores: &mut [f32]) {
        let mut at = slot(key, self.slots.len());
        loop {
            let row = self.slots[at];
            if row == EMPTY {
                return;
            }
            if self.keys[row as usize] == key {
                let (from, to) = (self.from[row as usize] as usize, self.from[row as usize + 1] as usize);
                for (language, weight) in &self.votes[from..to] {
                    scores[usize::from(*language)] += f32::from(*weight) * self.step;
                }
                return;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Other weights give other scores, so they need another version.
    #[test]
    fn the_version_names_the_table() {
        let hash = hex::encode(Sha256::digest(BYTES));
        assert!(LANGUAGE_VERSION.ends_with(&hash[..8]), "{LANGUAGE_VERSION} should end with {}", &hash[..8]);
    }

    #[test]
    fn the_table_opens_and_a_damaged_one_is_an_error() {
        assert_eq!(table().unwrap().len(), SCRIPTS.len());
        let mut bytes = BYTES.to_vec();
        bytes[1_000] ^= 1;
        assert!(open(&bytes).is_err());
        for length in [0, 7, 8, 11, 12, 100] {
            assert!(open(&BYTES[..length]).is_err());
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_an_error() {
        for payload in [&b"\x01"[..], b"\x01\x09\x00", b"\x01\x00\x01abc", b"\x02\x00\x00"] {
            let packed = zstd::bulk::compress(payload, 1).unwrap();
            let mut bytes = MAGIC.to_vec();
            bytes.extend(crc32c::crc32c(&packed).to_le_bytes());
            bytes.extend(packed);
            assert!(open(&bytes).is_err());
        }
    }
}
