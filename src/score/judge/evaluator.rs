//! One question to a judge as an evaluator.

use super::client::{Failed, Panel};
use super::delimit::{delimited, nonce, windowed};
use super::prompt::{Filled, MAX_ITEMS, Prompt};
use super::shape::{Compare, Finding, Shape};
use super::transport::Question;
use crate::domain::score::{Score, Usage};
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Evaluator, Forecast, Metric, Pace, Said, Waits};
use async_trait::async_trait;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::time::Instant;

/// How every judge is to treat what it is given; `{{nonce}}` is the code of the call.
const RULES: &str = include_str!("prompts/rules.md");
/// Changes when what is done with a reply changes; prompts and schemas are in the version by their hash.
const CODE_VERSION: &str = "1";
/// A reply that cannot be read is asked for once more.
const REPLIES: u32 = 2;

/// A question to a judge, with what makes a score of its reply.
pub(super) struct JudgeEvaluator {
    id: String,
    version: String,
    metric: Metric,
    prompt: Prompt,
    shape: Shape,
    panel: Arc<Panel>,
    /// Who is asked, by its place in the panel.
    place: usize,
    /// Who tells how similar two texts are.
    similarity: Option<Arc<dyn Evaluator>>,
}

impl JudgeEvaluator {
    /// # Errors
    /// When the prompt cannot be read.
    pub(super) fn new(
        id: &str,
        metric: Metric,
        prompt: &str,
        shape: Shape,
        panel: (Arc<Panel>, usize),
        similarity: Option<Arc<dyn Evaluator>>,
    ) -> Result<Self, String> {
        let (panel, place) = panel;
        let hashed = [RULES, prompt, &shape.words(), &shape.schema().to_string()].join("\0");
        let hash = hex::encode(&Sha256::digest(hashed)[..6]);
        let (id, version) = (id.to_owned(), format!("{CODE_VERSION}+{hash}"));
        Ok(Self { id, version, metric, prompt: Prompt::parse(prompt)?, shape, panel, place, similarity })
    }

    /// What the judge is told before the texts.
    fn system(&self, nonce: &str) -> String {
        let rules = RULES.replace("{{nonce}}", nonce);
        let (task, words, schema) = (self.prompt.task(), self.shape.words(), self.shape.schema());
        format!(
            "{rules}\n# What you decide\n\n{task}\n\n# How you answer\n\n{words}\n\nJSON schema: {schema}\n"
        )
    }

    /// What is sent for `filled`: the system's message, and the user's with the texts.
    pub(super) fn messages(&self, filled: &Filled) -> (String, String) {
        let nonce = nonce(&filled.blocks);
        (self.system(&nonce), delimited(&filled.blocks, &nonce) + "Answer now with the JSON object alone.")
    }

    /// The texts of `input`, in a window if they are too long, and what was left out.
    fn filled(&self, input: &EvalInput) -> Result<(Filled, Option<String>), Box<Score>> {
        let name = self.metric.name;
        let filled = self.prompt.fill(input, self.shape.items());
        let filled = filled.map_err(|missing| Box::new(Score::skipped(name, missing)))?;
        if filled.items > MAX_ITEMS {
            let why = format!("{} parts are too many to judge one by one, at most {MAX_ITEMS}", filled.items);
            return Err(Box::new(Score::failed(name, &why)));
        }
        let (blocks, note) = windowed(filled.blocks, self.panel.config(self.place).max_input_chars);
        Ok((Filled { blocks, items: filled.items }, note))
    }

    /// Asks until a reply can be read.
    async fn finding(
        &self,
        filled: &Filled,
        usage: &mut Option<Usage>,
        until: Instant,
    ) -> Result<Result<Finding, String>, Away> {
        let schema = self.shape.schema();
        let mut why = String::new();
        for _ in 0..REPLIES {
            let (system, user) = self.messages(filled);
            let question =
                Question { system: &system, user: &user, name: self.schema_name(), schema: &schema };
            let completion = match self.panel.complete(self.place, &question, until).await {
                Ok(completion) => completion,
                Err(Failed::Away(away)) => return Err(away),
                Err(Failed::Never(why) | Failed::Spent(why)) => return Ok(Err(why)),
            };
            match usage {
                Some(usage) => usage.add(completion.usage),
                None => *usage = Some(completion.usage),
            }
            match self.shape.read(&completion.text, filled.items) {
                Ok(finding) => return Ok(Ok(finding)),
                Err(error) => why = completion.note.map_or(error, str::to_owned),
            }
        }
        Ok(Err(format!("{REPLIES} replies of the judge are no verdict; the last: {why}")))
    }

    /// A name that servers take: letters, digits, `_` and `-`.
    fn schema_name(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or("verdict")
    }

    fn score(&self, finding: Finding) -> Score {
        let name = self.metric.name;
        let score = match self.metric.threshold {
            Some(threshold) => Score::measured(name, finding.value, threshold, self.metric.better),
            None => Score::verdict(name, finding.value >= 1.0),
        };
        let score = score.because(finding.rationale);
        match finding.label {
            Some(label) => score.labelled(label),
            None => score,
        }
    }

    /// The finding with the similarity that it waits for.
    async fn compared(&self, mut finding: Finding, input: &EvalInput) -> Result<Finding, String> {
        let Some(compare) = finding.compare.take() else { return Ok(finding) };
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        match compare {
            Compare::Answers { base, weight } => {
                let similarity = self.similarity(text(&input.answer), text(&input.expected)).await?;
                finding.value = base + weight * similarity;
                finding.rationale = format!("Similarity {similarity:.3}. {}", finding.rationale);
            }
            Compare::Questions(asked) => {
                let mut sum = 0.0;
                let count = asked.len() as f64;
                for question in asked {
                    sum += self.similarity(question, text(&input.question)).await?;
                }
                finding.value = sum / count;
            }
        }
        Ok(finding)
    }

    /// The cosine of two texts' embeddings, from 0 to 1.
    async fn similarity(&self, a: String, b: String) -> Result<f64, String> {
        let Some(evaluator) = self.similarity.clone() else {
            return Err("it needs answer_semantic_similarity, which eval.disabled names".to_owned());
        };
        let input = EvalInput { answer: Some(a), expected: Some(b), ..EvalInput::default() };
        let scores = tokio::task::spawn_blocking(move || evaluator.evaluate(&input)).await;
        let score = scores.map_err(|e| e.to_string())?.into_iter().next();
        score.as_ref().and_then(|score| score.value).ok_or_else(|| {
            let why = score.and_then(|score| score.error).unwrap_or_default();
            format!("the similarity of two texts is not known: {why}")
        })
    }
}

impl Evaluator for JudgeEvaluator {
    fn id(&self) -> &str {
        &self.id
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        std::slice::from_ref(&self.metric)
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
        let (filled, note) = match self.filled(input) {
            Ok(filled) => filled,
            Err(score) => return Ok(Said { scores: vec![*score], usage: None, version: None }),
        };
        let mut usage = None;
        let mut found = self.finding(&filled, &mut usage, until).await?;
        if let Ok(finding) = found {
            found = self.compared(finding, input).await;
        }
        let score = match found {
            Ok(mut finding) => {
                finding.rationale = note.into_iter().chain([finding.rationale]).collect::<Vec<_>>().join(" ");
                self.score(finding)
            }
            Err(why) => Score::failed(self.metric.name, &why),
        };
        Ok(Said { scores: vec![score], usage, version: None })
    }

    fn forecast(&self, input: &EvalInput) -> Option<Forecast> {
        // What cannot be filled asks nobody.
        let (filled, _) = self.filled(input).ok()?;
        let (system, user) = self.messages(&filled);
        Some(self.panel.config(self.place).forecast(&system, &user))
    }
}
