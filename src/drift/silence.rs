//! Times in which nobody is told of what fires: those of the configuration, and those that were asked for.
//!
//! A silence keeps messages back, it does not lose them: what still fires when it ends is told then, and what is resolved in
//! it is told at once to those who were told that it fires.

use super::acknowledge::said_fault;
use super::moment::rfc3339;
use super::slice_name::{EVERY, shown, values};
use crate::domain::time::UnixNanos;
use crate::units::{nanos, words};
use chrono::DateTime;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest silence that can be asked for.
const LONGEST: Duration = Duration::from_hours(24 * 366);
/// The most of them at once.
pub(super) const MOST: usize = 200;

/// A time in which nobody is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Silence {
    /// What names it among all.
    pub id: String,
    /// The alert; every one if none.
    pub alert: Option<String>,
    /// Columns of the slice and their values; every slice if none.
    pub slice: Option<BTreeMap<String, String>>,
    /// From when on, nanoseconds since 1970.
    pub since: i64,
    /// Until when, nanoseconds since 1970.
    pub until: i64,
    /// Who asked for it; empty for those of the configuration.
    pub by: String,
    /// Why; may be empty.
    pub comment: String,
    /// Whether it stands in the configuration.
    #[serde(default)]
    pub is_configured: bool,
}

impl Silence {
    /// Whether it holds at `now` for this slice of an alert that cuts the traffic by `columns`.
    pub(super) fn holds(&self, alert: &str, columns: &[String], slice: &str, now: UnixNanos) -> bool {
        let is_now = self.since <= now.0 && now.0 < self.until;
        is_now && self.alert.as_ref().is_none_or(|wanted| wanted == alert) && self.is_of(columns, slice)
    }

    fn is_of(&self, columns: &[String], slice: &str) -> bool {
        let Some(wanted) = &self.slice else { return true };
        let Some(found) = values(columns, slice) else { return false };
        wanted.iter().all(|(column, value)| {
            let at = columns.iter().position(|known| known == column);
            let found = at.and_then(|at| found.get(at));
            // The value that stands for every value names a margin.
            found.is_some_and(|found| *found == shown(value) || (value == EVERY && *found == EVERY))
        })
    }

    /// As the endpoints show it.
    pub fn json(&self) -> Value {
        json!({
            "id": self.id, "alert": self.alert, "slice": self.slice, "since": rfc3339(self.since),
            "until": rfc3339(self.until), "by": self.by, "comment": self.comment,
            "source": if self.is_configured { "config" } else { "http" },
        })
    }
}

/// When a silence ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// At this moment.
    At(UnixNanos),
    /// So long after it began.
    After(Duration),
}

/// A silence that somebody wants from now on.
#[derive(Debug, Clone, PartialEq)]
pub struct SilenceWish {
    /// The alert; every one if none.
    pub alert: Option<String>,
    /// Columns of the slice and their values; every slice if none.
    pub slice: Option<BTreeMap<String, String>>,
    /// When it ends.
    pub ends: Ends,
    /// Who.
    pub by: String,
    /// Why; may be empty.
    pub comment: String,
}

/// Why a silence is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SilenceFault {
    /// It would be over at once, or hold too long.
    #[error("a silence ends after now and at most {} from now: set until or for", words(LONGEST))]
    Time,
    /// There are too many.
    #[error("there are {MOST} silences already: end one with DELETE /v1/alerts/silences/{{id}}")]
    Full,
}

impl SilenceWish {
    /// What is wrong with its words; none if nothing is.
    pub fn fault(&self) -> Option<String> {
        said_fault(&self.by, "comment", &self.comment)
    }

    /// The silence from `now` on.
    ///
    /// # Errors
    /// When it would be over at once, or hold too long.
    pub(super) fn begin(self, id: String, now: UnixNanos) -> Result<Silence, SilenceFault> {
        let until = match self.ends {
            Ends::At(at) => at.0,
            Ends::After(lasts) => now.0.saturating_add(nanos(lasts)),
        };
        if until <= now.0 || until > now.0.saturating_add(nanos(LONGEST)) {
            return Err(SilenceFault::Time);
        }
        let (by, comment) = (self.by.trim().to_owned(), self.comment.trim().to_owned());
        let (alert, slice) = (self.alert, self.slice);
        Ok(Silence { id, alert, slice, since: now.0, until, by, comment, is_configured: false })
    }
}

/// What names the silence that was made as number `number` at `now`.
pub(super) fn id(number: u64, now: UnixNanos) -> String {
    hex::encode(&Sha256::digest(format!("{number}\0{}", now.0))[..8])
}

/// Start and end of `"2026-12-24T00:00:00Z/2026-12-27T00:00:00Z"`; none if that is not what it is.
pub(super) fn parse(text: &str) -> Option<(UnixNanos, UnixNanos)> {
    let (from, to) = text.split_once('/')?;
    let (from, to) = (moment(from)?, moment(to)?);
    (from < to).then_some((from, to))
}

/// The moment that an RFC 3339 text names; none if it names none.
pub(super) fn moment(text: &str) -> Option<UnixNanos> {
    DateTime::parse_from_rfc3339(text.trim()).ok()?.timestamp_nanos_opt().map(UnixNanos)
}

/// The silences of the configuration, which has these texts for the alert `name`.
pub(super) fn configured(name: &str, texts: &[String]) -> Vec<Silence> {
    let one = |text: &String| {
        let (since, until) = parse(text)?;
        let id = hex::encode(&Sha256::digest(format!("{name}\0{text}"))[..6]);
        Some(Silence {
            id: format!("config-{id}"),
            alert: Some(name.to_owned()),
            slice: None,
            since: since.0,
            until: until.0,
            by: String::new(),
            comment: String::new(),
            is_configured: true,
        })
    };
    texts.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_zones_are_read_and_others_refused() {
        let day = "2026-12-24T00:00:00+01:00/2026-12-25T00:00:00Z";
        let (from, to) = parse(day).unwrap();
        assert_eq!(to.since(from), 25 * 3_600 * 1_000_000_000);
        let [silence] = configured("a", &[day.to_owned()]).try_into().unwrap();
        assert!(silence.holds("a", &[], "", from) && !silence.holds("a", &[], "", to));
        assert!(!silence.holds("b", &[], "", from), "another alert");
        assert_eq!((&silence.json()["source"], &silence.json()["slice"]), (&json!("config"), &Value::Null));
        for wrong in ["", "2026-12-24", "2026-12-25T00:00:00Z/2026-12-24T00:00:00Z", "tomorrow/later"] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }

    fn wish(slice: &[(&str, &str)], ends: Ends) -> SilenceWish {
        let slice = slice.iter().map(|(c, v)| ((*c).to_owned(), (*v).to_owned())).collect();
        SilenceWish { alert: None, slice: Some(slice), ends, by: " Ada ".into(), comment: "known".into() }
    }

    #[test]
    fn a_silence_holds_for_the_slices_that_it_names() {
        let (now, hour) = (UnixNanos(1_000), Duration::from_hours(1));
        let columns: Vec<String> = ["service_name", "request_model"].map(str::to_owned).into();
        let made = wish(&[("request_model", "m")], Ends::After(hour)).begin("7".into(), now).unwrap();
        assert_eq!((made.by.as_str(), made.until), ("Ada", 1_000 + nanos(hour)));
        let holds = |slice: &str| made.holds("any", &columns, slice, now);
        assert!(holds("service_name=shop, request_model=m") && holds("service_name=, request_model=m"));
        assert!(!holds("service_name=m, request_model=n") && !holds(""));
        assert!(!made.holds("any", &[], "", now), "an alert without this column");
        for wrong in [Ends::At(now), Ends::After(Duration::ZERO), Ends::After(LONGEST * 2)] {
            assert_eq!(wish(&[], wrong).begin("8".into(), now), Err(SilenceFault::Time), "{wrong:?}");
        }
        assert!(SilenceWish { by: " ".into(), ..wish(&[], Ends::At(now)) }.fault().is_some());
    }
}
