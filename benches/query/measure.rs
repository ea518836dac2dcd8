//! First run and median of the warm ones, and the report.

use crate::Failed;
use crate::cases::Case;
use crate::common::system;
use crate::fill::Filled;
use std::time::Instant;

/// What one engine needed for one query.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The first run, milliseconds.
    pub first_ms: f64,
    /// Median of the warm runs, milliseconds.
    pub median_ms: f64,
    /// The slowest warm run, milliseconds.
    pub worst_ms: f64,
    /// CPU of this process a warm run, milliseconds; 0 where it was not measured.
    pub cpu_ms: f64,
    /// Rows that the first run gave.
    pub rows: u64,
}

/// Another engine's timings, in the order of the cases; `None` for a query that it could not answer.
pub struct Peer {
    /// Its name and version.
    pub name: String,
    /// What it needed.
    pub timings: Vec<Option<Timing>>,
}

/// `case` as `engine` spells it, for run number `run`.
pub fn query(spelling: &str, filled: &Filled, run: usize) -> String {
    spelling.replace("{trace}", &filled.traces[run % filled.traces.len()])
}

/// Asks our own SQL.
pub async fn ours(filled: &Filled, cases: &[Case], runs: usize) -> Result<Vec<Timing>, Failed> {
    let mut timings = Vec::new();
    for case in cases {
        let (mut times, mut rows, mut cpu) = (Vec::new(), 0, 0.0);
        for run in 0..=runs {
            let text = query(case.ours, filled, run);
            if run == 1 {
                cpu = system::cpu_seconds(std::process::id());
            }
            let started = Instant::now();
            let (_, batches) = filled.sql.collect(&text).await?;
            times.push(started.elapsed().as_secs_f64() * 1_000.0);
            if run == 0 {
                rows = batches.iter().map(|b| b.num_rows() as u64).sum();
            }
        }
        let cpu = (system::cpu_seconds(std::process::id()) - cpu) * 1_000.0 / runs as f64;
        timings.push(timing(&times, rows, cpu));
    }
    Ok(timings)
}

/// The first of `times` and the median of the others.
pub fn timing(times: &[f64], rows: u64, cpu_ms: f64) -> Timing {
    let mut warm = times[1..].to_vec();
    warm.sort_by(f64::total_cmp);
    Timing {
        first_ms: times[0],
        median_ms: warm[warm.len() / 2],
        worst_ms: warm[warm.len() - 1],
        cpu_ms,
        rows,
    }
}

/// Prints all timings beside the goals. Gives what makes them worthless.
pub fn print(filled: &Filled, cases: &[Case], ours: &[Timing], theirs: &[Peer]) -> Vec<String> {
    let mut faults = Vec::new();
    println!(
        "\n{} spans in {} files; first run / median of warm runs / slowest, milliseconds; CPU of a warm run",
        filled.spans,
        filled.files.len()
    );
    print!("{:<28}{:>30}{:>9}{:>7}  {:<10}", "query", "groundline", "CPU ms", "rows", "goal");
    theirs.iter().for_each(|peer| print!("{:>30}{:>8}", peer.name, "ratio"));
    println!();
    for (at, (case, our)) in cases.iter().zip(ours).enumerate() {
        let goal = match case.goal_ms {
            Some(goal) if our.median_ms <= goal => format!("< {goal} met"),
            Some(goal) => format!("< {goal} NOT"),
            None => "-".to_owned(),
        };
        print!("{:<28}{:>30}{:>9.1}{:>7}  {:<10}", case.name, three(our), our.cpu_ms, our.rows, goal);
        for peer in theirs {
            match &peer.timings[at] {
                Some(their) => print!("{:>30}{:>7.2}x", three(their), their.median_ms / our.median_ms),
                None => print!("{:>30}{:>8}", "no answer", "-"),
            }
        }
        println!();
        if our.rows == 0 || our.median_ms <= 0.0 {
            faults.push(format!("{}: {} rows in {} ms", case.name, our.rows, our.median_ms));
        }
        for peer in theirs {
            if let Some(their) = &peer.timings[at]
                && their.rows != our.rows
            {
                faults.push(format!("{}: {} rows, {} has {}", case.name, our.rows, peer.name, their.rows));
            }
        }
    }
    if !theirs.is_empty() {
        println!("ratio: their warm median by ours; above 1 ours is faster");
    }
    faults
}

fn three(timing: &Timing) -> String {
    format!("{:.1} / {:.1} / {:.1}", timing.first_ms, timing.median_ms, timing.worst_ms)
}

/// The figures as JSON.
pub fn json(filled: &Filled, cases: &[Case], ours: &[Timing], theirs: &[Peer]) -> String {
    let row = |t: &Timing| serde_json::json!({"first_ms": t.first_ms, "median_ms": t.median_ms, "worst_ms": t.worst_ms, "cpu_ms": t.cpu_ms, "rows": t.rows});
    let queries: Vec<_> = cases.iter().enumerate().map(|(at, case)| {
        let peers: serde_json::Map<String, serde_json::Value> =
            theirs.iter().map(|p| (p.name.clone(), serde_json::json!(p.timings[at].as_ref().map(row)))).collect();
        serde_json::json!({"query": case.name, "goal_ms": case.goal_ms, "groundline": row(&ours[at]), "peers": peers})
    }).collect();
    let all = serde_json::json!({"spans": filled.spans, "files": filled.files.len(), "machine": system::machine(), "queries": queries});
    serde_json::to_string_pretty(&all).unwrap_or_default()
}
