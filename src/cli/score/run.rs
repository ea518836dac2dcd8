//! Arguments, and one chunk after the other.

use super::super::evaluators::Scorers;
use super::aggregates::named;
use super::forecast::forecast;
use super::lines::{open, read_chunk, skip};
use super::output::Output;
use super::summary::Summary;
use crate::cli::pipe::{hung_up, put};
use crate::config::Config;
use crate::eval::parallel;
use crate::eval::{Evaluator, Registry, score_line};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// Evaluators by id, comma separated; `*` for all but those that run only where they are named, such as judges.
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
    /// Go on where a run into the same output file was stopped; the input must be the same.
    #[arg(long, requires = "output")]
    resume: bool,
    /// File for the aggregates of this run, a JSON object with the names that MLflow has for them.
    #[arg(long, conflicts_with = "resume")]
    metrics: Option<PathBuf>,
    /// Tell what judges would be asked and what that costs at most; ask nobody and write nothing.
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
}

/// Runs it, on a thread of a runtime that may block. Exit code 3 if some lines did not parse. That nothing was
/// scored because of errors is told.
pub fn run(args: ScoreArgs) -> ExitCode {
    let config = match Config::load(args.config.as_deref()) {
        Ok(config) => config,
        Err(error) => return fail(2, &error.to_string()),
    };
    let scorers = match Scorers::open(&config) {
        Ok(scorers) => scorers,
        Err((code, error)) => return fail(code, &error),
    };
    let evaluators = match scorers.select(&args.evaluator) {
        Ok(evaluators) => evaluators,
        Err((code, error)) => return fail(code, &error),
    };
    let (input, length) = match open(args.input.as_ref()) {
        Ok(opened) => opened,
        Err(error) => return fail(2, &error),
    };
    let workers = scorers.at_once(&evaluators);
    if args.dry_run {
        return match forecast(input, &evaluators, workers) {
            Ok((0, told)) => {
                put(told);
                ExitCode::SUCCESS
            }
            Ok((bad, told)) => {
                put(told);
                fail(3, &format!("{bad} line(s) do not parse"))
            }
            Err(error) => fail(1, &error.to_string()),
        };
    }
    let what =
        evaluators.iter().map(|evaluator| format!("{} {}", evaluator.id(), evaluator.version())).collect();
    let output = match &args.output {
        None => Ok(Output::standard(what)),
        Some(path) if args.resume => Output::resumed(path, what),
        Some(path) => Output::begun(path, what),
    };
    let mut output = match output {
        Ok(output) => output,
        Err(error) => return fail(2, &error),
    };
    let bar = progress(length, args.output.is_some());
    let runtime = tokio::runtime::Handle::current();
    let job = Job { registry: &scorers.registry, evaluators: &evaluators, workers, runtime: &runtime };
    let mut summary = Summary::default();
    let scored = score_all(input, &mut output, &bar, &job, &mut summary);
    scorers.stop();
    bar.finish_and_clear();
    if args.output.is_none() && scored.as_ref().is_err_and(hung_up) {
        return unread(args.metrics.as_deref());
    }
    eprint!("{}", summary.text());
    let bad = output.mark.bad;
    let scored = scored.and_then(|()| output.finish()).and_then(|()| match &args.metrics {
        None => Ok(()),
        Some(path) => std::fs::write(path, format!("{:#}\n", serde_json::json!(named(summary.aggregates())))),
    });
    match scored {
        Ok(()) => ended(bad, &summary),
        Err(error) => fail(1, &error.to_string()),
    }
}

/// All is written. Lines that did not parse are the only ones that end it with a code of their own.
fn ended(bad: u64, summary: &Summary) -> ExitCode {
    if let Some(errors) = summary.only_errors() {
        eprintln!("nothing was scored: {errors} row(s) have an error, none a score");
    }
    match bad {
        0 => ExitCode::SUCCESS,
        _ => fail(3, &format!("{bad} line(s) did not parse; each has a row with status error")),
    }
}

/// The reader of standard output had enough: what is left is not scored, and there are no aggregates of the whole input.
fn unread(metrics: Option<&Path>) -> ExitCode {
    match metrics {
        None => ExitCode::SUCCESS,
        Some(path) => {
            let path = path.display();
            fail(1, &format!("{path}: not written, because standard output was closed before all was scored"))
        }
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

/// Scores what the output does not have yet. After an error the output tells how far it came.
fn score_all(
    mut input: Box<dyn BufRead>,
    output: &mut Output,
    bar: &ProgressBar,
    job: &Job<'_>,
    summary: &mut Summary,
) -> io::Result<()> {
    let mut number = 0usize;
    let passed = skip(&mut input, output.mark.lines, &mut number)?;
    if (number, passed) != (output.mark.lines, output.mark.read) {
        return Err(io::Error::other(
            "the input is not the one that the run before read: its first lines differ",
        ));
    }
    bar.inc(passed);
    loop {
        let lines = read_chunk(&mut input, &mut number)?;
        if lines.is_empty() {
            return Ok(());
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
        let mut bad = 0;
        for (parsed, rows) in scored {
            bad += u64::from(!parsed);
            for row in rows {
                summary.add(&row);
                serde_json::to_writer(&mut *output, &row)?;
                output.write_all(b"\n")?;
            }
        }
        let read = lines.iter().map(|(_, line)| line.len() as u64).sum();
        output.chunk(number, read, bad)?;
    }
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
