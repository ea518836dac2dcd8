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
const CHOICE: &str = "gen_ai.choice";
const PROMPT: &str = "gen_ai.content.prompt";

/// What the events of a span add: messages of one side in several events are put one after the other.
pub(super) fn fill_from(events: &[Event], draft: &mut Draft) {
    let (mut input, mut output) = (Vec::new(), Vec::new());
    // Strands says on a tool's span with what it ran and then what came of it.
    let ran_a_tool = draft.llm.operation == Operation::Tool && events.iter().any(|e| e.name == CHOICE);
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
            PROMPT | "gen_ai.content.completion" => {
                if event.name == PROMPT {
                    draft.messages(Side::Input, fields.text("gen_ai.prompt").map(spoken).unwrap_or_default());
                }
                otel_genai::fill_from(&fields, draft);
            }
            name => {
                let body = body_of(event, &fields);
                if ran_a_tool && run_of_tool(name, &body, draft) {
                    continue;
                }
                if let Some((side, message)) = old_event(name, &body) {
                    if side == Side::Input { &mut input } else { &mut output }.push(message);
                }
            }
        }
    }
    if output.is_empty() && draft.llm.operation == Operation::Agent {
        output = told_by_agent(&mut input);
    }
    draft.messages(Side::Input, input);
    draft.messages(Side::Output, output);
}

/// The messages of a prompt in which each begins with its role, as OpenLIT writes it: `user: Why?`. None of another text.
fn spoken(text: &str) -> Vec<Message> {
    const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];
    let mut turns: Vec<(&str, String)> = Vec::new();
    for line in text.split('\n') {
        let turn = line.split_once(": ").filter(|(role, _)| ROLES.contains(role));
        if let Some((role, words)) = turn {
            turns.push((role, words.to_owned()));
        } else if let Some((_, words)) = turns.last_mut() {
            words.push('\n');
            words.push_str(line);
        } else {
            return Vec::new();
        }
    }
    let message =
        |(role, words): (&str, String)| messages::from_role(role, &content_only(Json::String(words)));
    turns.into_iter().map(message).collect()
}

/// Takes what an event says of the run of a tool; false for an event that says nothing of it.
fn run_of_tool(name: &str, body: &Map<String, Json>, draft: &mut Draft) -> bool {
    let said = |keys: [&str; 2]| keys.iter().find_map(|key| body.get(*key)).cloned();
    match name {
        "gen_ai.tool.message" => fill(&mut draft.tool.arguments, said(["content", "arguments"])),
        CHOICE => fill(&mut draft.tool.result, said(["message", "content"])),
        _ => return false,
    }
    fill(&mut draft.tool.id, text_in(body, &["id"]));
    true
}

/// Azure's agents tell the whole run as messages and no choice: what the agent says after the user's last words is its
/// output.
fn told_by_agent(input: &mut Vec<Message>) -> Vec<Message> {
    let answers = input.last().is_some_and(|message| message.role == "assistant");
    match input.iter().rposition(|message| message.role == "user") {
        Some(last_user) if answers => input.split_off(last_user + 1),
        _ => Vec::new(),
    }
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
    if name == CHOICE {
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
        return whole_call(record);
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

/// AWS's distribution moves the content of spans into records that are named by the scope; their body has the messages of
/// both sides: `{"input": {"messages": […]}, "output": {"messages": […]}}`.
fn whole_call(record: &LogRecord) -> Option<Llm> {
    let Value::Map(pairs) = &record.body else { return None };
    let is_side = |key: &String| key == "input" || key == "output";
    if pairs.is_empty() || record.span_id.is_none() || !pairs.iter().all(|(key, _)| is_side(key)) {
        return None;
    }
    let body = record.body.to_plain_json();
    let mut draft = Draft::default();
    for (side, key) in [(Side::Input, "input"), (Side::Output, "output")] {
        let Some(list) = body.get(key).and_then(|half| half.get("messages")?.as_array()) else { continue };
        draft.messages(side, list.iter().filter_map(moved).collect());
    }
    if draft.llm.input_messages.is_empty() && draft.llm.output_messages.is_empty() {
        return None;
    }
    draft.llm.dialect = Dialect::OtelGenai;
    fields::identity(&Fields::new(&record.attributes), &mut draft.llm);
    Some(draft.finish(""))
}

/// A message whose content may be the attributes of the event that it was: `{"content": …}`, or `{"message": …}` of an answer.
fn moved(message: &Json) -> Option<Message> {
    let role = message.get("role")?.as_str()?;
    let content = open(message.get("content")?);
    let inner = ["content", "message"].iter().find_map(|key| content.get(*key));
    let reason = inner.and_then(|_| text_in(content.as_object()?, &["finish_reason"]));
    let content = match inner {
        Some(inner) => open(inner).into_owned(),
        None => content.into_owned(),
    };
    Some(Message { finish_reason: reason, ..messages::from_role(role, &content_only(content)) })
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
    fn the_events_of_a_tool_are_its_arguments_and_its_result() {
        let asked = event("gen_ai.tool.message", &[("content", r#"{"city": "Paris"}"#), ("id", "c1")]);
        let told = event("gen_ai.choice", &[("message", r#"[{"text": "18"}]"#), ("id", "c1")]);
        let mut draft = Draft::default();
        draft.llm.operation = Operation::Tool;
        fill_from(&[asked.clone(), told], &mut draft);
        let llm = draft.finish("get_weather");
        assert_eq!((llm.tool_calls.len(), llm.tool_calls[0].id.as_deref()), (1, Some("c1")));
        assert_eq!(llm.tool_calls[0].arguments, serde_json::json!({"city": "Paris"}));
        assert_eq!((llm.output_messages[0].role.as_str(), llm.answer.as_deref()), ("tool", Some("18")));
        // Alone it is a message as on other spans.
        let mut draft = Draft::default();
        draft.llm.operation = Operation::Tool;
        fill_from(&[asked], &mut draft);
        assert_eq!(draft.finish("get_weather").tool_calls[0].arguments, Json::Null);
    }

    #[test]
    fn what_an_agent_says_last_is_its_answer() {
        let run = |names: &[(&str, &str)]| {
            let told = |(name, content): &(&str, &str)| event(name, &[("gen_ai.event.content", *content)]);
            let mut draft = Draft::default();
            draft.llm.operation = Operation::Agent;
            fill_from(&names.iter().map(told).collect::<Vec<_>>(), &mut draft);
            let llm = draft.finish("agent");
            (llm.question, llm.answer, llm.input_messages.len(), llm.output_messages.len())
        };
        let asked = ("gen_ai.user.message", r#"{"role": "user", "content": "Why?"}"#);
        let told = (
            "gen_ai.assistant.message",
            r#"{"role": "assistant", "content": {"text": {"value": "So.", "annotations": []}}}"#,
        );
        assert_eq!(run(&[asked, told]), (Some("Why?".into()), Some("So.".into()), 1, 1));
        assert_eq!(run(&[asked, told, asked]), (Some("Why?".into()), None, 3, 0));
    }

    #[test]
    fn records_that_hold_a_whole_call_are_read() {
        let body = |json: &str| {
            let json: Json = serde_json::from_str(json).expect("it is JSON");
            let mut record = LogRecord {
                time: event("x", &[]).time,
                trace_id: Some(crate::domain::id::TraceId([1; 16])),
                span_id: Some(crate::domain::id::SpanId([1; 8])),
                event_name: "strands.telemetry.tracer".into(),
                severity_number: 9,
                severity_text: String::new(),
                body: value_of(&json),
                attributes: event("x", &[("session.id", "s")]).attributes,
                dropped_attributes_count: 0,
                flags: 0,
                source: Default::default(),
                content: None,
                evaluation: None,
            };
            let with_span = content_of(&record);
            record.span_id = None;
            assert_eq!(content_of(&record), None, "it is about no span");
            with_span
        };
        let got = body(
            r#"{"input": {"messages": [{"role": "system", "content": "Be kind."},
                {"role": "user", "content": {"content": "[{\"text\": \"Why?\"}]"}}]},
                "output": {"messages": [{"role": "assistant",
                "content": {"message": "So.", "finish_reason": "end_turn"}}]}}"#,
        )
        .expect("it holds a call");
        assert_eq!((got.question.as_deref(), got.answer.as_deref()), (Some("Why?"), Some("So.")));
        assert_eq!((got.system_prompt.as_deref(), got.session_id.as_deref()), (Some("Be kind."), Some("s")));
        assert_eq!(got.finish_reasons, ["end_turn"]);
        assert_eq!(body(r#"{"input": "a line", "output": "of a log"}"#), None);
        assert_eq!(
            body(r#"{"input": {"messages": [{"role": "user", "content": "a"}]}, "level": "info"}"#),
            None
        );
    }

    fn value_of(json: &Json) -> Value {
        match json {
            Json::Object(object) => {
                Value::Map(object.iter().map(|(key, json)| (key.clone(), value_of(json))).collect())
            }
            Json::Array(items) => Value::Array(items.iter().map(value_of).collect()),
            other => Value::Str(other.as_str().unwrap_or_default().to_owned()),
        }
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
    fn a_prompt_of_turns_is_parted() {
        let asked = |prompt: &str| {
            let mut draft = Draft::default();
            draft.llm.operation = Operation::Llm;
            fill_from(&[event("gen_ai.content.prompt", &[("gen_ai.prompt", prompt)])], &mut draft);
            let llm = draft.finish("chat");
            (llm.system_prompt, llm.question, llm.input_messages.len())
        };
        let turns = "system: Be kind.\nAnd brief.\nuser: First?\nassistant: One.\nuser: Second?";
        assert_eq!(asked(turns), (Some("Be kind.\nAnd brief.".into()), Some("Second?".into()), 4));
        let plain = "Why?\nuser: no turn";
        assert_eq!(asked(plain), (None, Some(plain.into()), 1));
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
