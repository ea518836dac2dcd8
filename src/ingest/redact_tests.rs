use super::*;
use crate::domain::time::SystemClock;
use crate::ingest::decode::{self, Traces};
use crate::ingest::{self, Receiver};
use crate::journal::{self, Journal};
use crate::schema::frame;
use opentelemetry_proto::tonic::common::v1::{ArrayValue, KeyValueList};
use opentelemetry_proto::tonic::logs::v1::{ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Status, span};
use prost::Message;

/// What must be nowhere.
const SECRETS: [&str; 6] = [
    "jane.doe@example.org",
    "4111 1111 1111 1111",
    "4111111111111111",
    "AKIAIOSFODNN7EXAMPLE",
    "hunter2!x",
    "078-05-1120",
];

fn any(value: Value) -> AnyValue {
    AnyValue { value: Some(value) }
}

fn pair(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(any(value)), ..KeyValue::default() }
}

fn said() -> String {
    "I am jane.doe@example.org, my card is 4111 1111 1111 1111, SSN 078-05-1120.".to_owned()
}

fn attributes() -> Vec<KeyValue> {
    let message =
        serde_json::json!([{"role": "user", "content": format!("line\n4111111111111111\n{}", said())}]);
    let inner = vec![
        pair("password", Value::StringValue("hunter2!x".into())),
        pair("jane.doe@example.org", Value::BoolValue(true)),
    ];
    let list = ArrayValue {
        values: vec![any(Value::StringValue(said())), any(Value::IntValue(4_111_111_111_111_111))],
    };
    vec![
        pair("gen_ai.operation.name", Value::StringValue("chat".into())),
        pair("gen_ai.input.messages", Value::StringValue(message.to_string())),
        pair("gen_ai.usage.input_tokens", Value::IntValue(12_345_678)),
        pair("user.card", Value::IntValue(4_111_111_111_111_111)),
        pair("nested", Value::KvlistValue(KeyValueList { values: inner })),
        pair("cards", Value::ArrayValue(list)),
        pair("raw", Value::BytesValue(said().into_bytes())),
        pair("binary", Value::BytesValue(vec![0, 255, 3])),
    ]
}

fn trace_request() -> ExportTraceServiceRequest {
    let event =
        span::Event { time_unix_nano: 1, name: said(), attributes: attributes(), ..Default::default() };
    let link = span::Link {
        trace_id: vec![1; 16],
        span_id: vec![1; 8],
        attributes: attributes(),
        ..Default::default()
    };
    let span = Span {
        trace_id: vec![7; 16],
        span_id: vec![3; 8],
        name: "login AKIAIOSFODNN7EXAMPLE".into(),
        start_time_unix_nano: 1,
        end_time_unix_nano: 2,
        attributes: attributes(),
        events: vec![event],
        links: vec![link],
        status: Some(Status { message: said(), code: 2 }),
        ..Span::default()
    };
    let scope = InstrumentationScope { name: "s".into(), attributes: attributes(), ..Default::default() };
    let scope_spans = vec![ScopeSpans { scope: Some(scope), spans: vec![span], schema_url: said() }];
    let resource = Some(Resource { attributes: attributes(), ..Default::default() });
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans { resource, scope_spans, schema_url: said() }],
    }
}

fn log_request() -> ExportLogsServiceRequest {
    let record = LogRecord {
        time_unix_nano: 1,
        body: Some(any(Value::KvlistValue(KeyValueList { values: attributes() }))),
        attributes: attributes(),
        severity_text: "INFO".into(),
        ..Default::default()
    };
    let scope_logs = vec![ScopeLogs { scope: None, log_records: vec![record], schema_url: said() }];
    let group = ResourceLogs { resource: None, scope_logs, schema_url: said() };
    ExportLogsServiceRequest { resource_logs: vec![group] }
}

fn redactor(kinds: &str) -> Redactor {
    let config = Config { kinds: vec![kinds.to_owned()], ..Config::default() };
    Redactor::new(&config, Arc::default()).expect("there are kinds")
}

fn assert_clean(text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
}

#[test]
fn no_text_of_a_request_holds_a_secret() {
    let (mut traces, mut logs) = (trace_request(), log_request());
    redactor("*").traces(&mut traces);
    redactor("*").logs(&mut logs);
    assert_clean(&format!("{traces:?}"));
    assert_clean(&format!("{logs:?}"));
}

#[test]
fn rows_hold_no_secret() {
    let body = trace_request().encode_to_vec();
    let traces = Traces::redacted(&body, Some(&redactor("*")), &mut |_| Ok(())).expect("is OTLP");
    assert_eq!((traces.accepted, traces.rejected), (1, 0));
    for chunk in traces.chunks {
        let rows = chunk.rows.finish("t", crate::domain::time::UnixNanos(1)).expect("has columns");
        let text = arrow::util::pretty::pretty_format_batches(&[rows]).expect("is text").to_string();
        assert_clean(&text);
        for part in
            ["[EMAIL]", "[CREDIT_CARD]", "[PASSWORD]", "[US_SSN]", "login [AWS_ACCESS_KEY_ID]", "12345678"]
        {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
    let open = Traces::redacted(&body, None, &mut |_| Ok(())).expect("is OTLP").chunks.remove(0).rows;
    let rows = open.finish("t", crate::domain::time::UnixNanos(1)).expect("has columns");
    let text = arrow::util::pretty::pretty_format_batches(&[rows]).expect("is text").to_string();
    assert!(SECRETS.iter().all(|secret| text.contains(secret)), "without a redactor all is kept");
}

#[tokio::test]
async fn the_journal_holds_no_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal =
        Journal::open(folder.path(), journal::Config::default(), crate::schema::FORMAT).expect("opens");
    let mut config = ingest::Config::default();
    config.redact.kinds = vec!["*".to_owned()];
    let receiver = Receiver::new(journal.clone(), Arc::new(SystemClock), config);
    let redactor = receiver.redactor().expect("is on");
    let mut room = |_: usize| Ok(());
    let traces = Traces::redacted(&trace_request().encode_to_vec(), Some(&redactor), &mut room);
    let traces = traces.expect("is OTLP");
    receiver.spans(traces, "t").await.expect("is stored");
    let logs = log_request().encode_to_vec();
    let logs = decode::redacted_logs(&logs, Some(&redactor), receiver.now(), &mut room);
    receiver.logs(logs.expect("is OTLP"), "t").await.expect("is stored");
    drop(receiver);
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder.path()).expect("is there").flatten() {
        let content = std::fs::read(entry.path()).unwrap_or_default();
        bytes += content.len();
        assert_clean(&String::from_utf8_lossy(&content));
    }
    assert!(bytes > 1_000, "something was written: {bytes}");
}

#[test]
fn frames_are_not_packed() {
    // Else the test above would look for text in compressed bytes.
    let part = frame::Part::Rows(
        crate::schema::columns::Table::Spans,
        Traces::redacted(&trace_request().encode_to_vec(), None, &mut |_| Ok(()))
            .expect("is OTLP")
            .chunks
            .remove(0)
            .rows
            .finish("t", crate::domain::time::UnixNanos(1))
            .expect("has columns"),
    );
    let (_, payload) = frame::encode(&[part]).expect("is a frame");
    assert!(String::from_utf8_lossy(&payload).contains("jane.doe@example.org"));
}

#[test]
fn kinds_are_chosen_and_values_allowed() {
    let mut request = trace_request();
    redactor("email").traces(&mut request);
    let text = format!("{request:?}");
    assert!(!text.contains("jane.doe") && text.contains("4111 1111 1111 1111") && text.contains("hunter2"));
    let config = crate::detect::Config { allow: vec!["jane.doe@example.org".into()], ..Default::default() };
    let all = Config { kinds: vec!["*".to_owned()], replace: "#".to_owned() };
    let mut request = trace_request();
    Redactor::new(&all, Arc::new(Policy::new(&config))).expect("there are kinds").traces(&mut request);
    let text = format!("{request:?}");
    assert!(text.contains("jane.doe") && !text.contains("hunter2") && text.contains("login #"));
    assert!(Redactor::new(&Config::default(), Arc::default()).is_none());
}

#[test]
fn faults_are_told() {
    let config = Config { kinds: vec!["emial".to_owned()], replace: "x".repeat(100) };
    assert_eq!(config.faults().len(), 2);
    assert_eq!(Config::default().faults(), Vec::<String>::new());
}
