//! Answers on their way into the tables. A run that is stored already, or that somebody else judges at this moment, is seen
//! before anybody is asked about it: judges cost.

use super::super::error::{Fault, LabError};
use super::super::store::Who;
use super::claims::Claim;
use super::definition::{Answer, Stored};
use super::experiments::Experiments;
use super::judge::{Case, ScoredRuns};
use super::reading::{self, Experiment};
use super::taken::{case, is_there};
use crate::lab::ids::run_id;
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::time::Instant;

/// Most answers of one request.
const MAX_ANSWERS: usize = 1_000;

/// Answers that can be judged and stored, and that no other request judges as long as this is there.
pub struct Received {
    /// The runs that are new, in their order.
    pub cases: Vec<Case>,
    /// What became of the others.
    stored: Stored,
    found: Experiment,
    /// How many items the experiment asks.
    items: usize,
    claim: Claim,
}

impl Experiments {
    /// Judges and stores answers. When it returns, runs and scores are durable and visible; a run that is there is not
    /// stored again, and nobody is asked about it.
    ///
    /// # Errors
    /// [`LabError::Limit`] for too many at once, [`LabError::Later`] when evaluators are busy.
    pub async fn receive(&self, who: &Who, named: &str, answers: Vec<Answer>) -> Result<Stored, LabError> {
        let received = self.received(who, named, answers).await?;
        self.finished(who, received).await
    }

    /// Those of `answers` that are new. Where another request judges one of them, it is waited for: what that has stored is new
    /// no more, and what it could not store still is.
    ///
    /// # Errors
    /// [`LabError::Limit`] for too many at once, [`LabError::Later`] when others judge them for as long as
    /// `lab.score_timeout`.
    pub async fn received(&self, who: &Who, named: &str, answers: Vec<Answer>) -> Result<Received, LabError> {
        if answers.len() > MAX_ANSWERS {
            return Err(LabError::Limit(format!("{} answers at once, at most {MAX_ANSWERS}", answers.len())));
        }
        let found = reading::find(self.store(), &who.tenant, named).await?;
        if found.is_closed() {
            return Err(LabError::Wrong(format!("the experiment {named:?} was cancelled: it takes no runs")));
        }
        // Tenants that restored one archive have runs of the same ids.
        let run = |answer: &Answer| {
            let id = run_id(&found.experiment_id, &answer.item_id, answer.repetition.unwrap_or(1));
            format!("{id} {}", who.tenant)
        };
        let until = Instant::now() + self.datasets().config().score_timeout;
        let claim = self.claims().claim(answers.iter().map(run).collect(), until).await;
        let busy = || LabError::Later("another request judges some of these answers still".to_owned());
        let claim = claim.ok_or_else(busy)?;
        let items = self.version(who, &found).await?;
        let known = self.known(who, &found).await?;
        let taken = (self.store().now(), self.datasets().config().max_item_size);
        let (mut stored, mut cases, mut seen) = (Stored::default(), Vec::new(), HashSet::new());
        for (number, answer) in (1u64..).zip(answers) {
            match case(&found, &items, answer, taken) {
                Err(fault) => stored.refused.push(json!(Fault { item: Some(number), ..fault })),
                Ok(case) if is_there(&known.read(), &case) || !seen.insert(case.run.run_id.clone()) => {
                    stored.duplicate += 1
                }
                Ok(case) => cases.push(case),
            }
        }
        Ok(Received { cases, stored, items: items.rows.len(), found, claim })
    }

    /// Judges them by the evaluators of the experiment, and stores them.
    ///
    /// # Errors
    /// As [`Experiments::receive`].
    pub async fn finished(&self, who: &Who, mut received: Received) -> Result<Stored, LabError> {
        let cases = Arc::new(std::mem::take(&mut received.cases));
        let judged = match cases.is_empty() {
            true => ScoredRuns::default(),
            false => {
                let evaluators = self.registry().select(&received.found.evaluator_ids());
                let evaluators = evaluators.map_err(|e| LabError::Wrong(e.to_string()))?;
                self.judged(who, evaluators, received.found.target.model.clone(), cases.clone()).await?
            }
        };
        self.stored(who, received, (cases, judged)).await
    }

    /// Stores what was judged. Who hangs up meanwhile does not end it: sent again, these runs are there and are not judged a
    /// second time.
    async fn stored(
        &self,
        who: &Who,
        received: Received,
        (cases, judged): (Arc<Vec<Case>>, ScoredRuns),
    ) -> Result<Stored, LabError> {
        let Received { stored, found, items, claim, .. } = received;
        let (all, who) = (self.clone(), who.clone());
        let task = tokio::spawn(async move {
            let kept = all.keep(&who, &found.experiment_id, (cases.as_slice(), judged), items, stored).await;
            // Who waits for these runs sees what is stored.
            drop(claim);
            kept
        });
        task.await.map_err(|e| LabError::Broken(e.to_string()))?
    }
}

#[cfg(test)]
#[path = "received_tests.rs"]
mod tests;
