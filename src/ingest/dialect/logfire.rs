//! Pydantic Logfire and Pydantic AI. Both write OpenTelemetry GenAI keys and add their own.

use super::documents;
use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::genai_events;
use super::json::text_at;
use super::messages::{self, Side};
use super::usage;
use crate::domain::message::Message;
use crate::domain::span::Operation;
use serde_json::Value as Json;
use std::borrow::Cow;

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
        // What was streamed in pieces is told as one text.
        if let Some(streamed) = text_at(&response, &["combined_chunk_content"]) {
            draft.messages(Side::Output, vec![Message::text("assistant", streamed)]);
        }
        usage::response(&response, &mut draft.llm);
    }
    // Of the Responses API and of OpenAI's agents; an application may have events of its own.
    if let Some(Json::Array(items)) = fields.json("events")
        && items.iter().any(|item| named(item).is_some())
    {
        run(&items, draft);
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
    let whole = fields.json("pydantic_ai.all_messages").or_else(|| fields.json("all_messages_events"));
    let whole = whole.or_else(|| fields.json("events"));
    if let Some(Json::Array(items)) = whole {
        run(&items, draft);
    }
    if draft.llm.operation == Operation::Agent {
        fill(&mut draft.llm.request_model, fields.plain("model_name"));
        // The result of an agent with a type of its own is JSON, and no message says it.
        fill(&mut draft.llm.answer, fields.raw("final_result").map(Cow::into_owned));
    }
}

/// Parts a list of messages, or of old events, into what went in and what came out. Choices came out. Where there are none,
/// the run of an agent is parted after the user's last words, and a model said what stands at the end: what an earlier
/// call asked of tools is none of this one's.
fn run(items: &[Json], draft: &mut Draft) {
    let events: Vec<(Side, Message)> = items.iter().filter_map(named).collect();
    if events.iter().any(|(side, _)| *side == Side::Output) {
        for wanted in [Side::Input, Side::Output] {
            let of_side = events.iter().filter(|(side, _)| *side == wanted);
            draft.messages(wanted, of_side.map(|(_, message)| message.clone()).collect());
        }
        return;
    }
    let mut messages: Vec<Message> = if events.is_empty() {
        messages::all(items)
    } else {
        events.into_iter().map(|(_, message)| message).collect()
    };
    let before = if draft.llm.operation == Operation::Llm {
        messages.iter().rposition(|message| message.role != "assistant")
    } else {
        messages.iter().rposition(|message| message.role == "user")
    };
    let output = messages.split_off(before.map_or(0, |last| last + 1));
    draft.messages(Side::Input, messages);
    draft.messages(Side::Output, output);
}

/// The message of an old event in a list.
fn named(item: &Json) -> Option<(Side, Message)> {
    let object = item.as_object()?;
    genai_events::old_event(object.get("event.name")?.as_str()?, object)
}
