//! Which conventions a span follows.

use super::fields::Fields;
use super::{claude_code, frameworks, openllmetry};
use crate::domain::span::{Dialect, Source, Span};

/// Conventions in the order in which they are asked: those with unmistakable keys first.
const ORDER: [Dialect; 10] = [
    Dialect::Langfuse,
    Dialect::Openinference,
    Dialect::Mlflow,
    Dialect::Langsmith,
    Dialect::Vercel,
    Dialect::PydanticAi,
    Dialect::Logfire,
    Dialect::Openllmetry,
    Dialect::OtelGenai,
    Dialect::Framework,
];

/// The conventions of which a span shows any sign, as a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Marks(u16);

/// Ids of a session or a user, which ordinary spans carry too.
const IDENTITY: u16 = 1 << 15;

/// Scopes that are surely Traceloop's: the official instrumentations have others.
const TRACELOOP: [&str; 4] = [
    "traceloop.tracer",
    "opentelemetry.instrumentation.openai.v1",
    "opentelemetry.instrumentation.openai.v0",
    "opentelemetry.instrumentation.langchain",
];

fn bit(dialect: Dialect) -> u16 {
    ORDER.iter().position(|d| *d == dialect).map_or(0, |i| 1 << i)
}

impl Marks {
    /// One pass over the keys, the events' names and the scope. Values are not looked at, but for the name of a database.
    pub(super) fn of(span: &Span) -> Self {
        let keys = span.attributes.0.iter().map(|(key, value)| of_pair(key, || value.as_str()));
        let events = span.events.iter().map(|event| of_event(&event.name));
        Self(keys.chain(events).fold(of_scope(&span.source), |all, one| all | one))
    }

    /// Whether the span shows signs of `dialect`.
    pub(super) fn has(self, dialect: Dialect) -> bool {
        self.0 & bit(dialect) != 0
    }

    /// Whether any convention shows.
    pub(super) fn any(self) -> bool {
        self.0 & !IDENTITY != 0
    }

    /// Whether a session or user id is there.
    pub(super) fn identity(self) -> bool {
        self.0 & IDENTITY != 0
    }
}

/// Whether an attribute may change what normalisation gives. A span without such attributes, events and scope means
/// nothing but itself.
pub fn pair_is_genai<'a>(key: &str, text: impl FnOnce() -> Option<&'a str>) -> bool {
    of_pair(key, text) != 0 || key == "error.type" || super::evaluations::is_evaluation(key)
}

/// The marks of an attribute. Most databases have nothing to do with models; a search in a vector store has.
fn of_pair<'a>(key: &str, text: impl FnOnce() -> Option<&'a str>) -> u16 {
    match of_key(key) {
        0 => 0,
        _ if DATABASE.contains(&key) && !text().is_some_and(openllmetry::is_vector_store) => 0,
        marks => marks,
    }
}

/// The keys that name the database of a call.
const DATABASE: [&str; 2] = ["db.system", "db.system.name"];

/// Whether an event of this name may change what normalisation gives, on a span that did not fail.
pub fn event_is_genai(name: &str) -> bool {
    of_event(name) != 0
}

/// Whether every span of this resource and scope has to be looked at as a whole.
pub fn scope_is_genai(source: &Source) -> bool {
    of_scope(source) != 0
}

fn of_key(key: &str) -> u16 {
    // Most keys are none of these, which their first two letters tell.
    let [first, second, ..] = key.as_bytes() else { return 0 };
    let ((b'g', b'e' | b'c')
    | (b'l', b'l' | b'a' | b'o' | b'm' | b'k')
    | (b'b', b'r')
    | (b'h', b'a')
    | (b'o', b'p' | b'u')
    | (b'r', b'e')
    | (b'e', b'm' | b'n')
    | (b'i', b'n')
    | (b't', b'r' | b'o')
    | (b'd', b'b')
    | (b'a', b'i' | b'l')
    | (b'm', b'l' | b'a')
    | (b'p', b'y' | b'r')
    | (b's', b'e' | b'p')
    | (b'u', b's')) = (*first, *second)
    else {
        return 0;
    };
    let head = key.split_once('.').map_or(key, |(head, _)| head);
    match head {
        "gen_ai" if key.starts_with("gen_ai.prompt.") || key.starts_with("gen_ai.completion.") => {
            bit(Dialect::Openllmetry) | bit(Dialect::OtelGenai)
        }
        "gen_ai" => bit(Dialect::OtelGenai),
        "llm" => match key {
            "llm.request.type" => bit(Dialect::Openllmetry),
            _ if key.starts_with("llm.usage.") || key.starts_with("llm.request.functions.") => {
                bit(Dialect::Openllmetry)
            }
            _ => bit(Dialect::Openinference),
        },
        "openinference" | "reranker" | "embedding" => bit(Dialect::Openinference),
        "retrieval" if key.starts_with("retrieval.documents.") => bit(Dialect::Openinference),
        "input" | "output" if key == "input.value" || key == "output.value" => bit(Dialect::Openinference),
        "traceloop" => bit(Dialect::Openllmetry),
        "db" if DATABASE.contains(&key) => bit(Dialect::Openllmetry),
        "ai" => bit(Dialect::Vercel),
        "langfuse" => bit(Dialect::Langfuse),
        "mlflow" => bit(Dialect::Mlflow),
        "langsmith" => bit(Dialect::Langsmith),
        "pydantic_ai" | "all_messages_events" | "tool_arguments" => bit(Dialect::PydanticAi),
        "logfire" | "request_data" => bit(Dialect::Logfire),
        "session" | "user" | "enduser" | "session_id" => IDENTITY,
        _ if frameworks::has_key(key) => bit(Dialect::Framework),
        _ => 0,
    }
}

fn of_event(name: &str) -> u16 {
    if name.starts_with("gen_ai.") {
        bit(Dialect::OtelGenai)
    } else if name == "db.query.result" {
        bit(Dialect::Openllmetry)
    } else {
        0
    }
}

fn of_scope(source: &Source) -> u16 {
    let name = source.scope_name.as_str();
    if name.starts_with("langfuse-sdk") {
        bit(Dialect::Langfuse)
    } else if is_openinference(name) {
        bit(Dialect::Openinference)
    } else if name.starts_with("mlflow.tracing") {
        bit(Dialect::Mlflow)
    } else if name == "pydantic-ai" {
        bit(Dialect::PydanticAi)
    } else if TRACELOOP.contains(&name) {
        bit(Dialect::Openllmetry)
    } else if claude_code::is_scope(name) {
        bit(Dialect::Framework)
    } else {
        match name {
            "langsmith" => bit(Dialect::Langsmith),
            // Version 7 of the SDK names its tracer so and writes OpenTelemetry keys.
            "ai" | "gen_ai" => bit(Dialect::Vercel),
            _ => 0,
        }
    }
}

fn is_openinference(scope: &str) -> bool {
    scope.starts_with("openinference.") || scope.starts_with("@arizeai/")
}

/// The convention that the span is written in, in the main. The first that is sure wins.
pub(super) fn primary(span: &Span, fields: &Fields<'_>, marks: Marks) -> Dialect {
    let scope = span.source.scope_name.as_str();
    let has = |key: &str| fields.get(key).is_some();
    let any = |prefix: &str| !fields.under(prefix).is_empty();
    if scope.starts_with("langfuse-sdk") || any("langfuse.observation.") {
        Dialect::Langfuse
    } else if fields.text("openinference.span.kind").is_some() || is_openinference(scope) {
        Dialect::Openinference
    } else if has("mlflow.spanType") || has("mlflow.spanInputs") {
        Dialect::Mlflow
    } else if has("langsmith.span.kind") || scope == "langsmith" {
        Dialect::Langsmith
    } else if has("ai.operationId") || scope == "ai" || scope == "gen_ai" {
        Dialect::Vercel
    } else if scope == "pydantic-ai" || any("pydantic_ai.") {
        Dialect::PydanticAi
    } else if scope.starts_with("logfire") || has("logfire.msg_template") {
        Dialect::Logfire
    } else if any("traceloop.") || TRACELOOP.contains(&scope) || has("llm.request.type") || classic(fields) {
        Dialect::Openllmetry
    } else if marks.has(Dialect::OtelGenai) {
        Dialect::OtelGenai
    } else if marks.has(Dialect::Openinference) && (any("llm.") || any("retrieval.") || any("reranker.")) {
        Dialect::Openinference
    } else if marks.has(Dialect::Framework) {
        Dialect::Framework
    } else {
        Dialect::None
    }
}

/// Whether messages are flattened as classic OpenLLMetry does; `gen_ai.prompt.name` is another thing.
fn classic(fields: &Fields<'_>) -> bool {
    !fields.elements("gen_ai.prompt.").is_empty() || !fields.elements("gen_ai.completion.").is_empty()
}

/// The conventions to ask, the primary one first.
pub(super) fn order(primary: Dialect, marks: Marks) -> impl Iterator<Item = Dialect> {
    let rest = ORDER.into_iter().filter(move |dialect| *dialect != primary && marks.has(*dialect));
    [primary].into_iter().filter(|dialect| *dialect != Dialect::None).chain(rest)
}
