//! Applications that answer well, badly, late, too much, and not at all.

use super::{Ended, tested_beside};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

#[derive(Clone, Default)]
struct App {
    got: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    /// How often each item was asked.
    asked: Arc<Mutex<BTreeMap<String, u32>>>,
}

async fn listen() -> (App, SocketAddr) {
    let app = App::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = axum::Router::new()
        .route("/answer", post(answer))
        .route("/v1/chat/completions", post(complete))
        .with_state(app.clone());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (app, address)
}

async fn answer(State(app): State<App>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    app.got.lock().push((headers, body.clone()));
    let item = body["item_id"].as_str().unwrap().to_owned();
    let times = {
        let mut asked = app.asked.lock();
        let times = asked.entry(item.clone()).or_default();
        *times += 1;
        *times
    };
    match item.as_str() {
        "busy" if times < 3 => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")], "later").into_response(),
        "down" => (StatusCode::INTERNAL_SERVER_ERROR, "no disk").into_response(),
        "refused" => (StatusCode::BAD_REQUEST, "no such field").into_response(),
        "hang" => std::future::pending().await,
        "half" => {
            let begun = Ok(Bytes::from_static(b"{\"output\": \""));
            Body::from_stream(futures::stream::iter([begun, Err(std::io::Error::other("gone"))])).into_response()
        }
        "endless" => {
            let chunk = || Some((Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 1 << 16])), ()));
            Body::from_stream(futures::stream::unfold((), move |()| async move { chunk() })).into_response()
        }
        "other" => Json(json!({"item_id": "good", "output": "ok"})).into_response(),
        "said" => Json(json!({"error": "no key"})).into_response(),
        "elsewhere" => (StatusCode::FOUND, [("location", "/answer")], "").into_response(),
        "plain" => "ok".into_response(),
        _ => Json(json!({
            "run_id": body["run_id"], "output": "ok", "in_tokens": 7, "out_tokens": 2, "cost_usd": 0.25, "duration": 1.5,
            "contexts": ["The text says ok."], "output_context": {"route": "a"}
        }))
        .into_response(),
    }
}

async fn complete(State(app): State<App>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    app.got.lock().push((headers, body));
    Json(json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}))
        .into_response()
}

fn suite(target: &str, ids: &[&str]) -> String {
    let tests: String = ids
        .iter()
        .map(|id| format!("[[test]]\nid = \"{id}\"\ninput = {{ question = \"q-{id}\" }}\n"))
        .collect();
    format!(
        "[suite]\nname = \"s\"\n[target]\n{target}\n[[check]]\noperator = \"equals_exactly\"\ncriteria = \"ok\"\n{tests}"
    )
}

fn run_of<'a>(report: &'a Value, id: &str) -> &'a Value {
    report["runs"].as_array().unwrap().iter().find(|run| run["test"] == id).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_http_target_is_asked_again_where_that_helps_and_every_fault_costs_its_own_test_only() {
    let (app, address) = listen().await;
    let ids = ["good", "plain", "busy", "down", "refused", "half", "endless", "other", "said", "elsewhere"];
    let target = format!(
        "kind = \"http\"\nurl = \"http://{address}/answer\"\ntimeout = \"2m\"\nparameters = {{ k = 3 }}"
    );
    let ended: Ended = tested_beside(suite(&target, &ids), Vec::new(), &[]).await;
    assert_eq!(ended.code, 3, "{}{}", ended.out, ended.err);
    let report = ended.report();
    for id in ["good", "plain", "busy"] {
        assert_eq!(run_of(&report, id)["status"], "pass", "{id}");
    }
    for (id, part) in [
        ("down", "HTTP 500: no disk (asked 4 times)"),
        ("refused", "HTTP 400: no such field"),
        ("half", "asked 4 times"),
        ("endless", "longer than 16 MiB"),
        ("other", "answered with item_id \"good\", asked was \"other\""),
        ("said", "the target says: no key"),
        ("elsewhere", "HTTP 302"),
    ] {
        let run = run_of(&report, id);
        assert!(run["status"] == "error" && run["error"].as_str().unwrap().contains(part), "{id}: {run}");
    }
    let good = run_of(&report, "good");
    assert_eq!(
        (&good["in_tokens"], &good["cost_usd"], &good["duration_ms"]),
        (&json!(7), &json!(0.25), &json!(1500.0))
    );
    assert_eq!(good["output_context"], json!({"route": "a"}));
    let got = app.got.lock();
    let (headers, body) = got.iter().find(|(_, body)| body["item_id"] == "good").unwrap();
    assert_eq!((&body["input"], &body["parameters"]), (&json!({"question": "q-good"}), &json!({"k": 3})));
    let traceparent = headers["traceparent"].to_str().unwrap();
    assert_eq!(body["traceparent"], traceparent);
    assert_eq!(traceparent.split('-').nth(1), good["trace_id"].as_str());
    // What a suite asks is not production.
    assert!(traceparent.starts_with("00-e1ab5e7ac71d") && traceparent.len() == 55, "{traceparent}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_completions_get_the_prompt_with_the_case_in_it() {
    let (app, address) = listen().await;
    let target = format!(
        "kind = \"openai\"\nbase_url = \"http://{address}/v1\"\nmodel = \"m\"\nsystem = \"Be brief.\"\nprompt = \"Q: {{{{input.question}}}}\"\n\
         parameters = {{ temperature = 0.5 }}\nprice_input_usd = 1.0\nprice_output_usd = 10.0"
    );
    let more = "[[gate]]\nmetric = \"cost_usd\"\nmax = 0.01\n";
    let ended = tested_beside(suite(&target, &["a", "b"]) + more, Vec::new(), &[]).await;
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let run = &ended.report()["runs"][0];
    assert!(
        (run["cost_usd"].as_f64().unwrap() - 0.002).abs() < 1e-12 && run["finish_reason"] == "stop",
        "{run}"
    );
    let got = app.got.lock();
    let messages = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Q: q-a"}]);
    let sent = got.iter().find(|(_, body)| body["messages"] == messages).unwrap_or_else(|| panic!("{got:?}"));
    assert_eq!((&sent.1["model"], &sent.1["temperature"]), (&json!("m"), &json!(0.5)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_dies_twice_answers_all() {
    // It dies after its second and its fifth question, which are asked again.
    let script = "n=0\nwhile read -r item; do\n  echo x >> asked\n  n=$(wc -l < asked)\n  \
                  if [ $n -eq 2 ] || [ $n -eq 5 ]; then exit 7; fi\n  echo '{\"output\": \"ok\"}'\ndone\n";
    let target = "kind = \"command\"\ncommand = [\"sh\", \"app.sh\"]";
    let ids = ["1", "2", "3", "4", "5", "6"];
    let ended = tested_beside(suite(target, &ids), vec![("app.sh", script.to_owned())], &[]).await;
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert_eq!(ended.report()["summary"]["tests"]["pass"], 6);
    assert_eq!(ended.file("asked").lines().count(), 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_a_file_are_found_by_their_question() {
    let cases = "{\"id\": \"a\", \"input\": \" Wie gro\u{00df} ist Z\u{00fc}rich?\", \"expected\": \"ok\"}\n{\"id\": \"b\", \"input\": \"unasked\"}\n";
    // The same letters, composed in another way.
    let answers =
        "Question,Answer,In Tokens,Duration\n\"Wie gro\u{00df} ist Zu\u{0308}rich? \",ok,12.0,0.5\n";
    let suite = "[suite]\nname = \"s\"\ndataset = \"cases.jsonl\"\n[target]\nkind = \"existing\"\nanswers = \"qa.csv\"\n[[check]]\noperator = \"equals_exactly\"\ncriteria = \"ok\"\n";
    let files = vec![("cases.jsonl", cases.to_owned()), ("qa.csv", answers.to_owned())];
    let ended = tested_beside(suite.to_owned(), files.clone(), &[]).await;
    assert_eq!(ended.code, 3, "{}{}", ended.out, ended.err);
    let report = ended.report();
    let a = run_of(&report, "a");
    assert_eq!(
        (&a["status"], &a["in_tokens"], &a["duration_ms"]),
        (&json!("pass"), &json!(12), &json!(500.0))
    );
    assert!(run_of(&report, "b")["error"].as_str().unwrap().contains("no answer in the file"));
    let twice = answers.to_owned() + "Wie gro\u{00df} ist Z\u{00fc}rich?,no,,\n,x,,\n";
    let files = vec![files[0].clone(), ("qa.csv", twice)];
    let ended = tested_beside(suite.to_owned(), files, &[]).await;
    assert_eq!(ended.code, 2, "{}", ended.out);
    assert!(
        ended.err.contains("qa.csv:3: the question") && ended.err.contains("qa.csv:4: no column Question"),
        "{}",
        ended.err
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_hangs_is_left_when_its_time_is_over() {
    let (_, address) = listen().await;
    let target = format!("kind = \"http\"\nurl = \"http://{address}/answer\"\ntimeout = \"200ms\"");
    let ended = tested_beside(suite(&target, &["hang"]), Vec::new(), &[]).await;
    assert_eq!(ended.code, 3, "{}{}", ended.out, ended.err);
    let why = ended.report()["runs"][0]["error"].clone();
    assert_eq!(why, "no answer in 200ms (target.timeout)");
}
