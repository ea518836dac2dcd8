//! Scores to an OTLP request.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type, TimestampMicrosecondType};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use std::collections::BTreeMap;

/// The event's name, as OpenTelemetry spells it.
const EVENT: &str = "gen_ai.evaluation.result";

/// Texts of a score, and the attributes that they become.
const TEXTS: [(&str, &str); 8] = [
    ("metric", "gen_ai.evaluation.name"),
    ("rationale", "gen_ai.evaluation.explanation"),
    ("evaluator", "groundline.evaluator"),
    ("evaluator_version", "groundline.evaluator.version"),
    ("rule", "groundline.rule"),
    ("tenant", "groundline.tenant"),
    ("score_id", "groundline.score_id"),
    ("request_model", "gen_ai.request.model"),
];

/// Numbers of a score, and the attributes that they become.
const NUMBERS: [(&str, &str); 3] = [
    ("value", "gen_ai.evaluation.score.value"),
    ("threshold", "groundline.threshold"),
    ("inclusion_probability", "groundline.inclusion_probability"),
];

/// The rows with a result: a production score (`source = 'rule'`) that was judged or that failed; what was skipped has none.
pub(super) fn results(batch: &RecordBatch) -> impl Iterator<Item = usize> + '_ {
    let rows = Rows(batch);
    (0..batch.num_rows()).filter(move |row| {
        rows.text("source", *row) == Some("rule") && rows.text("status", *row) != Some("skipped")
    })
}

/// The results of some scores as one request, by service.
pub(super) fn request(batches: &[RecordBatch]) -> ExportLogsServiceRequest {
    let mut services: BTreeMap<String, Vec<LogRecord>> = BTreeMap::new();
    for batch in batches {
        let rows = Rows(batch);
        for row in results(batch) {
            let service = rows.text("service_name", row).unwrap_or_default().to_owned();
            services.entry(service).or_default().push(rows.record(row));
        }
    }
    let resource_logs = services.into_iter().map(|(service, records)| logs(&service, records)).collect();
    ExportLogsServiceRequest { resource_logs }
}

fn logs(service: &str, log_records: Vec<LogRecord>) -> ResourceLogs {
    let resource = Resource { attributes: vec![text("service.name", service)], ..Resource::default() };
    let scope = InstrumentationScope {
        name: "groundline".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let scope_logs = vec![ScopeLogs { scope: Some(scope), log_records, ..ScopeLogs::default() }];
    ResourceLogs { resource: Some(resource), scope_logs, ..ResourceLogs::default() }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

/// Rows of `scores` by the names of their columns.
struct Rows<'a>(&'a RecordBatch);

impl<'a> Rows<'a> {
    fn text(&self, name: &str, row: usize) -> Option<&'a str> {
        let column = self.0.column_by_name(name)?.as_string_opt::<i32>()?;
        column.is_valid(row).then(|| column.value(row))
    }

    fn number(&self, name: &str, row: usize) -> Option<f64> {
        let column = self.0.column_by_name(name)?.as_primitive_opt::<Float64Type>()?;
        column.is_valid(row).then(|| column.value(row))
    }

    fn passed(&self, row: usize) -> Option<bool> {
        let column = self.0.column_by_name("passed")?.as_boolean_opt()?;
        column.is_valid(row).then(|| column.value(row))
    }

    fn record(&self, row: usize) -> LogRecord {
        let mut attributes: Vec<KeyValue> = TEXTS
            .iter()
            .filter_map(|(column, key)| self.text(column, row).map(|value| text(key, value)))
            .collect();
        let numbers = NUMBERS.iter().filter_map(|(column, key)| {
            self.number(column, row).map(|value| attribute(key, Value::DoubleValue(value)))
        });
        attributes.extend(numbers);
        let passed = self.passed(row);
        let verdict = passed.map(|passed| if passed { "pass" } else { "fail" });
        attributes
            .extend(self.text("label", row).or(verdict).map(|l| text("gen_ai.evaluation.score.label", l)));
        attributes.extend(passed.map(|passed| attribute("groundline.passed", Value::BoolValue(passed))));
        if self.text("status", row) == Some("error") {
            attributes.push(text("error.type", "evaluation_error"));
            attributes.extend(self.text("error", row).map(|why| text("error.message", why)));
        }
        let version = self.0.column_by_name("score_version").and_then(|c| c.as_primitive_opt::<Int64Type>());
        attributes
            .extend(version.map(|c| attribute("groundline.score_version", Value::IntValue(c.value(row)))));
        let times = self.0.column_by_name("evaluated_at");
        let micros =
            times.and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>()).map_or(0, |c| c.value(row));
        let nanos = u64::try_from(micros.saturating_mul(1_000)).unwrap_or_default();
        let id = |name: &str| self.text(name, row).and_then(|id| hex::decode(id).ok()).unwrap_or_default();
        LogRecord {
            time_unix_nano: nanos,
            observed_time_unix_nano: nanos,
            event_name: EVENT.to_owned(),
            trace_id: id("trace_id"),
            span_id: id("span_id"),
            attributes,
            ..LogRecord::default()
        }
    }
}
