//! The loop that follows the scores.
//!
//! It reads the journal from its cursor "drift". What changes becomes durable as one frame: the rows of `alerts`, and the
//! state behind them with the position up to which the journal is in it. After a crash the loop finds the newest state
//! behind its cursor and goes on from that position; the same scores give the same changes, so nothing is lost and nothing
//! is said twice. Messages leave only what is durable.

use super::acknowledge::{Acknowledgement, Wish};
use super::anchors::Anchors;
use super::config::{Config, ReceiverConfig};
use super::gauges::Gauges;
use super::notify::{Delivered, Sender};
use super::scores::Definition;
use super::state::{Event, Standing, State};
use crate::domain::time::Clock;
use crate::journal::{Frame, Journal, JournalError, Reader};
use crate::schema::batch::{Alert as Row, alerts_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, FrameKind, Part};
use parking_lot::RwLock;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
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
/// Wishes that wait for the loop.
const MOST_WISHES: usize = 16;
/// Bytes of frames that are read in one go.
const READ_BYTES: usize = 16 << 20;

/// What is watched, and who is told.
#[derive(Clone, Default)]
pub struct Plan {
    /// The alerts, compiled.
    pub definitions: Vec<Definition>,
    /// The receivers.
    pub receivers: Vec<ReceiverConfig>,
}

/// What the loop and those who ask share.
#[derive(Clone)]
pub struct Alerts {
    plan: Arc<RwLock<Arc<Plan>>>,
    standings: Arc<RwLock<Vec<Standing>>>,
    position: Arc<AtomicU64>,
    anchors: Arc<RwLock<Arc<Anchors>>>,
    journal: Journal,
    wishes: mpsc::Sender<Asked>,
}

/// What somebody wants acknowledged, and who waits for the answer.
type Asked = (Wish, oneshot::Sender<Vec<Acknowledgement>>);

impl Alerts {
    /// Has the loop go on with another plan: alerts whose definition is the same keep their state, others begin anew.
    pub fn replace(&self, plan: Plan) {
        *self.plan.write() = Arc::new(plan);
    }

    /// The frame up to which the scores have entered the alerts, and what changed by them is durable.
    pub fn position(&self) -> u64 {
        self.position.load(Ordering::Acquire)
    }

    /// What the anchors say from now on; messages about what fires repeat it.
    pub fn set_anchors(&self, anchors: Anchors) {
        *self.anchors.write() = Arc::new(anchors);
    }

    /// What the anchors say.
    pub fn anchors(&self) -> Arc<Anchors> {
        self.anchors.read().clone()
    }

    /// Every slice of every alert, as the loop left it.
    pub fn standings(&self) -> Vec<Standing> {
        self.standings.read().clone()
    }

    /// Acknowledges what fires. When it returns, that is durable and shown; it is empty if nothing of the kind fires, and none
    /// if the loop has stopped, so that it is not known whether it was written.
    pub async fn acknowledge(&self, wish: Wish) -> Option<Vec<Acknowledgement>> {
        let (to, answer) = oneshot::channel();
        self.wishes.send((wish, to)).await.ok()?;
        answer.await.ok()
    }

    /// Whether an alert of this name is watched.
    pub fn is_defined(&self, name: &str) -> bool {
        self.plan.read().definitions.iter().any(|definition| definition.config.name == name)
    }

    /// Has the baseline of an alert learned anew, in one slice or in all. When it returns, that is durable; the loop does
    /// it when it comes to that place of the journal. False if there is no such alert.
    ///
    /// # Errors
    /// When the journal does not take it.
    pub async fn rebase(&self, alert: &str, slice: Option<&str>) -> Result<bool, JournalError> {
        if !self.is_defined(alert) {
            return Ok(false);
        }
        let event = Event::Rebase { alert: alert.to_owned(), slice: slice.map(str::to_owned) };
        let failed = |error: &dyn std::fmt::Display| JournalError::Payload { cause: error.to_string() };
        let bytes = event.encode().map_err(|error| failed(&error))?;
        let (kind, payload) = frame::encode(&[Part::Drift(bytes)]).map_err(|error| failed(&error))?;
        self.journal.append_durably(kind.0, payload).await?;
        Ok(true)
    }
}

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
        let mut state = State::default();
        state.applied = cursor;
        let mut ahead = journal.reader(cursor)?;
        while let Some(frame) = ahead.next()? {
            for event in events(&frame) {
                if let Event::State(found) = event {
                    state = *found;
                }
            }
        }
        state.fit(&plan.definitions);
        let reader = journal.reader(state.applied)?;
        let (plan, saved) = (Arc::new(plan), cursor);
        let position = Arc::new(AtomicU64::new(state.applied));
        let (shared, standings, anchors) =
            (Arc::new(RwLock::new(plan.clone())), Arc::default(), Arc::default());
        let (to, wishes) = mpsc::channel(MOST_WISHES);
        let alerts = Alerts { plan: shared, standings, position, anchors, journal, wishes: to };
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
            self.acknowledge().await?;
            if stopping {
                self.let_land().await;
            }
            self.alerts.position.store(self.state.applied, Ordering::Release);
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
        let plan = self.alerts.plan.read().clone();
        if !Arc::ptr_eq(&plan, &self.plan) {
            self.state.fit(&plan.definitions);
            self.sender.set_receivers(&plan.receivers);
            (self.plan, self.has_news) = (plan, true);
            self.show();
        }
    }

    /// Applies what the journal has, up to the first change; true if there is more. When it returns, the change is durable.
    pub(super) async fn follow(&mut self) -> Result<bool, JournalError> {
        let (rows, has_more) = tokio::task::block_in_place(|| self.read())?;
        if !rows.is_empty() {
            self.write(&rows).await?;
            for row in &rows {
                metrics::counter!("groundline_alert_changes_total", "alert" => row.alert.clone(), "state" => row.state)
                    .increment(1);
                tracing::warn!(alert = row.alert, slice = row.slice, state = row.state, "{}", row.message);
            }
            self.show();
        }
        Ok(has_more)
    }

    fn read(&mut self) -> Result<(Vec<Row>, bool), JournalError> {
        if !self.is_used() {
            // Nothing is watched: what is durable needs no look.
            let durable = self.alerts.journal.durable();
            (self.reader, self.state.applied) = (self.alerts.journal.reader(durable)?, durable);
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
        for event in events(frame) {
            if let Event::Rebase { alert, slice } = event {
                let slices = self.state.rebase(definitions, &alert, slice.as_deref());
                tracing::info!(alert, slices, "baselines are learned anew");
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
        let anchors = self.alerts.anchors();
        batches.flat_map(|batch| self.state.apply(definitions, &batch, &anchors)).collect()
    }

    /// Does what was wished for, and answers when it is durable.
    pub(super) async fn acknowledge(&mut self) -> Result<(), JournalError> {
        while let Ok((wish, to)) = self.wishes.try_recv() {
            let plan = self.plan.clone();
            let (known, rows) = self.state.acknowledge(&plan.definitions, &wish, self.clock.now());
            if !known.is_empty() {
                self.write(&rows).await?;
                tracing::info!(alert = wish.alert, slices = known.len(), by = wish.by, "acknowledged");
                self.show();
            }
            // Who asked may have gone.
            let _ = to.send(known);
        }
        Ok(())
    }

    /// Whether there is a state to be found again.
    fn is_used(&self) -> bool {
        !self.plan.definitions.is_empty() || !self.state.notices.is_empty()
    }

    /// Makes the state durable, with the rows that belong to it.
    async fn write(&mut self, rows: &[Row]) -> Result<(), JournalError> {
        let encoded = encoded(rows, &self.state);
        let (kind, payload) = encoded.map_err(|error| JournalError::Payload { cause: error.to_string() })?;
        let seq = self.alerts.journal.append_durably(kind.0, payload).await?;
        self.own.push_back(seq);
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
        for done in self.sender.finished() {
            let notices = &mut self.state.notices;
            match done {
                Delivered::Taken(id) => notices.retain(|notice| notice.id != id),
                Delivered::Failed { id, not_before } => {
                    for notice in notices.iter_mut().filter(|notice| notice.id == id) {
                        (notice.failed, notice.not_before) = (notice.failed + 1, not_before);
                    }
                }
            }
            self.has_news = true;
        }
    }

    /// Takes note of what was delivered, and hands on what waits.
    fn deliver(&mut self) {
        self.note();
        let now = self.clock.now();
        if self.state.expire(now) {
            self.has_news = true;
            self.show();
        }
        self.sender.send(&self.state.notices, &self.state.firing, now);
    }

    /// Shows the state to endpoints and metrics.
    fn show(&mut self) {
        let standings = self.state.standings(&self.plan.definitions);
        self.gauges.show(&standings);
        *self.alerts.standings.write() = standings;
        self.is_stale = false;
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
