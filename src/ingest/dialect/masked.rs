//! What senders write in place of a masked value. It counts as absent.

/// What OpenInference writes in place of a masked value.
pub(super) const REDACTED: &str = "__REDACTED__";

/// How Logfire's text in place of a masked value begins: `[Scrubbed due to 'session']`.
const SCRUBBED: &str = "[Scrubbed due to '";

/// What Claude Code and Genkit write in place of a masked value.
const IN_ANGLES: [&str; 2] = ["<REDACTED>", "<redacted>"];

/// Whether `text` stands for a value that was masked.
pub(super) fn is_masked(text: &str) -> bool {
    text == REDACTED || IN_ANGLES.contains(&text) || text.starts_with(SCRUBBED)
}
