//! The last step of the receiver: what was accepted becomes one durable frame.

use super::config::Config;
use super::decode::{Decoded, Traces};
use super::dialect;
use super::memory::Budget;
use super::receipt::{Receipt, Refusal};
use super::redact::Redactor;
use crate::detect::Policy;
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::log::{Evaluation, LogRecord};
use crate::domain::prompt::Prompt;
use crate::domain::score::{Score, ScoreRow, ScoreSource, ScoreStatus};
use crate::domain::span::{Source, Span};
use crate::domain::time::{Clock, UnixNanos};
use crate::domain::value::{Attrs, Value};
use crate::journal::{Journal, JournalError};
use crate::schema::batch::{self, Annotation, ReviewAnswer, ReviewItem};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, Part};
use arrow::array::{AsArray, RecordBatch};
use arrow::error::ArrowError;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::Arc;

/// Admits requests into the journal. Cheap to clone.
#[derive(Clone)]
pub struct Receiver {
    journal: Journal,
    clock: Arc<dyn Clock>,
    config: Arc<Config>,
    budget: Budget,
    redactor: Option<Arc<Redactor>>,
}

/// Rows of about this many bytes become one frame.
const FRAME_BYTES: usize = 16 << 20;

impl Receiver {
    /// A receiver in front of `journal`.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>, config: Config) -> Self {
        let redactor = Redactor::new(&config.redact, Arc::default()).map(Arc::new);
        let budget = Budget::new(journal.clone(), clock.clone(), &config);
        Self { journal, clock, config: Arc::new(config), budget, redactor }
    }

    /// The same receiver; what `policy` lets through is not redacted.
    pub fn with_policy(mut self, policy: Arc<Policy>) -> Self {
        self.redactor = Redactor::new(&self.config.redact, policy).map(Arc::new);
        self
    }

    /// What every request has to go through before it is decoded further, if anything.
    pub fn redactor(&self) -> Option<Arc<Redactor>> {
        self.redactor.clone()
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The memory that requests in flight may take.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The time now.
    pub fn now(&self) -> UnixNanos {
        self.clock.now()
    }

    /// Admits spans, which become `tenant`'s. When it returns, every accepted span is on the disk.
    pub async fn spans(&self, traces: Traces, tenant: impl Into<TenantId>) -> Result<Receipt, Refusal> {
        let tenant: &TenantId = &tenant.into();
        let received = self.clock.now();
        let Traces { chunks, accepted, rejected, reasons, warnings, .. } = traces;
        let mut oversized = Oversized::default();
        for chunk in chunks {
            let scores = span_scores(&chunk.evaluated, tenant, received);
            let rows = broken(chunk.rows.finish(tenant, received))?;
            // A later chunk that is refused makes the client send all of it again; what is stored then is the same.
            self.append_spans(rows, scores, &mut oversized).await?;
        }
        let receipt = oversized.receipt(accepted, rejected, reasons, &warnings, "span");
        count("spans", &receipt);
        Ok(receipt)
    }

    /// Admits log records, which become `tenant`'s. When it returns, every accepted record is on the disk.
    pub async fn logs(
        &self,
        decoded: Decoded<LogRecord>,
        tenant: impl Into<TenantId>,
    ) -> Result<Receipt, Refusal> {
        let tenant: &TenantId = &tenant.into();
        let received = self.clock.now();
        let Decoded { items: records, rejected, reasons, warnings } = decoded;
        let mut oversized = Oversized::default();
        let mut open = chunks(&records, record_weight);
        open.reverse();
        while let Some(chunk) = open.pop() {
            if chunk.is_empty() {
                continue;
            }
            let rows = broken(batch::logs_to_batch(chunk, tenant, received))?;
            let parts = with_scores(Table::LogRecords, rows, &log_scores(chunk, tenant, received))?;
            match self.offer(&parts).await? {
                None => {}
                Some(problem) if chunk.len() == 1 => oversized.add(problem),
                Some(_) => {
                    let (first, rest) = chunk.split_at(chunk.len() / 2);
                    open.extend([rest, first]);
                }
            }
        }
        let accepted = records.len() as u64;
        let receipt = oversized.receipt(accepted, rejected, reasons, &warnings, "log record");
        count("log_records", &receipt);
        Ok(receipt)
    }

    /// Appends rows of spans. Those that do not fit into one frame are halved until they do; a span that does not even
    /// fit alone is left out.
    async fn append_spans(
        &self,
        rows: RecordBatch,
        scores: Vec<ScoreRow>,
        oversized: &mut Oversized,
    ) -> Result<(), Refusal> {
        let mut open = vec![(rows, scores)];
        while let Some((rows, scores)) = open.pop() {
            let parts = with_scores(Table::Spans, rows.clone(), &scores)?;
            match self.offer(&parts).await? {
                None => {}
                Some(problem) if rows.num_rows() <= 1 => oversized.add(problem),
                Some(_) => {
                    let (first, rest) = halves(&rows, scores);
                    open.extend([rest, first]);
                }
            }
        }
        Ok(())
    }

    /// Admits items to label, what reviewers said of them, and human judgements, as one frame. When it returns, all of them
    /// are on the disk.
    pub async fn labels(
        &self,
        items: &[ReviewItem],
        answers: &[ReviewAnswer],
        annotations: &[Annotation],
    ) -> Result<(), Refusal> {
        let mut parts = Vec::new();
        if !items.is_empty() {
            parts.push(Part::Rows(Table::ReviewItems, broken(batch::items_to_batch(items))?));
        }
        if !answers.is_empty() {
            parts.push(Part::Rows(Table::ReviewAnswers, broken(batch::answers_to_batch(answers))?));
        }
        if !annotations.is_empty() {
            parts.push(Part::Rows(Table::Annotations, broken(batch::annotations_to_batch(annotations))?));
        }
        if parts.is_empty() { Ok(()) } else { self.append(&parts).await }
    }

    async fn append(&self, parts: &[Part]) -> Result<(), Refusal> {
        match self.offer(parts).await? {
            None => Ok(()),
            Some(problem) => {
                metrics::counter!("groundline_requests_refused_total", "reason" => "journal").increment(1);
                Err(self.journal_refusal(&problem))
            }
        }
    }

    /// Appends one frame. Gives [`JournalError::FrameTooLarge`] back if it is: fewer rows may fit.
    async fn offer(&self, parts: &[Part]) -> Result<Option<JournalError>, Refusal> {
        let (kind, payload) = frame::encode(parts).map_err(|e: FrameError| Refusal::Broken(e.to_string()))?;
        let bytes = payload.len();
        metrics::counter!("groundline_received_bytes_total").increment(bytes as u64);
        match self.journal.append(kind.0, payload).await {
            Ok(_) => {
                self.budget.note_drained(bytes);
                Ok(None)
            }
            Err(error @ JournalError::FrameTooLarge { .. }) => Ok(Some(error)),
            Err(error) => {
                metrics::counter!("groundline_requests_refused_total", "reason" => "journal").increment(1);
                Err(self.journal_refusal(&error))
            }
        }
    }

    fn journal_refusal(&self, error: &JournalError) -> Refusal {
        match error {
            JournalError::FrameTooLarge { .. } => Refusal::Invalid(error.to_string()),
            // A full disk or queue drains; a closed journal belongs to a server that restarts.
            error if error.is_retryable() => self.budget.overloaded(&error.to_string()),
            JournalError::Closed => self.budget.overloaded("the server is shutting down"),
            // The server has to be restarted; what a client keeps until then is not lost.
            JournalError::Poisoned { .. } => self.budget.overloaded(&error.to_string()),
            error => Refusal::Broken(error.to_string()),
        }
    }
}

/// The rows that no frame can hold. They cost only themselves.
#[derive(Default)]
struct Oversized {
    count: u64,
    reason: Option<String>,
}

impl Oversized {
    fn add(&mut self, problem: JournalError) {
        self.count += 1;
        self.reason.get_or_insert_with(|| format!("too large to be kept: {problem}"));
    }

    /// The receipt of a request of which `accepted` were right and `rejected` were not.
    fn receipt(
        self,
        accepted: u64,
        rejected: u64,
        mut reasons: Vec<String>,
        warnings: &[String],
        what: &str,
    ) -> Receipt {
        reasons.extend(self.reason);
        receipt(accepted.saturating_sub(self.count), rejected + self.count, &reasons, warnings, what)
    }
}

/// The parts of one frame.
fn with_scores(table: Table, rows: RecordBatch, scores: &[ScoreRow]) -> Result<Vec<Part>, Refusal> {
    let mut parts = vec![Part::Rows(table, rows)];
    if !scores.is_empty() {
        parts.push(Part::Rows(Table::Scores, broken(batch::scores_to_batch(scores))?));
    }
    Ok(parts)
}

/// Rows of spans and the scores of these.
type Scored = (RecordBatch, Vec<ScoreRow>);

/// Both halves of `rows`, each with the scores of its spans.
fn halves(rows: &RecordBatch, scores: Vec<ScoreRow>) -> (Scored, Scored) {
    let half = rows.num_rows() / 2;
    let (first, rest) = (rows.slice(0, half), rows.slice(half, rows.num_rows() - half));
    let (of_first, of_rest): (Vec<_>, Vec<_>) = {
        let column = first.column_by_name("span_id").and_then(|column| column.as_string_opt::<i32>());
        let ids: HashSet<&str> = column.into_iter().flatten().flatten().collect();
        let of = |score: &ScoreRow| score.span_id.is_some_and(|id| ids.contains(id.to_string().as_str()));
        scores.into_iter().partition(of)
    };
    ((first, of_first), (rest, of_rest))
}

/// Cuts a request into parts of at most [`FRAME_BYTES`], so that a large one does not become one huge frame. Resource
/// attributes stand in every row, so a small request can be large as rows.
fn chunks<T>(rows: &[T], weight: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut chunks, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, row) in rows.iter().enumerate() {
        let weight = weight(row);
        if at > start && bytes + weight > FRAME_BYTES {
            chunks.push(&rows[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += weight;
    }
    chunks.push(&rows[start..]);
    chunks
}

/// Roughly the bytes of a log record's row.
fn record_weight(record: &LogRecord) -> usize {
    let body = value_weight(&record.body);
    // What a record says about its span repeats its body.
    let texts = record.event_name.len() + record.severity_text.len();
    256 + attrs_weight(&record.attributes) + 2 * body + texts + source_weight(&record.source)
}

fn source_weight(source: &Source) -> usize {
    let Source { service_name, schema_url, scope_name, scope_version, .. } = source;
    let texts = [service_name, schema_url, scope_name, scope_version].into_iter().map(String::len);
    attrs_weight(&source.resource) + attrs_weight(&source.scope_attributes) + texts.sum::<usize>()
}

fn attrs_weight(attributes: &Attrs) -> usize {
    attributes.0.iter().map(|(key, value)| key.len() + value_weight(value) + 8).sum()
}

fn value_weight(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Array(values) => values.iter().map(value_weight).sum(),
        Value::Map(pairs) => pairs.iter().map(|(k, v)| k.len() + value_weight(v)).sum(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Double(_) => 8,
    }
}

fn broken<T>(result: Result<T, ArrowError>) -> Result<T, Refusal> {
    result.map_err(|e| Refusal::Broken(format!("columns could not be built: {e}")))
}

fn count(what: &'static str, receipt: &Receipt) {
    metrics::counter!("groundline_received_total", "what" => what).increment(receipt.accepted);
    metrics::counter!("groundline_rejected_total", "what" => what).increment(receipt.rejected);
}

fn receipt(accepted: u64, rejected: u64, reasons: &[String], warnings: &[String], what: &str) -> Receipt {
    let mut message = String::new();
    if rejected > 0 {
        message = format!("{rejected} {what}(s) rejected: {}", reasons.join("; "));
    }
    if !warnings.is_empty() {
        let gap = if message.is_empty() { "" } else { ". " };
        message = format!("{message}{gap}warning: {}", warnings.join("; "));
    }
    Receipt { accepted, rejected, message }
}

fn span_scores(spans: &[Span], tenant: &TenantId, received: UnixNanos) -> Vec<ScoreRow> {
    let mut rows = Vec::new();
    for span in spans {
        for evaluation in dialect::span_evaluations(span) {
            let place = EvaluatedSpan {
                trace_id: Some(span.trace_id),
                span_id: Some(span.span_id),
                time: span.start,
                service_name: &span.source.service_name,
                model: span.llm.request_model.clone(),
                prompt: Prompt::of(&span.llm),
            };
            rows.push(ingested(&evaluation, place, tenant, received));
        }
    }
    rows
}

fn log_scores(records: &[LogRecord], tenant: &TenantId, received: UnixNanos) -> Vec<ScoreRow> {
    let mut rows = Vec::new();
    for record in records {
        if let Some(evaluation) = &record.evaluation {
            let place = EvaluatedSpan {
                trace_id: record.trace_id,
                span_id: record.span_id,
                time: record.time,
                service_name: &record.source.service_name,
                model: None,
                prompt: Prompt::default(),
            };
            rows.push(ingested(evaluation, place, tenant, received));
        }
    }
    rows
}

struct EvaluatedSpan<'a> {
    trace_id: Option<TraceId>,
    span_id: Option<SpanId>,
    time: UnixNanos,
    service_name: &'a str,
    model: Option<String>,
    prompt: Prompt,
}

/// The row of an evaluation that another system made. A re-sent one has the same id and is stored once.
fn ingested(
    evaluation: &Evaluation,
    place: EvaluatedSpan<'_>,
    tenant: &TenantId,
    received: UnixNanos,
) -> ScoreRow {
    let (trace, span) = (place.trace_id, place.span_id);
    let identity = format!(
        "ingested\0{tenant}\0{trace:?}\0{span:?}\0{}\0{}\0{:?}\0{:?}",
        evaluation.name, place.time.0, evaluation.value, evaluation.label
    );
    let failed =
        evaluation.error_type.is_some() || (evaluation.value.is_none() && evaluation.label.is_none());
    let missing = "the sender gave neither a value nor a label";
    let score = Score {
        metric: evaluation.name.clone(),
        value: evaluation.value,
        label: evaluation.label.clone(),
        passed: None,
        threshold: None,
        status: if failed { ScoreStatus::Error } else { ScoreStatus::Ok },
        rationale: evaluation.explanation.clone(),
        error: evaluation.error_type.clone().or_else(|| failed.then(|| missing.to_owned())),
        evidence: Vec::new(),
        ratings: Vec::new(),
    };
    ScoreRow {
        score_id: hex::encode(&Sha256::digest(identity)[..16]),
        trace_id: trace,
        span_id: span,
        span_time: place.time,
        evaluated_at: received,
        service_name: place.service_name.to_owned(),
        request_model: place.model,
        tenant: tenant.clone(),
        rule: None,
        rule_version: None,
        evaluator: evaluation.name.clone(),
        evaluator_version: "external".to_owned(),
        score,
        inclusion_probability: 1.0,
        stratum: None,
        sampling_reason: None,
        score_version: 1,
        attempt: 1,
        latency_ms: 0.0,
        judge_model: None,
        input_tokens: None,
        output_tokens: None,
        cost_usd: None,
        source: ScoreSource::Ingested,
        prompt: place.prompt,
    }
}

#[cfg(test)]
#[path = "admit_tests.rs"]
mod tests;
