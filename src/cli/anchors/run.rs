//! The verb.

use super::super::evaluators::Scorers;
use super::super::score::{past_mark, read_chunk};
use super::table::table;
use crate::cli::pipe::say;
use crate::config::Config;
use crate::domain::trace::EvalInput;
use crate::drift::{AnchorMetric, accept_anchors, compare_anchors, freeze_anchors, read_anchors};
use crate::eval::parallel;
use crate::eval::{Away, Evaluator, PATIENCE, Said, patient, score_input, score_line_by};
use clap::Args;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Most anchors: all their scores are held until the end.
const MAX_ANCHORS: usize = 100_000;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct AnchorArgs {
    /// The frozen items, JSON lines as `groundline score` reads them, each with an id.
    anchors: PathBuf,
    /// Their scores of then; the file is written where it is not there yet.
    #[arg(long)]
    scores: PathBuf,
    /// Evaluators by id, separated by commas.
    #[arg(long, value_delimiter = ',', required = true)]
    evaluator: Vec<String>,
    /// Configuration file, for judges, plug-ins and thresholds.
    #[arg(long)]
    config: Option<PathBuf>,
    /// One JSON object a metric instead of a table.
    #[arg(long)]
    json: bool,
    /// Let today's scores be those of then from now on.
    #[arg(long)]
    accept: bool,
}

/// Runs it, on a thread of a runtime that may block. Exit code 0 if no evaluator moved, 1 if one did, 2 for what was asked
/// wrongly, 3 for a line that is none, or where a judge or plug-in is away.
pub fn run(args: &AnchorArgs) -> ExitCode {
    match moved(args) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(1),
        Err((code, error)) => {
            eprintln!("groundline anchors: {error}");
            ExitCode::from(code)
        }
    }
}

fn moved(args: &AnchorArgs) -> Result<bool, (u8, String)> {
    let config = Config::load(args.config.as_deref()).map_err(|e| (2, e.to_string()))?;
    let scorers = Scorers::open(&config)?;
    let scored =
        scorers.select(&args.evaluator).and_then(|evaluators| score(&args.anchors, &scorers, &evaluators));
    scorers.stop();
    let now = scored?;
    let named = |e: &dyn ToString| (2, format!("{}: {}", args.scores.display(), e.to_string()));
    let is_first = !args.scores.exists();
    let (then, added) = freeze_anchors(&args.scores, &now).map_err(|e| (2, e))?;
    if is_first {
        say(format_args!("{}: written; these are the scores of then from now on", args.scores.display()));
    } else if added > 0 {
        // What is read by a program is on the other stream.
        eprintln!(
            "{}: {added} scores that were missing are those of then from now on",
            args.scores.display()
        );
    }
    let metrics = compare_anchors(&then, &read_anchors(&now).map_err(|e| named(&e))?);
    if is_first && metrics.iter().all(|metric| metric.errors == 0) {
        return Ok(false);
    }
    tell(args, &metrics);
    if args.accept {
        accept_anchors(&args.scores, &now).map_err(|e| (2, e))?;
        return Ok(false);
    }
    Ok(metrics.iter().any(|metric| metric.moved))
}

fn tell(args: &AnchorArgs, metrics: &[AnchorMetric]) {
    if !args.json {
        say(table(metrics));
        return;
    }
    for metric in metrics {
        say(serde_json::to_string(metric).unwrap_or_default());
    }
}

/// The scores of every anchor as JSON lines.
fn score(path: &Path, scorers: &Scorers, evaluators: &[Arc<dyn Evaluator>]) -> Result<String, (u8, String)> {
    let named = |error: &dyn ToString| (2, format!("{}: {}", path.display(), error.to_string()));
    let mut input = past_mark(BufReader::new(File::open(path).map_err(|e| named(&e))?));
    let (workers, runtime) = (scorers.at_once(evaluators), tokio::runtime::Handle::current());
    let (mut number, mut out) = (0, String::new());
    let is_away = AtomicBool::new(false);
    loop {
        let lines = read_chunk(&mut input, &mut number).map_err(|e| named(&e))?;
        if lines.is_empty() {
            return Ok(out);
        }
        if number > MAX_ANCHORS {
            return Err(named(&format!("more than {MAX_ANCHORS} anchors; take a sample of them")));
        }
        let scored = parallel::map(&lines, workers, |_, (number, line)| {
            let _entered = runtime.enter();
            let ask = |evaluator: &dyn Evaluator, input: &EvalInput| ask(scorers, evaluator, input, &is_away);
            one(evaluators, *number, &String::from_utf8_lossy(line), ask)
        });
        for rows in scored {
            out.push_str(&rows.map_err(|e| (3, format!("{}: {e}", path.display())))?);
        }
    }
}

/// What `evaluator` says of `input`; one that waits for others is asked for ten minutes. Who answers nobody until then `is_away`
/// for the other anchors too, so that a judge that is gone is not waited for once an anchor.
///
/// # Errors
/// Who is away.
fn ask(
    scorers: &Scorers,
    evaluator: &dyn Evaluator,
    input: &EvalInput,
    is_away: &AtomicBool,
) -> Result<Said, String> {
    let Some(waits) = evaluator.waits() else { return Ok(score_input(&scorers.registry, evaluator, input)) };
    let patience = if is_away.load(Ordering::Relaxed) { Duration::ZERO } else { PATIENCE };
    let until = Instant::now() + patience;
    let asked =
        patient(until, || scorers.registry.ask(evaluator, waits, input, until), |away: &Away| away.wait);
    match futures::executor::block_on(asked) {
        Ok(said) => Ok(said),
        // Others get answers: this anchor alone has none.
        Err(away) if away.counts => {
            Ok(Said { scores: evaluator.fail(&away.why), usage: away.owed.take(), version: None })
        }
        Err(away) => {
            is_away.store(true, Ordering::Relaxed);
            Err(away.why)
        }
    }
}

fn one(
    evaluators: &[Arc<dyn Evaluator>],
    number: usize,
    line: &str,
    ask: impl Fn(&dyn Evaluator, &EvalInput) -> Result<Said, String>,
) -> Result<String, String> {
    if line.trim().is_empty() {
        return Ok(String::new());
    }
    let (is_read, rows) = score_line_by(evaluators, number, line.trim(), ask)?;
    if !is_read {
        return Err(rows.into_iter().find_map(|row| row.error).unwrap_or_default());
    }
    let written = rows.iter().map(|row| serde_json::to_string(row).map(|line| line + "\n"));
    written.collect::<Result<String, _>>().map_err(|e| format!("line {number}: {e}"))
}
