//! Items to label, answers of reviewers and states of queues of review, to the stored columns of their tables.

use super::build::{boolean, double, int, micros, owned, text, texts};
use super::lab::Made;
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
    /// What a queue of review knows of it; none for an item of the online draws.
    pub of_queue: Option<ItemOfQueue>,
}

/// What a queue of review knows of an item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemOfQueue {
    /// The queue.
    pub queue_id: String,
    /// The run of an experiment; none for a span.
    pub run_id: Option<String>,
    /// The item of the dataset that the run answers.
    pub item_id: Option<String>,
    /// Which attempt of the run.
    pub attempt: Option<i64>,
    /// The item of the online draw that it stands for.
    pub source_item: Option<String>,
    /// Why a person must look; none for one that was chosen.
    pub reason: Option<String>,
    /// Higher ones are asked about first.
    pub priority: i64,
    /// What evaluators said and a person reviews, JSON array.
    pub auto_evals: Option<String>,
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
    /// What a queue of review keeps of it; none for an item of the online draws.
    pub of_queue: Option<AnswerOfQueue>,
}

/// What a queue of review keeps of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerOfQueue {
    /// The queue.
    pub queue_id: String,
    /// The run of an experiment; none for a span.
    pub run_id: Option<String>,
    /// The item of the dataset that the run answers.
    pub item_id: Option<String>,
    /// The answers to templates, JSON object.
    pub response: Option<String>,
    /// What evaluators said as the reviewer says it, JSON object.
    pub auto_evals: Option<String>,
}

/// A state of a queue of review: a row of `review_queues`. JSON columns are JSON text.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewQueueRow {
    /// The queue.
    pub queue_id: String,
    /// Counts its states, from 1.
    pub revision: i64,
    /// Its name.
    pub name: String,
    /// experiment, sql or proposal.
    pub source_kind: String,
    /// The experiment whose runs are reviewed.
    pub experiment_id: Option<String>,
    /// What its items were chosen from and how, JSON.
    pub source: String,
    /// What is asked of each item, JSON array.
    pub templates: Option<String>,
    /// What reviewers are told.
    pub instructions: Option<String>,
    /// Answers that make a label.
    pub reviews_per_item: i64,
    /// Who answers; empty for whoever may.
    pub reviewers: Vec<String>,
    /// Whether what evaluators and others said is shown only after the own answer.
    pub blind: bool,
    /// open or closed.
    pub status: String,
    /// When it was made.
    pub opened_at: UnixNanos,
    /// By whom.
    pub opened_by: String,
    /// When it was closed.
    pub completed_at: Option<UnixNanos>,
    /// Who brought it to this state.
    pub made: Made,
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
        text(rows, |r| r.of_queue.as_ref().map(|of| of.queue_id.as_str())),
        text(rows, |r| r.of_queue.as_ref()?.run_id.as_deref()),
        text(rows, |r| r.of_queue.as_ref()?.item_id.as_deref()),
        int(rows, |r| r.of_queue.as_ref()?.attempt),
        text(rows, |r| r.of_queue.as_ref()?.source_item.as_deref()),
        text(rows, |r| r.of_queue.as_ref()?.reason.as_deref()),
        int(rows, |r| r.of_queue.as_ref().map(|of| of.priority)),
        text(rows, |r| r.of_queue.as_ref()?.auto_evals.as_deref()),
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
        text(rows, |r| r.of_queue.as_ref().map(|of| of.queue_id.as_str())),
        text(rows, |r| r.of_queue.as_ref()?.run_id.as_deref()),
        text(rows, |r| r.of_queue.as_ref()?.item_id.as_deref()),
        text(rows, |r| r.of_queue.as_ref()?.response.as_deref()),
        text(rows, |r| r.of_queue.as_ref()?.auto_evals.as_deref()),
    ];
    RecordBatch::try_new(Table::ReviewAnswers.schema(), columns)
}

/// States of queues of review as one batch of the stored schema.
pub fn queues_to_batch(rows: &[ReviewQueueRow]) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.queue_id)),
        int(rows, |r| Some(r.revision)),
        text(rows, |r| Some(&r.name)),
        text(rows, |r| Some(&r.source_kind)),
        text(rows, |r| r.experiment_id.as_deref()),
        text(rows, |r| Some(&r.source)),
        text(rows, |r| r.templates.as_deref()),
        text(rows, |r| r.instructions.as_deref()),
        int(rows, |r| Some(r.reviews_per_item)),
        texts(rows, |r| &r.reviewers),
        boolean(rows, |r| Some(r.blind)),
        text(rows, |r| Some(&r.status)),
        micros(rows, |r| Some(r.opened_at.micros())),
        text(rows, |r| Some(&r.opened_by)),
        micros(rows, |r| r.completed_at.map(UnixNanos::micros)),
    ];
    columns.extend(Made::columns(rows, |r| &r.made));
    RecordBatch::try_new(Table::ReviewQueues.schema(), columns)
}
