//! What the loop of sampling does about traces that were decided before.

use super::again::{Again, Looked, again};
use super::assemble::OpenTrace;
use super::decided::Known;
use super::late::{self, Late};
use super::outgoing::Outgoing;
use super::run::Sampler;
use crate::domain::id::TraceId;
use crate::domain::time::{SECOND, UnixNanos};
use crate::journal::JournalError;
use crate::queue::size;

/// Old traces of which the tables are asked at once, and looks at traces with late spans that are under way.
const ASKED_AT_ONCE: usize = 500;
const LOOKS_AT_ONCE: usize = 4;
/// How long old traces wait for tables that cannot be asked, nanoseconds, and how many of them.
const IN_VAIN: i64 = 60 * SECOND;
const MOST_SUSPECT: usize = 10_000;

impl Sampler {
    /// Leaves out of `ripe` what was decided long ago: it came late, and is not decided again. What the tables cannot be asked
    /// about now waits, and is left after a while: nothing is evaluated of which that is not known.
    pub(super) async fn undecided(
        &mut self,
        ripe: Vec<(TraceId, OpenTrace)>,
        now: UnixNanos,
    ) -> Vec<(TraceId, OpenTrace)> {
        let Some(tables) = self.tables.clone() else { return ripe };
        let horizon = self.decided.horizon();
        let is_suspect = |(id, trace): &(TraceId, OpenTrace)| {
            !trace.spans.is_empty() && (self.decided.knows(id) == Known::Maybe || trace.may_be_older(horizon))
        };
        let (suspect, mut sure): (Vec<_>, Vec<_>) = ripe.into_iter().partition(is_suspect);
        self.suspect.extend(suspect);
        while !self.suspect.is_empty() {
            let count = self.suspect.len().min(ASKED_AT_ONCE);
            let ids = self.suspect.iter().take(count).map(|(id, _)| *id).collect();
            let known = match (tables.decided)(ids).await {
                Ok(known) => Some(known),
                Err(error) => {
                    let since = *self.in_vain.get_or_insert(now);
                    let is_long = now.since(since) > IN_VAIN || self.suspect.len() > MOST_SUSPECT;
                    tracing::warn!(error, traces = count, is_long, "the tables cannot tell of old traces");
                    if !is_long {
                        return sure;
                    }
                    None
                }
            };
            if known.is_some() {
                self.in_vain = None;
            }
            for (id, trace) in self.suspect.drain(..count).collect::<Vec<_>>() {
                match &known {
                    Some(known) if !known.contains(&id) => sure.push((id, trace)),
                    Some(_) => self.came_late(id, &trace, now),
                    None => late::count("unknown"),
                }
            }
        }
        sure
    }

    /// A trace was opened again by what came long after its decision.
    fn came_late(&mut self, id: TraceId, trace: &OpenTrace, now: UnixNanos) {
        self.decided.note(id, true, now);
        for span in trace.spans.keys() {
            self.late.note(id, *span, true, trace.first_seq, now);
        }
    }

    /// Looks at traces of which something came late: asks the tables for them, and queues what follows. When it returns, what
    /// was queued is durable.
    pub(super) async fn look_again(&mut self) -> Result<(), JournalError> {
        let Some(tables) = self.tables.clone().filter(|_| self.late.is_on()) else { return Ok(()) };
        let now = self.clock.now();
        while self.late.busy() < LOOKS_AT_ONCE
            && let Some((trace, late)) = self.late.take(now)
        {
            let (asked, until, to) = ((tables.trace)(trace, self.at), self.at, self.found.0.clone());
            tokio::spawn(async move {
                // Who asked may have stopped; the next start reads the spans again.
                let _ = to.send((trace, late, until, asked.await));
            });
        }
        while let Ok((trace, late, until, rows)) = self.found.1.try_recv() {
            let (rules, queue, config) = (&self.rules, &self.queue, &self.config);
            let looked = Looked { rules, queue, config, until, now };
            let found = tokio::task::block_in_place(|| {
                rows.and_then(|rows| again(trace, &late, &rows, &looked).map_err(|e| e.to_string()))
            });
            self.queue_again(trace, late, found, now).await?;
        }
        Ok(())
    }

    /// Queues what follows from what came late of a trace.
    async fn queue_again(
        &mut self,
        trace: TraceId,
        late: Late,
        found: Result<Again, String>,
        now: UnixNanos,
    ) -> Result<(), JournalError> {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let waits = self.late.put_back(trace, late, now);
                tracing::warn!(%trace, error, waits, "the tables cannot tell of spans that came late");
                late::count(if waits { "waits" } else { "unknown" });
                return Ok(());
            }
        };
        let outcome = match (found.items.is_empty(), found.is_refused, found.must_wait) {
            (false, _, _) => "queued",
            (true, _, true) => "waits",
            (true, true, false) => "refused",
            (true, false, false) => "unchanged",
        };
        if !found.items.is_empty() {
            let mut frame = Outgoing { decisions: found.decisions, ..Outgoing::default() };
            frame.first_seq = Some(late.first_seq);
            found.items.into_iter().for_each(|item| {
                let bytes = size(&item);
                frame.push(item, bytes);
            });
            self.append(frame).await?;
        }
        if !found.must_wait {
            self.late.done(&trace);
        } else if !self.late.put_back(trace, late, now) {
            late::count("given up");
            return Ok(());
        }
        late::count(outcome);
        Ok(())
    }
}
