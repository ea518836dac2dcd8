//! What libraries write whose spans are read by the conventions: shapes that were once taken for something else.

use super::evaluations::{may_have_evaluations, span_evaluations};
use super::normalize_span;
use super::tests::{event, llm, span, text};
use crate::domain::span::{Llm, Operation};
use crate::domain::value::Value;

/// Question and answer.
fn said(llm: &Llm) -> (Option<&str>, Option<&str>) {
    (llm.question.as_deref(), llm.answer.as_deref())
}

#[test]
fn what_a_tool_of_anthropic_gave_is_no_question() {
    let got = llm(
        "openinference.instrumentation.anthropic",
        &[
            ("openinference.span.kind", text("LLM")),
            ("llm.input_messages.0.message.role", text("user")),
            ("llm.input_messages.0.message.content", text("Why?")),
            ("llm.input_messages.1.message.role", text("assistant")),
            ("llm.input_messages.1.message.tool_calls.0.tool_call.id", text("c")),
            ("llm.input_messages.1.message.tool_calls.0.tool_call.function.name", text("f")),
            ("llm.input_messages.2.message.role", text("user")),
            ("llm.input_messages.2.message.tool_call_id", text("c")),
            ("llm.input_messages.2.message.content", text("18")),
            ("llm.output_messages.0.message.role", text("assistant")),
            ("llm.output_messages.0.message.content", text("So.")),
        ],
    );
    assert_eq!(said(&got), (Some("Why?"), Some("So.")));
    let roles: Vec<&str> = got.input_messages.iter().map(|message| message.role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
}

#[test]
fn pieces_in_the_text_of_a_message_are_opened() {
    let pieces = r#"[{"type":"text","text":"Why?"},{"type":"image_url","image_url":{"url":"u"}}]"#;
    let of_tool = "llm.input_messages.1.message.contents.0.message_content.text";
    let got = llm(
        "openinference.instrumentation.x",
        &[
            ("openinference.span.kind", text("LLM")),
            ("llm.input_messages.0.message.role", text("user")),
            ("llm.input_messages.0.message.content", text(pieces)),
            ("llm.input_messages.1.message.role", text("tool")),
            (of_tool, text("18")),
        ],
    );
    assert_eq!((got.question.as_deref(), got.input_messages[0].parts.len()), (Some("Why?"), 2));
    assert_eq!(got.input_messages[1].joined_text(), None, "what a tool gave is its response");
    let own = r#"[{"id": 1, "name": "Ann"}]"#;
    let pairs = [("gen_ai.prompt.0.role", text("user")), ("gen_ai.prompt.0.content", text(own))];
    let got = llm("opentelemetry.instrumentation.openai.v1", &pairs);
    assert_eq!(got.question.as_deref(), Some(own), "a list of the user's own is what was asked");
}

#[test]
fn a_chain_with_a_memory_asks_and_answers_now() {
    let turns = r#"[{"type":"human","content":"First?"},{"type":"ai","content":"One."}]"#;
    let input = format!(r#"{{"input":"Second?","chat_history":{turns}}}"#);
    let output = format!(r#"{{"input":"Second?","chat_history":{turns},"output":"Two."}}"#);
    let got = llm(
        "openinference.instrumentation.langchain",
        &[
            ("openinference.span.kind", text("CHAIN")),
            ("input.value", text(&input)),
            ("output.value", text(&output)),
        ],
    );
    assert_eq!(said(&got), (Some("Second?"), Some("Two.")));
}

#[test]
fn the_values_of_a_graph_are_read() {
    let input =
        r#"{"inputs":{"messages":[{"role":"user","content":"Why?"}]},"tags":[],"metadata":{},"kwargs":{}}"#;
    let output = r#"{"outputs":{"messages":[{"type":"human","content":"Why?"},{"type":"ai","content":"So."}]},
        "kwargs":{"tags":[]}}"#;
    let got = llm(
        "opentelemetry.instrumentation.langchain",
        &[
            ("traceloop.span.kind", text("workflow")),
            ("gen_ai.system", text("Langchain")),
            ("traceloop.entity.input", text(input)),
            ("traceloop.entity.output", text(output)),
        ],
    );
    assert_eq!((got.operation, said(&got)), (Operation::Chain, (Some("Why?"), Some("So."))));
    assert_eq!(got.provider, None, "a framework serves no model");
}

#[test]
fn semantic_kernel_streams_and_prints_its_reasons() {
    for (kind, reason) in
        [("chat.streaming_completions", "FinishReason.STOP"), ("text.streaming_completions", "stop")]
    {
        let got = llm(
            "semantic_kernel.utils.telemetry.model_diagnostics.decorators",
            &[
                ("gen_ai.operation.name", text(kind)),
                ("gen_ai.request.model", text("gpt-4o")),
                ("gen_ai.response.finish_reason", text(reason)),
            ],
        );
        assert_eq!((got.operation, got.finish_reasons), (Operation::Llm, vec!["stop".to_owned()]), "{kind}");
    }
}

#[test]
fn an_earlier_call_of_a_tool_is_none_of_this_model_calls() {
    let asked = r#"{"event.name":"gen_ai.user.message","content":"Why?","role":"user"},
        {"event.name":"gen_ai.assistant.message","role":"assistant","tool_calls":[{"id":"c","type":"function",
        "function":{"name":"f","arguments":"{}"}}]},
        {"event.name":"gen_ai.tool.message","role":"tool","id":"c","content":"18"}"#;
    let choice = r#"{"event.name":"gen_ai.choice","index":0,"message":{"role":"assistant","content":"So."}}"#;
    let last = r#"{"event.name":"gen_ai.assistant.message","role":"assistant","content":"So."}"#;
    for (scope, template, end) in [
        ("pydantic-ai", "chat", choice),
        ("logfire.openai", "Responses API", last),
        ("logfire.openai", "x", choice),
    ] {
        let pairs = [
            ("gen_ai.operation.name", text("chat")),
            ("gen_ai.request.model", text("gpt-4o")),
            ("logfire.msg_template", text(template)),
            ("request_data", text(r#"{"model":"gpt-4o","stream":false}"#)),
            ("events", text(&format!("[{asked},{end}]"))),
        ];
        let got = llm(scope, &pairs);
        assert_eq!(said(&got), (Some("Why?"), Some("So.")), "{scope} {template}");
        assert_eq!((got.input_messages.len(), got.output_messages.len()), (3, 1), "{scope} {template}");
        assert_eq!(got.tool_calls, [], "{scope} {template}");
    }
    let own = [("logfire.msg_template", text("x")), ("events", text(r#"[{"role":"user","content":"a"}]"#))];
    assert_eq!(llm("app", &own).question, None, "an application may have events of its own");
}

#[test]
fn the_result_of_an_agent_with_a_type_is_its_answer() {
    let run = r#"[{"role":"user","parts":[{"type":"text","content":"Why?"}]},
        {"role":"assistant","parts":[{"type":"text","content":"Let me see."},
        {"type":"tool_call","id":"c","name":"final_result","arguments":"{}"}]}]"#;
    let got = llm(
        "pydantic-ai",
        &[
            ("gen_ai.operation.name", text("invoke_agent")),
            ("pydantic_ai.all_messages", text(run)),
            ("final_result", text(r#"{"city":"Paris"}"#)),
        ],
    );
    assert_eq!(said(&got), (Some("Why?"), Some(r#"{"city":"Paris"}"#)));
}

#[test]
fn an_evaluation_may_be_an_event_of_the_span() {
    let result = [
        ("gen_ai.evaluation.name", text("relevance")),
        ("gen_ai.evaluation.score.value", Value::Double(0.5)),
        ("gen_ai.evaluation.score.label", text("fair")),
    ];
    let mut judged = span("x", &[("gen_ai.operation.name", text("chat"))]);
    assert!(!may_have_evaluations(&judged));
    judged.events = vec![event("gen_ai.evaluation.result", &result), event("gen_ai.evaluation.result", &[])];
    normalize_span(&mut judged);
    assert!(may_have_evaluations(&judged));
    let found = span_evaluations(&judged);
    assert_eq!((found.len(), found[0].name.as_str()), (1, "relevance"), "one without a name is none");
    assert_eq!((found[0].value, found[0].label.as_deref()), (Some(0.5), Some("fair")));
    assert_eq!((judged.llm.question, judged.llm.answer), (None, None));
}

#[test]
fn a_stream_that_logfire_joined_is_the_answer() {
    let got = llm(
        "logfire.anthropic",
        &[
            ("logfire.msg_template", text("streaming response")),
            ("gen_ai.request.model", text("claude")),
            ("request_data", text(r#"{"model":"claude","messages":[{"role":"user","content":"Why?"}]}"#)),
            ("response_data", text(r#"{"combined_chunk_content":"So.","chunk_count":2}"#)),
        ],
    );
    assert_eq!((got.operation, said(&got)), (Operation::Llm, (Some("Why?"), Some("So."))));
    for (kind, operation) in [("guardrail_check", Operation::Guardrail), ("response", Operation::Llm)] {
        assert_eq!(llm("agents", &[("gen_ai.operation.name", text(kind))]).operation, operation, "{kind}");
    }
}
