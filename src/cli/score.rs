//! Offline scoring: JSON lines in, JSON lines out.

use crate::config::Config;
use crate::score::{Registry, score_line};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// Evaluators by id, comma separated; `*` for all.
    #[arg(long, value_delimiter = ',', required = true)]
    evaluator: Vec<String>,
    /// Input file; standard input if left out.
    #[arg(long)]
    input: Option<PathBuf>,
    /// Output file; standard output if left out.
    #[arg(long)]
    output: Option<PathBuf>,
    /// Configuration file, for thresholds and canaries.
    #[arg(long)]
    config: Option<PathBuf>,
}

/// Longest line, bytes: the same limit as an OTLP request.
const MAX_LINE: u64 = 64 << 20;

/// Runs it. Exit code 3 if some lines did not parse.
pub fn run(args: ScoreArgs) -> ExitCode {
    let config = match Config::load(args.config.as_deref()) {
        Ok(config) => config,
        Err(error) => return fail(2, &error.to_string()),
    };
    let registry = match Registry::new(&config.score) {
        Ok(registry) => registry,
        Err(error) => return fail(1, &error.to_string()),
    };
    let evaluators = match registry.select(&args.evaluator) {
        Ok(evaluators) => evaluators,
        Err(error) => return fail(2, &error.to_string()),
    };
    let (input, length) = match open(args.input.as_ref()) {
        Ok(opened) => opened,
        Err(error) => return fail(2, &error),
    };
    let mut output: Box<dyn Write> = match &args.output {
        None => Box::new(BufWriter::new(io::stdout().lock())),
        Some(path) => match File::create(path) {
            Ok(file) => Box::new(BufWriter::new(file)),
            Err(error) => return fail(2, &format!("{}: {error}", path.display())),
        },
    };
    let bar = progress(length, args.output.is_some());
    let scored =
        score_all(input, &mut output, &bar, |number, line| score_line(&registry, &evaluators, number, line));
    bar.finish_and_clear();
    match scored {
        Ok(0) => ExitCode::SUCCESS,
        Ok(bad) => fail(3, &format!("{bad} line(s) did not parse; each has a row with status error")),
        Err(error) => fail(1, &error.to_string()),
    }
}

fn score_all(
    mut input: Box<dyn BufRead>,
    output: &mut dyn Write,
    bar: &ProgressBar,
    mut score: impl FnMut(usize, &str) -> (bool, Vec<crate::score::OfflineRow>),
) -> io::Result<u64> {
    let (mut number, mut bad, mut line) = (0usize, 0u64, Vec::new());
    loop {
        line.clear();
        let read = io::Read::take(&mut input, MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        number += 1;
        bar.inc(read as u64);
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let (parsed, rows) = score(number, text.trim());
        bad += u64::from(!parsed);
        for row in rows {
            serde_json::to_writer(&mut *output, &row)?;
            output.write_all(b"\n")?;
        }
    }
    output.flush()?;
    Ok(bad)
}

fn open(path: Option<&PathBuf>) -> Result<(Box<dyn BufRead>, Option<u64>), String> {
    let Some(path) = path else { return Ok((Box::new(BufReader::new(io::stdin())), None)) };
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let length = file.metadata().ok().map(|m| m.len());
    Ok((Box::new(BufReader::new(file)), length))
}

/// A bar on a terminal; nothing where the rows themselves go to the terminal, or where nobody looks.
fn progress(length: Option<u64>, output_is_file: bool) -> ProgressBar {
    let watched = io::stderr().is_terminal() && (output_is_file || !io::stdout().is_terminal());
    if !watched {
        return ProgressBar::hidden();
    }
    let bar = length.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {elapsed} eta {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

fn fail(code: u8, message: &str) -> ExitCode {
    eprintln!("groundline score: {message}");
    ExitCode::from(code)
}
