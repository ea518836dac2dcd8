//! Answers judged by the checks of their tests.

use crate::eval::{Evaluator, JudgeDesk, Registry};
use crate::lab::error::LabError;
use crate::lab::experiment::{Answer, Experiments};
use crate::lab::suite::{Bench, Suite, asks_for_parts, evaluators, judge, marked, questions, scores};
use crate::lab::target;
use crate::schema::batch::ItemRow;
use futures::{StreamExt, TryStreamExt};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::Instant;

/// Answers that are judged at once where all that judges them waits for others.
const AT_ONCE: usize = 8;

/// Who judges: the evaluators, and the judge that questions of suites are put to, if there is one.
#[derive(Clone)]
pub(super) struct Judging {
    pub registry: Arc<Registry>,
    pub desk: Option<Arc<dyn JudgeDesk>>,
}

/// What judges the answers of a suite.
#[derive(Clone)]
pub(super) struct Panel {
    pub suite: Arc<Suite>,
    judging: Judging,
    /// Those that score every answer.
    named: Vec<Arc<dyn Evaluator>>,
    /// Those that checks ask.
    more: Vec<Arc<dyn Evaluator>>,
}

impl Panel {
    /// The evaluators that `suite` needs, and those that ask the questions of its checks. A check whose evaluator is not there
    /// says so when it runs.
    ///
    /// # Errors
    /// [`LabError::Wrong`] when one that is to score every answer is not there, or a question cannot be asked.
    pub fn of(suite: Suite, judging: &Judging) -> Result<Self, LabError> {
        let Judging { registry, desk } = judging;
        let named = registry.select(suite.evaluators()).map_err(|e| LabError::Wrong(e.to_string()))?;
        let more = evaluators(&suite).into_iter().filter_map(|id| registry.select(&[id]).ok()).flatten();
        let mut more: Vec<Arc<dyn Evaluator>> = more.collect();
        if let Some(desk) = desk {
            for question in questions(&suite) {
                more.push(desk.evaluator(&question).map_err(LabError::Wrong)?);
            }
        }
        Ok(Self { suite: Arc::new(suite), judging: judging.clone(), named, more })
    }

    /// The evaluators, ready to be asked.
    pub fn bench(&self) -> Bench<'_> {
        let bench = Bench::new(&self.judging.registry, self.named.clone(), self.more.clone());
        bench.with_desk(self.judging.desk.clone())
    }

    /// Answers that are judged at once: several only where nothing of it computes, so that production keeps the processor.
    fn at_once(&self) -> usize {
        let mut all = self.named.iter().chain(&self.more).peekable();
        let waits = all.peek().is_some() || asks_for_parts(&self.suite);
        if waits && all.all(|evaluator| evaluator.waits().is_some()) { AT_ONCE } else { 1 }
    }

    /// `answers` of a tenant with the verdicts of their tests, in their order. Production goes first.
    ///
    /// # Errors
    /// [`LabError::Later`] while the evaluators are busy for as long as `lab.score_timeout`.
    pub async fn judged(
        &self,
        experiments: &Experiments,
        tenant: &str,
        items: &[ItemRow],
        answers: Vec<Answer>,
    ) -> Result<Vec<Answer>, LabError> {
        let patience = experiments.datasets().config().score_timeout;
        let _place = experiments.judging(Instant::now() + patience).await?;
        let until = Instant::now() + patience;
        let named = |item: &ItemRow| Some((item.item_id.clone(), item.external_id.clone()?));
        let tests: HashMap<String, String> = items.iter().filter_map(named).collect();
        let mut asked = Vec::with_capacity(answers.len());
        for answer in answers {
            let test = tests.get(&answer.item_id).cloned().unwrap_or_default();
            asked.push(self.in_turn(experiments, (tenant, until), test, answer));
        }
        futures::stream::iter(asked).buffered(self.at_once()).try_collect().await
    }

    /// One answer, when nothing of production waits.
    async fn in_turn(
        &self,
        experiments: &Experiments,
        (tenant, until): (&str, Instant),
        test: String,
        answer: Answer,
    ) -> Result<Answer, LabError> {
        experiments.production().passed(until).await;
        let (me, tenant) = (self.clone(), tenant.to_owned());
        let one = tokio::task::spawn_blocking(move || me.one(&test, answer, (tenant.as_str(), until)));
        one.await.map_err(|e| LabError::Broken(format!("a check broke off: {e}")))
    }

    /// Blocks; where an evaluator waits for others, within a runtime.
    fn one(&self, test: &str, mut answer: Answer, (tenant, until): (&str, Instant)) -> Answer {
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
        let outcome = judge(&self.suite, &answered, &self.bench().for_tenant(tenant, until));
        answer.output_context = Some(marked(answer.output_context.take().unwrap_or_default(), &outcome));
        let told = scores(&outcome).into_iter();
        answer.scores = told.filter_map(|score| serde_json::from_value(score).ok()).collect();
        answer.error = outcome.error;
        answer.checks = outcome.checks;
        answer
    }
}
