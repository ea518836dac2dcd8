//! What the captured scenarios state, dialect by dialect, with every exception named.

use super::{dialects, load, scenarios};
use groundline::domain::document::Document;
use groundline::domain::span::{Dialect, Operation, Span, StatusCode};

const QUESTION: &str = "How many days do I have to return an unopened item";

/// A statement about a scenario that must hold in every dialect.
struct Truth {
    name: &'static str,
    scenarios: &'static [&'static str],
    holds: fn(&[Span]) -> bool,
    /// Where it does not hold, and why. A dialect in this list must fail, so that the list cannot go stale.
    except: &'static [(&'static str, &'static str)],
}

const MASKED: (&str, &str) = ("openinference-openai-redacted", "inputs and outputs are masked");
const NO_CONTENT: (&str, &str) = ("otel-openai-v2-nocontent", "content capture is off");

fn llm(spans: &[Span]) -> impl Iterator<Item = &Span> {
    spans.iter().filter(|span| span.llm.operation == Operation::Llm)
}

fn asked(span: &Span, text: &str) -> bool {
    span.llm.question.as_deref().is_some_and(|question| question.contains(text))
}

fn answered(span: &Span, text: &str) -> bool {
    span.llm.answer.as_deref().is_some_and(|answer| answer.contains(text))
}

fn calls_weather(span: &Span) -> bool {
    span.llm.tool_calls.iter().any(|call| call.name == "get_weather" && call.arguments["city"] == "Paris")
}

/// Input tokens of the model calls that have no model call below them.
fn leaf_input_tokens(spans: &[Span]) -> i64 {
    let is_parent = |span: &Span| llm(spans).any(|other| other.parent_span_id == Some(span.span_id));
    llm(spans).filter(|span| !is_parent(span)).filter_map(|span| span.llm.input_tokens).sum()
}

const TRUTHS: &[Truth] = &[
    Truth {
        name: "a model call asks for the capital of France and is told Paris",
        scenarios: &["chat"],
        holds: |s| llm(s).any(|s| asked(s, "capital of France") && answered(s, "Paris")),
        except: &[MASKED, NO_CONTENT],
    },
    Truth {
        name: "model and token counts are there",
        scenarios: &["chat"],
        holds: |s| {
            llm(s).any(|s| {
                let model = s.llm.response_model.as_ref().or(s.llm.request_model.as_ref());
                model.is_some_and(|model| model.starts_with("gpt-4o-mini"))
                    && (s.llm.input_tokens, s.llm.output_tokens) == (Some(21), Some(7))
            })
        },
        except: &[],
    },
    Truth {
        name: "a retrieval gives the three documents, the returns policy among them",
        scenarios: &["rag_grounded", "rag_contradiction"],
        holds: |s| {
            s.iter().any(|s| {
                let returns = |d: &Document| {
                    d.id.as_deref() == Some("doc-returns")
                        && d.content
                            .as_deref()
                            .is_some_and(|text| text.contains("within 30 days of delivery"))
                };
                s.llm.operation == Operation::Retrieval
                    && s.llm.documents.len() == 3
                    && s.llm.documents.iter().any(returns)
                    && asked(s, QUESTION)
            })
        },
        except: &[
            MASKED,
            NO_CONTENT,
            ("otel-genai-openai-event-grpc", "in event mode the documents are sent nowhere"),
            ("otel-genai-openai-span-truncated256", "the list is cut after the first document"),
            ("otel-openai-v2-legacy-events", "a plain db.* span, and the documents are in the prompt only"),
            ("strands-agents-genai-latest", "no retrieval span, the documents are in the prompt only"),
        ],
    },
    Truth {
        name: "the grounded answer says 30 days",
        scenarios: &["rag_grounded"],
        holds: |s| llm(s).any(|s| asked(s, QUESTION) && answered(s, "30 days")),
        except: &[
            MASKED,
            NO_CONTENT,
            ("otel-genai-openai-span-truncated256", "the prompt is cut before the question"),
        ],
    },
    Truth {
        name: "the contradicting answer says 90 days",
        scenarios: &["rag_contradiction"],
        holds: |s| llm(s).any(|s| asked(s, QUESTION) && answered(s, "90 days")),
        except: &[
            MASKED,
            NO_CONTENT,
            ("otel-genai-openai-span-truncated256", "the prompt is cut before the question"),
        ],
    },
    Truth {
        name: "a model call asks for get_weather in Paris",
        scenarios: &["tool_call"],
        holds: |s| llm(s).any(calls_weather),
        except: &[MASKED, NO_CONTENT],
    },
    Truth {
        name: "a tool span runs get_weather in Paris and has its result",
        scenarios: &["tool_call"],
        holds: |s| {
            let ran = |s: &&Span| s.llm.operation == Operation::Tool && calls_weather(s);
            s.iter().filter(ran).any(|s| s.llm.output_messages.len() == 1 && s.llm.answer.is_none())
        },
        except: &[
            MASKED,
            NO_CONTENT,
            ("logfire-openai", "the application's own span, without a kind"),
            ("otel-openai-v2-legacy-events", "the application's own span, without attributes"),
            ("otel-genai-openai-event-grpc", "in event mode arguments and result are sent nowhere"),
        ],
    },
    Truth {
        name: "the model calls without one below them took 86 input tokens",
        scenarios: &["tool_call"],
        holds: |s| leaf_input_tokens(s) == 86,
        except: &[("openinference-llamaindex", "one call without a system prompt: 13")],
    },
    Truth {
        name: "a span failed and names the class of the error",
        scenarios: &["error_500"],
        holds: |s| s.iter().any(|s| s.status == StatusCode::Error && s.llm.error_type.is_some()),
        except: &[("langfuse-python-sdk", "only a message, no class")],
    },
    Truth {
        name: "a model call failed, asked its question and answered nothing",
        scenarios: &["error_500"],
        holds: |s| {
            llm(s).any(|s| {
                s.status == StatusCode::Error
                    && asked(s, "summarise my last order")
                    && s.llm.answer.is_none()
                    && s.llm.request_model.as_deref() == Some("gpt-4o-mini")
            })
        },
        except: &[
            MASKED,
            NO_CONTENT,
            ("pydantic-ai-v5", "a failed call has no messages, only its agent has"),
        ],
    },
    Truth {
        name: "the leaked card number is in an answer",
        scenarios: &["pii_leak"],
        holds: |s| llm(s).any(|s| answered(s, "4111 1111 1111 1111")),
        except: &[MASKED, NO_CONTENT],
    },
    Truth {
        name: "the injection is in the question and refused in the answer",
        scenarios: &["prompt_injection"],
        holds: |s| {
            llm(s).any(|s| asked(s, "Ignore all previous instructions") && answered(s, "I can't ignore"))
        },
        except: &[MASKED, NO_CONTENT],
    },
    Truth {
        name: "the insult is in the answer",
        scenarios: &["toxic"],
        holds: |s| llm(s).any(|s| asked(s, "kettle not turning on") && answered(s, "you moron")),
        except: &[MASKED, NO_CONTENT],
    },
    Truth {
        name: "a streamed answer is whole",
        scenarios: &["streaming"],
        holds: |s| llm(s).any(|s| asked(s, "electric kettles") && answered(s, "about three minutes.")),
        except: &[MASKED, NO_CONTENT],
    },
    Truth {
        name: "the third turn asks its own question",
        scenarios: &["multi_turn"],
        holds: |s| llm(s).any(|s| asked(s, "What is my name") && answered(s, "your name is Sam")),
        except: &[
            MASKED,
            NO_CONTENT,
            ("otel-genai-openai-span-truncated256", "cut before the third question"),
        ],
    },
    Truth {
        name: "the session is known",
        scenarios: &["multi_turn"],
        holds: |s| s.iter().any(|s| s.llm.session_id.as_deref() == Some("session-7f3a")),
        except: &[
            ("mlflow-tracing-otlp", "a trace's session is not exported over OTLP"),
            ("openinference-openai-limit16attrs", "dropped, it is among the oldest attributes"),
        ],
    },
    Truth {
        name: "the user is known",
        scenarios: &["multi_turn"],
        holds: |s| s.iter().any(|s| s.llm.user_id.as_deref() == Some("user-42")),
        except: &[
            ("mlflow-tracing-otlp", "a trace's user is not exported over OTLP"),
            ("openinference-openai-limit16attrs", "dropped, it is among the oldest attributes"),
            ("logfire-openai", "no such attribute is sent"),
        ],
    },
];

#[test]
fn the_ground_truth_of_every_scenario_is_found_in_every_dialect() {
    let mut wrong = Vec::new();
    for dialect in dialects() {
        for truth in TRUTHS {
            let exception = truth.except.iter().find(|(name, _)| *name == dialect);
            for scenario in truth.scenarios {
                let holds = (truth.holds)(&load(&dialect, scenario));
                match (holds, exception) {
                    (false, None) => wrong.push(format!("{dialect}/{scenario}: not so: {}", truth.name)),
                    (true, Some((_, why))) => {
                        wrong.push(format!("{dialect}/{scenario}: holds after all ({why}): {}", truth.name));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_primary_dialect_of_a_model_call_is_that_of_its_library() {
    for name in dialects() {
        let want = match name.split('-').next().expect("has a name") {
            "langfuse" => Dialect::Langfuse,
            "langsmith" => Dialect::Langsmith,
            "logfire" => Dialect::Logfire,
            "mlflow" => Dialect::Mlflow,
            "openinference" => Dialect::Openinference,
            "openllmetry" => Dialect::Openllmetry,
            "pydantic" => Dialect::PydanticAi,
            "vercel" => Dialect::Vercel,
            _ => Dialect::OtelGenai,
        };
        for scenario in scenarios(&name) {
            for span in llm(&load(&name, &scenario)) {
                assert_eq!(span.llm.dialect, want, "{name}/{scenario}/{}", span.name);
            }
        }
    }
}

#[test]
fn without_content_nothing_is_invented() {
    for scenario in scenarios(NO_CONTENT.0) {
        for span in load(NO_CONTENT.0, &scenario) {
            let llm = &span.llm;
            assert_eq!((&llm.question, &llm.answer, &llm.system_prompt), (&None, &None, &None), "{scenario}");
            assert!(llm.input_messages.is_empty() && llm.output_messages.is_empty(), "{scenario}");
            assert!(llm.documents.is_empty() && llm.tool_calls.is_empty(), "{scenario}");
        }
    }
}
