//! Somebody knows of what fires: who, until when, and why. It is shown, and nobody is told again until then; it hides nothing.

use super::moment::rfc3339;
use crate::domain::time::UnixNanos;
use crate::units::{nanos, words};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest time for which an alert is acknowledged.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);
/// Bytes of a name.
const MAX_NAME: usize = 200;
/// Bytes of a note.
const MAX_NOTE: usize = 2_000;

/// What is known of one slice that fires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Acknowledgement {
    /// The alert.
    pub alert: String,
    /// The part of the traffic.
    pub slice: String,
    /// Who knows of it.
    pub by: String,
    /// What that person says; may be empty.
    pub note: String,
    /// Since when, nanoseconds since 1970.
    pub at: i64,
    /// Until when nobody is told again, nanoseconds since 1970.
    pub until: i64,
}

impl Acknowledgement {
    /// One sentence.
    pub(super) fn sentence(&self) -> String {
        let note = if self.note.is_empty() { String::new() } else { format!(": {}", self.note) };
        format!("acknowledged by {} until {}{note}", self.by, rfc3339(self.until))
    }

    pub(super) fn is_about(&self, alert: &str, slice: &str) -> bool {
        self.alert == alert && self.slice == slice
    }
}

/// What somebody wants acknowledged.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// The alert.
    pub alert: String,
    /// One slice; every one that fires if none.
    pub slice: Option<String>,
    /// Who.
    pub by: String,
    /// Why, or what is done; may be empty.
    pub note: String,
    /// For how long from now.
    pub lasts: Duration,
}

impl Wish {
    /// What is wrong with it; none if nothing is.
    pub fn fault(&self) -> Option<String> {
        let is_time = !self.lasts.is_zero() && self.lasts <= LONGEST;
        said_fault(&self.by, "note", &self.note).or_else(|| {
            (!is_time).then(|| format!("for must be longer than nothing and at most {}", words(LONGEST)))
        })
    }

    /// What is known of `slice` from `now` on.
    pub(super) fn of(&self, slice: &str, now: UnixNanos) -> Acknowledgement {
        Acknowledgement {
            alert: self.alert.clone(),
            slice: slice.to_owned(),
            by: self.by.trim().to_owned(),
            note: self.note.trim().to_owned(),
            at: now.0,
            until: now.0.saturating_add(nanos(self.lasts)),
        }
    }
}

/// What is wrong with a name and the text of `key`; none if nothing is.
pub(super) fn said_fault(by: &str, key: &str, text: &str) -> Option<String> {
    let is_line = |text: &str| !text.chars().any(char::is_control);
    if by.trim().is_empty() || by.trim().len() > MAX_NAME || !is_line(by.trim()) {
        return Some(format!("by must be who asks for it: 1 to {MAX_NAME} bytes in one line"));
    }
    (text.len() > MAX_NOTE || !is_line(text))
        .then(|| format!("{key} must be at most {MAX_NOTE} bytes in one line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_have_a_name_a_line_and_a_time() {
        let good = Wish {
            alert: "a".into(),
            slice: None,
            by: " Ada ".into(),
            note: "rolled back".into(),
            lasts: Duration::from_secs(3_600),
        };
        assert_eq!(good.fault(), None);
        let known = good.of("s", UnixNanos(1_767_225_600_000_000_000));
        assert_eq!(known.sentence(), "acknowledged by Ada until 2026-01-01T01:00:00Z: rolled back");
        for (wrong, word) in [
            (Wish { by: " ".into(), ..good.clone() }, "by must"),
            (Wish { note: "two\nlines".into(), ..good.clone() }, "note must"),
            (Wish { lasts: Duration::ZERO, ..good.clone() }, "for must"),
            (Wish { lasts: LONGEST * 2, ..good.clone() }, "for must"),
        ] {
            assert!(wrong.fault().is_some_and(|fault| fault.contains(word)), "{wrong:?}");
        }
    }
}
