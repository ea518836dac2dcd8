use super::*;
use crate::domain::time::SystemClock;
use crate::ingest::decode;
use crate::journal::{self, Journal};
use crate::units::ByteSize;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{self as logs, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::trace::v1::{self as proto, ResourceSpans, ScopeSpans};
use prost::Message;

/// The largest frame in these tests, bytes.
const FRAME: usize = 64 << 10;

fn small(dir: &std::path::Path) -> (Journal, Receiver) {
    let config = journal::Config {
        segment_size: ByteSize::mib(1),
        max_frame_size: ByteSize::new(FRAME as u64),
        max_queued_size: ByteSize::mib(8),
        max_disk_size: ByteSize::mib(8),
        ..journal::Config::default()
    };
    let journal = Journal::open(dir, config, crate::schema::FORMAT).unwrap();
    let receiver = Receiver::new(journal.clone(), Arc::new(SystemClock), Config::default());
    (journal, receiver)
}

fn pair(key: &str, bytes: usize) -> KeyValue {
    let value = Some(AnyValue { value: Some(Any::StringValue("x".repeat(bytes))) });
    KeyValue { key: key.into(), value, ..KeyValue::default() }
}

fn span(id: u8, bytes: usize) -> proto::Span {
    proto::Span {
        trace_id: vec![1; 16],
        span_id: vec![id; 8],
        // Read as an evaluation of this span.
        attributes: vec![pair("large", bytes), pair("evaluations.0.evaluation.name", 4)],
        ..proto::Span::default()
    }
}

/// The body of a request whose scope has a name of `scope` bytes.
fn traces(spans: Vec<proto::Span>, scope: usize) -> Vec<u8> {
    let scope = Some(InstrumentationScope { name: "s".repeat(scope), ..InstrumentationScope::default() });
    let scope_spans = vec![ScopeSpans { spans, scope, ..ScopeSpans::default() }];
    let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

/// How many rows of `table` the journal holds, frame by frame.
fn stored(journal: &Journal, table: Table) -> Vec<usize> {
    let mut reader = journal.reader(0).unwrap();
    let frames = std::iter::from_fn(|| reader.next().unwrap());
    let rows = |part: Part| match part {
        Part::Rows(found, rows) if found == table => rows.num_rows(),
        _ => 0,
    };
    let wanted = frame::FrameKind::of(table);
    frames.map(|f| frame::decode(&f.payload, wanted).unwrap().into_iter().map(rows).sum()).collect()
}

#[tokio::test]
async fn a_span_that_no_frame_holds_costs_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, receiver) = small(dir.path());
    // All of them are one chunk of rows, which is cut until it fits.
    let spans = (1..=9).map(|id| span(id, if id == 5 { 2 * FRAME } else { FRAME / 8 })).collect();
    let receipt = receiver.spans(Traces::from_protobuf(&traces(spans, 1)).unwrap(), "t").await.unwrap();
    assert_eq!((receipt.accepted, receipt.rejected), (8, 1));
    assert!(receipt.message.contains("too large to be kept"), "{}", receipt.message);
    let (rows, scores) = (stored(&journal, Table::Spans), stored(&journal, Table::Scores));
    assert_eq!(rows.iter().sum::<usize>(), 8);
    assert_eq!(rows, scores, "a span and its scores are in one frame");
}

#[tokio::test]
async fn a_log_record_that_no_frame_holds_costs_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, receiver) = small(dir.path());
    let record = |id: usize| logs::LogRecord {
        attributes: vec![pair("large", if id == 5 { 2 * FRAME } else { FRAME / 8 })],
        ..logs::LogRecord::default()
    };
    let scope_logs = vec![ScopeLogs { log_records: (1..=9).map(record).collect(), ..ScopeLogs::default() }];
    let resource_logs = vec![ResourceLogs { scope_logs, ..ResourceLogs::default() }];
    let records = decode::logs(ExportLogsServiceRequest { resource_logs }, UnixNanos(1));
    let receipt = receiver.logs(records, "t").await.unwrap();
    assert_eq!((receipt.accepted, receipt.rejected), (8, 1));
    assert_eq!(stored(&journal, Table::LogRecords).iter().sum::<usize>(), 8);
}

#[test]
fn a_huge_row_has_a_chunk_of_its_own() {
    // What a convention makes of it may repeat it.
    let spans = vec![span(1, 1), span(2, 9 << 20), span(3, 1)];
    let chunks = Traces::from_protobuf(&traces(spans, 1)).unwrap().chunks;
    let rows = chunks.into_iter().map(|c| c.rows.finish("t", UnixNanos(1)).unwrap().num_rows());
    assert_eq!(rows.collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn the_scope_that_every_row_repeats_counts() {
    let spans = (1..=5).map(|id| span(id, 1)).collect();
    let chunks = Traces::from_protobuf(&traces(spans, 6 << 20)).unwrap().chunks;
    assert_eq!(chunks.len(), 3, "two rows of 6 MiB fit into a chunk of 16");
    let source = Source { scope_name: "s".into(), scope_version: "1.2".into(), ..Source::default() };
    assert_eq!(source_weight(&source), 4);
}
