//! Frameworks with keys of their own: instead of a convention's (Braintrust, Genkit, Haystack, Laminar, LangWatch), or
//! beside OpenTelemetry's, which then lack the content (Google ADK, Spring AI, Mastra, LiveKit, promptfoo).

use super::documents;
use super::draft::Draft;
use super::fields::Fields;
use super::fill::fill;
use super::json::{at, decode_or_text, is_cost, number, text_at};
use super::parts;
use super::provider;
use super::usage;
use crate::domain::span::Operation;
use serde_json::Value as Json;
use std::borrow::Cow;

/// What the keys begin with. `braintrust.parent` is not among them: it stands on ordinary spans too.
const PREFIXES: [&str; 14] = [
    "gcp.vertex.agent.",
    "spring.ai.",
    "mastra.",
    "genkit:",
    "haystack.",
    "lmnr.",
    "langwatch.",
    "lk.",
    "promptfoo.",
    "braintrust.input",
    "braintrust.output",
    "braintrust.metadata",
    "braintrust.metrics",
    "braintrust.span_attributes",
];

/// Keys of the input. On a tool's span the arguments come first: ADK repeats an empty request there.
const INPUTS: &[&str] = &[
    "gcp.vertex.agent.tool_call_args",
    "gcp.vertex.agent.llm_request",
    "spring.ai.tool.call.arguments",
    "db.vector.query.content",
    "braintrust.input_json",
    "braintrust.input",
    "genkit:input",
    "haystack.component.input",
    "haystack.agent.input",
    "haystack.pipeline.input_data",
    "lmnr.span.input",
    "langwatch.input",
    "lk.function_tool.arguments",
    "lk.chat_ctx",
    "promptfoo.request.body",
];

/// Keys of the output.
const OUTPUTS: &[&str] = &[
    "gcp.vertex.agent.tool_response",
    "gcp.vertex.agent.llm_response",
    "spring.ai.tool.call.result",
    "db.vector.query.response.documents",
    "braintrust.output_json",
    "braintrust.output",
    "genkit:output",
    "haystack.component.output",
    "haystack.agent.output",
    "haystack.pipeline.output_data",
    "lmnr.span.output",
    "langwatch.output",
    "lk.function_tool.output",
    "lk.response.text",
    "promptfoo.response.body",
];

/// Keys of the documents that LangWatch's SDKs write: the current one, those of Go and of Python in earlier days.
const CONTEXTS: [&str; 3] = ["langwatch.rag.contexts", "langwatch.contexts", "langwatch.rag_contexts"];

const TOOL_NAMES: &[&str] = &["spring.ai.tool.definition.name", "lk.function_tool.name"];
const TOOL_IDS: &[&str] = &["spring.ai.tool.call.id", "lk.function_tool.id"];

/// Keys that tell what a span does.
const KINDS: &[&str] = &[
    "spring.ai.kind",
    "mastra.span.type",
    "braintrust.span_attributes.type",
    "genkit:metadata:subtype",
    "genkit:type",
    "lmnr.span.type",
    "langwatch.span.type",
];

/// Whether `key` is one that a framework of this list writes.
pub(super) fn has_key(key: &str) -> bool {
    PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// The operation by the framework's own word for it; none where it has none, and the span may still name a model.
pub(super) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    if fields.first(TOOL_NAMES).is_some() {
        return Some(Operation::Tool);
    }
    // Spring AI says the same kind of what is put into a vector store.
    let is_store = fields.text("spring.ai.kind") == Some("vector_store");
    if is_store && fields.text("db.operation.name").is_some_and(|verb| verb != "query") {
        return None;
    }
    let of_braintrust = || text_at(&fields.json("braintrust.span_attributes")?, &["type"]);
    let word = fields.first(KINDS).or_else(of_braintrust);
    let named = word.and_then(|word| kind_named(&word.to_ascii_lowercase()));
    named.or_else(|| component(&fields.plain("haystack.component.type")?)).or_else(|| {
        // Only the run of an agent says so; its steps have other keys below `haystack.agent`.
        let is_agent =
            ["haystack.agent.max_steps", "haystack.agent.input"].iter().any(|k| fields.get(k).is_some());
        let is_run = || !fields.under("haystack.pipeline.").is_empty();
        let agent = is_agent.then_some(Operation::Agent);
        agent.or_else(|| is_run().then_some(Operation::Chain))
    })
}

fn kind_named(kind: &str) -> Option<Operation> {
    Some(match kind {
        "llm" | "model" | "model_generation" => Operation::Llm,
        "rag" | "retriever" | "vector_store" => Operation::Retrieval,
        "embedder" => Operation::Embedding,
        "reranker" => Operation::Reranker,
        "tool" | "tool_call" | "mcp_tool_call" => Operation::Tool,
        "agent" | "agent_run" => Operation::Agent,
        "guardrail" => Operation::Guardrail,
        "evaluator" | "evaluation" | "score" => Operation::Evaluator,
        // A step of a model call repeats the call around it, so its counts must not be a call's.
        "chain" | "workflow" | "task" | "function" | "flow" | "flowstep" | "prompt" | "util" | "default"
        | "span" | "component" | "module" | "chat_client" | "advisor" | "eval" | "executor"
        | "model_step" | "processor_run" => Operation::Chain,
        _ if kind.starts_with("workflow_") => Operation::Chain,
        _ => return None,
    })
}

/// What a component of Haystack does, by the name of its class.
fn component(class: &str) -> Option<Operation> {
    const ENDINGS: [(&str, Operation); 6] = [
        ("Generator", Operation::Llm),
        ("Retriever", Operation::Retrieval),
        ("Embedder", Operation::Embedding),
        ("Ranker", Operation::Reranker),
        ("Agent", Operation::Agent),
        ("", Operation::Chain),
    ];
    ENDINGS.iter().find(|(ending, _)| class.ends_with(ending)).map(|(_, operation)| *operation)
}

/// Fills what the keys of frameworks say.
pub(super) fn fill_from(fields: &Fields<'_>, draft: &mut Draft) {
    fill(&mut draft.tool.name, fields.first(TOOL_NAMES));
    fill(&mut draft.tool.id, fields.first(TOOL_IDS));
    of_braintrust(fields, draft);
    of_genkit(fields, draft);
    of_haystack(fields, draft);
    of_langwatch(fields, draft);
    for key in INPUTS {
        if let Some(raw) = fields.raw(key) {
            draft.input(&unwrapped(raw));
        }
    }
    for key in OUTPUTS {
        if let Some(raw) = fields.raw(key) {
            draft.output(&unwrapped(raw));
        }
    }
    // Mastra's keys have the kind of the span in them.
    if let Some(kind) = fields.text("mastra.span.type") {
        if let Some(raw) = fields.raw(&format!("mastra.{kind}.input")) {
            draft.input(&raw);
        }
        if let Some(raw) = fields.raw(&format!("mastra.{kind}.output")) {
            draft.output(&raw);
        }
    }
}

/// LangWatch says of each value of which type it is: `{"type": "text", "value": …}`.
fn unwrapped(raw: Cow<'_, str>) -> Cow<'_, str> {
    // Large requests are common: only what begins so is parsed.
    if !raw.starts_with("{\"type\"") {
        return raw;
    }
    match parts::plain_result(&decode_or_text(&raw)) {
        Json::String(text) => Cow::Owned(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn of_braintrust(fields: &Fields<'_>, draft: &mut Draft) {
    if let Some(metadata) = fields.json("braintrust.metadata") {
        usage::request(&metadata, &mut draft.llm);
        let named = text_at(&metadata, &["provider"]);
        fill(&mut draft.llm.provider, named.and_then(|name| provider::current(&name)));
    }
    if let Some(metrics) = fields.json("braintrust.metrics") {
        usage::tokens(&metrics, &mut draft.llm);
    }
}

/// Genkit names a model `plug-in/model`.
fn of_genkit(fields: &Fields<'_>, draft: &mut Draft) {
    let name = fields.plain("genkit:name");
    match (draft.llm.operation, name) {
        (Operation::Llm | Operation::Embedding, Some(name)) => {
            let (plugin, model) = name.split_once('/').unwrap_or(("", name.as_str()));
            fill(&mut draft.llm.provider, provider::current(plugin));
            fill(&mut draft.llm.request_model, Some(model.to_owned()));
        }
        (Operation::Tool, name) => fill(&mut draft.tool.name, name),
        _ => {}
    }
}

/// Haystack keeps model and counts in what it calls the meta of an answer.
fn of_haystack(fields: &Fields<'_>, draft: &mut Draft) {
    if draft.llm.operation != Operation::Llm {
        return;
    }
    let Some(output) = fields.json("haystack.component.output") else { return };
    let of_message = output.get("replies").and_then(|replies| at(replies.get(0)?, "meta"));
    if let Some(meta) = of_message.or_else(|| output.get("meta")?.get(0)) {
        usage::response(meta, &mut draft.llm);
        if draft.llm.finish_reasons.is_empty() {
            draft.llm.finish_reasons.extend(text_at(meta, &["finish_reason"]));
        }
    }
}

/// LangWatch's SDKs write the counts and the documents with their type around them, or bare.
fn of_langwatch(fields: &Fields<'_>, draft: &mut Draft) {
    if let Some(metrics) = fields.json("langwatch.metrics") {
        let metrics = parts::plain_result(&metrics);
        usage::tokens(&metrics, &mut draft.llm);
        let cost = metrics.get("cost").and_then(number).filter(|cost| is_cost(*cost));
        fill(&mut draft.llm.cost_usd, cost);
    }
    if draft.llm.documents.is_empty()
        && let Some(contexts) = CONTEXTS.iter().find_map(|key| fields.json(key))
    {
        draft.llm.documents = documents::of_retrieval(&parts::plain_result(&contexts));
    }
}
