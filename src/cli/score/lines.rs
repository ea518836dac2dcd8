//! Lines of a file, in chunks of bounded size.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

/// Longest line, bytes: the same limit as an OTLP request.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

/// Lines, and bytes of them, that are scored before any of them is written.
const CHUNK_LINES: usize = 512;
const CHUNK_BYTES: usize = 32 << 20;

/// What some editors begin a file with.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The file, or standard input, behind a mark of UTF-8, and its length where that is known.
pub(super) fn open(path: Option<&PathBuf>) -> Result<(Box<dyn BufRead>, Option<u64>), String> {
    let Some(path) = path else { return Ok((Box::new(past_mark(BufReader::new(io::stdin()))), None)) };
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    // Its length is for the progress bar only.
    let length = file.metadata().ok().map(|m| m.len());
    Ok((Box::new(past_mark(BufReader::new(file))), length))
}

/// `input`, of which nothing was read, behind the mark that it may begin with.
pub fn past_mark<R: BufRead>(mut input: R) -> R {
    // What cannot be read is told where it is read again.
    if input.fill_buf().is_ok_and(|start| start.starts_with(MARK)) {
        input.consume(MARK.len());
    }
    input
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_at_the_beginning_belongs_to_no_line() {
        for (text, lines) in [("\u{feff}{}\n\u{feff}\n", 2), ("{}\n", 1), ("\u{feff}", 0), ("", 0)] {
            let (mut input, mut number) = (past_mark(text.as_bytes()), 0);
            let read = read_chunk(&mut input, &mut number).unwrap();
            assert_eq!(read.len(), lines, "{text:?}");
            if let Some((number, line)) = read.first() {
                assert_eq!((*number, line.as_slice()), (1, &b"{}\n"[..]), "{text:?}");
            }
        }
    }
}
