//! What was found, where, and how sure that is.

use std::collections::BTreeMap;

/// Findings below this confidence are guesses: they are told, but are no leak.
pub const REPORTED: f64 = 0.5;

/// A value in a text that should not have left.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What kind of value it is, in snake case.
    pub kind: &'static str,
    /// Byte offset of its first character.
    pub start: usize,
    /// Byte offset just behind its last character.
    pub end: usize,
    /// How sure the detector is, 0 to 1; from [`REPORTED`] on it counts as a leak.
    pub confidence: f64,
}

/// The findings in order without overlap: the surer one stays, of equals the longer one, then the earlier one.
pub fn without_overlap(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| {
        let by_length = (b.end - b.start).cmp(&(a.end - a.start));
        b.confidence.total_cmp(&a.confidence).then(by_length).then(a.start.cmp(&b.start))
    });
    let mut kept: BTreeMap<usize, Finding> = BTreeMap::new();
    for finding in findings {
        let before = kept.range(..finding.end).next_back();
        if before.is_none_or(|(_, other)| other.end <= finding.start) {
            kept.insert(finding.start, finding);
        }
    }
    kept.into_values().collect()
}

/// The greatest character boundary of `text` at or before `at`.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// From here on stand the scripts that write words without blanks (Chinese, Japanese, Korean): a value may follow a
/// letter of theirs at once.
pub const FIRST_WITHOUT_BLANKS: char = '\u{2e80}';

/// Whether a character before the match makes it part of a longer token: a letter, a digit, an underscore.
pub fn is_word_char(c: char) -> bool {
    (c.is_alphanumeric() && c < FIRST_WITHOUT_BLANKS) || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: &'static str, start: usize, end: usize, confidence: f64) -> Finding {
        Finding { kind, start, end, confidence }
    }

    #[test]
    fn the_surer_of_two_overlapping_findings_stays() {
        let kept = without_overlap(vec![
            finding("a", 0, 10, 0.5),
            finding("b", 5, 12, 0.9),
            finding("c", 12, 14, 0.1),
            finding("d", 4, 6, 0.2),
        ]);
        let kinds: Vec<&str> = kept.iter().map(|f| f.kind).collect();
        assert_eq!(kinds, ["b", "c"]);
    }

    #[test]
    fn boundaries_are_respected() {
        assert_eq!(floor_boundary("aé", 2), 1);
        assert_eq!(floor_boundary("aé", 99), 3);
    }
}
