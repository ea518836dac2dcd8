//! Making the experiment that a run of a suite is, asking its target, taking answers.

use super::judged::{Judging, Panel};
use super::traced;
use crate::eval::{JudgeDesk, Registry};
use crate::lab::dataset::Reference;
use crate::lab::error::{Fault, LabError, MAX_FAULTS};
use crate::lab::experiment::{
    Answer, Case, Experiment, Experiments, MAX_CALLED, NewExperiment, OfSuite, Retry, Stored, Target,
    todo_page,
};
use crate::lab::store::{Store, Who};
use crate::lab::suite::{
    Analyses, Spans, Suite, SuiteHead, Suites, TestNames, asks_for_spans, find, find_version,
    unknown_metrics, whole,
};
use crate::schema::batch::ItemRow;
use crate::units::words;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Most answers of one request.
const MAX_ANSWERS: usize = 1_000;

/// Suites that the server runs. Cheap to clone.
#[derive(Clone)]
pub struct SuiteRuns {
    suites: Suites,
    experiments: Experiments,
    judging: Judging,
    analyses: Analyses,
}

/// A run that is to be made.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSuite {
    /// What answers: `{"kind": "named", "name": …}` for one of `[lab.targets]`, which the server asks; of any other kind the
    /// sender asks it, and sends its answers.
    pub target: Option<Target>,
    /// Answers that are there: objects with test (or question), output or error, and what else runs have.
    pub answers: Vec<Map<String, Json>>,
    /// The name of the experiment; that of the suite if left out.
    pub name: Option<String>,
    /// How often each test is asked; as the suite says if left out.
    pub repetitions: Option<u32>,
    /// Which tests are asked: a condition in SQL.
    pub filter: Option<String>,
    /// Parameters of the target.
    pub parameters: Map<String, Json>,
    /// Words to find it by, beside suite.
    pub tags: Vec<String>,
    /// Whether others of the suite are compared with it.
    pub baseline: bool,
}

/// A run that was made.
pub(super) struct Begun {
    pub experiment: Experiment,
    pub head: SuiteHead,
    /// How many tests are asked.
    pub tests: i64,
}

/// What became of the answers of a request.
#[derive(Debug, Serialize)]
pub(super) struct Taken {
    #[serde(flatten)]
    pub stored: Stored,
    /// How long the suite lets a run take, such as 30m: whoever comes again and again stops then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
}

impl SuiteRuns {
    /// Runs of `suites`, kept as `experiments`, judged by the evaluators of `registry`; questions of their own are put to the
    /// judge of `desk`, if there is one.
    pub fn new(
        suites: Suites,
        experiments: Experiments,
        registry: Arc<Registry>,
        desk: Option<Arc<dyn JudgeDesk>>,
    ) -> Self {
        Self { suites, experiments, judging: Judging { registry, desk }, analyses: Analyses::default() }
    }

    /// The experiments.
    pub fn experiments(&self) -> &Experiments {
        &self.experiments
    }

    /// Who judges.
    pub(super) fn judging(&self) -> &Judging {
        &self.judging
    }

    /// What judges wrote of runs.
    pub(super) fn analyses(&self) -> &Analyses {
        &self.analyses
    }

    fn store(&self) -> &Store {
        self.suites.store()
    }

    /// Makes the experiment: over the tests of the suite, in the version that the run makes of it. Nobody is asked yet.
    ///
    /// # Errors
    /// Everything that is wrong; the suite has the version that it had then.
    pub(super) async fn begin(
        &self,
        who: &Who,
        reference: &Reference,
        run: &RunSuite,
    ) -> Result<Begun, LabError> {
        let head = find(self.store(), &who.tenant, reference).await?;
        let mut suite = whole(self.store(), &who.tenant, &head).await?;
        if let Some(repetitions) = run.repetitions {
            suite.repeat(repetitions).map_err(|faults| LabError::Wrong(faults.to_string()))?;
        }
        checked(&suite, &run.answers)?;
        let mut new = self.experiment(&suite, &head, run)?;
        self.can_run(suite, &new, !run.answers.is_empty())?;
        let head = self.suites.run(who, reference).await?;
        new.dataset = format!("suite/{}@{}", head.name, head.row.dataset_version);
        let of = OfSuite { suite_id: head.suite_id.clone(), version: head.version };
        let (experiment, tests) = self.experiments.create_of(who, new, Some(of)).await?;
        Ok(Begun { experiment, head, tests })
    }

    /// The experiment that the run is.
    fn experiment(&self, suite: &Suite, head: &SuiteHead, run: &RunSuite) -> Result<NewExperiment, LabError> {
        let target = match (&run.target, run.answers.is_empty()) {
            (Some(target), _) => target.clone(),
            (None, false) => {
                Target { kind: "existing".to_owned(), name: None, model: None, more: Map::new() }
            }
            (None, true) => {
                let why = "say who is asked, {\"target\": {\"kind\": \"named\", \"name\": …}} of [lab.targets], or send answers, \
                           {\"answers\": [{\"test\": …, \"output\": …}]}";
                return Err(LabError::Wrong(why.to_owned()));
            }
        };
        let new = NewExperiment {
            name: run.name.clone().unwrap_or_else(|| head.name.clone()),
            dataset: format!("suite/{}@{}", head.name, head.row.dataset_version),
            target,
            parameters: run.parameters.clone(),
            evaluators: Vec::new(),
            repetitions: i64::from(suite.repetitions()),
            filter: run.filter.clone(),
            tags: std::iter::once("suite".to_owned()).chain(run.tags.iter().cloned()).collect(),
            baseline: run.baseline,
        };
        let faults = new.faults();
        if faults.is_empty() { Ok(new) } else { Err(LabError::Faults(faults)) }
    }

    /// What would be refused later: before the suite has another version.
    fn can_run(&self, suite: Suite, new: &NewExperiment, has_answers: bool) -> Result<(), LabError> {
        let is_named = new.target.kind == "named";
        if is_named {
            let name = new.target.name.as_deref().unwrap_or_default();
            let known = self.experiments.targets().described(name, &new.target.prompts());
            known.map_err(|why| LabError::Faults(vec![Fault::new(why).at("target")]))?;
        }
        // Whoever asks another target judges its answers by evaluators of its own.
        if is_named || has_answers {
            let panel = Panel::of(suite, &self.judging)?;
            unknown_metrics(&panel.suite, &panel.bench())
                .map_err(|faults| LabError::Wrong(faults.to_string()))?;
        }
        Ok(())
    }

    /// The suite of an experiment, in the version that it ran.
    ///
    /// # Errors
    /// [`LabError::Wrong`] for an experiment that is no run of a suite, or whose tests were purged.
    pub(super) async fn suite(&self, who: &Who, found: &Experiment) -> Result<Suite, LabError> {
        let (suite_id, version) = found.suite().ok_or_else(|| {
            LabError::Wrong(format!("the experiment {:?} is no run of a suite that is kept here", found.name))
        })?;
        let head = find_version(self.store(), &who.tenant, suite_id, version).await?.ok_or_else(|| {
            LabError::Missing(format!("the suite of {:?} is not here in version {version}", found.name))
        })?;
        whole(self.store(), &who.tenant, &head).await
    }

    /// Asks the target for at most `limit` runs from the place `from` on that are missing, or wanted again, and stores them with
    /// their verdicts. What is wanted again goes on at `next`: what fails once more is still wanted.
    ///
    /// # Errors
    /// [`LabError::Wrong`] for a target that is none of `[lab.targets]`.
    pub(super) async fn ask(
        &self,
        who: &Who,
        found: &Experiment,
        (from, limit): (usize, usize),
        retry: Retry,
    ) -> Result<Taken, LabError> {
        if !self.experiments.targets().has(&found.target) {
            return Err(LabError::Wrong(format!(
                "the server asks no target of the kind {:?} but those of [lab.targets]: groundline test --url asks it, and \
                 sends what it answers",
                found.target.kind
            )));
        }
        let id = &found.experiment_id;
        let _turn = self.experiments.targets().turn(&who.tenant, id)?;
        let limit = limit.clamp(1, MAX_CALLED);
        let (todo, next) = todo_page(&self.experiments, who, id, (from, limit), retry).await?;
        let answers = self.experiments.targets().answers(&found.target, &todo).await?;
        let wait = self.experiments.datasets().config().span_wait;
        let mut taken = self.keep(who, found, answers, wait).await?;
        taken.stored.next = next;
        Ok(taken)
    }

    /// Judges and stores answers that are there.
    ///
    /// # Errors
    /// [`LabError::Faults`] with every answer that names no test of the suite; nothing is stored then.
    pub(super) async fn take(
        &self,
        who: &Who,
        found: &Experiment,
        given: Vec<Map<String, Json>>,
    ) -> Result<Taken, LabError> {
        let suite = self.suite(who, found).await?;
        let items = self.experiments.items(who, found).await?;
        let answers = named(given, &suite, &items)?;
        // Whoever sends them knows when their spans are here.
        self.keep(who, found, answers, Duration::ZERO).await
    }

    async fn keep(
        &self,
        who: &Who,
        found: &Experiment,
        answers: Vec<Answer>,
        wait: Duration,
    ) -> Result<Taken, LabError> {
        let suite = self.suite(who, found).await?;
        let deadline = suite.deadline().map(words);
        let panel = Panel::of(suite, &self.judging)?;
        let mut received = self.experiments.received(who, &found.experiment_id, answers).await?;
        let cases = std::mem::take(&mut received.cases);
        let traces = self.traces(who, &panel.suite, &cases, wait).await;
        received.cases = panel.judged(&self.experiments, &who.tenant, (cases, &traces)).await?;
        Ok(Taken { stored: self.experiments.finished(who, received).await?, deadline })
    }

    /// The spans of these runs, where checks read them: senders hold spans back, so it waits as long first.
    async fn traces(
        &self,
        who: &Who,
        suite: &Suite,
        cases: &[Case],
        wait: Duration,
    ) -> HashMap<String, Spans> {
        let runs = cases.iter().map(|case| &case.run).filter(|run| run.error.is_none());
        let traces: Vec<&str> = runs.filter_map(|run| run.trace_id.as_deref()).collect();
        if traces.is_empty() || !asks_for_spans(suite) {
            return HashMap::new();
        }
        tokio::time::sleep(wait).await;
        traced::all(self.store(), &who.tenant, &traces).await
    }
}

/// The test that an answer names: by its id, or by what it asks.
fn test_of<'a>(names: &TestNames<'a>, answer: &Map<String, Json>) -> Option<&'a str> {
    let text = |key: &str| answer.get(key).and_then(Json::as_str);
    names.find(text("test"), text("question"))
}

/// That there are not too many answers, and each names a test.
fn checked(suite: &Suite, given: &[Map<String, Json>]) -> Result<(), LabError> {
    if given.len() > MAX_ANSWERS {
        let why = format!(
            "{} answers at once, at most {MAX_ANSWERS}: send the rest to the same experiment",
            given.len()
        );
        return Err(LabError::Limit(why));
    }
    let (names, mut faults) = (suite.names(), Vec::new());
    for (number, answer) in (1_u64..).zip(given).filter(|(_, answer)| test_of(&names, answer).is_none()) {
        let what = answer.get("test").or_else(|| answer.get("question")).unwrap_or(&Json::Null);
        let why = format!("no test of the suite has the id or the question {what}: say test or question");
        faults.push(Fault { item: Some(number), ..Fault::new(why) });
    }
    faults.truncate(MAX_FAULTS);
    if faults.is_empty() { Ok(()) } else { Err(LabError::Faults(faults)) }
}

/// Answers with the items of the tests that they name.
fn named(given: Vec<Map<String, Json>>, suite: &Suite, items: &[ItemRow]) -> Result<Vec<Answer>, LabError> {
    checked(suite, &given)?;
    let names = suite.names();
    let by_test: HashMap<&str, &str> =
        items.iter().filter_map(|item| Some((item.external_id.as_deref()?, item.item_id.as_str()))).collect();
    let (mut answers, mut faults) = (Vec::with_capacity(given.len()), Vec::new());
    for (number, mut answer) in (1_u64..).zip(given) {
        let mut wrong = |why: String| faults.push(Fault { item: Some(number), ..Fault::new(why) });
        let test = test_of(&names, &answer).unwrap_or_default();
        let Some(item) = by_test.get(test) else {
            wrong(format!("the test {test:?} is not asked in this run"));
            continue;
        };
        answer.shift_remove("test");
        answer.shift_remove("question");
        if let Some(output) = answer.shift_remove("answer") {
            answer.entry("output").or_insert(output);
        }
        answer.insert("item_id".to_owned(), json!(item));
        match serde_json::from_value(Json::Object(answer)) {
            Ok(answer) => answers.push(answer),
            Err(e) => wrong(e.to_string()),
        }
    }
    faults.truncate(MAX_FAULTS);
    if faults.is_empty() { Ok(answers) } else { Err(LabError::Faults(faults)) }
}
