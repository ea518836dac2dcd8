//! Ask, judge, decide, report. Exit codes: 0 all gates hold, 1 one is broken, 2 the suite or the configuration is wrong and
//! nothing ran, 3 more errors than the suite bears, 4 with --strict a gate is undecided.

use super::super::evaluators::Scorers;
use super::super::lab::revised;
use super::args::TestArgs;
use super::bench::{chosen, configured};
use super::keep::{self, Kept};
use super::progress::bar;
use super::traced::traced;
use crate::cli::interrupt::Interrupts;
use crate::cli::pipe::{put, say};
use crate::domain::time::{Clock, SystemClock};
use crate::eval::parallel;
use crate::lab::suite::{
    Analyses, AnalysisBy, Answered, Baseline, Bench, Earlier, Outcome, Report, Run, Suite, ask_all,
    asks_for_parts, code, decide, judge, junit, markdown, read, summarise, table, unknown_metrics,
};
use crate::lab::target::Target;
use crate::units::words;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs a suite. Reports are written before it ends, whatever its exit code is.
pub async fn run(args: TestArgs) -> ExitCode {
    match tried(&args).await {
        Ok(code) => ExitCode::from(code),
        Err((code, why)) => {
            eprintln!("groundline test: {why}");
            ExitCode::from(code)
        }
    }
}

/// An exit code and what to tell.
type Fault = (u8, String);

async fn tried(args: &TestArgs) -> Result<u8, Fault> {
    let (whole, suite) = loaded(args).await?;
    let (runs, kept) = wanted(args, &suite)?;
    writable(args)?;
    let baseline = baseline(args, &suite).await?;
    let config = configured(args.config.as_deref(), &suite)?;
    let target = suite.open_target().map_err(wrong)?;
    // Nothing comes to the folder of a stopped server.
    let span_wait = if args.stored.is_server() { config.lab.span_wait } else { Duration::ZERO };
    // Models and judges are opened, and run, on threads that may block.
    let suite = Arc::new(suite);
    let scorers = blocking(move || Scorers::open(&config)).await??;
    let (named, more) = chosen(&suite, &scorers)?;
    let scorers = Arc::new(scorers);
    unknown_metrics(&suite, &Bench::new(&scorers.registry, named.clone(), more.clone())).map_err(wrong)?;
    if args.dry_run {
        let (tests, checks) = (suite.tests(), suite.checks());
        say(format_args!(
            "{}: {tests} tests, {checks} checks, {} gates; nobody was asked",
            suite.name(),
            suite.gates()
        ));
        return Ok(0);
    }
    let keep = begun(args, (&whole, suite.repetitions()), &target).await?;
    let started = now();
    let mut answered = asked(&suite, &runs, &target, args.deadline.or(suite.deadline())).await;
    traced(&suite, &mut answered, args.stored.place(args.config.as_deref()).as_ref(), span_wait).await;
    let job = (suite.clone(), scorers.clone(), args.analysis);
    let report = blocking(move || {
        let (suite, scorers, by) = job;
        let bench = Bench::new(&scorers.registry, named, more).with_desk(scorers.desk());
        let outcomes = suite.merged(judged(&suite, &answered, &bench, &scorers), kept);
        let gates = decide(&suite, &outcomes, &bench, baseline.as_ref());
        let summary = summarise(&suite, &outcomes, &bench);
        let verdict = code(&suite, &gates, summary.error_share, false);
        let mut report = Report::new(&suite, (started, now()), gates, summary, verdict, outcomes);
        if by == AnalysisBy::Judge {
            report.analyse(&bench, &Analyses::default());
        }
        scorers.stop();
        report
    });
    let mut report = report.await?;
    report.verdict = code(&suite, &report.gates, report.summary.error_share, args.strict);
    report.exit_code = report.verdict.number();
    put(table(&report));
    let kept = match &keep {
        Some(keep) => keep.end(&report.runs).await.map_err(|why| format!("the run is not stored: {why}")),
        None => Ok(()),
    };
    match written(args, &report).and(kept) {
        Ok(()) => Ok(report.exit_code),
        // Whoever waits for the report must not take its absence for a success.
        Err(why) => Err((report.exit_code.max(1), why)),
    }
}

fn wrong(why: impl ToString) -> Fault {
    (2, why.to_string())
}

/// The suite, and of it what is to run.
async fn loaded(args: &TestArgs) -> Result<(Suite, Suite), Fault> {
    let items = args.stored.items(&args.suite, args.config.as_deref()).await.map_err(wrong)?;
    let (mut suite, left_out) = read(&args.suite, args.partial, &items).map_err(wrong)?;
    if !left_out.is_empty() {
        eprintln!("groundline test: left out:\n{left_out}");
    }
    let whole = suite.clone();
    if let Some(repetitions) = args.repetitions {
        suite.repeat(repetitions).map_err(wrong)?;
    }
    if let Some(condition) = &args.filter {
        let left_out = suite.filter(condition).await.map_err(wrong)?;
        eprintln!("groundline test: {} tests run, --filter leaves out {left_out}", suite.tests());
    }
    Ok((whole, suite))
}

/// The runs to ask, and those of an earlier report that stay.
fn wanted(args: &TestArgs, suite: &Suite) -> Result<(Vec<Run>, Vec<Outcome>), Fault> {
    let (Some(retry), Some(report)) = (args.retry, &args.json) else { return Ok((suite.runs(), Vec::new())) };
    let (asked, kept) = Earlier::read(report).map_err(wrong)?.split(suite, retry.into());
    eprintln!("groundline test: {} runs are asked, {} of {} stay", asked.len(), kept.len(), report.display());
    Ok((asked, kept))
}

/// The experiment that takes the answers, if the run is kept. A server that does not keep it is told, and is no fault unless
/// --store says so.
async fn begun(args: &TestArgs, whole: (&Suite, u32), target: &Target) -> Result<Option<Kept>, Fault> {
    if !args.store && (args.no_store || args.retry.is_some() || !args.stored.is_server()) {
        return Ok(None);
    }
    let place = args.stored.place(args.config.as_deref());
    let place = place.ok_or_else(|| wrong("--store: say where, --url or --data-dir"))?;
    // Programs of a suite run in its folder.
    let folder = args.suite.parent().unwrap_or(Path::new(""));
    let target = revised(target.described(), folder).await;
    match Kept::begin(place, whole, &target, args.filter.as_deref()).await {
        Ok(kept) => {
            eprintln!("groundline test: {} is kept as the experiment {}", kept.suite, kept.experiment_id);
            Ok(Some(kept))
        }
        Err(why) if args.store => Err(wrong(format!("--store: {why}"))),
        Err(why) => {
            eprintln!("groundline test: the run is not kept: {why}");
            Ok(None)
        }
    }
}

async fn baseline(args: &TestArgs, suite: &Suite) -> Result<Option<Baseline>, Fault> {
    let place = args.stored.place(args.config.as_deref());
    match (&args.baseline, place) {
        (Some(name), Some(place)) if !name.exists() => {
            keep::baseline(&place, &name.display().to_string()).await.map(Some).map_err(wrong)
        }
        (Some(path), _) => Baseline::read(path).map(Some).map_err(wrong),
        (None, _) if suite.needs_baseline() => Err(wrong(
            "a gate has max_drop: give --baseline, the --json report of the run to compare with, or the name of one that --store kept",
        )),
        (None, _) => Ok(None),
    }
}

async fn asked(suite: &Suite, runs: &[Run], target: &Target, deadline: Option<Duration>) -> Vec<Answered> {
    let stop = CancellationToken::new();
    let bar = bar(runs.len(), "asking");
    Interrupts::cancel(&stop, "groundline test: stopping; what was answered is judged and reported");
    let done = || bar.inc(1);
    let ask = ask_all(suite, runs, target, &stop, &done);
    let answered = match deadline {
        Some(deadline) => in_time(ask, deadline, &stop).await,
        None => ask.await,
    };
    // Ctrl-C ends it from now on: what follows may take as long as a judge.
    stop.cancel();
    bar.finish_and_clear();
    answered
}

/// The answers that come before the deadline; the others are told by number, and each has an error that says so.
async fn in_time(
    ask: impl Future<Output = Vec<Answered>>,
    deadline: Duration,
    stop: &CancellationToken,
) -> Vec<Answered> {
    tokio::pin!(ask);
    tokio::select! {
        biased;
        // Ctrl-C may have stopped it earlier.
        answered = &mut ask => return answered,
        () = tokio::time::sleep(deadline) => stop.cancel(),
    }
    let mut answered = ask.await;
    let all = answered.len();
    let late: usize = answered.iter_mut().map(|one| usize::from(one.note_deadline(deadline))).sum();
    if late > 0 {
        eprintln!(
            "groundline test: the deadline of {} passed: {late} of {all} runs have no answer; what was answered is judged and \
             reported, and --retry errors with --json asks the others",
            words(deadline)
        );
    }
    answered
}

fn judged(suite: &Suite, answered: &[Answered], bench: &Bench<'_>, scorers: &Scorers) -> Vec<Outcome> {
    let workers = match asks_for_parts(suite) {
        true => scorers.waiting_at_once(),
        false => scorers.at_once(&bench.evaluators()),
    };
    let bar = bar(answered.len(), "judging");
    let runtime = tokio::runtime::Handle::current();
    let outcomes = parallel::map(answered, workers, |_, one| {
        let _entered = runtime.enter();
        let outcome = judge(suite, one, bench);
        bar.inc(1);
        outcome
    });
    bar.finish_and_clear();
    outcomes
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(|e| (1, e.to_string()))
}

/// Whether the reports can be written, before anybody is asked. An earlier report stays as it is until then.
fn writable(args: &TestArgs) -> Result<(), Fault> {
    for path in [&args.json, &args.junit, &args.markdown].into_iter().flatten() {
        let folder = path.parent().unwrap_or(Path::new(""));
        let opened = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::OpenOptions::new().append(true).create(true).open(path));
        opened.map_err(|e| wrong(format!("{}: cannot be written: {e}", path.display())))?;
    }
    Ok(())
}

/// Writes what was asked for. A report that cannot be written keeps none of the others from it.
fn written(args: &TestArgs, report: &Report) -> Result<(), String> {
    let json = args.json.as_ref().map(|path| (path, report.json().map_err(|e| e.to_string())));
    let junit = args.junit.as_ref().map(|path| (path, Ok(junit(report))));
    let markdown = args.markdown.as_ref().map(|path| (path, Ok(markdown(report))));
    let mut faults = Vec::new();
    for (path, text) in [json, junit, markdown].into_iter().flatten() {
        let written = text.and_then(|text| std::fs::write(path, text).map_err(|e| e.to_string()));
        faults.extend(written.err().map(|why| format!("{}: {why}", path.display())));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

fn now() -> String {
    let nanos = SystemClock.now();
    chrono::DateTime::from_timestamp_nanos(nanos.0).to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}
