//! How fast the models are: sentences and passages embedded a second, and CPU time of an answer's evaluation.
//! `cargo bench --bench models -- --help`
//!
//! | file | what |
//! |---|---|
//! | `answers` | an answer of five sentences on three documents |
//! | `peer` | ONNX Runtime on the same file, in the same run |
//! | `tokenizers` | our tokenizers beside Hugging Face's library |
//! | `eval` | our tokenizers, from the product's files |

mod answers;
#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "the harnesses share it, and none uses all of it")]
mod common;
mod eval;
mod peer;
#[path = "../common/python.rs"]
mod python;
mod tokenizers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use common::{random::Random, system, text::Words};
use groundline::eval::Models;

/// What goes wrong in a measurement ends it.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Measures the models that the program carries.
#[derive(Debug, Parser)]
#[command(name = "models")]
struct Args {
    /// How long each figure is measured, seconds.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Ask ONNX Runtime the same (Python in ~/.cache/groundline-bench-venv; installed if missing).
    #[arg(long)]
    peer: bool,
    /// Compare the tokenizers with Hugging Face's library instead.
    #[arg(long)]
    tokenizers: bool,
    /// The texts of the .jsonl.gz files in a folder, for --tokenizers; texts of its own without.
    #[arg(long, requires = "tokenizers")]
    texts: Option<PathBuf>,
    /// Cargo passes it; it says nothing.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What was done in a time.
pub struct Rate {
    /// Texts a second of wall time.
    pub wall: f64,
    /// Texts a second of CPU time.
    pub cpu: f64,
}

/// Lengths that are measured, in tokens with the two special ones, and how many texts are given at once.
pub const SHAPES: [(&str, usize, usize); 2] =
    [("sentences of 25 tokens", 27, 64), ("passages of 254 tokens", 256, 16)];

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the measurement could not be made: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<(), Failed> {
    println!("machine: {}", system::machine());
    if args.tokenizers {
        return tokenizers::print(args);
    }
    let cores = std::thread::available_parallelism()?.get();
    let models = Models::embedded(cores)?;
    println!(
        "\n{:<28}{:>14}{:>14}{:>22}{:>8}",
        "embedded", "a second", "a CPU-second", "ONNX Runtime, second", "ratio"
    );
    for (name, tokens, batch) in SHAPES {
        let ours = embedded(&models, tokens, batch * cores, args.seconds)?;
        let theirs = if args.peer { Some(peer::embedded(tokens, batch, cores, args.seconds)?) } else { None };
        let (their, ratio) =
            theirs.map_or(("-".into(), "-".into()), |t| (format!("{t:.0}"), format!("{:.2}", ours.wall / t)));
        println!("{name:<28}{:>14.0}{:>14.0}{their:>22}{ratio:>8}", ours.wall, ours.cpu);
    }
    answers::print(args.seconds)
}

/// Texts of so many tokens, each new, by all cores.
fn embedded(models: &Arc<Models>, tokens: usize, batch: usize, seconds: f64) -> Result<Rate, Failed> {
    let (words, mut random) = (Words::new(), Random::new(7));
    let mut text = || {
        let long = words.text(&mut random, tokens * 12);
        let mut cut: Vec<&str> = long.split_whitespace().collect();
        while models.encoder.token_count(&cut.join(" ")) > tokens - 2 {
            cut.pop();
        }
        cut.join(" ")
    };
    let rounds: Vec<Vec<String>> = (0..12).map(|_| (0..batch).map(|_| text()).collect()).collect();
    models.encoder.embed(&rounds[0])?;
    let (start, cpu) = (Instant::now(), system::cpu_seconds(std::process::id()));
    let (mut done, mut round) = (0usize, 0usize);
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        // A mark of its own makes each text new to the cache.
        let texts: Vec<String> = rounds[round % rounds.len()]
            .iter()
            .map(|text| format!("{text}{}", " ".repeat(1 + round / rounds.len())))
            .collect();
        models.encoder.embed(&texts)?;
        done += texts.len();
        round += 1;
    }
    let cpu = system::cpu_seconds(std::process::id()) - cpu;
    if done == 0 || cpu <= 0.0 {
        return Err("nothing was embedded".into());
    }
    Ok(Rate { wall: done as f64 / start.elapsed().as_secs_f64(), cpu: done as f64 / cpu })
}
