//! How much a server takes in: spans a second, spans per CPU second of the server, acknowledgement times, memory, bytes on
//! the disk, and the time until SQL sees a span. `cargo bench --bench ingest -- --help`; README.md beside it explains.
//!
//! | file | what |
//! |---|---|
//! | `args` | the command line |
//! | `server` | the server as a child process, and what it has stored |
//! | `client` | sends encoded requests over gRPC or HTTP |
//! | `load` | closed loop and open loop |
//! | `visible` | how long until SQL sees an acknowledged span |
//! | `peers` | the same load against other servers |
//! | `run` | one measurement from start to stop |
//! | `report` | tables, goals, JSON, and what fails the run |

mod args;
mod client;
#[path = "../common/mod.rs"]
mod common;
mod load;
mod peers;
mod report;
mod run;
mod server;
mod visible;

use args::Args;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let measured = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run::all(&args)));
    let report = match measured {
        Ok(report) => report,
        Err(error) => {
            eprintln!("the measurement could not be made: {error}");
            return ExitCode::from(2);
        }
    };
    report.print();
    if let Some(file) = &args.json
        && let Err(error) = std::fs::write(file, report.json())
    {
        eprintln!("{}: {error}", file.display());
        return ExitCode::from(2);
    }
    let faults = report.faults();
    for fault in &faults {
        eprintln!("FAULT: {fault}");
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
