//! OpenTelemetry GenAI in span events and log records, of every age.
//!
//! The same names came on both signals: as log records the content is in the body, as span events in attributes.

use super::draft::Draft;
use super::fields::{self, Fields};
use super::fill::fill;
use super::json::{decode_or_text, open, text_in};
use super::messages::{self, Side};
use super::otel_genai;
use crate::domain::log::LogRecord;
use crate::domain::message::Message;
use crate::domain::span::{Dialect, Event, Llm, Operation};
use crate::domain::value::Value;
use serde_json::{Map, Value as Json};

const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// What the events of a span add: messages of one side in several events are put one after the other.
pub(super) fn fill_from(events: &[Event], draft: &mut Draft) {
    let (mut input, mut output) = (Vec::new(), Vec::new());
    for event in events.iter().filter(|event| event.name.starts_with("gen_ai.")) {
        let fields = Fields::new(&event.attributes);
        match event.name.as_str() {
            DETAILS => {
                let mut part = Draft::default();
                part.llm.operation = draft.llm.operation;
                otel_genai::fill_from(&fields, &mut part);
                input.extend(part.llm.input_messages);
                output.extend(part.llm.output_messages);
                fill(&mut draft.llm.system_prompt, part.llm.system_prompt);
            }
            "gen_ai.content.prompt" | "gen_ai.content.completion" => otel_genai::fill_from(&fields, draft),
            name => {
                if let Some((side, message)) = old_event(name, &body_of(event, &fields)) {
                    if side == Side::Input { &mut input } else { &mut output }.push(message);
                }
            }
        }
    }
    draft.messages(Side::Input, input);
    draft.messages(Side::Output, output);
}

/// A span event's attributes as the body that a log record would have. Azure puts the whole body into one attribute.
fn body_of(event: &Event, fields: &Fields<'_>) -> Map<String, Json> {
    if let Some(Json::Object(body)) = fields.json("gen_ai.event.content") {
        return body;
    }
    let plain = |value: &Value| open(&value.to_plain_json()).into_owned();
    event.attributes.0.iter().map(|(key, value)| (key.clone(), plain(value))).collect()
}

/// The message of `gen_ai.{system,user,assistant,tool}.message` and `gen_ai.choice`. The role comes from the name.
pub(super) fn old_event(name: &str, body: &Map<String, Json>) -> Option<(Side, Message)> {
    if name == "gen_ai.choice" {
        let reason = text_in(body, &["finish_reason"]);
        let mut message = match body.get("message").map(|message| open(message).into_owned()) {
            Some(Json::Object(inner)) => messages::from_role("assistant", &inner),
            Some(content) => messages::from_role("assistant", &content_only(content)),
            None => messages::from_role("assistant", body),
        };
        message.finish_reason = reason;
        return Some((Side::Output, message));
    }
    let role = name.strip_prefix("gen_ai.")?.strip_suffix(".message")?;
    Some((Side::Input, messages::from_role(role, body)))
}

fn content_only(content: Json) -> Map<String, Json> {
    Map::from_iter([("content".to_owned(), content)])
}

/// What a log record says of its span; none for a record that is not about a model call.
pub(super) fn content_of(record: &LogRecord) -> Option<Llm> {
    let name = record.event_name.as_str();
    if !name.starts_with("gen_ai.") {
        return None;
    }
    let fields = Fields::new(&record.attributes);
    let mut draft = Draft::default();
    fields::scalars(&fields, &mut draft.llm);
    draft.llm.dialect = Dialect::OtelGenai;
    draft.llm.operation = otel_genai::operation(&fields).unwrap_or(Operation::Other);
    match name {
        "gen_ai.evaluation.result" => return None,
        "gen_ai.client.operation.exception" => {
            draft.llm.error_type = fields.first(&["exception.type", "error.type"]);
        }
        DETAILS => {
            otel_genai::fill_from(&fields, &mut draft);
            fill_from_body(&record.body, &mut draft);
            draft.llm.error_type = fields.plain("error.type");
        }
        _ => {
            let body = body_of_record(&record.body, &fields)?;
            let (side, message) = old_event(name, &body)?;
            draft.messages(side, vec![message]);
        }
    }
    // The role of a tool span's messages is derived on the span itself.
    Some(draft.finish(""))
}

/// Some senders put the attributes of the event into the body.
fn fill_from_body(body: &Value, draft: &mut Draft) {
    if let Value::Map(pairs) = body {
        let fields = Fields::from_pairs(pairs.iter().map(|(key, value)| (key.as_str(), value)).collect());
        otel_genai::fill_from(&fields, draft);
    }
}

/// The body of an old event. Azure and Semantic Kernel put it into an attribute, and an empty text or the event's name
/// where it belongs.
fn body_of_record(body: &Value, fields: &Fields<'_>) -> Option<Map<String, Json>> {
    let in_attribute = || match fields.json("gen_ai.event.content") {
        Some(Json::Object(object)) => Some(object),
        _ => None,
    };
    match body {
        Value::Map(pairs) if pairs.is_empty() => Some(in_attribute().unwrap_or_default()),
        // A body of its own is whole, where the attribute may be cut off.
        Value::Map(_) => body.to_plain_json().as_object().cloned(),
        Value::Str(text) => in_attribute().or_else(|| match decode_or_text(text) {
            Json::Object(object) => Some(object),
            content => Some(content_only(content)),
        }),
        _ => in_attribute(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::value::Attrs;

    fn event(name: &str, attributes: &[(&str, &str)]) -> Event {
        let pairs = attributes.iter().map(|(k, v)| ((*k).to_owned(), Value::Str((*v).to_owned()))).collect();
        Event {
            time: Default::default(),
            name: name.into(),
            attributes: Attrs(pairs),
            dropped_attributes_count: 0,
        }
    }

    #[test]
    fn strands_and_bedrock_events_become_messages() {
        let mut draft = Draft::default();
        draft.llm.operation = Operation::Llm;
        fill_from(
            &[
                event("gen_ai.user.message", &[("content", r#"[{"text": "Weather in Paris?"}]"#)]),
                event(
                    "gen_ai.choice",
                    &[
                        ("finish_reason", "tool_use"),
                        (
                            "message",
                            r#"[{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": {"city": "Paris"}}}]"#,
                        ),
                    ],
                ),
            ],
            &mut draft,
        );
        let llm = draft.finish("chat");
        assert_eq!(llm.question.as_deref(), Some("Weather in Paris?"));
        assert_eq!(llm.tool_calls[0].name, "get_weather");
        assert_eq!(llm.finish_reasons, ["tool_use"]);
        assert_eq!(llm.answer, None);
    }

    #[test]
    fn records_of_adk_and_semantic_kernel_have_their_content_where_they_put_it() {
        let said = |name: &str, body: &str, attributes: &[(&str, &str)]| {
            let event = event(name, attributes);
            let record = LogRecord {
                time: event.time,
                trace_id: None,
                span_id: None,
                event_name: event.name,
                severity_number: 0,
                severity_text: String::new(),
                body: Value::Str(body.to_owned()),
                attributes: event.attributes,
                dropped_attributes_count: 0,
                flags: 0,
                source: Default::default(),
                content: None,
                evaluation: None,
            };
            content_of(&record).and_then(|llm| llm.question.or(llm.answer))
        };
        let asked = r#"{"content": {"parts": [{"text": "Why?"}], "role": "user"}}"#;
        assert_eq!(said("gen_ai.user.message", asked, &[]).as_deref(), Some("Why?"));
        let told = r#"{"index": 0, "content": {"parts": [{"text": "So."}], "role": "model"}}"#;
        assert_eq!(said("gen_ai.choice", told, &[]).as_deref(), Some("So."));
        let told = r#"{"index": 0, "message": {"role": "Assistant", "content": "So."}}"#;
        let attribute = [("gen_ai.event.content", told)];
        assert_eq!(said("gen_ai.choice", "gen_ai.choice", &attribute).as_deref(), Some("So."));
    }

    #[test]
    fn a_body_of_its_own_is_read_before_the_attribute() {
        let attribute = event("gen_ai.choice", &[("gen_ai.event.content", r#"{"message": {"content": "cu"#)]);
        let whole = Value::Map(vec![("message".to_owned(), Value::Str("whole".to_owned()))]);
        for (body, want) in [(whole, "whole"), (Value::Map(Vec::new()), "cu"), (Value::Null, "cu")] {
            let found = body_of_record(&body, &Fields::new(&attribute.attributes)).expect("there is one");
            assert!(Json::Object(found).to_string().contains(want), "{body:?}");
        }
    }

    #[test]
    fn spring_events_carry_text() {
        let mut draft = Draft::default();
        draft.llm.operation = Operation::Llm;
        fill_from(
            &[
                event("gen_ai.content.prompt", &[("gen_ai.prompt", "Why?")]),
                event("gen_ai.content.completion", &[("gen_ai.completion", "Because.")]),
            ],
            &mut draft,
        );
        let llm = draft.finish("chat");
        assert_eq!((llm.question.as_deref(), llm.answer.as_deref()), (Some("Why?"), Some("Because.")));
    }
}
