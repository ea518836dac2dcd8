//! A user's own labelled answers: how the evaluators do on them, and the threshold that they ask for.

use super::super::evaluators::Scorers;
use super::super::score::{MAX_LINE_BYTES, past_mark, read_chunk};
use super::advice::{Told, chosen, write};
use super::args::EvalbenchArgs;
use crate::cli::pipe::say;
use crate::config::Config;
use crate::eval::bench::{Advice, Column};
use crate::eval::parallel;
use crate::eval::{Evaluator, score_line};
use crate::stats::threshold::Goal;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// More lines are refused: all their scores are held until the end.
const MAX_LINES: usize = 1_000_000;

/// What a line of the file has beside the fields of `groundline score`.
#[derive(Deserialize)]
struct Verdict {
    /// What a person said: true where the answer is as it should be.
    passed: bool,
}

/// Runs it, on a thread of a runtime that may block. Exit code 2 for what was asked wrongly, 3 for a line that is none.
pub fn run(args: &EvalbenchArgs, path: &Path) -> ExitCode {
    match measured(args, path) {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, error)) => {
            eprintln!("groundline evalbench: {error}");
            ExitCode::from(code)
        }
    }
}

fn measured(args: &EvalbenchArgs, path: &Path) -> Result<(), (u8, String)> {
    let goal = goal(args)?;
    if args.evaluator.is_empty() {
        return Err((2, "--labels needs --evaluator: a person's verdict is about one thing".to_owned()));
    }
    let config = Config::load(args.config.as_deref()).map_err(|e| (2, e.to_string()))?;
    let scorers = Scorers::open(&config)?;
    let evaluators = scorers.select(&args.evaluator)?;
    let columns = columns(path, &scorers, &evaluators);
    scorers.stop();
    let columns = columns?;
    let mut advised = Vec::new();
    for (metric, column) in &columns {
        let advice = Advice::of(metric, column, goal, args.draws);
        if args.json {
            say(Told(&advice).json())
        } else {
            say(Told(&advice))
        }
        advised.push(advice);
    }
    if args.write {
        let file = args.config.as_deref().ok_or((2, "--write needs --config".to_owned()))?;
        chosen(&advised).and_then(|found| write(file, &found)).map_err(|error| (1, error))?;
    }
    Ok(())
}

fn goal(args: &EvalbenchArgs) -> Result<Option<Goal>, (u8, String)> {
    let share = |name: &str, value: f64| {
        let fits = value > 0.0 && value <= 1.0;
        fits.then_some(value).ok_or((2, format!("--{name} is {value}, must be above 0 and at most 1")))
    };
    match (args.precision, args.recall) {
        (Some(least), _) => share("precision", least).map(|least| Some(Goal::Precision(least))),
        (None, Some(least)) => share("recall", least).map(|least| Some(Goal::Recall(least))),
        (None, None) if args.write => {
            Err((2, "--write needs --precision or --recall, which choose the threshold".to_owned()))
        }
        (None, None) => Ok(None),
    }
}

/// Scores every line, in chunks of bounded size.
fn columns(
    path: &Path,
    scorers: &Scorers,
    evaluators: &[Arc<dyn Evaluator>],
) -> Result<BTreeMap<String, Column>, (u8, String)> {
    let named = |error: &dyn ToString| (2, format!("{}: {}", path.display(), error.to_string()));
    let mut input = past_mark(BufReader::new(File::open(path).map_err(|e| named(&e))?));
    let mut columns = empty(evaluators);
    let (workers, runtime) = (scorers.at_once(evaluators), tokio::runtime::Handle::current());
    let mut number = 0;
    loop {
        let lines = read_chunk(&mut input, &mut number).map_err(|e| named(&e))?;
        if lines.is_empty() {
            return Ok(columns);
        }
        if number > MAX_LINES {
            return Err(named(&format!("more than {MAX_LINES} lines; take a sample of them")));
        }
        let scored = parallel::map(&lines, workers, |_, (number, line)| {
            let _entered = runtime.enter();
            one(scorers, evaluators, *number, line)
        });
        for row in scored {
            let row = row.map_err(|e| (3, format!("{}: {e}", path.display())))?;
            row.into_iter().for_each(|cell| put(&mut columns, cell));
        }
    }
}

/// What one metric got on one line: value and verdict, if there is a score, and whether a person found a fault.
struct Cell {
    metric: String,
    threshold: Option<f64>,
    found: Option<(f64, Option<bool>)>,
    is_fault: bool,
}

fn one(
    scorers: &Scorers,
    evaluators: &[Arc<dyn Evaluator>],
    number: usize,
    line: &[u8],
) -> Result<Vec<Cell>, String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if line.len() as u64 >= MAX_LINE_BYTES {
        return Err(format!("line {number} is longer than {MAX_LINE_BYTES} bytes"));
    }
    let verdict: Verdict = serde_json::from_str(text).map_err(|e| {
        format!("line {number}: {e}; each line is one of `groundline score` with \"passed\": true or false")
    })?;
    let (is_read, rows) = score_line(&scorers.registry, evaluators, number, text);
    if !is_read {
        return Err(rows.into_iter().find_map(|row| row.error).unwrap_or_default());
    }
    let cell = |row: crate::eval::OfflineRow| Cell {
        found: row.value.filter(|value| value.is_finite()).map(|value| (value, row.passed)),
        metric: row.metric,
        threshold: row.threshold,
        is_fault: !verdict.passed,
    };
    Ok(rows.into_iter().map(cell).collect())
}

fn empty(evaluators: &[Arc<dyn Evaluator>]) -> BTreeMap<String, Column> {
    let mut columns = BTreeMap::new();
    for evaluator in evaluators {
        for metric in evaluator.metrics() {
            let column = Column {
                evaluator: evaluator.id().to_owned(),
                version: evaluator.version().to_owned(),
                better: metric.better,
                threshold: metric.threshold,
                rows: Vec::new(),
                unscored: 0,
            };
            columns.insert(metric.name.to_string(), column);
        }
    }
    columns
}

fn put(columns: &mut BTreeMap<String, Column>, cell: Cell) {
    // A count that is only told has no metric of its own.
    let Some(column) = columns.get_mut(&cell.metric) else { return };
    column.threshold = cell.threshold.or(column.threshold);
    match cell.found {
        Some((value, passed)) => column.rows.push((value, passed, cell.is_fault)),
        None => column.unscored += 1,
    }
}
