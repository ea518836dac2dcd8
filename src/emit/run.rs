//! The loop that follows the journal and sends.
//!
//! What is sent is gathered from frames up to the size of a request, sent until it is taken, refused, or beyond the limits, and
//! only then is the cursor moved: after a crash the same rows leave again. Both limits are looked at while an attempt or a pause
//! lasts, so that a backend that hangs keeps back no more than one that refuses.

use super::backend::Backend;
use super::config::Config;
use super::load::Load;
use super::signal::Signal;
use super::verdict::{LONGEST_PAUSE, Verdict};
use crate::domain::time::Clock;
use crate::journal::{Frame, Journal, JournalError, Reader};
use crate::schema::frame::{self, FrameKind, Part};
use crate::units::nanos;
use arrow::array::RecordBatch;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the journal is looked at.
const TICK: Duration = Duration::from_millis(200);
/// How often the cursor moves.
const SAVE: Duration = Duration::from_secs(2);
/// How often the limits are looked at while a request is under way.
const LOOK: Duration = Duration::from_millis(500);
/// The first pause between attempts; each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// So often a request is sent on which the backend fails by itself.
const MOST_FAILURES: u32 = 5;
/// Bytes of frames that are left out in one go.
const SKIP_BYTES: usize = 64 << 20;

/// The loop, and what it owns.
pub struct Emitter {
    signal: Signal,
    journal: Journal,
    config: Config,
    clock: Arc<dyn Clock>,
    backend: Backend,
    reader: Reader,
    /// Everything up to this frame was taken, refused or left out.
    done: u64,
    /// Where the cursor stands.
    saved: u64,
    /// Whether the last attempt came to nothing.
    is_away: bool,
}

/// What was read in one go.
struct Gathered {
    loads: VecDeque<Load>,
    /// The last frame that it is from.
    through: u64,
    /// When the last of it came, microseconds since 1970.
    newest: Option<i64>,
}

/// How a load ended.
enum Ended {
    /// It was taken or refused.
    Settled,
    /// It must be sent in pieces; why.
    TooLarge(String),
    /// Not at all: the limits are reached, or the server stops.
    Open,
}

impl Emitter {
    /// The loops of all that leaves, each with the settings of its own backend.
    ///
    /// # Errors
    /// Those of reading the journal.
    pub fn all(
        journal: &Journal,
        [results, spans, logs]: [&Config; 3],
        clock: &Arc<dyn Clock>,
    ) -> Result<[Self; 3], JournalError> {
        let one =
            |signal, config: &Config| Self::open(signal, journal.clone(), config.clone(), clock.clone());
        Ok([one(Signal::Results, results)?, one(Signal::Spans, spans)?, one(Signal::Logs, logs)?])
    }

    /// Stands where it stood before. Without an endpoint it only lets the journal go on.
    fn open(
        signal: Signal,
        journal: Journal,
        config: Config,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, JournalError> {
        let saved = journal.cursor(signal.section())?;
        let (reader, backend) = (journal.reader(saved)?, Backend::new(signal, config.clone()));
        Ok(Self { signal, journal, config, clock, backend, reader, done: saved, saved, is_away: false })
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), JournalError> {
        let mut last = Instant::now();
        while !stop.is_cancelled() {
            let is_idle = if self.config.otlp_endpoint.is_empty() {
                // Nothing leaves: what is durable needs no look.
                self.done = self.journal.durable();
                self.reader = self.journal.reader(self.done)?;
                true
            } else {
                !self.step(&stop).await?
            };
            if last.elapsed() > SAVE {
                self.save()?;
                last = Instant::now();
            }
            if is_idle {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(TICK) => {}
                }
            }
        }
        self.save()
    }

    /// Sends what comes next, or leaves out what the limits do not allow; false if nothing is durable that was not seen.
    async fn step(&mut self, stop: &CancellationToken) -> Result<bool, JournalError> {
        if self.is_over(None) {
            self.make_room()?;
            return Ok(true);
        }
        let Some(gathered) = tokio::task::block_in_place(|| self.gather())? else { return Ok(false) };
        let Gathered { mut loads, through, newest } = gathered;
        while let Some(load) = loads.pop_front() {
            match self.deliver(&load, newest, stop).await {
                Ended::Settled => {}
                Ended::TooLarge(why) => match load.halves() {
                    Some([first, second]) => {
                        [second, first].into_iter().for_each(|half| loads.push_front(half))
                    }
                    None => self.refused(&load, &why),
                },
                Ended::Open => {
                    self.reader = self.journal.reader(self.done)?;
                    if !stop.is_cancelled() {
                        self.make_room()?;
                    }
                    return Ok(true);
                }
            }
        }
        self.done = through;
        Ok(true)
    }

    /// Reads frames up to the size of a request; none if there is no frame.
    fn gather(&mut self) -> Result<Option<Gathered>, JournalError> {
        let most = self.config.max_request_size.in_memory();
        let (mut batches, mut bytes) = (Vec::new(), 0);
        while bytes < most
            && let Some(frame) = self.reader.next()?
        {
            let rows = self.rows(&frame);
            if self.signal.count(&rows) > 0 {
                bytes += frame.payload.len();
                batches.extend(rows);
            }
        }
        // Damaged frames are passed over too.
        let (through, newest) = (self.reader.position(), self.signal.newest(&batches));
        let loads = Load::cut(batches, bytes, most).into();
        Ok((through > self.done).then_some(Gathered { loads, through, newest }))
    }

    /// The rows of a frame that leave.
    fn rows(&self, frame: &Frame) -> Vec<RecordBatch> {
        let wanted = FrameKind::of(self.signal.table());
        if !FrameKind(frame.kind).meets(wanted) {
            return Vec::new();
        }
        let parts = frame::decode(&frame.payload, wanted).unwrap_or_else(|error| {
            metrics::counter!("groundline_frames_unreadable_total").increment(1);
            tracing::error!(seq = frame.seq, %error, "journal frame does not leave");
            Vec::new()
        });
        let table = self.signal.table();
        let rows = parts.into_iter().filter_map(|part| match part {
            Part::Rows(of, batch) if of == table => Some(batch),
            _ => None,
        });
        rows.collect()
    }

    /// Sends a load until it is settled, must be cut, or the limits are reached.
    async fn deliver(&mut self, load: &Load, newest: Option<i64>, stop: &CancellationToken) -> Ended {
        let request = match tokio::task::block_in_place(|| self.signal.request(load.rows())) {
            Ok(request) => request,
            Err(why) => {
                return if load.len() > 1 { Ended::TooLarge(why) } else { self.settled_unsent(load, &why) };
            }
        };
        if request.len() as u64 > self.config.max_request_size.bytes() && load.len() > 1 {
            return Ended::TooLarge(String::new());
        }
        let (mut pause, mut failures) = (FIRST_PAUSE, 0);
        loop {
            let Some(verdict) = self.attempt(request.clone(), newest, stop).await else { return Ended::Open };
            self.is_away = matches!(verdict, Verdict::Later { .. } | Verdict::Failed(_));
            self.show();
            let (why, asked) = match verdict {
                Verdict::Taken { rejected, said } => {
                    self.taken(load, rejected, &said);
                    return Ended::Settled;
                }
                Verdict::TooLarge(why) => return Ended::TooLarge(why),
                Verdict::Refused(why) => {
                    self.refused(load, &why);
                    return Ended::Settled;
                }
                Verdict::Later { why, pause } => (why, pause),
                Verdict::Failed(why) => {
                    failures += 1;
                    if failures >= MOST_FAILURES {
                        self.refused(load, &why);
                        return Ended::Settled;
                    }
                    (why, None)
                }
            };
            let wait = pause.max(asked.unwrap_or_default());
            tracing::warn!(
                to = self.signal.section(),
                why,
                "{} are sent again in {wait:?}",
                self.signal.noun()
            );
            tokio::select! {
                () = stop.cancelled() => return Ended::Open,
                () = tokio::time::sleep(wait) => {}
                () = Self::limits(&self.journal, &self.config, &*self.clock, self.done, newest) => return Ended::Open,
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One attempt; none if the server stops or the limits are reached before the answer.
    async fn attempt(
        &mut self,
        body: bytes::Bytes,
        newest: Option<i64>,
        stop: &CancellationToken,
    ) -> Option<Verdict> {
        // A backend that answers is given its time: only one that was away already loses by age.
        let aged = newest.filter(|_| self.is_away);
        let limits = Self::limits(&self.journal, &self.config, &*self.clock, self.done, aged);
        tokio::select! {
            () = stop.cancelled() => None,
            verdict = self.backend.send(body) => Some(verdict),
            () = limits => None,
        }
    }

    /// Ends when more of the journal waits than may, or what came at `newest` has waited for too long.
    async fn limits(journal: &Journal, config: &Config, clock: &dyn Clock, done: u64, newest: Option<i64>) {
        loop {
            tokio::time::sleep(LOOK).await;
            if is_full(journal, config, done) || newest.is_some_and(|newest| is_old(config, clock, newest)) {
                return;
            }
        }
    }

    /// Whether what comes next may not wait, with what came last in it at `newest`.
    fn is_over(&self, newest: Option<i64>) -> bool {
        is_full(&self.journal, &self.config, self.done)
            || (self.is_away && newest.is_some_and(|newest| is_old(&self.config, &*self.clock, newest)))
    }

    /// Leaves out what the limits do not allow. It is counted when it is durable that it does not leave: after a crash nothing
    /// of it does.
    fn make_room(&mut self) -> Result<(), JournalError> {
        let count = tokio::task::block_in_place(|| self.leave_out())?;
        self.save()?;
        if count > 0 {
            self.signal.told("dropped", count);
            let section = self.signal.section();
            tracing::error!(
                count,
                "{} are left out: the backend of [{section}] was away for longer than {section}.max_age or \
                 {section}.max_disk_size allow",
                self.signal.noun()
            );
        }
        Ok(())
    }

    /// Passes over frames until the limits allow the next one, or for a while; gives how many rows were in them.
    fn leave_out(&mut self) -> Result<u64, JournalError> {
        self.reader = self.journal.reader(self.done)?;
        let (mut rows_left, mut bytes) = (0, 0);
        while bytes < SKIP_BYTES {
            let Some(frame) = self.reader.next()? else {
                self.done = self.reader.position().max(self.done);
                break;
            };
            let rows = self.rows(&frame);
            if !rows.is_empty() && !self.is_over(self.signal.newest(&rows)) {
                break;
            }
            rows_left += self.signal.count(&rows);
            bytes += frame.payload.len();
            self.done = frame.seq;
        }
        self.reader = self.journal.reader(self.done)?;
        self.show();
        Ok(rows_left)
    }

    fn taken(&self, load: &Load, rejected: u64, said: &str) {
        let count = self.signal.count(load.rows());
        let rejected = rejected.min(count);
        self.signal.told("sent", count - rejected);
        if rejected > 0 {
            self.signal.told("rejected", rejected);
        }
        if rejected > 0 || !said.is_empty() {
            let to = self.signal.section();
            tracing::warn!(to, rejected, count, said, "the backend says something of {}", self.signal.noun());
        }
    }

    fn refused(&self, load: &Load, why: &str) {
        let (count, noun) = (self.signal.count(load.rows()), self.signal.noun());
        tracing::error!(to = self.signal.section(), why, count, "{noun} were refused and are left out");
        self.signal.told("refused", count);
    }

    fn settled_unsent(&self, load: &Load, why: &str) -> Ended {
        self.refused(load, why);
        Ended::Settled
    }

    /// Shows how the backend is, and what waits for it.
    fn show(&self) {
        let section = self.signal.section();
        let held = if self.done < self.journal.durable() { self.journal.held_after(self.done) } else { 0 };
        metrics::gauge!("groundline_backend_held_bytes", "section" => section).set(held as f64);
        metrics::gauge!("groundline_backend_away", "section" => section)
            .set(f64::from(u8::from(self.is_away)));
    }

    /// Moves the cursor to what needs not be sent again.
    fn save(&mut self) -> Result<(), JournalError> {
        if !self.config.otlp_endpoint.is_empty() {
            self.show();
        }
        if self.done <= self.saved {
            return Ok(());
        }
        let (journal, section, done) = (&self.journal, self.signal.section(), self.done);
        match tokio::task::block_in_place(|| journal.set_cursor(section, done)) {
            Ok(()) => self.saved = done,
            Err(error) if error.is_retryable() => tracing::warn!(%error, "the cursor is moved later"),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Whether more of the journal lies behind `done` than may. What is durable and behind nobody else keeps nothing back.
fn is_full(journal: &Journal, config: &Config, done: u64) -> bool {
    done < journal.durable() && journal.held_after(done) > config.max_disk_size.bytes()
}

/// Whether what came at `newest`, microseconds since 1970, is older than what may wait.
fn is_old(config: &Config, clock: &dyn Clock, newest: i64) -> bool {
    let age = clock.now().micros().saturating_sub(newest);
    age > nanos(config.max_age) / 1_000
}
