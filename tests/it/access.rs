//! Tokens, roles and tenants at every endpoint.

use crate::conformance::client::{Answer, RpcStatus, answer};
use crate::pg::Pg;
use crate::support::{PATIENCE, config, request, settled, span, start, text, until};
use groundline::app::App;
use groundline::net::{Entry, Role, digest_of};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use prost::Message;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;

const PB: &str = "application/x-protobuf";
const JSON: &str = "application/json";

/// The tests' tokens are their names.
pub fn tokens(entries: &[(&str, Option<&str>, &[Role])]) -> String {
    let entry = |(name, tenant, roles): &(&str, Option<&str>, &[Role])| Entry {
        name: (*name).to_owned(),
        sha256: hex::encode(digest_of(name.as_bytes())),
        tenant: tenant.map(str::to_owned),
        roles: roles.to_vec(),
    };
    entries.iter().map(|e| entry(e).to_toml()).collect::<Vec<_>>().join("\n")
}

pub fn everybody() -> String {
    tokens(&[
        ("send-a", Some("a"), &[Role::Ingest]),
        ("send-b", Some("b"), &[Role::Ingest]),
        ("read-a", Some("a"), &[Role::Query]),
        ("read-b", Some("b"), &[Role::Query]),
        ("prometheus", None, &[Role::Metrics]),
        ("chief", None, &[Role::Admin]),
    ])
}

pub async fn with_tokens(folder: &Path, tokens: &str) -> App {
    let file = folder.join("tokens.toml");
    std::fs::write(&file, tokens).unwrap();
    let mut config = config(&folder.join("data"));
    config.server.tokens_file = file;
    start(config).await
}

/// A model call, so that sampling decides about it, that says another tenant than its token.
fn chat() -> Vec<opentelemetry_proto::tonic::common::v1::KeyValue> {
    vec![text("gen_ai.operation.name", "chat"), text("tenant", "c")]
}

async fn grpc(app: &App, token: Option<&str>, trace: u64) -> Result<(), Code> {
    let endpoint = format!("http://{}", app.addresses.grpc);
    let mut client = TraceServiceClient::connect(endpoint).await.unwrap();
    let who = token.unwrap_or("nobody");
    let mut sent = tonic::Request::new(request(who, vec![span(trace, 1, chat())]));
    if let Some(token) = token {
        sent.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    client.export(sent).await.map(drop).map_err(|status| status.code())
}

async fn http(app: &App, kind: &str, authorization: Option<&str>, body: Vec<u8>) -> Answer {
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    let mut sent = reqwest::Client::new().post(url).header("content-type", kind).body(body);
    if let Some(authorization) = authorization {
        sent = sent.header("authorization", authorization);
    }
    answer(sent.send().await.unwrap()).await
}

async fn get(app: &App, path: &str, token: Option<&str>) -> u16 {
    let mut request = reqwest::Client::new().get(format!("http://{}{path}", app.addresses.http));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    request.send().await.unwrap().status().as_u16()
}

async fn post(app: &App, path: &str, token: Option<&str>, body: &Json) -> (u16, Json) {
    let mut request = reqwest::Client::new().post(format!("http://{}{path}", app.addresses.http)).json(body);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

async fn rows(app: &App, token: &str, sql: &str) -> Json {
    let (status, rows) = post(app, "/v1/sql", Some(token), &json!({ "sql": sql })).await;
    assert_eq!(status, 200, "{rows}");
    rows
}

async fn pg(app: &App, password: &str) -> Result<Pg<TcpStream>, String> {
    Pg::login(TcpStream::connect(app.addresses.pg).await.unwrap(), Some(password)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_belong_to_the_tokens_tenant_at_every_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    grpc(&app, Some("send-a"), 1).await.unwrap();
    grpc(&app, Some("send-b"), 2).await.unwrap();
    for (token, trace) in [("send-a", 3), ("send-b", 4)] {
        // The same trace id of both tenants, and a resource that says another tenant.
        let body = request(token, vec![span(trace, 1, chat()), span(9, 1, chat())]);
        let sent = http(&app, PB, Some(&format!("bearer {token}")), body.encode_to_vec()).await;
        assert_eq!(sent.partial(), None);
    }
    for token in ["read-a", "read-b"] {
        let note = json!({"annotation_id": "same", "trace_id": "0af7651916cd43dd8448eb211c80319c",
            "name": token, "label": "x", "comment": token});
        assert_eq!(post(&app, "/v1/annotations", Some(token), &note).await.0, 200);
    }
    settled(&app).await;
    for tenant in ["a", "b"] {
        let reader = format!("read-{tenant}");
        let sql = "SELECT DISTINCT tenant, service_name AS s FROM spans";
        assert_eq!(
            rows(&app, &reader, sql).await,
            json!([{"tenant": tenant, "s": format!("send-{tenant}")}])
        );
        let sql = "SELECT (SELECT count(*) FROM spans) AS s, (SELECT count(*) FROM annotations) AS n, \
                   (SELECT max(comment) FROM annotations) AS c, \
                   (SELECT count(*) FROM decisions WHERE tenant IS NULL) AS d";
        assert_eq!(rows(&app, &reader, sql).await, json!([{"s": 3, "n": 1, "c": reader, "d": 0}]));
        let decisions = rows(&app, &reader, "SELECT count(*) AS n, min(tenant) AS t FROM decisions").await;
        assert!(decisions[0]["n"].as_i64().unwrap() >= 2 && decisions[0]["t"] == tenant, "{decisions}");
        let mut pg = pg(&app, &reader).await.unwrap();
        let told = pg.query("SELECT tenant, count(*) FROM spans GROUP BY tenant").await;
        assert!(told.contains(tenant) && told.contains('3'), "{told:?}");
        let other = if tenant == "a" { "send-b" } else { "send-a" };
        assert!(!pg.query("SELECT * FROM spans").await.contains(other));
    }
    let all = rows(&app, "chief", "SELECT count(*) AS n, count(DISTINCT tenant) AS t FROM spans").await;
    assert_eq!(all, json!([{"n": 6, "t": 2}]));
    assert!(pg(&app, "chief").await.unwrap().query("SELECT count(*) FROM spans").await.contains('6'));
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn otlp_without_the_right_token_is_refused_in_the_senders_words() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    let body = |kind: &str| {
        if kind == PB { request("x", vec![span(1, 1, vec![])]).encode_to_vec() } else { b"{}".to_vec() }
    };
    for kind in [PB, JSON] {
        for (sent, status, code) in [
            (None, 401, 16),
            (Some("Bearer nobody"), 401, 16),
            (Some("send-a"), 401, 16),
            (Some("Bearer read-a"), 403, 7),
            (Some("Bearer chief"), 403, 7),
        ] {
            let refused = http(&app, kind, sent, body(kind)).await;
            assert_eq!((refused.status, refused.kind.as_str()), (status, kind), "{sent:?}");
            assert_eq!(refused.rpc_status().0, code, "{sent:?}");
            let challenge = refused.header("www-authenticate").is_some_and(|c| c.contains("Bearer"));
            assert_eq!(challenge, status == 401, "{sent:?}");
        }
    }
    for (token, code) in [
        (None, Code::Unauthenticated),
        (Some("nobody"), Code::Unauthenticated),
        (Some("read-a"), Code::PermissionDenied),
        (Some("chief"), Code::PermissionDenied),
    ] {
        assert_eq!(grpc(&app, token, 1).await, Err(code), "{token:?}");
    }
    assert_eq!(RpcStatus::decode(http(&app, PB, None, Vec::new()).await.body.as_slice()).unwrap().code, 16);
    settled(&app).await;
    assert_eq!(rows(&app, "chief", "SELECT count(*) AS n FROM spans").await, json!([{"n": 0}]));
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_query_endpoints_ask_for_their_roles() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    let sql = json!({"sql": "SELECT 1 AS one"});
    let note = json!({"trace_id": "0af7651916cd43dd8448eb211c80319c", "name": "n", "label": "l"});
    for (token, asks, notes, status, metrics) in [
        (None, 401, 401, 401, 401),
        (Some("nobody"), 401, 401, 401, 401),
        (Some("send-a"), 403, 403, 403, 403),
        (Some("read-a"), 200, 200, 200, 403),
        (Some("prometheus"), 403, 403, 403, 200),
        // An admin belongs to no tenant here, so there is nobody to annotate for.
        (Some("chief"), 200, 403, 200, 200),
    ] {
        assert_eq!(post(&app, "/v1/sql", token, &sql).await.0, asks, "{token:?}");
        assert_eq!(post(&app, "/v1/annotations", token, &note).await.0, notes, "{token:?}");
        assert_eq!(get(&app, "/v1/status", token).await, status, "{token:?}");
        assert_eq!(get(&app, "/", token).await, 200, "{token:?}: pages hold nothing that is secret");
        assert_eq!(get(&app, "/metrics", token).await, metrics, "{token:?}");
        assert_eq!(
            (get(&app, "/health/live", token).await, get(&app, "/health/ready", token).await),
            (200, 200)
        );
    }
    // A token as the password of any user.
    let me = reqwest::Client::new().get(format!("http://{}/v1/me", app.addresses.http));
    assert_eq!(me.basic_auth("anyone", Some("read-a")).send().await.unwrap().status(), 200);
    for (password, code) in [("nobody", "28P01"), ("send-a", "28000"), ("", "28P01")] {
        let told = pg(&app, password).await.err().expect(password);
        assert!(told.contains(code), "{password}: {told}");
    }
    let mut refused = TcpStream::connect(app.addresses.pg).await.unwrap();
    let _ = Pg::login(&mut refused, Some("nobody")).await.err().expect("refused");
    let query = b"Q\0\0\0\x0dSELECT 1\0";
    let ended = tokio::time::timeout(PATIENCE, async {
        while refused.write_all(query).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    assert!(ended.await.is_ok(), "a connection without a login is closed");
    let mut told = Vec::new();
    // The client may read the end or that the connection was reset.
    let _ = refused.read_to_end(&mut told).await;
    assert!(!told.contains(&b'D'), "{told:?}");
    app.stop().await.unwrap();
}

/// A token that is taken out of the file is worth nothing from the next request on, also on connections that are open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tokens_file_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    let mut open = pg(&app, "read-a").await.unwrap();
    assert!(open.query("SELECT 'let in'").await.contains("let in"));
    // Renamed into place: the server looks by itself, too, and an empty file is one without tokens.
    let put = |text: &str| {
        std::fs::write(folder.path().join("next"), text).unwrap();
        std::fs::rename(folder.path().join("next"), folder.path().join("tokens.toml")).unwrap();
    };
    put("[[tokens]]\nname = 'cut off in the mid");
    app.reload.notify_one();
    for _ in 0..20 {
        assert_eq!(get(&app, "/v1/me", Some("read-a")).await, 200, "a broken file changes nothing");
    }
    put(&tokens(&[("new", Some("a"), &[Role::Query])]));
    until("the new token", async || {
        app.reload.notify_one();
        get(&app, "/v1/me", Some("new")).await == 200
    })
    .await;
    assert_eq!(get(&app, "/v1/me", Some("read-a")).await, 401);
    let told = open.query("SELECT 'still in'").await;
    assert!(told.contains("28000") && !told.contains("still in"), "{told}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_made_token_works_and_is_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    let made = |name: &str, role: &str, tenant: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundline"));
        command.args(["token", "new", "--name", name, "--role", role, "--append"]).arg(&file);
        command.args(tenant.map(|t| format!("--tenant={t}")));
        command.output().unwrap()
    };
    let first = made("first", "query", Some("a"));
    let second = made("second", "admin", None);
    assert!(first.status.success() && second.status.success(), "{first:?} {second:?}");
    let (token, text) = (String::from_utf8(first.stdout).unwrap(), std::fs::read_to_string(&file).unwrap());
    assert!(!text.contains(token.trim()) && token.trim().len() > 64, "{text}");
    assert_eq!(made("first", "query", Some("a")).status.code(), Some(1), "the name is taken");
    assert_eq!(made("third", "ingest", None).status.code(), Some(2), "no tenant");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let app = with_tokens(folder.path(), &text).await;
    let mut asked = Command::new(env!("CARGO_BIN_EXE_groundline"));
    asked.args(["sql", "--url", &format!("http://{}", app.addresses.http), "--format", "csv"]);
    asked.arg("SELECT 7 AS n").env("GROUNDLINE_TOKEN", token.trim());
    let answered = tokio::task::spawn_blocking(move || asked.output().unwrap()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answered.stdout), "n\n7\n", "{answered:?}");
    app.stop().await.unwrap();
}
