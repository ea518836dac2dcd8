//! Items that somebody sends to the queue.

use super::{METRIC, answer, chat, ids, next, post, quick, send};
use crate::support::{count, settled, start, until};
use groundline::units::ByteSize;
use serde_json::{Value as Json, json};
use std::net::SocketAddr;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

pub async fn to_queue(at: SocketAddr, token: Option<&str>, body: &Json) -> (u16, Json) {
    let mut request = reqwest::Client::new().post(format!("http://{at}/v1/labels/items")).json(body);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
}

/// What somebody sends to the queue is asked about; its label corrects a rate only once a draw has chosen it too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_is_sent_to_the_queue_is_labelled_and_bends_no_rate() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    // More than there are: every item is drawn.
    config.labels.draw_size = 1_000;
    let app = start(config).await;
    let at = app.addresses.http;
    send(&app, None, (1..=9).map(chat).collect()).await;
    settled(&app).await;
    let trace = "aaaaaaaaaaaaaaaa0000000000000003";
    let chosen = json!({"metric": METRIC, "trace_id": trace});
    let (status, told) = to_queue(at, None, &chosen).await;
    assert_eq!((status, &told["state"], &told["is_new"]), (200, &json!("open"), &json!(true)), "{told}");
    let (_, again) = to_queue(at, None, &chosen).await;
    assert_eq!((&again["item"], &again["is_new"]), (&told["item"], &json!(false)));
    for (body, part) in [
        (json!({"metric": "nothing", "trace_id": trace}), "no verdict"),
        (json!({"metric": METRIC, "trace_id": trace, "span_id": "00000000000000ff"}), "no verdict"),
        (json!({"metric": METRIC}), "trace_id"),
    ] {
        let (status, told) = to_queue(at, None, &body).await;
        assert!(status == 400 && told["error"].as_str().unwrap().contains(part), "{told}");
    }
    // It comes before the first draw, alone.
    let items = next(at, "ana", 10).await;
    assert_eq!(ids(&items), [told["item"].as_str().unwrap()]);
    assert_eq!(post(at, None, &answer(&items[0], "ana", "fail")).await.0, 200);
    settled(&app).await;
    let plain = "SELECT count(*) FROM annotations WHERE label = 'fail' AND item IS NULL AND label_probability IS NULL";
    assert_eq!(count(at, plain).await, 1);
    let of_draw = format!("FROM labelled_scores WHERE metric = '{METRIC}' AND draw IS NOT NULL");
    assert_eq!(count(at, &format!("SELECT count(*) {of_draw}")).await, 0);
    let truth = format!("SELECT count(*) FROM labelled_scores WHERE metric = '{METRIC}' AND NOT truth");
    assert_eq!(count(at, &truth).await, 1);
    // The draw chooses it like the others, and nobody is asked twice.
    let items = next(at, "ana", 10).await;
    assert!(items.len() == 8 && items.iter().all(|item| item["item"] != told["item"]), "{items:?}");
    settled(&app).await;
    let drawn = "SELECT count(*) FROM annotations WHERE label = 'fail' AND item IS NOT NULL AND label_probability = 1";
    assert_eq!(count(at, drawn).await, 1);
    assert_eq!(count(at, &format!("SELECT count(*) {of_draw}")).await, 9);
    assert_eq!(count(at, &format!("SELECT count(*) {of_draw} AND NOT label")).await, 1);
    app.stop().await.unwrap();
}

/// A label that cannot be taken refuses the request before an answer of it is taken, so that all of it can be sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_label_that_is_refused_leaves_the_answers_beside_it_untaken() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.journal.max_frame_size = ByteSize::kib(512);
    let app = start(config).await;
    let at = app.addresses.http;
    send(&app, None, (1..=4).map(chat).collect()).await;
    settled(&app).await;
    let said = answer(&next(at, "ana", 1).await[0], "ana", "pass");
    let plain = |comment: &str| json!({"trace_id": "aaaaaaaaaaaaaaaa0000000000000003", "name": "polite", "comment": comment});
    let (status, told) = post(at, None, &json!([said, plain(&"x".repeat(1 << 20))])).await;
    assert_eq!(status, 400, "{told}");
    let (status, told) = post(at, None, &json!([said, plain("yes")])).await;
    assert_eq!((status, &told["refused"]), (200, &json!([])), "{told}");
    assert_eq!(told["items"].as_array().map(Vec::len), Some(1), "{told}");
    app.stop().await.unwrap();
}

/// An answer that became durable is known to the queue, too, whoever hangs up: sent again it is taken once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_whose_sender_hangs_up_is_taken_once() {
    const ANSWERS: &str = "SELECT count(*) FROM review_answers";
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.labels.draw_size = 1_000;
    let app = start(config).await;
    let at = app.addresses.http;
    send(&app, None, (1..=9).map(chat).collect()).await;
    settled(&app).await;
    let item = next(at, "ana", 1).await.remove(0);
    let mut said = answer(&item, "ana", "pass");
    said["annotation_id"] = json!("once");
    let body = said.to_string();
    let request = format!(
        "POST /v1/annotations HTTP/1.1\r\nhost: {at}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    until("an answer", async || {
        let mut hasty = TcpStream::connect(at).await.unwrap();
        hasty.write_all(request.as_bytes()).await.unwrap();
        drop(hasty);
        count(at, ANSWERS).await > 0
    })
    .await;
    assert_eq!(post(at, None, &said).await.0, 200);
    settled(&app).await;
    assert_eq!(count(at, ANSWERS).await, 1);
    assert_eq!(count(at, "SELECT count(*) FROM annotations").await, 1);
    app.stop().await.unwrap();
}
