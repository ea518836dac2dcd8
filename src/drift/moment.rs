//! Moments as text.

use chrono::{DateTime, SecondsFormat, Utc};

/// A moment as text, to the second.
pub fn rfc3339(nanos: i64) -> String {
    let at: DateTime<Utc> = DateTime::from_timestamp_nanos(nanos);
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
