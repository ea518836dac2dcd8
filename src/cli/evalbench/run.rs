//! One dataset after the other.

use super::args::EvalbenchArgs;
use super::report;
use crate::cli::pipe::{put, say};
use crate::config::Config;
use crate::detect::Policy;
use crate::eval::Registry;
use crate::eval::bench::{
    Dataset, Limits, Measured, Progress, Target, datasets, identification, measure, read, spans, targets,
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
    let registries = match registries(&config, workers, &policy) {
        Ok(registries) => registries,
        Err(error) => return fail(1, &error),
    };
    let limits = Limits { workers, draws: args.draws, progress: &progress as &Progress };
    let (mut all, mut bad) = (Vec::new(), 0);
    for dataset in found {
        match one(&dataset, &args, &registries, &limits) {
            Ok(measured) => {
                if args.json {
                    measured.iter().for_each(|row| say(report::json(row)));
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
        put(report::table(&all));
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

/// The evaluators of the configuration; where it names model files, those with the program's own models too, first.
fn registries(config: &Config, workers: usize, policy: &Arc<Policy>) -> Result<Vec<Registry>, String> {
    let own = Registry::with_policy(&config.eval.with_own_models(), workers, policy);
    let mut registries = vec![own.map_err(|e| e.to_string())?];
    if !config.models.is_empty() {
        let theirs = Registry::with_models(&config.eval, &config.models, workers, policy);
        registries.push(theirs.map_err(|e| e.to_string())?);
    }
    Ok(registries)
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
    registries: &[Registry],
    limits: &Limits<'_>,
) -> Result<Vec<Measured>, String> {
    let named = |id: &str| args.evaluator.iter().any(|name| name == id);
    let wanted = |id: &str| args.evaluator.is_empty() || named(id);
    let is_wanted = |target: &Target| named(target.evaluator) || !target.sums_up && wanted(target.evaluator);
    let wanted_targets: Vec<_> =
        targets(&dataset.task, &dataset.name).into_iter().filter(is_wanted).collect();
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
    let mut measured: Vec<Measured> = Vec::new();
    for registry in registries {
        // What the user's models do not touch has been measured.
        let is_new = |target: &Target| {
            let found = registry.select(&[target.evaluator.to_owned()]);
            let version = found.ok().and_then(|found| Some(found.first()?.version().to_owned()));
            let same =
                |row: &Measured| row.evaluator == target.evaluator && Some(&row.version) == version.as_ref();
            !measured.iter().any(same)
        };
        let left: Vec<Target> = wanted_targets.iter().copied().filter(is_new).collect();
        measured.extend(measure(dataset, &rows, &left, registry, limits));
    }
    Ok(measured)
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
