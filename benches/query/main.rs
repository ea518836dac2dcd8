//! How fast SQL answers over a million spans or more, and where their bytes are.
//! `cargo bench --bench query -- --help`; README.md beside it explains.
//!
//! | file | what |
//! |---|---|
//! | `args` | the command line |
//! | `fill` | a lake of generated spans, through the product's own receiver, journal and flush loop |
//! | `cases` | the queries, and how other engines spell them |
//! | `measure` | first run and median of the warm ones |
//! | `peers` | DuckDB and chdb over the same files |
//! | `bytes` | the bytes of each column |
//! | `console` | the console's statements over spans and scores |
//! | `scores` | the quality aggregates beside `avg` |

mod args;
mod bytes;
mod cases;
#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "the harnesses share it, and neither uses all of it")]
mod common;
mod console;
mod fill;
mod measure;
mod peers;
#[path = "../common/python.rs"]
mod python;
mod scores;

use args::Args;
use clap::Parser;
use std::process::ExitCode;

/// What goes wrong in a measurement ends it.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(&args)));
    match done {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            faults.iter().for_each(|fault| eprintln!("FAULT: {fault}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("the measurement could not be made: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(args: &Args) -> Result<Vec<String>, Failed> {
    println!("machine: {}", common::system::machine());
    if args.console {
        return console::measure(args).await;
    }
    if args.scores > 0 {
        return scores::measure(args).await;
    }
    let filled = fill::fill(args).await?;
    let mut faults = bytes::print(&filled, args.columns)?;
    let mut cases = cases::all(&filled);
    cases.retain(|case| args.only.as_ref().is_none_or(|only| case.name.contains(only)));
    let ours = measure::ours(&filled, &cases, args.runs).await?;
    let theirs = if args.peers { peers::measure(&filled, &cases, args.runs)? } else { Vec::new() };
    faults.extend(measure::print(&filled, &cases, &ours, &theirs));
    if let Some(file) = &args.json {
        std::fs::write(file, measure::json(&filled, &cases, &ours, &theirs))?;
    }
    Ok(faults)
}
