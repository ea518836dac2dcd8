//! Silences over HTTP and of the configuration, and definitions that go: who is told of what, at the end of it all.

use super::{ROWS, Receiver, WATCHED, calls, served};
use crate::support::{Process, query, send, until};
use reqwest::Client;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Status and body of a request to the silences; `id` is that of one of them.
async fn ask(http: SocketAddr, method: reqwest::Method, id: &str, body: Option<Value>) -> (u16, Value) {
    let url = format!("http://{http}/v1/alerts/silences{id}");
    let request = Client::new().request(method, url);
    let request = if let Some(body) = body { request.json(&body) } else { request };
    let answer = request.send().await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silence_keeps_messages_back_and_loses_none() {
    use reqwest::Method;
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::default());
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "key").unwrap();
    let hook = receiver.clone().listen().await;
    let app = served(folder.path(), hook, &secret).await;
    let http = app.addresses.http;
    let wish = json!({"alert": "leaks", "slice": {"request_model": "bad"}, "for": "2h", "by": "Ada", "comment": "moving"});
    for (change, status, word) in [
        (json!({"for": null}), 400, "until or for"),
        (json!({"until": "2026-12-24T00:00:00Z"}), 400, "one of them"),
        (json!({"for": null, "until": "tomorrow"}), 400, "RFC 3339"),
        (json!({"for": null, "until": "2020-01-01T00:00:00Z"}), 400, "ends after now"),
        (json!({"slice": {"tenant": "a"}}), 400, "request_model"),
        (json!({"alert": "none"}), 404, "GET /v1/alerts"),
        (json!({"by": ""}), 400, "by must be"),
        (json!({"forever": true}), 422, "forever"),
    ] {
        let mut wrong = wish.clone();
        wrong.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let (found, answer) = ask(http, Method::POST, "", Some(wrong)).await;
        assert!(found == status && answer.to_string().contains(word), "{change}: {found} {answer}");
    }
    let (status, made) = ask(http, Method::POST, "", Some(wish.clone())).await;
    assert_eq!((status, &made["source"], &made["slice"]), (201, &json!("http"), &wish["slice"]), "{made}");
    assert_eq!(ask(http, Method::GET, "", None).await, (200, json!({"silences": [made]})));
    assert!(send(app.addresses.otlp_http, calls(0, 200, 70)).await);
    until("the alert", async || !query(http, ROWS).await.is_empty()).await;
    // It survives a restart, and so does what it keeps back.
    app.stop().await.unwrap();
    assert_eq!(receiver.states(), [""; 0]);
    let app = served(folder.path(), hook, &secret).await;
    let http = app.addresses.http;
    assert_eq!(ask(http, Method::GET, "", None).await.1, json!({"silences": [made]}));
    let id = format!("/{}", made["id"].as_str().unwrap());
    assert_eq!(ask(http, Method::DELETE, &id, None).await.0, 204);
    let (status, why) = ask(http, Method::DELETE, &id, None).await;
    assert!(status == 404 && why["error"].as_str().unwrap().contains("GET /v1/alerts/silences"), "{why}");
    until("what was kept back", async || receiver.states() == ["firing"]).await;
    let link = receiver.got.lock()[0].1["link"].as_str().unwrap().to_owned();
    assert!(link.ends_with("/alerts#alert=leaks&slice=request_model=bad"), "{link}");
    // Who was told that it fires is told of the end, in a silence of everything.
    let all = json!({"until": "2200-01-01T00:00:00Z", "by": "Ada"});
    assert_eq!(ask(http, Method::POST, "", Some(all)).await.0, 400, "too long");
    let all = json!({"for": "1d", "by": "Ada"});
    assert_eq!(ask(http, Method::POST, "", Some(all)).await.0, 201);
    assert!(send(app.addresses.otlp_http, calls(200, 600, 0)).await);
    until("the end", async || receiver.states() == ["firing", "resolved"]).await;
    app.stop().await.unwrap();
}

/// SIGHUP, to this server alone.
fn hang_up(server: &Process) {
    let id = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
}

/// The server reads its file again at SIGHUP: silences of the configuration, and an alert that is no longer defined.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_what_fires_and_is_no_longer_defined() {
    use reqwest::Method;
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::default());
    let hook = receiver.clone().listen().await;
    let them = format!("[[receivers]]\nname = \"them\"\nkind = \"webhook\"\nurl = \"http://{hook}/hook\"\n");
    let server = Process::start_with(folder.path(), &format!("{WATCHED}{them}"));
    let reread = async |text: String, silences: usize| {
        std::fs::write(folder.path().join("groundline.toml"), text).unwrap();
        hang_up(&server);
        let shown = async || ask(server.http, Method::GET, "", None).await.1["silences"].clone();
        until("the new file", async || shown().await.as_array().unwrap().len() == silences).await;
        shown().await
    };
    let silent = "silences = [\"2020-01-01T00:00:00Z/2100-01-01T00:00:00Z\", \"2020-01-01T00:00:00Z/2021-01-01T00:00:00Z\"]\n";
    let shown = reread(format!("{WATCHED}{silent}{them}"), 1).await;
    assert_eq!((&shown[0]["source"], &shown[0]["alert"]), (&json!("config"), &json!("leaks")));
    let id = format!("/{}", shown[0]["id"].as_str().unwrap());
    let (status, why) = ask(server.http, Method::DELETE, &id, None).await;
    assert!(status == 409 && why["error"].as_str().unwrap().contains("SIGHUP"), "{why}");
    assert!(send(server.otlp_http, calls(0, 200, 70)).await);
    until("the alert", async || !query(server.http, ROWS).await.is_empty()).await;
    reread(format!("{WATCHED}{them}"), 0).await;
    until("what was kept back", async || receiver.states() == ["firing"]).await;
    let rules = WATCHED.split_once("[[alerts]]").unwrap().0;
    std::fs::write(folder.path().join("groundline.toml"), format!("{rules}{them}")).unwrap();
    hang_up(&server);
    until("the end", async || receiver.states() == ["firing", "resolved"]).await;
    let said = receiver.got.lock()[1].1["summary"].as_str().unwrap().to_owned();
    assert_eq!(said, "the alert is no longer defined");
    until("its row", async || query(server.http, ROWS).await.len() == 2).await;
    let rows = query(server.http, ROWS).await;
    assert_eq!((&rows[1]["state"], &rows[1]["message"]), (&json!("resolved"), &json!(said)), "{rows:?}");
}
