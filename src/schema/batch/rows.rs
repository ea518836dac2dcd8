//! Scores, decisions, annotations and alerts to the stored columns of their tables.

use super::build::{boolean, double, int, micros, owned, said, text};
use crate::domain::decision::Decision;
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::score::ScoreRow;
use crate::domain::time::UnixNanos;
use crate::schema::columns::{Table, queue_schema};
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::error::ArrowError;
use std::sync::Arc;

/// A person's judgement: a row of `annotations`.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// Identity; the same id sent twice is one row.
    pub annotation_id: String,
    /// The trace.
    pub trace_id: TraceId,
    /// The span; none for the whole trace.
    pub span_id: Option<SpanId>,
    /// What is judged.
    pub name: String,
    /// The verdict.
    pub label: Option<String>,
    /// The score.
    pub value: Option<f64>,
    /// Why.
    pub comment: Option<String>,
    /// Who.
    pub annotator: Option<String>,
    /// When.
    pub created_at: UnixNanos,
    /// Whose it is.
    pub tenant: TenantId,
    /// The drawn item that it answers; none for one that nobody drew.
    pub item: Option<String>,
    /// The probability with which the item was drawn for a label.
    pub label_probability: Option<f64>,
}

/// A change of an alert's state: a row of `alerts`.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// The alert rule.
    pub alert: String,
    /// The part of the traffic.
    pub slice: String,
    /// ok, pending, firing or resolved.
    pub state: &'static str,
    /// The test statistic.
    pub statistic: Option<f64>,
    /// The estimated share that fails.
    pub estimate: Option<f64>,
    /// Lower end of its interval.
    pub lower: Option<f64>,
    /// Upper end of its interval.
    pub upper: Option<f64>,
    /// Scores behind it.
    pub n: i64,
    /// The share that may fail.
    pub threshold: Option<f64>,
    /// The false-alarm rate.
    pub alpha: Option<f64>,
    /// Since when there is evidence.
    pub since: UnixNanos,
    /// When the state changed.
    pub evaluated_at: UnixNanos,
    /// The metric.
    pub metric: String,
    /// How the alert decides.
    pub method: &'static str,
    /// Word for the receivers.
    pub severity: String,
    /// One sentence.
    pub message: String,
    /// Failures to look at, JSON.
    pub examples: String,
}

/// An item that waits, failed or expired: a row of `queue`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueRow {
    /// Its id.
    pub item: String,
    /// Where it waits.
    pub lane: &'static str,
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// The rule that selected it.
    pub rule: String,
    /// Evaluators by id, separated by commas.
    pub evaluators: String,
    /// `waiting`, `leased`, `failed` or `expired`.
    pub state: &'static str,
    /// Attempts that have failed.
    pub attempt: i64,
    /// When it was queued.
    pub queued_at: UnixNanos,
    /// When the next attempt may begin; none for at once.
    pub not_before: Option<UnixNanos>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// The tenant.
    pub tenant: TenantId,
}

/// Items as one batch of the schema of `queue`.
pub fn queue_to_batch(rows: &[QueueRow]) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.item)),
        text(rows, |r| Some(r.lane)),
        owned(rows, |r| Some(r.trace_id.to_string())),
        owned(rows, |r| Some(r.span_id.to_string())),
        text(rows, |r| Some(&r.rule)),
        text(rows, |r| Some(&r.evaluators)),
        text(rows, |r| Some(r.state)),
        int(rows, |r| Some(r.attempt)),
        micros(rows, |r| Some(r.queued_at.micros())),
        micros(rows, |r| r.not_before.map(UnixNanos::micros)),
        text(rows, |r| r.error.as_deref()),
        text(rows, |r| Some(&r.tenant)),
    ];
    RecordBatch::try_new(queue_schema(), columns)
}

/// The run of an experiment that a score is of.
#[derive(Debug, Clone, PartialEq)]
pub struct OfRun {
    /// The experiment.
    pub experiment_id: String,
    /// The run.
    pub run_id: String,
    /// The item of the dataset.
    pub item_id: String,
    /// The check of a suite; none for a plain evaluator.
    pub check_id: Option<String>,
}

/// Scores of production as one batch of the stored schema.
pub fn scores_to_batch(rows: &[ScoreRow]) -> Result<RecordBatch, ArrowError> {
    scored(rows, &[])
}

/// Scores of experiments as one batch of the stored schema: those of `rows`, each of the run at the same place of `runs`.
pub fn run_scores_to_batch(rows: &[ScoreRow], runs: &[OfRun]) -> Result<RecordBatch, ArrowError> {
    scored(rows, runs)
}

fn scored(rows: &[ScoreRow], runs: &[OfRun]) -> Result<RecordBatch, ArrowError> {
    let of = |get: fn(&OfRun) -> Option<&str>| -> ArrayRef {
        let column = (0..rows.len()).map(|at| runs.get(at).and_then(get)).collect::<StringArray>();
        Arc::new(column)
    };
    let columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.score_id)),
        owned(rows, |r| r.trace_id.map(|id| id.to_string())),
        owned(rows, |r| r.span_id.map(|id| id.to_string())),
        micros(rows, |r| Some(r.span_time.micros())),
        micros(rows, |r| Some(r.evaluated_at.micros())),
        text(rows, |r| said(&r.service_name)),
        text(rows, |r| r.request_model.as_deref()),
        text(rows, |r| Some(&r.tenant)),
        text(rows, |r| r.rule.as_deref()),
        text(rows, |r| r.rule_version.as_deref()),
        text(rows, |r| Some(&r.evaluator)),
        text(rows, |r| Some(&r.evaluator_version)),
        text(rows, |r| Some(&r.score.metric)),
        double(rows, |r| r.score.value),
        text(rows, |r| r.score.label.as_deref()),
        boolean(rows, |r| r.score.passed),
        double(rows, |r| r.score.threshold),
        text(rows, |r| Some(r.score.status.as_str())),
        text(rows, |r| r.score.rationale.as_deref()),
        text(rows, |r| r.score.error.as_deref()),
        double(rows, |r| Some(r.inclusion_probability)),
        text(rows, |r| r.stratum.as_deref()),
        text(rows, |r| r.sampling_reason.as_deref()),
        int(rows, |r| Some(i64::from(r.score_version))),
        int(rows, |r| Some(i64::from(r.attempt))),
        double(rows, |r| Some(r.latency_ms)),
        text(rows, |r| r.judge_model.as_deref()),
        int(rows, |r| r.input_tokens),
        int(rows, |r| r.output_tokens),
        double(rows, |r| r.cost_usd),
        text(rows, |r| Some(r.source.as_str())),
        owned(rows, |r| r.score.evidence_json()),
        of(|of| Some(&of.experiment_id)),
        of(|of| Some(&of.run_id)),
        of(|of| Some(&of.item_id)),
        of(|of| of.check_id.as_deref()),
        text(rows, |r| r.prompt.name.as_deref()),
        text(rows, |r| r.prompt.version.as_deref()),
    ];
    RecordBatch::try_new(Table::Scores.schema(), columns)
}

/// Decisions as one batch of the stored schema.
pub fn decisions_to_batch(rows: &[Decision]) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = vec![
        owned(rows, |r| Some(r.trace_id.to_string())),
        owned(rows, |r| r.span_id.map(|id| id.to_string())),
        text(rows, |r| Some(&r.rule)),
        text(rows, |r| Some(&r.rule_version)),
        text(rows, |r| Some(r.decision.as_str())),
        text(rows, |r| said(&r.reason)),
        double(rows, |r| Some(r.inclusion_probability)),
        text(rows, |r| r.stratum.as_deref()),
        micros(rows, |r| Some(r.decided_at.micros())),
        micros(rows, |r| Some(r.span_time.micros())),
        text(rows, |r| Some(&r.tenant)),
    ];
    RecordBatch::try_new(Table::Decisions.schema(), columns)
}

/// Annotations as one batch of the stored schema.
pub fn annotations_to_batch(rows: &[Annotation]) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.annotation_id)),
        owned(rows, |r| Some(r.trace_id.to_string())),
        owned(rows, |r| r.span_id.map(|id| id.to_string())),
        text(rows, |r| Some(&r.name)),
        text(rows, |r| r.label.as_deref()),
        double(rows, |r| r.value),
        text(rows, |r| r.comment.as_deref()),
        text(rows, |r| r.annotator.as_deref()),
        micros(rows, |r| Some(r.created_at.micros())),
        text(rows, |r| Some(&r.tenant)),
        text(rows, |r| r.item.as_deref()),
        double(rows, |r| r.label_probability),
    ];
    RecordBatch::try_new(Table::Annotations.schema(), columns)
}

/// Alerts as one batch of the stored schema.
pub fn alerts_to_batch(rows: &[Alert]) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.alert)),
        text(rows, |r| said(&r.slice)),
        text(rows, |r| Some(r.state)),
        double(rows, |r| r.statistic),
        double(rows, |r| r.estimate),
        double(rows, |r| r.lower),
        double(rows, |r| r.upper),
        int(rows, |r| Some(r.n)),
        double(rows, |r| r.threshold),
        double(rows, |r| r.alpha),
        micros(rows, |r| Some(r.since.micros())),
        micros(rows, |r| Some(r.evaluated_at.micros())),
        text(rows, |r| Some(&r.metric)),
        text(rows, |r| Some(r.method)),
        text(rows, |r| Some(&r.severity)),
        text(rows, |r| Some(&r.message)),
        text(rows, |r| Some(&r.examples)),
    ];
    RecordBatch::try_new(Table::Alerts.schema(), columns)
}
