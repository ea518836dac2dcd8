//! What the intervals of `stats` hold, by simulation from a seed: `cargo run --release --example simulate`.
//!
//! | file | what |
//! |---|---|
//! | `coverage` | how often the interval of a rate holds the rate |
//! | `exact` | the same for equal weights, without chance, and what any interval could hold |
//! | `steered` | the same where the outcome goes with the weight, by chance or by stratum |
//! | `clustered` | the same where items of a trace are alike |
//! | `intervals` | other intervals of weighted rates, on the samples of `coverage` |
//! | `drift` | false alarms and delays of alarms that are looked at after every score |
//! | `lab` | how often the interval of a difference between two experiments holds it, and false alarms |
//! | `alerts` | false alarms of alerts as they run: learned baselines, windows, slices |
//! | `ppi` | width and coverage of corrected rates beside the evaluator alone and the labels alone |
//! | `work` | many simulations on all cores, with a progress bar |
//! | `svg` | curves as pictures |
//!
//! `docs/statistics.md` has its tables. `cargo test --lib stats` holds small versions of them.

mod alerts;
mod clustered;
mod coverage;
mod drift;
mod exact;
mod intervals;
mod lab;
mod ppi;
mod steered;
mod svg;
mod work;

use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Simulates samples and prints what intervals hold.
#[derive(Debug, Parser)]
#[command(name = "simulate")]
struct Args {
    /// Simulated samples for each cell of a table.
    #[arg(long, default_value_t = 5_000)]
    runs: usize,
    /// Only this part.
    #[arg(long)]
    only: Option<Part>,
    /// The largest effective sample size of the coverage of rates.
    #[arg(long, default_value_t = 10_000)]
    max_n_eff: u32,
    /// The seed of all samples.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the curves there as SVG files.
    #[arg(long)]
    svg: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// What intervals of rates hold exactly, and what any interval could; nothing is simulated.
    Attainable,
    /// Intervals of rates under uniform and skewed designs.
    Coverage,
    /// The same where the outcome goes with the weight.
    Steered,
    /// The same where items of a trace are alike.
    Clustered,
    /// Rates corrected by labels.
    Ppi,
    /// Alarms on a rate.
    Drift,
    /// Paired differences of experiments.
    Lab,
    /// Alerts as they run.
    Alerts,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> std::io::Result<()> {
    let wanted = |part| args.only.is_none_or(|only| only == part);
    let started = Instant::now();
    if wanted(Part::Attainable) {
        exact::print();
    }
    if wanted(Part::Coverage) {
        coverage::print(args.runs, args.max_n_eff, args.seed);
    }
    if wanted(Part::Steered) {
        steered::print(args.runs, args.max_n_eff, args.seed);
    }
    if wanted(Part::Clustered) {
        clustered::print(args.runs, args.seed);
    }
    if wanted(Part::Ppi) {
        let cells = ppi::print(args.runs, args.seed);
        if let Some(folder) = &args.svg {
            std::fs::create_dir_all(folder)?;
            for (name, picture) in ppi::pictures(&cells) {
                std::fs::write(folder.join(name), picture)?;
            }
        }
    }
    if wanted(Part::Drift) {
        let pictures = drift::print(args.runs, args.seed);
        if let Some(folder) = &args.svg {
            std::fs::create_dir_all(folder)?;
            for (name, picture) in pictures {
                std::fs::write(folder.join(name), picture)?;
            }
        }
    }
    if wanted(Part::Lab) {
        lab::print(args.runs, args.seed);
    }
    if wanted(Part::Alerts) {
        alerts::print(args.runs, args.seed);
    }
    let seconds = started.elapsed().as_secs_f64();
    if args.only == Some(Part::Attainable) {
        println!("Nothing is simulated, {seconds:.0} s");
    } else {
        println!("{} samples a cell, seed {}, {seconds:.0} s", args.runs, args.seed);
    }
    Ok(())
}
