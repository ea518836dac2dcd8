//! The playground: a few items are asked by a prompt that is being written, and judged at once. Nothing of it is stored; what
//! is worth keeping is made an experiment.

use super::super::dataset::{Item, files_of};
use super::super::endpoint::{Asks, Outcome, Tells, Whose, told};
use super::super::error::{Fault, LabError};
use super::called::NAMED;
use super::definition::{Answer, Target, Todo};
use super::experiments::Experiments;
use super::judge::{Case, ScoredRuns};
use crate::domain::score::ScoreRow;
use crate::lab::ids::{trace_ids, traceparent};
use crate::lab::lint::matrix;
use crate::schema::batch::{ItemRow, RunRow};
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Most items of one request: its sender waits for all of them.
pub const MAX_ITEMS: usize = 16;

/// What is tried.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trial {
    /// A target of `[lab.targets]`.
    target: String,
    /// The system's message in place of the target's.
    #[serde(default)]
    system: Option<String>,
    /// The user's message in place of the target's.
    #[serde(default)]
    prompt: Option<String>,
    /// Parameters; they go before those of the target.
    #[serde(default)]
    parameters: Map<String, Value>,
    /// Evaluators by id.
    #[serde(default)]
    evaluators: Vec<String>,
    /// What is asked.
    items: Vec<Item>,
}

/// `GET /v1/lab/evaluators`: what may judge here, what each needs, and what its metrics tell.
pub(super) async fn evaluators(State(all): State<Experiments>, _: Asks<Whose>) -> Outcome {
    let mut rows = matrix(all.registry())?;
    for row in &mut rows {
        // What waits for others may cost money.
        row["asks_others"] = row["waits_for_others"].clone();
    }
    told(json!({ "evaluators": rows }))
}

/// `POST /v1/lab/playground`: the answers in the order of the items, each with its scores. Who hangs up ends it.
pub(super) async fn try_out(State(all): State<Experiments>, sent: Tells<Trial>) -> Outcome {
    let Tells { who, body: trial } = sent;
    let (target, items) = checked(&all, &trial)?;
    let evaluators =
        all.registry().select(&trial.evaluators).map_err(|e| LabError::Wrong(format!("evaluators: {e}")))?;
    let _turn = all.trial()?;
    // Spans of the target are found by the trace; the next trial has another one.
    let todo: Vec<Todo> = items.iter().map(|item| asked(item, &trial.parameters)).collect();
    let answers = all.targets().answers(&target, &todo).await?;
    let cases: Vec<Case> = items
        .into_iter()
        .zip(todo)
        .zip(answers)
        .map(|((item, todo), answer)| case(item, &todo, answer))
        .collect();
    let cases = Arc::new(cases);
    let judged = all.judged(&who, evaluators, target.model.clone(), cases.clone()).await?;
    told(json!({ "answers": shown(&cases, &judged) }))
}

/// The target with its prompts and the items as rows, or everything that is wrong.
fn checked(all: &Experiments, trial: &Trial) -> Result<(Target, Vec<ItemRow>), LabError> {
    let mut faults = Vec::new();
    if trial.items.is_empty() || trial.items.len() > MAX_ITEMS {
        let why = format!(
            "{} items; the playground asks 1 to {MAX_ITEMS}, an experiment as many as there are",
            trial.items.len()
        );
        return Err(LabError::Wrong(why));
    }
    let mut more = Map::new();
    for (key, text) in [("system", &trial.system), ("prompt", &trial.prompt)] {
        if let Some(text) = text {
            more.insert(key.to_owned(), text.as_str().into());
        }
    }
    let named = Target { kind: NAMED.to_owned(), name: Some(trial.target.clone()), model: None, more };
    let target = all.targets().described(&trial.target, &named.prompts());
    let target = target.map_err(|why| faults.push(Fault::new(why)));
    let most = all.datasets().config().max_item_size;
    let mut rows = Vec::new();
    for (number, item) in (1u64..).zip(&trial.items) {
        match item.clone().into_row(most) {
            Ok(row) => rows.push(row),
            Err(wrong) => faults.extend(wrong.into_iter().map(|fault| Fault { item: Some(number), ..fault })),
        }
    }
    match target {
        Ok(target) if faults.is_empty() => Ok((target, rows)),
        _ => Err(LabError::Faults(faults)),
    }
}

fn asked(item: &ItemRow, parameters: &Map<String, Value>) -> Todo {
    let value = |text: &Option<String>| {
        text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    };
    let run_id = uuid::Uuid::new_v4().simple().to_string();
    Todo {
        traceparent: traceparent(&run_id, 1),
        run_id,
        item_id: item.item_id.clone(),
        external_id: item.external_id.clone(),
        repetition: 1,
        attempt: 1,
        place: 0,
        input: value(&item.input),
        contexts: value(&item.contexts),
        files: files_of(item.files.as_deref()),
        parameters: Value::Object(parameters.clone()),
        expected: None,
        metadata: None,
    }
}

fn case(item: ItemRow, todo: &Todo, answer: Answer) -> Case {
    let (trace, span) = trace_ids(&todo.run_id, 1);
    let run = RunRow {
        run_id: todo.run_id.clone(),
        item_id: item.item_id.clone(),
        repetition: 1,
        attempt: 1,
        trace_id: answer.trace_id.or(Some(trace)),
        span_id: answer.span_id.or(Some(span)),
        output: answer.output.map(|value| value.to_string()),
        contexts: answer.contexts.map(|all| Value::from(all).to_string()),
        output_context: answer.output_context.map(|all| Value::Object(all).to_string()),
        input_tokens: answer.input_tokens,
        output_tokens: answer.output_tokens,
        cost_usd: answer.cost_usd,
        duration_ms: answer.duration_ms,
        error: answer.error,
        ..RunRow::default()
    };
    Case { item, run, sent: answer.scores, checks: Vec::new() }
}

fn shown(cases: &[Case], judged: &ScoredRuns) -> Vec<Value> {
    let value = |text: &Option<String>| text.as_deref().and_then(|t| serde_json::from_str::<Value>(t).ok());
    let one = |Case { run, .. }: &Case| {
        let both = judged.rows.iter().zip(&judged.runs).filter(|(_, of)| of.run_id == run.run_id);
        let scores: Vec<Value> = both.map(|(row, _)| score(row)).collect();
        json!({
            "output": value(&run.output), "contexts": value(&run.contexts), "error": run.error, "trace_id": run.trace_id,
            "input_tokens": run.input_tokens, "output_tokens": run.output_tokens, "cost_usd": run.cost_usd,
            "duration_ms": run.duration_ms, "scores": scores,
        })
    };
    cases.iter().map(one).collect()
}

fn score(row: &ScoreRow) -> Value {
    let said = &row.score;
    json!({
        "evaluator": row.evaluator, "metric": said.metric, "status": said.status.as_str(), "value": said.value,
        "label": said.label, "passed": said.passed, "threshold": said.threshold, "rationale": said.rationale,
        "error": said.error, "cost_usd": row.cost_usd,
    })
}
