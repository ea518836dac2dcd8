//! Regular expressions of bounded size, and how many places of one a text may be in at once.

use crate::sql::error::SqlError;
use datafusion::error::{DataFusionError, Result};
use regex::{Regex, RegexBuilder, bytes};

/// Bytes that a regular expression takes once it is compiled.
const MAX_COMPILED: usize = 4 << 20;

/// Expressions that are kept for the next rows.
const KEPT: usize = 16;

/// Bytes of its text.
const MAX_PATTERN: usize = 64 << 10;

/// Sizes by which expressions are weighed; what is larger weighs [`MAX_COMPILED`].
const SIZES: [usize; 6] = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// A regular expression.
#[derive(Debug)]
pub struct Compiled {
    regex: Regex,
    weight: u64,
}

impl Compiled {
    /// Reads an expression with its flags, of which `g` says nothing about the expression itself.
    ///
    /// # Errors
    /// [`SqlError::Wrong`] for what is none, [`SqlError::Limit`] for what is too large; both as external errors.
    pub fn new(pattern: &str, flags: &str) -> Result<Self> {
        if pattern.len() > MAX_PATTERN {
            let why = format!("a regular expression has more than {MAX_PATTERN} bytes; write a shorter one");
            return Err(told(SqlError::Limit(why)));
        }
        let source = spelled(pattern, flags);
        let built = RegexBuilder::new(&source).size_limit(MAX_COMPILED).build();
        let regex = built.map_err(|why| match why {
            regex::Error::CompiledTooBig(_) => told(SqlError::Limit(format!(
                "a regular expression takes more than {MAX_COMPILED} bytes; repeat less in it"
            ))),
            why => told(SqlError::Wrong(format!("invalid regular expression: {why}"))),
        })?;
        Ok(Self { regex, weight: weight(&source) as u64 })
    }

    /// The expression.
    pub fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Bytes of `text` times bytes of the states that each may be held against.
    pub fn cost(&self, text: &str) -> u64 {
        (text.len() as u64).max(1).saturating_mul(self.weight)
    }
}

/// The expressions that were read last: most often that of the next row is one of them.
#[derive(Debug, Default)]
pub struct Last {
    known: Vec<(String, String, Compiled)>,
    /// The place of the next one that is read.
    next: usize,
}

impl Last {
    /// The expression of a row, and whether it was read for this one.
    ///
    /// # Errors
    /// As [`Compiled::new`].
    pub fn get(&mut self, pattern: &str, flags: &str) -> Result<(&Compiled, bool)> {
        let found = self.known.iter().position(|(known, with, _)| known == pattern && with == flags);
        if let Some(at) = found {
            return Ok((&self.known[at].2, false));
        }
        let made = (pattern.to_owned(), flags.to_owned(), Compiled::new(pattern, flags)?);
        let at = self.next;
        match self.known.get_mut(at) {
            Some(oldest) => *oldest = made,
            None => self.known.push(made),
        }
        self.next = (at + 1) % KEPT;
        Ok((&self.known[at].2, true))
    }
}

/// `error` as one of the engine.
pub fn told(error: SqlError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The expression with its flags in it, as the engine spells it.
fn spelled(pattern: &str, flags: &str) -> String {
    let flags: String = flags.chars().filter(|flag| *flag != 'g').collect();
    if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") }
}

/// Bytes of the states that a text can be in at once. A class of Unicode has hundreds of which one or two are meant at a time,
/// so the expression is weighed as one over bytes, where each class is one state.
fn weight(source: &str) -> usize {
    let plain = in_ascii(source);
    let fits =
        |size: &usize| bytes::RegexBuilder::new(&plain).unicode(false).size_limit(*size).build().is_ok();
    // What cannot be read so weighs the most.
    SIZES.into_iter().find(fits).unwrap_or(MAX_COMPILED)
}

/// `source` with a letter of ASCII for each that is not, and with `\w` for each class of Unicode.
fn in_ascii(source: &str) -> String {
    let ascii = |letter: char| if letter.is_ascii() { letter } else { 'x' };
    let mut out = String::with_capacity(source.len());
    let mut letters = source.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(ascii(letter));
            continue;
        }
        match letters.next() {
            Some('p' | 'P') => {
                if letters.next() == Some('{') {
                    letters.by_ref().take_while(|letter| *letter != '}').for_each(drop);
                }
                out.push_str("\\w");
            }
            // A letter that is not of ASCII may be escaped, an x may not.
            Some(other) if !other.is_ascii() => out.push('x'),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(pattern: &str) -> u64 {
        Compiled::new(pattern, "i").unwrap().weight
    }

    #[test]
    fn what_repeats_weighs_and_classes_do_not() {
        assert!(weight("^ab") <= 4 << 10 && weight(r"\w+@\w+\.\w+") <= 4 << 10);
        assert!(weight(r"\p{Greek}+|[ä-ü]\pL") <= 4 << 10 && weight(r"\w{20}") <= 16 << 10);
        assert!(weight("a{40}") <= weight("a{400}") && weight("([ab]{100}){100}c") >= 256 << 10);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        for pattern in ["(a{1000}){1000}".to_owned(), "a".repeat(MAX_PATTERN + 1)] {
            let why = Compiled::new(&pattern, "").unwrap_err().to_string();
            assert!(why.contains("a regular expression"), "{why}");
        }
        assert!(Compiled::new("(", "").unwrap_err().to_string().contains("invalid regular expression"));
    }

    #[test]
    fn flags_belong_to_the_expression() {
        let mut last = Last::default();
        assert!(last.get("^a$", "gi").unwrap().0.regex().is_match("A"));
        assert!(!last.get("^a$", "g").unwrap().0.regex().is_match("A"));
        assert!(last.get("^b$", "").unwrap().0.regex().is_match("b"));
        assert!(last.get("a", "?").is_err() && last.get("a", "").is_ok());
    }

    #[test]
    fn expressions_that_come_by_turns_are_read_once() {
        let mut last = Last::default();
        let mut read = |n: usize| {
            let (known, is_new) = last.get(&format!("^{n}$"), "").unwrap();
            assert!(known.regex().is_match(&n.to_string()));
            is_new
        };
        assert!((0..KEPT).all(&mut read) && !(0..KEPT).any(&mut read));
        assert!(read(KEPT) && !read(1) && read(0), "the oldest leaves");
    }
}
