//! Making experiments, taking runs.

use super::super::dataset::{Datasets, Head, Reference, filled, find as find_dataset};
use super::super::error::{Fault, LabError};
use super::super::store::{Store, Who};
use super::super::turn::Production;
use super::called::{NAMED, Targets};
use super::checks::check_rows;
use super::claims::Claims;
use super::definition::{ASKED_BY, OfSuite};
use super::definition::{EditExperiment, NewExperiment, Retry, Stored, Target, Telling, Todo};
use super::flagged::flagged;
use super::gone::judges;
use super::judge::{Case, Judge, ScoredRuns};
use super::known::{Added, After, Attempt, Kept, Known, Shared};
use super::needs::{asks_items, must_have};
use super::own::Own;
use super::reading::{self, Experiment, Key};
use super::taken::{Items, added, asked, is_there};
use crate::domain::id::TenantId;
use crate::eval::{Evaluator, Registry};
use crate::lab::suite::filtered;
use crate::schema::batch::{
    ExperimentRow, ItemRow, RunRow, check_results_to_batch, experiments_to_batch, run_scores_to_batch,
    runs_to_batch,
};
use crate::schema::columns::Table;
use crate::schema::frame::Part;
use parking_lot::{Mutex as Lock, RwLock};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Versions of datasets that are kept in memory.
const MAX_KEPT: usize = 2;
/// Requests of the playground that are answered at once.
const MAX_TRIALS: usize = 8;

/// The experiments of all tenants. Cheap to clone.
#[derive(Clone)]
pub struct Experiments {
    datasets: Datasets,
    registry: Arc<Registry>,
    /// What the server may ask itself.
    targets: Targets,
    /// What is judged before.
    production: Production,
    /// Requests whose answers are judged at once.
    workers: Arc<Semaphore>,
    /// Requests of the playground.
    trials: Arc<Semaphore>,
    /// Runs that are judged now.
    claims: Claims,
    /// Runs that were stored here.
    own: Own,
    /// One change at a time: what is stored twice must be seen.
    writing: Arc<Mutex<()>>,
    /// Items of versions that were asked for last; a version never changes.
    kept: Arc<Lock<Vec<Version>>>,
    /// Runs of experiments that were written last.
    known: Arc<Lock<Kept>>,
}

/// The items of a version of which a condition is true, by tenant, id of the dataset, number, how many items were purged before
/// they were read, and the condition.
type Version = ((TenantId, String, i64, usize, Option<String>), Arc<Items>);

impl Experiments {
    /// Over `datasets`, judged by the evaluators of `registry` while nothing of `production` waits for them.
    pub fn new(datasets: Datasets, registry: Arc<Registry>, production: Production) -> Self {
        let workers = Arc::new(Semaphore::new(datasets.config().workers));
        let targets = Targets::open(datasets.config());
        let trials = Arc::new(Semaphore::new(MAX_TRIALS));
        let (claims, own) = (Claims::default(), Own::default());
        let (writing, kept, known) = (Arc::default(), Arc::default(), Arc::default());
        Self { datasets, registry, targets, production, workers, trials, claims, own, writing, kept, known }
    }

    /// A place in the playground, for as long as it is held.
    ///
    /// # Errors
    /// [`LabError::Later`] while all are taken.
    pub(super) fn trial(&self) -> Result<OwnedSemaphorePermit, LabError> {
        let busy = |_| LabError::Later(format!("the playground answers {MAX_TRIALS} requests already"));
        self.trials.clone().try_acquire_owned().map_err(busy)
    }

    /// A place among those whose answers are judged at once, for as long as it is held.
    ///
    /// # Errors
    /// [`LabError::Later`] when all are taken until then.
    pub async fn judging(&self, until: Instant) -> Result<OwnedSemaphorePermit, LabError> {
        let busy =
            || LabError::Later("the evaluators of other experiments are busy (lab.workers)".to_owned());
        let turn = tokio::time::timeout_at(until, self.workers.clone().acquire_owned()).await;
        turn.map_err(|_| busy())?.map_err(|_| busy())
    }

    /// What is judged before.
    pub fn production(&self) -> &Production {
        &self.production
    }

    /// Lets nothing be changed as long as it is held but by who holds it: neither datasets nor experiments.
    pub async fn still(&self) -> (OwnedMutexGuard<()>, OwnedMutexGuard<()>) {
        let held = (self.datasets.still().await, self.writing.clone().lock_owned().await);
        self.known.lock().clear();
        held
    }

    /// The tables behind it.
    pub fn store(&self) -> &Store {
        self.datasets.store()
    }

    /// The evaluators.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What the server may ask itself.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Runs that are judged now.
    pub(super) fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Runs that were stored here.
    pub(super) fn own(&self) -> &Own {
        &self.own
    }

    /// Those of the evaluators of an experiment that ask somebody else, such as a judge.
    pub fn judges(&self, found: &Experiment) -> HashSet<String> {
        judges(&self.registry, found.evaluator_ids())
    }

    /// The limits.
    pub fn datasets(&self) -> &Datasets {
        &self.datasets
    }

    /// Makes an experiment over a version of a dataset, which it keeps, and says how many items that has. Nothing is asked yet.
    ///
    /// # Errors
    /// [`LabError::Faults`] with everything that is wrong, [`LabError::Missing`] without the dataset.
    pub async fn create(&self, who: &Who, new: NewExperiment) -> Result<(Experiment, i64), LabError> {
        self.create_of(who, new, None).await
    }

    /// The same as a run of a suite, whose tests are the items of the dataset.
    ///
    /// # Errors
    /// As [`Experiments::create`].
    pub async fn create_of(
        &self,
        who: &Who,
        mut new: NewExperiment,
        suite: Option<OfSuite>,
    ) -> Result<(Experiment, i64), LabError> {
        let mut faults = new.faults();
        faults.extend(self.own_target(&mut new.target).err());
        let evaluators = self.registry.select(&new.evaluators);
        if let Err(unknown) = &evaluators {
            faults.push(Fault::new(unknown.to_string()).at("evaluators"));
        }
        let reference: Result<Reference, String> = new.dataset.parse();
        if let Err(why) = &reference {
            faults.push(Fault::new(why.clone()).at("dataset"));
        }
        let (Ok(reference), Ok(evaluators), true) = (reference, evaluators, faults.is_empty()) else {
            return Err(LabError::Faults(faults));
        };
        let head = find_dataset(self.store(), &who.tenant, &reference).await?;
        if head.items == 0 {
            let why = format!("{}@{} has no items: there is nothing to ask", head.name, head.version);
            return Err(LabError::Wrong(why));
        }
        self.datasets.must_be_whole(who, &head).await?;
        if asks_items(&evaluators) {
            let at = (head.dataset_id.as_str(), head.version);
            must_have(&head, filled(self.store(), &who.tenant, at).await?, &evaluators)?;
        }
        let of = |e: &Arc<dyn Evaluator>| json!({"id": e.id(), "version": e.version()});
        let items = self.asked_items(who, &head, new.filter.as_deref()).await?;
        let row = ExperimentRow {
            experiment_id: uuid::Uuid::now_v7().to_string(),
            revision: 1,
            name: new.name,
            suite_version: suite.as_ref().map(|suite| suite.version),
            suite_id: suite.map(|suite| suite.suite_id),
            filter: new.filter,
            dataset_id: head.dataset_id,
            dataset_version: head.version,
            dataset_hash: head.content_hash,
            target: json!(new.target).to_string(),
            parameters: (!new.parameters.is_empty()).then(|| Value::Object(new.parameters).to_string()),
            repetitions: new.repetitions,
            evaluators: Value::from(evaluators.iter().map(of).collect::<Vec<_>>()).to_string(),
            status: "pending".to_owned(),
            baseline: new.baseline,
            tags: new.tags,
            started_at: None,
            completed_at: None,
            error: None,
            made: self.store().made(who),
        };
        let _writing = self.writing.lock().await;
        let id = row.experiment_id.clone();
        self.store().write(vec![state(&row)?]).await?;
        Ok((reading::find(self.store(), &who.tenant, &id).await?, items))
    }

    /// Puts what the server knows of a target in the place of its name; nobody else says that the server asks it.
    fn own_target(&self, target: &mut Target) -> Result<(), Fault> {
        target.more.shift_remove(ASKED_BY);
        if target.kind == NAMED {
            let name = target.name.clone().unwrap_or_default();
            let known = self.targets.described(&name, &target.prompts());
            *target = known.map_err(|why| Fault::new(why).at("target"))?.asked_by_the_server();
        }
        Ok(())
    }

    /// How many items of a version a condition leaves.
    async fn asked_items(&self, who: &Who, head: &Head, filter: Option<&str>) -> Result<i64, LabError> {
        let Some(condition) = filter else { return Ok(head.items) };
        let items = self.datasets.items_at(who, head).await?;
        let left = filtered(condition, items).await.map_err(LabError::Wrong)?;
        Ok(i64::try_from(left.len()).unwrap_or(i64::MAX))
    }

    /// Marks an experiment, or pauses, resumes or cancels it.
    ///
    /// # Errors
    /// [`LabError::Wrong`] for a state that cannot be set.
    pub async fn edit(&self, who: &Who, named: &str, edit: EditExperiment) -> Result<Experiment, LabError> {
        let _writing = self.writing.lock().await;
        let found = reading::find(self.store(), &who.tenant, named).await?;
        let mut row = self.following(who, &found);
        if let Some(status) = edit.status {
            if !["paused", "running", "cancelled"].contains(&status.as_str()) {
                let why = format!("the state {status:?} cannot be set; set paused, running or cancelled");
                return Err(LabError::Wrong(why));
            }
            if found.is_closed() && status != found.status {
                let why = format!("the experiment {named:?} was cancelled: make a new one");
                return Err(LabError::Wrong(why));
            }
            row.status = status;
        }
        row.baseline = edit.baseline.unwrap_or(row.baseline);
        row.tags = edit.tags.unwrap_or(row.tags);
        self.store().write(vec![state(&row)?]).await?;
        reading::find(self.store(), &who.tenant, &row.experiment_id).await
    }

    /// Runs that are missing, or wanted again: at most `limit` from the place `from` on, those of one repetition before those of
    /// the next.
    ///
    /// # Errors
    /// [`LabError::Missing`] without the experiment, [`LabError::Wrong`] for one that was cancelled.
    pub async fn todo(
        &self,
        who: &Who,
        named: &str,
        (from, limit): (usize, usize),
        (retry, telling): (Retry, Telling),
    ) -> Result<Vec<Todo>, LabError> {
        let found = reading::find(self.store(), &who.tenant, named).await?;
        if found.is_closed() {
            return Err(LabError::Wrong(format!("the experiment {named:?} was cancelled")));
        }
        let items = self.items(who, &found).await?;
        let known = self.known(who, &found).await?;
        let failed = match retry {
            Retry::Failed => self.failed(who, &found).await?,
            _ => HashSet::new(),
        };
        let known = known.read();
        let wanted = |key: &Key, run: Attempt| match retry {
            Retry::Missing => false,
            Retry::Errors => run.is_error,
            Retry::Failed => run.is_error || failed.contains(key),
        };
        let mut todo = Vec::new();
        let repetitions = 1..=found.repetitions;
        let all = repetitions.flat_map(|repetition| items.iter().map(move |item| (repetition, item)));
        for (place, (repetition, item)) in all.enumerate().skip(from) {
            let key = (item.item_id.clone(), repetition);
            let attempt = match known.get(&key) {
                None => 1,
                Some(run) if wanted(&key, run) => run.number + 1,
                Some(_) => continue,
            };
            if todo.len() == limit {
                break;
            }
            todo.push(Todo { place, ..asked(&found, item, (repetition, attempt), telling) });
        }
        Ok(todo)
    }

    /// What `evaluators` say about `cases`, answers of `model`; nothing is stored.
    ///
    /// # Errors
    /// [`LabError::Later`] when the evaluators are busy for as long as `lab.score_timeout`.
    pub async fn judged(
        &self,
        who: &Who,
        evaluators: Vec<Arc<dyn Evaluator>>,
        model: Option<String>,
        cases: Arc<Vec<Case>>,
    ) -> Result<ScoredRuns, LabError> {
        let patience = self.datasets.config().score_timeout;
        let _turn = self.judging(Instant::now() + patience).await?;
        let judge = Judge {
            registry: self.registry.clone(),
            evaluators,
            until: Instant::now() + patience,
            tenant: who.tenant.clone(),
            now: self.store().now(),
            model,
            production: self.production.clone(),
        };
        Ok(judge.all(cases).await)
    }

    /// Writes runs, their scores and what becomes of the experiment, but for runs that came in between.
    pub(super) async fn keep(
        &self,
        who: &Who,
        experiment_id: &str,
        (cases, judged): (&[Case], ScoredRuns),
        items: usize,
        mut stored: Stored,
    ) -> Result<Stored, LabError> {
        let broken = |e: arrow::error::ArrowError| LabError::Broken(e.to_string());
        let _writing = self.writing.lock().await;
        let found = reading::find(self.store(), &who.tenant, experiment_id).await?;
        let purges = self.datasets.purges();
        let known = self.known(who, &found).await?;
        let (late, new) = self.parted(who, cases, &known.read());
        stored.duplicate += late.len();
        stored.stored = new.len();
        let added: Vec<Added<'_>> = new.iter().map(|case| added(case)).collect();
        let after = known.read().after(&added);
        let wanted = items * usize::try_from(found.repetitions).unwrap_or(1);
        stored.missing = wanted.saturating_sub(after.runs);
        let next = self.progressed(who, &found, &after, stored.missing);
        stored.status = next.as_ref().map_or_else(|| found.status.clone(), |row| row.status.clone());
        let mut parts = Vec::new();
        if !new.is_empty() {
            let rows: Vec<RunRow> = new.iter().map(|case| case.run.clone()).collect();
            parts.push(Part::Rows(
                Table::Runs,
                runs_to_batch(&rows, &self.store().made(who)).map_err(broken)?,
            ));
            let checks = check_rows(&new);
            if !checks.is_empty() {
                let checks = check_results_to_batch(&checks, &self.store().made(who)).map_err(broken)?;
                parts.push(Part::Rows(Table::CheckResults, checks));
            }
            let ids: HashSet<&str> = new.iter().map(|case| case.run.run_id.as_str()).collect();
            let both = judged.rows.into_iter().zip(judged.runs);
            let (rows, runs): (Vec<_>, Vec<_>) =
                both.filter(|(_, run)| ids.contains(run.run_id.as_str())).unzip();
            if !rows.is_empty() {
                let scores = run_scores_to_batch(&rows, &runs).map_err(broken)?;
                parts.push(Part::Rows(Table::Scores, scores));
                let (judged, judges) = (ScoredRuns { rows, runs }, self.judges(&found));
                parts.extend(flagged(&found, &new, &judged, &judges, &self.store().made(who))?);
            }
        }
        if let Some(row) = next {
            parts.push(state(&row)?);
        }
        // Also where they become visible late: nobody else makes their spans.
        new.iter().filter_map(|case| case.run.trace_id.as_deref()).for_each(|trace| self.own.add(trace));
        if !parts.is_empty() {
            let written = self.store().write(parts).await;
            // Who does not know what is stored reads it again.
            written.inspect_err(|_| self.known.lock().forget(&who.tenant, experiment_id))?;
        }
        added.into_iter().for_each(|(key, attempt, why)| known.write().add(key, attempt, why));
        self.known.lock().put(&who.tenant, experiment_id, purges, known);
        Ok(stored)
    }

    /// Runs that are there already, and those that are not; without those of items that were purged.
    fn parted<'a>(&self, who: &Who, cases: &'a [Case], known: &Known) -> (Vec<&'a Case>, Vec<&'a Case>) {
        let is_left = |case: &&Case| !self.datasets.is_purged(&who.tenant, &case.run.item_id);
        cases.iter().filter(is_left).partition(|case| is_there(known, case))
    }

    /// The state that follows from the runs; none if it is the one that the experiment is in.
    fn progressed(
        &self,
        who: &Who,
        found: &Experiment,
        after: &After,
        missing: usize,
    ) -> Option<ExperimentRow> {
        // It was cancelled while its answers were judged.
        if found.is_closed() {
            return None;
        }
        let status = match (after.runs, missing) {
            (0, _) => return None,
            (_, 0) if after.failed.is_some() => "error",
            (_, 0) => "success",
            _ => "running",
        };
        if status == found.status {
            return None;
        }
        let now = self.store().now();
        let mut row = self.following(who, found);
        status.clone_into(&mut row.status);
        row.started_at = row.started_at.or(Some(now));
        row.completed_at = (missing == 0).then_some(now);
        row.error = (status == "error").then(|| {
            let why = after.failed.as_deref().unwrap_or_default();
            format!("no run has an answer. {why}").trim().to_owned()
        });
        Some(row)
    }

    fn following(&self, who: &Who, found: &Experiment) -> ExperimentRow {
        let made = self.store().made(who);
        ExperimentRow { revision: found.row.revision + 1, made, ..found.row.clone() }
    }

    /// The runs that are stored.
    pub(super) async fn known(&self, who: &Who, found: &Experiment) -> Result<Shared, LabError> {
        let (id, purges) = (&found.experiment_id, self.datasets.purges());
        if let Some(known) = self.known.lock().get(&who.tenant, id, purges) {
            return Ok(known);
        }
        let is_purged = |item: &str| self.datasets.is_purged(&who.tenant, item);
        let known = Known::read(self.store(), &who.tenant, found, is_purged).await?;
        Ok(Arc::new(RwLock::new(known)))
    }

    /// Runs that failed a metric.
    async fn failed(&self, who: &Who, found: &Experiment) -> Result<HashSet<Key>, LabError> {
        let (_, scores) =
            Box::pin(reading::runs_and_scores(self.store(), &who.tenant, &found.experiment_id)).await?;
        let bad = scores.into_iter().filter(|score| score.passed == Some(false) || score.status == "error");
        Ok(bad.map(|score| (score.item_id, score.repetition)).collect())
    }

    /// The items that an experiment asks.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn items(&self, who: &Who, found: &Experiment) -> Result<Arc<Vec<ItemRow>>, LabError> {
        Ok(self.version(who, found).await?.rows.clone())
    }

    /// The same, to be found by their ids.
    pub(super) async fn version(&self, who: &Who, found: &Experiment) -> Result<Arc<Items>, LabError> {
        let (id, number) = (found.dataset_id.clone(), found.dataset_version);
        let key = (who.tenant.clone(), id, number, self.datasets.purges(), found.filter.clone());
        if let Some((_, items)) = self.kept.lock().iter().find(|(known, _)| *known == key) {
            return Ok(items.clone());
        }
        let mut items = self.datasets.items_of(who, &key.1, key.2).await?;
        // A purge counts from its beginning on, and its rows may still be there.
        items.retain(|item| !self.datasets.is_purged(&who.tenant, &item.item_id));
        if let (Some(condition), false) = (&key.4, items.is_empty()) {
            items = filtered(condition, items).await.map_err(LabError::Wrong)?;
        }
        let items = Arc::new(Items::of(items));
        let mut kept = self.kept.lock();
        kept.retain(|(known, _)| known.3 == key.3);
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push((key, items.clone()));
        Ok(items)
    }
}

fn state(row: &ExperimentRow) -> Result<Part, LabError> {
    let batch =
        experiments_to_batch(std::slice::from_ref(row)).map_err(|e| LabError::Broken(e.to_string()))?;
    Ok(Part::Rows(Table::Experiments, batch))
}
