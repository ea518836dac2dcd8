//! The fields while they are being filled. Whoever comes first wins; later conventions fill what is open.

use super::content;
use super::documents;
use super::fill::fill;
use super::json::{decode_noting_cut, decode_or_text, open};
use super::messages::{self, Side};
use super::parts;
use super::usage;
use crate::domain::message::{Message, Part, ToolCall};
use crate::domain::span::{Llm, Operation};
use serde_json::Value as Json;

/// A tool run as far as it is known.
#[derive(Default)]
pub(super) struct ToolRun {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Json>,
    pub(super) result: Option<Json>,
}

/// A span's meaning, half filled.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) llm: Llm,
    pub(super) tool: ToolRun,
    /// The input was cut off by a length limit, so its last messages are missing.
    pub(super) input_is_cut: bool,
}

impl Draft {
    /// Sets the messages of one side unless it has some. Input messages in which nobody asks (a convention may send
    /// the system prompt alone) give way to messages in which a user does.
    pub(super) fn messages(&mut self, side: Side, messages: Vec<Message>) {
        let says = |m: &Message| !m.parts.is_empty() || m.finish_reason.is_some();
        let messages: Vec<Message> = messages.into_iter().filter(says).collect();
        let slot = match side {
            Side::Input => &mut self.llm.input_messages,
            Side::Output => &mut self.llm.output_messages,
        };
        if slot.is_empty() || side == Side::Input && !has_user(slot) && has_user(&messages) {
            *slot = messages;
        }
    }

    /// Takes an input of unknown shape: a request, messages, arguments, or text.
    pub(super) fn input(&mut self, raw: &str) {
        match self.llm.operation {
            Operation::Tool => {
                fill(&mut self.tool.arguments, Some(content::arguments(decode_or_text(raw))));
                return;
            }
            // Large inputs are common: nothing is parsed that has been said.
            _ if has_user(&self.llm.input_messages) && self.llm.request_model.is_some() => return,
            _ => {}
        }
        let (json, is_cut) = decode_noting_cut(raw).unwrap_or_else(|| (Json::String(raw.to_owned()), false));
        if matches!(self.llm.operation, Operation::Llm | Operation::Embedding) {
            usage::request(&json, &mut self.llm);
        }
        if has_user(&self.llm.input_messages) {
            return;
        }
        let is_search = matches!(self.llm.operation, Operation::Retrieval | Operation::Reranker);
        let is_talk = !is_search && self.llm.operation != Operation::Embedding;
        let found = if is_talk { messages::input(&json) } else { Vec::new() };
        if !found.is_empty() {
            self.input_is_cut |= is_cut;
            self.messages(Side::Input, found);
        } else if let Some(question) = content::question(&json).or_else(|| unnamed_query(&json, is_search)) {
            if self.llm.operation == Operation::Llm {
                self.messages(Side::Input, vec![Message::text("user", question.as_str())]);
            }
            fill(&mut self.llm.question, Some(question));
        }
    }

    /// Takes an output of unknown shape: a response, messages, documents, a tool's result, or text.
    pub(super) fn output(&mut self, raw: &str) {
        let json = decode_or_text(raw);
        match self.llm.operation {
            Operation::Tool => fill(&mut self.tool.result, Some(json)),
            Operation::Retrieval | Operation::Reranker => {
                if self.llm.documents.is_empty() {
                    self.llm.documents = documents::of_retrieval(&json);
                }
            }
            // Vectors are nothing to read.
            Operation::Embedding => usage::response(&json, &mut self.llm),
            Operation::Llm => {
                usage::response(&json, &mut self.llm);
                self.answer(&json);
            }
            _ => self.answer(&json),
        }
    }

    fn answer(&mut self, json: &Json) {
        if !self.llm.output_messages.is_empty() {
            return;
        }
        let found = messages::output(json);
        if !found.is_empty() {
            self.messages(Side::Output, found);
        } else if (messages::has_history(json) || messages::input(json).is_empty())
            && let Some(answer) = content::answer(json)
        {
            if self.llm.operation == Operation::Llm {
                self.messages(Side::Output, vec![Message::text("assistant", answer.as_str())]);
            }
            fill(&mut self.llm.answer, Some(answer));
        }
    }

    /// Derives what follows from the messages and the tool run, and gives the fields.
    pub(super) fn finish(mut self, span_name: &str) -> Llm {
        if self.llm.operation == Operation::Tool {
            self.finish_tool(span_name);
        }
        let instructions = self.llm.system_prompt.take();
        let own_question = self.llm.question.is_some();
        let own_reasons = !self.llm.finish_reasons.is_empty();
        self.llm.derive_from_messages();
        self.llm.system_prompt = both(instructions, self.llm.system_prompt.take());
        let asks_last = self.llm.input_messages.last().is_some_and(|message| message.role == "user");
        if self.input_is_cut && !own_question && !asks_last {
            // The question came after the cut. An earlier one is not the one that was answered.
            self.llm.question = None;
        }
        if self.llm.operation == Operation::Embedding {
            self.llm.input_messages.clear();
        }
        if self.llm.operation != Operation::Llm && !own_reasons {
            // A whole run stops once; its inner calls have spans of their own.
            let kept = self.llm.finish_reasons.len().saturating_sub(1);
            self.llm.finish_reasons.drain(..kept);
        }
        let no_text = |text: &String| text.trim().is_empty();
        self.llm.question = self.llm.question.filter(|text| !no_text(text));
        self.llm.answer = self.llm.answer.filter(|text| !no_text(text));
        self.llm
    }

    fn finish_tool(&mut self, span_name: &str) {
        let mut tool = std::mem::take(&mut self.tool);
        let (result, id) = tool.result.map(result_of_tool).unwrap_or_default();
        let result = Some(result).filter(|result| !result.is_null());
        fill(&mut tool.id, id);
        if let (Some(result), true) = (&result, self.llm.documents.is_empty()) {
            self.llm.documents = documents::of_anything(result);
        }
        if let Some(result) = result {
            if let Json::String(text) = &result {
                fill(&mut self.llm.answer, content::readable(text).map(str::to_owned));
            }
            let part = Part::ToolResponse { id: tool.id.clone(), response: result };
            self.llm.output_messages = vec![messages::of_parts("tool", vec![part])];
        }
        // A tool span may repeat its call as messages; the call is kept once.
        self.llm.input_messages.retain(|message| message.role == "user");
        let name = tool.name.unwrap_or_else(|| span_name.to_owned());
        let arguments = tool.arguments.unwrap_or(Json::Null);
        self.llm.tool_calls = vec![ToolCall { id: tool.id, name, arguments }];
    }
}

fn has_user(messages: &[Message]) -> bool {
    messages.iter().any(|message| message.role == "user")
}

/// A search may name its query anything; a single text is it.
fn unnamed_query(json: &Json, is_search: bool) -> Option<String> {
    let object = json.as_object().filter(|_| is_search)?;
    let mut texts = object.values().filter_map(|value| content::readable(value.as_str()?));
    match (texts.next(), texts.next()) {
        (Some(only), None) => Some(only.to_owned()),
        _ => None,
    }
}

/// Instructions of their own and system messages may come together; both bind the model.
fn both(instructions: Option<String>, messages: Option<String>) -> Option<String> {
    match (instructions, messages) {
        (Some(a), Some(b)) if !a.contains(&b) => Some(format!("{a}\n{b}")),
        (a, b) => a.or(b),
    }
}

/// The result without the message or the object that a framework made of it, and the call's id if the message has it.
fn result_of_tool(json: Json) -> (Json, Option<String>) {
    let pieces = messages::output(&json).into_iter().flat_map(|message| message.parts);
    let mut responses = pieces.filter_map(|part| match part {
        Part::ToolResponse { id, response } => Some((response, id)),
        _ => None,
    });
    let (from_message, id) = responses.next().unzip();
    let result = from_message
        .or_else(|| json.get("raw_output").cloned())
        .or_else(|| json.get("output").filter(|_| json.as_object().is_some_and(|o| o.len() == 1)).cloned())
        .unwrap_or(json);
    (open(&parts::plain_result(&result)).into_owned(), id.flatten())
}
