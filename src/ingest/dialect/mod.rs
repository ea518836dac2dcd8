//! Every convention for LLM spans brought to one set of fields.
//!
//! A span may follow several conventions at once, so no field is read from "the" dialect: the primary dialect is
//! asked first, the others fill what it left open. What nobody says stays `None`.
//!
//! | file | what |
//! |---|---|
//! | `normalize` | the way through: detect, ask each convention, finish |
//! | `detect` | which conventions a span follows, from one pass over its keys |
//! | `fields` | attributes by key, and the priority lists of scalar fields |
//! | `provider` | provider names in the current OpenTelemetry spelling |
//! | `masked` | what stands in place of a masked value |
//! | `fill` | whoever comes first wins |
//! | `draft` | the fields while they are being filled |
//! | `content` | readable text out of free-form inputs and outputs |
//! | `usage` | token counts, models and parameters out of JSON objects |
//! | `json` | JSON inside strings, also cut off |
//! | `flatten` | lists flattened into keys with an index |
//! | `messages` | every shape of a message list to domain messages |
//! | `parts` | the pieces of one message |
//! | `documents` | every shape of retrieved documents |
//! | `otel_genai` | OpenTelemetry GenAI, on attributes |
//! | `genai_events` | OpenTelemetry GenAI, in span events and log records |
//! | `openinference` | Arize OpenInference |
//! | `openllmetry` | Traceloop OpenLLMetry, new and classic |
//! | `vercel` | Vercel AI SDK |
//! | `langfuse` | Langfuse |
//! | `mlflow` | MLflow tracing |
//! | `logfire` | Pydantic Logfire and Pydantic AI |
//! | `langsmith` | LangSmith over OpenTelemetry |
//! | `frameworks` | frameworks with keys of their own: Google ADK, Spring AI, Braintrust, … |
//! | `claude_code` | Claude Code, whose spans are known by their scope |
//! | `evaluations` | evaluations that came on a span or as a log record |

mod claude_code;
mod content;
mod detect;
mod documents;
mod draft;
mod evaluations;
mod fields;
mod fill;
mod flatten;
mod frameworks;
mod genai_events;
mod json;
mod langfuse;
mod langsmith;
mod logfire;
mod masked;
mod messages;
mod mlflow;
mod normalize;
mod openinference;
mod openllmetry;
mod otel_genai;
mod parts;
mod provider;
mod usage;
mod vercel;

pub use detect::{event_is_genai, pair_is_genai, scope_is_genai};
pub use evaluations::{may_have_evaluations, span_evaluations};
pub use normalize::{normalize_log, normalize_span};
