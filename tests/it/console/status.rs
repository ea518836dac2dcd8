//! The server in one JSON, and queries that end when nobody waits for them.

use super::client::{ask, get};
use crate::access::{everybody, with_tokens};
use crate::support::{config, send, settled, span, start, text, until};
use serde_json::{Value as Json, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

async fn status(at: SocketAddr, headers: &[(&str, &str)]) -> Json {
    let answer = get(at, "/v1/status", headers).await;
    assert_eq!(answer.status(), 200);
    answer.json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_tells_what_the_server_holds() {
    let folder = tempfile::tempdir().unwrap();
    let mut quick = config(folder.path());
    quick.lake.s3.secret_access_key = "do-not-tell".to_owned();
    let app = start(quick).await;
    let at = app.addresses;
    let message = r#"[{"role":"assistant","parts":[{"type":"text","content":"All is well here."}]}]"#;
    let attributes = vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", message)];
    assert!(send(at.otlp_http, vec![span(1, 1, attributes)]).await);
    settled(&app).await;
    assert_eq!(ask(at.http, "SELECT 1", json!([])).await.0, 200);
    let told = status(at.http, &[]).await;
    assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
    assert!(told["uptime_seconds"].is_u64() && told["started_at"].as_str().unwrap().ends_with('Z'), "{told}");
    assert_eq!((&told["not_ready"], &told["damage"]), (&json!([]), &json!([])));
    assert!(told["journal"]["bytes"].as_u64().unwrap() > 0);
    let readers = told["journal"]["readers"].as_array().unwrap();
    let names: Vec<&str> = readers.iter().map(|reader| reader["name"].as_str().unwrap()).collect();
    for name in ["lake", "queue", "sample"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let tables = told["tables"].as_array().unwrap();
    let spans = tables.iter().find(|table| table["table"] == "spans").unwrap();
    assert_eq!((&spans["rows"], spans["oldest"].is_string()), (&json!(1), true), "{spans}");
    let lanes: Vec<&Json> = told["queue"].as_array().unwrap().iter().map(|lane| &lane["lane"]).collect();
    assert_eq!(lanes, [&json!("fast"), &json!("slow")]);
    let evaluators = told["evaluators"].as_array().unwrap();
    let leakage = evaluators.iter().find(|e| e["evaluator"] == "pii_leakage").unwrap();
    assert!(leakage["scores"]["ok"].as_u64().unwrap() >= 1 && leakage["version"].is_string(), "{leakage}");
    let endpoints = told["endpoints"].as_array().unwrap();
    assert_eq!(endpoints.len(), 4);
    assert_eq!(endpoints[2]["address"], at.http.to_string());
    // Servers of other tests in this process share the gauges.
    assert!(endpoints[2]["connections"].is_u64() && endpoints[0]["door"] == "OTLP/gRPC", "{endpoints:?}");
    assert!(told["ingest"]["received"]["spans"].as_u64().unwrap() >= 1, "{}", told["ingest"]);
    assert!(told["queries"]["ended"]["http"]["ok"].as_u64().unwrap() >= 1, "{}", told["queries"]);
    assert_eq!(told["queries"]["max_running"], 8);
    assert!(told["memory"]["resident_bytes"].as_u64().unwrap() > 1 << 20);
    assert!(told["disk"]["free_bytes"].as_u64().unwrap() <= told["disk"]["total_bytes"].as_u64().unwrap());
    // A server that has just started does not guess how long the disk lasts, and it has no certificate.
    assert_eq!((&told["disk"]["growth_per_day_bytes"], &told["disk"]["full_at"]), (&Json::Null, &Json::Null));
    assert!(told["disk"]["observed_seconds"].is_u64() && told["tls"].is_null(), "{told}");
    assert_eq!(told["configuration"]["sql"]["timeout"], "30s");
    assert!(!told.to_string().contains("do-not-tell"));
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenants_token_sees_its_own_part_only() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    let told = status(app.addresses.http, &[("authorization", "Bearer read-a")]).await;
    let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["version", "started_at", "uptime_seconds", "tenant", "queue"]);
    assert_eq!(told["tenant"], "a");
    let all = status(app.addresses.http, &[("authorization", "Bearer chief")]).await;
    assert!(all["tables"].is_array() && all["tenant"].is_null(), "{all}");
    app.stop().await.unwrap();
}

/// Whether a query runs; the status itself asks none.
async fn is_busy(at: SocketAddr) -> bool {
    status(at, &[]).await["queries"]["running"] != 0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_ends_its_query() {
    let folder = tempfile::tempdir().unwrap();
    let mut patient = config(folder.path());
    patient.sql.timeout = Duration::from_mins(30);
    // No query of the server's own.
    patient.watch.quality_interval = Duration::from_hours(24);
    let app = start(patient).await;
    let at = app.addresses.http;
    until("the end of the first look at quality", async || !is_busy(at).await).await;
    for query in [
        "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b WHERE a.value + b.value = 7",
        "SELECT sum(a.value * b.value) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b",
    ] {
        let body = json!({"query": query}).to_string();
        let mut client = TcpStream::connect(at).await.unwrap();
        let head = format!("POST /v1/sql HTTP/1.1\r\nhost: {at}\r\ncontent-length: {}\r\n\r\n", body.len());
        client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        until("the query", async || is_busy(at).await).await;
        drop(client);
        until("the end of the query", async || !is_busy(at).await).await;
    }
    assert_eq!(ask(at, "SELECT 1", json!([])).await.0, 200);
    app.stop().await.unwrap();
}
