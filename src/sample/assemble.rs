//! Traces that are still open: spans and log content gather here until a trace is ripe.

use super::config::Config;
use super::marks::{Marks, marks};
use super::rule::Rule;
use crate::domain::id::{SpanId, TenantId, TraceId};
use crate::domain::merge::merge_contents;
use crate::domain::span::Llm;
use crate::domain::time::UnixNanos;
use crate::domain::weight;
use crate::schema::batch::{LogContent, SpanHead, SpanReader, SpanRow, read_log_content, replace_llm};
use crate::units::nanos;
use arrow::array::{RecordBatch, UInt64Array};
use arrow::error::ArrowError;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::time::Duration;

const MILLI: i64 = 1_000_000;

/// Most log records whose content is added to one trace.
const MAX_CONTENT: usize = 20_000;

/// Roughly what an ordinary span takes.
const ORDINARY_BYTES: usize = 160;

/// A span of an open trace.
pub struct OpenSpan {
    /// What sampling needs of it.
    pub row: SpanRow,
    /// What the rules say of it. What log records say counts from when the trace is closed.
    pub marks: Marks,
    /// The stored row, kept for model spans so that filters can be asked again with what log records say.
    stored: Option<RecordBatch>,
}

/// A trace that is still open, or just closed.
pub struct OpenTrace {
    /// Whose it is: whoever sent its first part. Trace ids are no secret, and what another tenant sends with this one must
    /// not be judged together with it.
    tenant: TenantId,
    /// The spans that say something or pass a filter, by id: a span that is sent again is not counted twice. In a trace
    /// that is closed and has one of them, all its spans.
    pub spans: HashMap<SpanId, OpenSpan>,
    /// Sequence number of the first frame that had a part of it.
    pub first_seq: u64,
    /// Which boosts hold for an ordinary span.
    ordinary_boosts: u64,
    /// Ordinary spans. Most traffic is made of them, so they are kept small.
    ordinary: Vec<SpanHead>,
    first_seen: UnixNanos,
    last_seen: UnixNanos,
    /// When the first and the last of its spans began.
    starts: Option<(UnixNanos, UnixNanos)>,
    /// The tick at which it is looked at next; looks that were planned for another tick are void.
    look_at: i64,
    has_root: bool,
    bytes: usize,
    /// What log records say, by span, in the order in which they came. It is added when the trace is closed: to add each
    /// record by itself would cost the square of their number.
    content: HashMap<SpanId, Vec<Llm>>,
    /// Content that was kept, by hash: a client that sends again must not say everything twice.
    heard: HashSet<u64>,
}

/// Every open trace.
pub struct Open {
    traces: HashMap<TraceId, OpenTrace>,
    by_first_seq: BTreeMap<u64, Beginners>,
    /// When to look at which trace again: looking at each on every tick would cost more than all the rest.
    looks: BTreeMap<i64, Vec<TraceId>>,
    /// When the open traces were looked at last.
    looked: UnixNanos,
    bytes: usize,
    config: Config,
}

/// The traces that began with one frame, and how many of them are still open.
#[derive(Default)]
struct Beginners {
    ids: Vec<TraceId>,
    open: usize,
}

impl Open {
    /// None open.
    pub fn new(config: Config) -> Self {
        let (traces, by_first_seq, looks) = (HashMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { traces, by_first_seq, looks, looked: UnixNanos(i64::MIN), bytes: 0, config }
    }

    /// Whether more is held than the limit; [`Open::take_ripe`] ends that.
    pub fn is_over(&self) -> bool {
        self.bytes > self.config.max_open_size.in_memory()
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.traces.len()
    }

    /// The first frame that an open trace still needs.
    pub fn first_seq(&self) -> Option<u64> {
        self.by_first_seq.keys().next().copied()
    }

    /// When the earliest span of an open trace began, or `floor` if a trace has spans before and after it. Traces that are
    /// wholly before it are left out.
    pub fn earliest(&self, floor: UnixNanos) -> Option<UnixNanos> {
        self.traces.values().filter_map(|trace| trace.earliest(floor)).min()
    }

    /// Adds the spans of a batch that came with the frame `seq`. Spans of `skip` traces are left out; those of them that say
    /// something, which a trace that was decided may have to be evaluated again for, are the answer.
    pub fn add_spans(
        &mut self,
        seq: u64,
        batch: &RecordBatch,
        rules: &[Rule],
        skip: impl Fn(&TraceId) -> bool,
        now: UnixNanos,
    ) -> Vec<(TraceId, SpanId)> {
        let (mut late, mut telling) = (0, Vec::new());
        // Without rules nothing is ever decided.
        if rules.is_empty() {
            return telling;
        }
        let Some(mut reader) = SpanReader::new(batch) else { return telling };
        let marks = marks(batch, rules);
        for (at, marks) in marks.into_iter().enumerate() {
            let Some(head) = reader.head(at) else { continue };
            let is_genai = reader.has_dialect(at);
            if skip(&head.trace_id) {
                late += 1;
                if is_genai || marks.rules != 0 {
                    telling.push((head.trace_id, head.span_id));
                }
                continue;
            }
            if !is_genai && marks.rules == 0 {
                self.add_ordinary(seq, head, marks.boosts, now);
                continue;
            }
            let stored = if is_genai { own_row(batch, at) } else { None };
            let row = SpanRow { head, llm: reader.llm(at) };
            self.add_span(seq, OpenSpan { row, marks, stored }, now);
        }
        metrics::counter!("groundline_late_spans_total").increment(late);
        telling
    }

    fn add_ordinary(&mut self, seq: u64, head: SpanHead, boosts: u64, now: UnixNanos) {
        let limit = self.config.max_trace_spans;
        let trace = self.trace(head.trace_id, &head.tenant, seq, now);
        if trace.tenant != head.tenant {
            metrics::counter!("groundline_foreign_spans_refused_total").increment(1);
            return;
        }
        if trace.is_full(limit) {
            refuse();
            return;
        }
        let id = head.trace_id;
        let sooner = trace.note_root(&head);
        trace.bytes += ORDINARY_BYTES;
        trace.ordinary_boosts |= boosts;
        trace.ordinary.push(head);
        self.bytes += ORDINARY_BYTES;
        if sooner {
            self.plan(id);
        }
    }

    fn add_span(&mut self, seq: u64, span: OpenSpan, now: UnixNanos) {
        let limit = self.config.max_trace_spans;
        let (trace_id, span_id) = (span.row.head.trace_id, span.row.head.span_id);
        let trace = self.trace(trace_id, &span.row.head.tenant, seq, now);
        if trace.tenant != span.row.head.tenant {
            metrics::counter!("groundline_foreign_spans_refused_total").increment(1);
            return;
        }
        // What is sent again is held once, and must not make a trace look large.
        let is_known = trace.spans.contains_key(&span_id);
        if trace.is_full(limit) && !is_known {
            refuse();
            return;
        }
        let bytes = if is_known { 0 } else { span_weight(&span) };
        let sooner = trace.note_root(&span.row.head);
        trace.bytes += bytes;
        trace.spans.entry(span_id).or_insert(span);
        self.bytes += bytes;
        if sooner {
            self.plan(trace_id);
        }
    }

    /// Keeps what log records say about their spans. Those of `skip` traces are left out and are the answer.
    pub fn add_logs(
        &mut self,
        seq: u64,
        batch: &RecordBatch,
        rules: &[Rule],
        skip: impl Fn(&TraceId) -> bool,
        now: UnixNanos,
    ) -> Vec<(TraceId, SpanId)> {
        let mut telling = Vec::new();
        for LogContent { tenant, trace_id, span_id, time, llm } in read_log_content(batch) {
            if rules.is_empty() {
                continue;
            }
            if skip(&trace_id) {
                telling.push((trace_id, span_id));
                continue;
            }
            let trace = self.trace(trace_id, &tenant, seq, now);
            if trace.tenant != tenant {
                continue;
            }
            if trace.heard.len() >= MAX_CONTENT || !trace.heard.insert(hash_of(span_id, time, &llm)) {
                continue;
            }
            let bytes = weight::of_content(&llm);
            trace.bytes += bytes;
            trace.content.entry(span_id).or_default().push(llm);
            self.bytes += bytes;
        }
        telling
    }

    fn trace(&mut self, id: TraceId, tenant: &TenantId, seq: u64, now: UnixNanos) -> &mut OpenTrace {
        let (by_first_seq, looks, config) = (&mut self.by_first_seq, &mut self.looks, &self.config);
        let trace = self.traces.entry(id).or_insert_with(|| {
            let beginners = by_first_seq.entry(seq).or_default();
            beginners.ids.push(id);
            beginners.open += 1;
            let mut trace = OpenTrace {
                tenant: tenant.clone(),
                spans: HashMap::new(),
                first_seq: seq,
                ordinary_boosts: 0,
                ordinary: Vec::new(),
                first_seen: now,
                last_seen: now,
                starts: None,
                look_at: 0,
                has_root: false,
                bytes: 0,
                content: HashMap::new(),
                heard: HashSet::new(),
            };
            trace.look_at = tick_after(trace.ripe_at(config));
            looks.entry(trace.look_at).or_default().push(id);
            trace
        });
        // Another tenant must not keep it open.
        if trace.tenant == *tenant {
            trace.last_seen = now;
        }
        trace
    }

    /// Plans the next look at a trace for when it can be ripe.
    fn plan(&mut self, id: TraceId) {
        let Some(trace) = self.traces.get_mut(&id) else { return };
        trace.look_at = tick_after(trace.ripe_at(&self.config));
        self.looks.entry(trace.look_at).or_default().push(id);
    }

    /// Takes the traces that are ripe at `now`: ended and quiet, too old, or too much to hold. What log records said is
    /// added to their spans, and `rules` are asked about these again.
    pub fn take_ripe(&mut self, now: UnixNanos, rules: &[Rule]) -> Vec<(TraceId, OpenTrace)> {
        if now < self.looked {
            self.set_back(now);
        }
        self.looked = now;
        let mut ripe = Vec::new();
        let tick = now.0.div_euclid(TICK_NANOS);
        while let Some(due) = self.looks.first_entry().filter(|due| *due.key() <= tick) {
            let (at, ids) = due.remove_entry();
            for id in ids {
                let Some(trace) = self.traces.get(&id).filter(|t| t.look_at == at) else { continue };
                if trace.ripe_at(&self.config) <= now.0 {
                    ripe.extend(self.take(id, rules));
                } else {
                    self.plan(id);
                }
            }
        }
        while self.is_over() {
            let Some(oldest) = self.by_first_seq.values().next() else { break };
            let ids: Vec<TraceId> = oldest.ids.clone();
            let before = ripe.len();
            for id in ids {
                if !self.is_over() {
                    break;
                }
                ripe.extend(self.take(id, rules));
            }
            if ripe.len() == before {
                break;
            }
        }
        ripe
    }

    /// The clock was set back to `now`: what came later counts as if it came now. It would be ripe only when the clock shows that
    /// time again, and the journal would keep all that comes until then.
    fn set_back(&mut self, now: UnixNanos) {
        let seen = |trace: &OpenTrace| trace.first_seen.max(trace.last_seen);
        let later = |(id, trace): (&TraceId, &OpenTrace)| (seen(trace) > now).then_some(*id);
        let ids: Vec<TraceId> = self.traces.iter().filter_map(later).collect();
        for id in ids {
            if let Some(trace) = self.traces.get_mut(&id) {
                (trace.first_seen, trace.last_seen) = (trace.first_seen.min(now), trace.last_seen.min(now));
            }
            self.plan(id);
        }
    }

    /// Takes every trace, ripe or not.
    pub fn take_all(&mut self, rules: &[Rule]) -> Vec<(TraceId, OpenTrace)> {
        let ids: Vec<TraceId> = self.traces.keys().copied().collect();
        self.looks.clear();
        ids.into_iter().filter_map(|id| self.take(id, rules)).collect()
    }

    /// Takes a trace, ripe or not.
    fn take(&mut self, id: TraceId, rules: &[Rule]) -> Option<(TraceId, OpenTrace)> {
        let mut trace = self.traces.remove(&id)?;
        self.bytes -= trace.bytes;
        if let Some(beginners) = self.by_first_seq.get_mut(&trace.first_seq) {
            beginners.open -= 1;
            if beginners.open == 0 {
                self.by_first_seq.remove(&trace.first_seq);
            }
        }
        trace.complete(rules);
        Some((id, trace))
    }
}

/// Counts a span for which its trace has no room.
fn refuse() {
    metrics::counter!("groundline_trace_spans_refused_total").increment(1);
}

/// Looks at open traces are planned in steps of this many nanoseconds.
const TICK_NANOS: i64 = 100 * MILLI;

fn tick_after(nanos: i64) -> i64 {
    nanos.div_euclid(TICK_NANOS).saturating_add(1)
}

impl OpenTrace {
    /// When it is ripe if nothing more comes, nanoseconds since 1970.
    fn ripe_at(&self, config: &Config) -> i64 {
        let after = |from: UnixNanos, wait: Duration| from.0.saturating_add(nanos(wait));
        let old = after(self.first_seen, config.max_age);
        // Messages alone are the prompt of a call that still runs: its span comes when it ends.
        if self.spans.is_empty() && self.ordinary.is_empty() && !self.content.is_empty() {
            return old;
        }
        let idle = if self.has_root { config.idle } else { config.rootless_idle };
        old.min(after(self.last_seen, idle))
    }

    /// When its earliest span began, or `floor` if it has spans before and after it; none if it is wholly before it.
    pub(super) fn earliest(&self, floor: UnixNanos) -> Option<UnixNanos> {
        let (first, last) = self.starts.unwrap_or((self.first_seen, self.first_seen));
        (last >= floor).then_some(first.max(floor))
    }

    /// Whether something of it began before `horizon`, so that it may have been decided about before that.
    pub(super) fn may_be_older(&self, horizon: UnixNanos) -> bool {
        self.starts.is_some_and(|(first, _)| first < horizon)
    }

    /// Which boosts hold for any of its spans.
    pub fn boosts(&self) -> u64 {
        self.spans.values().fold(self.ordinary_boosts, |all, span| all | span.marks.boosts)
    }

    fn is_full(&self, limit: usize) -> bool {
        self.spans.len() + self.ordinary.len() >= limit
    }

    /// Notes when the span began, whether it is a root, and whether the trace can therefore be ripe sooner than was planned.
    fn note_root(&mut self, head: &SpanHead) -> bool {
        let first = self.spans.is_empty() && self.ordinary.is_empty();
        let (earliest, latest) = self.starts.unwrap_or((head.start, head.start));
        self.starts = Some((earliest.min(head.start), latest.max(head.start)));
        let root = head.parent_span_id.is_none() && !self.has_root;
        self.has_root |= root;
        first || root
    }

    /// Adds what log records said, and puts the ordinary spans to the others, if there are others: a trace of ordinary
    /// spans alone is judged by no rule. An ordinary span that a record speaks of is none any more.
    fn complete(&mut self, rules: &[Rule]) {
        let content = std::mem::take(&mut self.content);
        let is_genai = |head: &SpanHead| content.contains_key(&head.span_id);
        if self.spans.is_empty() && !self.ordinary.iter().any(is_genai) {
            return;
        }
        for head in std::mem::take(&mut self.ordinary) {
            let (id, row) = (head.span_id, SpanRow { head, llm: Llm::default() });
            self.spans.entry(id).or_insert(OpenSpan { row, marks: Marks::default(), stored: None });
        }
        for (id, records) in content {
            if let Some(span) = self.spans.get_mut(&id) {
                span.add(&records, rules);
            }
        }
    }
}

impl OpenSpan {
    /// Adds what `records` say and asks the rules about the whole.
    fn add(&mut self, records: &[Llm], rules: &[Rule]) {
        merge_contents(&mut self.row.llm, records);
        let Some(stored) = self.stored.take() else { return };
        match replace_llm(&stored, std::slice::from_ref(&self.row.llm)) {
            Ok(batch) => self.marks = marks(&batch, rules).pop().unwrap_or_default(),
            // Then the rules go by what the span said of itself: it is in the trace all the same.
            Err(error) => unasked(&error),
        }
    }
}

/// Row `at` with memory of its own: a slice would keep the whole batch alive as long as the trace is open.
fn own_row(batch: &RecordBatch, at: usize) -> Option<RecordBatch> {
    let at = UInt64Array::from(vec![at as u64]);
    let row = arrow::compute::take_record_batch(batch, &at);
    row.inspect_err(unasked).ok()
}

/// A span whose stored columns cannot be taken or changed: rules are not asked again when log records add to it.
fn unasked(error: &ArrowError) {
    metrics::counter!("groundline_rule_errors_total", "rule" => "*").increment(1);
    tracing::warn!(%error, "rules are not asked about what log records say of a span");
}

fn hash_of(span: SpanId, time: UnixNanos, llm: &Llm) -> u64 {
    let mut hasher = DefaultHasher::new();
    (span, time).hash(&mut hasher);
    format!("{llm:?}").hash(&mut hasher);
    hasher.finish()
}

/// Roughly how much memory a span holds: its texts, and the stored row with the attributes that they came from.
fn span_weight(span: &OpenSpan) -> usize {
    let text = |t: &Option<String>| t.as_ref().map_or(0, String::len);
    let llm = &span.row.llm;
    let documents: usize = llm.documents.iter().map(|d| text(&d.content) + 128).sum();
    let stored = span.stored.as_ref().map_or(0, RecordBatch::get_array_memory_size);
    // The messages are in the stored row once as well.
    let texts = text(&llm.question) + text(&llm.answer) + text(&llm.system_prompt);
    512 + texts + documents + 2 * stored + span.marks.bytes()
}
