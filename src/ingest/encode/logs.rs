//! Rows of the table `log_records`, as they are stored, to a log request.

use super::request::{EncodeError, any, key_values, narrow, unsigned};
use crate::domain::id::{SpanId, TraceId};
use crate::domain::value::{Attrs, Value};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use std::collections::HashMap;

/// A log request with the records of `batches`, rows of `log_records` as they are stored. Records of one resource and one
/// scope stand together, in the order of the rows.
///
/// # Errors
/// Texts and ids that the receiver never stored.
pub fn logs_to_request(batches: &[RecordBatch]) -> Result<ExportLogsServiceRequest, EncodeError> {
    let mut request = ExportLogsServiceRequest::default();
    let mut resources: HashMap<String, usize> = HashMap::new();
    let mut scopes: HashMap<[String; 2], usize> = HashMap::new();
    for batch in batches {
        let rows = Rows(batch);
        for row in 0..batch.num_rows() {
            let [resource, scope] =
                ["resource_attributes", "scope_name"].map(|name| rows.text(name, row).to_owned());
            let at = match resources.get(&resource) {
                Some(at) => *at,
                None => {
                    let attributes = rows.attrs("resource_attributes", row)?;
                    let found = Some(Resource { attributes, ..Resource::default() });
                    request.resource_logs.push(ResourceLogs { resource: found, ..ResourceLogs::default() });
                    resources.insert(resource.clone(), request.resource_logs.len() - 1);
                    request.resource_logs.len() - 1
                }
            };
            let groups = &mut request.resource_logs[at].scope_logs;
            let key = [resource, scope];
            let group = match scopes.get(&key) {
                Some(group) => *group,
                None => {
                    let name = key[1].clone();
                    let found = Some(InstrumentationScope { name, ..InstrumentationScope::default() });
                    groups.push(ScopeLogs { scope: found, ..ScopeLogs::default() });
                    scopes.insert(key, groups.len() - 1);
                    groups.len() - 1
                }
            };
            groups[group].log_records.push(rows.record(row)?);
        }
    }
    Ok(request)
}

/// Rows of `log_records` by the names of their columns; what is missing or NULL is empty.
struct Rows<'a>(&'a RecordBatch);

impl Rows<'_> {
    fn text(&self, name: &str, row: usize) -> &str {
        let column = self.0.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
        column.filter(|column| column.is_valid(row)).map_or("", |column| column.value(row))
    }

    fn number(&self, name: &str, row: usize) -> i64 {
        let column = self.0.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>());
        column.filter(|column| column.is_valid(row)).map_or(0, |column| column.value(row))
    }

    /// When the server received the record, nanoseconds since 1970.
    fn received(&self, row: usize) -> i64 {
        let column = self.0.column_by_name("received_at");
        let column = column.and_then(|column| column.as_primitive_opt::<TimestampMicrosecondType>());
        column.map_or(0, |column| column.value(row).saturating_mul(1_000))
    }

    fn attrs(&self, column: &'static str, row: usize) -> Result<Vec<KeyValue>, EncodeError> {
        match self.text(column, row) {
            "" => Ok(Vec::new()),
            text => match Attrs::from_json(text) {
                Ok(attrs) => Ok(key_values(attrs.0)),
                Err(source) => Err(EncodeError::Json { column, row, source }),
            },
        }
    }

    fn record(&self, row: usize) -> Result<LogRecord, EncodeError> {
        let wrong = |column| move |source| EncodeError::Id { column, row, source };
        let trace_id = match self.text("trace_id", row) {
            "" => Vec::new(),
            id => TraceId::from_hex(id).map_err(wrong("trace_id"))?.0.to_vec(),
        };
        let span_id = match self.text("span_id", row) {
            "" => Vec::new(),
            id => SpanId::from_hex(id).map_err(wrong("span_id"))?.0.to_vec(),
        };
        let body = match self.text("body", row) {
            "" => None,
            text => {
                let body = Value::from_json(text);
                Some(any(body.map_err(|source| EncodeError::Json { column: "body", row, source })?))
            }
        };
        Ok(LogRecord {
            time_unix_nano: unsigned(self.number("time_unix_nano", row)),
            observed_time_unix_nano: unsigned(self.received(row)),
            severity_number: i32::try_from(self.number("severity_number", row)).unwrap_or_default(),
            severity_text: self.text("severity_text", row).to_owned(),
            body,
            attributes: self.attrs("attributes", row)?,
            dropped_attributes_count: narrow(self.number("dropped_attributes_count", row)),
            flags: narrow(self.number("flags", row)),
            trace_id,
            span_id,
            event_name: self.text("event_name", row).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::UnixNanos;
    use crate::ingest::decode;
    use crate::schema::batch::logs_to_batch;
    use opentelemetry_proto::tonic::common::v1::AnyValue;
    use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;

    fn said(text: &str) -> AnyValue {
        AnyValue { value: Some(Any::StringValue(text.to_owned())) }
    }

    fn pair(key: &str, value: &str) -> KeyValue {
        KeyValue { key: key.to_owned(), value: Some(said(value)), ..KeyValue::default() }
    }

    fn group(service: &str, scope: &str, log_records: Vec<LogRecord>) -> ResourceLogs {
        let scope = InstrumentationScope { name: scope.to_owned(), ..InstrumentationScope::default() };
        let scope_logs = vec![ScopeLogs { scope: Some(scope), log_records, ..ScopeLogs::default() }];
        let resource = Resource { attributes: vec![pair("service.name", service)], ..Resource::default() };
        ResourceLogs { resource: Some(resource), scope_logs, ..ResourceLogs::default() }
    }

    #[test]
    fn what_came_in_goes_out_field_by_field() {
        let received = UnixNanos(7_000_000);
        let whole = LogRecord {
            time_unix_nano: 5_000_001,
            observed_time_unix_nano: 7_000_000,
            severity_number: 9,
            severity_text: "INFO".to_owned(),
            body: Some(said("paid")),
            attributes: vec![pair("k", "v")],
            dropped_attributes_count: 2,
            flags: 1,
            trace_id: vec![7; 16],
            span_id: vec![8; 8],
            event_name: "payment".to_owned(),
        };
        // Outside of any trace, and without a body.
        let bare =
            LogRecord { time_unix_nano: 1, observed_time_unix_nano: 7_000_000, ..LogRecord::default() };
        let sent = ExportLogsServiceRequest {
            resource_logs: vec![
                group("shop", "a", vec![whole.clone(), bare]),
                group("bank", "a", vec![whole]),
            ],
        };
        let decoded = decode::logs(sent.clone(), received);
        assert_eq!((decoded.items.len(), decoded.rejected), (3, 0));
        let batch = logs_to_batch(&decoded.items, "t", received).unwrap();
        assert_eq!(logs_to_request(&[batch.slice(0, 2), batch.slice(2, 1)]).unwrap(), sent);
    }
}
