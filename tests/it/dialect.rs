//! Real bytes of real libraries, brought to the normalised fields and held against files that a person has read.
//!
//! `UPDATE_GOLDEN=1` rewrites the files. Read the difference before you keep it: they are judged, not recorded.

use groundline::domain::document::Document;
use groundline::domain::merge::merge_content;
use groundline::domain::message::write_calls;
use groundline::domain::span::Span;
use groundline::domain::time::UnixNanos;
use groundline::ingest::decode::{self, Decoded};
use groundline::ingest::dialect::span_evaluations;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

mod truth;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn dialects() -> Vec<String> {
    let entries = fs::read_dir(fixtures().join("otlp")).expect("the captures are there");
    let folders = entries.map(|entry| entry.expect("is readable")).filter(|entry| entry.path().is_dir());
    let names: BTreeSet<String> =
        folders.map(|entry| entry.file_name().into_string().expect("is UTF-8")).collect();
    assert_eq!(names.len(), 23, "every captured dialect is here");
    names.into_iter().collect()
}

fn scenarios(dialect: &str) -> Vec<String> {
    let entries = fs::read_dir(fixtures().join("otlp").join(dialect)).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("is readable").file_name().into_string().expect("is UTF-8"));
    let names: BTreeSet<String> = files
        .filter(|f| !f.contains(".logs.") && !f.contains(".metrics."))
        .map(|f| f.split('.').next().expect("has a name").to_owned())
        .collect();
    names.into_iter().collect()
}

/// The spans of one scenario by start time, with the content of its log records merged in.
fn load(dialect: &str, scenario: &str) -> Vec<Span> {
    let folder = fixtures().join("otlp").join(dialect);
    let proto = folder.join(format!("{scenario}.pb"));
    let request = if proto.exists() {
        decode::from_protobuf(&fs::read(proto).expect("is readable"))
    } else {
        decode::traces_from_json(&fs::read(folder.join(format!("{scenario}.json"))).expect("is readable"))
    };
    let mut spans = clean(decode::spans(request.expect("decodes")));
    if let Ok(body) = fs::read(folder.join(format!("{scenario}.logs.pb"))) {
        let request = decode::from_protobuf(&body).expect("decodes");
        for record in clean(decode::logs(request, UnixNanos(1))) {
            let Some(content) = &record.content else { continue };
            let of_record =
                |s: &&mut Span| Some(s.trace_id) == record.trace_id && Some(s.span_id) == record.span_id;
            if let Some(span) = spans.iter_mut().find(of_record) {
                merge_content(&mut span.llm, content);
            }
        }
    }
    spans.sort_by_key(|span| (span.start, span.span_id));
    spans
}

fn clean<T>(decoded: Decoded<T>) -> Vec<T> {
    assert_eq!((decoded.rejected, decoded.reasons), (0, vec![]));
    decoded.items
}

fn put(object: &mut Map<String, Json>, key: &str, value: impl Into<Option<Json>>) {
    if let Some(value) = value.into() {
        object.insert(key.to_owned(), value);
    }
}

fn list<T>(items: &[T], one: impl Fn(&T) -> Json) -> Option<Json> {
    (!items.is_empty()).then(|| Json::Array(items.iter().map(one).collect()))
}

fn document(d: &Document) -> Json {
    let mut object = Map::new();
    put(&mut object, "id", d.id.clone().map(Json::from));
    put(&mut object, "uri", d.uri.clone().map(Json::from));
    put(&mut object, "content", d.content.clone().map(Json::from));
    put(&mut object, "score", d.score.map(Json::from));
    put(&mut object, "rank", d.rank.map(Json::from));
    put(&mut object, "metadata", d.metadata.clone());
    put(&mut object, "tenant", d.tenant.clone().map(Json::from));
    Json::Object(object)
}

fn golden(span: &Span) -> Json {
    let llm = &span.llm;
    let mut object = Map::new();
    let o = &mut object;
    put(o, "name", json!(span.name));
    put(o, "root", json!(span.parent_span_id.is_none()));
    put(o, "status", json!(span.status.as_str()));
    put(o, "dialect", json!(llm.dialect.as_str()));
    put(o, "operation", json!(llm.operation.as_str()));
    let texts = [
        ("provider", &llm.provider),
        ("request_model", &llm.request_model),
        ("response_model", &llm.response_model),
        ("system_prompt", &llm.system_prompt),
        ("question", &llm.question),
        ("answer", &llm.answer),
        ("session_id", &llm.session_id),
        ("user_id", &llm.user_id),
        ("prompt_name", &llm.prompt_name),
        ("prompt_version", &llm.prompt_version),
        ("error_type", &llm.error_type),
    ];
    for (key, value) in texts {
        put(o, key, value.clone().map(Json::from));
    }
    // The whole messages are long; who spoke, and in how many pieces, shows what was doubled or lost.
    let spoken = |m: &groundline::domain::message::Message| json!(format!("{}/{}", m.role, m.parts.len()));
    put(o, "input_messages", list(&llm.input_messages, spoken));
    put(o, "output_messages", list(&llm.output_messages, spoken));
    put(o, "documents", list(&llm.documents, document));
    let mut calls = Vec::new();
    let called = write_calls(&llm.tool_calls, &mut calls);
    put(o, "tool_calls", called.then(|| serde_json::from_slice::<Json>(&calls).expect("is JSON")));
    put(o, "finish_reasons", list(&llm.finish_reasons, |reason| json!(reason)));
    put(o, "temperature", llm.temperature.map(Json::from));
    put(o, "max_tokens", llm.max_tokens.map(Json::from));
    put(o, "input_tokens", llm.input_tokens.map(Json::from));
    put(o, "output_tokens", llm.output_tokens.map(Json::from));
    put(o, "cache_read_tokens", llm.cache_read_tokens.map(Json::from));
    put(o, "reasoning_tokens", llm.reasoning_tokens.map(Json::from));
    put(o, "cost_usd", llm.cost_usd.map(Json::from));
    object.into()
}

#[test]
fn every_capture_gives_the_fields_of_its_golden_file() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for dialect in dialects() {
        let folder = fixtures().join("golden").join(&dialect);
        for scenario in scenarios(&dialect) {
            let got = Json::Array(load(&dialect, &scenario).iter().map(golden).collect());
            let path = folder.join(format!("{scenario}.json"));
            if update {
                fs::create_dir_all(&folder).expect("can be made");
                let text = serde_json::to_string_pretty(&got).expect("is JSON");
                fs::write(&path, text + "\n").expect("can be written");
                continue;
            }
            let want =
                fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Json>(&text).ok());
            if want.as_ref() != Some(&got) {
                wrong.push(difference(&dialect, &scenario, want.as_ref(), &got));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n(UPDATE_GOLDEN=1 rewrites; read the difference first)", wrong.join("\n"));
}

/// The first field that differs.
fn difference(dialect: &str, scenario: &str, want: Option<&Json>, got: &Json) -> String {
    let place = format!("{dialect}/{scenario}");
    let Some(want) = want.and_then(Json::as_array) else { return format!("{place}: no golden file") };
    let got = got.as_array().expect("is a list");
    if want.len() != got.len() {
        return format!("{place}: {} spans, golden has {}", got.len(), want.len());
    }
    for (want, got) in want.iter().zip(got) {
        let (want, got) = (want.as_object().expect("is a span"), got.as_object().expect("is a span"));
        for key in want.keys().chain(got.keys()) {
            if want.get(key) != got.get(key) {
                return format!(
                    "{place}: {}.{key}: got {:?}, golden {:?}",
                    got["name"],
                    got.get(key),
                    want.get(key)
                );
            }
        }
    }
    format!("{place}: the order of the fields differs")
}

#[test]
fn texts_are_texts_and_nothing_is_doubled() {
    for dialect in dialects() {
        for scenario in scenarios(&dialect) {
            for span in load(&dialect, &scenario) {
                let place = format!("{dialect}/{scenario}/{}", span.name);
                let llm = &span.llm;
                for text in [&llm.question, &llm.answer, &llm.system_prompt].into_iter().flatten() {
                    assert!(!text.trim().is_empty(), "{place}: empty text");
                    assert!(!text.contains("__REDACTED__") && !text.contains("[Scrubbed"), "{place}: {text}");
                    assert!(!text.starts_with(['{', '<']) && !text.starts_with("[{"), "{place}: {text}");
                    assert!(
                        !text.contains("ChatMessage(") && !text.starts_with("assistant: "),
                        "{place}: {text}"
                    );
                }
                for messages in [&llm.input_messages, &llm.output_messages] {
                    assert!(messages.windows(2).all(|pair| pair[0] != pair[1]), "{place}: doubled message");
                    assert!(messages.iter().all(|m| !m.role.is_empty()), "{place}: no role");
                }
                let ranks: Vec<_> = llm.documents.iter().filter_map(|d| d.rank).collect();
                assert_eq!(ranks, (0..).take(llm.documents.len()).collect::<Vec<i32>>(), "{place}");
            }
        }
    }
}

#[test]
fn evaluations_of_other_systems_are_read() {
    let path = fixtures().join("otlp/otel-genai-openai-span/evaluation_result.logs.pb");
    let request = decode::from_protobuf(&fs::read(path).expect("is readable")).expect("decodes");
    let records = clean(decode::logs(request, UnixNanos(1)));
    let found: Vec<_> = records.iter().filter_map(|record| record.evaluation.as_ref()).collect();
    let read: Vec<_> = found.iter().map(|e| (e.name.as_str(), e.value, e.label.as_deref())).collect();
    assert_eq!(
        read,
        [("Relevance", Some(4.0), Some("relevant")), ("Groundedness", Some(0.12), Some("fail"))]
    );
    assert_eq!(found[1].explanation.as_deref(), Some("The answer contradicts the retrieved policy."));
    assert!(records.iter().all(|record| record.content.is_none() && record.span_id.is_some()));
}

#[test]
fn evaluations_on_a_span_are_read() {
    let mut span = load("openinference-openai", "guardrail_evaluator").remove(0);
    let pairs = [
        ("evaluations.0.evaluation.name", "faithful"),
        ("evaluations.0.evaluation.score", "0.25"),
        ("evaluations.0.evaluation.label", "no"),
        ("annotations.0.annotation.name", "thumbs"),
        ("trace.evaluations.0.evaluation.name", "of the trace"),
    ];
    let value = |text: &str| groundline::domain::value::Value::Str(text.to_owned());
    span.attributes.0.extend(pairs.iter().map(|(key, text)| ((*key).to_owned(), value(text))));
    let found = span_evaluations(&span);
    let read: Vec<_> = found.iter().map(|e| (e.name.as_str(), e.value, e.label.as_deref())).collect();
    assert_eq!(read, [("faithful", Some(0.25), Some("no")), ("thumbs", None, None)]);
}
