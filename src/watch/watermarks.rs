//! The loop that tells up to when the numbers are final.
//!
//! A round takes a moment and the journal's end at it. When sampling has read to that end, what was received by the moment is
//! decided about, open, or in the queue; what waits there, and what senders may still hold back (`watch.lateness`), bounds the
//! watermark. It holds once everything that was durable by then is visible, and for alerts once it is in their state. Each step is looked at
//! in the order in which a span goes through it, so that nothing passes by unseen between two looks.

use crate::domain::time::{Clock, UnixNanos};
use crate::drift::Alerts;
use crate::journal::Journal;
use crate::lake::Lake;
use crate::queue::{Lane, Queue};
use crate::sample::Progress;
use crate::schema::batch::Watermark;
use crate::schema::columns::Table;
use crate::sql::Watermarks;
use crate::units::nanos;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often the round is looked at.
const TICK: Duration = Duration::from_millis(250);

/// The tables that have a watermark, each with the time that is meant: in the order in which a span reaches them.
const TABLES: [(Table, &str); 5] = [
    (Table::Spans, "start_time"),
    (Table::LogRecords, "time"),
    (Table::Decisions, "span_time"),
    (Table::Scores, "span_time"),
    (Table::Alerts, "span_time"),
];

/// What the loop reads.
pub struct Stages {
    /// The journal.
    pub journal: Journal,
    /// What makes rows visible.
    pub lake: Arc<Lake>,
    /// What waits for scores.
    pub queue: Arc<Queue>,
    /// How far sampling is.
    pub progress: Arc<Progress>,
    /// How far alerts are.
    pub alerts: Alerts,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// The loop.
pub struct Finality {
    stages: Stages,
    lateness: Duration,
    marks: Watermarks,
    round: Round,
    /// A watermark of the scores that alerts have not come to yet, and the frame up to which they must.
    followed: Option<(u64, Bound)>,
    /// By the order of [`TABLES`].
    until: [Option<Bound>; TABLES.len()],
}

/// A watermark, and what keeps it from being later.
type Bound = (UnixNanos, &'static str);

/// A round, step by step.
enum Round {
    /// Sampling has not read up to this frame, the last one at that moment.
    Sampling(UnixNanos, u64),
    /// What was durable up to this frame is not visible yet; the bounds of spans, decisions and scores.
    Showing(u64, [Bound; 3]),
}

impl Finality {
    /// A loop that sets `marks`. What a sender holds back for longer than `lateness` after its start comes late.
    pub fn new(stages: Stages, lateness: Duration, marks: Watermarks) -> Self {
        let round = Round::Sampling(stages.clock.now(), stages.journal.durable());
        Self { stages, lateness, marks, round, followed: None, until: [None; TABLES.len()] }
    }

    /// Runs until `stop`.
    pub async fn run(mut self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            self.step();
            self.show();
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(TICK) => {}
            }
        }
    }

    /// Looks at the step of the round that it is at.
    fn step(&mut self) {
        let Stages { journal, lake, queue, progress, alerts, clock } = &self.stages;
        match &self.round {
            Round::Sampling(at, end) => {
                let horizon = progress.horizon();
                if horizon.position < *end {
                    return;
                }
                let floor = self.until[3].map_or(UnixNanos(i64::MIN), |(until, _)| until);
                progress.set_floor(floor);
                let spans = (UnixNanos(at.0.saturating_sub(nanos(self.lateness))), "senders");
                let decisions = earlier(spans, horizon.earliest, "open traces");
                // The queue is asked after the open traces: what left them is in it.
                let fast = earlier(decisions, queue.earliest(Lane::Fast, floor), "queue: fast");
                let scores = earlier(fast, queue.earliest(Lane::Slow, floor), "queue: slow");
                // What has left the queue by now is durable by now.
                self.round = Round::Showing(journal.durable(), [spans, decisions, scores]);
            }
            Round::Showing(end, [spans, decisions, scores]) if lake.applied() >= *end => {
                let marks = [*spans, *spans, *decisions, *scores];
                let follows = (*end, *scores);
                for (until, mark) in self.until.iter_mut().zip(marks) {
                    later(until, mark);
                }
                self.followed.get_or_insert(follows);
                self.round = Round::Sampling(clock.now(), journal.durable());
            }
            Round::Showing(..) => {}
        }
        if let Some((_, scores)) = self.followed.take_if(|(end, _)| alerts.position() >= *end) {
            later(&mut self.until[4], scores);
        }
    }

    /// Tells the watermarks to queries and metrics.
    fn show(&self) {
        let at = self.stages.clock.now();
        let mark = |((table, time), bound): (&(Table, &'static str), &Option<Bound>)| Watermark {
            table: *table,
            time,
            until: bound.map(|(until, _)| until),
            at,
            waits_for: bound.map(|(_, what)| what),
        };
        let marks: Vec<Watermark> = TABLES.iter().zip(&self.until).map(mark).collect();
        for mark in &marks {
            if let Some(lag) = mark.lag_seconds() {
                metrics::gauge!("groundline_watermark_lag_seconds", "table" => mark.table.name()).set(lag);
            }
        }
        self.marks.set(marks);
    }
}

/// The earlier of a bound and of what `what` waits with, if it does.
fn earlier(bound: Bound, waiting: Option<UnixNanos>, what: &'static str) -> Bound {
    waiting.filter(|at| *at < bound.0).map_or(bound, |at| (at, what))
}

/// Moves a watermark forward, and never back: what comes behind it is late. What it waits for is told anew.
fn later(until: &mut Option<Bound>, (at, what): Bound) {
    let now = until.map_or(at, |(before, _)| before.max(at));
    *until = Some((now, what));
}
