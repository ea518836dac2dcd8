//! Login, cookie, roles and tenants.

use super::client::{get, header, post, request};
use crate::access::{everybody, tokens, with_tokens};
use crate::support::{config, request as otlp, settled, span, start};
use groundline::app::App;
use groundline::net::Role;
use prost::Message;
use reqwest::Method;
use serde_json::{Value as Json, json};

const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");

/// Logs in and gives what the browser sends as Cookie from then on.
async fn log_in(app: &App, token: &str) -> String {
    let sent = request(app.addresses.http, Method::POST, "/login", &[OWN]).json(&json!({"token": token}));
    let answer = sent.send().await.unwrap();
    assert_eq!(answer.status(), 204, "{token}");
    let cookie = header(&answer, "set-cookie");
    for part in ["groundline=", "Path=/", "HttpOnly", "SameSite=Strict"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    assert!(!cookie.contains(token), "the token is not in the cookie");
    cookie.split(';').next().unwrap().to_owned()
}

async fn me(app: &App, headers: &[(&str, &str)]) -> (u16, Json) {
    let answer = get(app.addresses.http, "/v1/me", headers).await;
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_stands_for_the_token_that_logged_in() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    let at = app.addresses;
    for tenant in ["a", "b"] {
        let body = otlp(tenant, vec![span(1, 1, vec![])]).encode_to_vec();
        let sent = reqwest::Client::new().post(format!("http://{}/v1/traces", at.otlp_http)).body(body);
        let sent =
            sent.bearer_auth(format!("send-{tenant}")).header("content-type", "application/x-protobuf");
        assert_eq!(sent.send().await.unwrap().status(), 200);
    }
    settled(&app).await;
    assert_eq!(me(&app, &[]).await.0, 401);
    let challenge = header(&get(at.http, "/v1/me", &[]).await, "www-authenticate");
    assert!(!challenge.contains("Basic"), "{challenge}: a browser would ask with a window of its own");
    let cookie = log_in(&app, "read-a").await;
    let by_cookie = [("cookie", cookie.as_str())];
    let wanted =
        json!({"name": "read-a", "tenant": "a", "roles": ["query"], "tenants": null, "needs_token": true});
    assert_eq!(me(&app, &by_cookie).await, (200, wanted));
    let chief = log_in(&app, "chief").await;
    let (_, told) = me(&app, &[("cookie", &format!("other=1; {chief}"))]).await;
    assert_eq!((&told["tenants"], &told["tenant"]), (&json!(["a", "b"]), &Json::Null));
    // Rows of the token's tenant, and an admin's choice among all.
    let own = [("cookie", cookie.as_str()), OWN];
    let sql = "SELECT DISTINCT tenant FROM spans ORDER BY 1";
    assert_eq!(post(at.http, "/v1/sql", &own, &json!({"query": sql})).await, (200, json!([{"tenant": "a"}])));
    let (status, _) = post(at.http, "/v1/sql", &own, &json!({"query": sql, "tenant": "b"})).await;
    assert_eq!(status, 403);
    let admin = [("cookie", chief.as_str()), OWN];
    let (_, all) = post(at.http, "/v1/sql", &admin, &json!({"query": sql})).await;
    assert_eq!(all, json!([{"tenant": "a"}, {"tenant": "b"}]));
    let (_, one) = post(at.http, "/v1/sql", &admin, &json!({"query": sql, "tenant": "b"})).await;
    assert_eq!(one, json!([{"tenant": "b"}]));
    // Roles hold for cookies as for tokens.
    let note = json!({"trace_id": "0af7651916cd43dd8448eb211c80319c", "name": "n", "label": "l"});
    assert_eq!(post(at.http, "/v1/annotations", &own, &note).await.0, 200);
    assert_eq!(post(at.http, "/v1/queue/retry", &own, &json!({"all": true})).await.0, 403);
    assert_eq!(post(at.http, "/v1/queue/retry", &admin, &json!({"all": true})).await.0, 200);
    assert_eq!(get(at.http, "/v1/alerts", &[("cookie", &chief)]).await.status(), 200);
    let sender = log_in(&app, "send-a").await;
    assert_eq!(post(at.http, "/v1/sql", &[("cookie", &sender), OWN], &json!({"query": sql})).await.0, 403);
    // Cookies are sent to every port of a host: the receiver does not know them.
    let sent =
        request(at.otlp_http, Method::POST, "/v1/traces", &[("cookie", &sender), OWN]).json(&json!({}));
    assert_eq!(sent.send().await.unwrap().status(), 401);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_cookie_does_must_come_from_a_page_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    let at = app.addresses.http;
    let cookie = log_in(&app, "read-a").await;
    let (own, port) = (format!("http://{at}"), format!("http://127.0.0.1:{}", at.port() ^ 1));
    let body = r#"{"query": "SELECT 1 AS one"}"#;
    let send = async |headers: &[(&str, &str)], kind: &str| {
        let all: Vec<(&str, &str)> = headers.iter().copied().chain([("content-type", kind)]).collect();
        request(at, Method::POST, "/v1/sql", &all).body(body).send().await.unwrap().status().as_u16()
    };
    let with = ("cookie", cookie.as_str());
    let json = "application/json";
    assert_eq!(send(&[with, OWN], json).await, 200);
    assert_eq!(send(&[with, ("origin", &own)], "Application/JSON; charset=utf-8").await, 200);
    for (headers, kind) in [
        (vec![with], json),
        (vec![with, ("origin", "https://evil.example")], json),
        (vec![with, ("origin", "null")], json),
        (vec![with, ("origin", port.as_str())], json),
        (vec![with, ("sec-fetch-site", "cross-site")], json),
        (vec![with, ("sec-fetch-site", "same-site"), ("origin", own.as_str())], json),
        (vec![with, ("sec-fetch-site", "none")], json),
        (vec![with, OWN], "text/plain"),
        (vec![with, OWN], "application/x-www-form-urlencoded"),
        (vec![with, OWN], "multipart/form-data; boundary=application/json"),
    ] {
        assert_eq!(send(&headers, kind).await, 403, "{headers:?} {kind}");
    }
    // A token that is sent as one is no cookie, and programs say nothing of pages.
    assert_eq!(send(&[("authorization", "Bearer read-a")], "text/plain").await, 200);
    // A look needs no proof: it changes nothing, and no other site can read the answer.
    assert_eq!(me(&app, &[with]).await.0, 200);
    // Nor can another site log its visitors in or out.
    let token = json!({"token": "read-a"});
    for foreign in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
        assert_eq!(post(at, "/login", &[foreign], &token).await.0, 403, "{foreign:?}");
        assert_eq!(post(at, "/logout", &[with, foreign], &json!({})).await.0, 403, "{foreign:?}");
    }
    assert_eq!(me(&app, &[with]).await.0, 200);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_with_its_logout_and_with_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    let at = app.addresses.http;
    let (first, second) = (log_in(&app, "read-a").await, log_in(&app, "read-a").await);
    assert_ne!(first, second);
    // Without a body, as browsers send it.
    let left = request(at, Method::POST, "/logout", &[("cookie", &first), OWN]).send().await.unwrap();
    assert_eq!(left.status(), 204);
    assert!(header(&left, "set-cookie").contains("Max-Age=0"));
    assert_eq!(me(&app, &[("cookie", &first)]).await.0, 401);
    assert_eq!(me(&app, &[("cookie", &second)]).await.0, 200);
    assert_eq!(request(at, Method::POST, "/logout", &[]).send().await.unwrap().status(), 204);
    // A login in the place of another ends that one.
    let sent =
        request(at, Method::POST, "/login", &[("cookie", &second), OWN]).json(&json!({"token": "read-b"}));
    let third = header(&sent.send().await.unwrap(), "set-cookie");
    let third = third.split(';').next().unwrap();
    assert_eq!(me(&app, &[("cookie", &second)]).await.0, 401);
    assert_eq!(me(&app, &[("cookie", third)]).await.1["name"], "read-b");
    std::fs::write(folder.path().join("tokens.toml"), tokens(&[("new", Some("a"), &[Role::Query])])).unwrap();
    crate::support::until("the end of the session", async || {
        app.reload.notify_one();
        me(&app, &[("cookie", third)]).await.0 == 401
    })
    .await;
    std::fs::write(folder.path().join("tokens.toml"), everybody()).unwrap();
    crate::support::until("the token", async || {
        app.reload.notify_one();
        me(&app, &[("authorization", "Bearer read-b")]).await.0 == 200
    })
    .await;
    assert_eq!(me(&app, &[("cookie", third)]).await.0, 401, "it does not come back with its token");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_logins_are_refused_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let app = with_tokens(folder.path(), &everybody()).await;
    let at = app.addresses.http;
    for (body, kind, status) in [
        (r#"{"token": "read-a"}"#, "text/plain", 415),
        (r#"{"token": 1}"#, "application/json", 422),
        (r#"{"password": "read-a"}"#, "application/json", 422),
        ("{", "application/json", 400),
    ] {
        let sent = request(at, Method::POST, "/login", &[("content-type", kind)]).body(body);
        let answer = sent.send().await.unwrap();
        assert_eq!(answer.status(), status, "{body}");
        assert!(!answer.text().await.unwrap().contains("read-a"));
    }
    let long = json!({"token": "x".repeat(5 << 10)});
    assert_eq!(post(at, "/login", &[], &long).await.0, 413);
    // Ten at once; on a slow machine more, because one is given back every six seconds.
    let mut guesses = 0;
    loop {
        let (status, told) = post(at, "/login", &[], &json!({"token": "guess"})).await;
        assert!(!told.to_string().contains("guess"));
        if status == 429 {
            break;
        }
        assert_eq!(status, 401, "{told}");
        guesses += 1;
        assert!(guesses < 200, "guesses have no bound");
    }
    assert!(guesses >= 10, "{guesses}");
    let sent = request(at, Method::POST, "/login", &[]).json(&json!({"token": "read-a"}));
    let answer = sent.send().await.unwrap();
    assert_eq!(answer.status(), 429);
    assert!((1..=7).contains(&header(&answer, "retry-after").parse::<u64>().unwrap()));
    assert_eq!(me(&app, &[("authorization", "Bearer read-a")]).await.0, 200, "tokens themselves still work");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_tokens_there_is_nothing_to_log_in_to() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let at = app.addresses.http;
    let sent = request(at, Method::POST, "/login", &[]).json(&json!({"token": "anything"}));
    let answer = sent.send().await.unwrap();
    assert_eq!((answer.status().as_u16(), header(&answer, "set-cookie")), (204, String::new()));
    let (status, told) = me(&app, &[("cookie", "groundline=x")]).await;
    assert_eq!((status, &told["needs_token"]), (200, &json!(false)));
    assert_eq!((&told["tenant"], &told["tenants"]), (&json!("default"), &json!(["default"])));
    assert_eq!(told["roles"], json!(["ingest", "query", "review", "metrics", "lab", "admin"]));
    app.stop().await.unwrap();
}
