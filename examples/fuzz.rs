//! The long form of the fuzz test on stable Rust: mutations of real requests through the bodies of the fuzz targets.
//!
//! `cargo run --release --example fuzz -- --seconds 60 [--target sql] [--seed 7]`. A finding is written to a file; exit
//! code 1 if there was one.

#![expect(clippy::expect_used, reason = "a panic is a finding")]

#[expect(dead_code, reason = "libFuzzer calls targets by name")]
#[path = "../fuzz/bodies.rs"]
mod bodies;
#[path = "../fuzz/engine.rs"]
mod engine;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Args {
    /// How long, seconds, shared by the targets.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// One target only.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(bodies::TARGETS.iter().map(|(name, _)| *name)))]
    target: Option<String>,
    /// The seed; the time if left out.
    #[arg(long)]
    seed: Option<u64>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    // As large as the stack of a query's thread.
    let work = std::thread::Builder::new().stack_size(16 << 20).spawn(move || fuzz(&args));
    work.map_or(ExitCode::from(1), |work| work.join().unwrap_or(ExitCode::from(1)))
}

fn fuzz(args: &Args) -> ExitCode {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let seed = args.seed.unwrap_or(now.as_secs());
    let wanted = |name: &str| args.target.as_deref().is_none_or(|target| target == name);
    let targets: Vec<_> = bodies::TARGETS.iter().filter(|(name, _)| wanted(name)).collect();
    let share = Duration::from_secs(args.seconds) / u32::try_from(targets.len()).unwrap_or(1);
    let bar = ProgressBar::new(args.seconds * 1_000);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent}% {msg}") {
        bar.set_style(style);
    }
    // Panics are findings and told as such, once.
    std::panic::set_hook(Box::new(|_| ()));
    let mut findings = 0;
    for (at, (name, body)) in (0..).zip(&targets) {
        let corpus = bodies::corpus(name, Path::new(env!("CARGO_MANIFEST_DIR")));
        let began = Instant::now();
        let until = |rounds: u64| {
            bar.set_position(u64::try_from((share * at + began.elapsed()).as_millis()).unwrap_or(0));
            bar.set_message(format!("{name}, {rounds} inputs"));
            began.elapsed() > share
        };
        match engine::run(name, *body, &corpus, seed, until) {
            Ok(done) => bar.suspend(|| {
                println!(
                    "{name:16} {:>8} inputs, slowest {:?}, longest {} bytes",
                    done.rounds, done.slowest, done.longest
                );
            }),
            Err(found) => {
                findings += 1;
                let file = std::env::temp_dir()
                    .join(format!("groundline-fuzz-{name}-{}-{}", found.seed, found.round));
                let written = std::fs::write(&file, &found.input);
                bar.suspend(|| {
                    println!("{name:16} {}: seed {seed}, {} {written:?}", found.what, file.display())
                });
            }
        }
    }
    bar.finish_and_clear();
    bodies::clean();
    println!("seed {seed}, {findings} findings");
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
