//! Lines of a file, in chunks of bounded size.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

/// Longest line, bytes: the same limit as an OTLP request.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

/// Lines, and bytes of them, that are scored before any of them is written.
const CHUNK_LINES: usize = 512;
const CHUNK_BYTES: usize = 32 << 20;

/// The file, or standard input, and its length where that is known.
pub(super) fn open(path: Option<&PathBuf>) -> Result<(Box<dyn BufRead>, Option<u64>), String> {
    let Some(path) = path else { return Ok((Box::new(BufReader::new(io::stdin())), None)) };
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    // Its length is for the progress bar only.
    let length = file.metadata().ok().map(|m| m.len());
    Ok((Box::new(BufReader::new(file)), length))
}

/// The next lines with their numbers, as many as are scored before any of them is written. `number` is that of the last
/// line before them.
pub fn read_chunk(input: &mut dyn BufRead, number: &mut usize) -> io::Result<Vec<(usize, Vec<u8>)>> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    while lines.len() < CHUNK_LINES && bytes < CHUNK_BYTES {
        let mut line = Vec::new();
        let read = io::Read::take(&mut *input, MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        *number += 1;
        bytes += read;
        lines.push((*number, line));
    }
    Ok(lines)
}

/// Passes over the first `lines` lines and says how many bytes they had.
pub(super) fn skip(input: &mut dyn BufRead, lines: usize, number: &mut usize) -> io::Result<u64> {
    let mut bytes = 0;
    while *number < lines {
        let mut line = Vec::new();
        let read = io::Read::take(&mut *input, MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        *number += 1;
        bytes += read as u64;
    }
    Ok(bytes)
}
