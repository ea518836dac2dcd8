//! The playground: prompts that are being written, over HTTP, and the experiment that is made of them.

use super::{done, send};
use crate::access::{tokens, with_tokens};
use crate::support::{config, count, start};
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use groundline::config::Config;
use groundline::lab::target::{Kind, TargetSpec};
use groundline::net::Role;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A model that says what it was asked: the system's message, the user's, and the temperature. It waits for its turn.
async fn model(State(turns): State<Arc<Semaphore>>, Json(sent): Json<Value>) -> Json<Value> {
    let _turn = turns.acquire().await.unwrap();
    let of = |role: &str| {
        let all = sent["messages"].as_array().unwrap().iter().filter(|m| m["role"] == role);
        all.filter_map(|m| m["content"].as_str()).collect::<Vec<_>>().join(" ")
    };
    let said = format!("{}|{}|{}", of("system"), of("user"), sent["temperature"]);
    Json(
        json!({"choices": [{"message": {"role": "assistant", "content": said}}], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}),
    )
}

/// Settings with the targets `model` and `address`, and the turns that the model waits for.
async fn with_model(mut config: Config, turns: usize) -> (Config, Arc<Semaphore>) {
    let turns = Arc::new(Semaphore::new(turns));
    let app = Router::new().route("/v1/chat/completions", post(model)).with_state(turns.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let openai = TargetSpec {
        kind: Kind::Openai,
        base_url: format!("http://{at}/v1"),
        model: "m".to_owned(),
        system: "Be kind.".to_owned(),
        ..TargetSpec::default()
    };
    let http = TargetSpec { kind: Kind::Http, url: format!("http://{at}/answer"), ..TargetSpec::default() };
    config.lab.targets = [("model".to_owned(), openai), ("address".to_owned(), http)].into();
    (config, turns)
}

fn trial(prompt: &str, items: Value) -> Value {
    json!({"target": "model", "prompt": prompt, "parameters": {"temperature": 0}, "evaluators": ["rouge"], "items": items})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_tried_on_a_few_items_and_nothing_of_it_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (config, _) = with_model(config(folder.path()), 8).await;
    let app = start(config).await;
    let items = json!([{"input": {"question": "Where?"}, "expected": "Be kind.|In short: Where?|0"}, {"input": {"topic": "x"}}]);
    let sent = trial("In short: {{input.question}}", items);
    let told = done(&app, "POST", "playground", &sent).await;
    let answers = told["answers"].as_array().unwrap();
    assert_eq!(
        (&answers[0]["output"], &answers[0]["input_tokens"]),
        (&json!("Be kind.|In short: Where?|0"), &json!(9))
    );
    let score = &answers[0]["scores"][0];
    assert_eq!(
        (&score["evaluator"], &score["status"], &score["passed"]),
        (&json!("rouge"), &json!("ok"), &json!(true))
    );
    assert!(answers[1]["error"].as_str().unwrap().contains("{{input}} has topic"), "{told}");
    assert_eq!((&answers[1]["scores"], &answers[1]["output"]), (&json!([]), &Value::Null));
    let own = json!({"target": "model", "system": "", "items": [{"input": "Plain?"}]});
    assert_eq!(done(&app, "POST", "playground", &own).await["answers"][0]["output"], "|Plain?|null");
    let stored = "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM scores) + (SELECT count(*) FROM experiments)";
    assert_eq!(count(app.addresses.http, stored).await, 0);

    // What is wrong is told as a whole, and nobody is asked.
    for (wrong, why) in [
        (trial("{{secret}}", json!([{"input": "a"}])), "{{secret}} is no place"),
        (trial("a", json!([])), "0 items"),
        (trial("a", json!(vec![json!({"input": "a"}); 17])), "17 items"),
        (trial("a", json!([{"expected": "b"}])), "item 1"),
        (json!({"target": "other", "items": [{"input": "a"}]}), "[lab.targets] has address, model"),
        (json!({"target": "address", "prompt": "a", "items": [{"input": "a"}]}), "makes its prompts itself"),
        (
            json!({"target": "model", "evaluators": ["nobody"], "items": [{"input": "a"}]}),
            "no evaluator \"nobody\"",
        ),
    ] {
        let (status, told) = send(&app, "POST", "playground", None, &wrong).await;
        assert!(status == 400 && told["error"].as_str().unwrap().contains(why), "{why}: {status} {told}");
    }
    let listed = done(&app, "GET", "evaluators", &Value::Null).await;
    let rouge = listed["evaluators"].as_array().unwrap().iter().find(|e| e["id"] == "rouge").unwrap();
    assert_eq!(
        (&rouge["asks_others"], &rouge["metrics"][0]["better"]),
        (&json!(false), &json!("higher")),
        "{rouge}"
    );
    assert_eq!(
        (&rouge["needs"], &rouge["asks_judge"], &rouge["llm"], &rouge["metrics"][0]["range"]),
        (&json!(["answer", "expected"]), &json!(false), &json!(true), &json!([0.0, 1.0])),
        "{rouge}"
    );
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_experiment_keeps_the_prompt_that_it_was_made_with() {
    let folder = tempfile::tempdir().unwrap();
    let (config, _) = with_model(config(folder.path()), 8).await;
    let app = start(config).await;
    done(&app, "POST", "datasets", &json!({"name": "d"})).await;
    let put = json!({"put": [{"input": "One?"}, {"input": "Two?"}]});
    done(&app, "POST", "datasets/d/items", &put).await;
    let target = json!({"kind": "named", "name": "model", "prompt": "In short: {{input}}"});
    let new = json!({"name": "short", "dataset": "d@2", "target": target, "parameters": {"temperature": 1}, "evaluators": ["looping"]});
    let made = done(&app, "POST", "experiments", &new).await;
    let id = made["experiment_id"].as_str().unwrap();
    let ran = done(&app, "POST", &format!("experiments/{id}/run?limit=1"), &json!({})).await;
    assert_eq!((&ran["stored"], &ran["missing"], &ran["status"]), (&json!(1), &json!(1), &json!("running")));
    let ran = done(&app, "POST", &format!("experiments/{id}/run"), &json!({})).await;
    assert_eq!((&ran["missing"], &ran["status"]), (&json!(0), &json!("success")));
    let said = "SELECT count(*) FROM runs_latest WHERE output IN ('\"Be kind.|In short: One?|1\"', '\"Be kind.|In short: Two?|1\"')";
    assert_eq!(count(app.addresses.http, said).await, 2);
    let kept = done(&app, "GET", &format!("experiments/{id}"), &Value::Null).await;
    assert_eq!(
        (&kept["target"]["prompt"], &kept["target"]["name"]),
        (&json!("In short: {{input}}"), &json!("model"))
    );
    // An application of one's own that merely has the same name is not asked by the server, whatever it claims.
    let own = json!({"name": "own", "dataset": "d", "target": {"kind": "http", "name": "model", "asked_by": "server"}, "evaluators": ["looping"]});
    let own = done(&app, "POST", "experiments", &own).await["experiment_id"].as_str().unwrap().to_owned();
    let (status, told) = send(&app, "POST", &format!("experiments/{own}/run"), None, &json!({})).await;
    assert!(status == 400 && told["error"].as_str().unwrap().contains("groundline experiment run"), "{told}");
    let wrong = json!({"name": "w", "dataset": "d", "target": {"kind": "named", "name": "model", "prompt": "{{expected}}"}});
    let (status, told) = send(&app, "POST", "experiments", None, &wrong).await;
    assert!(status == 400 && told["error"].as_str().unwrap().contains("target.prompt"), "{told}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_playground_is_for_the_role_lab() {
    let folder = tempfile::tempdir().unwrap();
    let who = tokens(&[("reader", Some("a"), &[Role::Query]), ("lab", Some("a"), &[Role::Lab])]);
    let app = with_tokens(folder.path(), &who).await;
    let sent = trial("{{input}}", json!([{"input": "a"}]));
    assert_eq!(send(&app, "POST", "playground", Some("reader"), &sent).await.0, 403);
    let (status, told) = send(&app, "POST", "playground", Some("lab"), &sent).await;
    assert!(status == 400 && told["error"].as_str().unwrap().contains("[lab.targets] has none"), "{told}");
    assert_eq!(send(&app, "GET", "evaluators", Some("reader"), &Value::Null).await.0, 200);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_playground_answers_eight_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (config, turns) = with_model(config(folder.path()), 0).await;
    let app = start(config).await;
    let sent = trial("{{input}}", json!([{"input": "a"}]));
    let mut asked: FuturesUnordered<_> =
        (0..9).map(|_| send(&app, "POST", "playground", None, &sent)).collect();
    // One of nine finds no place. It is the first to be answered, as the model answers nobody yet.
    let (status, told) = asked.next().await.unwrap();
    assert!(status == 503 && told["error"].as_str().unwrap().contains("8 requests"), "{told}");
    turns.add_permits(8);
    while let Some((status, told)) = asked.next().await {
        assert_eq!(status, 200, "{told}");
    }
    drop(asked);
    app.stop().await.unwrap();
}
