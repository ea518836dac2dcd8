//! Offline scoring: JSON lines in, JSON lines out.

use super::parallel;
use crate::app::Askers;
use crate::config::Config;
use crate::detect::Policy;
use crate::domain::time::{Clock, SystemClock};
use crate::eval::{Evaluator, OfflineRow, Registry, score_line};
use crate::stats::confusion::Confusion;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

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
    /// Configuration file, for thresholds, canaries, LLM judges and plug-ins.
    #[arg(long)]
    config: Option<PathBuf>,
}

/// Longest line, bytes: the same limit as an OTLP request.
const MAX_LINE: u64 = 64 << 20;

/// Lines, and bytes of them, that are scored before any of them is written.
const CHUNK_LINES: usize = 512;
const CHUNK_BYTES: usize = 32 << 20;

/// Lines at once whose evaluators wait for a judge or plug-in.
const MAX_WAITING: usize = 64;

/// A larger confusion matrix is not printed.
const MAX_LABELS: usize = 12;

/// Runs it, on a thread of a runtime that may block. Exit code 3 if some lines did not parse.
pub fn run(args: ScoreArgs) -> ExitCode {
    let config = match Config::load(args.config.as_deref()) {
        Ok(config) => config,
        Err(error) => return fail(2, &error.to_string()),
    };
    let (workers, policy) = (config.score.worker_count(), Arc::new(Policy::new(&config.detect)));
    let registry = match Registry::with_policy(&config.eval, workers, &policy) {
        Ok(registry) => registry,
        Err(error) => return fail(1, &error.to_string()),
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let askers = match Askers::open(&config, &registry, &clock) {
        Ok(askers) => askers,
        Err(error) => return fail(2, &error.to_string()),
    };
    let registry = registry.with(askers.evaluators(), &config.eval);
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
    let mut summary = Confusion::default();
    let runtime = tokio::runtime::Handle::current();
    let waits = evaluators.iter().any(|evaluator| evaluator.waits().is_some());
    let workers = if waits { workers.max(askers.at_once().min(MAX_WAITING)) } else { workers };
    let job = Job { registry: &registry, evaluators: &evaluators, workers, runtime: &runtime };
    let scored = score_all(input, &mut output, &bar, &job, &mut summary);
    runtime.block_on(askers.plugins.stop());
    bar.finish_and_clear();
    if summary.total() > 0 {
        eprint!("{}", confusion_table(&summary));
    }
    match scored {
        Ok(0) => ExitCode::SUCCESS,
        Ok(bad) => fail(3, &format!("{bad} line(s) did not parse; each has a row with status error")),
        Err(error) => fail(1, &error.to_string()),
    }
}

/// What every line is scored with.
struct Job<'a> {
    registry: &'a Registry,
    evaluators: &'a [Arc<dyn Evaluator>],
    workers: usize,
    /// What those run on that wait for others.
    runtime: &'a tokio::runtime::Handle,
}

fn score_all(
    mut input: Box<dyn BufRead>,
    output: &mut dyn Write,
    bar: &ProgressBar,
    job: &Job<'_>,
    summary: &mut Confusion,
) -> io::Result<u64> {
    let (mut number, mut bad) = (0usize, 0u64);
    loop {
        let lines = read_chunk(&mut input, &mut number)?;
        if lines.is_empty() {
            break;
        }
        let scored = parallel::map(&lines, job.workers, |_, (number, line)| {
            let text = String::from_utf8_lossy(line);
            let _entered = job.runtime.enter();
            let result = match text.trim() {
                "" => (true, Vec::new()),
                text => score_line(job.registry, job.evaluators, *number, text),
            };
            bar.inc(line.len() as u64);
            result
        });
        for (parsed, rows) in scored {
            bad += u64::from(!parsed);
            for row in rows {
                count(&row, summary);
                serde_json::to_writer(&mut *output, &row)?;
                output.write_all(b"\n")?;
            }
        }
        output.flush()?;
    }
    Ok(bad)
}

/// The next lines with their numbers, as many as are scored before any of them is written.
fn read_chunk(input: &mut dyn BufRead, number: &mut usize) -> io::Result<Vec<(usize, Vec<u8>)>> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    while lines.len() < CHUNK_LINES && bytes < CHUNK_BYTES {
        let mut line = Vec::new();
        let read = io::Read::take(&mut *input, MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        *number += 1;
        bytes += read;
        lines.push((*number, line));
    }
    Ok(lines)
}

/// Counts the label `expected -> answered` of a classification.
fn count(row: &OfflineRow, summary: &mut Confusion) {
    let label = row.label.as_deref().filter(|_| row.evaluator == "classification");
    if let Some((expected, answered)) = label.and_then(|label| label.split_once(" -> ")) {
        summary.add(expected, answered);
    }
}

/// The figures of each label, their macro average, and the confusion matrix of up to [`MAX_LABELS`] labels.
fn confusion_table(summary: &Confusion) -> String {
    let labels = summary.labels();
    let mut out = format!("{:24} {:>9} {:>9} {:>9}\n", "label", "precision", "recall", "f1");
    let mut line = |name: &str, q: crate::stats::confusion::LabelQuality| {
        out += &format!("{name:24} {:>9.3} {:>9.3} {:>9.3}\n", q.precision, q.recall, q.f1);
    };
    labels.iter().take(MAX_LABELS).for_each(|label| line(label, summary.of(label)));
    if let Some(mean) = summary.macro_average() {
        line("macro average", mean);
    }
    out += &format!("accuracy {:.3} of {}\n", summary.accuracy().unwrap_or_default(), summary.total());
    if labels.len() <= MAX_LABELS {
        out += "expected \\ answered";
        labels.iter().for_each(|label| out += &format!("\t{label}"));
        for expected in &labels {
            out += &format!("\n{expected}");
            labels.iter().for_each(|answered| out += &format!("\t{}", summary.count(expected, answered)));
        }
        out += "\n";
    }
    out
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
