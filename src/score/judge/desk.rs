//! Where an evaluator asks: a judge with those that stand in for it.

use super::cache::Cache;
use super::client::{Completion, Failed, Panel};
use super::config::JudgeConfig;
use super::likelihood::Abilities;
use super::question::Question;
use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Forecast, Places};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::time::Instant;

/// A judge of the panel.
#[derive(Clone)]
pub(super) struct Desk {
    panel: Arc<Panel>,
    place: usize,
    /// Nobody stands in for it, and nothing that it said before counts.
    is_alone: bool,
}

/// Why a question has no answer, and another try would have none either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Open {
    /// This is not in the input.
    Missing(String),
    /// This went wrong.
    Wrong(String),
}

impl Open {
    /// The row that says so.
    pub(super) fn score(&self, metric: &str) -> Score {
        match self {
            Open::Missing(what) => Score::skipped(metric, what),
            Open::Wrong(why) => Score::failed(metric, why),
        }
    }
}

impl Desk {
    /// The judge at `place`.
    pub(super) fn new(panel: Arc<Panel>, place: usize) -> Self {
        Self { panel, place, is_alone: false }
    }

    /// This very judge, now: what another one says, or it said before, is of no use.
    pub(super) fn alone(&self) -> Self {
        Self { is_alone: true, ..self.clone() }
    }

    /// Its settings.
    pub(super) fn config(&self) -> &JudgeConfig {
        self.panel.config(self.place)
    }

    /// Items that may be in work for it, and for those that stand in for it, now.
    pub(super) fn places(&self) -> Places<'_> {
        self.panel.places(self.place)
    }

    /// What `question` takes at most.
    pub(super) fn forecast(&self, question: &Question<'_>) -> Forecast {
        self.config().forecast(question)
    }

    /// Whether texts of the input's tenant may be sent.
    ///
    /// # Errors
    /// What is missing if not.
    pub(super) fn check(&self, input: &EvalInput) -> Result<(), &str> {
        self.panel.egress(self.place).check(input)
    }

    /// The input as it may be sent.
    pub(super) async fn redacted<'a>(&self, input: &'a EvalInput) -> Cow<'a, EvalInput> {
        self.panel.egress(self.place).redacted(input).await
    }

    /// Asks the judge, or who stands in for it, until `until`.
    ///
    /// # Errors
    /// Why there is no reply.
    pub(super) async fn complete(
        &self,
        question: &Question<'_>,
        until: Instant,
    ) -> Result<Completion, Failed> {
        match self.is_alone {
            true => self.panel.complete_at(self.place, question, until).await,
            false => self.panel.complete(self.place, question, until).await,
        }
    }

    /// The same, for an item that can wait until somebody has given the judge another key.
    ///
    /// # Errors
    /// When another try later may help.
    pub(super) async fn ask(
        &self,
        question: &Question<'_>,
        until: Instant,
    ) -> Result<Result<Completion, Open>, Away> {
        match self.complete(question, until).await {
            Ok(completion) => Ok(Ok(completion)),
            Err(Failed::Away(away)) => Err(away),
            Err(Failed::Closed(why)) => Err(Away::new(why, false, None)),
            Err(Failed::Never(why) | Failed::Spent(why)) => Ok(Err(Open::Wrong(why))),
        }
    }

    /// What this judge can tell of likelihoods.
    pub(super) fn abilities(&self) -> &Abilities {
        self.panel.abilities(self.place)
    }

    /// Replies that are kept; none without a cache.
    pub(super) fn cache(&self) -> Option<&Cache> {
        self.panel.cache().filter(|_| !self.is_alone)
    }

    /// Counts a verdict that was found in the cache.
    pub(super) fn count_cached(&self) {
        self.panel.count_cached(self.place);
    }
}
