//! What leaves the machine and what it costs: tenants, redaction, the cache, the budget of a month, and questions whose answers are
//! known.

use super::server::{Act, INPUT_TOKENS, Server};
use super::{SCORES, ask, configured, judged, served, sum};
use crate::support::{query, send, settled, span, text, until};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_of_other_tenants_do_not_leave() {
    let server = Server::default();
    let rows = judged(&server, 2, "tenants = [\"acme\"]").await;
    assert_eq!((rows.len(), server.requests()), (2, 0));
    for row in rows {
        assert_eq!((&row["status"], row["value"].is_null()), (&json!("skipped"), true));
        assert!(row["error"].as_str().unwrap().contains("judges.tenants"), "{row}");
    }
    let server = Server::default();
    let rows = judged(&server, 2, "tenants = [\"acme\", \"default\"]").await;
    assert!(rows.iter().all(|row| row["status"] == "ok") && server.requests() == 2, "{rows:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_redacted_is_not_sent() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let config = configured("\"safety\"", server.listen().await, "redact = [\"pii\"]");
    let app = served(folder.path(), &config).await;
    let message = |role: &str, text: &str| {
        json!([{"role": role, "parts": [{"type": "text", "content": text}]}]).to_string()
    };
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.input.messages", &message("user", "Where is my parcel?")),
        text("gen_ai.output.messages", &message("assistant", "I wrote to jane.doe@example.com about it.")),
    ];
    assert!(send(app.addresses.otlp_http, vec![span(1, 1, attributes)]).await);
    settled(&app).await;
    let rows = query(app.addresses.http, SCORES).await;
    let stored = query(app.addresses.http, "SELECT answer FROM spans").await;
    app.stop().await.unwrap();
    assert_eq!((rows.len(), &rows[0]["status"]), (1, &json!("ok")));
    let sent = server.got.lock()[0].1.to_string();
    assert!(sent.contains("I wrote to [EMAIL] about it.") && !sent.contains("jane.doe"), "{sent}");
    // What is stored is the user's own business.
    assert!(stored[0]["answer"].as_str().unwrap().contains("jane.doe"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_question_is_paid_for_once_also_after_a_restart() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let more = "max_concurrent = 1\nprice_input_usd = 1.0\nprice_output_usd = 1.0\n[score.judge_cache]\nsize = \"8MiB\"";
    let config = configured("\"safety\"", server.listen().await, more);
    for calls in [0..1, 1..4] {
        let app = served(folder.path(), &config).await;
        assert!(ask(app.addresses.otlp_http, calls.clone()).await);
        settled(&app).await;
        let rows = query(app.addresses.http, SCORES).await;
        let count = usize::try_from(calls.end).unwrap();
        assert_eq!((rows.len(), server.requests()), (count, 1), "{rows:?}");
        assert!(
            rows.iter().all(|row| row["status"] == "ok" && row["judge_model"] == "judge-model-0"),
            "{rows:?}"
        );
        assert_eq!(sum(&rows, "input_tokens"), INPUT_TOKENS);
        let free = rows.iter().filter(|row| row["cost_usd"] == 0.0).count();
        assert_eq!(free, count - 1, "{rows:?}");
        app.stop().await.unwrap();
    }
}

/// What one repetition was told is not taken for another one that says the same, and the same experiment again is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repetitions_are_judged_one_by_one_and_again_for_nothing() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let more = "[score.judge_cache]\nsize = \"8MiB\"";
    let app = served(folder.path(), &configured("\"safety\"", server.listen().await, more)).await;
    let post = async |path: String, body: serde_json::Value| -> serde_json::Value {
        let url = format!("http://{}/v1/lab/{path}", app.addresses.http);
        let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
        answer.error_for_status().unwrap().json().await.unwrap()
    };
    post("datasets".to_owned(), json!({"name": "d"})).await;
    let item = json!({"external_id": "a", "input": "Where is it?"});
    post("datasets/d/items".to_owned(), json!({ "put": [item] })).await;
    let rows = query(app.addresses.http, "SELECT item_id FROM dataset_at('d')").await;
    for _ in 0..2 {
        let new = json!({"name": "e", "dataset": "d", "target": {"kind": "function"}, "evaluators": ["safety"], "repetitions": 3});
        let id = post("experiments".to_owned(), new).await["experiment_id"].as_str().unwrap().to_owned();
        let answer =
            |n: u32| json!({"item_id": rows[0]["item_id"], "repetition": n, "output": "It is here."});
        let told = post(format!("experiments/{id}/runs"), json!([answer(1), answer(2), answer(3)])).await;
        assert_eq!((&told["stored"], server.requests()), (&json!(3), 3), "{told}");
    }
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_is_no_verdict_is_not_kept() {
    let wrong = Act::Says("yes");
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::with([wrong.clone(), wrong]));
    let more = "[score.judge_cache]\nsize = \"8MiB\"";
    let app = served(folder.path(), &configured("\"safety\"", server.listen().await, more)).await;
    for call in 0..2 {
        assert!(ask(app.addresses.otlp_http, call..call + 1).await);
        settled(&app).await;
    }
    let rows = query(app.addresses.http, SCORES).await;
    app.stop().await.unwrap();
    let failed = rows.iter().filter(|row| row["status"] == "error").count();
    assert_eq!((rows.len(), failed, server.requests()), (2, 1, 3), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_budget_of_a_month_outlasts_a_restart() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    // An answer costs 100 dollars: after two the third may not begin.
    let money = "max_concurrent = 1\nmax_output_tokens = 20\nprice_input_usd = 0.0\nprice_output_usd = 5e6\nmax_usd_per_month = 250.0";
    let config = configured("\"safety\"", server.listen().await, money);
    let today = || chrono::Utc::now().date_naive();
    let day = today();
    for calls in [0..3, 3..5] {
        let app = served(folder.path(), &config).await;
        assert!(ask(app.addresses.otlp_http, calls.clone()).await);
        settled(&app).await;
        let rows = query(app.addresses.http, SCORES).await;
        app.stop().await.unwrap();
        let errors: Vec<&str> = rows.iter().filter_map(|row| row["error"].as_str()).collect();
        let count = usize::try_from(calls.end).unwrap();
        // A new month has its own.
        if today() != day {
            return;
        }
        assert_eq!((rows.len(), errors.len(), server.requests()), (count, count - 2, 2), "{rows:?}");
        assert!(errors.iter().all(|error| error.contains("judges.max_usd_per_month = 250")), "{errors:?}");
    }
}

/// What `/metrics` tells of failed canaries.
async fn failed(server: &Server) -> String {
    let folder = tempfile::tempdir().unwrap();
    let config = configured("\"safety\"", server.listen().await, "canary_interval = \"200ms\"");
    let app = served(folder.path(), &config).await;
    let address = app.addresses.http;
    let line = async || {
        let text = reqwest::get(format!("http://{address}/metrics")).await.unwrap().text().await.unwrap();
        let name = "groundline_judge_canaries_failed{judge=\"main\"} ";
        text.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned))
    };
    // The gauge of another server of this process may stand there: this one's own does when it is in its third round.
    let asked = server.requests();
    until("two rounds", async || server.requests() > asked + 20 && line().await.is_some()).await;
    let told = line().await.unwrap();
    app.stop().await.unwrap();
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_that_says_yes_to_everything_is_found_out() {
    // It fails what the context contradicts, the order to the judge, and the answer to another question.
    assert_eq!(failed(&Server::default()).await, "3");
    assert_eq!(failed(&Server { reads: true, ..Server::default() }).await, "0");
}
