use super::super::{from_protobuf, logs, spans};
use super::*;
use crate::domain::time::UnixNanos;
use crate::domain::value::Value;
use serde_json::json;

fn request(span: Json) -> Vec<u8> {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string().into_bytes()
}

fn span_json(extra: Json) -> Json {
    let mut span = json!({"traceId": "0102030405060708090A0b0c0d0e0f10", "spanId": "00000000000000aB"});
    for (key, value) in extra.as_object().expect("is an object") {
        span[key] = value.clone();
    }
    span
}

fn refused(extra: Json) -> String {
    traces_from_json(&request(span_json(extra))).expect_err("is refused").to_string()
}

#[test]
fn every_kind_of_value_is_read() {
    let values = json!([
        {"key": "s", "value": {"stringValue": "x"}},
        {"key": "b", "value": {"boolValue": false}},
        {"key": "i", "value": {"intValue": "9223372036854775807"}},
        {"key": "j", "value": {"intValue": -5}},
        {"key": "d", "value": {"doubleValue": 0.5}},
        {"key": "n", "value": {"doubleValue": "-Infinity"}},
        {"key": "y", "value": {"bytesValue": "AQI="}},
        {"key": "a", "value": {"arrayValue": {"values": [{"stringValue": "1"}, {}]}}},
        {"key": "m", "value": {"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": true}}]}}},
        {"key": "e", "value": {}},
        {"key": "z", "value": null},
        {"key": "q"},
    ]);
    let span =
        span_json(json!({"attributes": values, "kind": 3, "startTimeUnixNano": "1", "endTimeUnixNano": 2}));
    let out = spans(traces_from_json(&request(span)).expect("decodes"));
    let span = &out.items[0];
    assert_eq!((span.start, span.end, span.kind.as_str()), (UnixNanos(1), UnixNanos(2), "client"));
    let got: Vec<Value> = span.attributes.0.iter().map(|(_, value)| value.clone()).collect();
    let want = [
        Value::Str("x".into()),
        Value::Bool(false),
        Value::Int(i64::MAX),
        Value::Int(-5),
        Value::Double(0.5),
        Value::Double(f64::NEG_INFINITY),
        Value::Bytes(vec![1, 2]),
        Value::Array(vec![Value::Str("1".into()), Value::Null]),
        Value::Map(vec![("k".into(), Value::Bool(true))]),
        Value::Null,
        Value::Null,
        Value::Null,
    ];
    assert_eq!(got, want);
}

#[test]
fn a_bad_id_costs_one_span_and_not_the_request() {
    let body = json!({"resourceSpans": [{"scopeSpans": [{"spans": [
        span_json(json!({})),
        span_json(json!({"traceId": "zzzzzzzzzzzzzzzz"})),
        span_json(json!({"spanId": "abc"})),
        span_json(json!({"parentSpanId": "AAAAAAAAAAA="})),
        span_json(json!({"parentSpanId": null})),
    ]}]}]});
    let out = spans(traces_from_json(body.to_string().as_bytes()).expect("decodes"));
    assert_eq!((out.items.len(), out.rejected), (2, 3));
    assert!(out.reasons[0].contains("spans[1]: trace id"), "{}", out.reasons[0]);
}

#[test]
fn enumerations_are_integers_only() {
    assert_eq!(
        refused(json!({"kind": "SPAN_KIND_SERVER"})),
        "$.resourceSpans[0].scopeSpans[0].spans[0].kind: must be the enumeration's integer, not its name"
    );
    assert!(refused(json!({"status": {"code": "STATUS_CODE_ERROR"}})).contains("spans[0].status.code"));
    assert!(refused(json!({"kind": "3"})).contains("spans[0].kind"));
}

#[test]
fn fields_of_the_wrong_type_are_named() {
    assert!(refused(json!({"startTimeUnixNano": "soon"})).contains("startTimeUnixNano: must be an unsigned"));
    assert!(refused(json!({"startTimeUnixNano": -1})).contains("startTimeUnixNano"));
    assert!(refused(json!({"attributes": {}})).contains("attributes: must be a list"));
    assert!(refused(json!({"attributes": ["x"]})).contains("attributes[0]: must be an object"));
    let not_base64 = json!({"attributes": [{"key": "k", "value": {"bytesValue": "*"}}]});
    assert!(refused(not_base64).contains("attributes[0].value.bytesValue: must be base64"));
    assert!(refused(json!({"name": 7})).contains("name: must be a string"));
}

#[test]
fn snake_case_and_unknown_fields_are_ignored_at_every_level() {
    let body = json!({"resource_spans": [{"x": 1}], "resourceSpans": [{"new": {}, "scopeSpans": [{"spans": [
        span_json(json!({"start_time_unix_nano": "5", "new": [1], "status": {"code": 2, "new": 1},
            "attributes": [{"key": "k", "value": {"stringValue": "v", "new": 0}, "keyStrindex": 0}]}))
    ]}]}]});
    let out = spans(traces_from_json(body.to_string().as_bytes()).expect("decodes"));
    assert_eq!((out.items.len(), out.items[0].start), (1, UnixNanos(0)));
    assert_eq!(out.items[0].attributes.str("k"), Some("v"));
}

#[test]
fn what_is_not_otlp_is_an_error_and_nothing_is_an_empty_request() {
    for body in ["[1", "{\"resourceSpans\": [", "[]", "1", "null", "{\"resourceSpans\": 5}", "\u{feff}{}"] {
        assert!(traces_from_json(body.as_bytes()).is_err(), "{body}");
        if !body.contains("resourceSpans") {
            assert!(metrics_from_json(body.as_bytes(), &mut |_| Ok(())).is_err(), "{body}");
        }
    }
    for body in ["", "{}", "{\"resourceSpans\": null}", "{\"resourceSpans\": []}", " {\"other\": 1} "] {
        assert_eq!(traces_from_json(body.as_bytes()), Ok(Default::default()), "{body}");
        assert_eq!(metrics_from_json(body.as_bytes(), &mut |_| Ok(())), Ok(()), "{body}");
    }
    assert!(from_protobuf::<ExportTraceServiceRequest>(&[0xff, 0x01]).is_err());
    assert_eq!(from_protobuf::<ExportTraceServiceRequest>(&[]), Ok(Default::default()));
}

#[test]
fn half_a_character_costs_itself_and_not_the_request() {
    let read = |text: &str| {
        let body = request(span_json(json!({"name": "HERE"})));
        let body = String::from_utf8(body).expect("is UTF-8").replace("HERE", text);
        let out = traces_from_json(body.as_bytes()).map(spans);
        out.map(|out| out.items[0].name.clone()).map_err(|error| error.to_string())
    };
    for (text, name) in [
        // A leading half at the end, before text, before another escape, and twice.
        (r"cut \ud83d", "cut \u{fffd}"),
        (r"\uD83Dx", "\u{fffd}x"),
        (r"\ud83d\n\u0041", "\u{fffd}\nA"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        // A trailing half alone, and behind a whole pair.
        (r"\ude00 rest", "\u{fffd} rest"),
        (r"\ud83d\ude00\ude00", "\u{1f600}\u{fffd}"),
        // What only looks like one is text.
        (r"\\ud83d \ud83d", "\\ud83d \u{fffd}"),
        (r"\\ud83d", "\\ud83d"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(name), "{text}");
    }
    for wrong in [r"\ud83", r"\ud83d\x", r"\ud83d\u00g0"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    // The copy takes memory as well.
    let body = br#"{"resourceSpans": [], "x": "\ud83d"}"#;
    let mut asked = Vec::new();
    let read = traces_within(body, &mut |bytes| {
        asked.push(bytes);
        Ok(())
    });
    assert_eq!(read, Ok(Default::default()));
    assert!(asked.contains(&(asked[0] + body.len())), "{asked:?}");
}

#[test]
fn deep_values_fail_without_overflowing_the_stack() {
    let nest = |depth: usize| {
        let value = format!(
            "{}{{\"intValue\":1}}{}",
            "{\"arrayValue\":{\"values\":[".repeat(depth),
            "]}}".repeat(depth)
        );
        let body = request(span_json(json!({"attributes": [{"key": "k", "value": "HERE"}]})));
        String::from_utf8(body).expect("is UTF-8").replace("\"HERE\"", &value).into_bytes()
    };
    let out = spans(traces_from_json(&nest(33)).expect("the parser takes it"));
    assert_eq!((out.items.len(), out.rejected), (0, 1));
    assert!(matches!(traces_from_json(&nest(10_000)), Err(DecodeError::Json(_))));
}

#[test]
fn an_id_in_base64_costs_its_span_and_is_told() {
    let body = request(span_json(json!({"traceId": "CvdlGRbNQ92ESOshHIAxnA=="})));
    let out = spans(traces_from_json(&body).expect("decodes"));
    assert_eq!((out.items.len(), out.rejected), (0, 1));
    assert!(out.reasons[0].ends_with("an id is hexadecimal text, not base64"), "{}", out.reasons[0]);
}

#[test]
fn of_a_body_of_which_nothing_is_taken_the_keys_are_told() {
    let told = |body: &str| unread(body.as_bytes(), "resourceSpans");
    for (body, word) in [
        ("{\"resource_spans\": []}", "\"resourceSpans\""),
        ("{\"resourceSpans\": [{\"scope_spans\" : []}]}", "\"scopeSpans\""),
        ("{\"resourceSpans\": [{\"scopeSpans\": [{\"spans\": [{\"trace_id\":\"01\"}]}]}]}", "\"traceId\""),
        ("{\"spans\": [{}]}", "there is no key \"resourceSpans\""),
    ] {
        assert!(told(body).is_some_and(|told| told.contains(word)), "{body}: {:?}", told(body));
    }
    for body in ["", "{}", "{\"resourceSpans\": []}", "{\"resourceSpans\": [{\"schemaUrl\": \"trace_id\"}]}"]
    {
        assert_eq!(told(body), None, "{body}");
    }
}

#[test]
fn log_records_keep_their_content_when_their_ids_are_bad() {
    let body = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [
        {"traceId": "01", "spanId": "00000000000000ab", "body": {"stringValue": "hello"}},
        {"traceId": "", "observedTimeUnixNano": "7", "severityNumber": 9,
            "attributes": [{"key": "event.name", "value": {"stringValue": "gen_ai.user.message"}}]},
        {"traceId": "0102030405060708090a0b0c0d0e0f10", "spanId": "00000000000000ab", "timeUnixNano": u64::MAX.to_string(),
            "eventName": "named"},
    ]}]}]});
    let out = logs(logs_from_json(body.to_string().as_bytes()).expect("decodes"), UnixNanos(99));
    assert_eq!((out.items.len(), out.rejected), (3, 0));
    assert_eq!(
        out.warnings,
        [
            "resource_logs[0].scope_logs[0].log_records[0]: trace id has 1 bytes, must have 16; the record is kept without it"
        ]
    );
    let (first, second, third) = (&out.items[0], &out.items[1], &out.items[2]);
    assert_eq!((first.trace_id, first.span_id, first.time), (None, None, UnixNanos(99)));
    assert_eq!(first.body, Value::Str("hello".into()));
    assert_eq!((second.event_name.as_str(), second.time), ("gen_ai.user.message", UnixNanos(7)));
    assert_eq!((third.event_name.as_str(), third.time), ("named", UnixNanos(99)));
    assert!(third.span_id.is_some());
}
