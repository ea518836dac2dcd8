//! Whether a stop inside a block ends a sentence.

use super::abbreviations::{self, Abbreviation};

/// No word longer than this is looked up.
const MAX_WORD: usize = 24;

/// Byte offsets just behind each stop that ends a sentence, closing quotes and brackets included.
pub fn stops(block: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut sentence_start = 0;
    let mut at = 0;
    // Once a code span was not closed in its line, the rest of the line has none; this keeps the search linear.
    let mut no_code_before = 0;
    while let Some(c) = block[at..].chars().next() {
        let next = at + c.len_utf8();
        if c == '`' && at >= no_code_before {
            let line_end = block[next..].find('\n').map_or(block.len(), |n| next + n);
            match block[next..line_end].find('`') {
                Some(n) => {
                    at = next + n + 1;
                    continue;
                }
                None => no_code_before = line_end,
            }
        }
        if is_full_stop(c) || is_latin_stop(c) {
            let stop = Stop::read(block, sentence_start, at);
            if stop.ends_sentence() {
                found.push(stop.end);
                sentence_start = stop.end;
            }
            at = stop.end;
        } else {
            at = next;
        }
    }
    found
}

/// Stops of scripts that need no space behind them.
fn is_full_stop(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '।' | '॥' | '؟' | '۔' | '።' | '။' | '։' | '។' | '๚')
}

fn is_latin_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '‽')
}

fn is_closer(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '”'
            | '’'
            | '»'
            | ')'
            | ']'
            | '}'
            | '*'
            | '_'
            | '`'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
    )
}

fn is_opener(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '“'
            | '‘'
            | '„'
            | '«'
            | '('
            | '['
            | '{'
            | '*'
            | '_'
            | '`'
            | '¿'
            | '¡'
            | '「'
            | '『'
            | '（'
    )
}

/// A run of stops with what stands around it.
struct Stop<'a> {
    /// The sentence so far, without the stops.
    before: &'a str,
    /// The stops.
    marks: &'a str,
    /// Closing quotes, brackets and citations behind them.
    closers: &'a str,
    /// The rest of the block.
    after: &'a str,
    /// Offset of `after`.
    end: usize,
}

impl<'a> Stop<'a> {
    fn read(block: &'a str, sentence_start: usize, at: usize) -> Self {
        let rest = &block[at..];
        let marks = rest.len() - rest.trim_start_matches(|c| is_full_stop(c) || is_latin_stop(c)).len();
        let marks_end = at + marks;
        let mut end = marks_end;
        loop {
            let n = citation(&block[end..])
                .or_else(|| block[end..].chars().next().filter(|c| is_closer(*c)).map(char::len_utf8))
                .or_else(|| spaced_guillemet(&block[end..]));
            match n {
                Some(n) => end += n,
                None => break,
            }
        }
        Self {
            before: &block[sentence_start..at],
            marks: &block[at..marks_end],
            closers: &block[marks_end..end],
            after: &block[end..],
            end,
        }
    }

    fn ends_sentence(&self) -> bool {
        let Some(next) = self.after.chars().next() else { return true };
        if self.marks.chars().any(is_full_stop) {
            // A quotation that the sentence goes on with: 「…。」と.
            let is_quoted = self.closers.ends_with(['」', '』']);
            return !(is_quoted && matches!(next, '\u{3041}'..='\u{3096}'));
        }
        if !next.is_whitespace() {
            return false;
        }
        let first = self.after.chars().find(|c| !c.is_whitespace() && !is_opener(*c));
        let is_lower = first.is_some_and(char::is_lowercase);
        if is_lower && self.is_quoted() {
            return false;
        }
        if self.marks.contains(['!', '?', '‽']) {
            return true;
        }
        if self.marks.len() > 1 {
            return !is_lower;
        }
        self.full_stop_ends(first, is_lower)
    }

    fn is_quoted(&self) -> bool {
        self.closers.contains(['"', '”', '’', '»', '\''])
    }

    /// A single `.` with white space behind it.
    fn full_stop_ends(&self, first: Option<char>, is_lower: bool) -> bool {
        let word = last_word(self.before);
        if word.is_empty() {
            return !is_lower || self.before.ends_with(char::is_whitespace);
        }
        let next_word = next_word(self.after);
        let is_number = first.is_some_and(|c| c.is_numeric());
        match abbreviations::kind(&word.to_lowercase()) {
            // A closing bracket or quote shows that the abbreviation stands at the end of something.
            Some(Abbreviation::Inner) => return !self.closers.is_empty() && !is_lower,
            Some(Abbreviation::BeforeNumber) => return !is_number && (!is_lower || word.len() > 1),
            Some(Abbreviation::Either) => return self.either_ends(word, next_word, is_lower),
            None => {}
        }
        if word.bytes().all(|b| b.is_ascii_digit()) {
            return self.number_ends(word, next_word);
        }
        if is_initial(word) {
            return abbreviations::is_starter(next_word) || (is_lower && self.is_lower_before(word));
        }
        // An unknown short word before a small letter is more often an abbreviation than an end.
        !is_lower || (word.chars().count() > 3 && !word.contains('.'))
    }

    fn either_ends(&self, word: &str, next_word: &str, is_lower: bool) -> bool {
        if is_lower {
            return false;
        }
        // A name may follow these; the others are followed by capitals only across an end.
        let is_before_name = word.chars().next().is_some_and(char::is_uppercase);
        !is_before_name || abbreviations::is_starter(next_word)
    }

    fn number_ends(&self, word: &str, next_word: &str) -> bool {
        let is_first = self.before.trim_start().len() == word.len();
        let is_ordinal = word.len() <= 2 && abbreviations::is_month(next_word);
        let is_marker = is_first && word.len() <= 3;
        !is_marker && !is_ordinal
    }

    fn is_lower_before(&self, word: &str) -> bool {
        let before = self.before[..self.before.len() - word.len()].trim_end();
        last_word(before).chars().next().is_some_and(char::is_lowercase)
    }
}

/// `A`, `J.R`, `U.N.E.S`: single letters between stops.
fn is_initial(word: &str) -> bool {
    word.split('.').all(|part| {
        let mut chars = part.chars();
        chars.next().is_some_and(char::is_alphabetic) && chars.next().is_none()
    })
}

/// The word that `text` ends with, without the openers before it; empty if white space or something long is there.
fn last_word(text: &str) -> &str {
    let mut start = text.len();
    for (seen, (i, c)) in text.char_indices().rev().enumerate() {
        if c.is_whitespace() || is_opener(c) || matches!(c, '/' | '-' | '–' | '—' | ',') {
            break;
        }
        if seen > MAX_WORD {
            return &text[i..];
        }
        start = i;
    }
    &text[start..]
}

/// The word that follows the white space and openers at the beginning of `text`.
fn next_word(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || is_opener(c));
    let end = text
        .char_indices()
        .take(MAX_WORD)
        .find(|(_, c)| !c.is_alphanumeric())
        .map_or_else(|| text.char_indices().nth(MAX_WORD).map_or(text.len(), |(i, _)| i), |(i, _)| i);
    &text[..end]
}

/// The length of a citation such as `[12]` at the beginning.
fn citation(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let digits = inner.bytes().take(4).take_while(u8::is_ascii_digit).count();
    (digits > 0 && inner.as_bytes().get(digits) == Some(&b']')).then_some(digits + 2)
}

/// French sets a space before the closing guillemet.
fn spaced_guillemet(text: &str) -> Option<usize> {
    let space = text.chars().next().filter(|c| matches!(c, ' ' | '\u{a0}' | '\u{202f}'))?;
    text[space.len_utf8()..].starts_with('»').then(|| space.len_utf8() + '»'.len_utf8())
}
