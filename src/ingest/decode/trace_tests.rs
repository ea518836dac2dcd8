use super::*;
use crate::domain::value::Value;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;

fn good(last: u8) -> proto::Span {
    proto::Span {
        trace_id: vec![1; 16],
        span_id: vec![0, 0, 0, 0, 0, 0, 0, last],
        start_time_unix_nano: 10,
        end_time_unix_nano: 20,
        ..proto::Span::default()
    }
}

fn request(spans: Vec<proto::Span>) -> ExportTraceServiceRequest {
    let group = ScopeSpans { spans, ..ScopeSpans::default() };
    let resource_spans = vec![ResourceSpans { scope_spans: vec![group], ..ResourceSpans::default() }];
    ExportTraceServiceRequest { resource_spans }
}

fn nested(depth: usize) -> AnyValue {
    let mut any = AnyValue { value: Some(Any::IntValue(7)) };
    for _ in 0..depth {
        any = AnyValue { value: Some(Any::ArrayValue(ArrayValue { values: vec![any] })) };
    }
    any
}

#[test]
fn bad_spans_are_rejected_one_by_one_and_named() {
    let out = spans(request(vec![
        good(1),
        proto::Span { trace_id: vec![1; 5], ..good(2) },
        proto::Span { trace_id: vec![], ..good(3) },
        proto::Span { trace_id: vec![0; 16], ..good(4) },
        proto::Span { span_id: vec![2; 7], ..good(5) },
        proto::Span { parent_span_id: vec![2; 7], ..good(6) },
        proto::Span { start_time_unix_nano: u64::MAX, ..good(7) },
        proto::Span { end_time_unix_nano: i64::MAX as u64 + 1, ..good(8) },
        good(9),
    ]));
    let kept: Vec<u8> = out.items.iter().map(|span| span.span_id.0[7]).collect();
    assert_eq!(kept, [1, 9]);
    assert_eq!(out.rejected, 7);
    assert_eq!(out.reasons.len(), 7);
    assert_eq!(
        out.reasons[0],
        "resource_spans[0].scope_spans[0].spans[1]: trace id has 5 bytes, must have 16"
    );
    assert!(out.reasons[1].ends_with("trace id has 0 bytes, must have 16"), "{}", out.reasons[1]);
    assert!(out.reasons[2].ends_with("trace id is all zeros"), "{}", out.reasons[2]);
    assert!(out.reasons[4].ends_with("parent span id has 7 bytes, must have 8"), "{}", out.reasons[4]);
    assert!(out.reasons[5].ends_with("start_time_unix_nano is after the year 2262"), "{}", out.reasons[5]);
}

#[test]
fn reasons_are_bounded_and_the_count_is_exact() {
    let out = spans(request((0..5000).map(|_| proto::Span { span_id: vec![], ..good(1) }).collect()));
    assert_eq!((out.rejected, out.reasons.len(), out.items.len()), (5000, 10, 0));
}

#[test]
fn odd_times_and_names_are_kept() {
    let out = spans(request(vec![
        proto::Span { end_time_unix_nano: 5, ..good(1) },
        proto::Span { start_time_unix_nano: 0, end_time_unix_nano: 0, ..good(2) },
        proto::Span { start_time_unix_nano: i64::MAX as u64, end_time_unix_nano: i64::MAX as u64, ..good(3) },
        proto::Span { parent_span_id: vec![0; 8], ..good(4) },
    ]));
    assert_eq!((out.items.len(), out.rejected), (4, 0));
    assert_eq!(out.warnings, ["resource_spans[0].scope_spans[0].spans[0]: the span ends before it starts"]);
    assert_eq!(out.items[3].parent_span_id, None);
}

#[test]
fn a_value_that_nests_too_deep_costs_its_span() {
    let with = |last, depth| {
        let pair = KeyValue { key: "deep".into(), value: Some(nested(depth)), ..KeyValue::default() };
        proto::Span { attributes: vec![pair], ..good(last) }
    };
    let out = spans(request(vec![with(1, MAX_DEPTH), with(2, MAX_DEPTH + 1)]));
    assert_eq!((out.items.len(), out.rejected), (1, 1));
    assert!(out.reasons[0].contains("nests deeper than 32"), "{}", out.reasons[0]);
}

#[test]
fn a_value_with_nothing_set_is_null_and_empty_requests_are_fine() {
    let pair = KeyValue { key: "k".into(), value: Some(AnyValue { value: None }), ..KeyValue::default() };
    let none = KeyValue { key: "n".into(), value: None, ..KeyValue::default() };
    let out = spans(request(vec![proto::Span { attributes: vec![pair, none], ..good(1) }]));
    assert_eq!(out.items[0].attributes.0, [("k".into(), Value::Null), ("n".into(), Value::Null)]);
    assert_eq!(spans(ExportTraceServiceRequest::default()), Decoded::with_capacity(0));
}
