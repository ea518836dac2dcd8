//! Bounded lines of a pipe.

use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A line, or a piece of one that is too long.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    pub bytes: Vec<u8>,
    /// The line goes on behind it.
    pub is_cut: bool,
}

/// The lines of a pipe, none of them held beyond a limit.
pub(super) struct Lines<R> {
    from: BufReader<R>,
    /// What has come of the next line.
    begun: Vec<u8>,
    /// Longest line, bytes.
    max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(from: R, max: usize) -> Self {
        Self { from: BufReader::new(from), begun: Vec::new(), max }
    }

    /// The next line without its end; a longer one in pieces. None at the end of the pipe. What has come is kept where the
    /// call is given up.
    ///
    /// # Errors
    /// When the pipe cannot be read.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let there = self.from.fill_buf().await?;
            if there.is_empty() {
                let rest = std::mem::take(&mut self.begun);
                return Ok((!rest.is_empty()).then_some(Line { bytes: rest, is_cut: false }));
            }
            let room = self.max - self.begun.len();
            let end = there.iter().take(room + 1).position(|byte| *byte == b'\n');
            if room == 0 && end.is_none() {
                return Ok(Some(Line { bytes: std::mem::take(&mut self.begun), is_cut: true }));
            }
            let taken = end.unwrap_or_else(|| there.len().min(room));
            self.begun.extend_from_slice(&there[..taken]);
            self.from.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(Line { bytes: std::mem::take(&mut self.begun), is_cut: false }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_lines_come_in_pieces() {
        let mut lines = Lines::new(&b"ab\n\nabcd\nabcdef\nabcdefgh"[..], 4);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push((String::from_utf8(line.bytes).unwrap(), line.is_cut));
        }
        let told: Vec<_> = found.iter().map(|(text, cut)| (text.as_str(), *cut)).collect();
        assert_eq!(
            told,
            [
                ("ab", false),
                ("", false),
                ("abcd", false),
                ("abcd", true),
                ("ef", false),
                ("abcd", true),
                ("efgh", false)
            ]
        );
    }
}
