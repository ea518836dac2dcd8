//! Second phases again: from the recorded items of their first rule, and the scores of these.

use super::decide::{Draw, key_of, uniform};
use super::memory::Memory;
use super::replay_found::{Findings, Recorded, Standing, item_name};
use super::rule::Rule;
use super::second::drawn;
use crate::domain::decision::DecisionKind;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;
use crate::schema::columns::Table;
use arrow::array::{AsArray, RecordBatch, UInt64Array, new_null_array};
use arrow::compute::{cast, concat_batches, take_record_batch};
use arrow::datatypes::{Field, Schema, TimestampMicrosecondType};
use arrow::error::ArrowError;
use std::collections::HashMap;
use std::sync::Arc;

/// The columns of `scores` that every replay of a second phase reads; those of its expressions come on top.
pub(super) const SCORE_COLUMNS: [&str; 4] = ["trace_id", "span_id", "rule", "evaluated_at"];

/// Scores by the rule and the item that they are of.
#[derive(Default)]
pub(super) struct FirstScores {
    rows: Option<RecordBatch>,
    by_item: HashMap<(String, TraceId, SpanId), Vec<u64>>,
}

impl FirstScores {
    /// Rows of `scores` as SQL gives them; columns that were not asked for are NULL.
    ///
    /// # Errors
    /// When a column is missing that every replay reads.
    pub(super) fn of(batches: &[RecordBatch]) -> Result<Self, ArrowError> {
        let schema = Table::Scores.schema();
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let nullable = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let mut stored = Vec::with_capacity(batches.len());
        for batch in batches {
            let column = |field: &Arc<Field>| match batch.column_by_name(field.name()) {
                Some(values) => cast(values, field.data_type()),
                None if SCORE_COLUMNS.contains(&field.name().as_str()) => {
                    Err(ArrowError::SchemaError(format!("no column {}", field.name())))
                }
                None => Ok(new_null_array(field.data_type(), batch.num_rows())),
            };
            let columns = nullable.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
            stored.push(RecordBatch::try_new(nullable.clone(), columns)?);
        }
        let rows = concat_batches(&nullable, &stored)?;
        let mut by_item: HashMap<_, Vec<u64>> = HashMap::new();
        let text = |name: &str| rows.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
        if let (Some(traces), Some(spans), Some(rules)) = (text("trace_id"), text("span_id"), text("rule")) {
            for row in 0..rows.num_rows() {
                let ids = (TraceId::from_hex(traces.value(row)), SpanId::from_hex(spans.value(row)));
                if let (Ok(trace), Ok(span)) = ids {
                    by_item.entry((rules.value(row).to_owned(), trace, span)).or_default().push(row as u64);
                }
            }
        }
        Ok(Self { rows: Some(rows), by_item })
    }

    /// What `second` draws about an item of its first rule, which came to it with probability `before`; the scores until
    /// `decided_at`, microseconds since 1970, count. None if no score is known; inside, none if none passes the filter.
    pub(super) fn draw(
        &self,
        second: &Rule,
        (trace, span): (TraceId, SpanId),
        before: f64,
        decided_at: i64,
    ) -> Option<Option<Draw>> {
        let found = self.by_item.get(&(second.config.after.clone(), trace, span))?;
        let rows = self.rows.as_ref()?;
        let times = rows.column_by_name("evaluated_at")?.as_primitive_opt::<TimestampMicrosecondType>()?;
        let known = |row: &u64| usize::try_from(*row).is_ok_and(|row| times.value(row) <= decided_at);
        let known: UInt64Array = found.iter().copied().filter(known).collect();
        if known.is_empty() {
            return None;
        }
        let scores = take_record_batch(rows, &known).ok()?;
        Some(drawn(second, (trace, span), before, &scores))
    }
}

/// A second phase and one trace.
pub(super) struct SecondPhase<'a> {
    pub rule: &'a Rule,
    /// The bit of the rule.
    pub bit: usize,
    /// The trace.
    pub id: TraceId,
    /// What its first rule decided.
    pub first: &'a [Recorded],
    /// What it decided itself, as the rule that it still is.
    pub same: &'a [Recorded],
    /// What it decided as another one.
    pub changed: &'a [Recorded],
}

impl SecondPhase<'_> {
    /// Where the rule is the same, its numbers are drawn again, and held against the recorded π of both phases.
    pub(super) fn check(&self, findings: &mut Findings) {
        for recorded in self.same {
            let before = self.first.iter().find(|one| one.was_selected() && one.span_id == recorded.span_id);
            findings.items_then += u64::from(recorded.was_selected());
            let (Some(before), Some(span)) = (before, recorded.span_id) else {
                findings.unknown += 1;
                continue;
            };
            findings.standing = Standing::Same;
            findings.decided += 1;
            let key = key_of(self.rule, self.id, span);
            let number = uniform(self.rule.config.salt(), &key, self.rule.drawn_version());
            let is_selected = number * before.pi < recorded.pi;
            findings.items_now += u64::from(recorded.was_selected());
            if recorded.kind == DecisionKind::Filtered || is_selected == recorded.was_selected() {
                findings.same += 1;
                continue;
            }
            findings.different += 1;
            findings.example(
                item_name(self.id, Some(span)),
                recorded.kind.as_str().to_owned(),
                told(is_selected),
            );
        }
    }

    /// Where the rule has changed, or is new, it decides about the items that its first rule selected then.
    pub(super) fn decide_again(&self, findings: &mut Findings, memory: &mut Memory, scores: &FirstScores) {
        if !self.changed.is_empty() {
            findings.standing = Standing::Changed;
        }
        let is_known = |span: SpanId| self.same.iter().any(|one| one.span_id == Some(span));
        for item in self.first.iter().filter(|one| one.was_selected()) {
            let Some(span) = item.span_id.filter(|span| !is_known(*span)) else { continue };
            let mut of_it = self.changed.iter().filter(|one| one.span_id == Some(span));
            // An item of two lanes may be queued in one and throttled in the other.
            let queued = of_it.clone().find(|one| one.kind == DecisionKind::Queued);
            let recorded = queued.or_else(|| of_it.next());
            let was_selected = recorded.is_some_and(Recorded::was_selected);
            findings.items_then += u64::from(was_selected);
            let until = recorded.map_or(i64::MAX, |one| one.at);
            let Some(drawn) = scores.draw(self.rule, (self.id, span), item.pi, until) else {
                findings.unknown += u64::from(recorded.is_some());
                continue;
            };
            let is_selected = drawn.is_some_and(|draw| self.settled(draw, memory, item.at));
            findings.decided += 1;
            findings.items_now += u64::from(is_selected);
            findings.gained += u64::from(is_selected && !was_selected);
            findings.lost += u64::from(was_selected && !is_selected);
            match recorded {
                None => {}
                Some(_) if is_selected == was_selected => findings.same += 1,
                Some(recorded) => {
                    findings.different += 1;
                    findings.example(item_name(self.id, Some(span)), recorded.said(), told(is_selected));
                }
            }
        }
        // What stands for no item of the first rule.
        let is_item = |one: &&Recorded| {
            self.first.iter().any(|item| item.was_selected() && item.span_id == one.span_id)
        };
        findings.unknown += self.changed.iter().filter(|one| !is_item(one)).count() as u64;
    }

    /// Whether it is selected, with what earlier matches leave of the probability; `at` is in microseconds since 1970.
    fn settled(&self, mut draw: Draw, memory: &mut Memory, at: i64) -> bool {
        let now = UnixNanos(at.saturating_mul(1_000));
        memory.settle(&mut draw, self.rule, self.bit, now);
        if draw.is_selected() {
            memory.spend(self.bit, now);
        }
        draw.is_selected()
    }
}

fn told(is_selected: bool) -> String {
    let kind = if is_selected { DecisionKind::Queued } else { DecisionKind::NotSampled };
    kind.as_str().to_owned()
}
