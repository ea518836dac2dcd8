//! The loop that makes spans of runs whose targets sent none.
//!
//! Senders hold spans back, so it looks at a run when it is `lab.span_after` old. It keeps nothing but the time up to which it
//! has looked; after a start it looks back a day. What it finds it does not make again: a made span is a span of the run.
//!
//! Several servers may share a bucket, and see what another one made only when that is in a file. So each looks at the runs
//! that it stored itself, and only much later at those that have no span because who stored them is gone.

use super::experiments::Experiments;
use super::own::Own;
use super::reading;
use super::run_span::{Told, is_asked, source, span_of};
use super::taken::Items;
use crate::domain::id::{EXPERIMENT_MARK, TenantId};
use crate::domain::span::Span;
use crate::domain::time::UnixNanos;
use crate::lab::cells::Row;
use crate::lab::error::LabError;
use crate::lab::ids::trace_ids;
use crate::lab::store::{Store, Who, int, moment, text};
use crate::schema::batch::spans_to_batch;
use crate::schema::columns::Table;
use crate::schema::frame::Part;
use crate::units::nanos;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How far it looks back after a start: a server that was down for longer leaves runs without a span.
const LOOK_BACK: Duration = Duration::from_hours(24);
/// A row may become visible so long after the time that stands in it.
const SLACK: Duration = Duration::from_mins(1);
/// How much earlier than a run the clock of its target may say that its spans began.
const SKEW: Duration = Duration::from_mins(10);
/// How much longer a run of another server is left to that: its spans are in a file by then, and are seen.
const OTHERS: Duration = Duration::from_mins(15);
/// The shortest and the longest time between two looks.
const EVERY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));
/// Runs that are looked at together.
const PAGE: usize = 1_000;
/// What spans of one frame have together, bytes, roughly.
const FRAME_BYTES: usize = 32 << 20;
/// How often a text stands in a span: as an attribute, as a message, and by itself.
const COPIES: usize = 3;

/// The loop.
pub struct RunSpans {
    experiments: Experiments,
    looks: [Look; 2],
}

/// Up to when it has looked at some runs, but for what was not visible then.
#[derive(Clone, Copy)]
struct Look {
    whose: Whose,
    from: UnixNanos,
}

/// Whose runs are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Those that this server stored since its start.
    Own,
    /// All that are much older.
    All,
}

impl Whose {
    /// How much older than `lab.span_after` they are.
    fn waits(self) -> Duration {
        match self {
            Self::Own => Duration::ZERO,
            Self::All => OTHERS,
        }
    }

    /// Those of `page` that are meant, and may have been traced under the ids that their targets were given.
    fn of(self, page: Vec<Candidate>, own: &Own) -> Vec<Candidate> {
        let is_meant = |one: &Candidate| one.is_given && (self == Self::All || own.has(&one.trace_id));
        page.into_iter().filter(is_meant).collect()
    }
}

/// A run that may have no span, without what it says.
struct Candidate {
    tenant: TenantId,
    experiment_id: String,
    item_id: String,
    trace_id: String,
    created: UnixNanos,
    started: UnixNanos,
    /// Bytes of its answer, and then of its span.
    bytes: usize,
    /// Whether it is the trace and span that its target was told.
    is_given: bool,
}

impl RunSpans {
    /// Over the runs of `experiments`, of all tenants.
    pub fn new(experiments: Experiments) -> Self {
        let look = |whose, back| Look { whose, from: earlier(experiments.store().now(), back) };
        let looks = [look(Whose::Own, SLACK), look(Whose::All, LOOK_BACK)];
        Self { experiments, looks }
    }

    /// Runs until `stop`. What cannot be made is told and tried again.
    pub async fn run(mut self, stop: CancellationToken) {
        let every = self.experiments.datasets().config().span_after.clamp(EVERY.0, EVERY.1);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(every) => {}
            }
            if let Err(error) = Box::pin(self.round(&stop)).await {
                tracing::warn!(%error, "spans of runs whose targets sent none are not made yet");
            }
        }
    }

    /// Looks at the runs that have become old enough since the last look.
    async fn round(&mut self, stop: &CancellationToken) -> Result<(), LabError> {
        let mut failed = None;
        for at in 0..self.looks.len() {
            let (from, done) = self.look(self.looks[at], stop).await;
            self.looks[at].from = from;
            failed = failed.or(done.err());
        }
        failed.map_or(Ok(()), Err)
    }

    /// Takes one look; and the time from which the next one is taken.
    async fn look(&self, look: Look, stop: &CancellationToken) -> (UnixNanos, Result<(), LabError>) {
        let Look { whose, from } = look;
        let age = self.experiments.datasets().config().span_after.saturating_add(whose.waits());
        let until = earlier(self.experiments.store().now(), age);
        let looked = self.look_through(whose, (from, until), stop).await;
        if stop.is_cancelled() {
            return (from, looked);
        }
        // What failed is looked at again, but not for ever.
        let back = if looked.is_err() { LOOK_BACK } else { SLACK };
        (from.max(earlier(until, back)), looked)
    }

    /// Looks at the runs that were stored in a span of time.
    async fn look_through(
        &self,
        whose: Whose,
        (from, until): (UnixNanos, UnixNanos),
        stop: &CancellationToken,
    ) -> Result<(), LabError> {
        let store = self.experiments.store();
        let (mut after, mut failed) = ((from, String::new()), None);
        loop {
            let page = candidates(store, &after, until).await?;
            let is_last = page.len() < PAGE;
            if let Some(last) = page.last() {
                after = (last.created, last.trace_id.clone());
            }
            failed = failed.or(self.look_at(whose.of(page, self.experiments.own())).await.err());
            if is_last || stop.is_cancelled() {
                return failed.map_or(Ok(()), Err);
            }
        }
    }

    /// Makes the spans that these runs lack. One experiment that fails does not keep the others from theirs.
    async fn look_at(&self, page: Vec<Candidate>) -> Result<(), LabError> {
        let mut failed = None;
        let mut groups: BTreeMap<(TenantId, String), Vec<Candidate>> = BTreeMap::new();
        for one in page {
            groups.entry((one.tenant.clone(), one.experiment_id.clone())).or_default().push(one);
        }
        for ((tenant, experiment_id), runs) in groups {
            let who = Who { tenant, name: "server".to_owned() };
            failed = failed.or(self.make(&who, &experiment_id, runs).await.err());
        }
        failed.map_or(Ok(()), Err)
    }

    async fn make(&self, who: &Who, experiment_id: &str, mut runs: Vec<Candidate>) -> Result<(), LabError> {
        let store = self.experiments.store();
        let Some(found) = reading::named(store, &who.tenant, experiment_id).await? else { return Ok(()) };
        if !is_asked(&found.target) {
            return Ok(());
        }
        let there = there(store, who, &runs).await?;
        runs.retain(|run| !there.contains(&run.trace_id));
        if runs.is_empty() {
            return Ok(());
        }
        let items = self.experiments.version(who, &found).await?;
        for run in &mut runs {
            let input = items.get(&run.item_id).and_then(|item| item.input.as_ref());
            run.bytes = COPIES * (run.bytes + input.map_or(0, String::len));
        }
        for part in parts(&runs) {
            // No item is purged between the look at its run and the writing of its span.
            let _still = self.experiments.datasets().still().await;
            let spans = self.spans(who, &found, &items, part).await?;
            if spans.is_empty() {
                continue;
            }
            let rows = spans_to_batch(&spans, &who.tenant, store.now());
            let rows = rows.map_err(|e| LabError::Broken(e.to_string()))?;
            match store.write(vec![Part::Rows(Table::Spans, rows)]).await {
                // Trying again would not help.
                Err(LabError::Limit(why)) => {
                    tracing::warn!(experiment_id, runs = part.len(), %why, "runs get no span: they are too large");
                }
                written => written?,
            }
        }
        Ok(())
    }

    /// The spans of runs as they are stored now.
    async fn spans(
        &self,
        who: &Who,
        found: &reading::Experiment,
        items: &Items,
        part: &[Candidate],
    ) -> Result<Vec<Span>, LabError> {
        let runs = told(self.experiments.store(), who, &found.experiment_id, part).await?;
        let (redact, source) = (|text: &mut String| self.experiments.datasets().redact(text), source());
        let of = |run: Told| span_of(&run, items.get(&run.item_id), &found.target, &source, &redact);
        Ok(runs.into_iter().filter_map(of).collect())
    }
}

fn earlier(at: UnixNanos, by: Duration) -> UnixNanos {
    UnixNanos(at.0.saturating_sub(nanos(by)))
}

/// Runs one after the other whose spans together fit into a frame, each at least one.
fn parts(runs: &[Candidate]) -> Vec<&[Candidate]> {
    let (mut parts, mut first, mut bytes) = (Vec::new(), 0, 0);
    for (at, run) in runs.iter().enumerate() {
        if at > first && bytes + run.bytes > FRAME_BYTES {
            parts.push(&runs[first..at]);
            (first, bytes) = (at, 0);
        }
        bytes += run.bytes;
    }
    parts.push(&runs[first..]);
    parts
}

/// The runs that were stored behind `after` and up to `until`, in that order, at most a page.
async fn candidates(
    store: &Store,
    after: &(UnixNanos, String),
    until: UnixNanos,
) -> Result<Vec<Candidate>, LabError> {
    let sql = format!(
        "SELECT tenant, experiment_id, run_id, item_id, attempt, trace_id, span_id, created_at, started_at, \
         CAST(octet_length(output) AS BIGINT) AS bytes FROM runs WHERE created_at >= $1 AND created_at <= $2 \
         AND (created_at > $1 OR trace_id > $3) AND trace_id LIKE '{}%' ORDER BY created_at, trace_id LIMIT {PAGE}",
        hex::encode(EXPERIMENT_MARK)
    );
    let values = vec![moment(after.0), moment(until), text(&after.1)];
    let rows = store.ask_all(&sql, values).await?;
    let one = |row: Row<'_>| {
        let (trace_id, span_id) = (row.text("trace_id"), row.text("span_id"));
        let created = at(row, "created_at").unwrap_or_default();
        let given = trace_ids(&row.text("run_id"), row.int("attempt").unwrap_or(1));
        Candidate {
            tenant: row.text("tenant").into(),
            experiment_id: row.text("experiment_id"),
            item_id: row.text("item_id"),
            is_given: given == (trace_id.clone(), span_id),
            trace_id,
            created,
            started: at(row, "started_at").unwrap_or(created),
            bytes: row.int("bytes").and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default(),
        }
    };
    Ok(rows.iter().map(one).collect())
}

/// A time of a row.
fn at(row: Row<'_>, name: &str) -> Option<UnixNanos> {
    row.micros(name).map(|micros| UnixNanos(micros.saturating_mul(1_000)))
}

/// `trace_id IN (…)`; the lab made these ids.
fn among(runs: &[Candidate]) -> String {
    let quoted: Vec<String> = runs.iter().map(|run| format!("'{}'", run.trace_id)).collect();
    format!("trace_id IN ({})", quoted.join(", "))
}

/// The traces of these runs that have a span.
async fn there(store: &Store, who: &Who, runs: &[Candidate]) -> Result<HashSet<String>, LabError> {
    let first = runs.iter().map(|run| run.started).min().unwrap_or_default();
    let sql = format!("SELECT DISTINCT trace_id FROM spans WHERE start_time >= $1 AND {}", among(runs));
    let rows = store.ask(&who.tenant, &sql, vec![moment(earlier(first, SKEW))]).await?;
    Ok(rows.iter().map(|row| row.text("trace_id")).collect())
}

/// What these runs say.
async fn told(
    store: &Store,
    who: &Who,
    experiment_id: &str,
    runs: &[Candidate],
) -> Result<Vec<Told>, LabError> {
    let sql = format!(
        "SELECT run_id, experiment_id, item_id, repetition, attempt, output, input_tokens, output_tokens, cost_usd, error, \
         started_at, completed_at FROM runs WHERE experiment_id = $1 AND {} ORDER BY created_at, trace_id LIMIT $2",
        among(runs)
    );
    let most = int(i64::try_from(runs.len()).unwrap_or(i64::MAX));
    let rows = store.ask(&who.tenant, &sql, vec![text(experiment_id), most]).await?;
    let one = |row: Row<'_>| {
        let ended = at(row, "completed_at").unwrap_or_default();
        Told {
            run_id: row.text("run_id"),
            experiment_id: row.text("experiment_id"),
            item_id: row.text("item_id"),
            repetition: row.int("repetition").unwrap_or(1),
            attempt: row.int("attempt").unwrap_or(1),
            output: row.may("output"),
            input_tokens: row.int("input_tokens"),
            output_tokens: row.int("output_tokens"),
            cost_usd: row.number("cost_usd"),
            error: row.may("error"),
            started: at(row, "started_at").unwrap_or(ended),
            ended,
        }
    };
    Ok(rows.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(trace_id: &str, bytes: usize) -> Candidate {
        Candidate {
            tenant: "".into(),
            experiment_id: String::new(),
            item_id: String::new(),
            trace_id: trace_id.to_owned(),
            created: UnixNanos(0),
            started: UnixNanos(0),
            bytes,
            is_given: true,
        }
    }

    #[test]
    fn who_stored_a_run_makes_its_span_and_others_long_after() {
        let own = Own::default();
        own.add("a");
        own.add("c");
        let page = || vec![run("a", 1), run("b", 1), Candidate { is_given: false, ..run("c", 1) }];
        let of = |whose: Whose| {
            let left = whose.of(page(), &own);
            left.into_iter().map(|run| run.trace_id).collect::<Vec<_>>()
        };
        assert_eq!(
            (of(Whose::Own), of(Whose::All)),
            (vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()])
        );
        assert!(Whose::Own.waits().is_zero() && Whose::All.waits() > Duration::from_mins(1));
    }

    #[test]
    fn answers_are_parted_by_their_bytes() {
        let of = |bytes: &[usize]| {
            let runs: Vec<Candidate> = bytes.iter().map(|bytes| run("", *bytes)).collect();
            parts(&runs).iter().map(|part| part.len()).collect::<Vec<_>>()
        };
        assert_eq!(of(&[1, 2, 3]), [3]);
        assert_eq!(of(&[FRAME_BYTES, 1, FRAME_BYTES - 1, 1]), [1, 2, 1]);
        assert_eq!(of(&[3 * FRAME_BYTES]), [1]);
    }
}
