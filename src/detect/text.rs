//! Small questions about a place in a text.

/// Whether an escaped line break or tab, as in JSON, ends before the place: its letter is no letter of a word.
pub fn is_escape(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    matches!(before, [.., b'\\', b'n' | b't' | b'r'])
}
