//! All questions of a suite, several at once.

use super::earlier::Run;
use super::load::{Case, Suite};
use super::reply::Reply;
use super::spans::Spans;
use crate::domain::id::{EXPERIMENT_MARK, TraceId};
use crate::lab::target::{Answer, Kind, Question, Target};
use crate::lab::template::brief;
use futures::StreamExt;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Why a run that was stopped has no answer.
const STOPPED: &str = "stopped before it was answered";
/// Bytes of answers that are kept until they are judged.
const MAX_KEPT: usize = 1 << 30;

/// What came of one run.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The place of its test in the suite.
    pub(super) case: usize,
    pub(super) repetition: u32,
    pub(super) run_id: String,
    pub(super) trace_id: String,
    pub(super) reply: Result<Reply, String>,
}

impl Answered {
    /// The trace of its spans; none where there is no answer to judge.
    pub fn traced(&self) -> Option<&str> {
        self.reply.is_ok().then_some(self.trace_id.as_str())
    }

    /// Says that it has no answer because of the deadline, if it was stopped; whether it was.
    pub fn note_deadline(&mut self, deadline: Duration) -> bool {
        match &mut self.reply {
            Err(why) if why == STOPPED => {
                *why = format!(
                    "the deadline of {} passed before it was answered",
                    crate::units::words(deadline)
                );
                true
            }
            _ => false,
        }
    }

    /// Gives it the spans of its trace.
    pub fn see(&mut self, spans: Spans) {
        if let Ok(reply) = &mut self.reply {
            reply.spans = spans;
        }
    }
}

impl Suite {
    /// Whether its answers are of now, so that spans of them may be on their way.
    pub fn is_asked(&self) -> bool {
        self.target.kind != Kind::Existing
    }

    /// Who is asked. Nobody is asked before [`ask_all`].
    ///
    /// # Errors
    /// As [`Target::open`].
    pub fn open_target(&self) -> Result<Target, String> {
        Target::open(&self.target, &self.folder)
    }
}

/// Asks `runs` of `suite`, several at once; `done` is told of each answer. They come in their order, each with an answer or
/// why there is none. Once `stop` is cancelled nobody is asked any more.
pub async fn ask_all(
    suite: &Suite,
    runs: &[Run],
    target: &Target,
    stop: &CancellationToken,
    done: &(dyn Fn() + Send + Sync),
) -> Vec<Answered> {
    let kept = AtomicUsize::new(0);
    let asked = runs.iter().map(|one| run(suite, *one, target, stop, &kept, done));
    futures::stream::iter(asked).buffered(target.concurrency()).collect().await
}

async fn run(
    suite: &Suite,
    (at, repetition): Run,
    target: &Target,
    stop: &CancellationToken,
    kept: &AtomicUsize,
    done: &(dyn Fn() + Send + Sync),
) -> Answered {
    let (question, mut trace_id) = question(&suite.cases[at]);
    let answer = tokio::select! {
        biased;
        () = stop.cancelled() => Err(STOPPED.to_owned()),
        answer = target.ask(&question) => answer,
    };
    let reply = answer.and_then(|answer| {
        trace_id = own_trace(&answer)?.unwrap_or_else(|| trace_id.clone());
        Reply::of(answer)
    });
    let reply = reply.and_then(|reply| {
        let size = reply.size();
        if kept.fetch_add(size, Ordering::Relaxed) + size > MAX_KEPT {
            return Err("the answers of this suite have more than 1 GiB: cut it in parts".to_owned());
        }
        Ok(reply)
    });
    done();
    Answered { case: at, repetition, run_id: question.run_id, trace_id, reply }
}

/// The trace that an answer names in the place of the one that its target was given.
fn own_trace(answer: &Answer) -> Result<Option<String>, String> {
    let Some(named) = answer.trace_id.as_deref().filter(|named| !named.is_empty()) else { return Ok(None) };
    let id = TraceId::from_hex(named).map_err(|e| format!("the answer's trace_id {}: {e}", brief(named)))?;
    Ok(Some(id.to_string()))
}

/// What a case asks, under new ids; and the trace that it belongs to. Its id says that it is not production.
fn question(case: &Case) -> (Question, String) {
    let hex = || uuid::Uuid::new_v4().simple().to_string();
    let (own, span_id) = (hex(), hex());
    let mark = hex::encode(EXPERIMENT_MARK);
    let trace_id = format!("{mark}{}", &own[mark.len()..]);
    let (item, spec) = (&case.item, &case.item.spec);
    let question = Question {
        run_id: uuid::Uuid::new_v4().to_string(),
        item_id: spec.id.clone(),
        external_id: None,
        traceparent: format!("00-{trace_id}-{}-01", &span_id[..16]),
        input: spec.input.clone(),
        text: item.question.clone(),
        contexts: json!(spec.contexts),
        files: spec.files.clone(),
        more: item.scope().as_object().cloned().unwrap_or_default(),
        output: spec.output.clone(),
        ..Question::default()
    };
    (question, trace_id)
}
