//! The scores of a frame, as one alert sees them.
//!
//! What counts is a production score (`source = 'rule'`) with a verdict, of the first evaluation of its item: a bet that was
//! settled is not taken back, so what is put back and judged again enters no alert. The order is that of the journal: the
//! order in which scores became durable.

use super::config::AlertConfig;
use super::slice::{Example, Seen};
use super::slice_name;
use crate::schema::columns::Table;
use crate::schema::{Filter, said};
use arrow::array::{Array, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimestampMicrosecondType};
use datafusion::prelude::SessionContext;

/// Characters of a rationale that are kept.
const RATIONALE: usize = 400;

/// A value lies no farther from its threshold than this: JSON has no infinity, and a state with a null could not be read again.
const FARTHEST: f64 = 1e300;

/// The column that says which rule selected the item.
const RULE: &str = "rule";

/// Why an alert does not compile.
#[derive(Debug, thiserror::Error)]
#[error("alerts {alert:?}: {reason}")]
pub struct AlertError {
    alert: String,
    reason: String,
}

/// An alert with its filter, ready to run on batches of scores.
#[derive(Clone)]
pub struct Definition {
    /// As configured.
    pub config: AlertConfig,
    filter: Option<Filter>,
    /// The columns of `scores` by which the traffic is cut.
    slices: Vec<usize>,
}

/// Compiles every alert, or tells every fault.
pub fn compile(alerts: &[AlertConfig]) -> Result<Vec<Definition>, Vec<AlertError>> {
    let context = SessionContext::new();
    let (mut compiled, mut faults) = (Vec::new(), Vec::new());
    for alert in alerts {
        match Definition::new(&context, alert) {
            Ok(definition) => compiled.push(definition),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(compiled) } else { Err(faults) }
}

impl Definition {
    fn new(context: &SessionContext, config: &AlertConfig) -> Result<Self, AlertError> {
        // One fault is one line.
        let fault =
            |reason: String| AlertError { alert: config.name.clone(), reason: reason.replace('\n', " ") };
        let schema = Table::Scores.schema();
        let slices = config.slices.iter().map(|name| {
            let text = |at: &usize| schema.field(*at).data_type() == &DataType::Utf8;
            schema.index_of(name).ok().filter(text).ok_or_else(|| {
                fault(format!("slice {name:?} is not a text column of scores, such as request_model"))
            })
        });
        let slices = slices.collect::<Result<Vec<_>, _>>()?;
        let filter = match config.filter.as_str() {
            "" => None,
            text => {
                let wrong = |reason: String| fault(format!("filter {text:?}: {reason}"));
                Some(Filter::new(context, Table::Scores, text).map_err(wrong)?)
            }
        };
        Ok(Self { config: config.clone(), filter, slices })
    }

    /// Whether it says which rules' scores it counts, or watches those of each rule alone. Where it does not, an item that two
    /// rules select counts twice.
    pub fn keeps_rules_apart(&self) -> bool {
        let is_sliced = self.config.slices.iter().any(|column| column == RULE) && !self.config.margins;
        is_sliced || self.filter.as_ref().is_some_and(|filter| filter.columns().contains(RULE))
    }

    /// The scores of `batch` that the alert is about, each once for every slice that it is in, with the slice's name.
    pub(super) fn scores(&self, batch: &RecordBatch) -> Vec<(String, Seen)> {
        let Some(columns) = Columns::of(batch) else { return Vec::new() };
        let (mut rows, unusable) = columns.verdicts(&self.config.metric);
        if unusable > 0 {
            let alert = &self.config.name;
            metrics::counter!("groundline_alert_scores_unusable_total", "alert" => alert.clone())
                .increment(unusable as u64);
            tracing::warn!(alert, unusable, "scores have no inclusion probability above 0 and up to 1");
        }
        if let (false, Some(filter)) = (rows.is_empty(), &self.filter) {
            self.keep_passing(filter, batch, &mut rows);
        }
        let in_slices = |row: usize| {
            let seen = columns.seen(row);
            self.slices(batch, row).into_iter().map(move |slice| (slice, seen.clone()))
        };
        rows.into_iter().flat_map(in_slices).collect()
    }

    /// Keeps the rows that pass the filter. One on which it fails is left out and counted, and costs no other row anything: a
    /// batch has the scores of other metrics and rules, too.
    fn keep_passing(&self, filter: &Filter, batch: &RecordBatch, rows: &mut Vec<usize>) {
        if let Ok(passes) = filter.matches(batch) {
            rows.retain(|row| passes.value(*row));
            return;
        }
        let (mut failed, mut why) = (0_u64, String::new());
        rows.retain(|row| match filter.matches(&batch.slice(*row, 1)) {
            Ok(passes) => passes.value(0),
            Err(error) => {
                (failed, why) = (failed + 1, said(&error));
                false
            }
        });
        if failed > 0 {
            metrics::counter!("groundline_alert_errors_total").increment(failed);
            tracing::warn!(alert = self.config.name, failed, why, "an alert's filter failed on some scores");
        }
    }

    /// The names of the slices of a row: that of all columns, and with margins one for each column alone.
    fn slices(&self, batch: &RecordBatch, row: usize) -> Vec<String> {
        let schema = batch.schema_ref();
        let part = |at: &usize| {
            let column = batch.column(*at).as_string_opt::<i32>().filter(|c| c.is_valid(row));
            (schema.field(*at).name().as_str(), column.map_or("", |c| c.value(row)))
        };
        let parts: Vec<(&str, &str)> = self.slices.iter().map(part).collect();
        let mut names = vec![slice_name::name(parts.iter().copied())];
        if self.config.margins {
            names.extend((0..parts.len()).map(|kept| slice_name::margin(&parts, kept)));
        }
        names
    }
}

/// The columns that are read.
struct Columns<'a> {
    at: Vec<i64>,
    trace: &'a StringArray,
    metric: &'a StringArray,
    status: &'a StringArray,
    source: &'a StringArray,
    rationale: &'a StringArray,
    passed: &'a BooleanArray,
    value: &'a Float64Array,
    threshold: &'a Float64Array,
    pi: &'a Float64Array,
    version: &'a Int64Array,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Option<Self> {
        let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
        let double = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<Float64Type>();
        let times = batch.column_by_name("evaluated_at")?.as_primitive_opt::<TimestampMicrosecondType>()?;
        Some(Self {
            at: times.values().iter().map(|micros| micros.saturating_mul(1_000)).collect(),
            trace: text("trace_id")?,
            metric: text("metric")?,
            status: text("status")?,
            source: text("source")?,
            rationale: text("rationale")?,
            passed: batch.column_by_name("passed")?.as_boolean_opt()?,
            value: double("value")?,
            threshold: double("threshold")?,
            pi: double("inclusion_probability")?,
            version: batch.column_by_name("score_version")?.as_primitive_opt::<Int64Type>()?,
        })
    }

    /// The rows with a verdict that counts, and how many more have one but no probability by which it could be weighted.
    fn verdicts(&self, metric: &str) -> (Vec<usize>, usize) {
        let has_one = |row: &usize| {
            self.metric.value(*row) == metric
                && self.status.value(*row) == "ok"
                && self.source.value(*row) == "rule"
                && self.passed.is_valid(*row)
                && self.version.value(*row) == 1
        };
        let mut rows: Vec<usize> = (0..self.metric.len()).filter(has_one).collect();
        let all = rows.len();
        rows.retain(|row| self.pi.is_valid(*row) && self.pi.value(*row) > 0.0 && self.pi.value(*row) <= 1.0);
        let unusable = all - rows.len();
        (rows, unusable)
    }

    fn seen(&self, row: usize) -> Seen {
        let failed = !self.passed.value(row);
        let double = |column: &Float64Array| column.is_valid(row).then(|| column.value(row));
        let text = |column: &StringArray| column.is_valid(row).then(|| column.value(row).to_owned());
        let (value, threshold) = (double(self.value), double(self.threshold));
        let example = failed.then(|| Example {
            trace_id: text(self.trace).unwrap_or_default(),
            value,
            rationale: text(self.rationale).unwrap_or_default().chars().take(RATIONALE).collect(),
            distance: value.zip(threshold).map_or(0.0, |(v, t)| (v - t).abs()).min(FARTHEST),
        });
        Seen { at: self.at[row], failed, pi: self.pi.value(row), example }
    }
}

#[cfg(test)]
#[path = "scores_tests.rs"]
pub(super) mod tests;
