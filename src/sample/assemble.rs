//! Traces that are still open: spans and log content gather here until a trace is ripe.

use super::config::Config;
use super::rule::Rule;
use crate::domain::batch::{LogContent, SpanRow, read_log_content, read_span_rows, replace_llm};
use crate::domain::id::{SpanId, TraceId};
use crate::domain::merge::merge_content;
use crate::domain::span::{Dialect, Llm};
use crate::domain::time::UnixNanos;
use arrow::array::{RecordBatch, UInt64Array};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// Rules are bits of a mask.
pub const MAX_RULES: usize = 64;

const MILLI: i64 = 1_000_000;

/// Most log records whose content is added to one trace.
const MAX_CONTENT: usize = 20_000;

/// A span of an open trace.
pub struct OpenSpan {
    /// What sampling needs of it.
    pub row: SpanRow,
    /// Which rules' filters it passes, a bit each.
    pub rules: u64,
    /// The stored row, kept for model spans so that filters can be asked again when log content arrives.
    stored: Option<RecordBatch>,
}

/// A trace that is still open, or just closed.
pub struct OpenTrace {
    /// Whose it is: whoever sent its first part. Trace ids are no secret, and what another tenant sends with this one must
    /// not be judged together with it.
    tenant: String,
    /// Its spans by id: a span that is sent again is not counted twice.
    pub spans: HashMap<SpanId, OpenSpan>,
    /// Spans beyond the limit.
    pub spans_dropped: usize,
    /// Sequence number of the first frame that had a part of it.
    pub first_seq: u64,
    first_seen: UnixNanos,
    last_seen: UnixNanos,
    has_root: bool,
    bytes: usize,
    early: HashMap<SpanId, Vec<Llm>>,
    /// Content that was added, by hash: a client that sends again must not say everything twice.
    heard: HashSet<u64>,
}

/// Every open trace.
pub struct Open {
    traces: HashMap<TraceId, OpenTrace>,
    by_first_seq: BTreeMap<u64, HashSet<TraceId>>,
    bytes: usize,
    config: Config,
}

impl Open {
    /// None open.
    pub fn new(config: Config) -> Self {
        Self { traces: HashMap::new(), by_first_seq: BTreeMap::new(), bytes: 0, config }
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.traces.len()
    }

    /// The first frame that an open trace still needs.
    pub fn first_seq(&self) -> Option<u64> {
        self.by_first_seq.keys().next().copied()
    }

    /// Adds the spans of a batch that came with the frame `seq`. Spans of `skip` traces are left out.
    pub fn add_spans(
        &mut self,
        seq: u64,
        batch: &RecordBatch,
        rules: &[Rule],
        skip: impl Fn(&TraceId) -> bool,
        now: UnixNanos,
    ) {
        let masks = masks(batch, rules);
        for (at, row) in read_span_rows(batch).into_iter().enumerate() {
            if skip(&row.trace_id) {
                metrics::counter!("groundline_late_spans_total").increment(1);
                continue;
            }
            let stored = (row.llm.dialect != Dialect::None).then(|| own_row(batch, at)).flatten();
            let rules_mask = masks.get(at).copied().unwrap_or(0);
            self.add_span(seq, OpenSpan { row, rules: rules_mask, stored }, rules, now);
        }
    }

    fn add_span(&mut self, seq: u64, span: OpenSpan, rules: &[Rule], now: UnixNanos) {
        let limit = self.config.max_trace_spans;
        let trace_id = span.row.trace_id;
        let trace = self.trace(trace_id, &span.row.tenant, seq, now);
        if trace.tenant != span.row.tenant {
            metrics::counter!("groundline_foreign_spans_refused_total").increment(1);
            return;
        }
        if trace.spans.len() >= limit && !trace.spans.contains_key(&span.row.span_id) {
            trace.spans_dropped += 1;
            return;
        }
        let bytes = weight(&span.row);
        trace.has_root |= span.row.parent_span_id.is_none();
        trace.bytes += bytes;
        let mut span = span;
        for llm in trace.early.remove(&span.row.span_id).unwrap_or_default() {
            span.add(&llm, rules);
        }
        trace.spans.entry(span.row.span_id).or_insert(span);
        self.bytes += bytes;
    }

    /// Adds what log records say about their spans.
    pub fn add_logs(
        &mut self,
        seq: u64,
        batch: &RecordBatch,
        rules: &[Rule],
        skip: impl Fn(&TraceId) -> bool,
        now: UnixNanos,
    ) {
        for LogContent { tenant, trace_id, span_id, time, llm } in read_log_content(batch) {
            if skip(&trace_id) {
                continue;
            }
            let trace = self.trace(trace_id, &tenant, seq, now);
            if trace.tenant != tenant {
                continue;
            }
            if trace.heard.len() >= MAX_CONTENT || !trace.heard.insert(hash_of(span_id, time, &llm)) {
                continue;
            }
            match trace.spans.get_mut(&span_id) {
                Some(span) => span.add(&llm, rules),
                None => trace.early.entry(span_id).or_default().push(llm),
            }
        }
    }

    fn trace(&mut self, id: TraceId, tenant: &str, seq: u64, now: UnixNanos) -> &mut OpenTrace {
        let by_first_seq = &mut self.by_first_seq;
        let trace = self.traces.entry(id).or_insert_with(|| {
            by_first_seq.entry(seq).or_default().insert(id);
            OpenTrace {
                tenant: tenant.to_owned(),
                spans: HashMap::new(),
                spans_dropped: 0,
                first_seq: seq,
                first_seen: now,
                last_seen: now,
                has_root: false,
                bytes: 0,
                early: HashMap::new(),
                heard: HashSet::new(),
            }
        });
        // Another tenant must not keep it open.
        if trace.tenant == tenant {
            trace.last_seen = now;
        }
        trace
    }

    /// Takes the traces that are ripe at `now`: ended and quiet, too old, or too much to hold.
    pub fn take_ripe(&mut self, now: UnixNanos) -> Vec<(TraceId, OpenTrace)> {
        let mut ripe: Vec<TraceId> =
            self.traces.iter().filter(|(_, t)| t.is_ripe(now, &self.config)).map(|(id, _)| *id).collect();
        let ripe_bytes: usize = ripe.iter().map(|id| self.traces[id].bytes).sum();
        let mut held = self.bytes - ripe_bytes;
        if held > self.config.max_open_bytes {
            let taken: HashSet<TraceId> = ripe.iter().copied().collect();
            let oldest = self.by_first_seq.values().flatten().filter(|id| !taken.contains(id));
            for id in oldest {
                if held <= self.config.max_open_bytes {
                    break;
                }
                held -= self.traces[id].bytes;
                ripe.push(*id);
            }
        }
        ripe.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Takes every trace, ripe or not.
    fn take(&mut self, id: TraceId) -> Option<(TraceId, OpenTrace)> {
        let trace = self.traces.remove(&id)?;
        self.bytes -= trace.bytes;
        if let Some(ids) = self.by_first_seq.get_mut(&trace.first_seq) {
            ids.remove(&id);
            if ids.is_empty() {
                self.by_first_seq.remove(&trace.first_seq);
            }
        }
        Some((id, trace))
    }
}

impl OpenTrace {
    fn is_ripe(&self, now: UnixNanos, config: &Config) -> bool {
        let reached =
            |nanos: i64, ms: u64| nanos >= i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(MILLI);
        let old = reached(now.since(self.first_seen), config.max_age_ms);
        // Messages alone are the prompt of a call that still runs: its span comes when it ends.
        if self.spans.is_empty() {
            return old;
        }
        let quiet = now.since(self.last_seen);
        let idle = if self.has_root { config.idle_ms } else { config.rootless_idle_ms };
        reached(quiet, idle) || old
    }
}

impl OpenSpan {
    fn add(&mut self, llm: &Llm, rules: &[Rule]) {
        merge_content(&mut self.row.llm, llm);
        let Some(stored) = &self.stored else { return };
        if let Ok(batch) = replace_llm(stored, std::slice::from_ref(&self.row.llm)) {
            self.rules = masks(&batch, rules).first().copied().unwrap_or(self.rules);
            self.stored = Some(batch);
        }
    }
}

/// Row `at` with memory of its own: a slice would keep the whole batch alive as long as the trace is open.
fn own_row(batch: &RecordBatch, at: usize) -> Option<RecordBatch> {
    let at = UInt64Array::from(vec![at as u64]);
    arrow::compute::take_record_batch(batch, &at).ok()
}

fn hash_of(span: SpanId, time: UnixNanos, llm: &Llm) -> u64 {
    let mut hasher = DefaultHasher::new();
    (span, time).hash(&mut hasher);
    format!("{llm:?}").hash(&mut hasher);
    hasher.finish()
}

/// For each row the rules whose filters it passes. A filter that fails on a batch is asked about each row alone.
fn masks(batch: &RecordBatch, rules: &[Rule]) -> Vec<u64> {
    let mut masks = vec![0u64; batch.num_rows()];
    for (bit, rule) in rules.iter().enumerate().take(MAX_RULES) {
        match rule.matches(batch) {
            Ok(found) => {
                for (mask, hit) in masks.iter_mut().zip(found.iter()) {
                    *mask |= u64::from(hit == Some(true)) << bit;
                }
            }
            Err(_) if batch.num_rows() > 1 => {
                for (at, mask) in masks.iter_mut().enumerate() {
                    let one = rules_of_row(&batch.slice(at, 1), rule);
                    *mask |= u64::from(one) << bit;
                }
            }
            Err(error) => {
                metrics::counter!("groundline_rule_errors_total", "rule" => rule.config.name.clone())
                    .increment(1);
                tracing::warn!(rule = rule.config.name, %error, "filter failed; the spans count as not matching");
            }
        }
    }
    masks
}

/// Whether the one row of `batch` passes; a filter that fails on it says no.
fn rules_of_row(batch: &RecordBatch, rule: &Rule) -> bool {
    masks(batch, std::slice::from_ref(rule)).first().is_some_and(|mask| *mask != 0)
}

/// Roughly how much memory a span holds.
fn weight(row: &SpanRow) -> usize {
    let text = |t: &Option<String>| t.as_ref().map_or(0, String::len);
    let llm = &row.llm;
    let documents: usize = llm.documents.iter().map(|d| text(&d.content) + 128).sum();
    // Messages repeat question, answer and system prompt and hold the history beside them.
    512 + 3 * (text(&llm.question) + text(&llm.answer) + text(&llm.system_prompt)) + documents
}
