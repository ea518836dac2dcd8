//! Items, and what happens to them, as bytes.

use super::lane::Lane;
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::prompt::Prompt;
use crate::domain::trace::{Constraint, EvalInput, Step};
use crate::domain::weight;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The version of the events that are written. Version 1 was the JSON alone.
const VERSION: u8 = 2;

/// One evaluation that is owed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Item {
    /// Identity: the same trace or span, rule and lane give the same.
    pub id: String,
    /// The trace.
    pub trace_id: TraceId,
    /// The span that was drawn, or the one that stands for the trace.
    pub span_id: SpanId,
    /// The rule that selected it.
    pub rule: String,
    /// The rule's version.
    pub rule_version: String,
    /// With which probability it was selected.
    pub inclusion_probability: f64,
    /// The stratum that it was drawn from.
    pub stratum: Option<String>,
    /// Why it was selected.
    pub reason: String,
    /// Evaluators by id; `*` for all. Those of the item's lane are meant.
    pub evaluators: Vec<String>,
    /// When the span began, nanoseconds since 1970.
    pub span_time: i64,
    /// When it ended, nanoseconds since 1970; 0 in what earlier releases wrote.
    #[serde(default)]
    pub span_end: i64,
    /// When it was put in the queue, nanoseconds since 1970.
    pub queued_at: i64,
    /// `service.name` of the span.
    pub service_name: String,
    /// The model that was asked for.
    pub request_model: Option<String>,
    /// The prompt template of the span that gave the answer.
    #[serde(default, skip_serializing_if = "Prompt::is_unknown")]
    pub prompt: Prompt,
    /// The tenant.
    pub tenant: TenantId,
    /// Where it waits.
    #[serde(default)]
    pub lane: Lane,
    /// Which evaluation of it this is, from 1; one more each time that it is put back.
    #[serde(default = "first")]
    pub score_version: i32,
    /// The frame of the journal up to which the spans of the trace are in it; 0 in what earlier releases wrote.
    #[serde(default)]
    pub until: u64,
    /// Whether it is evaluated again because spans came late.
    #[serde(default)]
    pub is_again: bool,
    /// What is evaluated.
    pub input: EvalInput,
}

fn first() -> i32 {
    1
}

/// How an item ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its scores are in the same frame.
    Scored,
    /// Every attempt failed, or the evaluators took too long together.
    Failed,
    /// It waited too long.
    Expired,
}

/// An item with all that is known of it: how the queue's own log keeps what is still needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Kept {
    /// The item.
    pub item: Item,
    /// Attempts that have failed.
    pub failed: u32,
    /// When the next attempt may begin, nanoseconds since 1970.
    pub not_before: i64,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// How it ended, if it has.
    pub ended: Option<Outcome>,
}

/// What happens to an item. Events name the evaluation that they are about, so that one which is read late, or twice,
/// changes nothing that came after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueEvent {
    /// An item waits.
    Queued(Box<Item>),
    /// An attempt failed; the next one may begin at `not_before` (nanoseconds since 1970).
    Retry {
        /// The item.
        id: String,
        /// How many attempts there were.
        attempt: u32,
        /// Nanoseconds since 1970.
        not_before: i64,
        /// Why the attempt failed.
        error: String,
        /// Which evaluation of the item this was, from 1.
        #[serde(default = "first")]
        score_version: i32,
    },
    /// The item is finished.
    Done {
        /// The item.
        id: String,
        /// How it ended.
        outcome: Outcome,
        /// Why it was not scored.
        #[serde(default)]
        error: Option<String>,
        /// Which evaluation of the item this was, from 1.
        #[serde(default = "first")]
        score_version: i32,
    },
    /// An item that failed or expired waits again, since `queued_at`, for evaluation number `score_version`.
    PutBack {
        /// The item.
        id: String,
        /// Nanoseconds since 1970.
        queued_at: i64,
        /// Which evaluation of the item is next.
        score_version: i32,
    },
    /// An item that failed or expired is forgotten.
    Dropped {
        /// The item.
        id: String,
    },
    /// What the queue's log knew of an item when it was compacted.
    Kept(Box<Kept>),
}

/// Why bytes are not queue events.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// A newer release wrote them.
    #[error("queue events have version {0}, this release reads up to {VERSION}: use a newer release")]
    Version(u8),
    /// They are damaged, or could not be written.
    #[error("queue events: {0}")]
    Json(#[from] serde_json::Error),
}

impl QueueEvent {
    /// Events as the bytes of a frame's part: a version, and JSON.
    pub fn encode(events: &[QueueEvent]) -> Result<Bytes, QueueError> {
        let mut bytes = vec![VERSION];
        serde_json::to_writer(&mut bytes, events)?;
        Ok(Bytes::from(bytes))
    }

    /// The item that it is about.
    pub fn id(&self) -> &str {
        match self {
            QueueEvent::Queued(item) => &item.id,
            QueueEvent::Kept(kept) => &kept.item.id,
            QueueEvent::Retry { id, .. }
            | QueueEvent::Done { id, .. }
            | QueueEvent::PutBack { id, .. }
            | QueueEvent::Dropped { id } => id,
        }
    }

    /// Whether it says everything of its item, so that what was said of it before is not needed any more.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, QueueEvent::Queued(_) | QueueEvent::Kept(_))
    }

    /// Reads what [`QueueEvent::encode`] of this or an earlier release wrote.
    pub fn decode(bytes: &[u8]) -> Result<Vec<QueueEvent>, QueueError> {
        match bytes.split_first() {
            Some((&VERSION, json)) => Ok(serde_json::from_slice(json)?),
            // Version 1 began with its JSON.
            Some((b'[', _)) | None => Ok(serde_json::from_slice(bytes)?),
            Some((version, _)) => Err(QueueError::Version(*version)),
        }
    }
}

/// Roughly what an item holds beside its texts, bytes.
pub(super) const ITEM_BYTES: usize = 500;

/// Roughly how many bytes an item holds.
pub fn size(item: &Item) -> usize {
    let text = |t: &Option<String>| t.as_ref().map_or(0, String::len);
    let input = &item.input;
    let texts = [
        &item.prompt.name,
        &item.prompt.version,
        &input.question,
        &input.answer,
        &input.expected,
        &input.system_prompt,
    ];
    let lists = input.history.iter().chain(&input.expected_documents);
    let step = |step: &Step| size_of::<Step>() + step.tool.len() + text(&step.arguments) + text(&step.result);
    ITEM_BYTES
        + texts.into_iter().map(text).sum::<usize>()
        + input.contexts.iter().map(weight::of_document).sum::<usize>()
        + lists.map(|one| size_of::<String>() + one.len()).sum::<usize>()
        + input.constraints.iter().map(of_constraint).sum::<usize>()
        + input.steps.iter().map(step).sum::<usize>()
        + input.session.as_ref().map_or(0, |session| session.id.len() + session.trace_id.len())
}

fn of_constraint(constraint: &Constraint) -> usize {
    let own: usize = match constraint {
        Constraint::Text(text) => text.len(),
        Constraint::AnyOf(any) => any.iter().map(of_constraint).sum(),
    };
    size_of::<Constraint>() + own
}

#[cfg(test)]
mod tests {
    use super::super::queue_tests::item;
    use super::*;
    use crate::domain::document::Document;
    use crate::domain::trace::Session;
    use crate::schema::{hold_shape, shape_of};

    #[test]
    fn events_survive_the_journal() {
        let events = vec![
            QueueEvent::Queued(Box::new(item("a"))),
            QueueEvent::Retry {
                id: "a".into(),
                attempt: 1,
                not_before: 7,
                error: "e".into(),
                score_version: 2,
            },
            QueueEvent::Done { id: "a".into(), outcome: Outcome::Expired, error: None, score_version: 1 },
            QueueEvent::PutBack { id: "a".into(), queued_at: 9, score_version: 2 },
            QueueEvent::Dropped { id: "a".into() },
        ];
        assert_eq!(QueueEvent::decode(&QueueEvent::encode(&events).unwrap()).unwrap(), events);
    }

    #[test]
    fn every_text_of_an_item_counts() {
        let long = || "x".repeat(1_000);
        let step = Step { tool: long(), arguments: Some(long()), result: Some(long()), failed: false };
        let document = Document {
            id: Some(long()),
            uri: Some(long()),
            content: Some(long()),
            metadata: Some(serde_json::json!({ "note": long() })),
            ..Document::default()
        };
        let input = EvalInput {
            question: Some(long()),
            answer: Some(long()),
            contexts: vec![document],
            expected: Some(long()),
            expected_documents: vec![long()],
            constraints: vec![Constraint::AnyOf(vec![Constraint::Text(long())])],
            system_prompt: Some(long()),
            history: vec![long()],
            steps: vec![step],
            session: Some(Session { id: long(), ..Session::default() }),
            ..EvalInput::default()
        };
        let bare = size(&item("a"));
        let full = size(&Item { input, ..item("a") });
        let texts = 15 * 1_000;
        assert!((texts..texts + 1_500).contains(&(full - bare)), "{bare} to {full}");
    }

    #[test]
    fn the_shape_of_events_is_that_of_the_format() {
        let shape = serde_json::json!({"events": shape_of::<Vec<QueueEvent>>(), "version": VERSION});
        hold_shape("queue", &shape);
    }

    #[test]
    fn events_of_version_1_are_read_and_those_of_a_later_one_refused() {
        let old = br#"[{"done":{"id":"a","outcome":"scored"}},{"retry":{"id":"b","attempt":1,"not_before":7,"error":"e"}}]"#;
        let events = QueueEvent::decode(old).unwrap();
        assert!(matches!(&events[0], QueueEvent::Done { score_version: 1, error: None, .. }), "{events:?}");
        assert!(matches!(&events[1], QueueEvent::Retry { score_version: 1, .. }), "{events:?}");
        assert!(matches!(QueueEvent::decode(b"\x03[]"), Err(QueueError::Version(3))));
        assert!(QueueEvent::decode(b"\x02[").is_err());
    }
}
