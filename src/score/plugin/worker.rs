//! Batches of a plug-in: what waits is sent together, and what failed in one is sent alone.
//!
//! An item counts as the cause of a fault where it failed alone, and twice, or right after the plug-in has described itself.
//! Where a fault takes the plug-in away before that is known, what comes after is sent one by one for a while: otherwise
//! an item that takes it away each time would do so with the same others each time.

use super::config::PluginConfig;
use super::describe::Description;
use super::fault::Fault;
use super::item::failed;
use super::known::KnownFacts;
use super::ledger::{Job, Ledger};
use super::link::Link;
use super::presence::Presence;
use crate::eval::Said;
use crate::score::egress::Egress;
use crate::score::wire::LONGEST_PAUSE;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Tries of a batch that nobody had time for, or that another version answered.
const TRIES: u32 = 3;
/// The wait where a busy plug-in does not say how long.
const BUSY: Duration = Duration::from_millis(500);
/// A longer wait is left to the queue.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the workers of a plug-in share.
pub(super) struct Core {
    pub config: Arc<PluginConfig>,
    pub known: KnownFacts,
    pub presence: Presence,
    /// What may be sent.
    pub egress: Egress,
    pub jobs: Mutex<mpsc::Receiver<Job>>,
    /// So many items are still sent one by one.
    pub suspects: AtomicUsize,
    pub stop: CancellationToken,
}

/// One of them.
pub(super) struct Worker {
    core: Arc<Core>,
    link: Link,
    description: Option<Arc<Description>>,
}

/// What is known of the jobs of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Past {
    /// Nothing that speaks against them.
    Clean,
    /// They have failed alone before: a plug-in that is away now may be so for their sake.
    FailedAlone,
}

/// Why a job that a batch failed with has no answer.
enum Blame {
    /// Another try may help.
    Again(String),
    /// It would not.
    Never(String),
}

impl Worker {
    pub(super) fn new(core: Arc<Core>, link: Link) -> Self {
        Self { core, link, description: None }
    }

    /// Works until nobody asks any more, or the stop. What it has started has ended when this returns.
    pub(super) async fn run(mut self) {
        let stop = self.core.stop.clone();
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.work() => {}
        }
        self.link.close().await;
    }

    async fn work(&mut self) {
        // Before anybody asks: a model may take long to load, and errors are to name the metrics.
        let _ = self.described().await;
        loop {
            let mut jobs = Vec::new();
            let is_wary = self.core.suspects.load(Ordering::Relaxed) > 0;
            let batch = if is_wary { 1 } else { self.core.config.batch };
            if self.core.jobs.lock().await.recv_many(&mut jobs, batch).await == 0 {
                return;
            }
            // Who waits for a job that is dropped is told so.
            if AssertUnwindSafe(self.serve(jobs)).catch_unwind().await.is_err() {
                self.description = None;
                tracing::error!(plugin = self.core.config.name, "a batch of a plug-in broke off");
            }
        }
    }

    async fn serve(&mut self, mut jobs: Vec<Job>) {
        jobs.retain(|job| !job.reply.is_closed());
        let is_alone = jobs.len() == 1;
        let (left, _) = self.attempt(jobs, Past::Clean).await;
        let suspects = left.len();
        let past = if is_alone { Past::FailedAlone } else { Past::Clean };
        for job in left {
            if job.reply.is_closed() {
                continue;
            }
            let (left, blame) = self.attempt(vec![job], past).await;
            for job in left {
                self.blame(job, &blame);
            }
        }
        let known = &self.core.suspects;
        if suspects > 1 && self.core.presence.is_away() {
            known.store(suspects * 2, Ordering::Relaxed);
        } else if is_alone {
            let _ = known.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        }
    }

    /// Asks for all of `jobs`; those that may be the cause of a fault come back. All others have been told.
    async fn attempt(&mut self, mut jobs: Vec<Job>, past: Past) -> (Vec<Job>, Blame) {
        let mut last = String::new();
        for _ in 0..TRIES {
            if jobs.is_empty() {
                return (jobs, Blame::Again(last));
            }
            let description = match self.described().await {
                Ok(description) => description,
                Err(why) => {
                    last = why;
                    break;
                }
            };
            let mut ledger = Ledger::open(&self.core.config.name, &description, jobs);
            if ledger.is_done() {
                return (Vec::new(), Blame::Again(last));
            }
            let sent = self.link.score(&mut ledger).await;
            jobs = ledger.left();
            let Err(fault) = sent else { return (jobs, Blame::Again("it left out an item".to_owned())) };
            self.count(fault.word(), jobs.len());
            match fault {
                Fault::Broken(why) => {
                    self.forget();
                    return (jobs, Blame::Again(why));
                }
                Fault::Refused(why) => return (jobs, Blame::Never(why)),
                Fault::Away(why) => {
                    self.gone(&why);
                    last = why;
                    break;
                }
                Fault::Stale => {
                    self.forget();
                    last = "another version answers than describes itself".to_owned();
                }
                Fault::Busy(why, wait) => {
                    let wait = wait.unwrap_or(BUSY).min(LONGEST_PAUSE);
                    last = why;
                    if wait > PATIENCE {
                        self.core.presence.pause(Instant::now() + wait);
                        break;
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
        let why = self.named(&last);
        jobs.drain(..).for_each(|job| match past {
            Past::Clean => job.away(&why),
            Past::FailedAlone => job.suspected(&why),
        });
        (jobs, Blame::Again(why))
    }

    /// Tells a job that failed alone.
    fn blame(&self, job: Job, blame: &Blame) {
        match blame {
            Blame::Never(why) => {
                let why = self.named(why);
                let version = self.description.as_ref().map(|description| description.version.clone());
                let scores = self.description.as_ref().map(|description| failed(description, &why));
                match scores {
                    Some(scores) => job.tell(Ok(Said { scores, usage: None, version })),
                    None => job.suspected(&why),
                }
            }
            // The plug-in has described itself since the fault before.
            Blame::Again(why) => job.suspected(&self.named(why)),
        }
    }

    /// What the plug-in says of itself; it is asked where that is not known, or not known any more.
    async fn described(&mut self) -> Result<Arc<Description>, String> {
        if let Some(why) = self.core.presence.shut(Instant::now()) {
            return Err(why);
        }
        if let Some(description) = self.description.as_ref().filter(|_| !self.core.presence.is_away()) {
            return Ok(description.clone());
        }
        let told = self.link.describe().await;
        let told = told.and_then(|told| self.core.known.learn(&told).map(|()| Arc::new(told)));
        match told {
            Ok(description) => {
                if self.core.presence.there() {
                    tracing::info!(plugin = self.core.config.name, "the plug-in answers again");
                }
                self.show(0.0);
                self.description = Some(description.clone());
                Ok(description)
            }
            Err(why) => {
                self.gone(&why);
                Err(why)
            }
        }
    }

    /// It must describe itself before it is asked again.
    fn forget(&mut self) {
        self.description = None;
    }

    fn gone(&mut self, why: &str) {
        self.forget();
        if self.core.presence.gone(why, Instant::now()) {
            let plugin = &self.core.config.name;
            tracing::warn!(plugin, why, "the plug-in is away; it is probed from time to time");
        }
        self.show(1.0);
    }

    fn show(&self, away: f64) {
        metrics::gauge!("groundline_plugin_away", "plugin" => self.core.config.name.clone()).set(away);
    }

    fn count(&self, outcome: &'static str, items: usize) {
        metrics::counter!("groundline_plugin_items_total", "plugin" => self.core.config.name.clone(), "outcome" => outcome)
            .increment(items as u64);
    }

    fn named(&self, why: &str) -> String {
        format!("plug-in {}: {why}", self.core.config.name)
    }
}
