//! One measurement from the start of a server to its stop.

use crate::args::{Args, Door, Mix};
use crate::client::Target;
use crate::common::system;
use crate::load::{self, Input, Seen};
use crate::report::{Closed, Open, Report};
use crate::server::{Failed, Server};
use crate::{peers, visible};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The rate at which the goals state their latencies, spans a second.
pub const GOAL_RATE: f64 = 10_000.0;

/// Everything that `args` asks for.
pub async fn all(args: &Args) -> Result<Report, Failed> {
    std::fs::create_dir_all(&args.folder)?;
    let sync = system::sync_time(&args.folder)?;
    let mut report = Report::new(system::machine(), sync);
    for mix in args.mixes() {
        let input = Arc::new(Input::new(mix, 1, args.closed_spans(mix)));
        eprintln!(
            "{}: {} requests, {} spans, {} MB",
            mix.name(),
            input.requests.len(),
            input.spans(),
            input.bytes() / 1_000_000
        );
        for door in args.doors() {
            let closed = closed(args, door, &input).await?;
            let half = closed.kept_up_a_second / 2.0;
            report.closed.push(closed);
            if !args.closed_only {
                report.open.extend(open(args, door, mix, half).await?);
            }
        }
    }
    if args.peers {
        (report.peers, report.missing) = peers::all(args).await;
    }
    Ok(report)
}

fn target(server: &Server, door: Door) -> Target {
    let address = match door {
        Door::Grpc => server.grpc.clone(),
        Door::Http => server.otlp_http.clone(),
    };
    Target::new(door, address)
}

/// Fills a new server as fast as it takes the spans, and stops it. Its CPU time counts from "ready" to its end, so the
/// writing of the last file is in it, and the few queries that count the rows too.
async fn closed(args: &Args, door: Door, input: &Arc<Input>) -> Result<Closed, Failed> {
    eprintln!("{} {} closed", input.mix.name(), door.name());
    let server = Server::start(&args.server, &args.folder)?;
    let (pid, idle_cpu) = (server.pid(), system::cpu_seconds(server.pid()));
    let rss_before = system::status_mib(pid, "VmRSS");
    let began = Instant::now();
    let seen = load::closed(&target(&server, door), input, args.connections).await?;
    let stored = server.stored(seen.acknowledged).await?;
    let (rss_after, rss_peak) = (system::status_mib(pid, "VmRSS"), system::status_mib(pid, "VmHWM"));
    let left = server.stop().await?;
    let (cpu, spans) = (left.cpu - idle_cpu, seen.acknowledged as f64);
    let seconds = seen.wall.as_secs_f64();
    Ok(Closed {
        mix: input.mix.name(),
        door: door.name(),
        connections: args.connections,
        sent: input.spans(),
        acknowledged: seen.acknowledged,
        stored,
        stored_in_files: left.file_rows,
        wire_bytes_a_span: seen.bytes as f64 / spans,
        spans_a_second: spans / seconds,
        kept_up_a_second: spans / left.ended.duration_since(began).as_secs_f64(),
        spans_a_cpu_second: spans / cpu,
        mb_a_cpu_second: seen.bytes as f64 / 1e6 / cpu,
        server_cpu_seconds: cpu,
        client_cpu_seconds: seen.client_cpu,
        p50_ms: seen.quantile_ms(0.5),
        p99_ms: seen.quantile_ms(0.99),
        later: seen.later,
        rss_before_mib: rss_before,
        rss_after_mib: rss_after,
        rss_peak_mib: rss_peak,
        files: left.files,
        disk_bytes_a_span: left.file_bytes as f64 / left.file_rows as f64,
    })
}

/// Fixed rates on a new server, one after the other: first without queries, then once more with canaries.
async fn open(args: &Args, door: Door, mix: Mix, half: f64) -> Result<Vec<Open>, Failed> {
    let server = Server::start(&args.server, &args.folder)?;
    let at = target(&server, door);
    let mut rates = vec![half];
    if mix == Mix::Services {
        rates.insert(0, GOAL_RATE);
    }
    let (mut rows, mut acknowledged) = (Vec::new(), 0);
    for (number, rate) in rates.iter().enumerate() {
        eprintln!("{} {} open at {rate:.0} spans/s", mix.name(), door.name());
        let seconds = args.open_seconds() as f64;
        let part = |seed: u64| Arc::new(Input::new(mix, seed, (rate * seconds) as usize));
        let input = part(100 + 2 * number as u64);
        let cpu = system::cpu_seconds(server.pid());
        let seen = load::open(&at, &input, *rate).await?;
        let cpu = system::cpu_seconds(server.pid()) - cpu;
        acknowledged += seen.acknowledged;
        let (again, until) =
            (part(101 + 2 * number as u64), Instant::now() + Duration::from_secs(args.open_seconds()));
        let load = load::open(&at, &again, *rate);
        let (load, canaries) = tokio::join!(load, visible::canaries(&server, 2_000, until));
        let (load, canaries) = (load?, canaries?);
        acknowledged += load.acknowledged + canaries.spans;
        let mut row = open_row(mix, door, *rate, cpu, &seen, &canaries);
        row.rss_peak_mib = system::status_mib(server.pid(), "VmHWM");
        rows.push(row);
    }
    let stored = server.stored(acknowledged).await?;
    let left = server.stop().await?;
    for row in &mut rows {
        (row.acknowledged, row.stored, row.stored_in_files) = (acknowledged, stored, left.file_rows);
    }
    Ok(rows)
}

fn open_row(mix: Mix, door: Door, rate: f64, cpu: f64, seen: &Seen, canaries: &visible::Canaries) -> Open {
    let delay = |q: f64| canaries.delay.value_at_quantile(q) as f64 / 1_000.0;
    Open {
        mix: mix.name(),
        door: door.name(),
        rate,
        reached: seen.acknowledged as f64 / seen.wall.as_secs_f64(),
        requests: seen.latency.len(),
        p50_ms: seen.quantile_ms(0.5),
        p99_ms: seen.quantile_ms(0.99),
        p999_ms: seen.quantile_ms(0.999),
        later: seen.later,
        server_cores: cpu / seen.wall.as_secs_f64(),
        client_cores: seen.client_cpu / seen.wall.as_secs_f64(),
        canaries: canaries.spans,
        visible_p50_ms: delay(0.5),
        visible_p99_ms: delay(0.99),
        rss_peak_mib: 0.0,
        acknowledged: 0,
        stored: 0,
        stored_in_files: 0,
    }
}
