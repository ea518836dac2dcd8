//! Items as other systems have them. What a system has no place for is left out.

use super::item::Item;
use crate::lab::texts::expected_text;
use serde_json::{Map, Value, json};

/// A line of named values; what is not there is left out.
fn line<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let there = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(there.collect())
}

fn text(value: Option<&String>) -> Option<Value> {
    value.map(|text| text.as_str().into())
}

fn metadata(item: &Item) -> Option<Value> {
    item.metadata.clone().map(Value::Object)
}

/// A dataset item of Langfuse.
pub fn langfuse(item: &Item) -> Value {
    line([
        ("id", text(item.external_id.as_ref().or(item.item_id.as_ref()))),
        ("input", item.input.clone()),
        ("expectedOutput", item.expected.clone()),
        ("metadata", metadata(item)),
        ("sourceTraceId", text(item.source_trace_id.as_ref())),
        ("sourceObservationId", text(item.source_span_id.as_ref())),
    ])
}

/// An example of Phoenix: its parts are objects.
pub fn phoenix(item: &Item) -> Value {
    let object = |value: Option<&Value>, key: &str| match value {
        None => json!({}),
        Some(Value::Object(fields)) => Value::Object(fields.clone()),
        Some(other) => json!({ key: other }),
    };
    line([
        ("example_id", text(item.external_id.as_ref().or(item.item_id.as_ref()))),
        ("input", Some(object(item.input.as_ref(), "input"))),
        ("output", Some(object(item.expected.as_ref(), "output"))),
        ("metadata", Some(metadata(item).unwrap_or_else(|| json!({})))),
        ("splits", item.split.as_ref().map(|split| json!([split]))),
    ])
}

/// A sample of Inspect: the input is a text or a list of messages, the target a text or several.
pub fn inspect(item: &Item) -> Value {
    let input = item.input.as_ref().map(|input| match input.get("messages") {
        Some(messages @ Value::Array(_)) => messages.clone(),
        _ if input.is_array() => input.clone(),
        _ => crate::lab::texts::text_of(input).unwrap_or_else(|| input.to_string()).into(),
    });
    line([
        ("id", text(item.external_id.as_ref().or(item.item_id.as_ref()))),
        ("input", input),
        ("target", Some(item.expected.as_ref().map_or_else(|| "".into(), answers))),
        ("metadata", metadata(item)),
    ])
}

/// A row of an evaluation set of MLflow and Mosaic AI.
pub fn mlflow(item: &Item) -> Value {
    let mut rest: Map<String, Value> = item.metadata.clone().unwrap_or_default();
    let documents = rest.shift_remove("expected_documents");
    let expected = documents.as_ref().and_then(Value::as_array).map(|uris| {
        let uris: Vec<Value> = uris.iter().map(|uri| json!({ "doc_uri": uri })).collect();
        Value::from(uris)
    });
    let context = |one: &Value| match one {
        Value::String(content) => json!({ "content": content }),
        other => other.clone(),
    };
    let contexts: Vec<Value> = item.contexts.iter().map(context).collect();
    line([
        ("request_id", text(item.external_id.as_ref().or(item.item_id.as_ref()))),
        ("request", item.input.clone()),
        ("expected_response", item.expected.as_ref().map(first_answer)),
        ("retrieved_context", (!contexts.is_empty()).then(|| contexts.into())),
        ("expected_retrieved_context", expected),
        ("metadata", (!rest.is_empty()).then_some(Value::Object(rest))),
    ])
}

/// What is expected as texts: one, or a list of which one is enough.
fn answers(expected: &Value) -> Value {
    match expected.get("any_of").and_then(Value::as_array) {
        Some(any) => any.iter().map(one_answer).collect::<Vec<Value>>().into(),
        None => one_answer(expected),
    }
}

fn first_answer(expected: &Value) -> Value {
    match answers(expected) {
        Value::Array(all) => all.into_iter().next().unwrap_or_default(),
        one => one,
    }
}

fn one_answer(expected: &Value) -> Value {
    expected_text(expected).unwrap_or_else(|_| expected.to_string()).into()
}
