//! The end of the demo: one of two models begins to make things up, and an alert says so.

use super::demo_captures::{CAPTURES, wait};
use super::demo_times::Shift;
use super::pipe::say;
use super::send::{Protocol, send_file};
use crate::app::App;
use crate::config::Config;
use crate::drift::{AlertConfig, Method};
use crate::ingest::decode;
use crate::sample::RuleConfig;
use crate::sql::{Format, encode};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::AnyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use prost::Message;
use std::path::Path;
use std::time::{Duration, Instant};

/// The library whose captured requests are sent again and again, and the service that they come from here.
const LIBRARY: &str = "otel-openai-v2-latest-span";
const SERVICE: &str = "drift-demo";
/// The alert is a fault of the demo if it is not there by then.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is asked of each model in a phase, and how many answers of the second one contradict their documents.
struct Phase {
    answers: u32,
    wrong: u32,
}

const QUIET: Phase = Phase { answers: 40, wrong: 2 };
const WORSE: Phase = Phase { answers: 40, wrong: 28 };

/// Has the service judged by one evaluator, and watched by an alert.
pub(super) fn watch(config: &mut Config) {
    for rule in &mut config.sample.rules {
        rule.filter = format!("({}) AND coalesce(service_name, '') <> '{SERVICE}'", rule.filter);
    }
    let filter = format!("operation = 'llm' AND service_name = '{SERVICE}'");
    config.sample.rules.push(RuleConfig::new(SERVICE, &filter, 1.0, &["hallucination"]));
    let mut alert = AlertConfig::new("hallucination-drift", "hallucination", Method::Objective);
    alert.filter = format!("rule = '{SERVICE}'");
    alert.slices = vec!["request_model".to_owned()];
    alert.objective = Some(0.9);
    alert.min_n = 20;
    config.alerts.push(alert);
}

/// Sends both phases and prints what fired. An error if anything fires in the first, or not exactly one slice in the second.
pub(super) async fn run(app: &App, folder: &Path, shift: Shift) -> Result<(), String> {
    say(
        "\nDrift: two models answer the same question; 5 % of the answers of each contradict their documents.",
    );
    let mut next = 0;
    send(app, folder, &phase(&QUIET, shift, &mut next)?).await?;
    wait(app).await?;
    let quiet = fired(app).await?;
    if !quiet.is_empty() {
        return Err(format!("an alert fired although nothing had changed: {quiet:?}"));
    }
    say("Then 70 % of the answers of the second one do.");
    send(app, folder, &phase(&WORSE, shift, &mut next)?).await?;
    wait(app).await?;
    let started = Instant::now();
    while fired(app).await?.is_empty() {
        if started.elapsed() > PATIENCE {
            return Err(format!("no alert after {PATIENCE:?}"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let found = fired(app).await?;
    show(app).await?;
    match found.as_slice() {
        [slice] if slice == "request_model=model-b" => {
            say(format_args!("holds: one alert fires, and names the model that changed ({slice})"));
            Ok(())
        }
        _ => Err(format!("one alert should fire, for request_model=model-b, but there are {found:?}")),
    }
}

/// The slices that fired.
async fn fired(app: &App) -> Result<Vec<String>, String> {
    let query = "SELECT slice FROM alerts WHERE state = 'firing' ORDER BY slice";
    let (schema, batches) = app.sql.collect(query).await.map_err(|e| e.to_string())?;
    let bytes = encode(Format::Json, &schema, &batches, usize::MAX).map_err(|e| e.to_string())?;
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
    Ok(rows.iter().filter_map(|row| row["slice"].as_str().map(str::to_owned)).collect())
}

async fn show(app: &App) -> Result<(), String> {
    let query = "SELECT alert, slice, state, round(estimate, 3) AS failing, round(lower, 3) AS lower, \
        round(upper, 3) AS upper, n, round(threshold, 3) AS allowed, round(statistic, 0) AS evidence FROM alerts";
    let (schema, batches) = app.sql.collect(query).await.map_err(|e| e.to_string())?;
    let table = encode(Format::Table, &schema, &batches, usize::MAX).map_err(|e| e.to_string())?;
    say(format_args!("\n{}", String::from_utf8_lossy(&table).trim_end()));
    for standing in app.alerts.standings().iter().filter(|s| !s.examples.is_empty()).take(1) {
        for example in &standing.examples {
            let words: Vec<&str> = example.rationale.split_whitespace().collect();
            say(format_args!("  trace {}: {}", example.trace_id, words.join(" ")));
        }
    }
    Ok(())
}

/// The answers of a phase, their times moved by `shift`: those of both models in turn, the wrong ones of the second spread
/// evenly.
fn phase(phase: &Phase, shift: Shift, next: &mut u32) -> Result<ExportTraceServiceRequest, String> {
    let (mut right, mut wrong) = (capture("rag_grounded")?, capture("rag_contradiction")?);
    shift.traces(&mut right);
    shift.traces(&mut wrong);
    let mut all = ExportTraceServiceRequest::default();
    for n in 0..phase.answers {
        let is_wrong = |wrong: u32| (n + 1) * wrong / phase.answers > n * wrong / phase.answers;
        for (model, wrong_ones) in [("model-a", QUIET.wrong), ("model-b", phase.wrong)] {
            let source = if is_wrong(wrong_ones) { &wrong } else { &right };
            *next += 1;
            all.resource_spans.extend(again(source, model, *next).resource_spans);
        }
    }
    Ok(all)
}

async fn send(app: &App, folder: &Path, request: &ExportTraceServiceRequest) -> Result<(), String> {
    let file = folder.join("drift.pb");
    std::fs::write(&file, request.encode_to_vec()).map_err(|e| e.to_string())?;
    let endpoint = format!("http://{}", app.addresses.otlp_http);
    send_file(&endpoint, Protocol::Http, &file).await.map(|_| ()).map_err(|e| format!("drift: {e}"))
}

/// The captured request of a scenario.
fn capture(scenario: &str) -> Result<ExportTraceServiceRequest, String> {
    let is_it = |library: &str, name: &str| {
        library == LIBRARY
            && name.starts_with(scenario)
            && !name.contains(".logs.")
            && !name.contains(".metrics.")
    };
    let found = CAPTURES.iter().find(|(library, name, _)| is_it(library, name));
    let (_, name, bytes) = found.ok_or(format!("{LIBRARY} has no capture of {scenario}"))?;
    match name.ends_with(".json") {
        true => decode::traces_from_json(bytes).map_err(|e| e.to_string()),
        false => decode::from_protobuf(bytes).map_err(|e| e.to_string()),
    }
}

/// The same request as another trace, by another model.
fn again(request: &ExportTraceServiceRequest, model: &str, number: u32) -> ExportTraceServiceRequest {
    let text = |text: &str| Some(AnyValue { value: Some(Value::StringValue(text.to_owned())) });
    let mut request = request.clone();
    for resource in &mut request.resource_spans {
        let attributes = resource.resource.iter_mut().flat_map(|r| &mut r.attributes);
        attributes.filter(|a| a.key == "service.name").for_each(|a| a.value = text(SERVICE));
        for span in resource.scope_spans.iter_mut().flat_map(|s| &mut s.spans) {
            // The last bytes make it another trace; spans are told apart within theirs.
            let end = span.trace_id.len().saturating_sub(4);
            span.trace_id.truncate(end);
            span.trace_id.extend_from_slice(&number.to_be_bytes());
            let named = span.attributes.iter_mut().filter(|a| a.key == "gen_ai.request.model");
            named.for_each(|a| a.value = text(model));
        }
    }
    request
}
