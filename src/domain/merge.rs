//! What log records say of a span, added to what the span says itself.

use super::message::{Message, question_of, system_of, tool_calls_of};
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
    if into.operation == Operation::Other {
        into.operation = from.operation;
    }
    if into.dialect == super::span::Dialect::None {
        into.dialect = from.dialect;
    }
    merge_input(into, from);
    merge_output(into, from);
    if into.documents != from.documents {
        into.documents.extend(from.documents.iter().cloned());
    }
    merge_scalars(into, from);
    into.derive_from_messages();
}

/// Adds messages and says whether anything changed. A list that begins as the present one does is the same
/// conversation once more, and the longer of the two is kept: an attribute may be cut where an event is not.
fn append(into: &mut Vec<Message>, from: &[Message]) -> bool {
    if from.is_empty() || *into == from {
        return false;
    }
    if from.len() > 1 && into.first() == from.first() {
        if from.len() <= into.len() {
            return false;
        }
        into.clear();
    }
    into.extend_from_slice(from);
    true
}

fn merge_input(into: &mut Llm, from: &Llm) {
    if !append(&mut into.input_messages, &from.input_messages) {
        return;
    }
    // Not cleared first: a question from an attribute of its own outlives messages that ask nothing.
    into.question = question_of(&into.input_messages).or(into.question.take());
    into.system_prompt = system_of(&into.input_messages).or(into.system_prompt.take());
}

fn merge_output(into: &mut Llm, from: &Llm) {
    let derived = tool_calls_of(&into.output_messages) == into.tool_calls;
    let reasons = |llm: &Llm| -> Vec<String> {
        llm.output_messages.iter().filter_map(|message| message.finish_reason.clone()).collect()
    };
    let reasons_derived = reasons(into) == into.finish_reasons;
    if !append(&mut into.output_messages, &from.output_messages) {
        return;
    }
    into.answer = super::message::answer_of(&into.output_messages).or(into.answer.take());
    // What the span said under keys of its own stays as it is.
    if derived {
        into.tool_calls = tool_calls_of(&into.output_messages);
    }
    if reasons_derived {
        into.finish_reasons = reasons(into);
    }
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

    #[test]
    fn the_span_wins_over_the_record() {
        let mut span = Llm { request_model: Some("span".into()), ..Llm::default() };
        let record = Llm { request_model: Some("record".into()), input_tokens: Some(3), ..Llm::default() };
        merge_content(&mut span, &record);
        assert_eq!(span.request_model.as_deref(), Some("span"));
        assert_eq!(span.input_tokens, Some(3));
    }
}
