//! A span with the fields that every convention is brought to.

use super::document::Document;
use super::id::{SpanId, TraceId};
use super::message::{Message, ToolCall, answer_of, question_of, system_of, tool_calls_of};
use super::time::UnixNanos;
use super::value::Attrs;
use std::sync::Arc;

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The name in SQL.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The variant of that name.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use names;

names!(
    /// The role of a span in a remote call (OTLP `SpanKind`).
    SpanKind {
        /// Not said.
        Unspecified = "unspecified",
        /// Inside one process.
        Internal = "internal",
        /// Answers a remote call.
        Server = "server",
        /// Makes a remote call.
        Client = "client",
        /// Puts a message on a queue.
        Producer = "producer",
        /// Takes a message off a queue.
        Consumer = "consumer",
    }
);

names!(
    /// OTLP `Status.code`.
    StatusCode {
        /// Not said; most senders mean success.
        Unset = "unset",
        /// Explicit success.
        Ok = "ok",
        /// Failure.
        Error = "error",
    }
);

names!(
    /// Which convention a span is written in, in the main.
    Dialect {
        /// OpenTelemetry GenAI, any version.
        OtelGenai = "otel_genai",
        /// Arize OpenInference.
        Openinference = "openinference",
        /// Traceloop OpenLLMetry.
        Openllmetry = "openllmetry",
        /// Vercel AI SDK.
        Vercel = "vercel",
        /// Langfuse.
        Langfuse = "langfuse",
        /// MLflow tracing.
        Mlflow = "mlflow",
        /// Pydantic Logfire.
        Logfire = "logfire",
        /// Pydantic AI.
        PydanticAi = "pydantic_ai",
        /// LangSmith over OpenTelemetry.
        Langsmith = "langsmith",
        /// Keys of a framework's own and no convention's: Braintrust, Genkit, Haystack, Claude Code, …
        Framework = "framework",
        /// No LLM convention: an ordinary span.
        None = "none",
    }
);

names!(
    /// What a span does in an LLM application.
    Operation {
        /// A call of a language model.
        Llm = "llm",
        /// Documents are looked up.
        Retrieval = "retrieval",
        /// Text becomes vectors.
        Embedding = "embedding",
        /// Documents are put in a better order.
        Reranker = "reranker",
        /// A tool runs.
        Tool = "tool",
        /// An agent acts.
        Agent = "agent",
        /// A chain, workflow or task.
        Chain = "chain",
        /// A guardrail checks.
        Guardrail = "guardrail",
        /// An evaluator judges.
        Evaluator = "evaluator",
        /// A moment, not a duration.
        Event = "event",
        /// None of these.
        Other = "other",
    }
);

/// An event on a span.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub time: UnixNanos,
    /// What.
    pub name: String,
    /// Its attributes.
    pub attributes: Attrs,
    /// Attributes that the sender dropped.
    pub dropped_attributes_count: u32,
}

/// A link to another span. Ids are bytes as they came: a bad link does not cost the span.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The other trace.
    pub trace_id: Vec<u8>,
    /// The other span.
    pub span_id: Vec<u8>,
    /// W3C tracestate.
    pub trace_state: String,
    /// Its attributes.
    pub attributes: Attrs,
    /// Attributes that the sender dropped.
    pub dropped_attributes_count: u32,
    /// W3C flags.
    pub flags: u32,
}

/// The resource and scope that a group of spans shares.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// `service.name` of the resource; empty if it was not said.
    pub service_name: String,
    /// All attributes of the resource.
    pub resource: Attrs,
    /// The instrumentation scope's name.
    pub scope_name: String,
    /// The instrumentation scope's version.
    pub scope_version: String,
    /// Attributes of the scope.
    pub scope_attributes: Attrs,
    /// The schema that the attributes follow, if said.
    pub schema_url: String,
}

/// One span: what came, and what it means.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// The parent; none for a root.
    pub parent_span_id: Option<SpanId>,
    /// The name.
    pub name: String,
    /// The role.
    pub kind: SpanKind,
    /// When it began.
    pub start: UnixNanos,
    /// When it ended.
    pub end: UnixNanos,
    /// How it ended.
    pub status: StatusCode,
    /// What the sender said of the status.
    pub status_message: String,
    /// Resource and scope.
    pub source: Arc<Source>,
    /// Attributes as they came.
    pub attributes: Attrs,
    /// Events as they came.
    pub events: Vec<Event>,
    /// Links as they came.
    pub links: Vec<Link>,
    /// W3C tracestate.
    pub trace_state: String,
    /// W3C flags and the bits that OTLP adds.
    pub flags: u32,
    /// Attributes that the sender dropped.
    pub dropped_attributes_count: u32,
    /// Events that the sender dropped.
    pub dropped_events_count: u32,
    /// Links that the sender dropped.
    pub dropped_links_count: u32,
    /// What the attributes mean.
    pub llm: Llm,
}

/// The normalised fields. What the sender did not say stays `None` or empty.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Llm {
    /// The convention.
    pub dialect: Dialect,
    /// What the span does.
    pub operation: Operation,
    /// Who serves the model: `openai`, `anthropic`, `aws.bedrock`, … in the current OpenTelemetry spelling.
    pub provider: Option<String>,
    /// The model that was asked for.
    pub request_model: Option<String>,
    /// The model that answered.
    pub response_model: Option<String>,
    /// System instructions.
    pub system_prompt: Option<String>,
    /// What was asked: the last user message, or the input of a span that is not a model call.
    pub question: Option<String>,
    /// What was answered: the text of the output, or the output of a span that is not a model call.
    pub answer: Option<String>,
    /// All messages that went in.
    pub input_messages: Vec<Message>,
    /// All messages that came out.
    pub output_messages: Vec<Message>,
    /// Retrieved or reranked documents.
    pub documents: Vec<Document>,
    /// Tool calls that the model asked for; on a tool span the call that ran.
    pub tool_calls: Vec<ToolCall>,
    /// Why the model stopped, one a choice.
    pub finish_reasons: Vec<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Limit of output tokens.
    pub max_tokens: Option<i64>,
    /// Input tokens, cached ones included where the convention says so.
    pub input_tokens: Option<i64>,
    /// Output tokens, reasoning ones included where the convention says so.
    pub output_tokens: Option<i64>,
    /// Input tokens that came from a cache.
    pub cache_read_tokens: Option<i64>,
    /// Output tokens spent on reasoning.
    pub reasoning_tokens: Option<i64>,
    /// What the call cost, in US dollars, as the sender said.
    pub cost_usd: Option<f64>,
    /// Session or conversation.
    pub session_id: Option<String>,
    /// End user.
    pub user_id: Option<String>,
    /// Prompt template.
    pub prompt_name: Option<String>,
    /// Its version.
    pub prompt_version: Option<String>,
    /// Class of the error.
    pub error_type: Option<String>,
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            dialect: Dialect::None,
            operation: Operation::Other,
            provider: None,
            request_model: None,
            response_model: None,
            system_prompt: None,
            question: None,
            answer: None,
            input_messages: Vec::new(),
            output_messages: Vec::new(),
            documents: Vec::new(),
            tool_calls: Vec::new(),
            finish_reasons: Vec::new(),
            temperature: None,
            max_tokens: None,
            input_tokens: None,
            output_tokens: None,
            cache_read_tokens: None,
            reasoning_tokens: None,
            cost_usd: None,
            session_id: None,
            user_id: None,
            prompt_name: None,
            prompt_version: None,
            error_type: None,
        }
    }
}

impl Llm {
    /// Fills question, answer, system prompt, tool calls and finish reasons from the messages where they are still empty.
    pub fn derive_from_messages(&mut self) {
        self.question = self.question.take().or_else(|| question_of(&self.input_messages));
        self.answer = self.answer.take().or_else(|| answer_of(&self.output_messages));
        self.system_prompt = self.system_prompt.take().or_else(|| system_of(&self.input_messages));
        if self.tool_calls.is_empty() {
            self.tool_calls = tool_calls_of(&self.output_messages);
        }
        if self.finish_reasons.is_empty() {
            self.finish_reasons =
                self.output_messages.iter().filter_map(|m| m.finish_reason.clone()).collect();
        }
    }
}
