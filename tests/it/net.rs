//! Connections: TLS and certificates of clients, reloads, slow clients, many clients, health and reflection.

use crate::pg::{Pg, asks_for_tls};
use crate::support::{PATIENCE, config, count, request, span, start};
use groundline::app::{Addresses, App};
use groundline::units::ByteSize;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use prost::Message;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

/// A root that signs certificates for this machine.
pub struct Root {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Root {
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate and its key.
    pub fn sign(&self) -> (String, String) {
        self.sign_until(4096)
    }

    /// As [`Root::sign`], ending with the first day of `year`.
    fn sign_until(&self, year: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// Writes a certificate for the server.
    pub fn put(&self, folder: &Path) {
        self.put_until(folder, 4096);
    }

    fn put_until(&self, folder: &Path, year: i32) {
        let (cert, key) = self.sign_until(year);
        std::fs::write(folder.join("cert.pem"), cert).unwrap();
        std::fs::write(folder.join("key.pem"), key).unwrap();
    }
}

async fn encrypted(folder: &Path, root: &Root, clients: Option<&Root>) -> App {
    root.put(folder);
    let mut config = config(&folder.join("data"));
    config.server.tls.cert = folder.join("cert.pem");
    config.server.tls.key = folder.join("key.pem");
    if let Some(clients) = clients {
        config.server.tls.client_ca = folder.join("clients.pem");
        std::fs::write(&config.server.tls.client_ca, &clients.pem).unwrap();
    }
    start(config).await
}

type Pair = (String, String);

async fn over_grpc(at: Addresses, root: &Root, own: Option<&Pair>) -> Result<(), String> {
    let mut tls =
        ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&root.pem)).domain_name("localhost");
    if let Some((cert, key)) = own {
        tls = tls.identity(Identity::from_pem(cert, key));
    }
    let endpoint = Endpoint::from_shared(format!("https://{}", at.grpc)).unwrap().tls_config(tls).unwrap();
    let channel = endpoint.connect().await.map_err(|e| format!("{e:?}"))?;
    let sent = TraceServiceClient::new(channel).export(request("tls", vec![span(1, 1, vec![])])).await;
    sent.map(drop).map_err(|e| format!("{e:?}"))
}

async fn over_http(at: Addresses, root: &Root, own: Option<&Pair>) -> Result<(), String> {
    let ca = reqwest::Certificate::from_pem(root.pem.as_bytes()).unwrap();
    let mut client = reqwest::Client::builder().use_rustls_tls().add_root_certificate(ca);
    if let Some((cert, key)) = own {
        client = client.identity(reqwest::Identity::from_pem(format!("{cert}{key}").as_bytes()).unwrap());
    }
    let client = client.build().unwrap();
    let url = format!("https://{}/v1/traces", at.otlp_http);
    let body = request("tls", vec![span(2, 1, vec![])]).encode_to_vec();
    let sent = client.post(url).header("content-type", "application/x-protobuf").body(body).send().await;
    assert_eq!(sent.map_err(|e| format!("{e:?}"))?.status(), 200);
    let asked =
        client.post(format!("https://{}/v1/sql", at.http)).json(&serde_json::json!({"sql": "SELECT 1"}));
    assert_eq!(asked.send().await.map_err(|e| format!("{e:?}"))?.status(), 200);
    Ok(())
}

/// What the server tells of its certificate's end, in its status and to Prometheus.
async fn told_end(at: Addresses, root: &Root) -> (serde_json::Value, bool) {
    let ca = reqwest::Certificate::from_pem(root.pem.as_bytes()).unwrap();
    let client = reqwest::Client::builder().use_rustls_tls().add_root_certificate(ca).build().unwrap();
    let get = async |path: &str| client.get(format!("https://{}{path}", at.http)).send().await.unwrap();
    let told: serde_json::Value = get("/v1/status").await.json().await.unwrap();
    let scraped = get("/metrics").await.text().await.unwrap();
    // Its number is that of any server in this process.
    let is_scraped = scraped.contains("\ngroundline_certificate_not_after_timestamp_seconds ");
    (told["tls"]["certificate_ends"].clone(), is_scraped)
}

async fn over_pg(at: Addresses, root: &Root, own: Option<&Pair>) -> Result<(), String> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(root.pem.as_bytes()).unwrap()).unwrap();
    let builder = rustls::ClientConfig::builder().with_root_certificates(roots);
    let mut tls = match own {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()];
            builder
                .with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap())
                .unwrap()
        }
    };
    tls.alpn_protocols = vec![b"postgresql".to_vec()];
    let mut stream = TcpStream::connect(at.pg).await.unwrap();
    assert_eq!(asks_for_tls(&mut stream).await, b'S');
    let name = ServerName::try_from("localhost").unwrap();
    let stream = tokio_rustls::TlsConnector::from(Arc::new(tls)).connect(name, stream).await;
    let mut pg = Pg::login(stream.map_err(|e| e.to_string())?, None).await?;
    assert!(pg.query("SELECT 'sealed'").await.contains("sealed"));
    Ok(())
}

async fn over_all(at: Addresses, root: &Root, own: Option<&Pair>) -> [Result<(), String>; 3] {
    [over_grpc(at, root, own).await, over_http(at, root, own).await, over_pg(at, root, own).await]
}

/// The verbs that talk to a server take the signatures of a file, named by the option or the variable, and no others.
fn verbs_trust(at: Addresses, folder: &Path, root: &Root) {
    let (ca, spans) = (folder.join("ca.pem"), folder.join("spans.pb"));
    std::fs::write(&ca, &root.pem).unwrap();
    std::fs::write(&spans, request("tls", vec![span(3, 1, vec![])]).encode_to_vec()).unwrap();
    let run = |args: &[&str], env: Option<&Path>| {
        let mut verb = Command::new(env!("CARGO_BIN_EXE_groundline"));
        verb.args(args).envs(env.map(|path| ("GROUNDLINE_CA_FILE", path)));
        let done = verb.output().unwrap();
        let said = [done.stdout, done.stderr].concat();
        (done.status.code(), String::from_utf8(said).unwrap())
    };
    let (http, grpc) = (format!("https://{}", at.http), format!("https://{}", at.grpc));
    let (ca_file, sent) = (ca.to_str().unwrap(), spans.to_str().unwrap());
    let sql = ["sql", "--url", &http, "--format", "csv", "SELECT 7 AS n"];
    let (code, told) = run(&[&sql[..], &["--ca-file", ca_file][..]].concat(), None);
    assert!(code == Some(0) && told.starts_with("n\n7\n"), "{told}");
    let (code, told) = run(&sql, None);
    assert!(code == Some(1) && told.contains("trusted here (--ca-file)"), "{told}");
    let (code, told) = run(&["alerts", "list", "--url", &http], Some(&ca));
    assert!(code == Some(0) && told.starts_with("no alert"), "{told}");
    let grpc = ["send", "--protocol", "grpc", "--endpoint", &grpc, "--ca-file", ca_file, sent];
    let (code, told) = run(&grpc, None);
    assert!(code == Some(0) && told.contains("accepted"), "{told}");
    let (code, told) = run(&["dataset", "list", "--url", &http], Some(&spans));
    assert!(code != Some(0) && told.contains("--ca-file") && told.contains("spans.pb"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_endpoint_speaks_tls_with_the_certificates_of_now() {
    let (folder, root, next) = (tempfile::tempdir().unwrap(), Root::new(), Root::new());
    let app = encrypted(folder.path(), &root, None).await;
    let at = app.addresses;
    assert_eq!(over_all(at, &root, None).await, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(told_end(at, &root).await, ("4096-01-01T00:00:00Z".into(), true));
    tokio::task::block_in_place(|| verbs_trust(at, folder.path(), &root));
    assert!(over_all(at, &next, None).await.iter().all(Result::is_err), "a client that trusts another root");
    let plain = reqwest::Client::new().post(format!("http://{}/v1/traces", at.otlp_http)).send().await;
    assert!(plain.is_err(), "{plain:?}");
    // Half of a change is no change: the key does not fit.
    std::fs::write(folder.path().join("cert.pem"), next.sign().0).unwrap();
    app.reload.notify_one();
    for _ in 0..5 {
        assert_eq!(over_http(at, &root, None).await, Ok(()));
    }
    next.put_until(folder.path(), 2049);
    let started = Instant::now();
    loop {
        app.reload.notify_one();
        if over_pg(at, &next, None).await.is_ok() {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "the new certificate is not used");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(over_all(at, &next, None).await, [Ok(()), Ok(()), Ok(())]);
    assert!(over_http(at, &root, None).await.is_err());
    assert_eq!(told_end(at, &next).await, ("2049-01-01T00:00:00Z".into(), true));
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_without_a_certificate_are_refused_where_one_is_asked_for() {
    let (folder, root, clients) = (tempfile::tempdir().unwrap(), Root::new(), Root::new());
    let app = encrypted(folder.path(), &root, Some(&clients)).await;
    let at = app.addresses;
    let (own, foreign) = (clients.sign(), root.sign());
    assert_eq!(over_all(at, &root, Some(&own)).await, [Ok(()), Ok(()), Ok(())]);
    for refused in [None, Some(&foreign)] {
        let all = over_all(at, &root, refused).await;
        assert!(all.iter().all(Result::is_err), "{all:?}");
    }
    // Without TLS nobody can show one, so psql must not get in that way either.
    let told = Pg::login(TcpStream::connect(at.pg).await.unwrap(), None).await.err().unwrap();
    assert!(told.contains("28000") && told.contains("TLS"), "{told}");
    app.stop().await.unwrap();
}

#[tokio::test]
async fn certificates_that_cannot_be_used_stop_the_start_and_name_the_key() {
    let (folder, root) = (tempfile::tempdir().unwrap(), Root::new());
    root.put(folder.path());
    let mut wrong = config(&folder.path().join("data"));
    wrong.server.tls.cert = folder.path().join("cert.pem");
    wrong.server.tls.key = folder.path().join("cert.pem");
    let error = App::start(wrong.clone()).await.err().unwrap().to_string();
    assert!(error.contains("server.tls.key"), "{error}");
    wrong.server.tls.key = folder.path().join("nothing.pem");
    let error = App::start(wrong).await.err().unwrap().to_string();
    assert!(error.contains("nothing.pem"), "{error}");
}

/// Short times, so that slow clients are told apart soon.
async fn impatient(folder: &Path, most: usize) -> App {
    let mut quick = config(folder);
    quick.server.header_timeout = Duration::from_millis(500);
    quick.server.idle_timeout = Duration::from_millis(1500);
    quick.server.body_grace = Duration::from_secs(1);
    quick.server.body_min_rate = ByteSize::new(1_000_000);
    quick.server.max_connections = most;
    start(quick).await
}

/// Waits until the server has closed the connection; gives what it said before.
async fn closed(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    match tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await {
        Ok(Ok(_)) => {}
        Ok(Err(e)) => assert_eq!(e.kind(), ErrorKind::ConnectionReset, "{e}"),
        Err(_) => panic!("the connection is still open"),
    }
    String::from_utf8_lossy(&said).into_owned()
}

const HEAD: &str = "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";

/// What is said to a request that ends with `rest`, until the connection is closed, and how long it was open. On a busy machine a
/// whole head may come too late: nothing is said to that, and it is sent again.
async fn answered(at: SocketAddr, rest: &str) -> (String, Duration) {
    let started = Instant::now();
    loop {
        let began = Instant::now();
        let mut stream = TcpStream::connect(at).await.unwrap();
        if stream.write_all(format!("{HEAD}{rest}").as_bytes()).await.is_ok() {
            let said = closed(&mut stream).await;
            if !said.is_empty() {
                return (said, began.elapsed());
            }
        }
        assert!(started.elapsed() < PATIENCE, "nothing is said to a request that ends with {rest:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_are_sent_away() {
    let folder = tempfile::tempdir().unwrap();
    let app = impatient(folder.path(), 100).await;
    for at in [app.addresses.otlp_http, app.addresses.grpc, app.addresses.http] {
        // Nothing, half of a head, a head that never ends.
        let mut silent = TcpStream::connect(at).await.unwrap();
        let mut half = TcpStream::connect(at).await.unwrap();
        half.write_all(&HEAD.as_bytes()[..30]).await.unwrap();
        let dripping = TcpStream::connect(at).await.unwrap();
        let (mut hears, mut drips) = dripping.into_split();
        let drip = tokio::spawn(async move {
            for byte in HEAD.as_bytes().iter().chain(std::iter::repeat(&b'x')) {
                if drips.write_all(&[*byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        closed(&mut silent).await;
        closed(&mut half).await;
        let ended = tokio::time::timeout(PATIENCE, hears.read(&mut [0; 64])).await;
        assert!(matches!(ended, Ok(Ok(0) | Err(_))), "{ended:?}");
        drip.abort();
    }
    // A body that trickles: the client is told to come back, and gets to read it.
    let (said, _) = answered(app.addresses.otlp_http, "content-length: 90000\r\n\r\n{").await;
    assert!(said.starts_with("HTTP/1.1 503") && said.contains("body_min_rate"), "{said}");
    // A connection that was used and is not used any more.
    let (said, lasted) = answered(app.addresses.otlp_http, "content-length: 2\r\n\r\n{}").await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(lasted > Duration::from_millis(1_000), "it may wait longer than a head may");
    let metrics = format!("http://{}/metrics", app.addresses.http);
    let metrics = reqwest::get(metrics).await.unwrap().text().await.unwrap();
    for reason in ["header", "idle"] {
        let counted = metrics.lines().any(|l| {
            l.starts_with("groundline_connections_reaped_total{")
                && l.contains("door=\"OTLP/HTTP\"")
                && l.contains(&format!("reason=\"{reason}\""))
                && !l.ends_with(" 0")
        });
        assert!(counted, "{reason}");
    }
    let refused =
        |l: &str| l.starts_with("groundline_requests_refused_total{") && l.contains("reason=\"slow\"");
    assert!(metrics.lines().any(refused), "the body that trickled is counted");
    app.stop().await.unwrap();
}

/// How many files this process may have open.
fn open_files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|l| l.strip_prefix("Max open files"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(1_024)
}

/// `GROUNDLINE_IDLE_CONNECTIONS=9000` is the long form; both ends of each connection are files of this process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_idle_connections_do_not_hinder_a_client_that_works() {
    let wanted =
        std::env::var("GROUNDLINE_IDLE_CONNECTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let idle = usize::min(wanted, open_files().saturating_sub(600) / 2);
    let folder = tempfile::tempdir().unwrap();
    let mut many = config(folder.path());
    (many.server.max_connections, many.server.header_timeout) = (idle + 8, Duration::from_mins(10));
    let app = start(many).await;
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    let client = reqwest::Client::new();
    let mut trace = 0;
    let mut batch = async || {
        let mut times = Vec::new();
        for _ in 0..60 {
            trace += 1;
            let body = request("busy", vec![span(trace, 1, vec![])]).encode_to_vec();
            let sent = client.post(&url).header("content-type", "application/x-protobuf").body(body);
            let began = Instant::now();
            assert_eq!(sent.send().await.unwrap().status(), 200);
            times.push(began.elapsed());
        }
        times.sort();
        times[times.len() / 2]
    };
    let alone = batch().await;
    let mut open = Vec::new();
    for _ in 0..idle {
        let mut stream = TcpStream::connect(app.addresses.otlp_http).await.unwrap();
        stream.write_all(b"POST /v1/tra").await.unwrap();
        open.push(stream);
    }
    let among = batch().await;
    eprintln!("{idle} idle connections: a request takes {among:?} (median), {alone:?} without them");
    assert!(among < Duration::from_secs(1), "{among:?}");
    // The endpoint is nearly full: what is beyond is closed at once, and room comes back.
    for _ in 0..20 {
        open.push(TcpStream::connect(app.addresses.otlp_http).await.unwrap());
    }
    let mut beyond = open.pop().unwrap();
    assert_eq!(closed(&mut beyond).await, "");
    drop(open);
    let started = Instant::now();
    let mut fresh = TcpStream::connect(app.addresses.otlp_http).await.unwrap();
    while !serves(&mut fresh).await {
        assert!(started.elapsed() < PATIENCE, "no room came back");
        fresh = TcpStream::connect(app.addresses.otlp_http).await.unwrap();
    }
    crate::support::settled(&app).await;
    assert_eq!(count(app.addresses.http, "SELECT count(*) AS n FROM spans").await, 120);
    app.stop().await.unwrap();
}

async fn serves(stream: &mut TcpStream) -> bool {
    let request = format!("{HEAD}content-length: 2\r\n\r\n{{}}");
    let mut answer = [0; 12];
    stream.write_all(request.as_bytes()).await.is_ok()
        && stream.read_exact(&mut answer).await.is_ok()
        && answer == *b"HTTP/1.1 200"
}

async fn channel(app: &App) -> Channel {
    Channel::from_shared(format!("http://{}", app.addresses.grpc)).unwrap().connect().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_is_told_over_grpc_until_the_stop() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let mut client = HealthClient::new(channel(&app).await);
    let ask = |service: &str| HealthCheckRequest { service: service.to_owned() };
    for service in ["", "opentelemetry.proto.collector.trace.v1.TraceService"] {
        let answer = client.check(ask(service)).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving);
    }
    let unknown = client.check(ask("nothing")).await.unwrap_err();
    assert_eq!(unknown.code(), tonic::Code::NotFound);
    let mut watched = client.watch(ask("")).await.unwrap().into_inner();
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
    let stopping = tokio::spawn(app.stop());
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    assert!(
        watched.message().await.unwrap().is_none(),
        "the stream ends, so that it does not hold up the stop"
    );
    let began = Instant::now();
    stopping.await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(9), "nothing was cut off");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reflection_tells_the_services_and_their_messages() {
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
    use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let mut client = ServerReflectionClient::new(channel(&app).await);
    let mut ask = async |what: MessageRequest| -> MessageResponse {
        let request = ServerReflectionRequest { host: String::new(), message_request: Some(what) };
        let mut answers =
            client.server_reflection_info(futures::stream::iter([request])).await.unwrap().into_inner();
        let answer: ServerReflectionResponse = answers.message().await.unwrap().unwrap();
        answer.message_response.unwrap()
    };
    let MessageResponse::ListServicesResponse(list) = ask(MessageRequest::ListServices(String::new())).await
    else {
        panic!("a list was asked for")
    };
    let names: Vec<&str> = list.service.iter().map(|s| s.name.as_str()).collect();
    for signal in ["trace.v1.Trace", "logs.v1.Logs", "metrics.v1.Metrics"] {
        let name = format!("opentelemetry.proto.collector.{signal}Service");
        assert!(names.contains(&name.as_str()), "{names:?}");
    }
    assert!(names.contains(&"grpc.health.v1.Health"), "{names:?}");
    for symbol in ["opentelemetry.proto.trace.v1.Span", "opentelemetry.proto.collector.logs.v1.LogsService"] {
        let found = ask(MessageRequest::FileContainingSymbol(symbol.to_owned())).await;
        assert!(matches!(found, MessageResponse::FileDescriptorResponse(_)), "{symbol}: {found:?}");
    }
    app.stop().await.unwrap();
}
