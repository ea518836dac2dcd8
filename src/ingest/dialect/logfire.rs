//! Pydantic Logfire and Pydantic AI. Both write OpenTelemetry GenAI keys and add their own.

use super::documents;
use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::genai_events;
use super::messages::{self, Side};
use super::usage;
use crate::domain::message::Message;
use crate::domain::span::Operation;
use serde_json::Value as Json;

/// The operation of a Logfire span without `gen_ai.operation.name`: a log is a moment; a span on which the application
/// has put documents has looked them up.
pub(super) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    if fields.get("gen_ai.operation.name").is_some() {
        return None;
    }
    if fields.get("request_data").is_some() && fields.get("gen_ai.request.model").is_some() {
        return Some(Operation::Llm);
    }
    if fields.text("logfire.span_type") == Some("log") {
        return Some(Operation::Event);
    }
    let documents = fields.json("documents").map(|json| documents::of_anything(&json));
    documents.is_some_and(|found| !found.is_empty()).then_some(Operation::Retrieval)
}

/// Fills what Logfire's keys say: old versions keep the raw bodies, applications name their own attributes.
pub(super) fn fill_logfire(fields: &Fields<'_>, draft: &mut Draft) {
    if let Some(request) = fields.json("request_data") {
        draft.messages(Side::Input, messages::input(&request));
        usage::request(&request, &mut draft.llm);
    }
    if let Some(response) = fields.json("response_data") {
        draft.messages(Side::Output, messages::output(&response));
        usage::response(&response, &mut draft.llm);
    }
    if let Some(raw) = fields.json("gen_ai.usage.raw") {
        usage::tokens(&raw, &mut draft.llm);
    }
    if draft.llm.operation == Operation::Retrieval {
        fill(&mut draft.llm.question, fields.first(&["query", "question", "q"]));
        if draft.llm.documents.is_empty()
            && let Some(json) = fields.json("documents")
        {
            draft.llm.documents = documents::of_anything(&json);
        }
    }
}

/// Fills what Pydantic AI's keys say. An agent's span holds the whole run in one list: what comes after the user's
/// last message is the output.
pub(super) fn fill_pydantic(fields: &Fields<'_>, draft: &mut Draft) {
    let run = fields.json("pydantic_ai.all_messages").or_else(|| fields.json("all_messages_events"));
    let run = run.or_else(|| fields.json("events"));
    if let Some(Json::Array(items)) = run {
        let mut messages = whole_run(&items);
        let split = messages.iter().rposition(|m| m.role == "user").map_or(0, |last_user| last_user + 1);
        let output = messages.split_off(split);
        draft.messages(Side::Input, messages);
        draft.messages(Side::Output, output);
    }
    if draft.llm.operation == Operation::Agent {
        fill(&mut draft.llm.request_model, fields.plain("model_name"));
        if let Some(raw) = fields.raw("final_result") {
            fill(&mut draft.llm.answer, super::content::readable(&raw).map(str::to_owned));
        }
    }
}

/// Messages in the current shape, or old events in a list.
fn whole_run(items: &[Json]) -> Vec<Message> {
    let events: Vec<Message> = items
        .iter()
        .filter_map(|item| {
            let object = item.as_object()?;
            let name = object.get("event.name")?.as_str()?;
            genai_events::old_event(name, object).map(|(_, message)| message)
        })
        .collect();
    if events.is_empty() { messages::all(items) } else { events }
}
