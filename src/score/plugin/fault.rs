//! Why a batch has no answer, or not for all of its items.

use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nobody gets an answer until somebody changes something: a key, an address, a program.
    Away(String),
    /// The plug-in has no time now; it may have said for how long.
    Busy(String, Option<Duration>),
    /// It broke, hung or answered nonsense, and one of the items may be the cause.
    Broken(String),
    /// The same would be refused again.
    Refused(String),
    /// Another version of it answered than the one that was described.
    Stale,
}

impl Fault {
    /// Its word in metrics.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Fault::Away(_) => "away",
            Fault::Busy(..) => "busy",
            Fault::Broken(_) => "broken",
            Fault::Refused(_) => "refused",
            Fault::Stale => "stale",
        }
    }
}
