//! The server with the bundled captures: real requests of real libraries, sent to its own endpoints.

use super::demo_captures::{CAPTURES, progress, wait};
use super::demo_drift;
use super::demo_report::{self, Scenario};
use super::demo_times::Shift;
use super::pipe::say;
use super::send::{Protocol, send_file};
use crate::app::App;
use crate::config::Config;
use crate::domain::time::{Clock, SystemClock};
use crate::ingest::decode;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs it.
pub async fn run(keep: bool) -> ExitCode {
    super::serve::log("warn,groundline::drift=error");
    match demo(keep).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("groundline demo: {error}");
            ExitCode::from(1)
        }
    }
}

async fn demo(keep: bool) -> Result<(), String> {
    let folder = tempfile::Builder::new().prefix("groundline-demo-").tempdir().map_err(|e| e.to_string())?;
    let started = Instant::now();
    let app = App::start(config(folder.path())).await.map_err(|e| e.to_string())?;
    let at = app.addresses;
    say(format_args!("Groundline is up in {} ms on a temporary directory.", started.elapsed().as_millis()));
    say(format_args!(
        "  Console, SQL and metrics http://{}   OTLP/gRPC {}   OTLP/HTTP {}   psql port {}",
        at.http,
        at.grpc,
        at.otlp_http,
        at.pg.port()
    ));
    let shift = Shift::to(SystemClock.now())?;
    let known = send_all(&app, folder.path(), shift, |_, _| true).await?;
    wait(&app).await?;
    demo_report::print(&app.sql, &known).await?;
    demo_drift::run(&app, folder.path(), shift).await?;
    if keep {
        say(format_args!("\nThe console:              http://{}/", at.http));
        if let Some(place) = demo_report::worst_place(&app.sql).await? {
            say(format_args!("The worst answer in it:   http://{}{place}", at.http));
        }
        say(format_args!("Or: psql -h 127.0.0.1 -p {} -c 'SELECT * FROM traces LIMIT 5'", at.pg.port()));
        say(format_args!("    groundline sql --url http://{} 'SELECT * FROM quality_hourly'", at.http));
        say(format_args!("    curl http://{}/metrics", at.http));
        say("Staying up until Ctrl-C.");
        super::serve::Signals::listen().told_to_stop().await;
    }
    app.stop().await.map_err(|e| e.to_string())
}

/// The embedded default, on free ports, and with less patience for late spans.
pub(super) fn config(folder: &Path) -> Config {
    let free = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut config = Config::default();
    config.server.data_dir = folder.join("data");
    (config.server.http_listen, config.server.pg_listen) = (free, free);
    (config.ingest.grpc_listen, config.ingest.http_listen) = (free, free);
    (config.sample.idle, config.sample.rootless_idle) =
        (Duration::from_millis(1_500), Duration::from_millis(2_500));
    demo_drift::watch(&mut config);
    config
}

/// Sends every wanted capture, by library and name, its times moved by `shift`; libraries that were captured over gRPC use
/// it again, the others HTTP.
pub(super) async fn send_all(
    app: &App,
    folder: &Path,
    shift: Shift,
    wanted: impl Fn(&str, &str) -> bool,
) -> Result<Vec<Scenario>, String> {
    let (grpc, http) =
        (format!("http://{}", app.addresses.grpc), format!("http://{}", app.addresses.otlp_http));
    let captures: Vec<_> = CAPTURES.iter().filter(|(library, name, _)| wanted(library, name)).collect();
    let bar = progress("sending captures", captures.len() as u64);
    let (mut known, mut bytes_sent, mut metrics_sent) = (Vec::new(), 0, 0);
    let started = Instant::now();
    for (library, name, bytes) in &captures {
        let file = folder.join(name);
        let moved = shift.file(name, bytes).map_err(|e| format!("{library}/{name}: {e}"))?;
        std::fs::write(&file, moved).map_err(|e| e.to_string())?;
        // Metrics are accepted and dropped; logs may hold what spans leave out.
        metrics_sent += usize::from(name.contains(".metrics."));
        let over_grpc = library.contains("grpc") && !name.ends_with(".json");
        let (endpoint, protocol) = if over_grpc { (&grpc, Protocol::Grpc) } else { (&http, Protocol::Http) };
        send_file(endpoint, protocol, &file).await.map_err(|e| format!("{library}/{name}: {e}"))?;
        if !name.contains(".logs.") && !name.contains(".metrics.") {
            known.extend(traces_of(name, bytes)?);
        }
        bytes_sent += bytes.len();
        bar.inc(1);
    }
    bar.finish_and_clear();
    say(format_args!(
        "Sent {} captured requests ({} KB) of {} library set-ups in {} ms; every answer came after fsync.{}",
        captures.len(),
        bytes_sent / 1024,
        libraries(&captures),
        started.elapsed().as_millis(),
        if metrics_sent > 0 { " Metrics were accepted and dropped." } else { "" }
    ));
    Ok(known)
}

fn libraries(captures: &[&(&str, &str, &[u8])]) -> usize {
    let mut names: Vec<&str> = captures.iter().map(|(library, ..)| *library).collect();
    names.dedup();
    names.len()
}

fn traces_of(name: &str, bytes: &[u8]) -> Result<Vec<Scenario>, String> {
    let request: ExportTraceServiceRequest = if name.ends_with(".json") {
        decode::traces_from_json(bytes).map_err(|e| e.to_string())?
    } else {
        decode::from_protobuf(bytes).map_err(|e| e.to_string())?
    };
    let scenario = name.split('.').next().unwrap_or_default();
    let spans = request.resource_spans.iter().flat_map(|r| &r.scope_spans).flat_map(|s| &s.spans);
    let mut ids: Vec<String> = spans.map(|s| hex::encode(&s.trace_id)).collect();
    ids.sort();
    ids.dedup();
    Ok(ids.into_iter().map(|trace_id| Scenario { trace_id, scenario: scenario.to_owned() }).collect())
}
