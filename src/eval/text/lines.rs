//! Which line breaks end a sentence; list markers, headings, tables, fenced code.

/// A stretch of text that no sentence reaches across, as byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// Prose: stops inside it may end sentences.
    Prose { start: usize, end: usize },
    /// A line of code or of a table: one piece whatever stops it has.
    Line { start: usize, end: usize },
}

/// A shorter line was not broken by an editor but by its writer.
const WRAP_MIN: usize = 45;
/// A longer one was not either.
const WRAP_MAX: usize = 130;
/// Markers nest (`> - 1.`), but not for ever.
const MAX_MARKERS: usize = 6;

/// The blocks of `text`, in order.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found = Found::default();
    let mut in_code = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let body = line.trim();
        if body.starts_with("```") || body.starts_with("~~~") {
            found.flush();
            in_code = !in_code;
        } else if in_code || body.starts_with('|') {
            found.flush();
            found.blocks.push(Block::Line { start, end });
        } else if body.is_empty() {
            found.flush();
        } else {
            found.prose(line, start, end);
        }
    }
    found.flush();
    found.blocks
}

#[derive(Default)]
struct Found<'a> {
    blocks: Vec<Block>,
    open: Option<(usize, usize)>,
    last_line: &'a str,
}

impl<'a> Found<'a> {
    fn prose(&mut self, line: &'a str, start: usize, end: usize) {
        let rest = after_markers(line);
        let has_marker = rest.len() < line.trim_start().len();
        if has_marker || !is_soft_wrap(self.last_line, rest) {
            self.flush();
        }
        self.open = Some(match self.open {
            Some((first, _)) => (first, end),
            None => (start + (line.len() - rest.len()), end),
        });
        self.last_line = rest;
        if line.trim_start().starts_with('#') && has_marker {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if let Some((start, end)) = self.open.take() {
            self.blocks.push(Block::Prose { start, end });
        }
        self.last_line = "";
    }
}

/// Whether the break between two lines of prose is the editor's, not the writer's.
fn is_soft_wrap(last: &str, next: &str) -> bool {
    let last = last.trim();
    if last.ends_with(':') {
        return false;
    }
    let begins = next.chars().find(|c| c.is_alphanumeric());
    if begins.is_some_and(char::is_lowercase) || last.ends_with(',') {
        return true;
    }
    let width = last.chars().take(WRAP_MAX + 1).count();
    (WRAP_MIN..=WRAP_MAX).contains(&width)
}

/// What of the line is left behind white space and the markers of lists, quotes, headings and tasks.
fn after_markers(line: &str) -> &str {
    let mut rest = line.trim_start();
    for _ in 0..MAX_MARKERS {
        match marker(rest) {
            0 => break,
            n => rest = rest[n..].trim_start(),
        }
    }
    rest
}

/// The length in bytes of the marker that `line` begins with; 0 for none.
fn marker(line: &str) -> usize {
    let Some(first) = line.chars().next() else { return 0 };
    let n = match first {
        '-' | '*' | '+' | '•' | '‣' | '◦' | '·' | '–' | '—' | '●' | '▪' | '■' | '○' | '➤' | '→' => {
            first.len_utf8()
        }
        '>' => return 1,
        '#' => line.len() - line.trim_start_matches('#').len(),
        '[' if matches!(line.get(..3), Some("[ ]" | "[x]" | "[X]")) => 3,
        '(' => numbered(&line[1..]).map_or(0, |n| n + 1),
        _ => numbered(line).unwrap_or(0),
    };
    let is_apart = line[n..].chars().next().is_none_or(char::is_whitespace);
    if is_apart { n } else { 0 }
}

/// The length of `12.`, `12)`, `a)` or `iv)` at the beginning.
fn numbered(line: &str) -> Option<usize> {
    let label = line.bytes().take(5).take_while(u8::is_ascii_alphanumeric).count();
    let text = &line[..label];
    let stop = line.as_bytes().get(label)?;
    let is_number = (1..=3).contains(&label) && text.bytes().all(|b| b.is_ascii_digit());
    let is_letter = label == 1 || (label <= 4 && label > 0 && text.bytes().all(|b| b"ivx".contains(&b)));
    match stop {
        b'.' if is_number => Some(label + 1),
        b')' if is_number || is_letter => Some(label + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_only_where_they_stand_apart() {
        for (line, rest) in [
            ("- a", "a"),
            ("-a", "-a"),
            ("12. a", "a"),
            ("1234. a", "1234. a"),
            ("3.14 is pi", "3.14 is pi"),
            ("iv) a", "a"),
            ("I. a", "I. a"),
            ("> > a", "a"),
            ("## a", "a"),
            ("#tag", "#tag"),
            ("- [x] a", "a"),
            ("(2) a", "a"),
            ("**bold**", "**bold**"),
        ] {
            assert_eq!(after_markers(line), rest, "{line}");
        }
    }

    #[test]
    fn a_long_line_before_a_capital_is_a_paragraph_of_its_own() {
        assert!(!is_soft_wrap(&"x".repeat(200), "Next"));
        assert!(is_soft_wrap(&"x".repeat(80), "Next"));
        assert!(!is_soft_wrap("short", "Next"));
        assert!(is_soft_wrap("short", "next"));
    }
}
