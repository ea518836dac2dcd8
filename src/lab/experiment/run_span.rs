//! The span that is made of a run whose target sent none.
//!
//! Its id is the one that the target was told as its parent: what a slow sender brings later hangs beneath it, and `traces`
//! counts a model call beneath it and not both.

use super::definition::Target;
use super::input::{Answered, eval_input};
use crate::domain::id::{SpanId, TraceId};
use crate::domain::message::{Message, write_messages};
use crate::domain::span::{Dialect, Llm, Operation, Source, Span, SpanKind, StatusCode};
use crate::domain::time::UnixNanos;
use crate::domain::value::{Attrs, Value};
use crate::lab::ids::trace_ids;
use crate::schema::batch::ItemRow;
use serde_json::Value as Json;
use std::sync::Arc;

/// The scope of every such span: it tells them from those that targets send.
pub const SCOPE: &str = "groundline.lab";
/// The longest text of one, bytes; what is longer is cut, and says so.
const MAX_TEXT: usize = 1 << 20;
/// The kinds of targets that are asked. What others answer was answered before, and perhaps traced where that was.
const ASKED: &[&str] = &["http", "command", "openai", "function"];

/// A run as far as a span is made of it.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// The run.
    pub run_id: String,
    /// The experiment.
    pub experiment_id: String,
    /// The item.
    pub item_id: String,
    /// From 1.
    pub repetition: i64,
    /// From 1.
    pub attempt: i64,
    /// What was answered, JSON.
    pub output: Option<String>,
    /// Tokens read.
    pub input_tokens: Option<i64>,
    /// Tokens written.
    pub output_tokens: Option<i64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Why there is no answer; none where there is one.
    pub error: Option<String>,
    /// When the target was asked.
    pub started: UnixNanos,
    /// When it had answered.
    pub ended: UnixNanos,
}

/// Whether a target is asked, so that each of its runs is a call.
pub fn is_asked(target: &Target) -> bool {
    ASKED.contains(&target.kind.as_str())
}

/// The span of a run that answered `item`, if ids can be made of it. No text of it has what `redact` takes out.
pub fn span_of(
    run: &Told,
    item: Option<&ItemRow>,
    target: &Target,
    source: &Arc<Source>,
    redact: &dyn Fn(&mut String),
) -> Option<Span> {
    let (trace, span) = trace_ids(&run.run_id, run.attempt);
    let output = run.output.as_deref().and_then(|text| serde_json::from_str::<Json>(text).ok());
    let asked = item.and_then(|item| serde_json::from_str::<Json>(item.input.as_deref()?).ok());
    let (input, _) = item.map_or_else(Default::default, |item| {
        eval_input(item, &Answered { output: output.as_ref(), contexts: None }, "")
    });
    let mut is_cut = false;
    let mut kept = |mut text: String| {
        redact(&mut text);
        is_cut |= cut(&mut text);
        text
    };
    // A question that has no text is the JSON of what was asked.
    let question = input.question.or_else(|| asked.as_ref().map(Json::to_string)).map(&mut kept);
    let (answer, error) = (input.answer.map(&mut kept), run.error.clone().map(&mut kept));
    let mut input_messages = messages(asked.as_ref().unwrap_or(&Json::Null), &mut kept);
    if input_messages.is_empty() {
        input_messages.extend(question.as_ref().map(|text| Message::text("user", text)));
    }
    let mut llm = Llm {
        dialect: Dialect::OtelGenai,
        operation: Operation::Llm,
        request_model: target.model.clone(),
        system_prompt: input.system_prompt.map(&mut kept),
        question,
        input_messages,
        output_messages: answer.iter().map(|text| Message::text("assistant", text)).collect(),
        answer,
        input_tokens: run.input_tokens,
        output_tokens: run.output_tokens,
        cost_usd: run.cost_usd,
        ..Llm::default()
    };
    llm.derive_from_messages();
    Some(Span {
        trace_id: TraceId::from_hex(&trace).ok()?,
        span_id: SpanId::from_hex(&span).ok()?,
        parent_span_id: None,
        name: "experiment run".to_owned(),
        kind: SpanKind::Client,
        start: run.started,
        end: run.ended.max(run.started),
        status: if error.is_some() { StatusCode::Error } else { StatusCode::Ok },
        status_message: error.unwrap_or_default(),
        source: source.clone(),
        attributes: attributes(run, &llm, is_cut),
        events: Vec::new(),
        links: Vec::new(),
        trace_state: String::new(),
        flags: 1,
        dropped_attributes_count: 0,
        dropped_events_count: 0,
        dropped_links_count: 0,
        llm,
    })
}

/// Where such spans come from.
pub fn source() -> Arc<Source> {
    let (scope_name, scope_version) = (SCOPE.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Arc::new(Source { scope_name, scope_version, ..Source::default() })
}

/// What was said before the answer, where an item is a conversation; empty where it is one question.
fn messages(asked: &Json, kept: &mut dyn FnMut(String) -> String) -> Vec<Message> {
    let list = asked.as_array().or_else(|| asked["messages"].as_array());
    let said = list.into_iter().flatten().filter_map(|message| {
        let content = message["content"].as_str()?;
        Some(Message::text(message["role"].as_str().unwrap_or("user"), kept(content.to_owned())))
    });
    said.collect()
}

/// The same as a sender would say it, and that nobody sent it.
fn attributes(run: &Told, llm: &Llm, is_cut: bool) -> Attrs {
    let text = |key: &str, value: &str| (key.to_owned(), Value::Str(value.to_owned()));
    let int = |key: &str, value: i64| (key.to_owned(), Value::Int(value));
    let list = |key: &str, messages: &[Message]| {
        let mut out = Vec::new();
        let is_there = write_messages(messages, &mut out);
        is_there.then(|| String::from_utf8(out).ok()).flatten().map(|json| (key.to_owned(), Value::Str(json)))
    };
    let mut all = vec![
        text("gen_ai.operation.name", "chat"),
        text("groundline.made_of", "run"),
        text("groundline.experiment.id", &run.experiment_id),
        text("groundline.run.id", &run.run_id),
        text("groundline.item.id", &run.item_id),
        int("groundline.run.repetition", run.repetition),
        int("groundline.run.attempt", run.attempt),
    ];
    all.extend(llm.request_model.as_deref().map(|model| text("gen_ai.request.model", model)));
    all.extend(list("gen_ai.input.messages", &llm.input_messages));
    all.extend(list("gen_ai.output.messages", &llm.output_messages));
    all.extend(run.input_tokens.map(|tokens| int("gen_ai.usage.input_tokens", tokens)));
    all.extend(run.output_tokens.map(|tokens| int("gen_ai.usage.output_tokens", tokens)));
    if is_cut {
        all.push(("groundline.cut".to_owned(), Value::Bool(true)));
    }
    Attrs(all)
}

/// Cuts a text that is too long, between two characters; whether it was.
fn cut(text: &mut String) -> bool {
    if text.len() <= MAX_TEXT {
        return false;
    }
    let mut at = MAX_TEXT;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.truncate(at);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(input: &Json) -> ItemRow {
        ItemRow { item_id: "i".to_owned(), input: Some(input.to_string()), ..ItemRow::default() }
    }

    fn run() -> Told {
        Told {
            run_id: "r".to_owned(),
            item_id: "i".to_owned(),
            repetition: 2,
            attempt: 1,
            output: Some(json!({"answer": "Vienna, says bob@example.com"}).to_string()),
            input_tokens: Some(7),
            output_tokens: Some(3),
            started: UnixNanos(1_000),
            ended: UnixNanos(5_000),
            ..Told::default()
        }
    }

    fn target(kind: &str) -> Target {
        serde_json::from_value(json!({"kind": kind, "model": "m"})).unwrap()
    }

    fn made(run: &Told, input: &Json) -> Span {
        let redact = |text: &mut String| *text = text.replace("bob@example.com", "[EMAIL]");
        span_of(run, Some(&item(input)), &target("http"), &source(), &redact).unwrap()
    }

    #[test]
    fn a_run_is_a_model_call_under_the_ids_that_it_was_given() {
        let span = made(&run(), &json!({"question": "Where? bob@example.com"}));
        let (trace, id) = trace_ids("r", 1);
        assert_eq!((span.trace_id.to_string(), span.span_id.to_string()), (trace, id));
        assert!(span.trace_id.is_of_experiment() && span.parent_span_id.is_none());
        assert_eq!((span.llm.operation, span.status), (Operation::Llm, StatusCode::Ok));
        assert_eq!(span.llm.question.as_deref(), Some("Where? [EMAIL]"));
        assert_eq!(span.llm.answer.as_deref(), Some("Vienna, says [EMAIL]"));
        assert_eq!((span.llm.input_tokens, span.llm.output_tokens), (Some(7), Some(3)));
        assert_eq!((span.end.since(span.start), span.source.scope_name.as_str()), (4_000, SCOPE));
        assert_eq!(span.attributes.str("groundline.made_of"), Some("run"));
        // Made again it is the same, so nothing is stored twice; another attempt is another one.
        assert_eq!(made(&run(), &json!({"question": "Where? bob@example.com"})), span);
        let second = made(&Told { attempt: 2, ..run() }, &json!("Where?"));
        assert!(second.trace_id != span.trace_id && second.span_id != span.span_id);
        assert!(!format!("{span:?}").contains("bob@example.com"));
    }

    #[test]
    fn a_failure_a_conversation_and_a_long_text_are_told_as_they_are() {
        let failed = Told { output: None, error: Some("away".to_owned()), ..run() };
        let turns = json!({"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "Where?"}]});
        let span = made(&failed, &turns);
        assert_eq!((span.status, span.status_message.as_str()), (StatusCode::Error, "away"));
        assert_eq!((span.llm.answer.as_deref(), span.llm.input_messages.len()), (None, 4));
        assert_eq!(span.llm.system_prompt.as_deref(), Some("Be kind."));
        let long = Told { output: Some(json!("é".repeat(MAX_TEXT)).to_string()), ..run() };
        let span = made(&long, &json!({"x": 1, "y": 2}));
        assert_eq!(span.llm.answer.map(|text| text.len()), Some(MAX_TEXT));
        assert_eq!(span.attributes.get("groundline.cut"), Some(&Value::Bool(true)));
        assert_eq!(span.llm.question.as_deref(), Some(r#"{"x":1,"y":2}"#));
    }

    #[test]
    fn what_was_answered_elsewhere_is_no_call() {
        assert!(["http", "command", "openai", "function"].iter().all(|kind| is_asked(&target(kind))));
        assert!(!is_asked(&target("existing")) && !is_asked(&target("trace")));
    }
}
