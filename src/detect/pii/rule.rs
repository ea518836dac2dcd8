//! One kind of value in one shape.

/// What the check of a candidate gives: how much of it belongs to the value, and how sure the shape alone is.
pub type Verdict = Option<(usize, f64)>;

/// One kind of value in one shape.
pub struct Rule {
    /// The kind that a finding gets.
    pub kind: &'static str,
    /// The regular expression of candidates; each begins with an ASCII character.
    pub shape: &'static str,
    /// Digits that the neighbourhood needs to have any; a cheap test that spares the expression.
    pub min_digits: usize,
    /// Looks at a candidate.
    pub check: fn(&str) -> Verdict,
    /// Words that speak for the kind when they stand near, in lower case.
    pub words: &'static [&'static str],
    /// The confidence with such a word; below the check's own, the word is not needed.
    pub with_word: f64,
    /// Without one of `words` near it is never reported, so it is not even looked for.
    pub needs_word: bool,
    /// Words that speak against it when none of `words` is there.
    pub denied_by: &'static [&'static str],
}

impl Rule {
    /// A rule whose shape says little: it needs the words.
    pub const fn by_word(
        kind: &'static str,
        shape: &'static str,
        check: fn(&str) -> Verdict,
        words: &'static [&'static str],
    ) -> Self {
        let (min_digits, with_word) = (4, 0.85);
        Self { kind, shape, min_digits, check, words, with_word, needs_word: true, denied_by: &[] }
    }

    /// A rule whose check is mostly proof enough.
    pub const fn by_check(
        kind: &'static str,
        shape: &'static str,
        check: fn(&str) -> Verdict,
        words: &'static [&'static str],
    ) -> Self {
        Self { needs_word: false, ..Self::by_word(kind, shape, check, words) }
    }
}
