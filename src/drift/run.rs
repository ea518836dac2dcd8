//! The loop that follows the scores.
//!
//! It reads the journal from its cursor "drift". What changes becomes durable as one frame: the rows of `alerts`, and the
//! state behind them with the position up to which the journal is in it. After a crash the loop finds the newest state
//! behind its cursor and goes on from that position; the same scores give the same changes, so nothing is lost and nothing
//! is said twice. Messages leave only what is durable.

use super::config::Config;
use super::gauges::Gauges;
use super::handle::{Alerts, Asked, Plan};
use super::notify::{Delivered, Sender};
use super::scores::Definition;
use super::state::{Event, State};
use crate::domain::time::{Clock, UnixNanos};
use crate::journal::{Frame, Journal, JournalError, Reader};
use crate::schema::batch::{Alert as Row, alerts_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, FrameKind, Part};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The name of the journal cursor behind which the state has everything.
const CURSOR: &str = "drift";
/// How often the journal is looked at.
const TICK: Duration = Duration::from_millis(100);
/// How often the state is written when scores came but nothing changed.
const SAVE: Duration = Duration::from_secs(10);
/// How often the cursor moves where nothing is watched.
const LET_GO: Duration = Duration::from_secs(2);
/// How long a stop waits for messages in the air.
const LANDS: Duration = Duration::from_secs(2);
/// How often the state is shown when nothing changed.
const SHOW: Duration = Duration::from_secs(1);
/// Bytes of frames that are read in one go.
const READ_BYTES: usize = 16 << 20;

/// The loop, and what it owns.
pub struct Watcher {
    alerts: Alerts,
    /// The plan that the state belongs to.
    plan: Arc<Plan>,
    clock: Arc<dyn Clock>,
    reader: Reader,
    state: State,
    sender: Sender,
    /// The position up to which everything is in a durable state.
    saved: u64,
    /// Whether something came since that is worth writing.
    has_news: bool,
    /// Whether scores came since the state was shown.
    is_stale: bool,
    /// Its own frames that it has not come to yet: it knows what they say.
    own: VecDeque<u64>,
    /// Rows of what ended because its definition changed, which are not written yet.
    owed: Vec<Row>,
    /// When the loop began.
    opened: UnixNanos,
    wishes: mpsc::Receiver<Asked>,
    gauges: Gauges,
}

impl Watcher {
    /// Reads the newest state behind the cursor. When it returns, the state is as it was when it last became durable.
    ///
    /// # Errors
    /// Those of reading the journal.
    pub fn open(
        journal: Journal,
        plan: Plan,
        config: Config,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, JournalError> {
        let cursor = journal.cursor(CURSOR)?;
        let mut state = State { applied: cursor, ..State::default() };
        let mut ahead = journal.reader(cursor)?;
        while let Some(frame) = ahead.next()? {
            for event in events(&frame) {
                if let Event::State(found) = event {
                    state = *found;
                }
            }
        }
        let opened = clock.now();
        let owed = state.fit(&plan.definitions, opened);
        // Of what is no longer watched nobody asks who was told.
        let is_defined = |alert: &str| plan.definitions.iter().any(|one| one.config.name == alert);
        state.deliveries.fit(is_defined, &state.notices);
        let reader = journal.reader(state.applied)?;
        let (plan, saved) = (Arc::new(plan), cursor);
        let (alerts, wishes) = Alerts::new(journal, plan.clone(), state.applied, clock.clone());
        let sender = Sender::new(config, &plan.receivers);
        let mut watcher = Self {
            alerts,
            plan,
            clock,
            reader,
            state,
            sender,
            saved,
            has_news: false,
            is_stale: false,
            own: VecDeque::new(),
            owed,
            opened,
            wishes,
            gauges: Gauges::default(),
        };
        watcher.show();
        Ok(watcher)
    }

    /// What endpoints and metrics look at.
    pub fn alerts(&self) -> Alerts {
        self.alerts.clone()
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    /// When the journal can no longer be read or written.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), JournalError> {
        let mut last = tokio::time::Instant::now();
        let mut shown = last;
        loop {
            let stopping = stop.is_cancelled();
            self.change_plan();
            let has_more = self.follow().await?;
            self.answer().await?;
            // What waits in the journal may be the data that seems to be missing.
            if !has_more {
                self.pass_time().await?;
            }
            if stopping {
                self.let_land().await;
            }
            self.alerts.set_position(self.state.applied);
            if self.has_news && self.is_used() && (stopping || last.elapsed() > SAVE) {
                self.write(&[]).await?;
            }
            // Where nothing is watched, nothing is kept back.
            let is_due = last.elapsed() > if self.is_used() { SAVE } else { LET_GO };
            if stopping || is_due {
                tokio::task::block_in_place(|| self.save())?;
                last = tokio::time::Instant::now();
            }
            if stopping {
                return Ok(());
            }
            self.deliver();
            if self.is_stale && shown.elapsed() > SHOW {
                self.show();
                shown = tokio::time::Instant::now();
            }
            if !has_more {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(TICK) => {}
                }
            }
        }
    }

    /// Goes on with the plan that was set last.
    fn change_plan(&mut self) {
        let plan = self.alerts.plan();
        if !Arc::ptr_eq(&plan, &self.plan) {
            self.owed.extend(self.state.fit(&plan.definitions, self.clock.now()));
            self.sender.set_receivers(&plan.receivers);
            (self.plan, self.has_news) = (plan, true);
            self.show();
        }
    }

    /// Applies what the journal has, up to the first change; true if there is more. When it returns, the change is durable.
    pub(super) async fn follow(&mut self) -> Result<bool, JournalError> {
        // What ended with its definition comes before what follows under the new one.
        if !self.owed.is_empty() {
            let owed = std::mem::take(&mut self.owed);
            self.write_changes(owed).await?;
        }
        // Where there is nothing to read, or to apply it to, no other thread is woken to take over.
        let (rows, has_more) = match self.is_used() && self.alerts.journal.durable() > self.reader.position()
        {
            true => tokio::task::block_in_place(|| self.read())?,
            false => self.read()?,
        };
        if !rows.is_empty() {
            self.write_changes(rows).await?;
        }
        Ok(has_more)
    }

    /// Makes changes durable, and shows and tells them.
    async fn write_changes(&mut self, rows: Vec<Row>) -> Result<(), JournalError> {
        self.write(&rows).await?;
        for row in &rows {
            metrics::counter!("groundline_alert_changes_total", "alert" => row.alert.clone(), "state" => row.state)
                .increment(1);
            tracing::warn!(alert = row.alert, slice = row.slice, state = row.state, "{}", row.message);
        }
        self.show();
        Ok(())
    }

    /// Does what the time brings: the end of silences and acknowledgements, and of what has no data. When it returns, that is
    /// durable.
    pub(super) async fn pass_time(&mut self) -> Result<(), JournalError> {
        let (plan, anchors, now) = (self.plan.clone(), self.alerts.anchors(), self.clock.now());
        let rows = self.state.end_without_data(&plan.definitions, &anchors, self.opened, now);
        let is_changed = self.state.expire(&plan.definitions, &anchors, now);
        if !rows.is_empty() || is_changed {
            self.write_changes(rows).await?;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(Vec<Row>, bool), JournalError> {
        if !self.is_used() {
            // Nothing is watched: what is durable needs no look.
            let durable = self.alerts.journal.durable();
            (self.reader, self.state.applied) = (self.alerts.journal.reader(durable)?, durable);
            // It has passed its own frames, too: none of them is still to come.
            self.own.clear();
            return Ok((Vec::new(), false));
        }
        let plan = self.plan.clone();
        let mut bytes = 0;
        let wanted = FrameKind::of(Table::Scores).and(FrameKind::drift());
        let mut rows = Vec::new();
        while bytes < READ_BYTES {
            let Some(frame) = self.reader.next()? else { return Ok((rows, false)) };
            bytes += frame.payload.len();
            self.state.applied = frame.seq;
            if self.own.pop_front_if(|own| *own <= frame.seq).is_some() {
                continue;
            }
            let kind = FrameKind(frame.kind);
            // Its own frames are no reason to write another one.
            self.has_news |= !kind.meets(FrameKind::drift());
            if plan.definitions.is_empty() || !kind.meets(wanted) {
                continue;
            }
            self.is_stale = true;
            rows = self.apply(&plan.definitions, &frame);
            if !rows.is_empty() {
                return Ok((rows, true));
            }
        }
        Ok((rows, true))
    }

    fn apply(&mut self, definitions: &[Definition], frame: &Frame) -> Vec<Row> {
        let (anchors, now) = (self.alerts.anchors(), self.clock.now());
        let mut rows = Vec::new();
        for event in events(frame) {
            if let Event::Rebase { alert, slice } = event {
                let wanted = (alert.as_str(), slice.as_deref());
                let (slices, ended) = self.state.rebase(definitions, wanted, &anchors, now);
                tracing::info!(alert, slices, "baselines are learned anew");
                rows.extend(ended);
                self.has_news = true;
            }
        }
        let parts = frame::decode(&frame.payload, FrameKind::of(Table::Scores)).unwrap_or_else(|error| {
            metrics::counter!("groundline_frames_unreadable_total").increment(1);
            tracing::error!(seq = frame.seq, %error, "journal frame left out of the alerts");
            Vec::new()
        });
        let batches = parts.into_iter().filter_map(|part| match part {
            Part::Rows(Table::Scores, batch) => Some(batch),
            _ => None,
        });
        rows.extend(batches.flat_map(|batch| self.state.apply(definitions, &batch, &anchors, now)));
        rows
    }

    /// Does what was wished for, and answers when it is durable. Who asked may have gone.
    pub(super) async fn answer(&mut self) -> Result<(), JournalError> {
        while let Ok(asked) = self.wishes.try_recv() {
            let (plan, now) = (self.plan.clone(), self.clock.now());
            match asked {
                Asked::Acknowledge(wish, to) => {
                    let (known, rows) = self.state.acknowledge(&plan.definitions, &wish, now);
                    if !known.is_empty() {
                        self.write(&rows).await?;
                        tracing::info!(
                            alert = wish.alert,
                            slices = known.len(),
                            by = wish.by,
                            "acknowledged"
                        );
                        self.show();
                    }
                    let _ = to.send(known);
                }
                Asked::Silence(wish, to) => {
                    let made = self.state.silence(wish, now);
                    if let Ok(silence) = &made {
                        self.write(&[]).await?;
                        tracing::info!(alert = silence.alert, by = silence.by, id = silence.id, "silenced");
                        self.show();
                    }
                    let _ = to.send(made);
                }
                Asked::Unsilence(id, to) => {
                    let is_done = self.state.unsilence(&id);
                    if is_done {
                        self.write(&[]).await?;
                        tracing::info!(id, "a silence was ended");
                        self.show();
                    }
                    let _ = to.send(is_done);
                }
            }
        }
        Ok(())
    }

    /// Whether there is a state to be found again.
    fn is_used(&self) -> bool {
        let state = &self.state;
        !self.plan.definitions.is_empty() || !state.notices.is_empty() || !state.silences.is_empty()
    }

    /// Makes the state durable, with the rows that belong to it. A state that no frame holds is made smaller, and never ends the
    /// loop.
    async fn write(&mut self, rows: &[Row]) -> Result<(), JournalError> {
        for step in 0.. {
            let encoded = encoded(rows, &self.state);
            let (kind, payload) =
                encoded.map_err(|error| JournalError::Payload { cause: error.to_string() })?;
            let (bytes, limit) = match self.alerts.journal.append_durably(kind.0, payload).await {
                Ok(seq) => {
                    self.own.push_back(seq);
                    break;
                }
                Err(JournalError::FrameTooLarge { bytes, limit }) => (bytes, limit),
                Err(error) => return Err(error),
            };
            metrics::counter!("groundline_alert_state_shrunk_total").increment(1);
            let Some(done) = self.state.shrink(step) else {
                tracing::error!(bytes, %limit, "changes of alerts fit into no frame and are not recorded");
                return Ok(());
            };
            tracing::error!(
                bytes,
                %limit,
                done,
                "the state of alerts is over journal.max_frame_size: lower alerts.max_slices"
            );
        }
        self.saved = self.state.applied;
        self.has_news = false;
        Ok(())
    }

    /// Moves the cursor behind which no frame is needed any more.
    fn save(&mut self) -> Result<(), JournalError> {
        if !self.is_used() {
            self.saved = self.state.applied;
        }
        match self.alerts.journal.set_cursor(CURSOR, self.saved) {
            Err(error) if !error.is_retryable() => Err(error),
            _ => Ok(()),
        }
    }

    /// Waits a moment for messages in the air: what has arrived is not said again after the next start.
    async fn let_land(&mut self) {
        let begun = tokio::time::Instant::now();
        self.note();
        while self.sender.is_busy() && begun.elapsed() < LANDS {
            tokio::time::sleep(Duration::from_millis(10)).await;
            self.note();
        }
    }

    /// Takes note of what was delivered.
    fn note(&mut self) {
        let all = self.sender.finished();
        if all.is_empty() {
            return;
        }
        let now = self.clock.now();
        for tried in all {
            let (id, notices) = (tried.notice.id, &mut self.state.notices);
            match &tried.delivered {
                // A repetition leaves what waits as it is.
                _ if !tried.counts => {}
                Delivered::Taken | Delivered::Lost(..) => notices.retain(|notice| notice.id != id),
                Delivered::Failed { not_before, .. } => {
                    for notice in notices.iter_mut().filter(|notice| notice.id == id) {
                        (notice.failed, notice.not_before) = (notice.failed + 1, *not_before);
                    }
                }
            }
            self.has_news |= tried.counts;
            self.state.deliveries.note(tried, now);
        }
        self.show_deliveries();
    }

    /// Takes note of what was delivered, and hands on what waits.
    fn deliver(&mut self) {
        self.note();
        let now = self.clock.now();
        self.sender.send(&self.state.notices, &self.state.firing, now);
    }

    /// Shows the state to endpoints and metrics.
    fn show(&mut self) {
        let standings = self.state.standings(&self.plan.definitions);
        self.gauges.show(&standings);
        self.alerts.show(standings, self.state.silences.clone());
        self.show_deliveries();
        self.is_stale = false;
    }

    /// Shows who was told and what waits.
    fn show_deliveries(&self) {
        let state = &self.state;
        self.alerts.show_deliveries(state.deliveries.all(&state.notices, &state.firing, &state.held));
    }
}

fn encoded(rows: &[Row], state: &State) -> Result<(FrameKind, bytes::Bytes), FrameError> {
    let mut parts = Vec::new();
    if !rows.is_empty() {
        parts.push(Part::Rows(Table::Alerts, alerts_to_batch(rows)?));
    }
    let event = Event::State(Box::new(state.clone())).encode();
    parts.push(Part::Drift(event.map_err(|e| arrow::error::ArrowError::ExternalError(Box::new(e)))?));
    frame::encode(&parts)
}

/// What a frame says to alerts.
fn events(frame: &Frame) -> Vec<Event> {
    let wanted = FrameKind::drift();
    if !FrameKind(frame.kind).meets(wanted) {
        return Vec::new();
    }
    let told = |error: &dyn std::fmt::Display| {
        metrics::counter!("groundline_frames_unreadable_total").increment(1);
        tracing::error!(seq = frame.seq, %error, "state of alerts left out");
    };
    let parts = frame::decode(&frame.payload, wanted).inspect_err(|error| told(error)).unwrap_or_default();
    let drift = parts.into_iter().filter_map(|part| match part {
        Part::Drift(bytes) => Event::decode(&bytes).inspect_err(|error| told(error)).ok(),
        Part::Rows(..) | Part::Queue(_) => None,
    });
    drift.collect()
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
