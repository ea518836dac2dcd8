//! The trait that every evaluator implements, the one of those that wait for others, and what a metric is.

use super::owed::Owed;
use crate::domain::score::{Better, Score, Usage};
use crate::domain::trace::EvalInput;
use async_trait::async_trait;
use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;
use tokio::time::Instant;

/// How long an evaluator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Up to seconds, on this machine.
    Fast,
    /// Longer, or as long as others take.
    Slow,
}

/// A metric that an evaluator reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name in `scores.metric`: of an evaluator of the user's own as it is configured or told.
    pub name: Cow<'static, str>,
    /// Which side of the threshold is good.
    pub better: Better,
    /// The default threshold; none for a pass/fail metric and for counts.
    pub threshold: Option<f64>,
}

impl Metric {
    /// One whose name is written down here.
    pub const fn new(name: &'static str, better: Better, threshold: Option<f64>) -> Self {
        Self { name: Cow::Borrowed(name), better, threshold }
    }

    /// One whose name is known only when the program runs.
    pub fn named(name: String, better: Better, threshold: Option<f64>) -> Self {
        Self { name: Cow::Owned(name), better, threshold }
    }
}

/// Judges one item. Implementations hold no state of an item and are shared between threads.
pub trait Evaluator: Send + Sync {
    /// The name in rules, on the command line and in `scores.evaluator`.
    fn id(&self) -> &str;

    /// Changes whenever the same input may give another value.
    fn version(&self) -> &str;

    /// What it reports, the primary metric first.
    fn metrics(&self) -> &[Metric];

    /// How long an answer takes: slow ones wait in a lane of their own.
    fn pace(&self) -> Pace {
        Pace::Fast
    }

    /// Whether `*` leaves it out: it fits some traffic only, or needs what traffic does not have.
    fn is_by_name_only(&self) -> bool {
        false
    }

    /// Judges `input`; blocks the thread for as long as it takes.
    ///
    /// Gives at least one score. A missing input gives a skipped score that names it, a fault an error score with
    /// its message: nothing is invented.
    fn evaluate(&self, input: &EvalInput) -> Vec<Score>;

    /// The same evaluator as one that waits for others, if it is one: then it is asked there, and `evaluate` only fails.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }

    /// A skipped score for each metric: `missing` is not in the input.
    fn skip(&self, missing: &str) -> Vec<Score> {
        self.metrics().iter().map(|metric| Score::skipped(&metric.name, missing)).collect()
    }

    /// An error score for each metric.
    fn fail(&self, why: &str) -> Vec<Score> {
        self.metrics().iter().map(|metric| Score::failed(&metric.name, why)).collect()
    }

    /// The scores, or an error score for each metric.
    fn or_failed<E: Display>(&self, judged: Result<Vec<Score>, E>) -> Vec<Score>
    where
        Self: Sized,
    {
        judged.unwrap_or_else(|error| self.fail(&error.to_string()))
    }
}

/// An evaluator that waits for others: it holds no thread meanwhile, and hundreds may be asked at once.
#[async_trait]
pub trait Waits: Send + Sync {
    /// Judges `input`, and gives up at `until`.
    ///
    /// # Errors
    /// When another try later may help. What would fail again is an error score of [`Said`].
    async fn ask(&self, input: &EvalInput, until: Instant) -> Result<Said, Away>;

    /// Who answers, and how many items may be in work for it now.
    fn places(&self) -> Places<'_> {
        Places { of: "", most: usize::MAX }
    }

    /// What asking about `input` would take, retries left out; none where nobody would be asked, or where that is not
    /// known.
    fn forecast(&self, _input: &EvalInput) -> Option<Forecast> {
        None
    }
}

/// How many items those that wait for one and the same may have in work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places<'a> {
    /// Who is waited for; evaluators with the same share the places.
    pub of: &'a str,
    /// Items at once; 0 while it is known to be away.
    pub most: usize,
}

/// What questions to a judge take at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// How many there are.
    pub requests: u64,
    /// Tokens that the judge reads, by the length of the text.
    pub input_tokens: i64,
    /// Tokens that it may write.
    pub output_tokens: i64,
    /// US dollars, where its prices are configured.
    pub usd: Option<f64>,
}

impl Forecast {
    /// Both together.
    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self {
            requests: self.requests + more.requests,
            input_tokens: self.input_tokens + more.input_tokens,
            output_tokens: self.output_tokens + more.output_tokens,
            usd: self.usd.zip(more.usd).map(|(one, two)| one + two),
        }
    }
}

/// What an evaluator that waits for others has said.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// At least one score.
    pub scores: Vec<Score>,
    /// What it took; none if nobody was asked.
    pub usage: Option<Usage>,
    /// The version that answered; none where it is the evaluator's own.
    pub version: Option<String>,
}

/// Nobody answered, and another try may help.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct Away {
    /// What happened last.
    pub why: String,
    /// Whether this input may be the cause: then attempts are counted. Not so where nobody gets an answer.
    pub counts: bool,
    /// How long asking again is of no use, where that is known.
    pub wait: Option<Duration>,
    /// What was paid before that: who does not ask again takes it.
    pub owed: Owed,
}

impl Away {
    /// Nobody answered for this reason, and nothing was paid.
    pub fn new(why: impl Into<String>, counts: bool, wait: Option<Duration>) -> Self {
        Self { why: why.into(), counts, wait, owed: Owed::default() }
    }
}
