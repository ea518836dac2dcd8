//! Answers judged by the checks of their tests.

use crate::eval::{Evaluator, JudgeDesk, Registry};
use crate::lab::error::LabError;
use crate::lab::experiment::{Case, Experiments};
use crate::lab::suite::{Bench, Spans, Suite, asks_for_parts, evaluators, judge, marked, questions, scores};
use crate::lab::target;
use futures::{StreamExt, TryStreamExt};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
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

    /// `cases` of a tenant with the verdicts of their tests, in their order; `traces` are those that were looked for.
    /// Production goes first.
    ///
    /// # Errors
    /// [`LabError::Later`] while the evaluators are busy for as long as `lab.score_timeout`.
    pub async fn judged(
        &self,
        experiments: &Experiments,
        tenant: &str,
        (cases, traces): (Vec<Case>, &HashMap<String, Spans>),
    ) -> Result<Vec<Case>, LabError> {
        if cases.is_empty() {
            return Ok(cases);
        }
        let patience = experiments.datasets().config().score_timeout;
        let _place = experiments.judging(Instant::now() + patience).await?;
        let until = Instant::now() + patience;
        let asked: Vec<_> = cases
            .into_iter()
            .map(|case| {
                let spans = case.run.trace_id.as_ref().and_then(|trace| traces.get(trace)).cloned();
                self.in_turn(experiments, (tenant, until), (case, spans.unwrap_or_default()))
            })
            .collect();
        futures::stream::iter(asked).buffered(self.at_once()).try_collect().await
    }

    /// One case, when nothing of production waits.
    async fn in_turn(
        &self,
        experiments: &Experiments,
        (tenant, until): (&str, Instant),
        (case, spans): (Case, Spans),
    ) -> Result<Case, LabError> {
        experiments.production().passed(until).await;
        let (me, tenant) = (self.clone(), tenant.to_owned());
        let one = tokio::task::spawn_blocking(move || me.one((case, spans), (tenant.as_str(), until)));
        one.await.map_err(|e| LabError::Broken(format!("a check broke off: {e}")))
    }

    /// Blocks; where an evaluator waits for others, within a runtime.
    fn one(&self, (mut case, spans): (Case, Spans), (tenant, until): (&str, Instant)) -> Case {
        let run = &mut case.run;
        let context: Option<Map<String, Json>> = read(run.output_context.as_deref());
        let said = target::Answer {
            output: read(run.output.as_deref()).unwrap_or_default(),
            error: run.error.clone(),
            contexts: read(run.contexts.as_deref()),
            output_context: context.clone(),
            in_tokens: run.input_tokens,
            out_tokens: run.output_tokens,
            cost_usd: run.cost_usd,
            duration_ms: run.duration_ms,
            ..target::Answer::default()
        };
        let ids = (run.run_id.clone(), run.trace_id.clone().unwrap_or_default());
        let repetition = u32::try_from(run.repetition).unwrap_or(1);
        let test = case.item.external_id.as_deref().unwrap_or_default();
        // A test that the suite has no more has no verdict.
        let Some(mut answered) = self.suite.answered(test, repetition, ids, said) else { return case };
        answered.see(spans);
        let outcome = judge(&self.suite, &answered, &self.bench().for_tenant(tenant, until));
        let context = marked(context.unwrap_or_default(), &outcome);
        run.output_context = Some(Json::Object(context).to_string());
        let told = scores(&outcome).into_iter();
        case.sent = told.filter_map(|score| serde_json::from_value(score).ok()).collect();
        run.error = outcome.error;
        case.checks = outcome.checks;
        case
    }
}

/// A value of a run as it was sent.
fn read<T: DeserializeOwned>(text: Option<&str>) -> Option<T> {
    serde_json::from_str(text?).ok()
}
