//! What is answered to good, partly good and bad requests.

use super::client::*;
use crate::support::span;
use serde_json::json;

const NOT_PROTOBUF: &[u8] = b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t08_an_empty_request_is_a_success() {
    let app = shared();
    assert_eq!(both(app, &[]).await, [None, None]);
    for body in ["", "{}", r#"{"resourceSpans":[]}"#] {
        assert_eq!(post(app, JSON, &[], body.into()).await.partial(), None, "{body}");
    }
    // Nothing, compressed or only said to be.
    for body in [Vec::new(), gzip(b"")] {
        for kind in [PB, JSON] {
            assert_eq!(post(app, kind, &[("content-encoding", "gzip")], body.clone()).await.partial(), None);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t09_full_success_leaves_partial_success_unset() {
    let app = shared();
    let grpc = call(app, &[], framed(0, &pb("t09", vec![span(90, 1, vec![])]))).await;
    assert_eq!((grpc.code, grpc.framed), (0, framed(0, b"")));
    let http = post(app, PB, &[], pb("t09", vec![span(90, 2, vec![])])).await;
    assert_eq!((http.status, http.body), (200, Vec::new()));
    let json = post(app, JSON, &[], json_body("t09", 91, &json!({}))).await;
    assert_eq!((json.status, json.text()), (200, "{}".to_owned()));
    stored(app, "t09", 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t10_partial_acceptance_counts_exactly_and_says_why() {
    let app = shared();
    let some_bad = |trace| {
        let mut spans: Vec<_> = (0..5).map(|i| span(trace, i, vec![])).collect();
        (spans[1].trace_id, spans[3].span_id) = (vec![1; 5], vec![0; 8]);
        pb("t10", spans)
    };
    let mut answers = vec![call(app, &[], framed(0, &some_bad(100))).await.partial()];
    answers.push(post(app, PB, &[], some_bad(101)).await.partial());
    let mut json = json_request("t10", 102, &json!({}));
    let list = json["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap();
    for bad in [json!({"traceId": "0101010101"}), json!({"spanId": "0000000000000000"})] {
        let mut span = list[0].clone();
        span.as_object_mut().unwrap().extend(bad.as_object().unwrap().clone());
        list.push(span);
    }
    answers.push(post(app, JSON, &[], json.to_string().into_bytes()).await.partial());
    for answer in answers {
        let (rejected, message) = answer.expect("partial_success");
        assert_eq!(rejected, 2, "{message}");
        assert!(message.contains("2 span(s) rejected") && message.contains("spans[1]"), "{message}");
    }
    stored(app, "t10", 3 + 3 + 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t11_a_warning_on_full_acceptance_rejects_nothing() {
    let app = shared();
    let backwards = |i| {
        let mut one = span(110, i, vec![]);
        one.end_time_unix_nano = one.start_time_unix_nano - 1;
        pb("t11", vec![one])
    };
    let grpc = call(app, &[], framed(0, &backwards(1))).await.partial();
    let http = post(app, PB, &[], backwards(2)).await.partial();
    let body = json_body("t11", 111, &json!({"endTimeUnixNano": "1"}));
    for answer in [grpc, http, post(app, JSON, &[], body).await.partial()] {
        let (rejected, message) = answer.expect("a warning");
        assert_eq!(rejected, 0);
        assert!(message.contains("warning"), "{message}");
    }
    stored(app, "t11", 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t13_bad_data_on_grpc_is_invalid_argument_with_a_bad_request() {
    let app = shared();
    let half = framed(0, &pb("t13", vec![span(1, 1, vec![])]));
    let half = half[..half.len() / 2].to_vec();
    for (what, headers, body) in [
        ("not protobuf", vec![], framed(0, NOT_PROTOBUF)),
        ("not gzip", vec![("grpc-encoding", "gzip")], framed(1, b"not gzip")),
        ("not zstd", vec![("grpc-encoding", "zstd")], framed(1, b"not zstd")),
        ("half a message", vec![], half),
        ("no message", vec![], Vec::new()),
        ("two messages", vec![], framed(0, b"").repeat(2)),
    ] {
        for path in [TRACES, LOGS, METRICS] {
            let answer = call_to(app, path, &headers, body.clone()).await;
            assert_eq!(answer.code, 3, "{what}: {}", answer.message);
            assert!(answer.has_detail("BadRequest"), "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t15_no_permanent_fault_has_a_retryable_code() {
    let app = small();
    for (what, path, headers, body) in [
        ("not protobuf", TRACES, vec![], framed(0, NOT_PROTOBUF)),
        ("too large", TRACES, vec![], framed(0, &vec![0; SMALL_LIMIT + 1])),
        (
            "too large unpacked",
            LOGS,
            vec![("grpc-encoding", "gzip")],
            framed(1, &gzip(&vec![0; SMALL_LIMIT + 1])),
        ),
        ("a length of 4 GiB", TRACES, vec![], [&[0, 255, 255, 255, 255], [0; 99].as_slice()].concat()),
        ("flag 7", TRACES, vec![], framed(7, b"")),
        ("flag without encoding", TRACES, vec![], framed(1, b"")),
        ("unknown encoding", TRACES, vec![("grpc-encoding", "br")], framed(1, b"x")),
        ("not gzip", METRICS, vec![("grpc-encoding", "gzip")], framed(1, b"x")),
        (
            "unknown method",
            "/opentelemetry.proto.collector.trace.v1.TraceService/Import",
            vec![],
            framed(0, b""),
        ),
        ("unknown service", "/x.Y/Z", vec![], framed(0, b"")),
    ] {
        let answer = call_to(app, path, &headers, body).await;
        assert_ne!(answer.code, 0, "{what}");
        assert!(!RETRYABLE.contains(&answer.code), "{what}: {} {}", answer.code, answer.message);
        assert!(!answer.has_detail("RetryInfo"), "{what}");
        assert!(!answer.message.is_empty(), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t17_the_content_type_of_every_answer_is_the_requests() {
    for kind in [PB, JSON, "application/protobuf"] {
        for answer in [refusals(kind).await, successes(kind).await].concat() {
            assert_eq!(answer.1, kind, "{}", answer.0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t18_every_refusal_is_an_encoded_status() {
    for kind in [PB, JSON] {
        for (status, _, (code, message)) in refusals(kind).await {
            assert!(
                (400..600).contains(&status) && code > 0 && !message.is_empty(),
                "{status}: {code} {message}"
            );
        }
    }
}

type Seen = (u16, String, (i32, String));

async fn successes(kind: &str) -> Vec<Seen> {
    let mut all = Vec::new();
    for path in ["/v1/traces", "/v1/logs", "/v1/metrics"] {
        let answer = post_to(shared(), path, kind, &[], Vec::new()).await;
        all.push((answer.status, answer.kind, (0, String::new())));
    }
    all
}

/// Every kind of refusal that a request alone can bring about.
async fn refusals(kind: &str) -> Vec<Seen> {
    let app = small();
    let url = format!("http://{}/v1/traces", app.otlp_http);
    let client = reqwest::Client::new();
    let mut all = Vec::new();
    for method in [reqwest::Method::GET, reqwest::Method::PUT] {
        let request = client.request(method, &url).header("content-type", kind);
        all.push(answer(request.send().await.unwrap()).await);
    }
    for path in ["/v1/traces", "/v1/logs", "/v1/metrics"] {
        all.push(post_to(app, path, kind, &[], NOT_PROTOBUF.to_vec()).await);
        all.push(post_to(app, path, kind, &[("content-encoding", "gzip")], b"not gzip".to_vec()).await);
        all.push(post_to(app, path, kind, &[("content-encoding", "br")], b"{}".to_vec()).await);
        all.push(post_to(app, path, kind, &[], vec![b' '; SMALL_LIMIT + 1]).await);
    }
    all.push(post_to(app, "/v2/traces", kind, &[], Vec::new()).await);
    let seen = |mut answer: Answer| {
        let told = answer.kind.clone();
        if told == "application/protobuf" {
            answer.kind = PB.to_owned();
        }
        (answer.status, told, answer.rpc_status())
    };
    all.into_iter().map(seen).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t19_undecodable_data_is_400() {
    let app = shared();
    for path in ["/v1/traces", "/v1/logs", "/v1/metrics"] {
        assert_eq!(post_to(app, path, PB, &[], NOT_PROTOBUF.to_vec()).await.status, 400, "{path}");
        for body in
            ["{", "[1]", "null", "7", "{\"resourceSpans\":5,\"resourceLogs\":5,\"resourceMetrics\":5}"]
        {
            assert_eq!(post_to(app, path, JSON, &[], body.into()).await.status, 400, "{path} {body}");
        }
    }
    // The wrong Content-Type for the bytes.
    assert_eq!(post(app, JSON, &[], pb("t19", vec![span(190, 1, vec![])])).await.status, 400);
    assert_eq!(post(app, PB, &[], json_body("t19", 190, &json!({}))).await.status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t22_success_is_200_with_the_serialized_response() {
    let app = shared();
    for (kind, body) in [(PB, ""), (JSON, "{}")] {
        for path in ["/v1/traces", "/v1/logs"] {
            let answer = post_to(app, path, kind, &[], Vec::new()).await;
            assert_eq!((answer.status, answer.kind.as_str(), answer.text().as_str()), (200, kind, body));
        }
    }
}
