//! Spans of model calls: a system prompt, four retrieved documents, a conversation, an answer; about 24 KB each.
//!
//! Half of them in OpenTelemetry GenAI, half in OpenInference. System prompts come from a pool of 16 and documents from a
//! pool of 2,000, as in a real application; question, history and answer are new in each span.

use super::attributes::{double, int, text, texts};
use super::random::Random;
use super::text::Words;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use serde_json::json;

const MODELS: [(&str, &str); 4] = [
    ("openai", "gpt-4o-mini"),
    ("anthropic", "claude-sonnet-4"),
    ("mistral_ai", "mistral-large-latest"),
    ("gcp.vertex_ai", "gemini-2.5-flash"),
];
const SERVICES: [&str; 5] = ["assistant", "support-bot", "search-answers", "mail-draft", "code-review"];

/// Spans of one trace.
const TRACE_SPANS: u64 = 3;

/// Makes batches of model calls.
pub struct Models {
    random: Random,
    words: Words,
    systems: Vec<String>,
    documents: Vec<String>,
    now: u64,
    trace_id: Vec<u8>,
    parent: Vec<u8>,
    made: u64,
}

/// What one model call says.
struct Call<'a> {
    system: &'a str,
    context: String,
    history: [String; 2],
    question: String,
    answer: String,
    provider: &'static str,
    model: &'static str,
    tokens: (u64, u64),
}

impl Models {
    /// Spans that `seed` determines; the first begins at `start`, nanoseconds since 1970.
    pub fn new(seed: u64, start: u64) -> Self {
        let (mut random, words) = (Random::new(seed), Words::new());
        let systems = (0..16).map(|_| words.text(&mut random, 1_500)).collect();
        let documents = (0..2_000).map(|_| words.text(&mut random, 3_000)).collect();
        let (trace_id, parent) = (random.id::<16>(), Vec::new());
        Self { random, words, systems, documents, now: start, trace_id, parent, made: 0 }
    }

    /// A request of `spans` spans from one service.
    pub fn request(&mut self, spans: usize) -> ExportTraceServiceRequest {
        let service = *self.random.pick(&SERVICES);
        let attributes = vec![
            text("service.name", service),
            text("service.version", "1.8.0"),
            text("telemetry.sdk.language", "python"),
            text("telemetry.sdk.name", "opentelemetry"),
            text("telemetry.sdk.version", "1.33.0"),
        ];
        let spans = (0..spans).map(|_| self.span()).collect();
        let name = "opentelemetry.instrumentation.openai_v2".to_owned();
        let scope =
            InstrumentationScope { name, version: "2.1".to_owned(), ..InstrumentationScope::default() };
        let scope_spans = vec![ScopeSpans { scope: Some(scope), spans, ..ScopeSpans::default() }];
        let resource = Some(Resource { attributes, ..Resource::default() });
        let one = ResourceSpans { resource, scope_spans, ..ResourceSpans::default() };
        ExportTraceServiceRequest { resource_spans: vec![one] }
    }

    fn span(&mut self) -> Span {
        if self.made.is_multiple_of(TRACE_SPANS) {
            (self.trace_id, self.parent) = (self.random.id::<16>(), Vec::new());
        }
        self.made += 1;
        self.now += self.random.below(20_000_000);
        let (span_id, took) = (self.random.id::<8>(), self.random.duration(1_800_000_000));
        let (trace_id, parent_span_id, now) = (self.trace_id.clone(), self.parent.clone(), self.now);
        self.parent.clone_from(&span_id);
        let call = self.call();
        let genai = trace_id[0] < 128;
        let (name, attributes) = if genai { genai_span(&call) } else { openinference_span(&call) };
        Span {
            trace_id,
            span_id,
            parent_span_id,
            name,
            kind: 3,
            start_time_unix_nano: now,
            end_time_unix_nano: now + took,
            attributes,
            flags: 0x101,
            ..Span::default()
        }
    }

    fn call(&mut self) -> Call<'_> {
        let random = &mut self.random;
        let mut context = String::with_capacity(13_000);
        for number in 1..=4 {
            let at = random.ranked(self.documents.len());
            context.push_str(&format!("[{number}] {}\n", self.documents[at]));
        }
        let (provider, model) = *random.pick(&MODELS);
        Call {
            system: &self.systems[random.ranked(self.systems.len())],
            context,
            history: [self.words.text(random, 2_900), self.words.text(random, 3_200)],
            question: self.words.text(random, 350),
            answer: self.words.text(random, 2_800),
            provider,
            model,
            tokens: (3_000 + random.below(4_000), 100 + random.below(900)),
        }
    }
}

fn genai_span(call: &Call<'_>) -> (String, Vec<KeyValue>) {
    let part =
        |role: &str, content: &str| json!({"role": role, "parts": [{"type": "text", "content": content}]});
    let question = format!("Context:\n{}\nQuestion: {}", call.context, call.question);
    let input =
        json!([part("user", &call.history[0]), part("assistant", &call.history[1]), part("user", &question)]);
    let output = json!([{"role": "assistant", "finish_reason": "stop",
        "parts": [{"type": "text", "content": call.answer}]}]);
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.provider.name", call.provider),
        text("gen_ai.request.model", call.model),
        text("gen_ai.response.model", call.model),
        double("gen_ai.request.temperature", 0.2),
        int("gen_ai.usage.input_tokens", call.tokens.0),
        int("gen_ai.usage.output_tokens", call.tokens.1),
        texts("gen_ai.response.finish_reasons", &["stop"]),
        text("gen_ai.system_instructions", json!([{"type": "text", "content": call.system}]).to_string()),
        text("gen_ai.input.messages", input.to_string()),
        text("gen_ai.output.messages", output.to_string()),
    ];
    (format!("chat {}", call.model), attributes)
}

fn openinference_span(call: &Call<'_>) -> (String, Vec<KeyValue>) {
    let question = format!("Context:\n{}\nQuestion: {}", call.context, call.question);
    let turns = [
        ("system", call.system),
        ("user", &call.history[0]),
        ("assistant", &call.history[1]),
        ("user", &question),
    ];
    let mut attributes = vec![
        text("openinference.span.kind", "LLM"),
        text("llm.provider", call.provider),
        text("llm.model_name", call.model),
        int("llm.token_count.prompt", call.tokens.0),
        int("llm.token_count.completion", call.tokens.1),
        text("llm.invocation_parameters", r#"{"temperature": 0.2}"#),
        text("llm.output_messages.0.message.role", "assistant"),
        text("llm.output_messages.0.message.content", call.answer.clone()),
    ];
    for (at, (role, content)) in turns.into_iter().enumerate() {
        attributes.push(text(&format!("llm.input_messages.{at}.message.role"), role));
        attributes.push(text(&format!("llm.input_messages.{at}.message.content"), content));
    }
    ("ChatCompletion".to_owned(), attributes)
}
