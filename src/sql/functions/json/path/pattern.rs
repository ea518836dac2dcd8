//! Regular expressions of paths, and how many places a text may be in at once.

use crate::sql::error::SqlError;
use regex::{Regex, RegexBuilder, bytes};

/// Bytes that a regular expression takes once it is compiled.
const MAX_COMPILED: usize = 256 << 10;

/// Sizes by which expressions are weighed; what is larger weighs [`MAX_COMPILED`].
const SIZES: [usize; 4] = [1 << 10, 4 << 10, 16 << 10, 64 << 10];

/// A regular expression of a path.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
    weight: usize,
}

impl Pattern {
    /// Reads an expression; of its flags i, m, s and q are known.
    ///
    /// # Errors
    /// [`SqlError::Wrong`] for what is none, [`SqlError::Limit`] for what takes too much memory.
    pub fn new(pattern: &str, flags: &str) -> Result<Self, SqlError> {
        let source = if flags.contains('q') { regex::escape(pattern) } else { pattern.to_owned() };
        let built = RegexBuilder::new(&source)
            .case_insensitive(flags.contains('i'))
            .multi_line(flags.contains('m'))
            .dot_matches_new_line(flags.contains('s'))
            .size_limit(MAX_COMPILED)
            .build();
        let regex = built.map_err(|why| match why {
            regex::Error::CompiledTooBig(_) => SqlError::Limit(format!(
                "the regular expression in the jsonpath takes more than {MAX_COMPILED} bytes; repeat less in it"
            )),
            why => SqlError::Wrong(format!("invalid regular expression in jsonpath: {why}")),
        })?;
        Ok(Self { regex, weight: weight(&source) })
    }

    /// Whether a part of `text` is as the expression says.
    pub fn is_in(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Bytes of its states. Where nothing helps, each letter of a text is held against all of them.
    pub fn weight(&self) -> usize {
        self.weight
    }
}

/// Bytes of the states that a text can be in at once. A class of Unicode has hundreds of which one or two are meant at a time,
/// so the expression is weighed as one over bytes, where each class is one state.
fn weight(source: &str) -> usize {
    let fits = |size: &usize| {
        // A class that only Unicode has cannot be read so, and weighs the most.
        bytes::RegexBuilder::new(source).unicode(false).size_limit(*size).build().is_ok()
    };
    SIZES.into_iter().find(fits).unwrap_or(MAX_COMPILED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_weighs_and_classes_do_not() {
        let weight = |pattern: &str| Pattern::new(pattern, "i").unwrap().weight();
        assert!(weight("^ab") <= 4 << 10 && weight("\\w+@\\w+\\.\\w+") <= 4 << 10);
        assert!(weight("a{40}") <= weight("a{400}") && weight("a{400}") < MAX_COMPILED);
        assert_eq!(weight("[0-9a-f]*[0-7][0-9a-f]{2000}[^0-9a-f]"), MAX_COMPILED);
        assert_eq!(weight("\\p{Greek}"), MAX_COMPILED);
    }

    #[test]
    fn flags_say_how_it_is_read() {
        let is_in =
            |pattern: &str, flags: &str, text: &str| Pattern::new(pattern, flags).unwrap().is_in(text);
        assert!(is_in("^B.c$", "ims", "a\nb\nC") && !is_in("^B.c$", "", "a\nb\nC"));
        assert!(is_in("a.(", "q", "a.(") && !is_in("a.", "q", "ab"));
        assert!(Pattern::new("(", "").is_err());
    }
}
