//! How fast a slow judge is used, and what twenty thousand waiting items take: a measurement, not a test of every day.
//!
//! `cargo test --release --test it -- --ignored --nocapture judges::throughput`; `GROUNDLINE_BINARY` names another program.

use super::server::Server;
use super::{call, configured};
use crate::support::{Process, query, send, until_within};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ITEMS: u64 = 20_000;
const REQUEST: u64 = 500;
/// The judge's latency, and how many requests are under way.
const LATENCY: Duration = Duration::from_millis(200);
const AT_ONCE: usize = 64;
/// Of how many items the rate is taken: without the first, which find out that the judge is back, and the last.
const FROM: u64 = 2_000;
const TO: u64 = 18_000;
const LONG: Duration = Duration::from_secs(600);

async fn number(http: SocketAddr, sql: &str) -> u64 {
    query(http, sql).await[0]["n"].as_u64().unwrap()
}

/// CPU seconds of a process.
fn cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// A field of `/proc/PID/status`, MiB.
fn memory(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement of minutes, which needs the machine for itself"]
async fn a_judge_of_200_ms_is_used_as_much_as_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody listens yet: all items wait.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let more = format!(
        "max_concurrent = {AT_ONCE}\ncanary_interval = \"0s\"\n[queue.fast]\nmax_items = 50000\n[lake]\nflush_interval = \"5s\""
    );
    let text =
        configured("\"safety\"", port, &more).replace("[queue.slow]", "[queue.slow]\nmax_items = 50000");
    let program = std::env::var_os("GROUNDLINE_BINARY").map(PathBuf::from);
    let running = Process::start_program(program.as_deref(), folder.path(), &text, &[]);
    let pid = running.child.id();
    for first in (0..ITEMS).step_by(usize::try_from(REQUEST).unwrap()) {
        assert!(send(running.otlp_http, (first..first + REQUEST).map(call).collect()).await);
    }
    let waiting = "SELECT count(*) AS n FROM queue WHERE lane = 'slow'";
    until_within(LONG, "all items wait", async || number(running.http, waiting).await == ITEMS).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let (waits, peak) = (memory(pid, "VmRSS"), memory(pid, "VmHWM"));
    let server = Server { takes: LATENCY, ..Server::default() };
    server.listen_at(port).await;
    let asked = || u64::try_from(server.requests()).unwrap();
    until_within(LONG, "the judge is in use", async || asked() >= FROM).await;
    let (from, started, before) = (asked(), Instant::now(), cpu(pid));
    until_within(LONG, "most are asked", async || asked() >= TO).await;
    let (items, seconds, spent) =
        ((asked() - from) as f64, started.elapsed().as_secs_f64(), cpu(pid) - before);
    let scored = "SELECT count(*) AS n FROM scores WHERE evaluator = 'safety' AND status = 'ok'";
    until_within(LONG, "all items are scored", async || number(running.http, scored).await == ITEMS).await;
    let most = server.at_once.lock().1;
    let build = match (program.is_some(), cfg!(debug_assertions)) {
        (true, _) => "named",
        (false, true) => "debug",
        (false, false) => "release",
    };
    println!(
        "{:.0} items a second (at most {:.0}), {:.1} % of one core, {:.2} CPU ms an item; {most} requests at once; \
         {waits} MiB with {ITEMS} items waiting, {peak} MiB at most, {} MiB afterwards; {} build",
        items / seconds,
        AT_ONCE as f64 / LATENCY.as_secs_f64(),
        100.0 * spent / seconds,
        1e3 * spent / items,
        memory(pid, "VmRSS"),
        build,
    );
    assert_eq!((server.requests() as u64, most), (ITEMS, AT_ONCE), "each is asked once");
}
