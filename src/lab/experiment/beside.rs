//! Experiments beside each other, with all that is known of them.

use super::super::error::LabError;
use super::super::store::Who;
use super::artifacts::{Side, all_files};
use super::experiments::Experiments;
use super::reading::{self, Answered, Experiment, Key, Runs, Scored};
use super::summary::Data;
use crate::domain::score::Better;
use crate::schema::batch::ItemRow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use super::leaderboard::MAX_ROWS as MAX_BESIDE;

/// Queries by which one experiment is read at once.
const AT_ONCE: usize = 3;

/// All that is known of an experiment.
pub struct Loaded {
    /// The experiment.
    pub experiment: Experiment,
    /// The items that it asks.
    pub items: Arc<Vec<ItemRow>>,
    /// Its runs.
    pub runs: Runs,
    /// What was said of them.
    pub scores: Vec<Scored>,
    /// Items that it asked and that were purged since, with their runs and scores; at most 1,000 are counted.
    pub purged: usize,
}

impl Loaded {
    /// Reads it.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn of(all: &Experiments, who: &Who, experiment: Experiment) -> Result<Self, LabError> {
        let items = all.items(who, &experiment).await?;
        let (store, id) = (all.store(), &experiment.experiment_id);
        let ((runs, scores), purged) = tokio::try_join!(
            Box::pin(reading::runs_and_scores(store, &who.tenant, id)),
            Box::pin(all.datasets().purged_at(who, &experiment.dataset_id, experiment.dataset_version)),
        )?;
        Ok(Self { experiment, items, runs, scores, purged })
    }

    /// Reads two, at once where the engine can: taking apart what is read of one takes as long as the engine takes.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn both(
        all: &Experiments,
        who: &Who,
        [one, other]: [Experiment; 2],
    ) -> Result<[Self; 2], LabError> {
        // An engine that answers fewer at once takes no longer for one after the other, and may let no more than that wait.
        if all.store().sql.config().max_concurrent < 2 * AT_ONCE {
            let one = Box::pin(Self::of(all, who, one)).await?;
            return Ok([one, Box::pin(Self::of(all, who, other)).await?]);
        }
        // Whoever stops waiting ends it, too.
        let mut beside = tokio::task::JoinSet::new();
        let (experiments, asker) = (all.clone(), who.clone());
        beside.spawn(async move { Self::of(&experiments, &asker, other).await });
        let one = Box::pin(Self::of(all, who, one)).await?;
        let other = beside.join_next().await;
        let other = other.ok_or_else(|| LabError::Broken("the other experiment is not read".to_owned()))?;
        Ok([one, other.map_err(|e| LabError::Broken(e.to_string()))??])
    }

    /// All of it, borrowed.
    pub fn data(&self) -> Data<'_> {
        Data { experiment: &self.experiment, items: &self.items, runs: &self.runs, scores: &self.scores }
    }
}

/// The experiments of one dataset that are named.
///
/// # Errors
/// [`LabError::Wrong`] where they ask different datasets, or are too many.
pub async fn beside(all: &Experiments, who: &Who, named: &str) -> Result<Vec<Loaded>, LabError> {
    let mut loaded = Vec::new();
    for name in names(named)? {
        let found = reading::find(all.store(), &who.tenant, name).await?;
        loaded.push(Loaded::of(all, who, found).await?);
    }
    of_one_dataset(loaded.iter().map(|one| &one.experiment))?;
    Ok(loaded)
}

/// The names of a list with commas.
fn names(named: &str) -> Result<Vec<&str>, LabError> {
    let named: Vec<&str> = named.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
    match (1..=MAX_BESIDE).contains(&named.len()) {
        true => Ok(named),
        false => {
            let why =
                format!("experiments names {} experiments; name 1 to {MAX_BESIDE}, with commas", named.len());
            Err(LabError::Wrong(why))
        }
    }
}

fn of_one_dataset<'a>(mut all: impl Iterator<Item = &'a Experiment>) -> Result<(), LabError> {
    let Some(first) = all.next() else { return Ok(()) };
    match all.find(|one| one.dataset_id != first.dataset_id) {
        None => Ok(()),
        Some(other) => Err(LabError::Wrong(format!(
            "{:?} and {:?} ask different datasets: no item has a pair",
            first.name, other.name
        ))),
    }
}

/// What is compared with one baseline.
pub struct Compared {
    /// The baseline.
    pub baseline: Loaded,
    /// The others, each once, in the order in which they were named.
    pub others: Vec<Loaded>,
}

impl Compared {
    /// Reads the experiments that are named, and the baseline: the one that is named, else the one that is marked, else the latest
    /// of the dataset that ended well and is not named, else the first that is.
    ///
    /// # Errors
    /// [`LabError::Wrong`] where they ask different datasets, are too many, or the baseline is alone; [`LabError::Missing`] for one
    /// that is not there.
    pub async fn of(
        all: &Experiments,
        who: &Who,
        named: &str,
        baseline: Option<&str>,
    ) -> Result<Self, LabError> {
        let mut others: Vec<Experiment> = Vec::new();
        for name in names(named)? {
            let found = reading::find(all.store(), &who.tenant, name).await?;
            if others.iter().all(|one| one.experiment_id != found.experiment_id) {
                others.push(found);
            }
        }
        let baseline = match baseline {
            Some(named) => reading::find(all.store(), &who.tenant, named).await?,
            None => {
                let first = others[0].clone();
                let dataset = &first.dataset_id;
                let found = reading::baseline_beside(all.store(), &who.tenant, dataset, &others).await?;
                found.unwrap_or(first)
            }
        };
        others.retain(|one| one.experiment_id != baseline.experiment_id);
        if others.is_empty() {
            let why = format!("{:?} is the baseline: name what is compared with it", baseline.name);
            return Err(LabError::Wrong(why));
        }
        of_one_dataset(std::iter::once(&baseline).chain(&others))?;
        let mut loaded = Vec::with_capacity(others.len());
        for one in others {
            loaded.push(Box::pin(Loaded::of(all, who, one)).await?);
        }
        let baseline = Box::pin(Loaded::of(all, who, baseline)).await?;
        Ok(Self { baseline, others: loaded })
    }
}

/// Experiments with their answers: what their files are made of.
pub struct Beside(Vec<(Loaded, HashMap<Key, Answered>)>);

impl Beside {
    /// With the answers of `loaded`.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn load(all: &Experiments, who: &Who, loaded: Vec<Loaded>) -> Result<Self, LabError> {
        let mut both = Vec::with_capacity(loaded.len());
        for one in loaded {
            let answers = reading::answers(all.store(), &who.tenant, &one.experiment.experiment_id).await?;
            both.push((one, answers));
        }
        Ok(Self(both))
    }

    /// Reads `experiments`, which are of one dataset.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn of(all: &Experiments, who: &Who, experiments: Vec<Experiment>) -> Result<Self, LabError> {
        let mut loaded = Vec::with_capacity(experiments.len());
        for experiment in experiments {
            loaded.push(Loaded::of(all, who, experiment).await?);
        }
        Self::load(all, who, loaded).await
    }

    /// Each beside the others.
    pub fn sides(&self) -> Vec<Side<'_>> {
        self.0.iter().map(|(one, answers)| Side { data: one.data(), answers }).collect()
    }

    /// The files of all parts, and a page that shows them.
    ///
    /// # Errors
    /// When memory does.
    pub fn files(&self, all: &Experiments) -> Result<BTreeMap<String, Vec<u8>>, String> {
        all_files(&self.sides(), &|of: &str, metric: &str| line(all, of, metric))
    }
}

/// Which side of a metric is good, and its threshold: the configuration's, else the evaluator's own.
pub fn line(all: &Experiments, evaluator: &str, metric: &str) -> (Better, Option<f64>) {
    let found = all.registry().select(&[evaluator.to_owned()]).unwrap_or_default();
    let mut known = found.iter().flat_map(|e| e.metrics().iter().map(move |known| (e, known)));
    let known = known.find(|(_, known)| known.name == metric);
    known.map_or((Better::Higher, None), |(e, known)| {
        (known.better, all.registry().threshold(e.as_ref(), known))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tried::{asked, me, opened};
    use super::*;
    use crate::sql;
    use serde_json::{Value, json};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn two_are_read_where_one_query_is_answered_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let config = sql::Config { max_concurrent: 1, ..sql::Config::default() };
        let (all, who) = (opened(folder.path(), config).await, me());
        let found = asked(&all, &who).await;
        // So that both begin with what is read at once.
        all.items(&who, &found).await.unwrap();
        let both = Loaded::both(&all, &who, [found.clone(), found]).await.unwrap();
        assert!(both.iter().all(|one| one.items.len() == 1 && one.runs.is_empty()));
    }

    /// As who numbers attempts by the time does.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn many_numbers_of_attempts_are_few_queries() {
        assert_eq!(reading::apart(&[1, 2, 7].into()), [(1, 1), (2, 2), (7, 7)]);
        let ranges = reading::apart(&(1..=40).collect());
        assert_eq!((ranges.len(), ranges[15], ranges[16]), (17, (16, 16), (17, i64::MAX)));
        let folder = tempfile::tempdir().unwrap();
        let (all, who) = (opened(folder.path(), sql::Config::default()).await, me());
        let found = asked(&all, &who).await;
        let item = all.items(&who, &found).await.unwrap()[0].item_id.clone();
        // Scores of such an attempt would not be found again.
        let beyond = json!([{"item_id": item, "attempt": i64::from(i32::MAX) + 1, "output": "There."}]);
        let beyond = serde_json::from_value(beyond).unwrap();
        let told = all.receive(&who, &found.experiment_id, beyond).await.unwrap();
        assert_eq!((told.stored, told.refused.len()), (0, 1), "{told:?}");
        for attempt in (1..=20).map(|at| at * 1_000) {
            let score = json!({"name": "m", "value": 0.5, "passed": attempt == 20_000});
            let answers =
                json!([{"item_id": item, "attempt": attempt, "output": "There.", "scores": [score]}]);
            let answers = serde_json::from_value(answers).unwrap();
            assert_eq!(all.receive(&who, &found.experiment_id, answers).await.unwrap().stored, 1);
        }
        let loaded = Loaded::of(&all, &who, found).await.unwrap();
        assert_eq!((loaded.runs.len(), loaded.scores.len()), (1, 1));
        assert_eq!(loaded.scores[0].passed, Some(true));
    }

    /// A query gives at most six rows, and the run has four scores of each of its attempts.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_run_that_was_asked_again_has_no_more_scores_to_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let config = sql::Config { max_rows: 6, ..sql::Config::default() };
        let (all, who) = (opened(folder.path(), config).await, me());
        let found = asked(&all, &who).await;
        let item = all.items(&who, &found).await.unwrap()[0].item_id.clone();
        for attempt in 1..=3 {
            let score = |at: i64| json!({"name": format!("m{at}"), "value": 0.5, "passed": attempt == 3});
            let scores: Vec<Value> = (0..4).map(score).collect();
            let answers =
                json!([{"item_id": item, "attempt": attempt, "output": "There.", "scores": scores}]);
            let answers = serde_json::from_value(answers).unwrap();
            assert_eq!(all.receive(&who, &found.experiment_id, answers).await.unwrap().stored, 1);
        }
        let loaded = Loaded::of(&all, &who, found).await.unwrap();
        assert_eq!((loaded.runs.len(), loaded.scores.len()), (1, 4));
        assert!(loaded.scores.iter().all(|score| score.passed == Some(true)), "{:?}", loaded.scores);
    }
}
