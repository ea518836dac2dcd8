//! What is asked of a target, and what is taken of its answers.

use super::super::error::Fault;
use super::definition::{Answer, Telling, Todo};
use super::judge::Case;
use super::known::{Added, Attempt, Known};
use super::reading::Experiment;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;
use crate::lab::dataset::files_of;
use crate::lab::ids::{run_id, trace_ids, traceparent};
use crate::schema::batch::{ItemRow, RunRow};
use crate::units::ByteSize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Most checks of one answer.
const MAX_CHECKS: usize = 1_000;

/// The items of a version, found by their ids.
pub struct Items {
    /// In their order.
    pub rows: Arc<Vec<ItemRow>>,
    places: HashMap<String, usize>,
}

impl Items {
    /// Of these rows.
    pub fn of(rows: Vec<ItemRow>) -> Self {
        let places = rows.iter().enumerate().map(|(at, item)| (item.item_id.clone(), at)).collect();
        Self { rows: Arc::new(rows), places }
    }

    /// The item of that id.
    pub fn get(&self, item_id: &str) -> Option<&ItemRow> {
        self.rows.get(*self.places.get(item_id)?)
    }
}

/// The run that an answer of at most `most` bytes is, which came at `now`.
///
/// # Errors
/// What is wrong with it.
pub fn case(
    found: &Experiment,
    items: &Items,
    answer: Answer,
    (now, most): (UnixNanos, ByteSize),
) -> Result<Case, Fault> {
    let unknown = || {
        let why = format!("{:?} is no item of the dataset in the version of the experiment", answer.item_id);
        Fault::new(why).at("item_id")
    };
    let item = items.get(&answer.item_id).ok_or_else(unknown)?.clone();
    let (repetition, attempt) = (answer.repetition.unwrap_or(1), answer.attempt.unwrap_or(1).max(1));
    if !(1..=found.repetitions).contains(&repetition) {
        return Err(Fault::new(format!("it is not from 1 to {}", found.repetitions)).at("repetition"));
    }
    // Its scores have the number of the attempt as their version.
    if i32::try_from(attempt).is_err() {
        return Err(Fault::new(format!("it is not from 1 to {}", i32::MAX)).at("attempt"));
    }
    let id = run_id(&found.experiment_id, &item.item_id, repetition);
    if answer.run_id.as_deref().is_some_and(|sent| sent != id) {
        return Err(Fault::new(format!("it is another run's; this item's is {id}")).at("run_id"));
    }
    if answer.output.is_none() && answer.error.is_none() {
        return Err(Fault::new("there is neither an output nor an error").at("output"));
    }
    checks_fault(found, &answer)?;
    let (trace, span) = trace_ids(&id, attempt);
    let hex = |e: crate::domain::id::IdError| Fault::new(e.to_string());
    let trace_id = answer.trace_id.as_deref().map(TraceId::from_hex).transpose();
    let span_id = answer.span_id.as_deref().map(SpanId::from_hex).transpose();
    let trace_id = trace_id.map_err(|e| hex(e).at("trace_id"))?.map(|id| id.to_string());
    let span_id = span_id.map_err(|e| hex(e).at("span_id"))?.map(|id| id.to_string());
    let text = |value: Option<Value>| value.map(|value| value.to_string());
    let took = answer.duration_ms.filter(|ms| ms.is_finite() && *ms >= 0.0).unwrap_or_default();
    let run = RunRow {
        item_hash: item.content_hash.clone(),
        experiment_id: found.experiment_id.clone(),
        item_id: item.item_id.clone(),
        repetition,
        attempt,
        trace_id: trace_id.or(Some(trace)),
        span_id: span_id.or(Some(span)),
        output: text(answer.output),
        contexts: text(answer.contexts.map(Value::from)),
        output_context: text(answer.output_context.map(Value::Object)),
        input_tokens: answer.input_tokens,
        output_tokens: answer.output_tokens,
        cost_usd: answer.cost_usd,
        duration_ms: answer.duration_ms,
        error: answer.error,
        started_at: Some(UnixNanos(now.0.saturating_sub((took * 1e6) as i64))),
        completed_at: Some(now),
        run_id: id,
    };
    let bytes = [&run.output, &run.contexts, &run.output_context].into_iter().flatten().map(String::len);
    let bytes: usize = bytes.sum();
    if bytes > most.in_memory() {
        return Err(Fault::new(format!("{bytes} bytes, at most {most} (lab.max_item_size)")).at("output"));
    }
    Ok(Case { item, run, sent: answer.scores, checks: answer.checks })
}

/// What checks say belongs to runs of suites.
fn checks_fault(found: &Experiment, answer: &Answer) -> Result<(), Fault> {
    match answer.checks.len() {
        0 => Ok(()),
        _ if found.suite().is_none() => {
            Err(Fault::new("this experiment is no run of a suite: send scores").at("checks"))
        }
        many if many > MAX_CHECKS => {
            Err(Fault::new(format!("{many} checks of one answer, at most {MAX_CHECKS}")).at("checks"))
        }
        _ => Ok(()),
    }
}

/// Whether this attempt, or a later one, is stored.
pub fn is_there(known: &Known, case: &Case) -> bool {
    let key = (case.run.item_id.clone(), case.run.repetition);
    known.get(&key).is_some_and(|run| run.number >= case.run.attempt)
}

/// What is known of a run when it is stored.
pub fn added(case: &Case) -> Added<'_> {
    let attempt = Attempt { number: case.run.attempt, is_error: case.run.error.is_some() };
    ((case.run.item_id.clone(), case.run.repetition), attempt, case.run.error.as_deref())
}

/// What is asked of the target about an item.
pub fn asked(
    found: &Experiment,
    item: &ItemRow,
    (repetition, attempt): (i64, i64),
    telling: Telling,
) -> Todo {
    let value = |text: &Option<String>| {
        text.as_deref().and_then(|t| serde_json::from_str::<Value>(t).ok()).unwrap_or_default()
    };
    let told = |text: &Option<String>| (telling == Telling::Expected).then(|| value(text));
    let run_id = run_id(&found.experiment_id, &item.item_id, repetition);
    Todo {
        traceparent: traceparent(&run_id, attempt),
        run_id,
        item_id: item.item_id.clone(),
        external_id: item.external_id.clone(),
        repetition,
        attempt,
        place: 0,
        input: value(&item.input),
        contexts: value(&item.contexts),
        files: files_of(item.files.as_deref()),
        expected: told(&item.expected),
        metadata: told(&item.metadata),
        parameters: found.parameters.clone(),
    }
}
