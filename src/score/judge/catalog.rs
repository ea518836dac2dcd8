//! Every evaluator that asks a judge, and those of the user's own.

use super::client::Panel;
use super::config::JudgeConfig;
use super::evaluator::JudgeEvaluator;
use super::prompt::{Field, Items, Prompt};
use super::shape::{Choice, Formula, Shape, sentences_of};
use crate::domain::score::Better;
use crate::domain::time::Clock;
use crate::eval::{CustomConfig, CustomKind, Evaluator, Metric};
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use std::path::Path;
use std::sync::Arc;

/// What passes where a share is high, and its mirror where it is low.
const SHARE: (Better, Option<f64>) = (Better::Higher, Some(0.75));
const LOW_SHARE: (Better, Option<f64>) = (Better::Lower, Some(0.25));
/// A verdict has no threshold.
const VERDICT: (Better, Option<f64>) = (Better::Higher, None);
/// The weight of factual F1 in `answer_correctness`.
const FACTS: f64 = 0.75;

const ACCURACY: &[Choice] = &[
    Choice { label: "accurate", passes: true },
    Choice { label: "slightly_inaccurate", passes: false },
    Choice { label: "completely_incorrect", passes: false },
];
const COMPARED: &[Choice] = &[
    Choice { label: "superset", passes: true },
    Choice { label: "identical", passes: true },
    Choice { label: "similar", passes: true },
    Choice { label: "subset", passes: false },
    Choice { label: "disagreement", passes: false },
];
/// Where what is wrong came from: a fail is the retrieved text's or the model's own.
const SPLIT: &[Choice] = &[
    Choice { label: "none", passes: true },
    Choice { label: "retrieval", passes: false },
    Choice { label: "generation", passes: false },
];
const FAULTLESS: &[Choice] =
    &[Choice { label: "none", passes: true }, Choice { label: "generation", passes: false }];

/// One evaluator: id and metric, prompt, shape of the reply, direction and threshold.
type Builtin = (&'static str, &'static str, Shape, (Better, Option<f64>));

macro_rules! prompt {
    ($name:literal) => {
        include_str!(concat!("prompts/", $name, ".md"))
    };
}

/// In the order of `eval::JUDGE_IDS`.
const BUILTIN: &[Builtin] = &[
    ("faithfulness", prompt!("faithfulness"), Shape::Statements, SHARE),
    ("answer_correctness", prompt!("answer_correctness"), Shape::Facts { weight: FACTS }, SHARE),
    ("answer_relevancy", prompt!("answer_relevancy"), Shape::Questions, SHARE),
    ("context_precision", prompt!("context_precision"), chunks(Formula::AveragePrecision), SHARE),
    ("context_recall", prompt!("context_recall"), sentences_of(Field::Expected, Formula::Share), SHARE),
    ("context_relevancy", prompt!("context_relevancy"), sentences_of(Field::Context, Formula::Share), SHARE),
    (
        "rag_hallucination",
        prompt!("rag_hallucination"),
        sentences_of(Field::Answer, Formula::ShareOfNo),
        LOW_SHARE,
    ),
    ("rag_context_recall", prompt!("rag_context_recall"), sentences_of(Field::Answer, Formula::Share), SHARE),
    ("rag_context_precision", prompt!("rag_context_precision"), chunks(Formula::Share), SHARE),
    ("correctness", prompt!("correctness"), Shape::Rating, VERDICT),
    ("relevance_to_query", prompt!("relevance_to_query"), Shape::Rating, VERDICT),
    ("groundedness_judge", prompt!("groundedness_judge"), Shape::Rating, VERDICT),
    ("safety", prompt!("safety"), Shape::Rating, VERDICT),
    ("chunk_relevance", prompt!("chunk_relevance"), chunks(Formula::Share), SHARE),
    ("context_sufficiency", prompt!("context_sufficiency"), Shape::Rating, VERDICT),
    ("accuracy", prompt!("accuracy"), Shape::Choice(ACCURACY), VERDICT),
    ("facts_compare", prompt!("facts_compare"), Shape::Choice(COMPARED), VERDICT),
    ("contact_information", prompt!("contact_information"), Shape::Choice(SPLIT), VERDICT),
    ("language_mismatch_judge", prompt!("language_mismatch_judge"), Shape::Choice(SPLIT), VERDICT),
    ("sexism", prompt!("sexism"), Shape::Choice(SPLIT), VERDICT),
    ("stereotypes", prompt!("stereotypes"), Shape::Choice(SPLIT), VERDICT),
    ("summarization_judge", prompt!("summarization_judge"), Shape::Choice(FAULTLESS), VERDICT),
];

const fn chunks(formula: Formula) -> Shape {
    Shape::Numbered(Items::Chunks, formula)
}

/// Why the judges cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JudgesError(String);

/// The configured judges, and the evaluators that ask them.
pub struct Judges {
    panel: Arc<Panel>,
    evaluators: Vec<Arc<dyn Evaluator>>,
}

impl Judges {
    /// SQL: what the judges have cost since midnight UTC, by model.
    pub const SPENT: &str = "SELECT CAST(judge_model AS VARCHAR) AS model, CAST(sum(cost_usd) AS DOUBLE) AS usd FROM scores \
                             WHERE source = 'rule' AND cost_usd > 0 AND evaluated_at >= date_trunc('day', now()) \
                             GROUP BY judge_model";

    /// Every evaluator that asks one of `judges`; none without judges. `similarity` is the local evaluator
    /// `answer_semantic_similarity`, unless it is disabled.
    ///
    /// # Errors
    /// When the variable of a key is not set, or a prompt of the user's own cannot be read.
    pub fn new(
        judges: &[JudgeConfig],
        custom: &[CustomConfig],
        clock: &Arc<dyn Clock>,
        similarity: Option<&Arc<dyn Evaluator>>,
    ) -> Result<Self, JudgesError> {
        let panel = Arc::new(Panel::new(judges, clock).map_err(JudgesError)?);
        let mut evaluators: Vec<Arc<dyn Evaluator>> = Vec::new();
        if judges.is_empty() {
            return Ok(Self { panel, evaluators });
        }
        for (id, prompt, shape, (better, threshold)) in BUILTIN {
            let metric = Metric { name: id, better: *better, threshold: *threshold };
            let made =
                JudgeEvaluator::new(id, metric, prompt, *shape, (panel.clone(), 0), similarity.cloned());
            evaluators.push(Arc::new(made.map_err(|e| JudgesError(format!("{id}: {e}")))?));
        }
        for one in custom {
            let made =
                own(one, &panel).map_err(|e| JudgesError(format!("eval.custom {:?}: {e}", one.name)))?;
            evaluators.push(Arc::new(made));
        }
        Ok(Self { panel, evaluators })
    }

    /// The evaluators.
    pub fn evaluators(&self) -> Vec<Arc<dyn Evaluator>> {
        self.evaluators.clone()
    }

    /// Requests at once to all judges together.
    pub fn at_once(&self) -> usize {
        self.panel.at_once()
    }

    /// Whether one of them has a budget, and must know what was spent today.
    pub fn has_budget(&self) -> bool {
        self.panel.has_budget()
    }

    /// Counts the rows of [`Judges::SPENT`] against the budgets: a restart gives nobody a new one.
    pub fn count_spent(&self, rows: &[RecordBatch]) {
        for batch in rows {
            let model = batch.column_by_name("model").and_then(|column| cast(column, &DataType::Utf8).ok());
            let usd = batch
                .column_by_name("usd")
                .and_then(|column| column.as_primitive_opt::<Float64Type>().cloned());
            let (Some(model), Some(usd)) = (model, usd) else { continue };
            for (model, usd) in model.as_string::<i32>().iter().zip(&usd) {
                self.panel.spent(model.unwrap_or_default(), usd.unwrap_or_default());
            }
        }
    }
}

fn own(config: &CustomConfig, panel: &Arc<Panel>) -> Result<JudgeEvaluator, String> {
    let place = panel.place(&config.judge).ok_or("its judge is not among [[judges]]")?;
    let id = config.id();
    // Metrics are named for as long as the process lives; there are as many as the configuration has.
    let name: &'static str = Box::leak(id.clone().into_boxed_str());
    let (shape, (better, threshold)) = match config.kind {
        CustomKind::Answer => (Shape::Rating, VERDICT),
        CustomKind::Retrieval => (chunks(Formula::Share), SHARE),
    };
    let metric = Metric { name, better, threshold };
    let prompt = prompt_of(config)?;
    checked(config, &prompt)?;
    JudgeEvaluator::new(&id, metric, &prompt, shape, (panel.clone(), place), None)
}

fn prompt_of(config: &CustomConfig) -> Result<String, String> {
    if config.prompt_file == Path::new("") {
        return Ok(config.prompt.clone());
    }
    std::fs::read_to_string(&config.prompt_file)
        .map_err(|e| format!("prompt_file {}: {e}", config.prompt_file.display()))
}

fn checked(config: &CustomConfig, prompt: &str) -> Result<(), String> {
    let prompt = Prompt::parse(prompt)?;
    if config.kind == CustomKind::Retrieval && !prompt.names(Field::Context) {
        return Err("a question about chunks needs {{context}}".to_owned());
    }
    Ok(())
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
        // A file is read at the start; what is said of an empty prompt is said elsewhere.
        if !one.prompt.trim().is_empty()
            && let Err(why) = checked(one, &one.prompt)
        {
            wrong(&why);
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::SystemClock;
    use crate::eval::JUDGE_IDS;

    fn clock() -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }

    fn custom(kind: CustomKind, prompt: &str) -> CustomConfig {
        let (name, prompt) = ("tone".to_owned(), prompt.to_owned());
        CustomConfig { name, kind, prompt, prompt_file: Default::default(), judge: String::new() }
    }

    #[test]
    fn every_id_has_its_prompt_and_versions_differ() {
        let judge = [JudgeConfig::new("main", "http://127.0.0.1:1/v1", "m")];
        let own = [custom(CustomKind::Answer, "Is {{answer}} polite?")];
        let judges = Judges::new(&judge, &own, &clock(), None).unwrap();
        let ids: Vec<String> = judges.evaluators().iter().map(|e| e.id().to_owned()).collect();
        assert_eq!(ids[..JUDGE_IDS.len()], *JUDGE_IDS);
        assert_eq!(ids[JUDGE_IDS.len()..], ["custom_answer/tone"]);
        let versions: std::collections::BTreeSet<String> =
            judges.evaluators().iter().map(|e| e.version().to_owned()).collect();
        assert_eq!(versions.len(), ids.len());
        assert!(judges.evaluators().iter().all(|e| e.waits().is_some() && e.is_by_name_only()));
        assert!(Judges::new(&[], &[], &clock(), None).unwrap().evaluators().is_empty());
    }

    #[test]
    fn a_key_that_is_not_there_stops_the_start() {
        let judge = JudgeConfig {
            api_key_env: "GROUNDLINE_NO_SUCH_KEY".to_owned(),
            ..JudgeConfig::new("main", "http://h/v1", "m")
        };
        let error = Judges::new(&[judge], &[], &clock(), None).err().unwrap().to_string();
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
    }
}
