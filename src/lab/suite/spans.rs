//! What checks read of a run's trace: how many spans of a name it has, how long they took, and how many have an error.

use crate::lab::template::brief;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// Longest pattern, characters: it is tried on every name.
const MAX_PATTERN: usize = 1_000;
/// Spans that a reason names.
const TOLD: usize = 3;
/// The pattern that every name has.
const ALL: &str = "*";
/// What a number must be that counts or measures something.
const COUNT: Must = (|n: f64| n >= 0.0 && n.fract() == 0.0, "a whole number from 0 on");
const MILLISECONDS: Must = (|n: f64| n >= 0.0, "milliseconds, from 0 on");
/// What a share of the spans must be.
const PERCENTILE: Must = (|n: f64| n > 0.0 && n <= 100.0, "above 0 and at most 100");
const PERCENTAGE: Must = (|n: f64| (0.0..=100.0).contains(&n), "from 0 to 100");
/// Why there are no spans where nobody looked.
const UNREAD: &str =
    "the spans of this run are not read: groundline test reads those that the server of --url has";

/// Most traces whose spans are read at once.
pub const TRACES_AT_ONCE: usize = 64;

/// What a number must hold, and the same in words.
type Must = (fn(f64) -> bool, &'static str);

/// A span of a run, as far as checks read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSpan {
    /// Its name.
    pub name: String,
    /// How long it took, milliseconds.
    pub duration_ms: f64,
    /// Whether its status is error, or it names the class of one.
    pub is_error: bool,
}

/// The spans of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Spans {
    /// Nobody looked for them.
    #[default]
    Unread,
    /// Why there are none.
    Missing(String),
    /// Those that were stored when somebody looked, at least one.
    Read(Arc<[RunSpan]>),
}

impl Spans {
    /// The spans that are stored of a trace.
    pub fn of(trace_id: &str, spans: Vec<RunSpan>) -> Self {
        if !spans.is_empty() {
            return Self::Read(spans.into());
        }
        Self::Missing(format!(
            "no span of the trace {trace_id} is stored: the application sends its spans to this server, under the \
             traceparent that it is given, within lab.span_wait after its answer"
        ))
    }

    fn read(&self) -> Result<&[RunSpan], String> {
        match self {
            Self::Read(spans) => Ok(spans),
            Self::Missing(why) => Err(why.clone()),
            Self::Unread => Err(UNREAD.to_owned()),
        }
    }
}

/// What is measured of the spans of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// How many there are.
    Count,
    /// How long the longest took, or a percentile.
    Duration,
    /// How many have an error.
    Errors,
}

impl Measure {
    /// The keys of its criteria.
    fn keys(self) -> [&'static str; 3] {
        match self {
            Self::Count => ["pattern", "min", "max"],
            Self::Duration => ["pattern", "max", "percentile"],
            Self::Errors => ["pattern", "max_count", "max_percentage"],
        }
    }

    /// The key of what may be at most.
    fn most(self) -> &'static str {
        if self == Self::Errors { "max_count" } else { "max" }
    }
}

/// The criteria of a check as one object: a text is the pattern, a number how many errors there may be, and the check's own
/// bounds stand in it, too.
///
/// # Errors
/// What they cannot be, or what is said twice.
pub(super) fn whole(
    measure: Measure,
    criteria: Option<&Json>,
    (min, max): (Option<f64>, Option<f64>),
) -> Result<Map<String, Json>, String> {
    let mut whole = match criteria {
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(of)) => of.clone(),
        Some(Json::String(text)) => of_text(measure, text.trim())?,
        Some(count @ Json::Number(_)) if measure == Measure::Errors => single("max_count", count.clone()),
        Some(other) => {
            let keys = measure.keys().join(", ");
            let other = brief(&other.to_string());
            return Err(format!("criteria {other} are no pattern, and no object with {keys}"));
        }
    };
    for (key, bound) in [("min", min), (measure.most(), max)] {
        let Some(bound) = bound else { continue };
        if whole.insert(key.to_owned(), json!(bound)).is_some() {
            return Err(format!("{key} stands in the criteria and beside them: keep one"));
        }
    }
    if let Some(other) = whole.keys().find(|key| !measure.keys().contains(&key.as_str())) {
        return Err(format!("it has no {other:?}; there are {}", measure.keys().join(", ")));
    }
    Ok(whole)
}

/// A pattern, an object as JSON, as cells have it, or a number of errors.
fn of_text(measure: Measure, text: &str) -> Result<Map<String, Json>, String> {
    if text.starts_with('{') && !text.starts_with("{{") {
        return serde_json::from_str(text).map_err(|e| format!("criteria {} are no JSON: {e}", brief(text)));
    }
    Ok(match serde_json::from_str(text) {
        _ if text.is_empty() => Map::new(),
        Ok(count @ Json::Number(_)) if measure == Measure::Errors => single("max_count", count),
        _ => single("pattern", text.into()),
    })
}

fn single(key: &str, value: Json) -> Map<String, Json> {
    std::iter::once((key.to_owned(), value)).collect()
}

/// What must hold of the spans of a name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    measure: Measure,
    /// Which names are meant: `*` is any text, `?` any character, and capital letters are small ones.
    pub pattern: String,
    min: Option<f64>,
    /// Spans, milliseconds, or spans with an error.
    max: Option<f64>,
    percentile: Option<f64>,
    max_percentage: Option<f64>,
}

impl Wanted {
    /// Reads the criteria of a check, and its own bounds.
    ///
    /// # Errors
    /// What is wrong with them; and criteria that any trace meets.
    pub fn new(
        measure: Measure,
        criteria: Option<&Json>,
        bounds: (Option<f64>, Option<f64>),
    ) -> Result<Self, String> {
        let whole = whole(measure, criteria, bounds)?;
        let number = |key: &str, (holds, must): Must| match whole.get(key) {
            None => Ok(None),
            Some(value) => match value.as_f64().filter(|n| holds(*n)) {
                Some(number) => Ok(Some(number)),
                None => Err(format!("{key} is {}, must be {must}", brief(&value.to_string()))),
            },
        };
        let most = if measure == Measure::Duration { MILLISECONDS } else { COUNT };
        let mut wanted = Self {
            measure,
            pattern: pattern(whole.get("pattern"))?,
            min: number("min", COUNT)?,
            max: number(measure.most(), most)?,
            percentile: number("percentile", PERCENTILE)?,
            max_percentage: number("max_percentage", PERCENTAGE)?,
        };
        match (measure, wanted.min, wanted.max) {
            (Measure::Count, None, None) => Err("it needs min, max or both: any trace would pass".to_owned()),
            (Measure::Count, Some(min), Some(max)) if min > max => {
                Err(format!("min is {min} and max {max}: no number is both"))
            }
            (Measure::Duration, _, None) => Err("it needs max, milliseconds".to_owned()),
            (Measure::Errors, _, None) if wanted.max_percentage.is_none() => {
                wanted.max = Some(0.0);
                Ok(wanted)
            }
            _ => Ok(wanted),
        }
    }

    /// Why there is nothing to measure: spans are there, and none of them is called so. Their number is 0 then, and what the
    /// others measure has no value.
    pub fn nothing(&self, spans: &Spans) -> Option<String> {
        let all = spans.read().ok()?;
        let is_there = self.measure == Measure::Count || !self.called(all).is_empty();
        (!is_there).then(|| format!("none of {} spans is called {:?}", all.len(), self.pattern))
    }

    /// Whether it holds, the value behind that, and why.
    ///
    /// # Errors
    /// When there are no spans to read, or [`Wanted::nothing`] of them.
    pub fn found(&self, spans: &Spans) -> Result<(bool, f64, String), String> {
        let all = spans.read()?;
        if let Some(why) = self.nothing(spans) {
            return Err(why);
        }
        let called = self.called(all);
        match self.measure {
            Measure::Count => {
                let count = called.len() as f64;
                let holds =
                    self.min.is_none_or(|min| count >= min) && self.max.is_none_or(|max| count <= max);
                let why = format!("{} of {} spans are called {:?}", called.len(), all.len(), self.pattern);
                Ok((holds, count, why + &names(&called)))
            }
            Measure::Duration => self.took(called),
            Measure::Errors => Ok(self.failed(&called)),
        }
    }

    fn called<'a>(&self, all: &'a [RunSpan]) -> Vec<&'a RunSpan> {
        let pattern = letters(&self.pattern);
        all.iter().filter(|span| is_called(&pattern, &letters(&span.name))).collect()
    }

    /// The longest, or by nearest rank the shortest that so many per cent do not exceed.
    fn took(&self, mut called: Vec<&RunSpan>) -> Result<(bool, f64, String), String> {
        called.sort_by(|one, other| other.duration_ms.total_cmp(&one.duration_ms));
        let (count, max) = (called.len(), self.max.unwrap_or(f64::INFINITY));
        let share = self.percentile.unwrap_or(100.0);
        let rank = (share * count as f64 / 100.0).ceil() as usize;
        // They stand in order from the longest.
        let span = called.get(count.saturating_sub(rank.max(1))).ok_or("no span is called so")?;
        let value = span.duration_ms;
        let what = match self.percentile {
            Some(share) => format!("percentile {share} of {count} spans is {value} ms"),
            None => format!("the longest of {count} spans took {value} ms"),
        };
        let longest = &called[..called.len().min(TOLD)];
        let told: Vec<String> =
            longest.iter().map(|span| format!("{} {} ms", brief(&span.name), span.duration_ms)).collect();
        Ok((value <= max, value, format!("{what}, at most {max} may be: {}", told.join(", "))))
    }

    fn failed(&self, called: &[&RunSpan]) -> (bool, f64, String) {
        let failed: Vec<&RunSpan> = called.iter().copied().filter(|span| span.is_error).collect();
        let count = failed.len() as f64;
        let share = 100.0 * count / called.len() as f64;
        let holds =
            self.max.is_none_or(|max| count <= max) && self.max_percentage.is_none_or(|max| share <= max);
        let why = format!("{} of {} spans have an error ({share:.1} %)", failed.len(), called.len());
        (holds, count, why + &names(&failed))
    }
}

/// The pattern of criteria.
fn pattern(said: Option<&Json>) -> Result<String, String> {
    let text = match said {
        None => return Ok(ALL.to_owned()),
        Some(Json::String(text)) => text,
        Some(other) => return Err(format!("pattern {} is no text", brief(&other.to_string()))),
    };
    if text.trim().is_empty() {
        return Err(format!("the pattern is blank: leave it out for all spans, or say {ALL:?}"));
    }
    if text.chars().count() > MAX_PATTERN {
        return Err(format!("the pattern has more than {MAX_PATTERN} characters"));
    }
    Ok(text.clone())
}

/// The first names of spans, for a reason.
fn names(spans: &[&RunSpan]) -> String {
    let told: Vec<String> = spans.iter().take(TOLD).map(|span| brief(&span.name)).collect();
    match spans.len().saturating_sub(TOLD) {
        _ if told.is_empty() => String::new(),
        0 => format!(": {}", told.join(", ")),
        more => format!(": {} and {more} more", told.join(", ")),
    }
}

/// The letters of a text, small.
fn letters(text: &str) -> Vec<char> {
    text.to_lowercase().chars().collect()
}

/// Whether the whole name is as the pattern says. It takes steps in proportion to both lengths multiplied, never more.
fn is_called(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut seen, mut star) = (0, 0, None::<(usize, usize)>);
    while seen < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(one) if *one == '?' || *one == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => match star {
                // The last star takes one character more.
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    at = place + 1;
                    seen = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
#[path = "spans_tests.rs"]
mod tests;
