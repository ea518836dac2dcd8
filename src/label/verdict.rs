//! Which words pass and which fail: those of the view `labelled_scores`.

/// Words that pass.
pub const PASS: [&str; 6] = ["pass", "passed", "true", "yes", "correct", "good"];
/// Words that fail.
pub const FAIL: [&str; 6] = ["fail", "failed", "false", "no", "incorrect", "bad"];
/// A label that takes back the one before it.
pub const WITHDRAWN: &str = "withdrawn";

/// What a label says, in either case; none for a word of another set.
pub fn verdict(label: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(label.trim()));
    match (is(&PASS), is(&FAIL)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// The verdict as it is stored.
pub fn word(passed: bool) -> &'static str {
    if passed { PASS[0] } else { FAIL[0] }
}
