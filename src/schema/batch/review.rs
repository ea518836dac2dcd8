//! Items to label and answers of reviewers, to the stored columns of their tables.

use super::build::{boolean, double, int, micros, owned, text};
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::time::UnixNanos;
use crate::schema::columns::Table;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::error::ArrowError;

/// An item that a draw chose for a label: a row of `review_items`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewItem {
    /// Identity of tenant, metric, trace and span.
    pub item: String,
    /// The draw that chose it.
    pub draw: String,
    /// The metric that is to be labelled.
    pub metric: String,
    /// The trace.
    pub trace_id: TraceId,
    /// The span that was judged.
    pub span_id: Option<SpanId>,
    /// When that span began.
    pub span_time: UnixNanos,
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub evaluator_version: String,
    /// What it said.
    pub value: Option<f64>,
    /// The threshold that was used.
    pub threshold: Option<f64>,
    /// Its verdict.
    pub passed: Option<bool>,
    /// Probability with which the item was sampled.
    pub inclusion_probability: f64,
    /// Probability with which the draw chose it among the sampled ones.
    pub label_probability: f64,
    /// How unsure the evaluator is, 0 to 1.
    pub uncertainty: f64,
    /// Items that the draw chose from.
    pub population: i64,
    /// They were evaluated after this moment.
    pub population_from: UnixNanos,
    /// They were evaluated up to this moment.
    pub population_until: UnixNanos,
    /// When the draw was made.
    pub drawn_at: UnixNanos,
    /// Whose it is.
    pub tenant: TenantId,
}

/// What an answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// It says pass or fail.
    Answer,
    /// The reviewer cannot say.
    Skip,
    /// It takes back the reviewer's last answer.
    Undo,
    /// It decides between answers that differ.
    Adjudication,
}

impl AnswerKind {
    /// Its name in rows.
    pub fn as_str(self) -> &'static str {
        match self {
            AnswerKind::Answer => "answer",
            AnswerKind::Skip => "skip",
            AnswerKind::Undo => "undo",
            AnswerKind::Adjudication => "adjudication",
        }
    }
}

/// What a reviewer said of an item: a row of `review_answers`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewAnswer {
    /// Identity; the same id sent twice is one row.
    pub answer_id: String,
    /// The item.
    pub item: String,
    /// The metric that is labelled.
    pub metric: String,
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: Option<SpanId>,
    /// Who.
    pub reviewer: String,
    /// What it does.
    pub kind: AnswerKind,
    /// pass or fail; none for skip and undo.
    pub label: Option<&'static str>,
    /// Why.
    pub comment: Option<String>,
    /// Whether the reviewer wants it looked at again.
    pub flagged: bool,
    /// How long the reviewer took, seconds.
    pub seconds: Option<f64>,
    /// When.
    pub created_at: UnixNanos,
    /// Whose it is.
    pub tenant: TenantId,
}

/// Items as one batch of the stored schema.
pub fn items_to_batch(rows: &[ReviewItem]) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.item)),
        text(rows, |r| Some(&r.draw)),
        text(rows, |r| Some(&r.metric)),
        owned(rows, |r| Some(r.trace_id.to_string())),
        owned(rows, |r| r.span_id.map(|id| id.to_string())),
        micros(rows, |r| Some(r.span_time.micros())),
        text(rows, |r| Some(&r.evaluator)),
        text(rows, |r| Some(&r.evaluator_version)),
        double(rows, |r| r.value),
        double(rows, |r| r.threshold),
        boolean(rows, |r| r.passed),
        double(rows, |r| Some(r.inclusion_probability)),
        double(rows, |r| Some(r.label_probability)),
        double(rows, |r| Some(r.uncertainty)),
        int(rows, |r| Some(r.population)),
        micros(rows, |r| Some(r.population_from.micros())),
        micros(rows, |r| Some(r.population_until.micros())),
        micros(rows, |r| Some(r.drawn_at.micros())),
        text(rows, |r| Some(&r.tenant)),
    ];
    RecordBatch::try_new(Table::ReviewItems.schema(), columns)
}

/// Answers as one batch of the stored schema.
pub fn answers_to_batch(rows: &[ReviewAnswer]) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.answer_id)),
        text(rows, |r| Some(&r.item)),
        text(rows, |r| Some(&r.metric)),
        owned(rows, |r| Some(r.trace_id.to_string())),
        owned(rows, |r| r.span_id.map(|id| id.to_string())),
        text(rows, |r| Some(&r.reviewer)),
        text(rows, |r| Some(r.kind.as_str())),
        text(rows, |r| r.label),
        text(rows, |r| r.comment.as_deref()),
        boolean(rows, |r| Some(r.flagged)),
        double(rows, |r| r.seconds),
        micros(rows, |r| Some(r.created_at.micros())),
        text(rows, |r| Some(&r.tenant)),
    ];
    RecordBatch::try_new(Table::ReviewAnswers.schema(), columns)
}
