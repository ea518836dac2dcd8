//! One dataset after the other.

use super::args::EvalbenchArgs;
use super::report;
use crate::config::Config;
use crate::detect::Policy;
use crate::eval::Registry;
use crate::eval::bench::{
    Dataset, Limits, Measured, Progress, datasets, identification, measure, read, spans, targets,
};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs it, on a thread of a runtime that may block. Exit code 3 if a file could not be read.
pub fn run(args: EvalbenchArgs) -> ExitCode {
    if let Some(path) = &args.labels {
        return super::labels::run(&args, path);
    }
    let (config, found) = match prepare(&args) {
        Ok(prepared) => prepared,
        Err(error) => return fail(2, &error),
    };
    let policy = Arc::new(Policy::new(&config.detect));
    let workers = config.score.worker_count();
    let registry = match Registry::with_policy(&config.eval, workers, &policy) {
        Ok(registry) => registry,
        Err(error) => return fail(1, &error.to_string()),
    };
    let limits = Limits { workers, draws: args.draws, progress: &progress as &Progress };
    let (mut all, mut bad) = (Vec::new(), 0);
    for dataset in found {
        match one(&dataset, &args, &registry, &limits) {
            Ok(measured) => {
                if args.json {
                    measured.iter().for_each(|row| println!("{}", report::json(row)));
                }
                all.extend(measured);
            }
            Err(error) => {
                bad += 1;
                eprintln!("groundline evalbench: {error}");
            }
        }
    }
    if !args.json {
        print!("{}", report::table(&all));
    }
    if let Some(path) = &args.rows
        && let Err(error) = write_rows(path, &all)
    {
        return fail(1, &format!("{}: {error}", path.display()));
    }
    match (bad, all.is_empty()) {
        (0, false) => ExitCode::SUCCESS,
        (0, true) => fail(1, "no evaluator fits what was asked for; leave --evaluator out to see all"),
        _ => ExitCode::from(3),
    }
}

fn write_rows(path: &Path, all: &[Measured]) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for line in all.iter().flat_map(report::row_lines) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

fn prepare(args: &EvalbenchArgs) -> Result<(Config, Vec<Dataset>), String> {
    let config = Config::load(args.config.as_deref()).map_err(|e| e.to_string())?;
    let data = args.data.as_deref().unwrap_or(Path::new("."));
    let mut found = datasets(data)?;
    let named = |list: &[String], name: &str| list.is_empty() || list.iter().any(|wanted| wanted == name);
    found.retain(|set| named(&args.task, &set.task) && named(&args.dataset, &set.name));
    if found.is_empty() {
        return Err(format!("no such dataset in {}: it needs <task>/<dataset>.jsonl.gz", data.display()));
    }
    Ok((config, found))
}

fn one(
    dataset: &Dataset,
    args: &EvalbenchArgs,
    registry: &Registry,
    limits: &Limits<'_>,
) -> Result<Vec<Measured>, String> {
    let wanted = |id: &str| args.evaluator.is_empty() || args.evaluator.iter().any(|name| name == id);
    let wanted_targets: Vec<_> =
        targets(&dataset.task, &dataset.name).into_iter().filter(|target| wanted(target.evaluator)).collect();
    let is_language =
        dataset.task == "language" && dataset.name != "xquad_mismatch" && wanted("language_mismatch");
    let is_spans = dataset.task == "pii" && wanted("pii_leakage");
    if wanted_targets.is_empty() && !is_language && !is_spans {
        return Ok(Vec::new());
    }
    let rows = read(dataset, &args.split, args.limit)?;
    if is_language {
        return Ok(identification(dataset, &rows));
    }
    if is_spans {
        return Ok(spans(dataset, &rows, limits.draws)?.into_iter().collect());
    }
    Ok(measure(dataset, &rows, &wanted_targets, registry, limits))
}

/// A bar on a terminal, nothing elsewhere.
fn progress(name: &str, rows: usize) -> Box<dyn Fn() + Send + Sync> {
    if !std::io::stderr().is_terminal() {
        return Box::new(|| ());
    }
    let bar =
        ProgressBar::new(rows as u64).with_message(name.to_owned()).with_finish(ProgressFinish::AndClear);
    if let Ok(style) = ProgressStyle::with_template("{msg:40} {bar:30} {pos}/{len} {elapsed} eta {eta}") {
        bar.set_style(style);
    }
    Box::new(move || bar.inc(1))
}

fn fail(code: u8, message: &str) -> ExitCode {
    eprintln!("groundline evalbench: {message}");
    ExitCode::from(code)
}
