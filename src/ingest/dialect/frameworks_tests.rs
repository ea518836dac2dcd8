//! What frameworks write, by their documents: messages, models, counts, costs, tools and documents.

use super::tests::{llm, text};
use crate::domain::span::{Dialect, Llm, Operation};
use crate::domain::value::Value;

/// Question, answer and the two counts of what `pairs` mean.
type Said = (Option<String>, Option<String>, Option<i64>, Option<i64>);

fn said(llm: &Llm) -> Said {
    (llm.question.clone(), llm.answer.clone(), llm.input_tokens, llm.output_tokens)
}

fn why_so(input: Option<i64>, output: Option<i64>) -> Said {
    (Some("Why?".into()), Some("So.".into()), input, output)
}

#[test]
fn adk_keeps_its_content_under_keys_of_its_own() {
    let request = r#"{"model":"gemini-2.5-flash","config":{"system_instruction":"Be kind.","temperature":0.2,
        "max_output_tokens":100},"contents":[{"parts":[{"text":"Why?"}],"role":"user"},
        {"parts":[{"function_call":{"id":"c","args":{"a":1},"name":"f"}}],"role":"model"},
        {"parts":[{"function_response":{"id":"c","name":"f","response":{"b":2}}}],"role":"user"}]}"#;
    let response = r#"{"content":{"parts":[{"text":"hm","thought":true},{"text":"So."}],"role":"model"},
        "finish_reason":"STOP","usage_metadata":{"prompt_token_count":50,"candidates_token_count":9}}"#;
    let got = llm(
        "gcp.vertex.agent",
        &[
            ("gen_ai.system", text("gcp.vertex.agent")),
            ("gen_ai.request.model", text("gemini-2.5-flash")),
            ("gcp.vertex.agent.session_id", text("s")),
            ("gcp.vertex.agent.llm_request", text(request)),
            ("gcp.vertex.agent.llm_response", text(response)),
        ],
    );
    assert_eq!((got.operation, got.dialect), (Operation::Llm, Dialect::OtelGenai));
    assert_eq!(said(&got), why_so(Some(50), Some(9)));
    assert_eq!((got.system_prompt.as_deref(), got.session_id.as_deref()), (Some("Be kind."), Some("s")));
    assert_eq!((got.temperature, got.max_tokens), (Some(0.2), Some(100)));
    let roles: Vec<&str> = got.input_messages.iter().map(|message| message.role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    assert_eq!(got.output_messages[0].parts.len(), 2, "the thought is a piece, and none of the answer");
    let got = llm(
        "gcp.vertex.agent",
        &[
            ("gen_ai.operation.name", text("execute_tool")),
            ("gen_ai.tool.name", text("f")),
            ("gcp.vertex.agent.llm_request", text("{}")),
            ("gcp.vertex.agent.tool_call_args", text(r#"{"a":1}"#)),
            ("gcp.vertex.agent.tool_response", text(r#"{"b":2}"#)),
        ],
    );
    assert_eq!((got.tool_calls[0].arguments["a"].as_i64(), got.output_messages.len()), (Some(1), 1));
}

#[test]
fn braintrust_is_read() {
    let user = r#"[{"role":"user","content":"Why?"}]"#;
    let choice = r#"[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"So."}}]"#;
    let got = llm(
        "braintrust",
        &[
            ("braintrust.span_attributes", text(r#"{"type":"llm"}"#)),
            ("braintrust.input_json", text(user)),
            ("braintrust.output_json", text(choice)),
            ("braintrust.metadata", text(r#"{"provider":"openai","model":"gpt-4o","temperature":0.5}"#)),
            (
                "braintrust.metrics",
                text(r#"{"prompt_tokens":3,"completion_tokens":2,"prompt_cached_tokens":1}"#),
            ),
        ],
    );
    assert_eq!(
        (got.operation, got.dialect, said(&got)),
        (Operation::Llm, Dialect::Framework, why_so(Some(3), Some(2)))
    );
    assert_eq!((got.request_model.as_deref(), got.provider.as_deref()), (Some("gpt-4o"), Some("openai")));
    assert_eq!((got.temperature, got.cache_read_tokens), (Some(0.5), Some(1)));
    let ordinary = llm("http", &[("braintrust.parent", text("project_name:x"))]);
    assert_eq!(ordinary, Llm::default(), "it stands on every span");
}

#[test]
fn genkit_is_read() {
    let input = r#"{"messages":[{"role":"user","content":[{"text":"Why?"}]},{"role":"tool","content":[{"toolResponse":
        {"ref":"c","name":"f","output":18}}]}],"config":{"temperature":0.5}}"#;
    let output = r#"{"message":{"role":"model","content":[{"text":"So."}]},"finishReason":"stop",
        "usage":{"inputTokens":3,"outputTokens":2}}"#;
    let got = llm(
        "genkit-tracer",
        &[
            ("genkit:type", text("action")),
            ("genkit:metadata:subtype", text("model")),
            ("genkit:name", text("googleai/gemini-2.5-flash")),
            ("genkit:input", text(input)),
            ("genkit:output", text(output)),
        ],
    );
    assert_eq!((got.operation, said(&got)), (Operation::Llm, why_so(Some(3), Some(2))));
    let model = got.request_model.as_deref();
    assert_eq!((model, got.provider.as_deref()), (Some("gemini-2.5-flash"), Some("gcp.gemini")));
    assert_eq!((got.input_messages[1].role.as_str(), got.finish_reasons.len()), ("tool", 1));
}

#[test]
fn haystack_is_read() {
    let user = r#"[{"role":"user","content":"Why?"}]"#;
    let replies = r#"{"replies":[{"role":"assistant","content":[{"text":"So."}],"meta":{"model":"gpt-4o",
        "finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":2}}}]}"#;
    let got = llm(
        "haystack",
        &[
            ("haystack.component.type", text("OpenAIChatGenerator")),
            ("haystack.component.input", text(&format!(r#"{{"messages":{user}}}"#))),
            ("haystack.component.output", text(replies)),
        ],
    );
    assert_eq!((got.operation, said(&got)), (Operation::Llm, why_so(Some(3), Some(2))));
    assert_eq!((got.response_model.as_deref(), got.finish_reasons.len()), (Some("gpt-4o"), 1));
    let got = llm(
        "haystack",
        &[
            ("haystack.component.type", text("InMemoryBM25Retriever")),
            ("haystack.component.input", text(r#"{"query":"Why?"}"#)),
            (
                "haystack.component.output",
                text(r#"{"documents":[{"id":"d","content":"text","score":11.6}]}"#),
            ),
        ],
    );
    assert_eq!((got.operation, got.question.as_deref()), (Operation::Retrieval, Some("Why?")));
    assert_eq!((got.documents[0].id.as_deref(), got.documents[0].score), (Some("d"), Some(11.6)));
    let got = llm("haystack", &[("haystack.agent.input", text(&format!(r#"{{"messages":{user}}}"#)))]);
    assert_eq!((got.operation, got.question.as_deref()), (Operation::Agent, Some("Why?")));
}

#[test]
fn laminar_is_read() {
    let of_call = [
        ("lmnr.span.type", text("LLM")),
        ("lmnr.span.input", text(r#"[{"role":"user","content":"Why?"}]"#)),
        ("lmnr.span.output", text(r#""So.""#)),
        ("lmnr.association.properties.session_id", text("s")),
        ("lmnr.association.properties.user_id", text("u")),
        ("gen_ai.usage.input_tokens", Value::Int(3)),
        ("gen_ai.usage.output_tokens", Value::Int(2)),
    ];
    let got = llm("lmnr.tracer", &of_call);
    assert_eq!((got.operation, said(&got)), (Operation::Llm, why_so(Some(3), Some(2))));
    assert_eq!((got.session_id.as_deref(), got.user_id.as_deref()), (Some("s"), Some("u")));
    let of_tool = [("lmnr.span.type", text("TOOL")), ("lmnr.span.input", text(r#"{"a":1}"#))];
    let got = llm("lmnr.tracer", &of_tool);
    assert_eq!((got.operation, got.dialect), (Operation::Tool, Dialect::Framework));
    assert_eq!(got.tool_calls[0].arguments["a"].as_i64(), Some(1));
}

#[test]
fn langwatch_is_read() {
    let metrics = r#"{"type":"json","value":{"promptTokens":3,"completionTokens":2,"cost":0.5}}"#;
    let got = llm(
        "langwatch",
        &[
            ("langwatch.span.type", text("llm")),
            (
                "langwatch.input",
                text(r#"{"type":"chat_messages","value":[{"role":"user","content":"Why?"}]}"#),
            ),
            ("langwatch.output", text(r#"{"type": "text", "value": "So."}"#)),
            ("langwatch.metrics", text(metrics)),
            ("langwatch.thread.id", text("t")),
            ("langwatch.user.id", text("u")),
        ],
    );
    assert_eq!((got.operation, got.dialect), (Operation::Llm, Dialect::Framework));
    assert_eq!((said(&got), got.cost_usd), (why_so(Some(3), Some(2)), Some(0.5)));
    assert_eq!((got.session_id.as_deref(), got.user_id.as_deref()), (Some("t"), Some("u")));
    let contexts = r#"[{"document_id":"d","chunk_id":"0","content":"text"}]"#;
    let typed = format!(r#"{{"type":"json","value":{contexts}}}"#);
    for (key, contexts) in [("langwatch.rag.contexts", contexts), ("langwatch.contexts", typed.as_str())] {
        let input = text(r#"{"type":"text","value":"Why?"}"#);
        let pairs = [("langwatch.span.type", text("rag")), ("langwatch.input", input), (key, text(contexts))];
        let got = llm("langwatch", &pairs);
        assert_eq!((got.operation, got.question.as_deref()), (Operation::Retrieval, Some("Why?")), "{key}");
        let document = &got.documents[0];
        assert_eq!((document.id.as_deref(), document.content.as_deref()), (Some("d"), Some("text")), "{key}");
    }
}

#[test]
fn livekit_is_read() {
    let context = r#"{"items":[{"id":"i","type":"message","role":"system","content":["Be kind."]},
        {"id":"j","type":"message","role":"user","content":["Why?"],"interrupted":false}]}"#;
    let got = llm(
        "livekit-agents",
        &[
            ("gen_ai.request.model", text("gpt-4o")),
            ("gen_ai.usage.input_cached_tokens", Value::Int(1)),
            ("lk.chat_ctx", text(context)),
            ("lk.response.text", text("So.")),
        ],
    );
    assert_eq!((got.operation, got.dialect), (Operation::Llm, Dialect::OtelGenai));
    assert_eq!((said(&got), got.system_prompt.as_deref()), (why_so(None, None), Some("Be kind.")));
    assert_eq!(got.cache_read_tokens, Some(1));
    let got = llm(
        "livekit-agents",
        &[
            ("lk.function_tool.id", text("c")),
            ("lk.function_tool.name", text("f")),
            ("lk.function_tool.arguments", text(r#"{"a":1}"#)),
            ("lk.function_tool.output", text("sunny")),
        ],
    );
    assert_eq!((got.operation, got.dialect), (Operation::Tool, Dialect::Framework));
    let call = &got.tool_calls[0];
    assert_eq!((call.id.as_deref(), call.name.as_str()), (Some("c"), "f"));
    assert_eq!((call.arguments["a"].as_i64(), got.answer.as_deref()), (Some(1), Some("sunny")));
}

#[test]
fn promptfoo_is_read() {
    let call = |request: &str, response: &str| {
        let pairs = [
            ("gen_ai.operation.name", text("chat")),
            ("gen_ai.request.model", text("gpt-4o")),
            ("promptfoo.request.body", text(request)),
            ("promptfoo.response.body", text(response)),
        ];
        llm("promptfoo.providers", &pairs)
    };
    for request in ["Why?", r#"[{"role":"user","content":"Why?"}]"#] {
        let got = call(request, "So.");
        assert_eq!((got.dialect, said(&got)), (Dialect::OtelGenai, why_so(None, None)), "{request}");
    }
    let got = call("<REDACTED>", "<REDACTED>");
    assert_eq!((got.question, got.answer), (None, None));
}

#[test]
fn what_frameworks_add_to_a_convention_is_read() {
    let got = llm(
        "org.springframework.boot",
        &[
            ("gen_ai.operation.name", text("framework")),
            ("spring.ai.kind", text("tool_call")),
            ("spring.ai.tool.definition.name", text("f")),
            ("spring.ai.tool.call.id", text("c")),
            ("spring.ai.tool.call.arguments", text(r#"{"a":1}"#)),
            ("spring.ai.tool.call.result", text("\"sunny\"")),
        ],
    );
    assert_eq!((got.operation, got.tool_calls[0].name.as_str()), (Operation::Tool, "f"));
    assert_eq!((got.tool_calls[0].id.as_deref(), got.answer.as_deref()), (Some("c"), Some("sunny")));
    let search = |verb: &str| {
        llm(
            "org.springframework.boot",
            &[
                ("spring.ai.kind", text("vector_store")),
                ("db.operation.name", text(verb)),
                ("db.vector.query.content", text("Why?")),
                ("db.vector.query.response.documents", text(r#"["one", "two"]"#)),
            ],
        )
    };
    let got = search("query");
    let found = (got.question.as_deref(), got.documents.len());
    assert_eq!((got.operation, found), (Operation::Retrieval, (Some("Why?"), 2)));
    assert_eq!(search("add").operation, Operation::Other);
    let got = llm(
        "@mastra/otel-exporter",
        &[
            ("gen_ai.operation.name", text("invoke_agent")),
            ("mastra.span.type", text("agent_run")),
            ("mastra.agent_run.input", text(r#"[{"role":"user","content":"Why?"}]"#)),
            ("mastra.agent_run.output", text(r#"{"text":"So.","files":[]}"#)),
            ("mastra.metadata.threadId", text("t")),
        ],
    );
    assert_eq!((got.operation, said(&got)), (Operation::Agent, why_so(None, None)));
    assert_eq!(got.session_id.as_deref(), Some("t"));
}

#[test]
fn claude_code_is_known_by_its_scope() {
    let pairs = [
        ("span.type", text("llm_request")),
        ("model", text("claude-opus-5")),
        ("input_tokens", Value::Int(2)),
        ("output_tokens", Value::Int(1200)),
        ("cache_read_tokens", Value::Int(84562)),
        ("stop_reason", text("tool_use")),
        ("session.id", text("s")),
    ];
    let got = llm("com.anthropic.claude_code.tracing", &pairs);
    assert_eq!((got.operation, got.request_model.as_deref()), (Operation::Llm, Some("claude-opus-5")));
    let counts = (got.input_tokens, got.output_tokens, got.cache_read_tokens);
    assert_eq!(counts, (Some(2), Some(1200), Some(84562)));
    assert_eq!((got.finish_reasons, got.session_id.as_deref()), (vec!["tool_use".to_owned()], Some("s")));
    assert_eq!(llm("other", &pairs).operation, Operation::Other);
    let prompt = |words: &str| {
        let pairs = [("span.type", text("interaction")), ("user_prompt", text(words))];
        llm("com.anthropic.claude_code.tracing", &pairs)
    };
    let got = prompt("Why?");
    assert_eq!((got.operation, got.question.as_deref()), (Operation::Agent, Some("Why?")));
    assert_eq!(prompt("<REDACTED>").question, None);
}

#[test]
fn costs_and_counts_are_those_that_can_be() {
    let chat = |key: &str, value: Value| llm("x", &[("gen_ai.operation.name", text("chat")), (key, value)]);
    for key in ["gen_ai.usage.total_cost", "gen_ai.cost.total_cost", "llm.cost.total", "llm.cost.prompt"] {
        assert_eq!(chat(key, Value::Double(0.25)).cost_usd, Some(0.25), "{key}");
        assert_eq!(chat(key, Value::Double(-1.0)).cost_usd, None, "{key}");
    }
    let parts = |prompt: f64, answer: f64| {
        let pairs =
            [("llm.cost.prompt", Value::Double(prompt)), ("llm.cost.completion", Value::Double(answer))];
        llm("x", &pairs).cost_usd
    };
    assert_eq!(parts(0.25, 0.5), Some(0.75));
    assert_eq!((parts(-1.0, 2.0), parts(f64::MAX, f64::MAX)), (None, None));
    for wrong in [-1, i64::MAX] {
        assert_eq!(chat("gen_ai.usage.input_tokens", Value::Int(wrong)).input_tokens, None);
        assert_eq!(chat("gen_ai.request.max_tokens", Value::Int(wrong)).max_tokens, None);
    }
    let got = llm(
        "langfuse-sdk",
        &[
            ("langfuse.observation.type", text("generation")),
            ("langfuse.observation.cost_details", text(r#"{"input":0.25,"output":0.5}"#)),
        ],
    );
    assert_eq!(got.cost_usd, Some(0.75));
    let got = llm("mlflow", &[("mlflow.linkedPrompts", text(r#"[{"name":"greet","version":"2"}]"#))]);
    assert_eq!((got.prompt_name.as_deref(), got.prompt_version.as_deref()), (Some("greet"), Some("2")));
    assert_eq!(chat("gen_ai.prompt.version", text("3")).prompt_version.as_deref(), Some("3"));
}

#[test]
fn names_of_operations_and_roles_are_known_in_every_spelling() {
    for kind in ["chat.completions", "text_generation", "responses"] {
        assert_eq!(llm("x", &[("gen_ai.operation.name", text(kind))]).operation, Operation::Llm, "{kind}");
    }
    let tool = [("gen_ai.tool.name", text("f")), ("gen_ai.tool.call.arguments", text(r#"{"a":1}"#))];
    assert_eq!(llm("mcp", &tool).operation, Operation::Tool);
    let lite =
        |kind: &str| llm("litellm", &[("llm.request.type", text(kind)), ("gen_ai.request.model", text("m"))]);
    assert_eq!(lite("acompletion").operation, Operation::Llm);
    assert_eq!(lite("aembedding").operation, Operation::Embedding);
    let got = llm(
        "x",
        &[
            ("gen_ai.operation.name", text("chat")),
            (
                "gen_ai.input.messages",
                text(r#"[{"role":"User","parts":[{"type":"text","content":"Why?"}]}]"#),
            ),
        ],
    );
    assert_eq!((got.question.as_deref(), got.input_messages[0].role.as_str()), (Some("Why?"), "user"));
}
