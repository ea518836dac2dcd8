//! The long form of the failure tests: oracle load on a server that is killed at random moments, restarted and
//! overloaded; at the end everything is checked by SQL. Exit code 1 if anything was lost, doubled or changed.
//!
//! `cargo build --release && cargo run --release --example soak -- --minutes 10 --kills 200`

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what cannot be checked ends the run"
)]

#[path = "../tests/it/failures/oracle.rs"]
mod oracle;
#[expect(dead_code, reason = "the tests need more of it")]
#[path = "../tests/it/failures/server.rs"]
mod server;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use oracle::{Oracle, Writing};
use server::{Server, Settings};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Args {
    /// How long, minutes.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// How often the server is killed in that time.
    #[arg(long, default_value_t = 200)]
    kills: u32,
    /// Senders at once.
    #[arg(long, default_value_t = 6)]
    senders: u32,
    /// The server; the one beside this program if left out.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// The seed of the moments of the kills.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What was seen on the way.
#[derive(Default)]
struct Seen {
    kills: u32,
    stops: u32,
    overloads: u32,
    starts: Vec<Duration>,
    fresh: Vec<Duration>,
    peak_mib: u64,
}

const WRITING: Writing =
    Writing { batch: 8, payload: 1_500, scored: 100, pause: Duration::from_millis(10), insist: true };

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let folder = tempfile::Builder::new().prefix("groundline-soak-").tempdir().expect("a temporary folder");
    let beside = std::env::current_exe().ok().and_then(|me| Some(me.parent()?.parent()?.join("groundline")));
    let binary = args.binary.clone().or(beside).expect("a server");
    let settings = settings(&binary, folder.path());
    let oracle = Arc::new(Oracle::default());
    let mut server = settings.start();
    let url = format!("http://{}/v1/traces", server.otlp_http);
    let senders: Vec<_> = (0..args.senders)
        .map(|_| {
            let (oracle, url) = (Arc::clone(&oracle), url.clone());
            tokio::spawn(async move { oracle.write(url, WRITING).await })
        })
        .collect();
    let mut seen = Seen::default();
    let length = Duration::from_secs_f64(args.minutes * 60.0);
    let bar = ProgressBar::new(length.as_secs());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} s {msg}") {
        bar.set_style(style);
    }
    let (began, mut state) = (Instant::now(), args.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    while seen.kills + seen.stops < args.kills && began.elapsed() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Between nothing and twice the mean, so that some kills meet the start.
        let mean = length / args.kills.max(1);
        tokio::time::sleep(mean.mul_f64(2.0 * (state % 1_000) as f64 / 1_000.0)).await;
        if state % 7 == 0 {
            overload(&oracle, &url, &mut seen).await;
        }
        server = restart(server, &settings, state, &oracle, &mut seen).await;
        bar.set_position(began.elapsed().as_secs());
        bar.set_message(format!("{} acknowledged, {} kills", oracle.acknowledged(), seen.kills));
    }
    oracle.stop.store(true, Ordering::Relaxed);
    for sender in senders {
        let _ = sender.await;
    }
    seen.peak_mib = seen.peak_mib.max(server.memory_mib("VmHWM"));
    bar.finish_and_clear();
    report(&oracle, &server, &seen, began.elapsed()).await
}

/// Limits that an overload reaches, and files so often that kills meet them.
fn settings(binary: &Path, data_dir: &Path) -> Settings {
    Settings::new(binary, data_dir)
        .fixed_ports()
        .set("INGEST__MAX_REQUEST_SIZE", 4 << 20)
        .set("INGEST__MAX_IN_FLIGHT_SIZE", 8 << 20)
        .set("JOURNAL__MAX_FRAME_SIZE", 6 << 20)
        .set("JOURNAL__SEGMENT_SIZE", 8 << 20)
        .set("LAKE__FLUSH_INTERVAL", "1000ms")
        .set("LAKE__FLUSH_SIZE", 4 << 20)
        .set("LAKE__DEDUP_WINDOW", 7_200)
        .set("LAKE__DEDUP_MAX_IDS", 20_000_000)
        .set("SAMPLE__IDLE", "500ms")
        .set("SERVER__LOG", "warn,groundline::cli::serve=info")
}

/// For a second sixteen more senders of large requests; nobody repeats those.
async fn overload(oracle: &Arc<Oracle>, url: &str, seen: &mut Seen) {
    let until = Instant::now() + Duration::from_secs(1);
    let large = Writing { batch: 1_000, ..WRITING };
    let senders = (0..16).map(|_| {
        let (oracle, url) = (Arc::clone(oracle), url.to_owned());
        tokio::spawn(async move {
            while Instant::now() < until {
                oracle.once(&url, large).await;
            }
        })
    });
    futures::future::join_all(senders).await;
    seen.overloads += 1;
}

/// Kills the server, or one time in ten stops it as an administrator would, and starts it again.
async fn restart(
    mut server: Server,
    settings: &Settings,
    state: u64,
    oracle: &Oracle,
    seen: &mut Seen,
) -> Server {
    seen.peak_mib = seen.peak_mib.max(server.memory_mib("VmHWM"));
    if state.is_multiple_of(10) {
        assert!(server.stop(), "SIGTERM: {}", server.log());
        seen.stops += 1;
    } else {
        server.kill();
        seen.kills += 1;
    }
    drop(server);
    let began = Instant::now();
    let server = settings.start();
    seen.starts.push(began.elapsed());
    let before = oracle.acknowledged();
    while oracle.acknowledged() == before {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "no span is accepted after a start: {}",
            server.log()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    seen.fresh.push(began.elapsed());
    server
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    match times.as_slice() {
        [] => "none".to_owned(),
        [.., longest] => format!("median {:?}, longest {longest:?}", times[times.len() / 2]),
    }
}

async fn report(oracle: &Oracle, server: &Server, seen: &Seen, took: Duration) -> ExitCode {
    let bar = ProgressBar::new_spinner();
    let verdict = oracle
        .check(server, WRITING, |checked| {
            bar.set_message(format!("checked {checked} numbers"));
            bar.tick();
        })
        .await;
    bar.finish_and_clear();
    let twice =
        "SELECT count(*) AS n FROM (SELECT score_id FROM scores GROUP BY score_id HAVING count(*) > 1)";
    let (scores, doubled) =
        (server.number("SELECT count(*) AS n FROM scores").await, server.number(twice).await);
    let rows = [
        ("time", format!("{:.1} min", took.as_secs_f64() / 60.0)),
        ("kills, stops, overloads", format!("{}, {}, {}", seen.kills, seen.stops, seen.overloads)),
        ("spans acknowledged", verdict.acknowledged.to_string()),
        ("spans stored", verdict.stored.to_string()),
        ("answers", format!("{:?}", oracle.answers())),
        ("start until ready", spread(seen.starts.clone())),
        ("start until a span is accepted", spread(seen.fresh.clone())),
        ("peak memory", format!("{} MiB", seen.peak_mib)),
        ("scores, stored twice", format!("{scores}, {doubled}")),
        ("acknowledged and lost", format!("{} {:?}", verdict.lost.len(), first(&verdict.lost))),
        ("stored twice", format!("{} {:?}", verdict.doubled.len(), first(&verdict.doubled))),
        ("stored and not equal", format!("{} {:?}", verdict.wrong.len(), first(&verdict.wrong))),
    ];
    for (name, value) in rows {
        println!("{name:32} {value}");
    }
    let refusals = oracle.answers().into_keys().filter_map(|answer| answer.parse::<u16>().ok());
    let good = refusals.into_iter().all(|status| status == 200 || oracle::is_retryable(status));
    if verdict.is_clean() && doubled == 0 && good { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn first(numbers: &[u64]) -> &[u64] {
    &numbers[..numbers.len().min(10)]
}
