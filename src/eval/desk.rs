//! Where a judge is asked what no configuration knows: questions that stand in a test suite, and texts that it is to write.

use super::custom::CustomConfig;
use super::evaluator::{Away, Evaluator};
use super::patience::patiently;
use crate::domain::trace::EvalInput;
use async_trait::async_trait;
use std::sync::Arc;
use tokio::time::Instant;

/// What a judge is to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing<'a> {
    /// The part of the answer that these words ask for, as it stands there.
    Part(&'a str),
    /// What the contexts have in common, each of which is a failed check of one run of a suite.
    Analysis,
}

/// What a judge wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text; none where there is nothing of what was asked for.
    pub text: Option<String>,
    /// The model that wrote it.
    pub model: String,
}

/// Why nothing was written, and another try would not help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unwritten {
    /// This is not there, or not allowed.
    Missing(String),
    /// This went wrong.
    Failed(String),
}

/// A judge that is asked what stands in no configuration.
#[async_trait]
pub trait JudgeDesk: Send + Sync {
    /// The evaluator that asks this question. Nobody is asked yet.
    ///
    /// # Errors
    /// What is wrong with the question.
    fn evaluator(&self, question: &CustomConfig) -> Result<Arc<dyn Evaluator>, String>;

    /// Has the judge write a text about `input`, and gives up at `until`.
    ///
    /// # Errors
    /// When another try later may help. What would fail again is [`Unwritten`].
    async fn write(
        &self,
        what: Writing<'_>,
        input: &EvalInput,
        until: Instant,
    ) -> Result<Result<Written, Unwritten>, Away>;
}

/// What the judge of `desk` writes about `input`; one that is away is asked again until `until`. Blocks; a runtime must be
/// entered.
///
/// # Errors
/// Why there is nothing; who is away at the end has failed.
pub fn written(
    desk: &dyn JudgeDesk,
    what: Writing<'_>,
    input: &EvalInput,
    until: Instant,
) -> Result<Written, Unwritten> {
    let asked = patiently(until, || desk.write(what, input, until));
    asked.unwrap_or_else(|away| Err(Unwritten::Failed(away.why)))
}
