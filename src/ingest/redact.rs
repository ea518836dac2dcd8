//! What senders should not have sent is redacted before anything is stored.
//!
//! It is done on OTLP's structures, before conventions are read from them: whatever is made of a span, its row, its
//! normalised fields, a score, comes from the redacted text. Requests take the general decoder then, not the direct way.

use crate::detect::{Counts, KIND, Kinds, Policy, Redaction};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Settings of redaction.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What is redacted: kinds such as `email`, `pii`, `secrets`, or `*` for both; nothing if empty.
    pub kinds: Vec<String>,
    /// What stands in its place; `{kind}` is the kind in capitals.
    pub replace: String,
}

impl Default for Config {
    fn default() -> Self {
        Self { kinds: Vec::new(), replace: format!("[{KIND}]") }
    }
}

/// A replacement is no longer, bytes: a text of many findings would grow without end.
const MAX_REPLACE: usize = 64;

impl Config {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Kinds::faults("ingest.redact.kinds", &self.kinds);
        if self.replace.len() > MAX_REPLACE {
            faults.push(format!("ingest.redact.replace is longer than {MAX_REPLACE} bytes: shorten it"));
        }
        faults
    }
}

/// Redacts what is found in requests.
#[derive(Debug, Clone)]
pub struct Redactor(Redaction);

impl Redactor {
    /// None if no kinds are to be redacted.
    pub fn new(config: &Config, policy: Arc<Policy>) -> Option<Self> {
        let kinds = Kinds::of(&config.kinds);
        (!kinds.is_empty()).then(|| Self(Redaction::new(kinds, policy, config.replace.clone())))
    }

    /// When it returns, no text of the request holds a finding: names, messages, keys and values, however nested.
    pub fn traces(&self, request: &mut ExportTraceServiceRequest) {
        let mut pass = Pass::new(&self.0);
        for group in &mut request.resource_spans {
            pass.resource(group.resource.as_mut());
            pass.text("", &mut group.schema_url);
            for group in &mut group.scope_spans {
                pass.scope(group.scope.as_mut());
                pass.text("", &mut group.schema_url);
                group.spans.iter_mut().for_each(|span| pass.span(span));
            }
        }
        pass.count();
    }

    /// As [`Redactor::traces`], of log records and their bodies.
    pub fn logs(&self, request: &mut ExportLogsServiceRequest) {
        let mut pass = Pass::new(&self.0);
        for group in &mut request.resource_logs {
            pass.resource(group.resource.as_mut());
            pass.text("", &mut group.schema_url);
            for group in &mut group.scope_logs {
                pass.scope(group.scope.as_mut());
                pass.text("", &mut group.schema_url);
                group.log_records.iter_mut().for_each(|record| pass.record(record));
            }
        }
        pass.count();
    }

    /// As [`Redactor::traces`], of single texts.
    pub fn texts<'a>(&self, texts: impl Iterator<Item = &'a mut String>) {
        let mut pass = Pass::new(&self.0);
        texts.for_each(|text| pass.text("", text));
        pass.count();
    }
}

/// One walk over a request.
struct Pass<'a> {
    redaction: &'a Redaction,
    counts: Counts,
}

impl<'a> Pass<'a> {
    fn new(redaction: &'a Redaction) -> Self {
        Self { redaction, counts: Counts::new() }
    }

    fn count(self) {
        for (kind, count) in self.counts {
            metrics::counter!("groundline_redacted_total", "kind" => kind).increment(count);
        }
    }

    fn text(&mut self, name: &str, text: &mut String) {
        if let std::borrow::Cow::Owned(clean) = self.redaction.text(name, text, &mut self.counts) {
            *text = clean;
        }
    }

    fn resource(&mut self, resource: Option<&mut Resource>) {
        if let Some(resource) = resource {
            self.pairs(&mut resource.attributes);
        }
    }

    fn scope(&mut self, scope: Option<&mut InstrumentationScope>) {
        if let Some(scope) = scope {
            self.text("", &mut scope.name);
            self.text("", &mut scope.version);
            self.pairs(&mut scope.attributes);
        }
    }

    fn span(&mut self, span: &mut Span) {
        self.text("", &mut span.name);
        self.text("", &mut span.trace_state);
        self.pairs(&mut span.attributes);
        for event in &mut span.events {
            self.text("", &mut event.name);
            self.pairs(&mut event.attributes);
        }
        for link in &mut span.links {
            self.text("", &mut link.trace_state);
            self.pairs(&mut link.attributes);
        }
        if let Some(status) = &mut span.status {
            self.text("", &mut status.message);
        }
    }

    fn record(&mut self, record: &mut LogRecord) {
        self.text("", &mut record.event_name);
        self.text("", &mut record.severity_text);
        self.pairs(&mut record.attributes);
        if let Some(body) = &mut record.body {
            self.value("", body);
        }
    }

    fn pairs(&mut self, pairs: &mut [KeyValue]) {
        for pair in pairs {
            if let Some(value) = &mut pair.value {
                self.value(&pair.key, value);
            }
            self.text("", &mut pair.key);
        }
    }

    fn value(&mut self, name: &str, value: &mut AnyValue) {
        let number = match &value.value {
            Some(Value::IntValue(number)) => Some(number.to_string()),
            Some(Value::DoubleValue(number)) => Some(number.to_string()),
            _ => None,
        };
        if let Some(text) = number.and_then(|n| self.redaction.number(name, &n, &mut self.counts)) {
            value.value = Some(Value::StringValue(text));
        }
        match &mut value.value {
            Some(Value::StringValue(text)) => self.text(name, text),
            Some(Value::BytesValue(bytes)) => {
                let Ok(mut text) = String::from_utf8(bytes.clone()) else { return };
                self.text(name, &mut text);
                *bytes = text.into_bytes();
            }
            Some(Value::ArrayValue(list)) => {
                list.values.iter_mut().for_each(|item| self.value(name, item));
            }
            Some(Value::KvlistValue(map)) => self.pairs(&mut map.values),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
