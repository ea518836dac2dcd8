//! Baselines that are learned anew by hand.

use super::{Receiver, WATCHED, calls, served_with};
use crate::support::{query, send, settled, until};
use serde_json::{Value, json};

/// An alert on a change by model, beside one on an objective that tells nobody.
const DRIFTS: &str = "
[[alerts]]
name = \"drifts\"
metric = \"pii_leakage\"
slices = [\"request_model\"]
method = \"change\"
baseline_n = 50
per = \"1s\"
receivers = [\"them\"]
";

/// What fires ends for that reason and is told so; an alert without a baseline and a slice that is not there are refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_baseline_is_learned_anew_by_hand() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::default());
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "key").unwrap();
    let watched = format!("{}{DRIFTS}", WATCHED.replace("receivers = [\"them\"]\n", ""));
    let app = served_with(folder.path(), receiver.clone().listen().await, &secret, &watched).await;
    let (otlp, http) = (app.addresses.otlp_http, app.addresses.http);
    assert!(send(otlp, calls(0, 200, 5)).await);
    settled(&app).await;
    assert!(send(otlp, calls(200, 200, 70)).await);
    until("the alert", async || receiver.states() == ["firing"]).await;
    let rows = async |alert: &str| {
        let of =
            format!("SELECT state, slice, message FROM alerts WHERE alert = '{alert}' ORDER BY evaluated_at");
        query(http, &of).await
    };
    until("the other alert", async || rows("leaks").await.len() == 1).await;
    let url = format!("http://{http}/v1/alerts/rebase");
    let post = async |body: Value| {
        let answer = reqwest::Client::new().post(&url).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    for (wrong, expected, word) in [
        (json!({"alert": "none"}), 404, "GET /v1/alerts"),
        (json!({"alert": "drifts", "slice": "request_model=bed"}), 404, "request_model=bed"),
        (json!({"alert": "leaks"}), 409, "objective"),
        (json!({"alerts": "drifts"}), 422, "alerts"),
    ] {
        let (status, why) = post(wrong.clone()).await;
        assert!(status == expected && why.contains(word), "{wrong}: {status} {why}");
    }
    assert_eq!(receiver.states(), ["firing"], "what is refused ends nothing");
    let (status, answer) = post(json!({"alert": "drifts", "slice": "request_model=bad"})).await;
    assert_eq!(status, 200, "{answer}");
    until("the end", async || receiver.states() == ["firing", "resolved"]).await;
    let said = receiver.got.lock()[1].1["summary"].as_str().unwrap().to_owned();
    assert!(said.contains("of request_model=bad: ended by hand") && !said.contains("back within"), "{said}");
    until("its row", async || rows("drifts").await.len() == 2).await;
    let row = rows("drifts").await.remove(1);
    assert_eq!((&row["state"], &row["message"]), (&json!("resolved"), &json!(said)), "{row}");
    let others = rows("leaks").await;
    assert!(others.len() == 1 && others[0]["state"] == "firing", "{others:?}");
    app.stop().await.unwrap();
}
