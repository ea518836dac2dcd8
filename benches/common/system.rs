//! What Linux says of a process, and how long the disk takes to be sure.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Clock ticks a second of `/proc/PID/stat`: 100 on every Linux that Rust supports.
const TICKS: f64 = 100.0;

/// CPU seconds of a process, user and system, with the children that it has waited for. Also of one that has ended and
/// that nobody has waited for yet.
pub fn cpu_seconds(pid: u32) -> f64 {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return 0.0 };
    // The second field is the name in brackets and may have blanks.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (11..15).map(ticks).sum::<f64>() / TICKS
}

/// CPU seconds of a process and of all that descend from it.
pub fn cpu_seconds_of_tree(pid: u32) -> f64 {
    tree(pid).into_iter().map(cpu_seconds).sum()
}

/// A field of `/proc/PID/status` of a process and all that descend from it, in MiB.
pub fn status_mib(pid: u32, field: &str) -> f64 {
    tree(pid).into_iter().map(|pid| status_kib(pid, field) / 1024.0).sum()
}

fn status_kib(pid: u32, field: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}

/// Whether a process has ended, whether or not somebody has waited for it.
pub fn has_ended(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// The process and all that descend from it.
pub fn tree(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut at = 0;
    while let Some(parent) = all.get(at).copied() {
        for task in fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|c| c.parse::<u32>().ok()));
        }
        at += 1;
    }
    all
}

/// Every file below `folder`.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The median time of writing 64 KiB and waiting until they are on the disk, in `folder`.
pub fn sync_time(folder: &Path) -> std::io::Result<Duration> {
    let mut file = tempfile::tempfile_in(folder)?;
    let mut times = Vec::new();
    for _ in 0..15 {
        let started = Instant::now();
        file.write_all(&[7; 64 << 10])?;
        file.sync_data()?;
        times.push(started.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}

/// What the machine is.
pub fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("?").to_owned();
    format!(
        "{cores} cores,{}; load before the run {load}",
        model.trim_start_matches([' ', '\t', ':']).trim_end()
    )
}
