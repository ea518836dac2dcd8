//! OTLP/JSON: what differs from protobuf's own mapping.

use super::client::*;
use crate::support::query;
use serde_json::{Value as Json, json};

/// A trace of its own for every case: a span that comes again is stored once.
fn trace_of(service: &str) -> u64 {
    u64::from(crc32c::crc32c(service.as_bytes())) << 16
}

/// Sends one span with `extra` and gives its row.
async fn row(service: &str, columns: &str, extra: &Json) -> Json {
    let app = shared();
    assert_eq!(
        post(app, JSON, &[], json_body(service, trace_of(service), extra)).await.partial(),
        None,
        "{extra}"
    );
    stored(app, service, 1).await;
    let sql = format!("SELECT {columns} FROM spans WHERE service_name = '{service}'");
    query(app.http, &sql).await.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t25_ids_are_hex_of_any_case_in_links_too() {
    let (trace, span) = ("0AF7651916cd43dd8448EB211c80319c", "B7ad6B7169203331");
    let ids = json!({"traceId": trace, "spanId": span, "parentSpanId": "00F067AA0BA902b7",
        "links": [{"traceId": "4BF92f3577b34da6a3ce929d0e0e4736", "spanId": "00F067aa0ba902B7"}]});
    let row = row("t25", "trace_id, span_id, parent_span_id, links", &ids).await;
    assert_eq!(row["trace_id"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(row["span_id"], "b7ad6b7169203331");
    assert_eq!(row["parent_span_id"], "00f067aa0ba902b7");
    let links = row["links"].to_string();
    assert!(links.contains("4bf92f3577b34da6a3ce929d0e0e4736"), "{links}");
    // Base64, which protobuf's own mapping would use, is not an id.
    let base64 = json_body("t25", 1, &json!({"traceId": "CvdlGRbNQ92ESOshHIAxnA=="}));
    assert_eq!(post(shared(), JSON, &[], base64).await.partial().unwrap().0, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t26_enumerations_are_integers_only() {
    let app = shared();
    for bad in [
        json!({"kind": "SPAN_KIND_SERVER"}),
        json!({"kind": "2"}),
        json!({"status": {"code": "STATUS_CODE_ERROR"}}),
    ] {
        let refused = post(app, JSON, &[], json_body("t26", 1, &bad)).await;
        assert_eq!(refused.status, 400, "{bad}");
        assert!(refused.rpc_status().1.contains("spans[0]"), "{}", refused.text());
    }
    let body = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"severityNumber": "SEVERITY_NUMBER_INFO"}]}]}]});
    assert_eq!(post_to(app, "/v1/logs", JSON, &[], body.to_string().into_bytes()).await.status, 400);
    let row = row("t26", "span_kind, status_code", &json!({"kind": 2, "status": {"code": 2}})).await;
    assert_eq!(row, json!({"span_kind": "server", "status_code": "error"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t27_unknown_fields_are_ignored_at_every_level() {
    let app = shared();
    let mut body = json_request(
        "t27",
        1,
        &json!({"new": [1, {"a": null}], "status": {"code": 1, "new": "x"},
        "attributes": [{"key": "k", "new": 1, "value": {"stringValue": "v", "new": {}}},
            {"key": "l", "value": {"arrayValue": {"values": [{"intValue": 1, "new": 0}], "new": 1}}}],
        "events": [{"name": "e", "timeUnixNano": "1", "new": []}],
        "links": [{"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "new": true}]}),
    );
    body["new"] = json!({"resourceSpans": []});
    body["resourceSpans"][0]["new"] = json!("x");
    body["resourceSpans"][0]["resource"]["new"] = json!(1.5);
    body["resourceSpans"][0]["scopeSpans"][0]["new"] = json!([[]]);
    body["resourceSpans"][0]["scopeSpans"][0]["scope"] = json!({"name": "s", "new": 1});
    assert_eq!(post(app, JSON, &[], body.to_string().into_bytes()).await.partial(), None);
    stored(app, "t27", 1).await;
    let logs = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"new": 1, "body": {"new": 2}}]}]}]});
    assert_eq!(post_to(app, "/v1/logs", JSON, &[], logs.to_string().into_bytes()).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t28_snake_case_keys_are_unknown_fields() {
    let extra = json!({"name": "n", "start_time_unix_nano": "7", "trace_state": "ot=th:8",
        "attributes": [{"key": "k", "value": {"string_value": "lost"}}]});
    let row = row("t28", "trace_state, attributes, start_time", &extra).await;
    assert!(!row.to_string().contains("th:8") && !row.to_string().contains("lost"), "{row}");
    assert!(!row["start_time"].as_str().unwrap().starts_with("1970"), "{row}");
    let body = json!({"resource_spans": [{"scope_spans": [{"spans": [{"kind": "ignored"}]}]}]});
    // They are ignored, and where nothing is left a warning says so: the sender would take silence for success.
    let (rejected, told) = post(shared(), JSON, &[], body.to_string().into_bytes()).await.partial().unwrap();
    assert!(rejected == 0 && told.contains("\"resourceSpans\""), "{told}");
    let logs = json!({"resource_logs": []}).to_string().into_bytes();
    let answer = post_to(shared(), "/v1/logs", JSON, &[], logs).await;
    assert!(answer.status == 200 && answer.text().contains("resourceLogs"), "{}", answer.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t29_integers_of_64_bits_are_text_or_numbers() {
    let (start, big) = (1_700_000_000_000_000_001u64, 9_007_199_254_740_993i64);
    let both = |service: &'static str, start: Json, big: Json| async move {
        let attributes = json!([{"key": "n", "value": {"intValue": big}}]);
        let extra = json!({"startTimeUnixNano": start, "endTimeUnixNano": start, "attributes": attributes});
        row(service, "start_time, duration_ns, attributes", &extra).await
    };
    let as_text = both("t29a", json!(start.to_string()), json!(big.to_string())).await;
    let as_number = both("t29b", json!(start), json!(big)).await;
    assert_eq!(as_text, as_number);
    assert!(as_text.to_string().contains("9007199254740993"), "{as_text}");
    for bad in [json!("soon"), json!(-1), json!(1.5), json!(true), json!("99999999999999999999")] {
        let body = json_body("t29", 1, &json!({ "startTimeUnixNano": bad }));
        assert_eq!(post(shared(), JSON, &[], body).await.status, 400, "{bad}");
    }
}
