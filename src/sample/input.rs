//! What an evaluator is given, from the spans of a trace.
//!
//! The same text stands on many spans of a trace, so the choice is made once: the answer of the root if it has one,
//! else that of the last model call; the shortest question that belongs to it, because prompts repeat the question
//! inside pages of context; documents of retrieval, else results of tools, else context that the prompt itself names.

use super::assemble::OpenTrace;
use crate::domain::document::Document;
use crate::domain::id::SpanId;
use crate::domain::message::{Message, Part, ToolCall};
use crate::domain::prompt::Prompt;
use crate::domain::span::{Operation, StatusCode};
use crate::domain::trace::{EvalInput, Session, Step};
use crate::schema::batch::SpanRow;
use regex::Regex;
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Most documents that are judged.
const MAX_DOCUMENTS: usize = 64;
/// Most earlier turns that are kept.
const MAX_HISTORY: usize = 40;
/// Most calls of tools that are judged; of more, the last.
const MAX_STEPS: usize = 64;
/// Longest arguments or result of one call, characters.
const MAX_STEP: usize = 8_000;

/// The spans of a trace in the order of their start. What is judged is made of it item by item, because each item has
/// texts of its own.
pub struct View<'a> {
    rows: Vec<&'a SpanRow>,
    /// Those that can have the context of an answer.
    sources: Vec<&'a SpanRow>,
}

impl<'a> View<'a> {
    /// Of `trace`, which is closed.
    pub fn new(trace: &'a OpenTrace) -> Self {
        let mut rows: Vec<&SpanRow> = trace.spans.values().map(|s| &s.row).collect();
        rows.sort_by_key(|r| (r.head.start, r.head.end, r.head.span_id));
        let sources = rows.iter().copied().filter(|r| is_source(r)).collect();
        Self { rows, sources }
    }

    /// The span that stands for the trace: the one without a parent, else one whose parent was not seen, else the first.
    pub fn root(&self) -> Option<&'a SpanRow> {
        let ids: HashSet<SpanId> = self.rows.iter().map(|r| r.head.span_id).collect();
        let orphan = |r: &&&SpanRow| r.head.parent_span_id.is_some_and(|p| !ids.contains(&p));
        let root = self.rows.iter().find(|r| r.head.parent_span_id.is_none());
        root.or_else(|| self.rows.iter().find(orphan)).or_else(|| self.rows.first()).copied()
    }

    /// The model of the last model call that names one.
    pub fn model(&self) -> Option<String> {
        let named = self.rows.iter().filter(|r| r.llm.request_model.is_some());
        named.max_by_key(|r| (r.head.end, r.head.span_id)).and_then(|r| r.llm.request_model.clone())
    }

    /// The prompt template of the span whose answer is that of the trace, for which `root` stands. A root that repeats the
    /// answer of a model call often names no template; then it is that of the call.
    pub fn prompt(&self, root: &'a SpanRow) -> Prompt {
        let said = [self.speaker(root), self.last_model_call(), Some(root)].into_iter().flatten();
        said.map(|r| Prompt::of(&r.llm)).find(|prompt| !prompt.is_unknown()).unwrap_or_default()
    }

    /// The span whose answer is that of the trace.
    fn speaker(&self, root: &'a SpanRow) -> Option<&'a SpanRow> {
        if root.llm.answer.is_some() && root.llm.operation != Operation::Other {
            return Some(root);
        }
        let last = || self.rows.iter().rev().copied().find(|r| r.llm.answer.is_some());
        self.last_model_call().or_else(last)
    }

    /// The input for the whole trace, for which `root` stands.
    pub fn of_trace(&self, root: &'a SpanRow) -> EvalInput {
        let model = self.last_model_call();
        let speaker = self.speaker(root);
        let questions = [Some(root), speaker, model].into_iter().flatten();
        let question = questions.filter_map(|r| r.llm.question.as_deref()).min_by_key(|q| q.len()).map(asked);
        EvalInput {
            question,
            answer: speaker.and_then(|r| r.llm.answer.clone()),
            contexts: contexts(&self.sources, model.or(speaker)),
            system_prompt: model.or(speaker).and_then(|r| r.llm.system_prompt.clone()),
            history: model.or(speaker).map(history).unwrap_or_default(),
            steps: steps(&self.rows),
            session: self.session(root),
            tenant: Some(root.head.tenant.to_string()),
            ..EvalInput::default()
        }
    }

    /// The input for one span of the trace: its own texts, and what was retrieved before it ended.
    pub fn of_span(&self, span: &SpanRow) -> EvalInput {
        let is_before = |r: &&SpanRow| r.head.span_id == span.head.span_id || r.head.end <= span.head.end;
        let before: Vec<&SpanRow> = self.sources.iter().copied().filter(is_before).collect();
        EvalInput {
            question: span.llm.question.as_deref().map(asked),
            answer: span.llm.answer.clone(),
            contexts: contexts(&before, Some(span)),
            system_prompt: span.llm.system_prompt.clone(),
            history: history(span),
            steps: steps(&self.rows.iter().copied().filter(is_before).collect::<Vec<_>>()),
            session: self.session(span),
            tenant: Some(span.head.tenant.to_string()),
            ..EvalInput::default()
        }
    }

    /// The session of the trace, as `span` has it or else another one.
    fn session(&self, span: &SpanRow) -> Option<Session> {
        let said = std::iter::once(span).chain(self.rows.iter().copied());
        let id = said.filter_map(|r| r.llm.session_id.as_deref()).find(|id| !id.trim().is_empty())?;
        let start = self.rows.first().map_or(span.head.start, |r| r.head.start);
        Some(Session { id: id.to_owned(), trace_id: span.head.trace_id.to_string(), start: start.0 })
    }

    fn last_model_call(&self) -> Option<&'a SpanRow> {
        let calls = self
            .rows
            .iter()
            .filter(|r| r.llm.operation == Operation::Llm && r.head.status != StatusCode::Error);
        calls.filter(|r| r.llm.answer.is_some()).max_by_key(|r| (r.head.end, r.head.start)).copied()
    }
}

fn is_source(row: &SpanRow) -> bool {
    match row.llm.operation {
        Operation::Reranker | Operation::Retrieval => !row.llm.documents.is_empty(),
        Operation::Tool => {
            let tells = row.llm.answer.is_some() || !row.llm.documents.is_empty();
            tells && row.head.status != StatusCode::Error
        }
        _ => false,
    }
}

fn contexts(sources: &[&SpanRow], model: Option<&SpanRow>) -> Vec<Document> {
    for operation in [Operation::Reranker, Operation::Retrieval] {
        let spans = sources.iter().filter(|r| r.llm.operation == operation);
        let documents =
            unique(spans.flat_map(|r| &r.llm.documents), |d| d.content.as_ref().or(d.id.as_ref()));
        if documents.iter().any(|d| d.content.is_some()) {
            return documents.into_iter().map(judged).collect();
        }
    }
    let tools = sources.iter().copied().filter(|r| r.llm.operation == Operation::Tool);
    let results = results(tools);
    if !results.is_empty() {
        return results;
    }
    model.map(named_in_prompt).unwrap_or_default()
}

/// What tools gave, each text once: the documents that one found, else its answer.
fn results<'a>(tools: impl Iterator<Item = &'a SpanRow>) -> Vec<Document> {
    let (mut seen, mut all) = (HashSet::new(), Vec::new());
    for tool in tools {
        let left = MAX_DOCUMENTS.saturating_sub(all.len());
        let documents = &tool.llm.documents;
        if documents.iter().any(|document| document.content.is_some()) {
            let new = documents.iter().filter(|&one| seen.insert(one.content.as_ref().or(one.id.as_ref())));
            all.extend(new.take(left).map(judged));
        } else if left > 0 && tool.llm.answer.is_some() && seen.insert(tool.llm.answer.as_ref()) {
            all.push(result(tool));
        }
    }
    all
}

/// The first of `all` that differ in their text. Only these are copied.
fn unique<'a, T: 'a>(
    all: impl Iterator<Item = &'a T>,
    text: impl Fn(&'a T) -> Option<&'a String>,
) -> Vec<&'a T> {
    let mut seen = HashSet::new();
    all.filter(|&one| seen.insert(text(one))).take(MAX_DOCUMENTS).collect()
}

/// Metadata are not judged, and whatever nests in them must not break an item.
fn judged(document: &Document) -> Document {
    Document {
        id: document.id.clone(),
        uri: document.uri.clone(),
        content: document.content.clone(),
        score: document.score,
        rank: document.rank,
        metadata: None,
        tenant: document.tenant.clone(),
    }
}

/// What a tool answered, as a document.
fn result(tool: &SpanRow) -> Document {
    Document {
        id: Some(tool.head.span_id.to_string()),
        content: tool.llm.answer.clone(),
        ..Document::default()
    }
}

/// The calls of tools, in their order: the spans of tools, or without any what models asked for and were told.
fn steps(rows: &[&SpanRow]) -> Vec<Step> {
    let tools = rows.iter().filter(|r| r.llm.operation == Operation::Tool);
    let mut steps: Vec<Step> = tools.filter_map(|r| step(r)).collect();
    if steps.is_empty() {
        let models = rows.iter().filter(|r| r.llm.operation == Operation::Llm);
        let results: HashMap<&str, &Json> = rows
            .iter()
            .flat_map(|r| &r.llm.input_messages)
            .flat_map(|m| &m.parts)
            .filter_map(response)
            .collect();
        let called = models.flat_map(|r| &r.llm.tool_calls);
        steps = called
            .map(|call| {
                let result = call.id.as_deref().and_then(|id| results.get(id));
                Step { result: result.and_then(|json| text_of(json)), ..asked_for(call) }
            })
            .collect();
    }
    let skip = steps.len().saturating_sub(MAX_STEPS);
    steps.split_off(skip)
}

/// The call that the span of a tool is.
fn step(tool: &SpanRow) -> Option<Step> {
    let call = tool.llm.tool_calls.first()?;
    let parts = tool.llm.output_messages.iter().flat_map(|message| &message.parts);
    let told = parts.filter_map(response).next().and_then(|(_, json)| text_of(json));
    let result = told.or_else(|| tool.llm.answer.as_deref().map(shortened));
    Some(Step { result, failed: tool.head.status == StatusCode::Error, ..asked_for(call) })
}

fn asked_for(call: &ToolCall) -> Step {
    Step { tool: call.name.clone(), arguments: text_of(&call.arguments), ..Step::default() }
}

/// The answer of a tool in a message, with the id of its call.
fn response(part: &Part) -> Option<(&str, &Json)> {
    match part {
        Part::ToolResponse { id, response } => Some((id.as_deref().unwrap_or_default(), response)),
        _ => None,
    }
}

fn text_of(json: &Json) -> Option<String> {
    match json {
        Json::Null => None,
        Json::String(text) => Some(shortened(text)),
        other => Some(shortened(&other.to_string())),
    }
}

/// The text, or its beginning with what is left out.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_STEP) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}\n[… {} characters left out …]", &text[..at], text[at..].chars().count()),
    }
}

/// The question alone, where a prompt holds context and then a question under its own heading.
fn asked(question: &str) -> String {
    let (Some(heading), Some(marker)) = (HEADING.as_ref(), QUESTION.as_ref()) else {
        return question.to_owned();
    };
    match marker.find_iter(question).last() {
        Some(found) if heading.is_match(question) => {
            let alone = question[found.end()..].trim();
            if alone.is_empty() { question.to_owned() } else { alone.to_owned() }
        }
        _ => question.to_owned(),
    }
}

static HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = "context|documents?|sources?|passages?|references?|knowledge";
    Regex::new(&format!(r"(?is)(?:^|\n)[^\n]{{0,60}}\b(?:{names})\b[^\n]{{0,60}}:\s*\n?(.*)$")).ok()
});

static QUESTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\n\s*(?:user )?(?:question|query)\s*:").ok());

/// Context that the prompt itself names: the text after a heading such as `Context:`, up to the question.
fn named_in_prompt(model: &SpanRow) -> Vec<Document> {
    let (Some(heading), Some(end)) = (HEADING.as_ref(), QUESTION.as_ref()) else { return Vec::new() };
    let texts = model.llm.input_messages.iter().rev().filter_map(Message::joined_text);
    for text in texts {
        let Some(found) = heading.captures(&text).and_then(|c| c.get(1)) else { continue };
        let body = found.as_str();
        let body = end.find(body).map_or(body, |q| &body[..q.start()]).trim();
        if body.len() >= 40 {
            let document = Document {
                id: Some("prompt".to_owned()),
                content: Some(body.to_owned()),
                rank: Some(0),
                ..Document::default()
            };
            return vec![document];
        }
    }
    Vec::new()
}

/// Earlier turns of the conversation, without the system prompt and the last question.
fn history(model: &SpanRow) -> Vec<String> {
    let messages = &model.llm.input_messages;
    let last = messages.iter().rposition(|m| m.role == "user").unwrap_or(messages.len());
    let turns = messages.iter().take(last).filter(|m| m.role == "user" || m.role == "assistant");
    let texts: Vec<String> =
        turns.filter_map(|m| Some(format!("{}: {}", m.role, m.joined_text()?))).collect();
    let skip = texts.len().saturating_sub(MAX_HISTORY);
    texts.into_iter().skip(skip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stuffed_prompt_gives_its_question() {
        let prompt =
            "Context:\n[1] Items may be returned within 30 days.\n\nQuestion: How long may I return it?";
        assert_eq!(asked(prompt), "How long may I return it?");
        for plain in ["How long may I return it?", "Is this\nQuestion: serious?", "Context:\nonly that"] {
            assert_eq!(asked(plain), plain);
        }
    }
}
