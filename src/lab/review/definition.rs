//! What is to be reviewed, of what, and by whom.

use super::template::{self, Template};
use crate::lab::error::Fault;
use serde::{Deserialize, Serialize};

/// Longest name of a queue or a reviewer, bytes.
pub const MAX_NAME: usize = 200;
/// Longest query and longest instructions, bytes.
const MAX_TEXT: usize = 20_000;
/// Most answers of an item.
const MAX_REVIEWS: usize = 10;
/// Most people of a queue.
const MAX_REVIEWERS: usize = 100;

/// Where the items come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The runs of an experiment, by name or id.
    Experiment(String),
    /// Rows with `trace_id`, and `span_id`, `label_probability` or the columns of `scores` where they are known.
    Sql(String),
    /// The items that the online draws chose for a metric, and that have no label yet.
    Proposal(String),
}

/// Which runs of an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Select {
    /// Every run with an answer.
    #[default]
    All,
    /// Those that a person must look at.
    Flagged,
    /// Those, and the ones that failed a metric.
    Failed,
}

/// A queue as it is sent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewQueue {
    /// Its name.
    pub name: String,
    /// Where the items come from.
    pub source: Source,
    /// What is asked of each item.
    #[serde(default)]
    pub templates: Vec<Template>,
    /// What reviewers are told.
    #[serde(default)]
    pub instructions: Option<String>,
    /// How many answers make a label.
    #[serde(default = "one")]
    pub reviews_per_item: usize,
    /// Who answers; empty for whoever may.
    #[serde(default)]
    pub reviewers: Vec<String>,
    /// Whether what evaluators and others said is shown only after the own answer.
    #[serde(default = "yes")]
    pub blind: bool,
    /// Which runs of an experiment.
    #[serde(default)]
    pub select: Select,
    /// So many of them, drawn at random; none for all.
    #[serde(default)]
    pub sample: Option<usize>,
    /// Whether the verdicts of evaluators are asked about, too.
    #[serde(default = "yes")]
    pub auto_evals: bool,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

/// How the items of a queue are chosen, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// Where they come from.
    #[serde(flatten)]
    pub source: Source,
    /// Which runs.
    #[serde(default)]
    pub select: Select,
    /// How many at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<usize>,
    /// Whether the verdicts of evaluators are asked about, too.
    #[serde(default = "yes")]
    pub auto_evals: bool,
    /// Whether the experiment made the queue by itself and fills it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub automatic: bool,
    /// Whether the probabilities of its items are those of a draw from all that could be labelled, so that labels correct rates.
    #[serde(default, skip_serializing_if = "is_false")]
    pub drawn: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Chosen {
    /// Whether runs that come later join the queue.
    pub fn follows(&self) -> bool {
        matches!(self.source, Source::Experiment(_)) && self.sample.is_none() && !self.automatic
    }
}

impl Source {
    /// What it is, as rows have it.
    pub fn kind(&self) -> &'static str {
        match self {
            Source::Experiment(_) => "experiment",
            Source::Sql(_) => "sql",
            Source::Proposal(_) => "proposal",
        }
    }

    fn text(&self) -> &str {
        match self {
            Source::Experiment(text) | Source::Sql(text) | Source::Proposal(text) => text,
        }
    }
}

impl NewQueue {
    /// Everything that is wrong with it.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = template::faults(&self.templates);
        let mut wrong = |key: &str, why: String| faults.push(Fault::new(why).at(key));
        if !is_name(&self.name) {
            wrong("name", format!("must have 1 to {MAX_NAME} bytes and no control characters"));
        }
        let source = self.source.text();
        if source.trim().is_empty() || source.len() > MAX_TEXT {
            wrong("source", format!("{} must have 1 to {MAX_TEXT} bytes", self.source.kind()));
        }
        if !(1..=MAX_REVIEWS).contains(&self.reviews_per_item) {
            let why = format!("is {}, must be 1 to {MAX_REVIEWS}", self.reviews_per_item);
            wrong("reviews_per_item", why);
        }
        if self.reviewers.len() > MAX_REVIEWERS || !self.reviewers.iter().all(|name| is_name(name)) {
            wrong("reviewers", format!("at most {MAX_REVIEWERS} names of 1 to {MAX_NAME} bytes"));
        }
        if (1..self.reviews_per_item).contains(&self.reviewers.len()) {
            let why = format!(
                "{} reviewers cannot give {} answers to an item: name more, or none for whoever may",
                self.reviewers.len(),
                self.reviews_per_item
            );
            wrong("reviewers", why);
        }
        if self.instructions.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
            wrong("instructions", format!("longer than {MAX_TEXT} bytes"));
        }
        let is_of_runs = matches!(self.source, Source::Experiment(_));
        if !is_of_runs && self.select != Select::All {
            wrong("select", "belongs to the runs of an experiment; a query chooses by WHERE".to_owned());
        }
        if self.sample == Some(0) || (!is_of_runs && self.sample.is_some()) {
            wrong("sample", "is how many runs of an experiment are drawn, from 1".to_owned());
        }
        if self.templates.is_empty() && !self.auto_evals {
            wrong("templates", "nothing is asked: give a template, or auto_evals = true".to_owned());
        }
        faults
    }

    /// How its items are chosen, as it is kept.
    pub fn chosen(&self) -> Chosen {
        Chosen {
            source: self.source.clone(),
            select: self.select,
            sample: self.sample,
            auto_evals: self.auto_evals,
            automatic: false,
            drawn: match self.source {
                Source::Experiment(_) => self.select == Select::All,
                Source::Proposal(_) => true,
                Source::Sql(_) => false,
            },
        }
    }
}

/// Whether a list can show it.
pub fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn faults(sent: Value) -> String {
        let new: NewQueue = serde_json::from_value(sent).unwrap();
        new.faults().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_queue_says_what_it_asks_of_which_items() {
        assert_eq!(faults(json!({"name": "q", "source": {"experiment": "v2"}})), "");
        let new: NewQueue =
            serde_json::from_value(json!({"name": "q", "source": {"experiment": "v2"}})).unwrap();
        let kept = serde_json::to_value(new.chosen()).unwrap();
        assert_eq!(kept, json!({"experiment": "v2", "select": "all", "auto_evals": true, "drawn": true}));
        assert_eq!(serde_json::from_value::<Chosen>(kept).unwrap(), new.chosen());
        let own = json!({"experiment": "1", "select": "flagged", "automatic": true});
        assert!(!serde_json::from_value::<Chosen>(own).unwrap().follows() && new.chosen().follows());

        let told =
            faults(json!({"name": "\n", "source": {"sql": ""}, "reviews_per_item": 0, "select": "failed",
            "sample": 5, "auto_evals": false}));
        for part in ["name: ", "source: ", "reviews_per_item: ", "select: ", "sample: ", "templates: nothing"]
        {
            assert!(told.contains(part), "{part}: {told}");
        }
        let few =
            json!({"name": "q", "source": {"sql": "SELECT 1"}, "reviews_per_item": 2, "reviewers": ["a"]});
        assert!(faults(few).contains("1 reviewers cannot give 2 answers"));
    }
}
