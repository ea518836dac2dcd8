//! A check that is ready to run.

use super::exact::{Criteria, Exact};
use super::operator::Local;
use super::outcome::Status;
use super::pattern::Pattern;
use super::spec::ExampleSpec;

/// A check of one case.
#[derive(Debug, Clone)]
pub(super) struct Check {
    pub id: String,
    /// As it was written.
    pub operator: String,
    /// As a person reads it, with placeholders filled in.
    pub criteria: Option<String>,
    pub weight: f64,
    pub is_optional: bool,
    pub category: String,
    pub condition: Option<Condition>,
    pub extract: Option<Extract>,
    pub test: Test,
    pub votes: u32,
    pub examples: Vec<ExampleSpec>,
}

impl Check {
    /// Whether it counts for its test: what is optional or has no weight is only shown.
    pub fn counts(&self) -> bool {
        !self.is_optional && self.weight > 0.0
    }
}

/// What must hold.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Exact {
        run: Exact,
        criteria: Box<Criteria>,
        is_negated: bool,
    },
    Local {
        local: Local,
        criteria: Vec<String>,
        bounds: Bounds,
        is_negated: bool,
    },
    /// An evaluator's metric; its first one if none is named.
    Evaluator {
        id: String,
        metric: Option<String>,
        bounds: Bounds,
    },
    /// The evaluator that asks a judge this question.
    Judge {
        id: String,
        question: String,
        is_negated: bool,
    },
    /// At least so many of these pass.
    Set {
        checks: Vec<Check>,
        at_least: usize,
    },
    /// The case does not have what the criteria name.
    Missing(String),
    /// Nothing here can tell.
    Unknown(String),
}

/// Where a value must lie; the evaluator's own verdict without bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bounds {
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl Bounds {
    /// Whether `value` lies inside; none without bounds.
    pub fn hold(&self, value: f64) -> Option<bool> {
        if self.min.is_none() && self.max.is_none() {
            return None;
        }
        Some(self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max))
    }
}

/// When a check counts at all.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    /// Where this holds of the answer.
    Holds(Box<Test>),
    /// Where an earlier check ended so.
    Earlier { id: String, status: Status },
}

/// The part of an answer that a check reads.
#[derive(Debug, Clone)]
pub(super) enum Extract {
    /// What this rule finds.
    Rule(Rule),
    /// What a judge finds that is asked for it in these words.
    Prompt(String),
}

/// Where a part stands.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    Pattern(Pattern),
    JsonPath(String),
    Between(String, String),
}

impl Rule {
    /// The part; none where it is not in the text.
    ///
    /// # Errors
    /// When an expression takes too many steps.
    pub fn part(&self, text: &str) -> Result<Option<String>, String> {
        match self {
            Self::Pattern(pattern) => Ok(pattern.first(text)?.map(str::to_owned)),
            Self::JsonPath(path) => {
                let json = serde_json::from_str(text).ok().or_else(|| super::text::json_in(text));
                Ok(json.and_then(|json| {
                    crate::lab::template::find(&json, path).map(crate::lab::template::plain)
                }))
            }
            Self::Between(before, after) => Ok(text
                .split_once(before.as_str())
                .and_then(|(_, rest)| rest.split_once(after.as_str()))
                .map(|(part, _)| part.trim().to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_extracted_or_it_is_not_there() {
        let between = Rule::Between("<a>".to_owned(), "</a>".to_owned());
        assert_eq!(between.part("x <a> y </a> z").unwrap().as_deref(), Some("y"));
        assert_eq!(between.part("x <a> y").unwrap(), None);
        let path = Rule::JsonPath("items.1.n".to_owned());
        assert_eq!(path.part("Here: {\"items\": [{}, {\"n\": 5}]}.").unwrap().as_deref(), Some("5"));
        assert_eq!(path.part("{\"items\": []}").unwrap(), None);
        let pattern = Rule::Pattern(Pattern::new("in (\\d+) days").unwrap());
        assert_eq!(pattern.part("in 14 days").unwrap().as_deref(), Some("14"));
    }

    #[test]
    fn bounds_hold_a_value_or_say_nothing() {
        let bounds = |min, max| Bounds { min, max };
        assert_eq!(bounds(None, None).hold(1.0), None);
        assert_eq!(bounds(Some(0.0), None).hold(0.0), Some(true));
        assert_eq!(bounds(Some(0.2), Some(0.8)).hold(0.9), Some(false));
    }
}
