//! JSON lines in, JSON lines out: the verb `score`.

use super::catalog::Registry;
use super::cpu;
use super::evaluator::{Evaluator, Forecast, Said};
use super::patience::{PATIENCE, patiently};
use crate::domain::document::Document;
use crate::domain::score::{Rated, Score, Unsupported, Usage};
use crate::domain::trace::{Constraint, EvalInput, Step};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One line of input. Only what an evaluator needs must be there.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct OfflineInput {
    /// Any JSON value that names the line.
    pub id: Option<Json>,
    /// What was asked.
    pub question: Option<String>,
    /// What was answered.
    pub answer: Option<String>,
    /// Texts, or objects of id, uri, text, rank and score.
    pub contexts: Option<Vec<OfflineContext>>,
    /// The expected answer.
    pub expected: Option<String>,
    /// All right answers, where one of several is enough.
    pub expected_answers: Option<Vec<String>>,
    /// URIs or ids of the documents that should have been retrieved.
    pub expected_documents: Option<Vec<String>>,
    /// Constraints on the answer's tokens.
    pub constraints: Option<Vec<Constraint>>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// Earlier turns: texts, or objects of role and content.
    pub history: Option<Vec<Json>>,
    /// The calls of tools: objects of tool (or name), arguments, result and failed.
    pub steps: Option<Vec<OfflineStep>>,
    /// The tenant.
    pub tenant: Option<String>,
}

/// One retrieved document of a line.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OfflineContext {
    /// Its text alone.
    Text(String),
    /// With what is known of it.
    Document {
        /// Its id.
        id: Option<String>,
        /// Where it came from.
        uri: Option<String>,
        /// Its text.
        #[serde(alias = "content")]
        text: Option<String>,
        /// Its place.
        rank: Option<i32>,
        /// The retriever's score.
        score: Option<f64>,
        /// The tenant that it belongs to.
        tenant: Option<String>,
    },
}

/// One call of a tool of a line.
#[derive(Debug, Clone, Deserialize)]
pub struct OfflineStep {
    /// The tool.
    #[serde(alias = "name")]
    pub tool: String,
    /// What it was given: text, or any JSON.
    #[serde(default)]
    pub arguments: Json,
    /// What it answered: text, or any JSON.
    #[serde(default)]
    pub result: Json,
    /// Whether the call failed.
    #[serde(default)]
    pub failed: bool,
}

/// One line of output: one metric.
#[derive(Debug, Clone, Serialize)]
pub struct OfflineRow {
    /// The line's id; its number (from 1) if it has none.
    pub id: Json,
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub evaluator_version: String,
    /// The metric.
    pub metric: String,
    /// The value in the metric's own scale.
    pub value: Option<f64>,
    /// A class, where the metric has one.
    pub label: Option<String>,
    /// Whether the value is on the right side of the threshold.
    pub passed: Option<bool>,
    /// The threshold.
    pub threshold: Option<f64>,
    /// ok, error or skipped.
    pub status: &'static str,
    /// Why.
    pub rationale: Option<String>,
    /// What went wrong, or was missing.
    pub error: Option<String>,
    /// The parts of the answer that failed it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Unsupported>,
    /// The verdict on each part, yes or no, where a judge was asked about parts one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ratings: Vec<&'static str>,
    /// The reason of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rationales: Vec<String>,
    /// How long the evaluator took, milliseconds.
    pub latency_ms: f64,
    /// What the judge took, on the first row of an evaluator that asked one.
    #[serde(flatten)]
    pub usage: Option<OfflineUsage>,
    /// How much of the processor the evaluator took, on its first row; none where others did the work, or the system does
    /// not tell.
    #[serde(skip)]
    pub cpu: Option<Duration>,
}

/// What an LLM judge took for an evaluator.
#[derive(Debug, Clone, Serialize)]
pub struct OfflineUsage {
    /// The model that answered.
    pub judge_model: String,
    /// Tokens that it read.
    pub input_tokens: Option<i64>,
    /// Tokens that it wrote.
    pub output_tokens: Option<i64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// Reads a line. The error names the line.
pub fn read_line(number: usize, line: &str) -> Result<OfflineInput, String> {
    serde_json::from_str(line).map_err(|e| format!("line {number}: {e}"))
}

/// Scores a line by `evaluators`, or says in an error row why it is none. True if the line parsed. Blocks; where an
/// evaluator waits for others, a runtime must be entered.
pub fn score_line(
    registry: &Registry,
    evaluators: &[Arc<dyn Evaluator>],
    number: usize,
    line: &str,
) -> (bool, Vec<OfflineRow>) {
    let ask = |evaluator: &dyn Evaluator, input: &EvalInput| {
        Ok::<_, Infallible>(score_input(registry, evaluator, input))
    };
    let Ok(scored) = score_line_by(evaluators, number, line, ask);
    scored
}

/// As [`score_line`], where `ask` tells what an evaluator says, and may end it.
///
/// # Errors
/// The first of `ask`; the other evaluators are not asked then.
pub fn score_line_by<E>(
    evaluators: &[Arc<dyn Evaluator>],
    number: usize,
    line: &str,
    ask: impl Fn(&dyn Evaluator, &EvalInput) -> Result<Said, E>,
) -> Result<(bool, Vec<OfflineRow>), E> {
    let input = match read_line(number, line) {
        Ok(input) => input,
        Err(error) => return Ok((false, vec![error_row(number, evaluators, error)])),
    };
    let id = input.id.clone().unwrap_or_else(|| number.into());
    let input = input.into_eval();
    let mut rows = Vec::new();
    for evaluator in evaluators {
        let (started, before) = (Instant::now(), cpu::spent());
        let Said { scores, usage, version } = ask(evaluator.as_ref(), &input)?;
        let latency_ms = started.elapsed().as_secs_f64() * 1e3;
        let mut worked = before.filter(|_| evaluator.waits().is_none());
        worked = worked.map(|before| cpu::between(Some(before), cpu::spent()));
        let mut usage = usage.map(OfflineUsage::from);
        rows.extend(scores.into_iter().map(|score| OfflineRow {
            // What was taken once is told once.
            usage: usage.take(),
            cpu: worked.take(),
            evaluator_version: version.as_deref().unwrap_or_else(|| evaluator.version()).to_owned(),
            ..row(&id, evaluator.as_ref(), score, latency_ms)
        }));
    }
    Ok((true, rows))
}

/// What each of `evaluators` that waits for others would take for a line, by its id.
///
/// # Errors
/// When the line is none; the message names it.
pub fn forecast_line(
    evaluators: &[Arc<dyn Evaluator>],
    number: usize,
    line: &str,
) -> Result<Vec<(String, Forecast)>, String> {
    let input = read_line(number, line)?.into_eval();
    let asked = evaluators.iter().filter_map(|evaluator| {
        let forecast = evaluator.waits()?.forecast(&input)?;
        Some((evaluator.id().to_owned(), forecast))
    });
    Ok(asked.collect())
}

/// What `evaluator` says of `input`; one that waits for others is asked for up to ten minutes, and who is away then is an
/// error score for each metric. Blocks; where an evaluator waits for others, a runtime must be entered.
pub fn score_input(registry: &Registry, evaluator: &dyn Evaluator, input: &EvalInput) -> Said {
    score_until(registry, evaluator, input, tokio::time::Instant::now() + PATIENCE)
}

/// As [`score_input`]; those that wait for others are asked until `until`.
pub fn score_until(
    registry: &Registry,
    evaluator: &dyn Evaluator,
    input: &EvalInput,
    until: tokio::time::Instant,
) -> Said {
    let Some(waits) = evaluator.waits() else {
        return Said { scores: registry.evaluate(evaluator, input), usage: None, version: None };
    };
    let asked = patiently(until, || registry.ask(evaluator, waits, input, until));
    asked.unwrap_or_else(|away| {
        let (scores, usage) = (evaluator.fail(&away.why), away.owed.take());
        Said { scores, usage, version: None }
    })
}

impl From<Usage> for OfflineUsage {
    fn from(usage: Usage) -> Self {
        let Usage { model: judge_model, input_tokens, output_tokens, cost_usd } = usage;
        Self { judge_model, input_tokens, output_tokens, cost_usd }
    }
}

fn row(id: &Json, evaluator: &dyn Evaluator, score: Score, latency_ms: f64) -> OfflineRow {
    OfflineRow {
        id: id.clone(),
        evaluator: evaluator.id().to_owned(),
        evaluator_version: evaluator.version().to_owned(),
        metric: score.metric,
        value: score.value,
        label: score.label,
        passed: score.passed,
        threshold: score.threshold,
        status: score.status.as_str(),
        rationale: score.rationale,
        error: score.error,
        evidence: score.evidence,
        ratings: score.ratings.iter().map(Rated::rating).collect(),
        rationales: score.ratings.into_iter().map(|one| one.rationale).collect(),
        latency_ms,
        usage: None,
        cpu: None,
    }
}

fn error_row(number: usize, evaluators: &[Arc<dyn Evaluator>], error: String) -> OfflineRow {
    let ids: Vec<&str> = evaluators.iter().map(|e| e.id()).collect();
    OfflineRow {
        id: number.into(),
        evaluator: ids.join(","),
        evaluator_version: String::new(),
        metric: "input".to_owned(),
        value: None,
        label: None,
        passed: None,
        threshold: None,
        status: "error",
        rationale: None,
        error: Some(error),
        evidence: Vec::new(),
        ratings: Vec::new(),
        rationales: Vec::new(),
        latency_ms: 0.0,
        usage: None,
        cpu: None,
    }
}

impl OfflineInput {
    fn into_eval(self) -> EvalInput {
        EvalInput {
            question: self.question,
            answer: self.answer,
            contexts: self
                .contexts
                .unwrap_or_default()
                .into_iter()
                .map(OfflineContext::into_document)
                .collect(),
            expected: self.expected,
            expected_answers: self.expected_answers.unwrap_or_default(),
            expected_documents: self.expected_documents.unwrap_or_default(),
            constraints: self.constraints.unwrap_or_default(),
            system_prompt: self.system_prompt,
            history: self.history.unwrap_or_default().into_iter().map(turn).collect(),
            steps: self.steps.unwrap_or_default().into_iter().map(OfflineStep::into_step).collect(),
            session: None,
            tenant: self.tenant,
            asking: 0,
        }
    }
}

/// A turn as text; an object of role and content is `role: content`.
fn turn(turn: Json) -> String {
    let member = |name: &str| turn.get(name).and_then(Json::as_str);
    match (member("role"), member("content")) {
        (Some(role), Some(content)) => format!("{role}: {content}"),
        _ => written(turn),
    }
}

fn written(json: Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

impl OfflineStep {
    fn into_step(self) -> Step {
        let text = |json: Json| (!json.is_null()).then(|| written(json));
        let Self { tool, arguments, result, failed } = self;
        Step { tool, arguments: text(arguments), result: text(result), failed }
    }
}

impl OfflineContext {
    fn into_document(self) -> Document {
        match self {
            OfflineContext::Text(content) => Document { content: Some(content), ..Document::default() },
            OfflineContext::Document { id, uri, text, rank, score, tenant } => {
                Document { id, uri, content: text, rank, score, tenant, metadata: None }
            }
        }
    }
}
