//! Decisions again: from the stored spans and the recorded rows, by the rules of then or by others.
//!
//! A rule that is the same decides the same. What its probability took from the past (strata, budgets, usual weights) is in
//! the recorded π, and everything else is computed again: filter, stratum, number, the sampling before us. A rule that has
//! changed, or is new, decides over the same traces in their order, with a memory of its own that begins empty. So does a
//! second phase over the recorded items of its first rule and their scores.

use super::assemble::{Open, OpenTrace};
use super::config::Config;
use super::decide::{Drawn, decide};
use super::input::View;
use super::memory::Memory;
use super::replay_found::{Findings, Recorded, Standing, item_name};
use super::replay_second::{FirstScores, SCORE_COLUMNS, SecondPhase};
use super::rule::Rule;
use crate::domain::decision::DecisionKind;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;
use crate::schema::columns::Table;
use crate::units::ByteSize;
use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, new_null_array};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Field, Float64Type, Schema, TimeUnit, TimestampMicrosecondType};
use arrow::error::ArrowError;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The columns of `decisions` that a replay reads.
pub const DECISION_COLUMNS: &str = "trace_id, span_id, rule, rule_version, decision, reason, inclusion_probability, \
    stratum, decided_at";

/// The columns of `spans` that every replay reads; those of the rules' expressions come on top.
const SPAN_COLUMNS: [&str; 12] = [
    "trace_id",
    "span_id",
    "parent_span_id",
    "start_time",
    "duration_ns",
    "status_code",
    "service_name",
    "trace_state",
    "tenant",
    "received_at",
    "dialect",
    "operation",
];

/// The recorded decisions about one trace.
#[derive(Default)]
struct Trace {
    decided_at: i64,
    by_rule: HashMap<String, Vec<Recorded>>,
}

/// A replay of recorded decisions by rules.
pub struct Replay {
    rules: Arc<Vec<Rule>>,
    config: Config,
    memory: Memory,
    findings: BTreeMap<String, Findings>,
    /// Rules that are recorded and not in the configuration, with their decisions.
    gone: BTreeMap<String, u64>,
    /// Traces that were decided about.
    seen: HashSet<TraceId>,
}

impl Replay {
    /// A replay by `rules`, compiled from `config`.
    pub fn new(rules: Vec<Rule>, config: Config) -> Self {
        let findings = rules.iter().map(|rule| (rule.config.name.clone(), Findings::default())).collect();
        let config = Config { max_open_size: ByteSize::new(u64::MAX), ..config };
        let (memory, rules) = (Memory::new(&rules), Arc::new(rules));
        Self { rules, config, memory, findings, gone: BTreeMap::new(), seen: HashSet::new() }
    }

    /// Second phases, whose decisions come later than those about their traces.
    pub fn second_phases(&self) -> Vec<&str> {
        let rules = self.rules.iter().map(|rule| &rule.config);
        rules.filter(|config| !config.after.is_empty()).map(|config| config.name.as_str()).collect()
    }

    /// The columns of `scores` that second phases need.
    pub fn score_columns(&self) -> BTreeSet<String> {
        let of_rules = self.rules.iter().filter(|rule| !rule.config.after.is_empty()).flat_map(Rule::columns);
        SCORE_COLUMNS.iter().map(|name| (*name).to_owned()).chain(of_rules).collect()
    }

    /// The columns of `spans` that it needs.
    pub fn span_columns(&self) -> BTreeSet<String> {
        let of_rules = self.rules.iter().filter(|rule| rule.is_over_spans()).flat_map(Rule::columns);
        // The exact start is shown as the start.
        let shown = of_rules.filter(|name| name != "start_time_unix_nano");
        SPAN_COLUMNS.iter().map(|name| (*name).to_owned()).chain(shown).collect()
    }

    /// What was found, by rule.
    pub fn findings(&self) -> &BTreeMap<String, Findings> {
        &self.findings
    }

    /// Rules that decided then and are not in the configuration, with the number of their decisions.
    pub fn gone(&self) -> &BTreeMap<String, u64> {
        &self.gone
    }

    /// Decides again about the traces of `decisions`, whose spans are all in `spans` and the scores of first phases in
    /// `scores`; all as SQL gives them. Traces must come in the order in which they were decided, a part at a time.
    ///
    /// # Errors
    /// When the rows have not the columns that are needed.
    pub fn decide(
        &mut self,
        spans: &[RecordBatch],
        decisions: &[RecordBatch],
        scores: &[RecordBatch],
    ) -> Result<(), ArrowError> {
        let scores = FirstScores::of(scores)?;
        let mut traces: HashMap<TraceId, Trace> = HashMap::new();
        for batch in decisions {
            read_decisions(batch, &mut traces)?;
        }
        let mut open = Open::new(self.config.clone());
        for batch in spans {
            let stored = known_then(&stored(batch)?, &traces)?;
            open.add_spans(0, &stored, &self.rules, |id| !traces.contains_key(id), UnixNanos(0));
        }
        let mut closed = open.take_all(&self.rules);
        let at = |id: &TraceId| traces.get(id).map_or(0, |trace| trace.decided_at);
        closed.sort_by_key(|(id, _)| (at(id), *id));
        for (id, trace) in &closed {
            if let Some(recorded) = traces.remove(id) {
                self.decide_one(*id, trace, recorded, &scores);
            }
        }
        // Their spans are gone.
        for (_, trace) in traces {
            for (name, recorded) in trace.by_rule {
                if let Some(findings) = self.findings.get_mut(&name) {
                    findings.unknown += recorded.len() as u64;
                }
            }
        }
        Ok(())
    }

    fn decide_one(&mut self, id: TraceId, trace: &OpenTrace, recorded: Trace, scores: &FirstScores) {
        let (view, rules) = (View::new(trace), self.rules.clone());
        let now = UnixNanos(recorded.decided_at.saturating_mul(1_000));
        for name in recorded.by_rule.keys().filter(|name| !self.findings.contains_key(*name)) {
            *self.gone.entry(name.clone()).or_default() += 1;
        }
        // What a rule that is no longer there decided later about a trace is not the trace's decision.
        if !self.seen.insert(id) {
            return;
        }
        let mut left = recorded.by_rule;
        let mut again: HashMap<&str, Vec<Drawn<'_>>> = HashMap::new();
        for one in decide(trace, &view, &rules) {
            again.entry(one.rule().config.name.as_str()).or_default().push(one);
        }
        for rule in rules.iter().filter(|rule| rule.is_over_spans()) {
            let name = rule.config.name.as_str();
            let before = left.remove(name).unwrap_or_default();
            let mut drawn = again.remove(name).unwrap_or_default();
            self.compare(id, rule, &mut drawn, &before, now);
            let shadows: Vec<Drawn<'_>> = drawn.iter().flat_map(|one| one.shadows(&rules)).collect();
            for shadow in rules.iter().filter(|other| other.config.shadow_of == name) {
                let of_it = |one: &&Drawn<'_>| std::ptr::eq(one.rule(), shadow);
                let before = left.remove(shadow.config.name.as_str()).unwrap_or_default();
                let mut drawn: Vec<Drawn<'_>> = shadows.iter().filter(of_it).cloned().collect();
                self.compare(id, shadow, &mut drawn, &before, now);
            }
            for (bit, second) in rules.iter().enumerate().filter(|(_, other)| other.config.after == name) {
                let after = left.remove(second.config.name.as_str()).unwrap_or_default();
                let (same, changed): (Vec<Recorded>, Vec<Recorded>) =
                    after.into_iter().partition(|one| one.version == second.version);
                let Some(findings) = self.findings.get_mut(&second.config.name) else { continue };
                let phase =
                    SecondPhase { rule: second, bit, id, first: &before, same: &same, changed: &changed };
                phase.check(findings);
                phase.decide_again(findings, &mut self.memory, scores);
            }
        }
    }

    /// Compares what a rule decides now with what is recorded of it; `drawn` has the probabilities of then where the rule
    /// is the same.
    fn compare(
        &mut self,
        id: TraceId,
        rule: &Rule,
        drawn: &mut [Drawn<'_>],
        before: &[Recorded],
        now: UnixNanos,
    ) {
        let Some(findings) = self.findings.get_mut(&rule.config.name) else { return };
        let is_same = !before.is_empty() && before.iter().all(|one| one.version == rule.version);
        findings.standing = match (is_same, before.is_empty(), findings.standing) {
            (true, _, Standing::New) => Standing::Same,
            (false, false, _) => Standing::Changed,
            (_, _, standing) => standing,
        };
        let mut left: Vec<&Recorded> = before.iter().collect();
        for one in drawn {
            let known =
                |recorded: &&&Recorded| recorded.span_id == Some(one.span_id()) || rule.is_for_traces();
            let recorded: Vec<&Recorded> = left.iter().filter(known).copied().collect();
            left.retain(|recorded| !(recorded.span_id == Some(one.span_id()) || rule.is_for_traces()));
            // An item of two lanes may be queued in one and throttled in the other.
            let recorded =
                recorded.iter().find(|r| r.kind == DecisionKind::Queued).or(recorded.first()).copied();
            settle(&mut self.memory, one, recorded.filter(|_| is_same), now);
            findings.note(id, one, recorded, is_same);
        }
        // What nothing stands for now.
        findings.different += left.len() as u64;
        let lost = left.iter().filter(|recorded| recorded.was_selected()).count() as u64;
        (findings.items_then, findings.lost) = (findings.items_then + lost, findings.lost + lost);
        for recorded in left {
            findings.example(
                item_name(id, recorded.span_id),
                recorded.kind.as_str().to_owned(),
                "no match".to_owned(),
            );
        }
    }
}

/// Gives a match the probability of then, or the one that the memory of this replay gives it.
fn settle(memory: &mut Memory, one: &mut Drawn<'_>, then: Option<&Recorded>, now: UnixNanos) {
    let Some((draw, rule, bit)) = one.matched() else { return };
    match then.filter(|_| rule.config.has_memory()) {
        Some(recorded) => draw.pi = recorded.pi,
        None => {
            memory.settle(draw, rule, bit, now);
            if draw.is_selected() {
                memory.spend(bit, now);
            }
        }
    }
}

/// Adds the rows of a batch of `decisions` to the traces that they are about.
fn read_decisions(batch: &RecordBatch, traces: &mut HashMap<TraceId, Trace>) -> Result<(), ArrowError> {
    let text = |name: &str| cast(column(batch, name)?, &DataType::Utf8);
    let (ids, spans, rules, versions) =
        (text("trace_id")?, text("span_id")?, text("rule")?, text("rule_version")?);
    let (kinds, reasons, strata) = (text("decision")?, text("reason")?, text("stratum")?);
    let pi = cast(column(batch, "inclusion_probability")?, &DataType::Float64)?;
    let at = cast(column(batch, "decided_at")?, &micros())?;
    let at = at.as_primitive::<TimestampMicrosecondType>();
    let get = |column: &arrow::array::ArrayRef, row: usize| {
        let column = column.as_string::<i32>();
        (!column.is_null(row)).then(|| column.value(row).to_owned())
    };
    for row in 0..batch.num_rows() {
        let id = get(&ids, row).and_then(|text| TraceId::from_hex(&text).ok());
        let kind = get(&kinds, row).and_then(|text| DecisionKind::parse(&text));
        let (Some(id), Some(kind), Some(rule)) = (id, kind, get(&rules, row)) else { continue };
        let trace = traces.entry(id).or_default();
        // A second phase follows later.
        trace.decided_at =
            if trace.decided_at == 0 { at.value(row) } else { trace.decided_at.min(at.value(row)) };
        trace.by_rule.entry(rule).or_default().push(Recorded {
            span_id: get(&spans, row).and_then(|text| SpanId::from_hex(&text).ok()),
            version: get(&versions, row).unwrap_or_default(),
            kind,
            reason: get(&reasons, row).unwrap_or_default(),
            pi: pi.as_primitive::<Float64Type>().value(row),
            stratum: get(&strata, row),
            at: at.value(row),
        });
    }
    Ok(())
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a arrow::array::ArrayRef, ArrowError> {
    batch.column_by_name(name).ok_or_else(|| ArrowError::SchemaError(format!("no column {name}")))
}

fn micros() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// Rows of `spans` as SQL shows them, in the stored columns; those that were not asked for are NULL.
pub(super) fn stored(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = Table::Spans.schema();
    let mut columns = Vec::with_capacity(schema.fields().len());
    let fields: Vec<Field> = schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
    for field in &fields {
        let exact = (field.name() == "start_time_unix_nano").then_some("start_time");
        let shown = batch.column_by_name(field.name()).or_else(|| batch.column_by_name(exact?));
        columns.push(match shown {
            Some(values) => cast(values, field.data_type())?,
            None => new_null_array(field.data_type(), batch.num_rows()),
        });
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// The spans that were there when their traces were decided: later ones changed nothing.
fn known_then(batch: &RecordBatch, traces: &HashMap<TraceId, Trace>) -> Result<RecordBatch, ArrowError> {
    let (ids, received) = (column(batch, "trace_id")?.as_string::<i32>(), column(batch, "received_at")?);
    let received = received.as_primitive::<TimestampMicrosecondType>();
    let keep = |row: usize| {
        let trace = TraceId::from_hex(ids.value(row)).ok().and_then(|id| traces.get(&id));
        trace.is_some_and(|trace| received.value(row) <= trace.decided_at)
    };
    let kept: BooleanArray = (0..batch.num_rows()).map(|row| Some(keep(row))).collect();
    filter_record_batch(batch, &kept)
}
