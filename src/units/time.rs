//! The words of a duration.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// The units that durations are written in, nanoseconds each, longest first.
const UNITS: &[(u128, &str)] = &[
    (86_400_000_000_000, "d"),
    (3_600_000_000_000, "h"),
    (60_000_000_000, "m"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

/// A longer duration is refused: it would not fit beside the present time in nanoseconds.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// For fields: `#[serde(with = "Time")] timeout: Duration`. It is read from `"30s"`, `"1h 30m"`, `"1.5h"` or a number of
/// seconds, and written exactly, in the longest unit that leaves a whole number.
pub struct Time;

/// As [`Time`], for a field that may be missing.
pub struct OptionalTime;

/// `duration` as it is written in a configuration.
pub fn words(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    match UNITS.iter().find(|(unit, _)| nanos > 0 && nanos.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", nanos / unit),
        None => "0s".to_owned(),
    }
}

/// Its milliseconds; the greatest number if they are beyond.
pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Its nanoseconds; the greatest number if they are beyond.
pub fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

impl Time {
    /// Writes the words.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&words(*duration))
    }

    /// Reads words or a number of seconds.
    ///
    /// # Errors
    /// What is neither, negative, or longer than a hundred years.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        from.deserialize_any(Words)
    }
}

impl OptionalTime {
    /// Writes the words, if there is a duration.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => Time::serialize(duration, to),
            None => to.serialize_none(),
        }
    }

    /// Reads what is there.
    ///
    /// # Errors
    /// As [`Time::deserialize`].
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Time::deserialize(from).map(Some)
    }
}

struct Words;

impl Visitor<'_> for Words {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"30s\", or a number of seconds")
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Duration, E> {
        bounded(Duration::from_secs(seconds))
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Duration, E> {
        let seconds =
            u64::try_from(seconds).map_err(|_| E::custom(format!("{seconds} is below 0 seconds")))?;
        self.visit_u64(seconds)
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Duration, E> {
        let read = Duration::try_from_secs_f64(seconds);
        bounded(read.map_err(|e| E::custom(format!("{seconds} is no number of seconds: {e}")))?)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        let wrong =
            |e| E::custom(format!("{text:?} is no duration such as \"30s\", \"1500ms\" or \"1h\": {e}"));
        bounded(humantime::parse_duration(text).map_err(wrong)?)
    }
}

fn bounded<E: Error>(duration: Duration) -> Result<Duration, E> {
    if duration > LONGEST {
        return Err(E::custom(format!("a duration is longer than {}", words(LONGEST))));
    }
    Ok(duration)
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"], "minimum": 0, "examples": ["30s", 1.5] })
    }
}

impl JsonSchema for OptionalTime {
    fn schema_name() -> Cow<'static, str> {
        Time::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Time::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Duration, String> {
        Time::deserialize(&mut serde_json::Deserializer::from_str(json)).map_err(|e| e.to_string())
    }

    #[test]
    fn words_and_numbers_are_read() {
        for (json, millis) in [
            ("\"30s\"", 30_000),
            ("\"1500ms\"", 1_500),
            ("\"1h 30m\"", 5_400_000),
            ("\"1.5h\"", 5_400_000),
            ("\"7d\"", 604_800_000),
            ("\"0s\"", 0),
            ("30", 30_000),
            ("0.25", 250),
            ("0", 0),
        ] {
            assert_eq!(read(json), Ok(Duration::from_millis(millis)), "{json}");
        }
    }

    #[test]
    fn what_is_no_duration_is_told() {
        for json in ["\"\"", "\"soon\"", "\"30\"", "\"-1s\"", "-1", "-0.5", "1e300", "\"200y\"", "false"] {
            let error = read(json).unwrap_err();
            assert!(error.contains("duration") || error.contains("seconds"), "{json}: {error}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for (duration, said) in [
            (Duration::ZERO, "0s"),
            (Duration::from_micros(1_500), "1500us"),
            (Duration::from_millis(1_500), "1500ms"),
            (Duration::from_secs(90), "90s"),
            (Duration::from_secs(7_200), "2h"),
            (Duration::from_secs(90 * 86_400), "90d"),
            (Duration::from_nanos(1_000_000_001), "1000000001ns"),
        ] {
            assert_eq!(words(duration), said);
            assert_eq!(read(&format!("\"{said}\"")), Ok(duration));
        }
    }
}
