//! What evaluators say about answers, as rows of `scores` that no production number counts.

use super::super::accepted::{Best, askings};
use super::definition::SentScore;
use super::input::{Answered, Expected, eval_input};
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::prompt::Prompt;
use crate::domain::score::{Better, Score, ScoreRow, ScoreSource, ScoreStatus, Usage};
use crate::domain::time::UnixNanos;
use crate::domain::trace::EvalInput;
use crate::eval::{Evaluator, Registry, Waits};
use crate::lab::ids::digits;
use crate::lab::suite::CheckOutcome;
use crate::lab::turn::Production;
use crate::schema::batch::{ItemRow, OfRun, RunRow};
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// A run that is to be judged.
pub struct Case {
    /// The item.
    pub item: ItemRow,
    /// The run.
    pub run: RunRow,
    /// What its sender measured itself.
    pub sent: Vec<SentScore>,
    /// What the checks of a suite said.
    pub checks: Vec<CheckOutcome>,
}

/// Rows of scores, each with its run.
#[derive(Debug, Default)]
pub struct ScoredRuns {
    /// The scores.
    pub rows: Vec<ScoreRow>,
    /// The run of each, at the same place.
    pub runs: Vec<OfRun>,
}

/// What all evaluators of an experiment are asked with.
#[derive(Clone)]
pub struct Judge {
    /// All evaluators.
    pub registry: Arc<Registry>,
    /// Those that are asked.
    pub evaluators: Vec<Arc<dyn Evaluator>>,
    /// When those that wait for others give up.
    pub until: tokio::time::Instant,
    /// Whose it is.
    pub tenant: TenantId,
    /// The time of the rows.
    pub now: UnixNanos,
    /// The model of the target.
    pub model: Option<String>,
    /// What goes before.
    pub production: Production,
}

/// What one evaluator said about one case.
struct Said {
    evaluator: String,
    version: String,
    scores: Vec<Score>,
    usage: Option<Usage>,
    latency_ms: f64,
}

impl Judge {
    /// The scores of `cases`. A run without an answer has none.
    pub async fn all(&self, cases: Arc<Vec<Case>>) -> ScoredRuns {
        let mut judged = ScoredRuns::default();
        for (at, case) in cases.iter().enumerate() {
            self.production.passed(self.until).await;
            let (me, all) = (self.clone(), cases.clone());
            // Local evaluators compute: they must not hold up what other tasks do.
            let local = tokio::task::spawn_blocking(move || all.get(at).map(|case| me.local(case)));
            let mut said = match local.await {
                Ok(said) => said.unwrap_or_default(),
                Err(error) => self.broken(case, &format!("evaluation broke off: {error}")),
            };
            said.extend(self.waiting(case).await);
            judged.add(self, case, said);
        }
        judged
    }

    fn local(&self, case: &Case) -> Vec<Said> {
        let Some((input, expected)) = self.input(case) else { return Vec::new() };
        let local = self.evaluators.iter().filter(|evaluator| evaluator.waits().is_none());
        let ask = |evaluator: &Arc<dyn Evaluator>| {
            let started = Instant::now();
            let scores = best(&self.registry, evaluator.as_ref(), &input, &expected);
            Said {
                evaluator: evaluator.id().to_owned(),
                version: evaluator.version().to_owned(),
                scores,
                usage: None,
                latency_ms: started.elapsed().as_secs_f64() * 1e3,
            }
        };
        local.map(ask).collect()
    }

    fn broken(&self, case: &Case, why: &str) -> Vec<Said> {
        let local = self.evaluators.iter().filter(|evaluator| evaluator.waits().is_none());
        let failed = |evaluator: &Arc<dyn Evaluator>| Said {
            evaluator: evaluator.id().to_owned(),
            version: evaluator.version().to_owned(),
            scores: evaluator.fail(why),
            usage: None,
            latency_ms: 0.0,
        };
        if case.run.error.is_some() { Vec::new() } else { local.map(failed).collect() }
    }

    /// What those say that wait for others, all at once.
    async fn waiting(&self, case: &Case) -> Vec<Said> {
        let Some((input, expected)) = self.input(case) else { return Vec::new() };
        let (input, expected) = (&input, expected.answers.as_slice());
        let asked = self.evaluators.iter().filter_map(|evaluator| {
            let waits = evaluator.waits()?;
            Some(self.of_each(evaluator.as_ref(), waits, (input, expected)))
        });
        futures::future::join_all(asked.collect::<Vec<_>>()).await
    }

    /// The best of what one that waits for others says about each right answer, and what all of that took. One that is away
    /// is an error: a suite that ran says so.
    async fn of_each(
        &self,
        evaluator: &dyn Evaluator,
        waits: &dyn Waits,
        (input, expected): (&EvalInput, &[String]),
    ) -> Said {
        let started = Instant::now();
        let (mut best, mut taken, mut version) = (Best::new(evaluator), None::<Usage>, None);
        let asked = askings(evaluator, input, expected);
        for one in &asked {
            let (scores, usage) = match self.registry.ask(evaluator, waits, one, self.until).await {
                Ok(said) => {
                    version = said.version.or(version);
                    (said.scores, said.usage)
                }
                // What was answered before is paid, and nobody asks again.
                Err(away) => (evaluator.fail(&away.why), away.owed.take()),
            };
            match (&mut taken, usage) {
                (Some(taken), Some(more)) => taken.add(more),
                (taken, more) => *taken = taken.take().or(more),
            }
            if !best.take(scores) {
                break;
            }
        }
        Said {
            evaluator: evaluator.id().to_owned(),
            version: version.unwrap_or_else(|| evaluator.version().to_owned()),
            scores: best.told(if asked.len() > 1 { expected.len() } else { 1 }),
            usage: taken,
            latency_ms: started.elapsed().as_secs_f64() * 1e3,
        }
    }

    fn input(&self, case: &Case) -> Option<(EvalInput, Expected)> {
        if case.run.error.is_some() {
            return None;
        }
        let value =
            |text: &Option<String>| text.as_deref().and_then(|t| serde_json::from_str::<Value>(t).ok());
        let (output, contexts) = (value(&case.run.output), value(&case.run.contexts));
        let contexts = contexts.as_ref().and_then(Value::as_array).map(Vec::as_slice);
        let answered = Answered { output: output.as_ref(), contexts };
        let (mut input, expected) = eval_input(&case.item, &answered, &self.tenant);
        // Repetitions that say the same are judged one by one.
        input.asking = u32::try_from(case.run.repetition.saturating_sub(1)).unwrap_or_default();
        Some((input, expected))
    }
}

/// What a local evaluator says. With several right answers it is the best of what it says about each.
fn best(
    registry: &Registry,
    evaluator: &dyn Evaluator,
    input: &EvalInput,
    expected: &Expected,
) -> Vec<Score> {
    let with = |answer: Option<&String>| {
        let input = EvalInput { expected: answer.cloned(), ..input.clone() };
        registry.evaluate(evaluator, &input)
    };
    let Some((first, others)) = expected.answers.split_first() else {
        return explained(with(None), expected.why.as_deref());
    };
    if others.is_empty() {
        return with(Some(first));
    }
    // One that asks for no expected answer is asked once.
    let without = with(None);
    if without.iter().any(|score| score.status != ScoreStatus::Skipped) {
        return without;
    }
    let better = evaluator.metrics().first().map_or(Better::Higher, |metric| metric.better);
    let rank = |scores: &[Score]| {
        let value = scores.first().and_then(|score| score.value);
        value.map_or(f64::NEG_INFINITY, |value| if better == Better::Higher { value } else { -value })
    };
    let (mut chosen, mut met) = (with(Some(first)), first);
    for answer in others {
        let scores = with(Some(answer));
        if rank(&scores) > rank(&chosen) {
            (chosen, met) = (scores, answer);
        }
    }
    if let Some(score) = chosen.first_mut() {
        let said = score.rationale.take().map(|said| format!("; {said}")).unwrap_or_default();
        score.rationale = Some(format!("nearest to the expected answer {met:?}{said}"));
    }
    chosen
}

/// Where the item has an expected answer that is no text, skipped scores say so.
fn explained(mut scores: Vec<Score>, why: Option<&str>) -> Vec<Score> {
    if let Some(why) = why {
        let skipped = scores.iter_mut().filter(|score| score.status == ScoreStatus::Skipped);
        skipped.for_each(|score| score.error = Some(why.to_owned()));
    }
    scores
}

impl ScoredRuns {
    fn add(&mut self, judge: &Judge, case: &Case, said: Vec<Said>) {
        let sent = case.sent.iter().map(|sent| {
            let mut score = Score::told(&sent.name, sent.value.unwrap_or_default());
            (score.value, score.label, score.passed) = (sent.value, sent.label.clone(), sent.passed);
            score.rationale.clone_from(&sent.rationale);
            if let Some(why) = &sent.error {
                score = Score::failed(&sent.name, why);
            } else if let Some(missing) = &sent.skipped {
                score = Score::skipped(&sent.name, missing);
            }
            Said {
                evaluator: format!("client/{}", sent.name),
                version: "1".to_owned(),
                scores: vec![score],
                usage: None,
                latency_ms: 0.0,
            }
        });
        for mut one in said.into_iter().chain(sent) {
            for score in std::mem::take(&mut one.scores) {
                self.rows.push(row(judge, case, &one, score));
                self.runs.push(OfRun {
                    experiment_id: case.run.experiment_id.clone(),
                    run_id: case.run.run_id.clone(),
                    item_id: case.run.item_id.clone(),
                    check_id: None,
                });
                // What was taken once is told once; the model stands in every row.
                if let Some(usage) = &mut one.usage {
                    *usage = Usage { model: std::mem::take(&mut usage.model), ..Usage::default() };
                }
            }
        }
    }
}

fn row(judge: &Judge, case: &Case, said: &Said, score: Score) -> ScoreRow {
    let (run, usage) = (&case.run, said.usage.as_ref());
    let identity = format!("{}\0{}\0{}\0{}", run.run_id, run.attempt, said.evaluator, score.metric);
    ScoreRow {
        score_id: digits(&identity, 16),
        trace_id: run.trace_id.as_deref().and_then(|id| TraceId::from_hex(id).ok()),
        span_id: run.span_id.as_deref().and_then(|id| SpanId::from_hex(id).ok()),
        span_time: run.started_at.unwrap_or(judge.now),
        evaluated_at: judge.now,
        service_name: String::new(),
        request_model: judge.model.clone(),
        tenant: judge.tenant.clone(),
        rule: None,
        rule_version: None,
        evaluator: said.evaluator.clone(),
        evaluator_version: said.version.clone(),
        score,
        inclusion_probability: case.item.inclusion_probability.unwrap_or(1.0),
        stratum: None,
        sampling_reason: None,
        score_version: i32::try_from(run.attempt).unwrap_or(i32::MAX),
        attempt: i32::try_from(run.attempt).unwrap_or(i32::MAX),
        latency_ms: said.latency_ms,
        judge_model: usage.map(|usage| usage.model.clone()),
        input_tokens: usage.and_then(|usage| usage.input_tokens),
        output_tokens: usage.and_then(|usage| usage.output_tokens),
        cost_usd: usage.and_then(|usage| usage.cost_usd),
        source: ScoreSource::Experiment,
        prompt: Prompt::default(),
    }
}
