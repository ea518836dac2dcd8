//! Asking a target for what is missing, and sending what it answers.

use super::client::{Asked, LabClient, Refused};
use super::fetched::Fetched;
use super::target::{Asker, answer};
use super::told::cell;
use crate::cli::interrupt::Interrupts;
use crate::lab::target::Target;
use futures::{FutureExt, StreamExt};
use http::Method;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::future::ready;
use std::io::IsTerminal;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Answers that are sent at once.
const BATCH: usize = 16;
/// Runs that are looked up at once.
const PAGE: usize = 256;
/// Runs that are counted of those that are still wanted.
pub const MAX_LEFT: usize = 1_000;
/// Why nobody is asked any more when there is no more time.
const LATE: &str = "--deadline has passed";

/// How a target is asked.
pub struct Plan<'a> {
    /// The experiment.
    pub experiment: &'a str,
    /// Who answers.
    pub asker: &'a Asker,
    /// Items at once.
    pub concurrency: usize,
    /// errors or failed; none for what is missing.
    pub retry: Option<&'a str>,
    /// No further item is asked when the answers cost so much, US dollars.
    pub max_cost: Option<f64>,
    /// From then on nobody is asked, and what has no answer is left unasked.
    pub deadline: Option<Instant>,
}

/// How it ended.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Ended {
    /// Runs that were stored.
    pub stored: u64,
    /// Runs without an answer.
    pub errors: u64,
    /// What the answers cost, as far as the target tells it, US dollars.
    pub cost: f64,
    /// Runs that were wanted again and still are, the first thousand.
    pub left: usize,
    /// Why it stopped before the end.
    pub stopped: Option<&'static str>,
}

/// Asks until nothing is missing, the cost or the deadline is reached, or the user stops it. What was answered by then is
/// stored in every case, and what was only asked is left. What the server is asking at the deadline it asks to the end.
///
/// # Errors
/// When the server refuses.
pub async fn run(client: &LabClient, plan: &Plan<'_>, runs: u64) -> Result<Ended, Refused> {
    let bar = progress(runs);
    let (mut ended, mut fetched) = (Ended::default(), Fetched::default());
    let interrupted = CancellationToken::new();
    // Behind the end of it Ctrl-C ends everything.
    let _over = interrupted.clone().drop_guard();
    // What a server asks it asks to the end, and whoever waits for it may go at once.
    if matches!(plan.asker, Asker::Here(_)) {
        Interrupts::cancel(
            &interrupted,
            "groundline experiment: stopping; what was answered is judged and stored",
        );
    }
    let stop = halted(plan.deadline, &interrupted);
    tokio::pin!(stop);
    // What is wanted again is asked once: the next look begins behind the last one.
    let mut from = 0;
    loop {
        let before = ended.stored;
        let mut page = page(client, plan, (from, PAGE)).await?;
        let Some(last) = page.last() else { break };
        if plan.deadline.is_some_and(|at| at <= Instant::now()) {
            ended.stopped = Some(LATE);
            break;
        }
        let mut next = behind(last);
        match plan.asker {
            Asker::Server(_) => {
                let path = ["experiments", plan.experiment, "run"];
                let asked = Asked::json(Method::POST, &path, &json!({})).with("limit", page.len());
                let answer = client.value(wanted(asked, plan, from)).await?;
                // It asks no more than so many at once.
                next = answer["next"].as_u64().or(next);
                ended.took(&answer, &bar);
            }
            Asker::Here(target) => {
                fetched.bring(client, &mut page).await?;
                here(client, plan, (target.as_ref(), page.as_slice()), stop.as_mut(), &mut ended, &bar)
                    .await?;
            }
        }
        match (plan.retry, next) {
            _ if ended.stopped.is_some() => break,
            (Some(_), Some(next)) if next > from => from = next,
            (Some(_), _) => break,
            // A page of which nothing was stored would come for ever.
            (None, _) if ended.stored == before => break,
            (None, _) => {}
        }
    }
    if plan.retry.is_some() {
        ended.left = page(client, plan, (0, MAX_LEFT)).await?.len();
    }
    bar.finish_and_clear();
    Ok(ended)
}

/// Asks `target` for the runs of a page and sends what it answers. When nobody is to be asked any more, what was answered by
/// then is sent, too.
async fn here(
    client: &LabClient,
    plan: &Plan<'_>,
    (target, page): (&Target, &[Value]),
    mut stop: Pin<&mut impl Future<Output = &'static str>>,
    ended: &mut Ended,
    bar: &ProgressBar,
) -> Result<(), Refused> {
    let is_over = AtomicBool::new(false);
    let open = futures::stream::iter(page).take_while(|_| ready(!is_over.load(Ordering::Relaxed)));
    let asked = open.map(|todo| answer(target, todo));
    // Where answers cost, each is looked at before another is asked for.
    let at_once = if plan.max_cost.is_some() { 1 } else { BATCH };
    let mut answers = asked.buffer_unordered(plan.concurrency.max(1)).ready_chunks(at_once);
    while ended.stopped.is_none() {
        let batch = tokio::select! {
            batch = answers.next() => batch,
            why = &mut stop => {
                ended.stopped = Some(why);
                None
            }
        };
        let Some(batch) = batch else { break };
        send(client, plan, batch, ended, bar).await?;
        if plan.max_cost.is_some_and(|most| ended.cost >= most) {
            ended.stopped = Some("--max-cost is reached");
        }
    }
    is_over.store(true, Ordering::Relaxed);
    // Others were answered while a batch was sent: they would be asked, and paid, again.
    while let Some(Some(batch)) = answers.next().now_or_never() {
        send(client, plan, batch, ended, bar).await?;
    }
    Ok(())
}

/// Waits until nobody is to be asked any more, and says why: the user stops it, or there is no more time.
async fn halted(deadline: Option<Instant>, interrupted: &CancellationToken) -> &'static str {
    let late = async {
        match deadline {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = interrupted.cancelled() => "stopped",
        () = late => LATE,
    }
}

/// Runs from a place on, so many.
async fn page(
    client: &LabClient,
    plan: &Plan<'_>,
    (from, limit): (u64, usize),
) -> Result<Vec<Value>, Refused> {
    let path = ["experiments", plan.experiment, "todo"];
    let todo = client.value(wanted(Asked::get(&path).with("limit", limit), plan, from)).await?;
    Ok(todo.as_array().cloned().unwrap_or_default())
}

/// The same with what is wanted, from a place on.
fn wanted<'a>(asked: Asked<'a>, plan: &Plan<'_>, from: u64) -> Asked<'a> {
    asked.maybe("retry", plan.retry).maybe("from", (from > 0).then_some(from))
}

/// The place behind a run; none where an older server does not tell it.
fn behind(run: &Value) -> Option<u64> {
    run["place"].as_u64().map(|place| place + 1)
}

async fn send(
    client: &LabClient,
    plan: &Plan<'_>,
    answers: Vec<Value>,
    ended: &mut Ended,
    bar: &ProgressBar,
) -> Result<(), Refused> {
    for answer in &answers {
        // The first one tells what is wrong with the target; of the others `runs` has it.
        if let (0, Some(why)) = (ended.errors, answer["error"].as_str()) {
            bar.suspend(|| {
                eprintln!("groundline experiment: no answer to {}: {why}", cell(&answer["item_id"]));
            });
        }
        ended.errors += u64::from(answer.get("error").is_some());
        ended.cost += answer["cost_usd"].as_f64().unwrap_or_default();
    }
    let path = ["experiments", plan.experiment, "runs"];
    let answer = client.value(Asked::json(Method::POST, &path, &json!(answers))).await?;
    for refused in answer["refused"].as_array().into_iter().flatten() {
        eprintln!("groundline experiment: {}", super::told::fault("refused", refused));
    }
    ended.took(&answer, bar);
    Ok(())
}

impl Ended {
    fn took(&mut self, answer: &Value, bar: &ProgressBar) {
        let stored = answer["stored"].as_u64().unwrap_or_default();
        self.stored += stored;
        bar.inc(stored);
    }
}

/// A bar on a terminal; nothing where nobody looks.
fn progress(runs: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(runs);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} runs {elapsed} eta {eta}") {
        bar.set_style(style);
    }
    bar
}
