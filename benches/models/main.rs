//! How fast the models are: sentences and passages embedded a second, and CPU time of an answer's evaluation.
//! `cargo bench --bench models -- --help`
//!
//! | file | what |
//! |---|---|
//! | `answers` | an answer of five sentences on three documents |
//! | `graph` | the runtime of users' files on the same file |
//! | `peer` | ONNX Runtime on the same file, in the same run |
//! | `tokenizers` | our tokenizers beside Hugging Face's library |
//! | `eval` | our tokenizers, from the product's files |

mod answers;
#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "the harnesses share it, and none uses all of it")]
mod common;
mod eval;
mod graph;
mod peer;
#[path = "../common/python.rs"]
mod python;
mod tokenizers;

use std::path::PathBuf;
use std::process::ExitCode;
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
    let (models, graph) = (Models::embedded(cores)?, graph::open(cores)?);
    println!("\n{:<28}{:>18}{:>18}{:>8}", "embedded", "a second", "a CPU-second", "ratio");
    for (name, tokens, batch) in SHAPES {
        let texts = Texts::new(&models, tokens, batch * cores);
        let measured =
            |embed: &dyn Fn(&[String]) -> Result<(), Failed>| embedded(&texts, args.seconds, embed);
        let ours = measured(&|texts| Ok(models.encoder.embed(texts).map(drop)?))?;
        println!("{name:<28}{:>18.0}{:>18.0}", ours.wall, ours.cpu);
        let other = measured(&|texts| Ok(graph.similarity().embed(texts).map(drop)?))?;
        let ratio = ours.cpu / other.cpu;
        println!("{:<28}{:>18.0}{:>18.0}{ratio:>8.2}", "  as a file of a user (rten)", other.wall, other.cpu);
        if args.peer {
            let theirs = peer::embedded(tokens, batch, cores, args.seconds)?;
            println!("{:<28}{theirs:>18.0}{:>18}{:>8.2}", "  by ONNX Runtime", "-", ours.wall / theirs);
        }
    }
    answers::print(args.seconds)
}

/// Rounds of texts of so many tokens.
struct Texts(Vec<Vec<String>>);

impl Texts {
    fn new(models: &Models, tokens: usize, batch: usize) -> Self {
        let (words, mut random) = (Words::new(), Random::new(7));
        let mut text = || {
            let long = words.text(&mut random, tokens * 12);
            let mut cut: Vec<&str> = long.split_whitespace().collect();
            while models.encoder.token_count(&cut.join(" ")) > tokens - 2 {
                cut.pop();
            }
            cut.join(" ")
        };
        Self((0..12).map(|_| (0..batch).map(|_| text()).collect()).collect())
    }
}

/// Each text new, by all cores.
fn embedded(
    Texts(rounds): &Texts,
    seconds: f64,
    embed: &dyn Fn(&[String]) -> Result<(), Failed>,
) -> Result<Rate, Failed> {
    embed(&rounds[0])?;
    let (start, cpu) = (Instant::now(), system::cpu_seconds(std::process::id()));
    let (mut done, mut round) = (0usize, 0usize);
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        // A mark of its own makes each text new to the cache.
        let texts: Vec<String> = rounds[round % rounds.len()]
            .iter()
            .map(|text| format!("{text}{}", " ".repeat(1 + round / rounds.len())))
            .collect();
        embed(&texts)?;
        done += texts.len();
        round += 1;
    }
    let cpu = system::cpu_seconds(std::process::id()) - cpu;
    if done == 0 || cpu <= 0.0 {
        return Err("nothing was embedded".into());
    }
    Ok(Rate { wall: done as f64 / start.elapsed().as_secs_f64(), cpu: done as f64 / cpu })
}
