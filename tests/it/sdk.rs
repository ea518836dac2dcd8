//! SDKs that are not ours and not changed: while the server is killed, restarted and overloaded, no span is lost.

use crate::failures::server::{Server, Settings, eventually};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The folder that `variable` names, else this one in the home directory.
pub fn cache(variable: &str, folder: &str) -> PathBuf {
    std::env::var(variable)
        .map_or_else(|_| PathBuf::from(std::env::var("HOME").unwrap()).join(folder), PathBuf::from)
}

/// The interpreter with the SDK for Python.
pub fn python() -> PathBuf {
    cache("GROUNDLINE_TEST_VENV", ".cache/groundline-test-venv").join("bin/python")
}

/// The folder with the SDK for Node.
pub fn node_modules() -> PathBuf {
    cache("GROUNDLINE_TEST_NODE", ".cache/groundline-test-node").join("node_modules")
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(name)
}

/// Starts a sender; none if it is not installed and this is not CI.
fn sender(command: &mut Command, needs: &Path) -> Option<Child> {
    if !needs.exists() {
        assert!(std::env::var("CI").is_err(), "{} is not there: run tests/setup", needs.display());
        eprintln!("{} is not there; run tests/setup for this test", needs.display());
        return None;
    }
    Some(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
}

/// Holds all the room that the server has for requests, by sending slowly, until the connection is dropped.
fn occupy(server: &Server) -> TcpStream {
    let mut slow = TcpStream::connect(server.otlp_http).unwrap();
    let head = "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 260000\r\n\r\n{}";
    slow.write_all(head.as_bytes()).unwrap();
    slow.write_all(&[b' '; 250_000]).unwrap();
    slow
}

/// What the SDK reported of each span: SUCCESS or FAILURE by ids.
fn reported(file: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file).unwrap();
    let line = |line: &str| line.rsplit_once(' ').map(|(ids, result)| (ids.to_owned(), result.to_owned()));
    text.lines().filter_map(line).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sdks_of_other_languages_lose_nothing() {
    const SPANS: usize = 600;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(Path::new(env!("CARGO_BIN_EXE_groundline")), &folder.path().join("data"))
        .fixed_ports()
        .set("INGEST__MAX_REQUEST_SIZE", 256 << 10)
        .set("INGEST__MAX_IN_FLIGHT_SIZE", 256 << 10)
        .set("LAKE__FLUSH_INTERVAL", "400ms");
    let mut server = settings.start();
    let (python, modules) = (python(), node_modules());
    let (grpc, http) = (format!("http://{}", server.grpc), format!("http://{}", server.otlp_http));
    let output = |name: &str| folder.path().join(name);
    let count = SPANS.to_string();
    let mut senders = Vec::new();
    for (name, protocol, endpoint) in [("sdk-python-grpc", "grpc", &grpc), ("sdk-python-http", "http", &http)]
    {
        let mut command = Command::new(&python);
        command.arg(script("export.py")).args([protocol, endpoint, &count, "3"]).arg(output(name));
        senders.extend(sender(&mut command, &python).map(|child| (name, child)));
    }
    let mut command = Command::new("node");
    command.arg(script("export.js")).arg(&modules).args([&http, &count, "3"]).arg(output("sdk-node"));
    senders.extend(sender(&mut command, &modules.join("@opentelemetry")).map(|child| ("sdk-node", child)));
    if senders.is_empty() {
        return;
    }
    // They are at work before anything breaks.
    eventually("spans arrive", 300, async || server.metric("groundline_received_total").await > 100.0).await;
    let slow = occupy(&server);
    eventually("a request is refused", 120, async || {
        server.metric("groundline_requests_refused_total").await > 0.0
    })
    .await;
    let refused = server.metric("groundline_requests_refused_total").await;
    drop(slow);
    server.kill();
    tokio::time::sleep(Duration::from_millis(300)).await;
    server = settings.start();
    for (name, child) in senders.iter_mut() {
        let status = child.wait().unwrap();
        let mut said = String::new();
        std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut said).unwrap();
        assert!(status.success(), "{name}: {said}");
    }
    server.kill();
    let server = settings.start();
    for (name, _) in &senders {
        let reported = reported(&output(name));
        let failed = reported.values().filter(|result| *result != "SUCCESS").count();
        assert_eq!((reported.len(), failed), (SPANS, 0), "{name}: the SDK gave spans up");
        let sql = format!(
            "SELECT trace_id, span_id, count(*) AS n FROM spans WHERE service_name = '{name}' GROUP BY 1, 2"
        );
        let rows = server.query(&sql).await.unwrap();
        let stored: BTreeMap<String, i64> = rows
            .iter()
            .map(|r| {
                (
                    format!("{} {}", r["trace_id"].as_str().unwrap(), r["span_id"].as_str().unwrap()),
                    r["n"].as_i64().unwrap(),
                )
            })
            .collect();
        let lost: Vec<_> = reported.keys().filter(|ids| !stored.contains_key(*ids)).collect();
        assert!(lost.is_empty(), "{name}: {} spans are lost: {lost:?}", lost.len());
        assert!(stored.values().all(|n| *n == 1) && stored.len() == SPANS, "{name}: stored more than once");
    }
    println!("{} SDKs, {SPANS} spans each, {refused} refused requests, 2 kills: nothing lost", senders.len());
}
