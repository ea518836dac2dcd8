//! Tables, goals, JSON, and what fails the run.

use serde::Serialize;
use std::time::Duration;

/// All figures of one run.
#[derive(Debug, Serialize)]
pub struct Report {
    machine: String,
    sync_ms: f64,
    /// Closed loops.
    pub closed: Vec<Closed>,
    /// Open loops.
    pub open: Vec<Open>,
    /// Other servers.
    pub peers: Vec<PeerRow>,
    /// Other servers that could not be measured, and why.
    pub missing: Vec<String>,
}

/// A closed loop against another server.
#[derive(Debug, Serialize)]
pub struct PeerRow {
    pub peer: &'static str,
    pub version: String,
    /// What its "yes" means.
    pub yes: &'static str,
    pub mix: &'static str,
    pub door: &'static str,
    pub connections: usize,
    pub acknowledged: u64,
    /// Spans in its database at the end; none for a server that stores nothing.
    pub stored: Option<u64>,
    pub spans_a_second: f64,
    pub spans_a_cpu_second: f64,
    pub mb_a_cpu_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub rss_mib: f64,
    pub disk_bytes_a_span: f64,
}

/// A closed loop: how much a server takes, and what it costs.
#[derive(Debug, Serialize)]
pub struct Closed {
    pub mix: &'static str,
    pub door: &'static str,
    pub connections: usize,
    pub sent: u64,
    pub acknowledged: u64,
    /// Counted by SQL before the stop.
    pub stored: u64,
    /// Counted in the footers of the Parquet files after the stop.
    pub stored_in_files: u64,
    pub wire_bytes_a_span: f64,
    /// Acknowledged, while requests came.
    pub spans_a_second: f64,
    /// Until the last row was in a file and the server had stopped: what it can keep up with. Above that it says yes
    /// faster than it writes, and rows wait in the journal.
    pub kept_up_a_second: f64,
    /// Per CPU second of the server, files written.
    pub spans_a_cpu_second: f64,
    pub mb_a_cpu_second: f64,
    pub server_cpu_seconds: f64,
    pub client_cpu_seconds: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub later: u64,
    pub rss_before_mib: f64,
    pub rss_after_mib: f64,
    pub rss_peak_mib: f64,
    pub files: usize,
    /// Parquet files of `spans`, without journal and Delta log.
    pub disk_bytes_a_span: f64,
}

/// An open loop: latency at a fixed rate, from the time at which each request should have been sent.
#[derive(Debug, Serialize)]
pub struct Open {
    pub mix: &'static str,
    pub door: &'static str,
    pub rate: f64,
    pub reached: f64,
    pub requests: u64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub later: u64,
    pub server_cores: f64,
    pub client_cores: f64,
    pub canaries: u64,
    pub visible_p50_ms: f64,
    pub visible_p99_ms: f64,
    /// The most memory until the end of this rate, after the lower ones.
    pub rss_peak_mib: f64,
    /// Of the server's whole life, all rates together.
    pub acknowledged: u64,
    pub stored: u64,
    pub stored_in_files: u64,
}

/// Spans of services a server's CPU second, over gRPC.
const GOAL_SPANS: f64 = 120_000.0;

/// Megabytes of model calls a server's CPU second.
const GOAL_MB: f64 = 300.0;

/// The slowest hundredth of the answers, at half of what the server kept up with and below.
const GOAL_ACK_MS: f64 = 50.0;

/// Memory at [`super::run::GOAL_RATE`] spans of services a second.
const GOAL_RSS_MIB: f64 = 256.0;

/// Bytes that a span of services may take on the disk.
const GOAL_DISK_BYTES: f64 = 48.0;

/// P4: an acknowledged span is visible within two seconds.
const GOAL_VISIBLE_MS: f64 = 2_000.0;

impl Report {
    /// An empty report of a run on `machine`, whose disk takes `sync` to be sure of 64 KiB.
    pub fn new(machine: String, sync: Duration) -> Self {
        Self {
            machine,
            sync_ms: sync.as_secs_f64() * 1_000.0,
            closed: Vec::new(),
            open: Vec::new(),
            peers: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// The figures as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Prints the tables.
    pub fn print(&self) {
        println!("machine: {}; write and fdatasync of 64 KiB: {:.1} ms (median)", self.machine, self.sync_ms);
        println!(
            "server: one process, default configuration but for sample.rules = [] (nothing is evaluated); fsync before each answer"
        );
        println!(
            "\nclosed loop; spans/s: acknowledged, in files: until all were in Parquet and the server had stopped; CPU seconds are the server's, user and system, from ready to its end"
        );
        println!(
            "{:<9}{:<5}{:>9}{:>7}{:>10}{:>10}{:>12}{:>9}{:>9}{:>9}{:>8}{:>8}{:>6}{:>16}{:>6}{:>12}",
            "mix",
            "door",
            "spans",
            "B/span",
            "spans/s",
            "in files",
            "spans/CPU-s",
            "MB/CPU-s",
            "CPU s",
            "client",
            "p50 ms",
            "p99 ms",
            "later",
            "RSS 0/end/peak",
            "files",
            "disk B/span"
        );
        for row in &self.closed {
            println!(
                "{:<9}{:<5}{:>9}{:>7.0}{:>10.0}{:>10.0}{:>12.0}{:>9.1}{:>9.2}{:>9.2}{:>8.1}{:>8.1}{:>6}{:>16}{:>6}{:>12.1}",
                row.mix,
                row.door,
                row.acknowledged,
                row.wire_bytes_a_span,
                row.spans_a_second,
                row.kept_up_a_second,
                row.spans_a_cpu_second,
                row.mb_a_cpu_second,
                row.server_cpu_seconds,
                row.client_cpu_seconds,
                row.p50_ms,
                row.p99_ms,
                row.later,
                format!("{:.0}/{:.0}/{:.0}", row.rss_before_mib, row.rss_after_mib, row.rss_peak_mib),
                row.files,
                row.disk_bytes_a_span
            );
        }
        if !self.open.is_empty() {
            self.print_open();
        }
        self.print_peers();
        self.print_goals();
    }

    fn print_peers(&self) {
        if !self.peers.is_empty() {
            println!(
                "\nother servers, closed loop; ratio: spans per CPU second of ours by theirs, same mix and door"
            );
            println!(
                "{:<18}{:<10}{:<9}{:<5}{:>9}{:>9}{:>10}{:>12}{:>9}{:>8}{:>8}{:>8}{:>12}{:>8}",
                "server",
                "version",
                "mix",
                "door",
                "spans",
                "stored",
                "spans/s",
                "spans/CPU-s",
                "MB/CPU-s",
                "p50 ms",
                "p99 ms",
                "RSS",
                "disk B/span",
                "ratio"
            );
        }
        for row in &self.peers {
            let ours = self.closed.iter().find(|our| our.mix == row.mix && our.door == row.door);
            let ratio = ours.map_or(0.0, |our| our.spans_a_cpu_second / row.spans_a_cpu_second);
            println!(
                "{:<18}{:<10}{:<9}{:<5}{:>9}{:>9}{:>10.0}{:>12.0}{:>9.1}{:>8.1}{:>8.1}{:>8.0}{:>12.1}{:>7.2}x",
                row.peer,
                row.version,
                row.mix,
                row.door,
                row.acknowledged,
                row.stored.map_or("-".to_owned(), |n| n.to_string()),
                row.spans_a_second,
                row.spans_a_cpu_second,
                row.mb_a_cpu_second,
                row.p50_ms,
                row.p99_ms,
                row.rss_mib,
                row.disk_bytes_a_span,
                ratio
            );
        }
        let mut said: Vec<&str> = Vec::new();
        for row in &self.peers {
            if !said.contains(&row.peer) {
                println!("  {} says yes when a span is {}", row.peer, row.yes);
                said.push(row.peer);
            }
        }
        self.missing.iter().for_each(|why| println!("  not measured: {why}"));
    }

    fn print_open(&self) {
        println!(
            "\nopen loop; latency from the intended time of sending; visible: from the answer until SQL counts a canary span, looked for every 2 ms under the same load"
        );
        println!(
            "{:<9}{:<5}{:>10}{:>10}{:>9}{:>8}{:>8}{:>9}{:>6}{:>13}{:>13}{:>9}{:>12}{:>12}",
            "mix",
            "door",
            "spans/s",
            "reached",
            "requests",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "later",
            "server cores",
            "client cores",
            "canaries",
            "visible p50",
            "visible p99"
        );
        for row in &self.open {
            println!(
                "{:<9}{:<5}{:>10.0}{:>10.0}{:>9}{:>8.1}{:>8.1}{:>9.1}{:>6}{:>13.2}{:>13.2}{:>9}{:>12.1}{:>12.1}",
                row.mix,
                row.door,
                row.rate,
                row.reached,
                row.requests,
                row.p50_ms,
                row.p99_ms,
                row.p999_ms,
                row.later,
                row.server_cores,
                row.client_cores,
                row.canaries,
                row.visible_p50_ms,
                row.visible_p99_ms
            );
        }
    }

    fn print_goals(&self) {
        println!("\ngoals");
        let say =
            |holds: bool, what: String| println!("  {} {what}", if holds { "met:    " } else { "NOT MET:" });
        for row in &self.closed {
            let (name, value, goal) = match row.mix {
                "services" => ("spans", row.spans_a_cpu_second, GOAL_SPANS),
                _ => ("MB", row.mb_a_cpu_second, GOAL_MB),
            };
            let what = format!("{} {}: {value:.0} {name} a CPU second, goal {goal:.0}", row.mix, row.door);
            say(value >= goal, what);
        }
        for row in self.closed.iter().filter(|row| row.mix == "services") {
            let bytes = row.disk_bytes_a_span;
            say(
                bytes <= GOAL_DISK_BYTES,
                format!("{} {}: {bytes:.1} B a span on the disk, goal {GOAL_DISK_BYTES}", row.mix, row.door),
            );
        }
        for row in &self.open {
            let slow = row.visible_p99_ms;
            let what = format!(
                "{} {} at {:.0} spans/s: p99 {slow:.1} ms until visible, goal {GOAL_VISIBLE_MS}",
                row.mix, row.door, row.rate
            );
            say(slow <= GOAL_VISIBLE_MS, what);
            let at = format!("{} {} at {:.0} spans/s", row.mix, row.door, row.rate);
            say(row.p99_ms <= GOAL_ACK_MS, format!("{at}: p99 {:.1} ms, goal {GOAL_ACK_MS}", row.p99_ms));
            if row.mix == "services" && row.rate <= super::run::GOAL_RATE {
                let mib = row.rss_peak_mib;
                say(mib <= GOAL_RSS_MIB, format!("{at}: {mib:.0} MiB at most, goal {GOAL_RSS_MIB}"));
            }
        }
        for row in self.closed.iter().filter(|row| row.client_cpu_seconds > row.server_cpu_seconds / 3.0) {
            println!(
                "  note: the generator used {:.1} CPU seconds beside the server's {:.1} ({} {}): spans/s is short of the server's maximum, spans/CPU-s is not",
                row.client_cpu_seconds, row.server_cpu_seconds, row.mix, row.door
            );
        }
    }

    /// What makes the figures worthless: a reading of zero, or spans that are not where they should be.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.closed.is_empty() {
            faults.push("nothing was measured".to_owned());
        }
        for row in &self.closed {
            let name = format!("{} {} closed", row.mix, row.door);
            let readings = [
                ("spans a second", row.spans_a_second),
                ("spans a second in files", row.kept_up_a_second),
                ("CPU seconds of the server", row.server_cpu_seconds),
                ("CPU seconds of the client", row.client_cpu_seconds),
                ("p50", row.p50_ms),
                ("p99", row.p99_ms),
                ("RSS before", row.rss_before_mib),
                ("RSS after", row.rss_after_mib),
                ("RSS peak", row.rss_peak_mib),
                ("bytes on the disk", row.disk_bytes_a_span),
            ];
            zeros(&name, &readings, &mut faults);
            unequal(&name, row.sent, row.acknowledged, "acknowledged", &mut faults);
            unequal(&name, row.acknowledged, row.stored, "counted by SQL", &mut faults);
            unequal(&name, row.acknowledged, row.stored_in_files, "in Parquet files", &mut faults);
        }
        for row in &self.open {
            let name = format!("{} {} open at {:.0}", row.mix, row.door, row.rate);
            let readings = [
                ("spans a second", row.reached),
                ("p50", row.p50_ms),
                ("p99", row.p99_ms),
                ("CPU of the server", row.server_cores),
                ("time until visible", row.visible_p50_ms),
            ];
            zeros(&name, &readings, &mut faults);
            unequal(&name, row.acknowledged, row.stored, "counted by SQL", &mut faults);
            unequal(&name, row.acknowledged, row.stored_in_files, "in Parquet files", &mut faults);
        }
        faults
    }
}

fn zeros(name: &str, readings: &[(&str, f64)], faults: &mut Vec<String>) {
    for (what, value) in readings {
        if !(value.is_finite() && *value > 0.0) {
            faults.push(format!("{name}: {what} reads {value}"));
        }
    }
}

fn unequal(name: &str, expected: u64, found: u64, what: &str, faults: &mut Vec<String>) {
    if expected != found {
        faults.push(format!("{name}: {found} spans {what}, should be {expected}"));
    }
}
