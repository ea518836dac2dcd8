//! What a reviewer is shown of an item: question, answer and documents, and nothing that an evaluator or another person said.

use super::ask::{rows, text};
use crate::domain::id::{SpanId, TraceId};
use crate::sql::{Sql, SqlError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longest text that is shown, bytes.
const MAX_TEXT: usize = 200_000;
/// Most spans of a trace that are looked at.
const MAX_SPANS: usize = 200;
/// Most documents that are shown.
const MAX_DOCUMENTS: usize = 50;

/// What is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Content {
    /// Whether the trace is still there.
    pub is_there: bool,
    /// System instructions.
    pub system_prompt: Option<String>,
    /// What was asked.
    pub question: Option<String>,
    /// What was answered.
    pub answer: Option<String>,
    /// What was retrieved: objects with `content`, and `id`, `uri`, `score`, `rank` where they are known.
    pub documents: Vec<Value>,
    /// Whether a text was too long to be shown whole.
    pub is_cut: bool,
}

#[derive(Debug, Default, Clone, Deserialize)]
struct Seen {
    span_id: String,
    #[serde(default)]
    parent_span_id: Option<String>,
    operation: String,
    #[serde(default)]
    question: Option<String>,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    system_prompt: Option<String>,
    #[serde(default)]
    documents: Option<Vec<Value>>,
}

/// What there is to show of a trace, or of one of its spans.
///
/// # Errors
/// Those of the query.
pub async fn content(
    sql: &Sql,
    tenant: &str,
    trace_id: TraceId,
    span_id: Option<SpanId>,
) -> Result<Content, SqlError> {
    let query = format!(
        "SELECT span_id, parent_span_id, operation, question, answer, system_prompt, documents FROM spans \
         WHERE trace_id = $1 ORDER BY start_time, span_id LIMIT {MAX_SPANS}"
    );
    let spans: Vec<Seen> = rows(sql, tenant, &query, vec![text(&trace_id.to_string())]).await?;
    Ok(shown(&spans, span_id.map(|id| id.to_string()).as_deref()))
}

/// The judged span's own texts first, then those of the root and of the last model call, as the view `traces` has them.
fn shown(spans: &[Seen], judged: Option<&str>) -> Content {
    let own = spans.iter().find(|span| Some(span.span_id.as_str()) == judged);
    let root = spans.iter().find(|span| span.parent_span_id.is_none());
    let calls = spans.iter().rev().filter(|span| span.operation == "llm");
    let by_trust: Vec<&Seen> = own.into_iter().chain(root).chain(calls).collect();
    let first = |of: fn(&Seen) -> Option<&String>| by_trust.iter().find_map(|span| of(span)).cloned();
    let of = |span: &Seen| span.documents.clone().unwrap_or_default();
    let mut documents = own.map(of).unwrap_or_default();
    if documents.is_empty() {
        documents = spans.iter().flat_map(of).collect();
    }
    let mut content = Content {
        is_there: !spans.is_empty(),
        system_prompt: first(|span| span.system_prompt.as_ref()),
        question: first(|span| span.question.as_ref()),
        answer: first(|span| span.answer.as_ref()),
        is_cut: documents.len() > MAX_DOCUMENTS,
        documents,
    };
    content.documents.truncate(MAX_DOCUMENTS);
    content.shorten();
    content
}

impl Content {
    /// Cuts texts that are too long to be shown whole.
    pub fn shorten(&mut self) {
        let mut is_cut = self.is_cut;
        let mut cut = |text: &mut String| {
            if text.len() > MAX_TEXT {
                text.truncate(text.floor_char_boundary(MAX_TEXT));
                is_cut = true;
            }
        };
        [&mut self.system_prompt, &mut self.question, &mut self.answer]
            .into_iter()
            .flatten()
            .for_each(&mut cut);
        for document in &mut self.documents {
            if let Some(Value::String(text)) = document.get_mut("content") {
                cut(text);
            }
        }
        self.is_cut = is_cut;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn span(id: &str, parent: Option<&str>, rest: Value) -> Seen {
        let mut span = json!({"span_id": id, "parent_span_id": parent, "operation": "chain"});
        let (Value::Object(span), Value::Object(rest)) = (&mut span, rest) else { panic!("objects") };
        span.extend(rest);
        serde_json::from_value(Value::Object(span.clone())).unwrap()
    }

    #[test]
    fn the_judged_span_comes_first_and_the_trace_fills_what_it_lacks() {
        let spans = [
            span("a", None, json!({"question": "root?"})),
            span("b", Some("a"), json!({"operation": "retrieval", "documents": [{"content": "doc"}]})),
            span(
                "c",
                Some("a"),
                json!({"operation": "llm", "question": "call?", "answer": "yes", "system_prompt": "be"}),
            ),
        ];
        let of_trace = shown(&spans, Some("a"));
        assert_eq!(of_trace.question.as_deref(), Some("root?"));
        assert_eq!(of_trace.answer.as_deref(), Some("yes"));
        assert_eq!(of_trace.documents, [json!({"content": "doc"})]);
        assert_eq!(shown(&spans, Some("c")).question.as_deref(), Some("call?"));
        assert!(!shown(&[], Some("a")).is_there);
        let long = [span("a", None, json!({"answer": "ü".repeat(MAX_TEXT)}))];
        let cut = shown(&long, None);
        assert!(cut.is_cut && cut.answer.unwrap().len() <= MAX_TEXT);
    }
}
