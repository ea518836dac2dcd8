//! Operators that need no model: the same answer always has the same verdict.

use super::calls;
use super::pattern::Pattern;
use super::reply::Reply;
use super::schema::Schema;
use super::spans::{Measure, Wanted};
use super::text::{distance, is_set_apart, json_in, list_item, nearness, small_start};
use super::trajectory::{self, Order};
use crate::lab::rows::yaml;
use crate::lab::template::brief;
use datafusion::sql::sqlparser::{dialect::GenericDialect, parser::Parser};
use serde_json::Value as Json;

/// How near `includes_nearly_exactly` must come without `min`.
const NEARLY: f64 = 0.8;
/// Longest SQL that is parsed, bytes.
const MAX_SQL: usize = 100_000;

/// What an operator found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub passed: bool,
    pub value: Option<f64>,
    pub why: String,
}

/// What an operator reads: the text, and the whole reply for what is not in the text.
pub(super) struct Seen<'a> {
    pub text: &'a str,
    pub reply: &'a Reply,
}

/// A check's criteria, ready to use.
#[derive(Debug, Clone, Default)]
pub(super) struct Criteria {
    pub text: String,
    /// The items of a list; a text is cut at new lines, semicolons or commas.
    pub list: Vec<String>,
    pub pattern: Option<Pattern>,
    pub schema: Option<Schema>,
    pub spans: Option<Wanted>,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

/// What an exact operator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exact {
    Contains,
    ContainsIgnoringCase,
    ContainsAll,
    ContainsAny,
    ContainsAllIgnoringCase,
    ContainsAnyIgnoringCase,
    StartsWith,
    EndsWith,
    Equals,
    Regex,
    ShorterThan,
    WordCount,
    Json,
    ContainsJson,
    Sql,
    Xml,
    List,
    Paragraph,
    Capitalized,
    NearlyContains,
    Distance,
    Cost,
    Latency,
    FinishReason,
    ToolCalls,
    ToolCallF1,
    Yaml,
    JsonSchema,
    Trajectory(Order),
    StepCount,
    Spans(Measure),
}

impl Exact {
    /// Whether its criteria are a regular expression.
    pub fn has_pattern(self) -> bool {
        self == Self::Regex
    }

    /// Whether its criteria are a number.
    pub fn has_number(self) -> bool {
        matches!(self, Self::ShorterThan | Self::WordCount | Self::Cost | Self::Latency | Self::StepCount)
    }

    /// Whether its criteria are a JSON schema.
    pub fn has_schema(self) -> bool {
        self == Self::JsonSchema
    }

    /// # Errors
    /// When criteria are no calls of tools, where they must be.
    pub fn check(self, criteria: &Criteria) -> Result<(), String> {
        if matches!(self, Self::Trajectory(_)) { trajectory::readable(&criteria.list) } else { Ok(()) }
    }

    /// Why there is nothing of what the criteria are about, so that nothing is asked.
    pub fn nothing(seen: &Seen<'_>, criteria: &Criteria) -> Option<String> {
        criteria.spans.as_ref()?.nothing(&seen.reply.spans)
    }

    /// # Errors
    /// When there is no verdict.
    pub fn run(self, seen: &Seen<'_>, criteria: &Criteria) -> Result<Found, String> {
        let (text, wanted) = (seen.text, criteria.text.as_str());
        match self {
            Self::Contains => Ok(contains(text, wanted, Case::Counts)),
            Self::ContainsIgnoringCase => Ok(contains(text, wanted, Case::Ignored)),
            Self::ContainsAll => Ok(all(text, &criteria.list, Case::Counts)),
            Self::ContainsAllIgnoringCase => Ok(all(text, &criteria.list, Case::Ignored)),
            Self::ContainsAny => Ok(any(text, &criteria.list, Case::Counts)),
            Self::ContainsAnyIgnoringCase => Ok(any(text, &criteria.list, Case::Ignored)),
            Self::StartsWith => Ok(told(text.trim_start().starts_with(wanted), || begins(text))),
            Self::EndsWith => Ok(told(text.trim_end().ends_with(wanted), || ends(text))),
            Self::Equals => {
                Ok(told(text.trim() == wanted.trim(), || format!("the text is {:?}", brief(text))))
            }
            Self::Regex => {
                let pattern = criteria.pattern.as_ref().ok_or("no expression")?;
                Ok(told(pattern.is_match(text)?, || "nothing in the text matches".to_owned()))
            }
            Self::ShorterThan | Self::WordCount | Self::Cost | Self::Latency | Self::StepCount => {
                self.counted(seen, criteria)
            }
            Self::Json | Self::Yaml | Self::ContainsJson | Self::Sql | Self::Xml => self.parsed(text),
            Self::JsonSchema => {
                let why = criteria.schema.as_ref().ok_or("no schema")?.fault(text);
                Ok(told(why.is_none(), || why.unwrap_or_default()))
            }
            Self::Trajectory(order) => {
                let why = trajectory::fault(order, text, seen.reply, &criteria.list)?;
                Ok(told(why.is_none(), || why.unwrap_or_default()))
            }
            Self::Spans(_) => {
                let wanted = criteria.spans.as_ref().ok_or("no criteria")?;
                let (passed, value, why) = wanted.found(&seen.reply.spans)?;
                Ok(Found { passed, value: Some(value), why })
            }
            Self::List | Self::Paragraph | Self::Capitalized => Ok(self.formed(text)),
            Self::NearlyContains => {
                let near = nearness(text, wanted)?;
                let least = criteria.min.unwrap_or(NEARLY);
                Ok(Found {
                    passed: near >= least,
                    value: Some(near),
                    why: format!("the nearest part comes {near:.2} near, {least} is asked for"),
                })
            }
            Self::Distance => {
                let apart = distance(text.trim(), wanted.trim())? as f64;
                let most = criteria.max.unwrap_or(0.0);
                let why = format!("{apart} characters apart, at most {most} may be");
                Ok(Found { passed: apart <= most, value: Some(apart), why })
            }
            Self::ToolCalls => {
                let fault = calls::fault(text, seen.reply);
                Ok(told(fault.is_none(), || fault.unwrap_or_default()))
            }
            Self::ToolCallF1 => {
                let (value, why) = calls::f1(text, seen.reply, &criteria.list)?;
                Ok(Found { passed: value >= criteria.min.unwrap_or(1.0), value: Some(value), why })
            }
            Self::FinishReason => {
                let reason = seen.reply.finish_reason.as_deref();
                let reason =
                    reason.ok_or("the target does not tell why its model stopped (finish_reason)")?;
                Ok(told(reason == wanted, || format!("it is {reason:?}")))
            }
        }
    }

    fn counted(self, seen: &Seen<'_>, criteria: &Criteria) -> Result<Found, String> {
        let (count, what) = match self {
            Self::ShorterThan => (seen.text.chars().count() as f64, "characters"),
            Self::WordCount => (seen.text.split_whitespace().count() as f64, "words"),
            Self::Cost => {
                let cost = seen.reply.cost_usd;
                (cost.ok_or("the target does not tell its cost (cost_usd), and has no prices")?, "US dollars")
            }
            Self::StepCount => (calls::of(seen.text, seen.reply)?.len() as f64, "calls of tools"),
            _ => (seen.reply.duration_ms.ok_or("how long it took is not known")?, "ms"),
        };
        let wanted: Option<f64> = criteria.text.trim().parse().ok();
        let (min, max) = (criteria.min, criteria.max);
        let passed = match (self, wanted) {
            (Self::ShorterThan, Some(limit)) => count < limit,
            (Self::WordCount | Self::StepCount, Some(exactly)) if min.is_none() && max.is_none() => {
                count == exactly
            }
            (Self::WordCount | Self::StepCount, _) => true,
            (_, Some(limit)) => count <= limit,
            (_, None) => true,
        };
        let passed = passed && min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max);
        Ok(Found { passed, value: Some(count), why: format!("{count} {what}") })
    }

    fn parsed(self, text: &str) -> Result<Found, String> {
        let why = match self {
            Self::Json => serde_json::from_str::<Json>(text).err().map(|e| format!("no JSON: {e}")),
            Self::Yaml => yaml::fault(text),
            Self::ContainsJson => json_in(text).is_none().then(|| "no JSON object or list in it".to_owned()),
            Self::Sql if text.len() > MAX_SQL => {
                return Err(format!("the SQL is longer than {MAX_SQL} bytes"));
            }
            Self::Sql => match Parser::parse_sql(&GenericDialect {}, text) {
                Ok(statements) if statements.is_empty() => Some("no statement".to_owned()),
                Ok(_) => None,
                Err(error) => Some(error.to_string()),
            },
            _ => xml_fault(text),
        };
        Ok(told(why.is_none(), || why.unwrap_or_default()))
    }

    fn formed(self, text: &str) -> Found {
        let lines = || text.lines().filter(|line| !line.trim().is_empty());
        match self {
            Self::List => {
                let items = lines().filter(|line| list_item(line)).count();
                told(items >= 2, || format!("{items} items of a list, at least 2 make one"))
            }
            Self::Paragraph => {
                let other = lines().find(|line| list_item(line) || is_set_apart(line));
                let is_empty = lines().next().is_none();
                told(other.is_none() && !is_empty, || match other {
                    Some(line) => format!("no paragraph: {}", brief(line)),
                    None => "the text is empty".to_owned(),
                })
            }
            _ => {
                let small = small_start(text);
                told(small.is_none(), || {
                    format!("a sentence begins small: {}", brief(small.unwrap_or_default()))
                })
            }
        }
    }
}

fn told(passed: bool, why: impl FnOnce() -> String) -> Found {
    Found { passed, value: None, why: if passed { String::new() } else { why() } }
}

fn begins(text: &str) -> String {
    format!("it begins with {:?}", text.trim_start().chars().take(40).collect::<String>())
}

fn ends(text: &str) -> String {
    let tail: Vec<char> = text.trim_end().chars().rev().take(40).collect();
    format!("it ends with {:?}", tail.into_iter().rev().collect::<String>())
}

/// Whether capital letters are others than small ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Counts,
    Ignored,
}

fn is_in(text: &str, wanted: &str, case: Case) -> bool {
    if case == Case::Ignored {
        text.to_lowercase().contains(&wanted.to_lowercase())
    } else {
        text.contains(wanted)
    }
}

fn contains(text: &str, wanted: &str, case: Case) -> Found {
    let is_there = is_in(text, wanted, case);
    let why = if is_there { "it is in the text" } else { "it is not in the text" };
    Found { passed: is_there, value: None, why: why.to_owned() }
}

fn all(text: &str, wanted: &[String], case: Case) -> Found {
    let missing: Vec<&str> =
        wanted.iter().filter(|one| !is_in(text, one, case)).map(String::as_str).collect();
    told(missing.is_empty(), || format!("not in the text: {}", missing.join(", ")))
}

fn any(text: &str, wanted: &[String], case: Case) -> Found {
    let found = wanted.iter().find(|one| is_in(text, one, case));
    let why = match found {
        Some(one) => format!("{one:?} is in the text"),
        None => "none of them is in the text".to_owned(),
    };
    Found { passed: found.is_some(), value: None, why }
}

/// Why a text is no XML; elements must nest and end.
fn xml_fault(text: &str) -> Option<String> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(text.trim());
    let (mut elements, mut open) = (0u64, 0i64);
    loop {
        match reader.read_event() {
            Ok(Event::Eof) if elements == 0 => return Some("no element".to_owned()),
            Ok(Event::Eof) => return (open != 0).then(|| format!("{open} elements do not end")),
            Ok(Event::Start(_)) => (elements, open) = (elements + 1, open + 1),
            Ok(Event::End(_)) => open -= 1,
            Ok(Event::Empty(_)) => elements += 1,
            Ok(_) => {}
            Err(error) => return Some(format!("no XML: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(exact: Exact, text: &str, criteria: &str) -> Result<Found, String> {
        let reply =
            Reply { cost_usd: Some(0.5), finish_reason: Some("stop".to_owned()), ..Reply::text(text) };
        let criteria = Criteria {
            text: criteria.to_owned(),
            list: criteria.split(", ").map(str::to_owned).collect(),
            pattern: Pattern::new(criteria).ok(),
            ..Criteria::default()
        };
        exact.run(&Seen { text, reply: &reply }, &criteria)
    }

    #[test]
    fn each_operator_passes_and_fails() {
        for (exact, criteria, good, bad) in [
            (Exact::Contains, "14 days", "in 14 days", "in 14 Days"),
            (Exact::ContainsIgnoringCase, "14 days", "in 14 DAYS", "in 15 days"),
            (Exact::ContainsAll, "a, b", "b a", "a"),
            (Exact::ContainsAny, "x, b", "b a", "c"),
            (Exact::ContainsAllIgnoringCase, "A, B", "b a", "a"),
            (Exact::ContainsAnyIgnoringCase, "X, B", "b a", "c"),
            (Exact::StartsWith, "Dear", " Dear all", "Oh Dear"),
            (Exact::EndsWith, "end.", "The end. ", "The end"),
            (Exact::Equals, "Paris", " Paris\n", "Paris."),
            (Exact::Regex, r"^\d+$", "123", "12a"),
            (Exact::ShorterThan, "4", "abc", "abcd"),
            (Exact::WordCount, "3", "one two three", "one two"),
            (Exact::Json, "", "{\"a\": 1}", "{a: 1}"),
            (Exact::ContainsJson, "", "so [1]", "so 1"),
            (Exact::Sql, "", "SELECT a FROM t WHERE b > 1", "SELEC a FROM"),
            (Exact::Xml, "", "<a><b/></a>", "<a><b></a>"),
            (Exact::List, "", "Do:\n- one\n- two", "one, two"),
            (Exact::Paragraph, "", "One. Two.\n\nThree.", "One:\n- a\n- b"),
            (Exact::Capitalized, "", "One is. Two.", "One is. two is."),
            (Exact::NearlyContains, "refund policy", "our Refnd  Policy", "our menu"),
            (Exact::Distance, "abc", "abc", "abd"),
            (Exact::Cost, "0.5", "x", ""),
            (Exact::FinishReason, "stop", "x", ""),
            (
                Exact::ToolCalls,
                "",
                r#"[{"type": "function", "function": {"name": "f", "arguments": "{}"}}]"#,
                "[]",
            ),
            (Exact::Yaml, "", "a: 1\nb:\n  - x\n", "a: [1\nb: 2"),
            (Exact::Trajectory(Order::Same), "a, b", r#"["a", "c", "b"]"#, r#"["b", "a"]"#),
            (Exact::StepCount, "2", r#"["a", "b"]"#, r#"["a"]"#),
            (Exact::ToolCallF1, "a, b", r#"[{"name": "a"}, {"name": "b"}]"#, r#"[{"name": "a"}]"#),
        ] {
            let found = run(exact, good, criteria).unwrap();
            assert!(found.passed, "{exact:?} {good:?}: {}", found.why);
            if !bad.is_empty() {
                let found = run(exact, bad, criteria).unwrap();
                assert!(!found.passed && !found.why.is_empty(), "{exact:?} {bad:?}");
            }
        }
    }

    #[test]
    fn what_is_not_known_is_an_error_and_no_verdict() {
        assert!(run(Exact::Latency, "x", "100").is_err());
        let reply = Reply::text("x");
        let seen = Seen { text: "x", reply: &reply };
        assert!(Exact::Cost.run(&seen, &Criteria::default()).unwrap_err().contains("cost_usd"));
        assert!(Exact::FinishReason.run(&seen, &Criteria::default()).is_err());
    }

    #[test]
    fn bounds_make_a_window() {
        let reply = Reply::text("one two three");
        let seen = Seen { text: &reply.output, reply: &reply };
        let between = |min, max| Criteria { min: Some(min), max: Some(max), ..Criteria::default() };
        assert!(Exact::WordCount.run(&seen, &between(2.0, 3.0)).unwrap().passed);
        assert!(!Exact::WordCount.run(&seen, &between(4.0, 9.0)).unwrap().passed);
    }
}
