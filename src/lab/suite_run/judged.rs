//! Answers judged by the checks of their tests.

use crate::eval::{Evaluator, Registry};
use crate::lab::error::LabError;
use crate::lab::experiment::{Answer, Experiments};
use crate::lab::suite::{Bench, Suite, evaluators, judge, marked, scores};
use crate::lab::target;
use crate::schema::batch::ItemRow;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::Instant;

/// What judges the answers of a suite.
#[derive(Clone)]
pub(super) struct Panel {
    pub suite: Arc<Suite>,
    registry: Arc<Registry>,
    /// Those that score every answer.
    named: Vec<Arc<dyn Evaluator>>,
    /// Those that checks ask.
    more: Vec<Arc<dyn Evaluator>>,
}

impl Panel {
    /// The evaluators that `suite` needs. A check whose evaluator is not there says so when it runs.
    ///
    /// # Errors
    /// [`LabError::Wrong`] when one that is to score every answer is not there.
    pub fn of(suite: Suite, registry: &Arc<Registry>) -> Result<Self, LabError> {
        let named = registry.select(suite.evaluators()).map_err(|e| LabError::Wrong(e.to_string()))?;
        let more = evaluators(&suite).into_iter().filter_map(|id| registry.select(&[id]).ok()).flatten();
        let more = more.collect();
        Ok(Self { suite: Arc::new(suite), registry: registry.clone(), named, more })
    }

    /// The evaluators, ready to be asked.
    pub fn bench(&self) -> Bench<'_> {
        Bench::new(&self.registry, self.named.clone(), self.more.clone())
    }

    /// `answers` with the verdicts of their tests, in their order. Production goes first.
    ///
    /// # Errors
    /// [`LabError::Later`] while the evaluators are busy for as long as `lab.score_timeout`.
    pub async fn judged(
        &self,
        experiments: &Experiments,
        items: &[ItemRow],
        answers: Vec<Answer>,
    ) -> Result<Vec<Answer>, LabError> {
        let until = Instant::now() + experiments.datasets().config().score_timeout;
        let _place = experiments.judging(until).await?;
        let named = |item: &ItemRow| Some((item.item_id.clone(), item.external_id.clone()?));
        let tests: HashMap<String, String> = items.iter().filter_map(named).collect();
        let mut judged = Vec::with_capacity(answers.len());
        for answer in answers {
            experiments.production().passed(until).await;
            let (me, test) = (self.clone(), tests.get(&answer.item_id).cloned().unwrap_or_default());
            let one = tokio::task::spawn_blocking(move || me.one(&test, answer));
            judged.push(one.await.map_err(|e| LabError::Broken(format!("a check broke off: {e}")))?);
        }
        Ok(judged)
    }

    /// Blocks; where an evaluator waits for others, within a runtime.
    fn one(&self, test: &str, mut answer: Answer) -> Answer {
        let said = target::Answer {
            output: answer.output.clone().unwrap_or_default(),
            error: answer.error.clone(),
            contexts: answer.contexts.clone(),
            output_context: answer.output_context.clone(),
            in_tokens: answer.input_tokens,
            out_tokens: answer.output_tokens,
            cost_usd: answer.cost_usd,
            duration_ms: answer.duration_ms,
            ..target::Answer::default()
        };
        let ids = (answer.run_id.clone().unwrap_or_default(), answer.trace_id.clone().unwrap_or_default());
        let repetition = answer.repetition.and_then(|number| u32::try_from(number).ok()).unwrap_or(1);
        // The experiment refuses an answer to what it does not ask.
        let Some(answered) = self.suite.answered(test, repetition, ids, said) else { return answer };
        let outcome = judge(&self.suite, &answered, &self.bench());
        answer.output_context = Some(marked(answer.output_context.take().unwrap_or_default(), &outcome));
        let told = scores(&outcome).into_iter();
        answer.scores = told.filter_map(|score| serde_json::from_value(score).ok()).collect();
        answer.error = outcome.error;
        answer.checks = outcome.checks;
        answer
    }
}
