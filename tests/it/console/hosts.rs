//! A name that leads here by somebody else's will reaches nothing where no token is asked for.

use super::client::{get, post};
use crate::support::{config, start};
use groundline::app::App;
use serde_json::json;
use std::path::Path;

async fn serve(folder: &Path, edit: impl FnOnce(&mut groundline::net::Config)) -> App {
    let mut config = config(folder);
    edit(&mut config.server);
    start(config).await
}

async fn asks(app: &App, headers: &[(&str, &str)]) -> [u16; 4] {
    let at = app.addresses.http;
    [
        post(at, "/v1/sql", headers, &json!({"query": "SELECT 1"})).await.0,
        get(at, "/", headers).await.status().as_u16(),
        get(at, "/v1/status", headers).await.status().as_u16(),
        get(at, "/metrics", headers).await.status().as_u16(),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_the_loopback_only_its_own_names_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let app = serve(folder.path(), |_| {}).await;
    let port = app.addresses.http.port();
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(asks(&app, &[("host", &host)]).await, [200; 4], "{host}");
    }
    for host in ["evil.example", "groundline", "localhost.evil.example"] {
        assert_eq!(asks(&app, &[("host", host)]).await, [403; 4], "{host}");
    }
    assert_eq!(asks(&app, &[("origin", "https://evil.example")]).await, [403; 4]);
    let (_, told) = post(app.addresses.http, "/v1/sql", &[("host", "evil.example")], &json!({})).await;
    assert!(told["error"].as_str().unwrap().contains("server.public_url"), "{told}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_is_reached_by_its_service_name_and_scraped_by_any() {
    let folder = tempfile::tempdir().unwrap();
    let app = serve(folder.path(), |server| server.allow_exposed = true).await;
    for host in ["groundline:4320", "groundline.ns.svc.cluster.local:4320", "10.1.2.3:4320"] {
        assert_eq!(asks(&app, &[("host", host)]).await, [200; 4], "{host}");
    }
    assert_eq!(asks(&app, &[("host", "evil.example")]).await, [403, 403, 403, 200]);
    assert_eq!(asks(&app, &[("origin", "https://evil.example")]).await, [403, 403, 403, 200]);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_proxy_the_public_url_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let app =
        serve(folder.path(), |server| server.public_url = "https://groundline.example".to_owned()).await;
    let host = ("host", "groundline.example");
    assert_eq!(asks(&app, &[host, ("origin", "https://groundline.example")]).await, [200; 4]);
    assert_eq!(asks(&app, &[("host", "evil.example")]).await, [403; 4]);
    app.stop().await.unwrap();
}
