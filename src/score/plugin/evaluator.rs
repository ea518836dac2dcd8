//! A plug-in as an evaluator.

use super::ledger::Job;
use super::worker::Core;
use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Evaluator, Metric, Pace, Places, Said, Waits};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// One plug-in. Its workers end when it is dropped.
pub(super) struct PluginEvaluator {
    id: String,
    core: Arc<Core>,
    jobs: Sender<Job>,
    /// Items that wait for it, those in a batch included.
    places: usize,
    /// Starts the workers, once.
    start: Arc<dyn Fn() + Send + Sync>,
}

impl PluginEvaluator {
    /// The plug-in of `core`, which takes `jobs`: those that wait, and a batch for each that works on one.
    pub(super) fn new(core: Arc<Core>, jobs: Sender<Job>, start: Arc<dyn Fn() + Send + Sync>) -> Self {
        let places = jobs.max_capacity() + core.config.batch * core.config.concurrency;
        Self { id: core.config.id(), core, jobs, places, start }
    }

    /// Items that may be in work for it at once.
    pub(super) fn at_once(&self) -> usize {
        self.places
    }

    fn away(&self, why: &str) -> Away {
        Away::new(format!("plug-in {}: {why}", self.core.config.name), false, None)
    }
}

impl Evaluator for PluginEvaluator {
    fn id(&self) -> &str {
        &self.id
    }

    fn version(&self) -> &str {
        &self.core.known.facts().version
    }

    fn metrics(&self) -> &[Metric] {
        &self.core.known.facts().metrics
    }

    fn pace(&self) -> Pace {
        Pace::Slow
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
        self.fail("it asks a plug-in, which cannot be done without waiting")
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

#[async_trait]
impl Waits for PluginEvaluator {
    async fn ask(&self, input: &EvalInput, until: Instant) -> Result<Said, Away> {
        (self.start)();
        // Nothing below this line sees a text that may not be sent.
        if let Err(missing) = self.core.egress.check(input) {
            return Ok(Said { scores: self.skip(missing), usage: None, version: None });
        }
        // At once: nobody need wait for a plug-in that is away.
        if let Some(why) = self.core.presence.shut(Instant::now()) {
            return Err(self.away(&why));
        }
        let input = self.core.egress.redacted(input).await.into_owned();
        let (reply, answer) = oneshot::channel();
        match timeout_at(until, self.jobs.send(Job { input, reply })).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(self.away("the server stops")),
            Err(_) => return Err(self.away("other items keep it busy")),
        }
        match timeout_at(until, answer).await {
            Ok(Ok(told)) => told,
            Ok(Err(_)) => {
                Err(Away { counts: true, ..self.away("the batch broke off; see the server's log") })
            }
            Err(_) => Err(self.away("no answer in time (score.slow_timeout)")),
        }
    }

    fn places(&self) -> Places<'_> {
        let is_shut = self.core.presence.shut(Instant::now()).is_some();
        Places { of: &self.id, most: if is_shut { 0 } else { self.places } }
    }
}
