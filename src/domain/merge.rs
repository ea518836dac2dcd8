//! What log records say of a span, added to what the span says itself.

use super::message::{Message, Part, ToolCall, answer_of, question_of, system_of};
use super::span::{Llm, Operation};

fn fill<T: Clone>(slot: &mut Option<T>, value: &Option<T>) {
    if slot.is_none() {
        slot.clone_from(value);
    }
}

/// Adds the content of one log record to the fields of its span.
///
/// Messages and documents are appended, so each record is to be given once and in the order of its time. A list that
/// the span already has is left out: senders may put the same content on the span and into an event. Scalars are
/// filled only where the span says nothing. Question, system prompt, answer, tool calls and finish reasons follow the
/// messages again.
pub fn merge_content(into: &mut Llm, from: &Llm) {
    merge_contents(into, std::slice::from_ref(from));
}

/// As [`merge_content`] for each of `records` in turn. What follows from the messages grows with them: to derive it anew
/// for every record would cost the square of their number.
pub fn merge_contents(into: &mut Llm, records: &[Llm]) {
    let mut known = Derived::default();
    for (at, from) in records.iter().enumerate() {
        if into.operation == Operation::Other {
            into.operation = from.operation;
        }
        if into.dialect == super::span::Dialect::None {
            into.dialect = from.dialect;
        }
        merge_input(into, from, &mut known);
        merge_output(into, from, &mut known);
        if into.documents != from.documents {
            into.documents.extend(from.documents.iter().cloned());
        }
        let (no_calls, no_reasons) = (into.tool_calls.is_empty(), into.finish_reasons.is_empty());
        merge_scalars(into, from);
        // Once is enough: what is empty after it is not in the messages, and what they gain is added above.
        if at == 0 {
            into.derive_from_messages();
        }
        // What a record says under keys of its own need not follow from the messages.
        known.calls &= no_calls == into.tool_calls.is_empty();
        known.reasons &= no_reasons == into.finish_reasons.is_empty();
    }
}

/// What the records before have shown of the span.
#[derive(Default)]
struct Derived {
    /// Question and system prompt are those of the input messages, where these have some.
    input: bool,
    /// The answer is that of the output messages, where these have one.
    output: bool,
    /// The system prompt is the one of the input messages.
    system: bool,
    /// The tool calls are those of the output messages.
    calls: bool,
    /// The finish reasons are those of the output messages.
    reasons: bool,
}

/// Adds messages and gives the place of the first new one; none if nothing changed. A list that begins as the present
/// one does is the same conversation once more, and the longer of the two is kept: an attribute may be cut where an
/// event is not.
fn append(into: &mut Vec<Message>, from: &[Message]) -> Option<usize> {
    if from.is_empty() || *into == from {
        return None;
    }
    if from.len() > 1 && into.first() == from.first() {
        if from.len() <= into.len() {
            return None;
        }
        into.clear();
    }
    let start = into.len();
    into.extend_from_slice(from);
    Some(start)
}

fn merge_input(into: &mut Llm, from: &Llm, known: &mut Derived) {
    let Some(start) = append(&mut into.input_messages, &from.input_messages) else { return };
    // The first time all messages count, later the new ones alone.
    let start = if std::mem::replace(&mut known.input, true) { start } else { 0 };
    let new = &into.input_messages[start..];
    // Not cleared first: a question from an attribute of its own outlives messages that ask nothing.
    into.question = question_of(new).or(into.question.take());
    match system_of(new) {
        Some(more) => {
            let before = into.system_prompt.take().filter(|_| start > 0 && known.system);
            into.system_prompt = Some(match before {
                Some(before) => before + "\n" + &more,
                None => more,
            });
            known.system = true;
        }
        None => known.system &= start > 0,
    }
}

fn merge_output(into: &mut Llm, from: &Llm, known: &mut Derived) {
    if from.output_messages.is_empty() {
        return;
    }
    known.calls = known.calls || calls_in(&into.output_messages).eq(&into.tool_calls);
    known.reasons = known.reasons || reasons_in(&into.output_messages).eq(&into.finish_reasons);
    let Some(start) = append(&mut into.output_messages, &from.output_messages) else { return };
    let start = if std::mem::replace(&mut known.output, true) { start } else { 0 };
    let new = &into.output_messages[start..];
    into.answer = answer_of(new).or(into.answer.take());
    // What the span said under keys of its own stays as it is.
    if known.calls {
        if start == 0 {
            into.tool_calls.clear();
        }
        into.tool_calls.extend(calls_in(new).cloned());
    }
    if known.reasons {
        if start == 0 {
            into.finish_reasons.clear();
        }
        into.finish_reasons.extend(reasons_in(new).cloned());
    }
}

fn calls_in(messages: &[Message]) -> impl Iterator<Item = &ToolCall> {
    messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    })
}

fn reasons_in(messages: &[Message]) -> impl Iterator<Item = &String> {
    messages.iter().filter_map(|message| message.finish_reason.as_ref())
}

fn merge_scalars(into: &mut Llm, from: &Llm) {
    fill(&mut into.provider, &from.provider);
    fill(&mut into.request_model, &from.request_model);
    fill(&mut into.response_model, &from.response_model);
    fill(&mut into.system_prompt, &from.system_prompt);
    fill(&mut into.question, &from.question);
    fill(&mut into.answer, &from.answer);
    fill(&mut into.temperature, &from.temperature);
    fill(&mut into.max_tokens, &from.max_tokens);
    fill(&mut into.input_tokens, &from.input_tokens);
    fill(&mut into.output_tokens, &from.output_tokens);
    fill(&mut into.cache_read_tokens, &from.cache_read_tokens);
    fill(&mut into.reasoning_tokens, &from.reasoning_tokens);
    fill(&mut into.cost_usd, &from.cost_usd);
    fill(&mut into.session_id, &from.session_id);
    fill(&mut into.user_id, &from.user_id);
    fill(&mut into.prompt_name, &from.prompt_name);
    fill(&mut into.prompt_version, &from.prompt_version);
    fill(&mut into.error_type, &from.error_type);
    if into.finish_reasons.is_empty() {
        into.finish_reasons.clone_from(&from.finish_reasons);
    }
    if into.tool_calls.is_empty() {
        into.tool_calls.clone_from(&from.tool_calls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Llm {
        let mut llm = Llm { input_messages: vec![Message::text("user", text)], ..Llm::default() };
        llm.derive_from_messages();
        llm
    }

    fn output(text: &str, reason: &str) -> Llm {
        let message = Message { finish_reason: Some(reason.into()), ..Message::text("assistant", text) };
        let mut llm = Llm { output_messages: vec![message], ..Llm::default() };
        llm.derive_from_messages();
        llm
    }

    #[test]
    fn records_add_up_to_the_conversation() {
        let mut span = Llm { finish_reasons: vec!["stop".into()], ..Llm::default() };
        for record in [input("first"), input("second"), output("answer", "stop")] {
            merge_content(&mut span, &record);
        }
        assert_eq!(span.question.as_deref(), Some("second"));
        assert_eq!(span.answer.as_deref(), Some("answer"));
        assert_eq!((span.input_messages.len(), span.output_messages.len()), (2, 1));
        assert_eq!(span.finish_reasons, ["stop"]);
    }

    #[test]
    fn content_on_the_span_and_in_an_event_is_kept_once() {
        let mut span = input("only");
        merge_content(&mut span, &input("only"));
        assert_eq!(span.input_messages.len(), 1);
    }

    #[test]
    fn a_cut_list_on_the_span_gives_way_to_the_whole_one() {
        let list = |texts: &[&str]| {
            let messages = texts.iter().map(|text| Message::text("user", *text)).collect();
            Llm { input_messages: messages, ..Llm::default() }
        };
        let mut span = list(&["a", "b"]);
        merge_content(&mut span, &list(&["a", "b", "c"]));
        assert_eq!(span.input_messages.len(), 3);
        merge_content(&mut span, &list(&["a", "b"]));
        assert_eq!((span.input_messages.len(), span.question.as_deref()), (3, Some("c")));
    }

    #[test]
    fn two_choices_give_two_reasons() {
        let mut span = Llm::default();
        merge_content(&mut span, &output("a", "stop"));
        merge_content(&mut span, &output("b", "length"));
        assert_eq!(span.finish_reasons, ["stop", "length"]);
    }

    /// Spans and records that differ in where they say what.
    fn samples() -> Vec<Llm> {
        let call = |name: &str| ToolCall { id: None, name: name.into(), arguments: serde_json::Value::Null };
        let calling = |name: &str| Message {
            role: "assistant".into(),
            parts: vec![Part::ToolCall(call(name))],
            finish_reason: Some("tool".into()),
        };
        let says = |input: Vec<Message>, output: Vec<Message>| Llm {
            input_messages: input,
            output_messages: output,
            ..Llm::default()
        };
        let mut all = vec![
            Llm::default(),
            Llm { question: Some("own".into()), system_prompt: Some("own".into()), ..Llm::default() },
            Llm { tool_calls: vec![call("a")], answer: Some("own".into()), ..Llm::default() },
            Llm { finish_reasons: vec!["tool".into()], ..Llm::default() },
            says(vec![Message::text("system", "s"), Message::text("user", "u")], vec![]),
            says(
                vec![Message::text("system", "s"), Message::text("user", "v"), Message::text("tool", "t")],
                vec![],
            ),
            says(vec![Message::text("developer", "d")], vec![]),
            says(vec![Message::text("tool", "t")], vec![Message::text("assistant", "answer")]),
            says(vec![], vec![calling("a")]),
            says(vec![], vec![calling("a"), calling("b"), Message::text("assistant", "other")]),
        ];
        all.iter_mut().skip(4).for_each(Llm::derive_from_messages);
        all
    }

    #[test]
    fn records_at_once_are_the_records_one_by_one() {
        let samples = samples();
        for span in &samples {
            for first in &samples {
                for second in &samples {
                    for third in &samples {
                        let records = [first.clone(), second.clone(), third.clone()];
                        let (mut one_by_one, mut at_once) = (span.clone(), span.clone());
                        records.iter().for_each(|record| merge_content(&mut one_by_one, record));
                        merge_contents(&mut at_once, &records);
                        assert_eq!(at_once, one_by_one, "{span:?} {records:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_span_wins_over_the_record() {
        let mut span = Llm { request_model: Some("span".into()), ..Llm::default() };
        let record = Llm { request_model: Some("record".into()), input_tokens: Some(3), ..Llm::default() };
        merge_content(&mut span, &record);
        assert_eq!(span.request_model.as_deref(), Some("span"));
        assert_eq!(span.input_tokens, Some(3));
    }
}
