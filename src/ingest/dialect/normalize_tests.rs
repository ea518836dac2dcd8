use super::*;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::span::{Event, Source, SpanKind};
use crate::domain::time::UnixNanos;
use crate::domain::value::{Attrs, Value};
use std::sync::Arc;

fn attrs(pairs: &[(&str, Value)]) -> Attrs {
    Attrs(pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

pub(super) fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

pub(super) fn event(name: &str, pairs: &[(&str, Value)]) -> Event {
    Event { time: UnixNanos(0), name: name.into(), attributes: attrs(pairs), dropped_attributes_count: 0 }
}

pub(super) fn span(scope: &str, pairs: &[(&str, Value)]) -> Span {
    Span {
        trace_id: TraceId([1; 16]),
        span_id: SpanId([1; 8]),
        parent_span_id: None,
        name: "span".into(),
        kind: SpanKind::Internal,
        start: UnixNanos(0),
        end: UnixNanos(1),
        status: StatusCode::Unset,
        status_message: String::new(),
        source: Arc::new(Source { scope_name: scope.into(), ..Source::default() }),
        attributes: attrs(pairs),
        events: Vec::new(),
        links: Vec::new(),
        trace_state: String::new(),
        flags: 0,
        dropped_attributes_count: 0,
        dropped_events_count: 0,
        dropped_links_count: 0,
        llm: Llm::default(),
    }
}

pub(super) fn llm(scope: &str, pairs: &[(&str, Value)]) -> Llm {
    let mut span = span(scope, pairs);
    normalize_span(&mut span);
    span.llm
}

#[test]
fn an_ordinary_span_stays_ordinary() {
    let pairs = [("http.route", text("/pay")), ("db.query.text", text("SELECT 1")), ("tool", text("x"))];
    assert_eq!(llm("http", &pairs), Llm::default());
    let pairs = [("db.system", text("postgresql")), ("db.query.text", text("SELECT 1"))];
    let got = llm("db", &pairs);
    assert_eq!((got.operation, got.dialect, got.question), (Operation::Other, Dialect::None, None));
    let got = llm("http", &[("session.id", text("s")), ("user.id", Value::Int(7))]);
    assert_eq!((got.session_id.as_deref(), got.user_id.as_deref()), (Some("s"), Some("7")));
    assert_eq!(got.dialect, Dialect::None);
}

#[test]
fn the_error_is_that_of_a_span_that_failed() {
    let mut failed = span("http", &[]);
    failed.events.push(event("exception", &[("exception.type", text("ValueError"))]));
    normalize_span(&mut failed);
    assert_eq!(failed.llm.error_type, None, "a handled exception is no error of the span");
    failed.status = StatusCode::Error;
    normalize_span(&mut failed);
    assert_eq!(failed.llm.error_type.as_deref(), Some("ValueError"));
    failed.attributes = attrs(&[("error.type", text("<class 'openai.InternalServerError'>"))]);
    normalize_span(&mut failed);
    assert_eq!(failed.llm.error_type.as_deref(), Some("openai.InternalServerError"));
}

#[test]
fn aliases_are_not_added_up_and_types_may_wander() {
    let got = llm(
        "strands.telemetry.tracer",
        &[
            ("gen_ai.operation.name", text("chat")),
            ("gen_ai.usage.prompt_tokens", Value::Int(21)),
            ("gen_ai.usage.input_tokens", Value::Int(21)),
            ("llm.token_count.prompt", Value::Int(21)),
            ("gen_ai.usage.output_tokens", text("7")),
            ("gen_ai.request.max_tokens", Value::Double(256.0)),
            ("gen_ai.request.temperature", Value::Int(1)),
            ("gen_ai.response.finish_reasons", text("[\"stop\"]")),
        ],
    );
    assert_eq!((got.input_tokens, got.output_tokens, got.max_tokens), (Some(21), Some(7), Some(256)));
    assert_eq!((got.temperature, got.finish_reasons), (Some(1.0), vec!["stop".to_owned()]));
}

#[test]
fn messages_may_be_real_lists_instead_of_json_text() {
    let part = Value::Map(vec![("type".into(), text("text")), ("content".into(), text("Why?"))]);
    let message = Value::Map(vec![("role".into(), text("user")), ("parts".into(), Value::Array(vec![part]))]);
    let got = llm(
        "x",
        &[("gen_ai.operation.name", text("chat")), ("gen_ai.input.messages", Value::Array(vec![message]))],
    );
    assert_eq!(got.question.as_deref(), Some("Why?"));
}

#[test]
fn instructions_and_system_messages_bind_together() {
    let got = llm(
        "x",
        &[
            ("gen_ai.operation.name", text("chat")),
            ("gen_ai.system_instructions", text(r#"[{"type":"text","content":"Be kind."}]"#)),
            (
                "gen_ai.input.messages",
                text(r#"[{"role":"system","parts":[{"type":"text","content":"Be brief."}]}]"#),
            ),
        ],
    );
    assert_eq!(got.system_prompt.as_deref(), Some("Be kind.\nBe brief."));
}

#[test]
fn vercel_seven_is_vercel() {
    let got = llm("gen_ai", &[("gen_ai.operation.name", text("agent_step"))]);
    assert_eq!((got.dialect, got.operation), (Dialect::Vercel, Operation::Agent));
}

#[test]
fn masks_and_values_that_were_not_set_are_absent() {
    let got = llm(
        "openinference.instrumentation.openai",
        &[
            ("openinference.span.kind", text("LLM")),
            ("input.value", text("__REDACTED__")),
            ("llm.input_messages.0.message.role", text("user")),
            ("llm.input_messages.0.message.content", text("__REDACTED__")),
            ("output.value", Value::Null),
        ],
    );
    assert_eq!((got.question, got.answer, got.input_messages.len()), (None, None, 0));
    let got = llm("demo", &[("openinference.span.kind", Value::Null)]);
    assert_eq!((got.dialect, got.operation), (Dialect::None, Operation::Other));
}

#[test]
fn a_search_in_a_vector_store_is_a_retrieval() {
    let mut search = span("opentelemetry.instrumentation.qdrant", &[("db.system", text("qdrant"))]);
    let result = |id: &str, score: f64| {
        event(
            "db.query.result",
            &[
                ("db.query.result.id", text(id)),
                ("db.query.result.score", Value::Double(score)),
                ("db.query.result.document", text("Return policy")),
                ("db.query.result.metadata", text(r#"{"source":"a.md","tenant":"acme"}"#)),
            ],
        )
    };
    search.events = vec![result("a", 0.7), result("b", 0.4)];
    normalize_span(&mut search);
    let documents = &search.llm.documents;
    assert_eq!((search.llm.operation, documents.len()), (Operation::Retrieval, 2));
    assert_eq!(
        (documents[1].id.as_deref(), documents[1].score, documents[1].rank),
        (Some("b"), Some(0.4), Some(1))
    );
    assert_eq!((documents[0].uri.as_deref(), documents[0].tenant.as_deref()), (Some("a.md"), Some("acme")));
    assert_eq!(documents[0].content.as_deref(), Some("Return policy"));
}

#[test]
fn a_tool_that_finds_documents_gives_them() {
    let got = llm(
        "x",
        &[
            ("gen_ai.operation.name", text("execute_tool")),
            ("gen_ai.tool.name", text("search")),
            ("gen_ai.tool.call.result", text(r#"[{"id":"d","content":"text","score":11.6}]"#)),
        ],
    );
    assert_eq!((got.documents.len(), got.documents[0].score), (1, Some(11.6)));
    assert_eq!((got.tool_calls[0].name.as_str(), got.answer), ("search", None));
}

#[test]
fn old_pydantic_and_logfire_attributes_are_read() {
    let events = r#"[{"event.name":"gen_ai.system.message","content":"Be kind.","role":"system"},
        {"event.name":"gen_ai.user.message","content":"Why?","role":"user"},
        {"event.name":"gen_ai.choice","index":0,"message":{"role":"assistant","content":"So."}}]"#;
    let old = [("gen_ai.operation.name", text("chat")), ("events", text(events))];
    let got = llm("pydantic-ai", &old);
    assert_eq!((got.question.as_deref(), got.answer.as_deref()), (Some("Why?"), Some("So.")));
    assert_eq!(got.system_prompt.as_deref(), Some("Be kind."));
    let request = r#"{"model":"gpt-4o","temperature":0.5,"messages":[{"role":"user","content":"Why?"}]}"#;
    let response = r#"{"message":{"role":"assistant","content":"So."},"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let old = [
        ("logfire.msg_template", text("Chat")),
        ("gen_ai.request.model", text("gpt-4o")),
        ("request_data", text(request)),
        ("response_data", text(response)),
    ];
    let got = llm("logfire.openai", &old);
    assert_eq!(
        (got.operation, got.question.as_deref(), got.answer.as_deref()),
        (Operation::Llm, Some("Why?"), Some("So."))
    );
    assert_eq!((got.temperature, got.input_tokens, got.output_tokens), (Some(0.5), Some(3), Some(2)));
}

#[test]
fn completions_without_roles_and_very_old_keys_are_read() {
    let got = llm(
        "openinference.instrumentation.openai",
        &[
            ("openinference.span.kind", text("LLM")),
            ("llm.prompts.0.prompt.text", text("Why?")),
            ("llm.choices.0.completion.text", text("So.")),
        ],
    );
    assert_eq!((got.question.as_deref(), got.answer.as_deref()), (Some("Why?"), Some("So.")));
    let got = llm(
        "x",
        &[
            ("gen_ai.system", text("az.ai.openai")),
            ("gen_ai.request.model", text("m")),
            ("gen_ai.prompt", text("Why?")),
        ],
    );
    assert_eq!((got.operation, got.question.as_deref()), (Operation::Llm, Some("Why?")));
    assert_eq!(got.provider.as_deref(), Some("azure.ai.openai"));
    let got = llm("x", &[("gen_ai.operation.name", text("RETRIEVER"))]);
    assert_eq!(got.operation, Operation::Retrieval);
}

#[test]
fn the_agents_run_is_split_at_the_users_last_words() {
    let run = r#"[{"role":"user","parts":[{"type":"text","content":"Why?"}]},
        {"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"f","arguments":"{}"}]},
        {"role":"user","parts":[{"type":"tool_call_response","id":"c","result":"18"}]},
        {"role":"assistant","parts":[{"type":"text","content":"So."}]}]"#;
    let got = llm(
        "pydantic-ai",
        &[("gen_ai.operation.name", text("invoke_agent")), ("pydantic_ai.all_messages", text(run))],
    );
    assert_eq!((got.input_messages.len(), got.output_messages.len()), (1, 3));
    assert_eq!((got.question.as_deref(), got.answer.as_deref()), (Some("Why?"), Some("So.")));
    assert_eq!(got.output_messages[1].role, "tool");
}

#[test]
fn the_raw_fields_stay_as_they_came() {
    let mut normalised =
        span("ai", &[("ai.operationId", text("ai.generateText")), ("ai.prompt", text("{\"prompt\":\"a\"}"))]);
    let before = normalised.clone();
    normalize_span(&mut normalised);
    assert_ne!(normalised.llm, before.llm);
    normalised.llm = before.llm.clone();
    assert_eq!(normalised, before);
}
