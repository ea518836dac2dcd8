//! Every configured plug-in.

use super::config::PluginConfig;
use super::evaluator::PluginEvaluator;
use super::known::KnownFacts;
use super::link::Link;
use super::presence::Presence;
use super::worker::{Core, Worker};
use crate::detect::Policy;
use crate::eval::Evaluator;
use crate::score::egress::{Allowed, Egress};
use parking_lot::Mutex as Lock;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Items that may wait for a plug-in, at the least.
const MIN_WAITING: usize = 64;
/// How long all plug-ins together may take to end.
const LAST: Duration = Duration::from_secs(4);

/// Why the plug-ins cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PluginsError(String);

type Start = Arc<dyn Fn() + Send + Sync>;

/// The configured plug-ins, and what they are as evaluators.
pub struct Plugins {
    evaluators: Vec<Arc<dyn Evaluator>>,
    starts: Vec<Start>,
    at_once: usize,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Plugins {
    /// One evaluator, `plugin/<name>`, for each of `configs`; values that `policy` allows are not redacted. Nobody is asked and
    /// nothing is started before it is needed.
    ///
    /// # Errors
    /// When an address cannot be used.
    pub fn new(configs: &[PluginConfig], policy: &Arc<Policy>) -> Result<Self, PluginsError> {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let (mut evaluators, mut starts, mut at_once) = (Vec::new(), Vec::new(), 0);
        for config in configs {
            let wrong = |why: String| PluginsError(format!("plugins {:?}: {why}", config.name));
            let waiting = (config.batch * config.concurrency * 2).max(MIN_WAITING);
            let (jobs, received) = mpsc::channel(waiting);
            let allowed = Allowed { tenants: config.tenants.as_deref(), redact: &config.redact };
            let core = Arc::new(Core {
                egress: Egress::new(std::iter::once(allowed), policy, "plugins.tenants"),
                config: Arc::new(config.clone()),
                known: KnownFacts::new(&config.id()),
                presence: Presence::default(),
                jobs: Mutex::new(received),
                suspects: AtomicUsize::new(0),
                stop: stop.clone(),
            });
            let links = (0..config.concurrency).map(|_| Link::new(&core.config));
            let links = links.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
            let start = starter(core.clone(), links, tasks.clone());
            let evaluator = PluginEvaluator::new(core, jobs, start.clone());
            at_once += evaluator.at_once();
            evaluators.push(Arc::new(evaluator) as Arc<dyn Evaluator>);
            starts.push(start);
        }
        Ok(Self { evaluators, starts, at_once, stop, tasks })
    }

    /// The evaluators.
    pub fn evaluators(&self) -> Vec<Arc<dyn Evaluator>> {
        self.evaluators.clone()
    }

    /// Items that may wait for all plug-ins together.
    pub fn at_once(&self) -> usize {
        self.at_once
    }

    /// Starts those that are not disabled, so that they are there when the first item comes. A runtime must be entered.
    pub fn start(&self, is_disabled: impl Fn(&str) -> bool) {
        for (evaluator, start) in self.evaluators.iter().zip(&self.starts) {
            if !is_disabled(evaluator.id()) {
                start();
            }
        }
    }

    /// Ends all that was started; what it held was not answered. True on return, whatever a plug-in does: its processes
    /// are gone, or are killed with this value.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        let _ = tokio::time::timeout(LAST, self.tasks.wait()).await;
    }
}

impl Drop for Plugins {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn starter(core: Arc<Core>, links: Vec<Link>, tasks: TaskTracker) -> Start {
    let waiting = Lock::new(links);
    Arc::new(move || {
        for link in std::mem::take(&mut *waiting.lock()) {
            tasks.spawn(Worker::new(core.clone(), link).run());
        }
    })
}
