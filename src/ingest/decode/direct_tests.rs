//! The direct way gives the very rows that the general decoder gives, or says that it cannot.

use super::super::protobuf::from_protobuf;
use super::super::weigh::tests::wrapped;
use super::*;
use crate::ingest::decode::Chunk;
use crate::schema::batch::spans_to_batch;
use arrow::array::RecordBatch;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, KeyValueList};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span as ProtoSpan, Status, span};

const NOW: UnixNanos = UnixNanos(1_700_000_000_000_000_000);

fn traces(body: &[u8]) -> Result<Traces, Unusual> {
    super::traces(body, &mut |_| Ok(()))
}

fn direct(body: &[u8]) -> Result<Vec<RecordBatch>, Unusual> {
    let chunks = traces(body)?.chunks;
    Ok(chunks.into_iter().map(|chunk: Chunk| chunk.rows.finish("t", NOW).unwrap()).collect())
}

fn general(body: &[u8]) -> RecordBatch {
    let request = from_protobuf::<ExportTraceServiceRequest>(body).unwrap();
    let decoded = trace::spans(request);
    assert_eq!(decoded.rejected, 0);
    spans_to_batch(&decoded.items, "t", NOW).unwrap()
}

fn any(value: Any) -> Option<AnyValue> {
    Some(AnyValue { value: Some(value) })
}

fn pair(key: &str, value: Option<AnyValue>) -> KeyValue {
    KeyValue { key: key.into(), value, ..KeyValue::default() }
}

fn every_kind() -> Vec<KeyValue> {
    let list = vec![AnyValue { value: None }, any(Any::IntValue(-1)).unwrap()];
    let map = vec![pair("$inner", any(Any::StringValue("x\u{1}\"\\é🎈".into()))), pair("", None)];
    vec![
        pair("text", any(Any::StringValue("a \"quoted\"\n\ttext of more than eight bytes\u{7f}".into()))),
        pair("empty", any(Any::StringValue(String::new()))),
        pair("true", any(Any::BoolValue(true))),
        pair("int", any(Any::IntValue(i64::MIN))),
        pair("double", any(Any::DoubleValue(5.0))),
        pair("nan", any(Any::DoubleValue(f64::NAN))),
        pair("bytes", any(Any::BytesValue(vec![0, 255, 3]))),
        pair("list", any(Any::ArrayValue(ArrayValue { values: list }))),
        pair("map", any(Any::KvlistValue(KeyValueList { values: map }))),
        pair("empty list", any(Any::ArrayValue(ArrayValue { values: vec![] }))),
        pair("$key", None),
        pair("text", any(Any::StringValue("the same key again".into()))),
    ]
}

fn a_span(at: u8) -> ProtoSpan {
    let event = span::Event {
        time_unix_nano: 7,
        name: "an event".into(),
        attributes: every_kind(),
        dropped_attributes_count: 2,
    };
    let link = span::Link {
        trace_id: vec![1; 16],
        span_id: vec![2; 3],
        trace_state: "a=b".into(),
        attributes: every_kind(),
        dropped_attributes_count: 1,
        flags: 257,
    };
    ProtoSpan {
        trace_id: vec![at; 16],
        span_id: vec![at; 8],
        parent_span_id: if at.is_multiple_of(2) { vec![] } else { vec![9; 8] },
        trace_state: "ot=th:8".into(),
        name: "operation".into(),
        kind: i32::from(at % 6),
        start_time_unix_nano: 1_000 + u64::from(at),
        end_time_unix_nano: 2_000,
        attributes: every_kind(),
        dropped_attributes_count: 3,
        events: vec![event; usize::from(at % 3)],
        dropped_events_count: 4,
        links: vec![link; usize::from(at % 2)],
        dropped_links_count: u32::MAX,
        status: at.is_multiple_of(2).then(|| Status { message: "m".into(), code: i32::from(at % 3) }),
        flags: 0x0000_0301,
    }
}

fn request(spans: Vec<ProtoSpan>) -> Vec<u8> {
    let scope = InstrumentationScope { name: "s".into(), version: "1".into(), ..Default::default() };
    let scope_spans = ScopeSpans { scope: Some(scope), spans, schema_url: "https://schema".into() };
    let resource = Resource {
        attributes: vec![pair("service.name", any(Any::StringValue("shop".into())))],
        ..Resource::default()
    };
    let group = ResourceSpans {
        resource: Some(resource),
        scope_spans: vec![scope_spans, ScopeSpans::default()],
        schema_url: "https://other".into(),
    };
    ExportTraceServiceRequest { resource_spans: vec![group, ResourceSpans::default()] }.encode_to_vec()
}

#[test]
fn spans_of_every_shape_are_the_same_both_ways() {
    let spans: Vec<ProtoSpan> = (1..13).map(a_span).collect();
    let speaking = |key: &str, value: Any| {
        let mut span = a_span(1);
        span.attributes.push(pair(key, any(value)));
        span
    };
    let text = |t: &str| Any::StringValue(t.into());
    let others = [
        speaking("gen_ai.request.model", text("m")),
        speaking("session.id", text("s")),
        speaking("user.id", text("u")),
        speaking("error.type", text("E")),
        speaking("llm.model_name", text("m")),
        speaking("db.system", text("pinecone")),
        speaking("evaluations.0.evaluation.name", text("good")),
    ];
    let body = request(spans.into_iter().chain(others).collect());
    assert_eq!(direct(&body).unwrap(), [general(&body)]);
    assert!(direct(&[]).unwrap().is_empty());
}

#[test]
fn captured_requests_are_the_same_both_ways() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otlp");
    let (mut files, mut folders, mut straight) = (0, vec![folder], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.to_string_lossy().into_owned();
            if !name.ends_with(".pb") || name.contains(".logs.") {
                continue;
            }
            let body = std::fs::read(&path).unwrap();
            files += 1;
            if let Ok(batches) = direct(&body) {
                assert_eq!(batches, [general(&body)], "{name}");
                straight += 1;
            }
        }
    }
    assert!(files > 100 && straight * 10 >= files * 9, "{straight} of {files}");
}

#[test]
fn whatever_is_cut_or_changed_is_the_same_both_ways_or_unusual() {
    let body = request(vec![a_span(5)]);
    let same = |bytes: &[u8]| match (direct(bytes), from_protobuf::<ExportTraceServiceRequest>(bytes)) {
        (Err(Unusual), _) => {}
        (Ok(_), Err(error)) => panic!("the direct way accepts what protobuf refuses: {error}"),
        (Ok(batches), Ok(_)) if batches.is_empty() => {}
        (Ok(batches), Ok(_)) => assert_eq!(batches, [general(bytes)]),
    };
    for length in 0..body.len() {
        same(&body[..length]);
    }
    let mut state = 7u64;
    for _ in 0..2_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (at, bit) = ((state >> 33) as usize % body.len(), 1u8 << (state >> 29 & 7));
        let mut bytes = body.clone();
        bytes[at] ^= bit;
        same(&bytes);
    }
}

#[test]
fn a_resource_that_many_rows_repeat_is_bounded() {
    let mut group = ResourceSpans::default();
    let large = pair("large", any(Any::StringValue("x".repeat(1 << 20))));
    group.resource = Some(Resource { attributes: vec![large], ..Resource::default() });
    let spans = (0..2_000u32).map(|at| ProtoSpan {
        trace_id: vec![1; 16],
        span_id: [[1; 4], at.to_be_bytes()].concat(),
        ..ProtoSpan::default()
    });
    group.scope_spans = vec![ScopeSpans { spans: spans.collect(), ..ScopeSpans::default() }];
    let body = ExportTraceServiceRequest { resource_spans: vec![group] }.encode_to_vec();
    assert!(matches!(Traces::from_protobuf(&body), Err(super::super::DecodeError::Heavy(_))));
}

#[test]
fn what_is_decoded_as_a_whole_is_weighed_first() {
    let list = wrapped(0x2a, &[0x0a, 0x00].repeat(15 << 20));
    let heavy = [wrapped(0x0a, b"list"), wrapped(0x12, &list)].concat();
    let mut speaking = a_span(1);
    speaking.attributes = vec![pair("gen_ai.request.model", any(Any::StringValue("m".into())))];
    // Fields of a message may come in any order.
    let speaking = [speaking.encode_to_vec(), wrapped(0x4a, &heavy)].concat();
    let speaking = wrapped(0x0a, &wrapped(0x12, &wrapped(0x12, &speaking)));
    let resource = wrapped(0x0a, &wrapped(0x0a, &wrapped(0x0a, &heavy)));
    for body in [speaking, resource] {
        assert!(traces(&body).is_err());
        assert!(matches!(Traces::from_protobuf(&body), Err(super::super::DecodeError::Heavy(_))));
    }
}

#[test]
fn an_evaluated_span_is_in_the_chunk_of_its_row() {
    let spans = (1..40u8).map(|at| {
        let mut span = a_span(at);
        let text = "x".repeat(1 << 20);
        span.attributes.push(pair("large", any(Any::StringValue(text))));
        span.attributes.push(pair("evaluations.0.evaluation.name", any(Any::StringValue("good".into()))));
        span
    });
    let body = request(spans.collect());
    let general = Traces::from_request(from_protobuf(&body).unwrap()).unwrap();
    for all in [traces(&body).unwrap(), general] {
        assert!(all.chunks.len() > 1);
        for chunk in all.chunks {
            let rows = chunk.rows.finish("t", NOW).unwrap();
            assert_eq!(rows.num_rows(), chunk.evaluated.len());
        }
    }
}
