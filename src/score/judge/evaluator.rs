//! An evaluator that asks a judge, in the ways that there are.

use super::desk::{Desk, Open};
use super::gptscore::GptScore;
use super::pairwise;
use super::partial::{Debts, Partial, key};
use super::query;
use super::ragas;
use super::session::Sessions;
use super::shape::Finding;
use super::told::{Told, score};
use super::verdict::{Asked, Verdict};
use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Evaluator, Forecast, Metric, Pace, Places, Said, Waits};
use async_trait::async_trait;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::time::Instant;

/// Changes when what is done with a reply changes; prompts and schemas are in the version by their hash.
const CODE_VERSION: &str = "2";

/// In which way a judge is asked.
pub(super) enum Way {
    /// One question.
    Single(Verdict),
    /// Several questions, and the harmonic mean of their values.
    Ragas(Vec<(Metric, Verdict)>),
    /// One question about two answers, in both orders, each so many times.
    Pairwise(Verdict, u32),
    /// One question about two queries, unless they are the same when they are normalised.
    Sql(Verdict),
    /// How likely texts are to the judge.
    Likelihood(GptScore),
}

impl Way {
    /// All that its scores depend on beside the texts and the model.
    fn hashed(&self) -> String {
        match self {
            Way::Single(one) | Way::Pairwise(one, 1) | Way::Sql(one) => one.hashed().to_owned(),
            Way::Pairwise(one, runs) => format!("{}\0{runs}", one.hashed()),
            Way::Ragas(parts) => parts.iter().map(|(_, part)| part.hashed()).collect::<Vec<_>>().join("\0"),
            Way::Likelihood(gptscore) => gptscore.hashed(),
        }
    }

    fn is_of_conversation(&self) -> bool {
        matches!(self, Way::Single(verdict) if verdict.is_of_conversation())
    }
}

/// An evaluator that asks a judge.
pub(super) struct JudgeEvaluator {
    id: String,
    version: String,
    metrics: Vec<Metric>,
    way: Way,
    desk: Desk,
    sessions: Arc<Sessions>,
    /// What was answered of several questions while another one waits.
    partial: Partial<Asked>,
    /// What was paid to find out what the judge can tell, where it was away behind that.
    owed: Debts,
}

impl JudgeEvaluator {
    /// The evaluator `id`, which asks at `desk`.
    pub(super) fn new(id: &str, metrics: Vec<Metric>, way: Way, desk: Desk, sessions: Arc<Sessions>) -> Self {
        let mut hashed = way.hashed();
        if let Way::Likelihood(_) = way {
            hashed.push_str(&desk.config().likelihood_prefix);
        }
        let hash = hex::encode(&Sha256::digest(hashed)[..6]);
        let (id, version) = (id.to_owned(), format!("{CODE_VERSION}+{hash}"));
        Self {
            id,
            version,
            metrics,
            way,
            desk,
            sessions,
            partial: Partial::default(),
            owed: Debts::default(),
        }
    }

    fn each(&self, open: &Open) -> Vec<Score> {
        self.metrics.iter().map(|metric| open.score(&metric.name)).collect()
    }

    /// What the judge says of `input`, which may be sent.
    async fn told(&self, input: &EvalInput, until: Instant) -> Result<Told, Away> {
        let single = |asked: Asked| Told {
            scores: match asked.found {
                Ok(finding) => {
                    self.metrics.first().map(|metric| score(metric, finding)).into_iter().collect()
                }
                Err(open) => self.each(&open),
            },
            usage: asked.usage,
        };
        match &self.way {
            Way::Single(verdict) => verdict.ask(input, until).await.map(single),
            Way::Ragas(parts) => ragas::ask(&self.metrics, parts, &self.partial, input, until).await,
            Way::Pairwise(verdict, runs) => {
                pairwise::ask(&self.metrics, (verdict, *runs), &self.partial, input, until).await
            }
            Way::Sql(verdict) => match same(input).await {
                Some(finding) => Ok(single(Asked { found: Ok(finding), usage: None })),
                None => verdict.ask(input, until).await.map(single),
            },
            Way::Likelihood(gptscore) => {
                let of = || key(&self.id, input);
                let mut usage = self.owed.owed(of);
                match gptscore.ask(&self.desk, input, &mut usage, until).await {
                    Ok(scores) => Ok(Told { scores, usage }),
                    Err(away) => Err(self.owed.owe(of, usage, away)),
                }
            }
        }
    }
}

/// The finding for an answer that is the expected query, looked for on another thread: a long query must hold up nobody who
/// is asked at the same time.
async fn same(input: &EvalInput) -> Option<Finding> {
    let (answer, expected) = (input.answer.clone(), input.expected.clone());
    let queries = EvalInput { answer, expected, ..EvalInput::default() };
    tokio::task::spawn_blocking(move || query::same(&queries)).await.ok().flatten()
}

impl Evaluator for JudgeEvaluator {
    fn id(&self) -> &str {
        &self.id
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn pace(&self) -> Pace {
        Pace::Slow
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
        self.fail("it asks a judge, which cannot be done without waiting")
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

#[async_trait]
impl Waits for JudgeEvaluator {
    async fn ask(&self, input: &EvalInput, until: Instant) -> Result<Said, Away> {
        // Nothing below this line sees a text that may not leave.
        if let Err(missing) = self.desk.check(input) {
            return Ok(Said { scores: self.skip(missing), usage: None, version: None });
        }
        let whole = match self.way.is_of_conversation() {
            true => self.sessions.with_earlier(input).await?,
            false => Cow::Borrowed(input),
        };
        let redacted = self.desk.redacted(&whole).await;
        let Told { scores, usage } = self.told(&redacted, until).await?;
        Ok(Said { scores, usage, version: None })
    }

    fn places(&self) -> Places<'_> {
        self.desk.places()
    }

    fn forecast(&self, input: &EvalInput) -> Option<Forecast> {
        self.desk.check(input).ok()?;
        match &self.way {
            Way::Single(verdict) => verdict.forecast(input),
            Way::Ragas(parts) => {
                parts.iter().filter_map(|(_, part)| part.forecast(input)).reduce(Forecast::with)
            }
            Way::Pairwise(verdict, runs) => pairwise::forecast(verdict, *runs, input),
            Way::Sql(_) if query::same(input).is_some() => None,
            Way::Sql(verdict) => verdict.forecast(input),
            Way::Likelihood(gptscore) => gptscore.forecast(&self.desk, input),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn queries_are_compared_on_another_thread() {
        let query = Some("SELECT 1".to_owned());
        let input = EvalInput { answer: query.clone(), expected: query, ..EvalInput::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            // The only other thread waits meanwhile.
            let (go, waits) = std::sync::mpsc::channel::<()>();
            let busy = tokio::task::spawn_blocking(move || waits.recv().is_err());
            assert!(same(&input).now_or_never().is_none(), "who asks would wait for it");
            drop(go);
            assert!(busy.await.unwrap());
            assert_eq!(same(&input).await.and_then(|finding| finding.label).as_deref(), Some("best"));
            assert!(same(&EvalInput::default()).await.is_none());
        });
    }
}
