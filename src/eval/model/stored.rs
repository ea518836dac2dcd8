//! The form in which fine-tuned networks are stored: without the word table, which is carried once, and compressed.

use std::io::Read as _;

use super::assets::{MINILM, TWELVE_WORDS};
use super::error::ModelError;

/// The first bytes of such a file.
const STORED: &[u8; 8] = b"GLSHARE2";

/// An uncompressed file is no longer; a damaged one shall not fill the memory.
const MOST: u64 = 256 << 20;

/// What has a word table: the sentence encoder, and that of the networks of twelve layers. No constant: that would be a
/// second copy of both.
fn holders() -> [&'static [u8]; 2] {
    [MINILM, TWELVE_WORDS]
}

/// The whole ONNX file of stored weights, and its word table as bytes of the program.
///
/// Networks keep the words of what they began from as they were, so the table, up to half of each file, is carried once.
/// The stored form: `GLSHARE2`; four u64 (where the table goes, where the file that has it has it, its length, a checksum
/// of the whole by CRC-32C), little-endian; then the file without the table, in zstd. `training/share_words.py` makes it.
/// The checksum tells which table it is.
///
/// # Errors
/// When the stored form is damaged, or was made for other words.
pub(super) fn opened(name: &'static str, stored: &[u8]) -> Result<(Vec<u8>, &'static [u8]), ModelError> {
    let damaged = |reason: &str| ModelError::open(name, reason);
    let rest = stored.strip_prefix(STORED).ok_or_else(|| damaged("it does not begin as such a file"))?;
    let mut words = rest.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let mut number = || words.next().and_then(|n| usize::try_from(n).ok());
    let (Some(at), Some(from), Some(length), Some(checksum)) = (number(), number(), number(), number())
    else {
        return Err(damaged("it ends too early"));
    };
    let held = |holder: &'static [u8]| holder.get(from..from.checked_add(length)?);
    let tables: Vec<&'static [u8]> = holders().into_iter().filter_map(held).collect();
    let mut whole =
        parts(rest.get(32..).unwrap_or_default(), at, tables.first().copied().unwrap_or_default())
            .map_err(|error| damaged(&error.to_string()))?;
    for table in tables {
        whole[at..at + length].copy_from_slice(table);
        if crc32c::crc32c(&whole) as usize == checksum {
            return Ok((whole, table));
        }
    }
    Err(damaged("its checksum is another; it was made for other words"))
}

/// What is packed, with `table` put in at `at`.
fn parts(packed: &[u8], at: usize, table: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut file = zstd::stream::read::Decoder::new(packed)?.take(MOST);
    let mut whole = Vec::with_capacity(packed.len() + packed.len() / 2 + table.len());
    file.by_ref().take(at as u64).read_to_end(&mut whole)?;
    if whole.len() < at {
        return Err(std::io::Error::other("it ends before its word table"));
    }
    whole.extend_from_slice(table);
    file.read_to_end(&mut whole)?;
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `before`, then 100 bytes of a table from `from` on, then `after`, stored.
    fn stored(before: &[u8], table: &[u8], from: u64, after: &[u8]) -> Vec<u8> {
        let checksum = crc32c::crc32c(&[before, table, after].concat());
        let numbers = [before.len() as u64, from, table.len() as u64, u64::from(checksum)];
        let packed = zstd::bulk::compress(&[before, after].concat(), 3).unwrap();
        [&STORED[..], &numbers.map(u64::to_le_bytes).concat(), &packed].concat()
    }

    #[test]
    fn either_table_is_put_back_and_told() {
        for holder in holders() {
            let table = &holder[5_000..5_100];
            let (whole, words) = opened("test", &stored(b"before ", table, 5_000, b" after")).unwrap();
            assert_eq!(whole, [b"before ", table, b" after"].concat());
            assert_eq!(words.as_ptr(), table.as_ptr());
        }
    }

    #[test]
    fn damaged_files_are_errors() {
        let good = stored(b"before", &MINILM[9..99], 9, b"after");
        let told = |bytes: &[u8]| opened("test", bytes).unwrap_err().to_string();
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            told(&bytes)
        };
        assert!(told(b"other").contains("does not begin"));
        assert!(told(&good[..39]).contains("ends too early"));
        assert!(changed(8, 200).contains("before its word table"));
        for (at, byte) in [(16, 10), (23, 255), (24, 1), (31, 255), (32, good[32] ^ 1)] {
            assert!(changed(at, byte).contains("other words"), "{at}: {}", changed(at, byte));
        }
        assert!(opened("test", &good[..good.len() - 3]).is_err());
        assert!(opened("test", &[&good[..40], b"no zstd"].concat()).is_err());
    }
}
