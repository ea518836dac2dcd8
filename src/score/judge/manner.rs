//! The manner in which a server takes requests: models refuse members that others need, and say so once.

use super::question::Format;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// What was found out is tried anew after this: the server may have been exchanged, and a refusal may have been for one
/// request alone.
const KNOWN: Duration = Duration::from_hours(1);

/// How a request is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Manner {
    /// How the server is asked to hold a verdict to its schema.
    pub format: Format,
    /// Whether the longest answer is `max_completion_tokens`, as OpenAI's models have it since they reason, and not
    /// `max_tokens`.
    pub counts_thought: bool,
    /// Whether `temperature` is left to the model: those that reason take none but their own.
    pub leaves_temperature: bool,
}

impl Manner {
    /// The member that limits the answer.
    pub(super) fn limit(self) -> &'static str {
        if self.counts_thought { "max_completion_tokens" } else { "max_tokens" }
    }

    /// What is tried where a server refuses this one with `words`; none if nothing is left. Without a schema no other
    /// format is tried.
    pub(super) fn next(self, words: &str, has_schema: bool) -> Option<Self> {
        if !self.counts_thought && words.contains("max_tokens") {
            return Some(Self { counts_thought: true, ..self });
        }
        if !self.leaves_temperature && words.contains("temperature") {
            return Some(Self { leaves_temperature: true, ..self });
        }
        let format = if has_schema { self.format.next()? } else { return None };
        Some(Self { format, ..self })
    }
}

/// What was found out of one server.
#[derive(Debug, Default)]
pub(super) struct Learned {
    known: Mutex<Option<(Manner, Instant)>>,
}

impl Learned {
    /// What it has taken last; the best manner where that is not known.
    pub(super) fn manner(&self, now: Instant) -> Manner {
        let known = self.known.lock().filter(|(_, since)| now < *since + KNOWN);
        known.map_or_else(Manner::default, |(manner, _)| manner)
    }

    /// It has taken `manner`, at `now`.
    pub(super) fn keep(&self, manner: Manner, now: Instant) {
        let mut known = self.known.lock();
        // The time is that of the first answer: otherwise a busy judge would never be tried anew.
        if manner != Manner::default()
            && known.is_none_or(|(before, since)| before != manner || now >= since + KNOWN)
        {
            *known = Some((manner, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: &str = "HTTP 400: {\"error\": {\"message\": \"Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                         'max_completion_tokens' instead.\"}}";
    const WARM: &str = "HTTP 400: {\"error\": {\"message\": \"Unsupported value: 'temperature' does not support 0 with this model. Only \
                        the default (1) value is supported.\"}}";

    #[test]
    fn a_refusal_that_names_a_member_changes_that_member_alone() {
        let first = Manner::default();
        let second = first.next(LIMIT, true).unwrap();
        assert_eq!(
            (second.limit(), second.format, second.leaves_temperature),
            ("max_completion_tokens", Format::JsonSchema, false)
        );
        let third = second.next(WARM, true).unwrap();
        assert_eq!(third, Manner { counts_thought: true, leaves_temperature: true, ..first });
        // What was changed already is not the cause.
        assert_eq!(third.next(WARM, true).unwrap().format, Format::JsonObject);
        assert_eq!(third.next(LIMIT, false), None);
        assert_eq!(Manner { format: Format::Text, ..third }.next("no", true), None);
    }

    #[test]
    fn what_was_found_out_is_tried_anew_after_an_hour() {
        let (learned, now) = (Learned::default(), Instant::now());
        let other = Manner { leaves_temperature: true, ..Manner::default() };
        learned.keep(other, now);
        learned.keep(other, now + KNOWN / 2);
        assert_eq!(learned.manner(now + KNOWN / 2), other);
        assert_eq!(learned.manner(now + KNOWN), Manner::default());
        learned.keep(other, now + KNOWN);
        assert_eq!(learned.manner(now + KNOWN), other);
    }
}
