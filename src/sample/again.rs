//! What follows from spans that came after the decision: the item of the trace once more, with all that is known now.
//!
//! Nothing is drawn again: rule, π, stratum and reason are those of the recorded decision, and only what was selected then
//! is evaluated again. What is there now is read from the tables, what was there then is the same without the spans that came
//! late; where both give the same input, nothing is done.

use super::assemble::{Open, OpenTrace};
use super::config::Config;
use super::decide::{item_id, key_of};
use super::input::View;
use super::late::Late;
use super::replay::stored;
use super::rule::Rule;
use crate::domain::decision::{CAME_LATE, Decision, DecisionKind};
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::prompt::Prompt;
use crate::domain::time::UnixNanos;
use crate::domain::trace::EvalInput;
use crate::queue::{Item, Queue};
use crate::schema::batch::SpanRow;
use crate::units::ByteSize;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimeUnit, TimestampMicrosecondType};
use arrow::error::ArrowError;
use futures::future::BoxFuture;
use std::collections::HashSet;
use std::sync::Arc;

/// What the tables are asked of one trace, with its id as `$1`: what was decided, the versions of its scores, and its spans.
pub const DECIDED: &str = "SELECT span_id, rule, rule_version, reason, inclusion_probability, stratum, span_time, tenant \
    FROM decisions WHERE trace_id = $1 AND decision = 'queued' ORDER BY decided_at";
/// See [`DECIDED`].
pub const VERSIONS: &str = "SELECT span_id, rule, CAST(max(score_version) AS BIGINT) AS version FROM scores \
    WHERE trace_id = $1 AND source = 'rule' GROUP BY span_id, rule";
/// See [`DECIDED`].
pub const SPANS: &str = "SELECT * FROM spans WHERE trace_id = $1 ORDER BY start_time LIMIT 20000";

/// The rows of one trace.
#[derive(Debug, Clone, Default)]
pub struct StoredTrace {
    /// Of [`DECIDED`].
    pub decided: Vec<RecordBatch>,
    /// Of [`VERSIONS`].
    pub versions: Vec<RecordBatch>,
    /// Of [`SPANS`].
    pub spans: Vec<RecordBatch>,
}

/// A trace with late spans, what came late, up to which frame that was read, and what the tables say of it.
pub(super) type Found = (TraceId, Late, u64, Result<StoredTrace, String>);

/// What the tables answer, or why they did not.
type Answer<T> = BoxFuture<'static, Result<T, String>>;

/// How the tables are asked, which another room does.
#[derive(Clone)]
pub struct Tables {
    /// The rows of a trace, once the frames of the journal up to the position are visible.
    pub trace: Arc<dyn Fn(TraceId, u64) -> Answer<StoredTrace> + Send + Sync>,
    /// Which of these traces were decided about.
    pub decided: Arc<dyn Fn(Vec<TraceId>) -> Answer<HashSet<TraceId>> + Send + Sync>,
}

/// What is to be done about a trace.
#[derive(Debug, Default)]
pub(super) struct Again {
    pub decisions: Vec<Decision>,
    pub items: Vec<Item>,
    /// Whether an item of it is being evaluated or waits for that: it must be looked at later.
    pub must_wait: bool,
    /// Whether an item has had as many evaluations as it may have, or the queue had no room.
    pub is_refused: bool,
}

/// A recorded decision for an item.
struct Recorded {
    span: SpanId,
    rule: String,
    version: String,
    reason: String,
    pi: f64,
    stratum: Option<String>,
    span_time: UnixNanos,
    tenant: TenantId,
}

/// What stands behind a look at a trace.
pub(super) struct Looked<'a> {
    pub rules: &'a [Rule],
    pub queue: &'a Queue,
    pub config: &'a Config,
    /// The frame up to which late spans are in what the tables say.
    pub until: u64,
    pub now: UnixNanos,
}

/// What follows for `trace` from what came late of it.
///
/// # Errors
/// When the rows have not the columns that are needed.
pub(super) fn again(
    trace: TraceId,
    late: &Late,
    rows: &StoredTrace,
    looked: &Looked<'_>,
) -> Result<Again, ArrowError> {
    let mut found = Again::default();
    let recorded = recorded(&rows.decided)?;
    let Some(tenant) = recorded.first().map(|first| first.tenant.clone()) else { return Ok(found) };
    let (now, then) = (closed(rows, &tenant, None, looked)?, closed(rows, &tenant, Some(late), looked)?);
    let (Some(now), Some(then)) = (now, then) else { return Ok(found) };
    let (view, before) = (View::new(&now), View::new(&then));
    let mut seen = HashSet::new();
    for one in recorded {
        let same = |rule: &&Rule| rule.config.name == one.rule && rule.version == one.version;
        let Some(rule) = looked.rules.iter().find(same) else { continue };
        let key = key_of(rule, trace, one.span);
        // A second phase was chosen by scores; what was put back has a row of its own.
        if !rule.config.after.is_empty() || !seen.insert((key.clone(), one.rule.clone())) {
            continue;
        }
        let Some((input, span)) = input(rule, &now, &view, one.span) else { continue };
        let is_said =
            if rule.is_for_traces() { !late.said.is_empty() } else { late.said.contains(&one.span) };
        let had = self::input(rule, &then, &before, one.span).map(|(input, _)| input);
        if had.as_ref() == Some(&input) && !is_said {
            continue;
        }
        let scored = version(&rows.versions, &one, rule)?;
        put(&mut found, &one, (rule, &key), (span, &view, input), scored, trace, looked);
    }
    // All of it at once, or what was queued now would be found changed again then.
    if found.must_wait {
        (found.decisions, found.items) = (Vec::new(), Vec::new());
    }
    Ok(found)
}

/// Adds the items of one decision, a lane each, with the version that is next.
fn put(
    found: &mut Again,
    one: &Recorded,
    (rule, key): (&Rule, &str),
    (span, view, input): (&SpanRow, &View<'_>, EvalInput),
    scored: i32,
    trace: TraceId,
    looked: &Looked<'_>,
) {
    let ids: Vec<String> =
        rule.lanes.iter().map(|lane| item_id(key, &one.rule, &one.version, *lane)).collect();
    if ids.iter().any(|id| looked.queue.is_waiting(id)) {
        found.must_wait = true;
        return;
    }
    // What has no score was dropped, or nobody knows.
    let most = i32::try_from(looked.config.late.max_versions).unwrap_or(i32::MAX);
    if scored == 0 || scored > most {
        found.is_refused |= scored > 0;
        return;
    }
    let score_version = scored + 1;
    let reason = format!("{CAME_LATE}evaluation {score_version}");
    let (model, prompt) = if rule.is_for_traces() {
        (view.model(), view.prompt(span))
    } else {
        (span.llm.request_model.clone(), Prompt::of(&span.llm))
    };
    let item = |(id, lane): (&String, &crate::queue::Lane)| Item {
        id: id.clone(),
        trace_id: trace,
        span_id: one.span,
        rule: one.rule.clone(),
        rule_version: one.version.clone(),
        inclusion_probability: one.pi,
        stratum: one.stratum.clone(),
        reason: one.reason.clone(),
        evaluators: rule.config.evaluators.clone(),
        span_time: one.span_time.0,
        span_end: span.head.end.0,
        queued_at: looked.now.0,
        service_name: span.head.service_name.to_string(),
        request_model: model.clone(),
        prompt: prompt.clone(),
        tenant: one.tenant.clone(),
        lane: *lane,
        score_version,
        until: looked.until,
        is_again: true,
        input: input.clone(),
    };
    let items: Vec<Item> = ids.iter().zip(&rule.lanes).map(item).collect();
    if !items.iter().all(|item| looked.queue.has_room(item, found.items.len(), 0)) {
        found.is_refused = true;
        return;
    }
    found.items.extend(items);
    found.decisions.push(decision(one, reason, trace, looked.now));
}

/// The row that says that an item is evaluated again.
fn decision(one: &Recorded, reason: String, trace: TraceId, now: UnixNanos) -> Decision {
    Decision {
        trace_id: trace,
        span_id: Some(one.span),
        rule: one.rule.clone(),
        rule_version: one.version.clone(),
        decision: DecisionKind::Queued,
        reason,
        inclusion_probability: one.pi,
        stratum: one.stratum.clone(),
        decided_at: now,
        span_time: one.span_time,
        tenant: one.tenant.clone(),
    }
}

/// What `rule` has evaluated of the trace, and the span that stands for it.
fn input<'a>(
    rule: &Rule,
    trace: &'a OpenTrace,
    view: &View<'a>,
    span: SpanId,
) -> Option<(EvalInput, &'a SpanRow)> {
    if rule.is_for_traces() {
        let root = view.root()?;
        return Some((view.of_trace(root), root));
    }
    let row = &trace.spans.get(&span)?.row;
    Some((view.of_span(row), row))
}

/// The trace as its rows have it, of one tenant and without what came late; none without spans.
fn closed(
    rows: &StoredTrace,
    tenant: &TenantId,
    without: Option<&Late>,
    looked: &Looked<'_>,
) -> Result<Option<OpenTrace>, ArrowError> {
    let config = Config { max_open_size: ByteSize::new(u64::MAX), ..looked.config.clone() };
    let mut open = Open::new(config);
    for batch in &rows.spans {
        let stored = stored(batch)?;
        let (tenants, spans) = (text(&stored, "tenant")?, text(&stored, "span_id")?);
        let is_late = |row: usize| {
            let id = SpanId::from_hex(spans.as_string::<i32>().value(row));
            without.is_some_and(|late| id.is_ok_and(|id| late.spans.contains(&id)))
        };
        let theirs = |row: usize| tenants.as_string::<i32>().value(row) == tenant.as_str();
        let kept: BooleanArray =
            (0..stored.num_rows()).map(|row| Some(theirs(row) && !is_late(row))).collect();
        let kept = filter_record_batch(&stored, &kept)?;
        open.add_spans(0, &kept, looked.rules, |_| false, looked.now);
    }
    Ok(open.take_all(looked.rules).pop().map(|(_, trace)| trace))
}

/// The greatest version of its scores; 0 without any.
fn version(batches: &[RecordBatch], one: &Recorded, rule: &Rule) -> Result<i32, ArrowError> {
    let mut greatest = 0;
    for batch in batches {
        let (rules, spans) = (text(batch, "rule")?, text(batch, "span_id")?);
        let versions = cast(column(batch, "version")?, &DataType::Int64)?;
        for row in 0..batch.num_rows() {
            let is_span = spans.as_string::<i32>().value(row) == one.span.to_string();
            if rules.as_string::<i32>().value(row) == one.rule && (rule.is_for_traces() || is_span) {
                let found = versions.as_primitive::<Int64Type>().value(row);
                greatest = greatest.max(i32::try_from(found).unwrap_or(i32::MAX));
            }
        }
    }
    Ok(greatest)
}

fn recorded(batches: &[RecordBatch]) -> Result<Vec<Recorded>, ArrowError> {
    let mut all = Vec::new();
    for batch in batches {
        let texts = ["span_id", "rule", "rule_version", "reason", "stratum", "tenant"];
        let texts = texts.iter().map(|name| text(batch, name)).collect::<Result<Vec<_>, _>>()?;
        let pi = cast(column(batch, "inclusion_probability")?, &DataType::Float64)?;
        let times = cast(column(batch, "span_time")?, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
        for row in 0..batch.num_rows() {
            let said = |at: usize| {
                let column = texts[at].as_string::<i32>();
                column.is_valid(row).then(|| column.value(row).to_owned())
            };
            let Some(span) = said(0).and_then(|id| SpanId::from_hex(&id).ok()) else { continue };
            let micros = times.as_primitive::<TimestampMicrosecondType>().value(row);
            all.push(Recorded {
                span,
                rule: said(1).unwrap_or_default(),
                version: said(2).unwrap_or_default(),
                reason: said(3).unwrap_or_default(),
                pi: pi.as_primitive::<Float64Type>().value(row),
                stratum: said(4),
                span_time: UnixNanos(micros.saturating_mul(1_000)),
                tenant: TenantId::from(said(5).unwrap_or_default()),
            });
        }
    }
    Ok(all)
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, ArrowError> {
    batch.column_by_name(name).ok_or_else(|| ArrowError::SchemaError(format!("there is no column {name}")))
}

fn text(batch: &RecordBatch, name: &str) -> Result<ArrayRef, ArrowError> {
    cast(column(batch, name)?, &DataType::Utf8)
}

#[cfg(test)]
#[path = "again_tests.rs"]
mod tests;
