//! A judge behind a certificate of an own authority, with keys in headers of its own.

use super::server::Server;
use super::{configured, groundline};
use crate::net::Root;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Connections that are encrypted before anything of them is read.
struct Sealed {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for Sealed {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.listener.accept().await.unwrap();
            // Who does not trust the certificate goes away.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Where `server` answers with a certificate that `root` has signed.
async fn sealed(server: &Server, root: &Root) -> SocketAddr {
    let (cert, key) = root.sign();
    let chain = vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions =
        rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let tls = versions.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sealed, routes) = (Sealed { listener, acceptor: TlsAcceptor::from(Arc::new(tls)) }, server.routes());
    tokio::spawn(async move { axum::serve(sealed, routes).await });
    address
}

/// The one row of `safety` at the judge at `address`, which has these keys beside the usual ones.
async fn row(address: SocketAddr, more: &str, folder: &Path) -> Value {
    let text = configured("\"safety\"", address, more).replace("http://", "https://");
    let folder = folder.to_owned();
    let scored = tokio::task::spawn_blocking(move || {
        let line = format!("{}\n", json!({"question": "Who?", "answer": "Stoker."}));
        groundline(&["score", "--evaluator", "safety", "--config"], &text, &line, &folder)
    });
    let scored = scored.await.unwrap();
    assert!(scored.status.success(), "{}", String::from_utf8_lossy(&scored.stderr));
    serde_json::from_slice(&scored.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_own_authority_counts_where_it_is_named_and_headers_have_their_values_elsewhere() {
    let (folder, root, server) = (tempfile::tempdir().unwrap(), Root::new(), Server::default());
    let address = sealed(&server, &root).await;
    let stranger = row(address, "", folder.path()).await;
    let why = stranger["error"].as_str().unwrap_or_default();
    assert!(stranger["status"] == "error" && why.contains("certificate"), "{stranger}");
    assert_eq!(server.requests(), 0, "nothing is told to whom nobody trusts");
    let (authority, other) = (folder.path().join("root.pem"), folder.path().join("other"));
    std::fs::write(&authority, &root.pem).unwrap();
    std::fs::write(&other, "sk-of-a-file\n").unwrap();
    let keys = format!(
        "ca_file = {authority:?}\nheader_env = {{ api-key = \"JUDGE_KEY_OF_A_TEST\" }}\nheader_files = {{ x-gateway = {other:?} }}"
    );
    let scored = row(address, &keys, folder.path()).await;
    assert_eq!((&scored["status"], server.requests()), (&json!("ok"), 1), "{scored}");
    let (headers, _) = server.got.lock()[0].clone();
    assert!(headers["api-key"] == "sk-secret" && headers["x-gateway"] == "sk-of-a-file", "{headers:?}");
    assert!(!headers.contains_key("authorization"), "{headers:?}");
    // A variable that is not set is told before anybody is asked.
    let (text, path) = (configured("\"safety\"", address, &keys), folder.path().to_owned());
    let text = text.replace("http://", "https://").replace("JUDGE_KEY_OF_A_TEST", "NO_SUCH_KEY_OF_A_TEST");
    let unset = tokio::task::spawn_blocking(move || {
        groundline(&["score", "--evaluator", "safety", "--config"], &text, "", &path)
    });
    let unset = unset.await.unwrap();
    let told = String::from_utf8(unset.stderr).unwrap();
    assert!(unset.status.code() == Some(2) && told.contains("NO_SUCH_KEY_OF_A_TEST is not set"), "{told}");
}
