//! DuckDB and chdb over the same files, in a Python process of their own.

use crate::Failed;
use crate::cases::Case;
use crate::fill::Filled;
use crate::measure::{Peer, timing};
use crate::python::python;
use serde::Deserialize;
use std::io::Write;
use std::process::{Command, Stdio};

/// With `pytz`, without which DuckDB gives no timestamps to Python.
const PACKAGES: [&str; 3] = ["duckdb==2.0.0", "chdb==4.4.0", "pytz"];

#[derive(Deserialize)]
struct Answer {
    name: String,
    timings: Vec<Timings>,
}

#[derive(Deserialize)]
struct Timings {
    times: Vec<f64>,
    rows: u64,
    error: Option<String>,
}

/// Asks both the same queries.
pub fn measure(filled: &Filled, cases: &[Case], runs: usize) -> Result<Vec<Peer>, Failed> {
    let python = python("import duckdb, chdb, pytz", &PACKAGES)?;
    let cases: Vec<_> =
        cases.iter().map(|c| serde_json::json!({"duckdb": c.duckdb, "chdb": c.chdb})).collect();
    let job =
        serde_json::json!({"files": filled.files, "traces": filled.traces, "runs": runs, "cases": cases});
    let mut child = Command::new(python)
        .args(["-c", include_str!("peers.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("no standard input")?.write_all(job.to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("the peers' Python ended with {}", output.status).into());
    }
    let answers: Vec<Answer> = serde_json::from_slice(&output.stdout)?;
    let peers = answers.into_iter().map(|answer| {
        let timings = answer.timings.into_iter().map(|t| match t.error {
            None if t.times.len() > 1 => Some(timing(&t.times, t.rows, 0.0)),
            error => {
                eprintln!("{}: {}", answer.name, error.unwrap_or_default());
                None
            }
        });
        Peer { name: answer.name.clone(), timings: timings.collect() }
    });
    Ok(peers.collect())
}
