//! What the loop and those who ask it share.

use super::acknowledge::{Acknowledgement, Wish};
use super::anchors::Anchors;
use super::config::{Method, ReceiverConfig};
use super::delivery::Delivery;
use super::scores::Definition;
use super::silence::{Silence, SilenceFault, SilenceWish, configured};
use super::state::{Event, Standing};
use crate::domain::time::Clock;
use crate::journal::{Journal, JournalError};
use crate::schema::frame::{self, Part};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, oneshot};

/// Wishes that wait for the loop.
const MOST_WISHES: usize = 16;

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
    silences: Arc<RwLock<Vec<Silence>>>,
    deliveries: Arc<RwLock<Vec<Delivery>>>,
    position: Arc<AtomicU64>,
    anchors: Arc<RwLock<Arc<Anchors>>>,
    pub(super) journal: Journal,
    clock: Arc<dyn Clock>,
    wishes: mpsc::Sender<Asked>,
}

/// What somebody wants of the loop, and who waits for the answer.
pub(super) enum Asked {
    Acknowledge(Wish, oneshot::Sender<Vec<Acknowledgement>>),
    Silence(SilenceWish, oneshot::Sender<Result<Silence, SilenceFault>>),
    Unsilence(String, oneshot::Sender<bool>),
}

/// Why a baseline is not learned anew.
#[derive(Debug, thiserror::Error)]
pub enum RebaseFault {
    /// Nothing of the name is watched.
    #[error("there is no alert of this name; GET /v1/alerts lists them")]
    Alert,
    /// The alert has seen no score of the slice.
    #[error("the alert has no slice {0:?}; GET /v1/alerts lists them, and without a slice all are meant")]
    Slice(String),
    /// The method, by name, has nothing to learn.
    #[error("the alert has the method {0}, which learns no baseline: only change does")]
    Method(&'static str),
    /// The journal does not take it.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Alerts {
    /// What is shared, with `plan` and the position from which on the journal is read, and where wishes arrive.
    pub(super) fn new(
        journal: Journal,
        plan: Arc<Plan>,
        position: u64,
        clock: Arc<dyn Clock>,
    ) -> (Self, mpsc::Receiver<Asked>) {
        let (wishes, asked) = mpsc::channel(MOST_WISHES);
        let (plan, position) = (Arc::new(RwLock::new(plan)), Arc::new(AtomicU64::new(position)));
        let (standings, silences, anchors) = (Arc::default(), Arc::default(), Arc::default());
        let deliveries = Arc::default();
        (Self { plan, standings, silences, deliveries, position, anchors, journal, clock, wishes }, asked)
    }

    /// The plan that was set last.
    pub(super) fn plan(&self) -> Arc<Plan> {
        self.plan.read().clone()
    }

    /// Shows how alerts stand and what is silent, as the loop knows it.
    pub(super) fn show(&self, standings: Vec<Standing>, silences: Vec<Silence>) {
        *self.standings.write() = standings;
        *self.silences.write() = silences;
    }

    /// Shows who was told, as the loop knows it.
    pub(super) fn show_deliveries(&self, deliveries: Vec<Delivery>) {
        *self.deliveries.write() = deliveries;
    }

    /// Tells how far the loop is.
    pub(super) fn set_position(&self, position: u64) {
        self.position.store(position, Ordering::Release);
    }

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

    /// Who was told of what, what waits for a receiver, and what nobody took: of each receiver and slice the last message of
    /// which it is known what came of it, and those that wait.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.deliveries.read().clone()
    }

    /// Acknowledges what fires. When it returns, that is durable and shown; it is empty if nothing of the kind fires, and none
    /// if the loop has stopped, so that it is not known whether it was written.
    pub async fn acknowledge(&self, wish: Wish) -> Option<Vec<Acknowledgement>> {
        let (to, answer) = oneshot::channel();
        self.wishes.send(Asked::Acknowledge(wish, to)).await.ok()?;
        answer.await.ok()
    }

    /// The silences that are not over: those that were asked for, and those of the configuration as it is now.
    pub fn silences(&self) -> Vec<Silence> {
        let now = self.clock.now();
        let mut all = self.silences.read().clone();
        all.extend(
            self.plan
                .read()
                .definitions
                .iter()
                .flat_map(|one| configured(&one.config.name, &one.config.silences)),
        );
        all.retain(|silence| now.0 < silence.until);
        all
    }

    /// Begins a silence. When it returns, that is durable; none if the loop has stopped, so that it is not known.
    pub async fn silence(&self, wish: SilenceWish) -> Option<Result<Silence, SilenceFault>> {
        let (to, answer) = oneshot::channel();
        self.wishes.send(Asked::Silence(wish, to)).await.ok()?;
        answer.await.ok()
    }

    /// Ends a silence that was asked for. When it returns, that is durable; false if there is none of this id, none if the loop
    /// has stopped, so that it is not known.
    pub async fn unsilence(&self, id: String) -> Option<bool> {
        let (to, answer) = oneshot::channel();
        self.wishes.send(Asked::Unsilence(id, to)).await.ok()?;
        answer.await.ok()
    }

    /// The columns by which alerts cut the traffic: those of the alert `name`, or of all.
    pub fn columns(&self, name: Option<&str>) -> Vec<String> {
        let plan = self.plan();
        let wanted = |one: &&Definition| name.is_none_or(|name| one.config.name == name);
        let of = plan.definitions.iter().filter(wanted);
        let mut columns: Vec<String> = of.flat_map(|one| one.config.slices.clone()).collect();
        columns.sort();
        columns.dedup();
        columns
    }

    /// Whether an alert of this name is watched.
    pub fn is_defined(&self, name: &str) -> bool {
        self.plan.read().definitions.iter().any(|definition| definition.config.name == name)
    }

    /// Has the baseline of an alert learned anew, in one slice or in all. When it returns, that is durable; the loop does
    /// it when it comes to that place of the journal, and what fires there ends.
    ///
    /// # Errors
    /// When there is no such alert, its method has no baseline, it has no such slice, or the journal does not take it.
    pub async fn rebase(&self, alert: &str, slice: Option<&str>) -> Result<(), RebaseFault> {
        let plan = self.plan();
        let found = plan.definitions.iter().find(|definition| definition.config.name == alert);
        let method = found.ok_or(RebaseFault::Alert)?.config.method;
        if method != Method::Change {
            return Err(RebaseFault::Method(method.as_str()));
        }
        let is_known =
            |slice: &str| self.standings.read().iter().any(|s| s.alert == alert && s.slice == slice);
        if let Some(unknown) = slice.filter(|slice| !is_known(slice)) {
            return Err(RebaseFault::Slice(unknown.to_owned()));
        }
        let event = Event::Rebase { alert: alert.to_owned(), slice: slice.map(str::to_owned) };
        let failed = |error: &dyn std::fmt::Display| JournalError::Payload { cause: error.to_string() };
        let bytes = event.encode().map_err(|error| failed(&error))?;
        let (kind, payload) = frame::encode(&[Part::Drift(bytes)]).map_err(|error| failed(&error))?;
        self.journal.append_durably(kind.0, payload).await?;
        Ok(())
    }
}
