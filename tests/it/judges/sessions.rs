//! Conversations over the traces of a session, and agents over the calls of their tools.

use super::server::Server;
use super::{SCORES, configured, served};
use crate::support::{query, send, settled, span, text};
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};

fn message(role: &str, text: &str) -> String {
    json!([{"role": role, "parts": [{"type": "text", "content": text}]}]).to_string()
}

/// Trace `n`: a turn of `session`.
fn turn(n: u64, session: &str, question: &str, answer: &str) -> Span {
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.conversation.id", session),
        text("gen_ai.input.messages", &message("user", question)),
        text("gen_ai.output.messages", &message("assistant", answer)),
    ];
    span(n, 1, attributes)
}

fn sent(server: &Server, at: usize) -> String {
    server.got.lock()[at].1["messages"][1]["content"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_is_judged_with_the_earlier_traces_of_its_session() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let config = configured("\"user_frustration\"", server.listen().await, "");
    let app = served(folder.path(), &config).await;
    for (n, session, question, answer) in [
        (1, "s-1", "Cancel my order.", "Which one?"),
        (2, "s'2", "Of another session.", "Indeed."),
        (3, "s-1", "Number 7, as I said.", "Done."),
    ] {
        assert!(send(app.addresses.otlp_http, vec![turn(n, session, question, answer)]).await);
        settled(&app).await;
    }
    let rows = query(app.addresses.http, &format!("{SCORES} ORDER BY trace_id")).await;
    app.stop().await.unwrap();
    assert_eq!((rows.len(), server.requests()), (3, 3), "{rows:?}");
    assert!(rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    let values: Vec<f64> = rows.iter().map(|row| row["value"].as_f64().unwrap()).collect();
    // The scripted judge says yes to all but the last of several turns.
    assert_eq!(values, [1.0, 1.0, 0.5]);
    let third = sent(&server, 2);
    let places: Vec<Option<usize>> =
        ["Cancel my order.", "Which one?", "Number 7", "Done."].iter().map(|text| third.find(text)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{third}");
    assert!(!third.contains("another session"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_judged_by_the_calls_of_its_tools() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let config = configured("\"tool_choice\", \"goal_reached\", \"tool_loop\"", server.listen().await, "")
        .replace("operation = 'llm'", "operation = 'agent'");
    let app = served(folder.path(), &config).await;
    let agent = vec![
        text("gen_ai.operation.name", "invoke_agent"),
        text("gen_ai.input.messages", &message("user", "Book a table for two.")),
        text("gen_ai.output.messages", &message("assistant", "It is booked.")),
    ];
    let call = |id: u64, query: &str, result: &str| {
        let attributes = vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", "find_table"),
            text("gen_ai.tool.call.arguments", &json!({"guests": query}).to_string()),
            text("gen_ai.tool.call.result", result),
        ];
        Span { parent_span_id: span(1, 1, Vec::new()).span_id, ..span(1, id, attributes) }
    };
    let spans = vec![span(1, 1, agent), call(2, "two", "none free"), call(3, "two", "none free")];
    assert!(send(app.addresses.otlp_http, spans).await);
    settled(&app).await;
    let rows = query(app.addresses.http, &format!("{SCORES} ORDER BY evaluator")).await;
    app.stop().await.unwrap();
    let told: Vec<(&str, &Value)> =
        rows.iter().map(|r| (r["evaluator"].as_str().unwrap(), &r["value"])).collect();
    let (whole, half) = (json!(1.0), json!(0.5));
    assert_eq!(told, [("goal_reached", &whole), ("tool_choice", &half), ("tool_loop", &half)], "{rows:?}");
    let asked = sent(&server, 0);
    assert!(asked.contains("<<<STEP 2 ") && asked.contains("tool: find_table"), "{asked}");
    assert!(asked.contains("arguments: {\"guests\":\"two\"}\nresult: none free"), "{asked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_call_there_is_nothing_to_judge() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let app = served(folder.path(), &configured("\"tool_arguments\"", server.listen().await, "")).await;
    assert!(send(app.addresses.otlp_http, vec![turn(1, "s", "Hi", "Hello.")]).await);
    settled(&app).await;
    let rows = query(app.addresses.http, SCORES).await;
    app.stop().await.unwrap();
    assert_eq!((&rows[0]["status"], &rows[0]["error"]), (&json!("skipped"), &json!("tool calls")));
    assert_eq!(server.requests(), 0);
}
