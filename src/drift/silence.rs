//! Times in which nobody is told.

use crate::domain::time::UnixNanos;
use chrono::DateTime;

/// Start and end of `"2026-12-24T00:00:00Z/2026-12-27T00:00:00Z"`; none if that is not what it is.
pub(super) fn parse(text: &str) -> Option<(UnixNanos, UnixNanos)> {
    let (from, to) = text.split_once('/')?;
    let at = |text: &str| {
        let nanos = DateTime::parse_from_rfc3339(text.trim()).ok()?.timestamp_nanos_opt()?;
        Some(UnixNanos(nanos))
    };
    let (from, to) = (at(from)?, at(to)?);
    (from < to).then_some((from, to))
}

/// Whether `now` lies in one of them.
pub(super) fn is_silent(silences: &[String], now: UnixNanos) -> bool {
    silences.iter().filter_map(|text| parse(text)).any(|(from, to)| from <= now && now < to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_zones_are_read_and_others_refused() {
        let day = "2026-12-24T00:00:00+01:00/2026-12-25T00:00:00Z";
        let (from, to) = parse(day).unwrap();
        assert_eq!(to.since(from), 25 * 3_600 * 1_000_000_000);
        assert!(is_silent(&[day.to_owned()], from) && !is_silent(&[day.to_owned()], to));
        for wrong in ["", "2026-12-24", "2026-12-25T00:00:00Z/2026-12-24T00:00:00Z", "tomorrow/later"] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }
}
