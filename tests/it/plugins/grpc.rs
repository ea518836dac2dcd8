//! A plug-in over gRPC: a server in Python, whose messages protoc made of the .proto file.

use super::{ask, configured, error, file, rows, served};
use crate::sdk::python;
use crate::support::{Reserved, query, settled, until};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that is killed with this value.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// None if there is no gRPC for Python and this is not CI.
    fn start(health: &Path) -> Option<Self> {
        Self::start_at(health, 0, &[])
    }

    /// On this port, with the files of a certificate and its key.
    fn start_at(health: &Path, port: u16, tls: &[&Path]) -> Option<Self> {
        let python = python();
        if !python.exists() {
            assert!(std::env::var("CI").is_err(), "{} is not there: run tests/setup", python.display());
            eprintln!("{} is not there; run tests/setup for this test", python.display());
            return None;
        }
        let mut command = Command::new(python);
        command.arg(file("tests/plugins/grpc_server.py")).arg(file(".")).arg(health).arg(port.to_string());
        command.args(tls);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Some(Self { child, address: format!("127.0.0.1:{}", port.trim()) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grpc_server_that_faults_costs_its_own_items_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(&folder.path().join("none")) else { return };
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "sk-secret\n").unwrap();
    let keys = format!("url = \"grpc://{}\"\ntimeout = \"2s\"\nsecret_file = {secret:?}", server.address);
    let app = served(&folder.path().join("data"), &configured(&keys)).await;
    let bad = [
        ("poison", "plug-in probe: gRPC Internal: it broke"),
        ("refused", "plug-in probe: gRPC InvalidArgument: no such language"),
        ("hang", "no answer in 2s"),
        ("nan", "not a finite number"),
        ("infinite", "not a finite number"),
        ("none", "no value"),
        ("silent", "an item has no answer"),
        ("error", "no model"),
    ];
    let good = ["twice", "other", "busy", "token", "a", "b", "c", "d"];
    let mixed: Vec<&str> = bad.iter().zip(good).flat_map(|((bad, _), good)| [*bad, good]).collect();
    ask(&app, 0, &mixed).await;
    until("local scores", async || rows(&app, "pii_leakage").await.len() == mixed.len()).await;
    settled(&app).await;
    let found = rows(&app, "plugin/probe").await;
    assert_eq!(found.len(), mixed.len(), "{found:#?}");
    for (word, part) in bad {
        assert!(error(&found[word]).contains(part), "{word}: {}", found[word]);
    }
    for word in good {
        assert_eq!(
            (&found[word]["status"], &found[word]["value"]),
            (&json!("ok"), &json!(1.0)),
            "{found:#?}"
        );
    }
    assert_eq!(found["token"]["label"], "Bearer sk-secret");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grpc_server_that_is_not_healthy_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let health = folder.path().join("health");
    std::fs::write(&health, "down").unwrap();
    let Some(server) = Server::start(&health) else { return };
    let keys = format!("kind = \"grpc\"\nurl = \"http://{}\"", server.address);
    let app = served(&folder.path().join("data"), &configured(&keys)).await;
    ask(&app, 0, &["a", "b"]).await;
    let waiting =
        "SELECT count(*) AS n FROM queue WHERE attempt = 0 AND error LIKE '%its health is NOT_SERVING%'";
    until("items that wait", async || query(app.addresses.http, waiting).await[0]["n"] == 2).await;
    std::fs::write(&health, "up").unwrap();
    settled(&app).await;
    let found = rows(&app, "plugin/probe").await;
    assert!(found.len() == 2 && found.values().all(|row| row["status"] == "ok"), "{found:#?}");
    app.stop().await.unwrap();
}

#[test]
fn every_input_goes_over_grpc() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(&folder.path().join("none")) else { return };
    let config = folder.path().join("groundline.toml");
    let text = format!("[[plugins]]\nname = \"probe\"\nurl = \"grpc://{}\"\n", server.address);
    std::fs::write(&config, text).unwrap();
    let context = json!({"id": "c", "uri": "file:c", "text": "Large.", "rank": 2, "score": 0.5});
    let line = json!({"answer": "inputs", "question": "Q?", "contexts": [context], "constraints": ["x", ["y", "z"]]});
    let mut child = Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(["score", "--evaluator", "plugin/probe", "--config", config.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    let done = child.wait_with_output().unwrap();
    let row: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(row["rationale"], "x | y/z | c file:c Large. 2 0.5 ", "{row}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_in_a_batch_loses_and_doubles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let health = folder.path().join("none");
    let reserved = Reserved::new();
    let free = reserved.address.port();
    let Some(mut server) = Server::start_at(&health, free, &[]) else { return };
    // The wait is longer than the test: what ends the batch is the death of the server.
    let keys = format!("url = \"grpc://127.0.0.1:{free}\"\ntimeout = \"60s\"");
    let app = served(&folder.path().join("data"), &configured(&keys)).await;
    let words = ["a", "b", "kill", "c", "d"];
    ask(&app, 0, &words).await;
    let asked = folder.path().join("none.asked");
    until("a batch in work", async || asked.exists()).await;
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    until("local scores", async || rows(&app, "pii_leakage").await.len() == words.len()).await;
    let _again = Server::start_at(&health, free, &[]).unwrap();
    settled(&app).await;
    // It fails where an item has two rows.
    let found = rows(&app, "plugin/probe").await;
    assert!(words.iter().all(|word| found[*word]["status"] == "ok"), "{found:#?}");
    assert_eq!(found.len(), words.len());
    app.stop().await.unwrap();
}

/// A root of our own, and a certificate that it has signed for this machine, as files: the root, the certificate, its key.
fn signed(folder: &Path) -> [std::path::PathBuf; 3] {
    let key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = root.self_signed(&key).unwrap().pem();
    let (issuer, own) = (Issuer::new(root, key), KeyPair::generate().unwrap());
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let signed = CertificateParams::new(names).unwrap().signed_by(&own, &issuer).unwrap().pem();
    let files = ["root.pem", "cert.pem", "key.pem"].map(|name| folder.join(name));
    for (file, text) in files.iter().zip([pem, signed, own.serialize_pem()]) {
        std::fs::write(file, text).unwrap();
    }
    files
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_of_an_own_authority_counts_where_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let [root, cert, key] = signed(folder.path());
    let Some(server) = Server::start_at(&folder.path().join("none"), 0, &[&cert, &key]) else { return };
    let url = format!("url = \"grpcs://{}\"", server.address);
    let stranger = served(&folder.path().join("stranger"), &configured(&url)).await;
    ask(&stranger, 0, &["a"]).await;
    let waiting = "SELECT count(*) AS n FROM queue WHERE attempt = 0 AND error LIKE '%plug-in probe%'";
    until("an item that waits", async || query(stranger.addresses.http, waiting).await[0]["n"] == 1).await;
    assert!(rows(&stranger, "plugin/probe").await.is_empty());
    stranger.stop().await.unwrap();
    let keys = format!("{url}\nca_file = {root:?}");
    let app = served(&folder.path().join("data"), &configured(&keys)).await;
    ask(&app, 0, &["a", "b"]).await;
    settled(&app).await;
    let found = rows(&app, "plugin/probe").await;
    assert!(found.len() == 2 && found.values().all(|row| row["status"] == "ok"), "{found:#?}");
    app.stop().await.unwrap();
}
