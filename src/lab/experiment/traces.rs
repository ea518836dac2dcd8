//! The target `trace`: what production answered, read from the spans that items were made of. Nothing is asked again and
//! nothing is copied: the run names the trace.

use super::super::cells::Row;
use super::super::error::LabError;
use super::super::store::{Store, Who};
use super::definition::{Answer, Todo};
use crate::domain::id::{SpanId, TraceId};
use crate::schema::batch::ItemRow;
use serde_json::Value;
use std::collections::HashMap;

/// The answers to `todo` that stored spans hold; those without a span say so.
///
/// # Errors
/// The limits of queries.
pub async fn answers(
    store: &Store,
    who: &Who,
    items: &[ItemRow],
    todo: &[Todo],
) -> Result<Vec<Answer>, LabError> {
    let by_id: HashMap<&str, &ItemRow> = items.iter().map(|item| (item.item_id.as_str(), item)).collect();
    let source = |todo: &Todo| by_id.get(todo.item_id.as_str()).and_then(|item| traced(item));
    let traces: Vec<String> = todo.iter().filter_map(|todo| source(todo).map(|(trace, _)| trace)).collect();
    let spans = spans(store, who, &traces).await?;
    let wholes = wholes(store, who, &traces).await?;
    let contexts = contexts(store, who, &traces).await?;
    let answer = |todo: &Todo| {
        let source = source(todo);
        let mut answer = match &source {
            None => failed("the item names no trace (source_trace_id): make the dataset from spans"),
            Some((trace, Some(span))) => {
                spans.get(&(trace.clone(), span.clone())).cloned().unwrap_or_else(|| gone(trace))
            }
            Some((trace, None)) => wholes.get(trace).cloned().unwrap_or_else(|| gone(trace)),
        };
        answer.item_id.clone_from(&todo.item_id);
        (answer.repetition, answer.attempt) = (Some(todo.repetition), Some(todo.attempt));
        answer.contexts = source.and_then(|(trace, _)| contexts.get(&trace).cloned());
        answer
    };
    Ok(todo.iter().map(answer).collect())
}

/// The trace of an item, and its span if one is named.
fn traced(item: &ItemRow) -> Option<(String, Option<String>)> {
    let trace = TraceId::from_hex(item.source_trace_id.as_deref()?).ok()?;
    let span = item.source_span_id.as_deref().and_then(|span| SpanId::from_hex(span).ok());
    Some((trace.to_string(), span.map(|span| span.to_string())))
}

fn failed(why: &str) -> Answer {
    Answer { error: Some(why.to_owned()), ..Answer::default() }
}

fn gone(trace: &str) -> Answer {
    failed(&format!("the trace {trace} is not stored any more"))
}

/// `trace_id IN (…)`; ids are hexadecimal digits.
fn among(traces: &[String]) -> String {
    let quoted: Vec<String> = traces.iter().map(|trace| format!("'{trace}'")).collect();
    format!("trace_id IN ({})", if quoted.is_empty() { "''".to_owned() } else { quoted.join(", ") })
}

fn told(row: Row<'_>) -> Answer {
    let output = row.may("answer").map(Value::String);
    let error = output.is_none().then(|| "the span has no answer".to_owned());
    let nanos = row.int("duration_ns").map(|nanos| nanos as f64 / 1e6);
    Answer {
        output,
        error,
        input_tokens: row.int("input_tokens"),
        output_tokens: row.int("output_tokens"),
        cost_usd: row.number("cost_usd"),
        duration_ms: nanos,
        trace_id: row.may("trace_id"),
        span_id: row.may("span_id"),
        ..Answer::default()
    }
}

async fn spans(
    store: &Store,
    who: &Who,
    traces: &[String],
) -> Result<HashMap<(String, String), Answer>, LabError> {
    let sql = format!(
        "SELECT trace_id, span_id, answer, input_tokens, output_tokens, cost_usd, duration_ns FROM spans WHERE {}",
        among(traces)
    );
    let rows = store.ask(&who.tenant, &sql, Vec::new()).await?;
    Ok(rows.iter().map(|row| ((row.text("trace_id"), row.text("span_id")), told(row))).collect())
}

async fn wholes(store: &Store, who: &Who, traces: &[String]) -> Result<HashMap<String, Answer>, LabError> {
    let sql = format!(
        "SELECT trace_id, answer, input_tokens, output_tokens, cost_usd, duration_ns FROM traces WHERE {}",
        among(traces)
    );
    let rows = store.ask(&who.tenant, &sql, Vec::new()).await?;
    Ok(rows.iter().map(|row| (row.text("trace_id"), told(row))).collect())
}

/// The documents that each trace retrieved.
async fn contexts(
    store: &Store,
    who: &Who,
    traces: &[String],
) -> Result<HashMap<String, Vec<Value>>, LabError> {
    let sql = format!(
        "SELECT trace_id, d['id'] AS id, d['uri'] AS uri, d['content'] AS content FROM (SELECT trace_id, start_time, \
         unnest(documents) AS d FROM spans WHERE operation = 'retrieval' AND {}) ORDER BY start_time",
        among(traces)
    );
    let rows = store.ask(&who.tenant, &sql, Vec::new()).await?;
    let mut contexts: HashMap<String, Vec<Value>> = HashMap::new();
    for row in rows.iter() {
        let document =
            serde_json::json!({"id": row.may("id"), "uri": row.may("uri"), "text": row.may("content")});
        contexts.entry(row.text("trace_id")).or_default().push(document);
    }
    Ok(contexts)
}
