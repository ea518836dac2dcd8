//! Every evaluator that asks a judge, and those of the user's own.

use super::builtin::{BUILTIN, Builtin, Criterion, SHARE, VERDICT};
use super::cache::{Cache, CacheConfig};
use super::canary;
use super::client::Panel;
use super::config::JudgeConfig;
use super::custom::{checked, own, prompt_of};
use super::desk::Desk;
use super::evaluator::{JudgeEvaluator, Way};
use super::gptscore::GptScore;
use super::pairwise::REPEATED;
use super::rewriter::JudgeWriter;
use super::session::{SessionQuery, Sessions};
use super::shape::Shape;
use super::verdict::Verdict;
use super::writing::SuiteDesk;
use crate::detect::Policy;
use crate::domain::time::Clock;
use crate::eval::{CustomConfig, Evaluator, JudgeDesk, Metric};
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Why the judges cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JudgesError(String);

/// What judges are made of.
pub struct JudgesSetup<'a> {
    /// `[[judges]]`.
    pub judges: &'a [JudgeConfig],
    /// `[[eval.custom]]`.
    pub custom: &'a [CustomConfig],
    /// The weight of factual F1 in `answer_correctness`, from 0 to 1.
    pub correctness_weight: f64,
    /// How often `pairwise` asks in each order, 1 or more.
    pub pairwise_runs: u32,
    /// The cache of replies, and its folder.
    pub cache: (&'a CacheConfig, PathBuf),
    /// Values that are not redacted in texts.
    pub policy: &'a Arc<Policy>,
    /// The time.
    pub clock: &'a Arc<dyn Clock>,
    /// The local evaluator `answer_semantic_similarity`, unless it is disabled.
    pub similarity: Option<&'a Arc<dyn Evaluator>>,
}

/// The configured judges, and the evaluators that ask them.
pub struct Judges {
    panel: Arc<Panel>,
    evaluators: Vec<Arc<dyn Evaluator>>,
    sessions: Arc<Sessions>,
}

impl Judges {
    /// SQL: what the judges have cost since midnight and since the first of the month UTC, by model.
    pub const SPENT: &str = "SELECT CAST(judge_model AS VARCHAR) AS model, CAST(sum(cost_usd) AS DOUBLE) AS month_usd, \
                             CAST(sum(CASE WHEN evaluated_at >= date_trunc('day', now()) THEN cost_usd ELSE 0 END) AS DOUBLE) AS usd \
                             FROM scores WHERE source = 'rule' AND cost_usd > 0 \
                             AND evaluated_at >= date_trunc('month', now()) GROUP BY judge_model";

    /// Every evaluator that asks one of the judges; none without judges. Blocks while the cache is opened.
    ///
    /// # Errors
    /// When the variable of a key is not set, a prompt of the user's own cannot be read, or the cache's folder cannot be used.
    pub fn new(setup: &JudgesSetup<'_>) -> Result<Self, JudgesError> {
        let cache = cache(setup).map_err(JudgesError)?;
        let panel = Panel::new(setup.judges, setup.clock, setup.policy, cache).map_err(JudgesError)?;
        let (panel, sessions) = (Arc::new(panel), Arc::new(Sessions::default()));
        let mut made = Self { panel, evaluators: Vec::new(), sessions };
        if setup.judges.is_empty() {
            return Ok(made);
        }
        for (id, builtin) in BUILTIN {
            let (metrics, way) =
                made.builtin(id, builtin, setup).map_err(|e| JudgesError(format!("{id}: {e}")))?;
            made.add(id, metrics, way);
        }
        for one in setup.custom {
            made.own(one).map_err(|e| JudgesError(format!("eval.custom {:?}: {e}", one.name)))?;
        }
        Ok(made)
    }

    fn add(&mut self, id: &str, metrics: Vec<Metric>, way: Way) {
        let desk = Desk::new(self.panel.clone(), 0);
        let made = JudgeEvaluator::new(id, metrics, way, desk, self.sessions.clone());
        self.evaluators.push(Arc::new(made));
    }

    fn builtin(
        &self,
        id: &'static str,
        builtin: &Builtin,
        setup: &JudgesSetup<'_>,
    ) -> Result<(Vec<Metric>, Way), String> {
        let verdict = |prompt: &str, shape: Shape| {
            let shape = match shape {
                Shape::Facts { .. } => Shape::Facts { weight: setup.correctness_weight },
                other => other,
            };
            let desk = Desk::new(self.panel.clone(), 0);
            Verdict::new(id, prompt, shape, desk, setup.similarity.cloned())
        };
        let metric =
            |name: &'static str, (better, threshold): Criterion| Metric::new(name, better, threshold);
        Ok(match builtin {
            Builtin::Single(prompt, shape, judged) => {
                (vec![metric(id, *judged)], Way::Single(verdict(prompt, *shape)?))
            }
            Builtin::Queries(prompt, shape, judged) => {
                (vec![metric(id, *judged)], Way::Sql(verdict(prompt, *shape)?))
            }
            Builtin::Pair(prompt, shape, judged, agree) => {
                let mut metrics = vec![metric(id, *judged), metric(agree, VERDICT)];
                if setup.pairwise_runs > 1 {
                    metrics.push(metric(REPEATED, VERDICT));
                }
                (metrics, Way::Pairwise(verdict(prompt, *shape)?, setup.pairwise_runs))
            }
            Builtin::Mean(parts) => {
                let (mut metrics, mut asked) = (vec![metric(id, SHARE)], Vec::new());
                for (name, part) in BUILTIN.iter().filter(|(name, _)| parts.contains(name)) {
                    if let Builtin::Single(prompt, shape, judged) = part {
                        metrics.push(metric(name, *judged));
                        asked.push((metric(name, *judged), verdict(prompt, *shape)?));
                    }
                }
                (metrics, Way::Ragas(asked))
            }
            Builtin::Likely(file, likely, names) => {
                let gptscore = GptScore::new(*likely, file, names)?;
                (gptscore.metrics(), Way::Likelihood(gptscore))
            }
        })
    }

    fn own(&mut self, config: &CustomConfig) -> Result<(), String> {
        self.evaluators.push(Arc::new(own(&self.panel, &self.sessions, config)?));
        Ok(())
    }

    /// The evaluators.
    pub fn evaluators(&self) -> Vec<Arc<dyn Evaluator>> {
        self.evaluators.clone()
    }

    /// Where the first judge is asked what stands in no configuration; none without judges.
    pub fn desk(&self) -> Option<Arc<dyn JudgeDesk>> {
        let desk =
            || -> Arc<dyn JudgeDesk> { Arc::new(SuiteDesk::new(self.panel.clone(), self.sessions.clone())) };
        (self.panel.len() > 0).then(desk)
    }

    /// Items in work at once for all judges together.
    pub fn at_once(&self) -> usize {
        self.panel.at_once()
    }

    /// Whether one of them has a budget, and must know what was spent today and this month.
    pub fn has_budget(&self) -> bool {
        self.panel.has_budget()
    }

    /// Counts the rows of [`Judges::SPENT`] against the budgets: a restart gives nobody a new one.
    pub fn count_spent(&self, rows: &[RecordBatch]) {
        for batch in rows {
            let numbers = |name: &str| {
                batch.column_by_name(name).and_then(|c| c.as_primitive_opt::<Float64Type>().cloned())
            };
            let model = batch.column_by_name("model").and_then(|column| cast(column, &DataType::Utf8).ok());
            let (Some(model), Some(usd), Some(month)) = (model, numbers("usd"), numbers("month_usd")) else {
                continue;
            };
            for ((model, usd), month) in model.as_string::<i32>().iter().zip(&usd).zip(&month) {
                let (usd, month) = (usd.unwrap_or_default(), month.unwrap_or_default());
                self.panel.spent(model.unwrap_or_default(), usd, month);
            }
        }
    }

    /// The first judge, where texts are to be written anew; none without judges.
    pub fn writer(&self) -> Option<Arc<dyn crate::eval::Writer>> {
        let write = || -> Arc<dyn crate::eval::Writer> {
            Arc::new(JudgeWriter::new(Desk::new(self.panel.clone(), 0), self.panel.at_once()))
        };
        (self.panel.len() > 0).then(write)
    }

    /// Reads the earlier traces of sessions with `reader` from now on.
    pub fn read_sessions_with(&self, reader: SessionQuery) {
        self.sessions.read_with(reader);
    }

    /// Asks each judge the questions whose answers are known, on its schedule, until `stop`.
    pub async fn watch(&self, stop: CancellationToken) {
        canary::watch(&self.panel, stop).await;
    }
}

/// The cache, if there is one.
fn cache(setup: &JudgesSetup<'_>) -> Result<Option<Cache>, String> {
    let (config, folder) = &setup.cache;
    if setup.judges.is_empty() || config.size.is_zero() {
        return Ok(None);
    }
    let told = |error: std::io::Error| format!("score.judge_cache: {}: {error}", folder.display());
    Cache::open(folder, config).map(Some).map_err(told)
}

/// Every fault of the user's own questions that `[[judges]]` or their placeholders cause.
pub fn custom_faults(custom: &[CustomConfig], judges: &[JudgeConfig]) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, one) in custom.iter().enumerate() {
        let mut wrong = |what: &str| faults.push(format!("eval.custom[{at}] {:?}: {what}", one.name));
        if judges.is_empty() {
            wrong("it asks a judge: configure [[judges]], see docs/judges.md");
        } else if !one.judge.is_empty() && judges.iter().all(|judge| judge.name != one.judge) {
            wrong(&format!("judge {:?} is not among [[judges]]", one.judge));
        }
        // What is said of an empty prompt is said elsewhere.
        if one.prompt.trim().is_empty() && one.prompt_file == Path::new("") {
            continue;
        }
        if let Err(why) = prompt_of(one).and_then(|prompt| checked(one, &prompt)) {
            wrong(&why);
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::SystemClock;
    use crate::eval::{CustomKind, JUDGE_IDS};

    fn made(judges: &[JudgeConfig], custom: &[CustomConfig], weight: f64) -> Result<Judges, JudgesError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        Judges::new(&JudgesSetup {
            judges,
            custom,
            correctness_weight: weight,
            pairwise_runs: 1,
            cache: (&CacheConfig::default(), PathBuf::new()),
            policy: &Arc::default(),
            clock: &clock,
            similarity: None,
        })
    }

    fn custom(kind: CustomKind, prompt: &str) -> CustomConfig {
        let (name, prompt) = ("tone".to_owned(), prompt.to_owned());
        CustomConfig { name, kind, prompt, prompt_file: Default::default(), judge: String::new() }
    }

    #[test]
    fn every_id_has_its_prompt_and_versions_differ() {
        let judge = [JudgeConfig::new("main", "http://127.0.0.1:1/v1", "m")];
        let own = [
            custom(CustomKind::Answer, "Is {{answer}} polite?"),
            custom(CustomKind::Byop, "Is {{answer}} so?"),
        ];
        let judges = made(&judge, &own, 0.75).unwrap();
        let ids: Vec<String> = judges.evaluators().iter().map(|e| e.id().to_owned()).collect();
        assert_eq!(ids[..JUDGE_IDS.len()], *JUDGE_IDS);
        assert_eq!(ids[JUDGE_IDS.len()..], ["custom_answer/tone", "byop/tone"]);
        let versions: std::collections::BTreeSet<String> =
            judges.evaluators().iter().map(|e| e.version().to_owned()).collect();
        assert_eq!(versions.len(), ids.len());
        assert!(judges.evaluators().iter().all(|e| e.waits().is_some() && e.is_by_name_only()));
        assert!(made(&[], &[], 0.75).unwrap().evaluators().is_empty());
        // Another weight gives other values, and so another version.
        let other = made(&judge, &[], 0.5).unwrap();
        let changed = other.evaluators().into_iter().filter(|e| !versions.contains(e.version()));
        assert_eq!(changed.map(|e| e.id().to_owned()).collect::<Vec<_>>(), ["answer_correctness"]);
    }

    #[test]
    fn metrics_of_an_evaluator_are_its_own() {
        let judge = [JudgeConfig::new("main", "http://127.0.0.1:1/v1", "m")];
        let judges = made(&judge, &[], 0.75).unwrap();
        let metrics = |id: &str| -> Vec<&str> {
            let all = judges.evaluators.iter().find(|e| e.id() == id).unwrap();
            all.metrics().iter().map(|metric| metric.name.as_ref()).collect()
        };
        assert_eq!(
            metrics("ragas"),
            ["ragas", "faithfulness", "answer_relevancy", "context_precision", "context_recall"]
        );
        assert_eq!(metrics("pairwise"), ["pairwise", "position_consistency"]);
        assert_eq!(metrics("gptscore_translation"), ["accuracy", "fluency", "mqm"]);
        assert_eq!(metrics("gptscore_summarization").len(), metrics("gptscore_summarization_ref").len() + 1);
        assert_eq!(metrics("gptscore_qa").len(), 8);
        for one in &judges.evaluators {
            assert!(
                one.metrics().iter().all(|m| crate::eval::scale_of(one.id(), &m.name).is_some()),
                "{}",
                one.id()
            );
        }
        assert!(judges.evaluators.iter().all(|e| {
            let names: std::collections::BTreeSet<&str> =
                e.metrics().iter().map(|m| m.name.as_ref()).collect();
            names.len() == e.metrics().len() && !names.is_empty()
        }));
    }

    #[test]
    fn a_key_that_is_not_there_stops_the_start() {
        let judge = JudgeConfig {
            api_key_env: "GROUNDLINE_NO_SUCH_KEY".to_owned(),
            ..JudgeConfig::new("main", "http://h/v1", "m")
        };
        let error = made(&[judge], &[], 0.75).err().unwrap().to_string();
        assert!(error.contains("GROUNDLINE_NO_SUCH_KEY") && error.contains("main"), "{error}");
    }

    #[test]
    fn faults_of_own_questions_are_told() {
        let judges = [JudgeConfig::new("main", "http://h/v1", "m")];
        assert!(custom_faults(&[custom(CustomKind::Answer, "{{answer}}")], &judges).is_empty());
        for (one, part) in [
            (custom(CustomKind::Answer, "{{anser}}"), "{{answer}}"),
            (custom(CustomKind::Retrieval, "{{question}}"), "{{context}}"),
            (CustomConfig { judge: "other".to_owned(), ..custom(CustomKind::Answer, "{{answer}}") }, "other"),
        ] {
            let told = custom_faults(&[one], &judges).join("\n");
            assert!(told.contains(part), "{told}");
        }
        assert!(custom_faults(&[custom(CustomKind::Answer, "{{answer}}")], &[])[0].contains("[[judges]]"));
        // Files are read too.
        let file = tempfile::NamedTempFile::new().unwrap();
        let of =
            |path: &Path| CustomConfig { prompt_file: path.to_owned(), ..custom(CustomKind::Answer, "") };
        for (text, part) in
            [("Is {{answer}} so?", ""), ("Is {{anser}} so?", "{{answer}}"), ("", "no placeholder")]
        {
            std::fs::write(file.path(), text).unwrap();
            let told = custom_faults(&[of(file.path())], &judges).join("\n");
            assert!(told.contains(part) && told.is_empty() == part.is_empty(), "{text}: {told}");
        }
        let told = custom_faults(&[of(Path::new("/no/such/file"))], &judges).join("\n");
        assert!(told.contains("prompt_file /no/such/file"), "{told}");
    }
}
