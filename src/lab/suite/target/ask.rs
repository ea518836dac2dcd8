//! All questions, several at once.

use super::super::load::{Case, Suite};
use super::super::reply::Reply;
use super::super::spec::Kind;
use super::command::Command;
use super::existing::Existing;
use super::http::Http;
use super::job::Job;
use super::openai::Openai;
use futures::StreamExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Bytes of answers that are kept until they are judged.
const MAX_KEPT: usize = 1 << 30;

/// Who is asked.
pub struct Target {
    asked: Asked,
    timeout: Duration,
    concurrency: usize,
}

enum Asked {
    Existing(Existing),
    Http(Box<Http>),
    Openai(Box<Openai>),
    Command(Box<Command>),
}

/// What came of one run.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The place of its test in the suite.
    pub(in crate::lab::suite) case: usize,
    pub(in crate::lab::suite) repetition: u32,
    pub(in crate::lab::suite) run_id: String,
    pub(in crate::lab::suite) trace_id: String,
    pub(in crate::lab::suite) reply: Result<Reply, String>,
}

impl Target {
    /// The target of a suite. Nobody is asked before [`ask_all`].
    ///
    /// # Errors
    /// When its address, headers or token cannot be used, or its file of answers is wrong.
    pub fn open(suite: &Suite) -> Result<Self, String> {
        let spec = &suite.target;
        let asked = match spec.kind {
            Kind::Existing => {
                let file = spec.answers.as_ref().map(|file| suite.folder.join(file));
                Asked::Existing(Existing::new(file.as_deref())?)
            }
            Kind::Http => Asked::Http(Box::new(Http::new(spec)?)),
            Kind::Openai => Asked::Openai(Box::new(Openai::new(spec)?)),
            Kind::Command => Asked::Command(Box::new(Command::new(spec, &suite.folder))),
        };
        Ok(Self { asked, timeout: spec.timeout, concurrency: spec.concurrency })
    }

    /// Asks once, in no more time than the target has. A command keeps its own time: it answers one after the other.
    async fn ask(&self, job: &Job<'_>) -> Result<Reply, String> {
        let started = Instant::now();
        let asked = async {
            match &self.asked {
                Asked::Existing(existing) => return existing.answer(job),
                Asked::Command(command) => return command.ask(job).await,
                _ => {}
            }
            let wire = async {
                match &self.asked {
                    Asked::Http(http) => http.ask(job).await,
                    Asked::Openai(openai) => openai.ask(job).await,
                    Asked::Existing(_) | Asked::Command(_) => Err("not asked over the wire".to_owned()),
                }
            };
            let words = crate::units::words(self.timeout);
            let late = |_| format!("no answer in {words} (target.timeout)");
            tokio::time::timeout(self.timeout, wire).await.map_err(late)?
        };
        let mut reply = asked.await?;
        // How long a stored answer took is not known here.
        if !matches!(self.asked, Asked::Existing(_)) {
            reply.duration_ms.get_or_insert(started.elapsed().as_secs_f64() * 1e3);
        }
        Ok(reply)
    }
}

/// Asks every test of `suite` as often as it says, several at once; `done` is told of each answer. Runs come in the order
/// of the tests, each with an answer or why there is none. Once `stop` is cancelled nobody is asked any more.
pub async fn ask_all(
    suite: &Suite,
    target: &Target,
    stop: &CancellationToken,
    done: &(dyn Fn() + Send + Sync),
) -> Vec<Answered> {
    let kept = AtomicUsize::new(0);
    let runs =
        suite.cases.iter().enumerate().flat_map(|(at, case)| {
            (1..=suite.head.repetitions).map(move |repetition| (at, case, repetition))
        });
    let asked = runs.map(|(at, case, repetition)| run(at, case, repetition, target, stop, &kept, done));
    futures::stream::iter(asked).buffered(target.concurrency).collect().await
}

async fn run(
    at: usize,
    case: &Case,
    repetition: u32,
    target: &Target,
    stop: &CancellationToken,
    kept: &AtomicUsize,
    done: &(dyn Fn() + Send + Sync),
) -> Answered {
    let job = Job::new(&case.item);
    let reply = tokio::select! {
        biased;
        () = stop.cancelled() => Err("stopped before it was answered".to_owned()),
        reply = target.ask(&job) => reply,
    };
    let reply = reply.and_then(|reply| {
        let size = reply.size();
        if kept.fetch_add(size, Ordering::Relaxed) + size > MAX_KEPT {
            return Err("the answers of this suite have more than 1 GiB: cut it in parts".to_owned());
        }
        Ok(reply)
    });
    done();
    Answered { case: at, repetition, run_id: job.run_id, trace_id: job.trace_id, reply }
}
