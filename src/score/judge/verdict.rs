//! One question to a judge: what is sent of an input, and what the reply says.

use super::cache::{Cache, Kept};
use super::config::JudgeConfig;
use super::copied::placed;
use super::delimit::{delimited, nonce, windowed};
use super::desk::{Desk, Open};
use super::partial::{Debts, Key, Paid, Partial, key_of};
use super::prompt::{Field, Filled, MAX_ITEMS, Prompt};
use super::question::{Question, Schema};
use super::shape::{Compare, Finding, Shape};
use super::told::add;
use crate::domain::score::Usage;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Evaluator, Forecast, NO_VERDICT};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::time::Instant;

/// How every judge is to treat what it is given; `{{nonce}}` is the code of the call.
const RULES: &str = include_str!("prompts/rules.md");
/// A reply that cannot be read is asked for once more.
const REPLIES: u32 = 2;
/// The class of what came from the retrieved text, and the name of that.
const RETRIEVAL: &str = "retrieval";
const CONTEXT: &str = "CONTEXT";
/// Requests for one verdict, where parts are judged one by one; more would be a load, not a question.
const MAX_GROUPS: usize = 10;

/// A question to a judge, with what its reply must be.
pub(super) struct Verdict {
    prompt: Prompt,
    shape: Shape,
    schema: Schema,
    /// What the judge is told behind the rules.
    task: String,
    desk: Desk,
    /// Who tells how similar two texts are.
    similarity: Option<Arc<dyn Evaluator>>,
    /// All that a reply depends on beside the texts.
    hashed: String,
    /// The same with the judge and its settings, as the beginning of a hash.
    key: Sha256,
    /// What was said of some groups of parts while another one waits.
    partial: Partial<(Asked, Option<String>)>,
    /// What replies took that could not be read, where the judge was away before there was another one.
    owed: Debts,
}

/// What came of a question, and what it took.
pub(super) struct Asked {
    pub found: Result<Finding, Open>,
    /// None if nobody was asked.
    pub usage: Option<Usage>,
}

/// A hash of who the judge is, and of all that a reply depends on beside the texts.
fn started(config: &JudgeConfig, hashed: &str) -> Sha256 {
    let mut hash = Sha256::new();
    let parameters = serde_json::json!(config.parameters).to_string();
    let tokens = config.max_output_tokens.to_string();
    for text in [&config.base_url, &config.model, &parameters, &tokens, hashed] {
        part(&mut hash, text);
    }
    // Gateways choose the model by headers. Those from the environment and from files are keys: where they stand says enough.
    for (name, value) in &config.headers {
        [name.as_str(), value.reveal()].into_iter().for_each(|text| part(&mut hash, text));
    }
    for (name, variable) in &config.header_env {
        [name, variable].into_iter().for_each(|text| part(&mut hash, text));
    }
    for (name, file) in &config.header_files {
        [name.as_str(), &*file.to_string_lossy()].into_iter().for_each(|text| part(&mut hash, text));
    }
    hash
}

fn part(hash: &mut Sha256, text: &str) {
    // Lengths keep the parts apart.
    hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
    hash.update(text);
}

impl Paid for Asked {
    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.usage
    }
}

impl Paid for (Asked, Option<String>) {
    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.0.usage
    }
}

impl Asked {
    fn open(why: Open) -> Self {
        Self { found: Err(why), usage: None }
    }
}

impl Verdict {
    /// The question of the evaluator `id`.
    ///
    /// # Errors
    /// When the prompt cannot be read.
    pub(super) fn new(
        id: &str,
        prompt: &str,
        shape: Shape,
        desk: Desk,
        similarity: Option<Arc<dyn Evaluator>>,
    ) -> Result<Self, String> {
        let name = id.rsplit('/').next().unwrap_or("verdict");
        let (schema, words) = (Schema::new(name, &shape.schema()), shape.words());
        let mut hashed = [RULES, prompt, &words, schema.text()].join("\0");
        if let Shape::Facts { weight } = shape {
            hashed.push_str(&format!("\0{weight}"));
        }
        let (prompt, partial) = (Prompt::parse(prompt)?, Partial::default());
        let task = format!(
            "\n# What you decide\n\n{}\n\n# How you answer\n\n{words}\n\nJSON schema: {}\n",
            prompt.task(),
            schema.text()
        );
        let key = started(desk.config(), &hashed);
        let owed = Debts::default();
        Ok(Self { prompt, shape, schema, task, desk, similarity, hashed, key, partial, owed })
    }

    /// All that a reply depends on beside the texts.
    pub(super) fn hashed(&self) -> &str {
        &self.hashed
    }

    /// Whether it is about a whole conversation.
    pub(super) fn is_of_conversation(&self) -> bool {
        self.prompt.names(Field::Conversation)
    }

    /// What the judge is told before the texts.
    fn system(&self, nonce: &str) -> String {
        let mut text = String::with_capacity(RULES.len() + nonce.len() + self.task.len());
        for (at, part) in RULES.split("{{nonce}}").enumerate() {
            text.extend([if at > 0 { nonce } else { "" }, part]);
        }
        text + &self.task
    }

    /// What is sent for `filled`: the system's message, and the user's with the texts.
    pub(super) fn messages(&self, filled: &Filled) -> (String, String) {
        self.messages_with(filled, &nonce(&filled.blocks))
    }

    fn messages_with(&self, filled: &Filled, nonce: &str) -> (String, String) {
        let texts = delimited(&filled.blocks, nonce);
        (self.system(nonce), texts + "Answer now with the JSON object alone.")
    }

    /// The texts of `input`.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn fill(&self, input: &EvalInput) -> Result<Filled, Open> {
        // What is asked back of the answer is compared with the question.
        let has_question = input.question.as_ref().is_some_and(|text| !text.trim().is_empty());
        if self.shape == Shape::Questions && !has_question {
            return Err(Open::Missing("question".to_owned()));
        }
        self.prompt.fill(input, self.shape.items()).map_err(|missing| Open::Missing(missing.to_owned()))
    }

    /// The texts of each request: parts that are judged one by one are asked about in groups, with all other texts beside
    /// each, and each in a window if it is too long; with what was left out.
    fn requests(&self, filled: Filled) -> Result<Vec<(Filled, Option<String>)>, Open> {
        const MOST: usize = MAX_ITEMS * MAX_GROUPS;
        if filled.items > MOST {
            let why = format!("{} parts are too many to judge one by one, at most {MOST}", filled.items);
            return Err(Open::Wrong(why));
        }
        let most = self.desk.config().max_input_chars;
        let windowed = |filled: Filled| {
            let (blocks, note) = windowed(filled.blocks, most);
            (Filled { blocks, ..filled }, note)
        };
        let groups = match self.shape.items() {
            Some(items) => filled.grouped(items),
            None => vec![filled],
        };
        Ok(groups.into_iter().map(windowed).collect())
    }

    /// What asking about `input` takes at most; none where nobody would be asked.
    pub(super) fn forecast(&self, input: &EvalInput) -> Option<Forecast> {
        self.forecast_of(self.fill(input).ok()?)
    }

    /// What asking about these texts takes at most.
    pub(super) fn forecast_of(&self, filled: Filled) -> Option<Forecast> {
        let one = |(filled, _): (Filled, Option<String>)| {
            let (system, user) = self.messages(&filled);
            self.desk.forecast(&self.question(&system, &user))
        };
        self.requests(filled).ok()?.into_iter().map(one).reduce(Forecast::with)
    }

    fn question<'a>(&'a self, system: &'a str, user: &'a str) -> Question<'a> {
        Question::Verdict { system, user, schema: &self.schema }
    }

    /// Asks about `input`.
    ///
    /// # Errors
    /// When another try later may help.
    pub(super) async fn ask(&self, input: &EvalInput, until: Instant) -> Result<Asked, Away> {
        self.ask_run(input, 0, until).await
    }

    /// Asks about `input` for the time `run`, from 0 on: what was said in another run is not taken for this one.
    ///
    /// # Errors
    /// When another try later may help.
    pub(super) async fn ask_run(&self, input: &EvalInput, run: u32, until: Instant) -> Result<Asked, Away> {
        let filled = match self.fill(input) {
            Ok(filled) => filled,
            Err(why) => return Ok(Asked::open(why)),
        };
        let mut asked = self.ask_of(filled, run, until).await?;
        if let Ok(finding) = asked.found {
            asked.found = match finding.missing {
                Some(missing) => Err(Open::Missing(missing.to_owned())),
                None => self.compared(finding, input).await.map_err(Open::Wrong),
            };
        }
        Ok(asked)
    }

    /// Asks about these texts for the time `run`.
    ///
    /// # Errors
    /// When another try later may help.
    pub(super) async fn ask_of(&self, filled: Filled, run: u32, until: Instant) -> Result<Asked, Away> {
        let requests = match self.requests(filled) {
            Ok(requests) => requests,
            Err(why) => return Ok(Asked::open(why)),
        };
        let groups = requests.len();
        let all = requests.into_iter().map(|(filled, note)| async move {
            let ask = async {
                let mut usage = None;
                let found = self.finding(&filled, run, &mut usage, until).await?;
                Ok::<_, Away>((Asked { found, usage }, note))
            };
            match groups {
                1 => (Key::default(), ask.await),
                _ => self.partial.or_ask(key_of(&[self.key(&filled, run).as_bytes()]), ask).await,
            }
        });
        let asked = futures::future::join_all(all).await;
        let asked = match groups {
            1 => asked.into_iter().map(|(_, asked)| asked).collect::<Result<Vec<_>, _>>()?,
            _ => self.partial.all(asked)?,
        };
        Ok(self.together(asked))
    }

    /// What was said of all groups; one that went wrong says so for all.
    fn together(&self, asked: Vec<(Asked, Option<String>)>) -> Asked {
        let (groups, mut usage, mut notes) = (asked.len(), None, Vec::new());
        let mut findings: Result<Vec<Finding>, Open> = Ok(Vec::new());
        for (one, note) in asked {
            add(&mut usage, one.usage);
            notes.extend(note);
            findings = findings.and_then(|mut all| {
                all.push(one.found?);
                Ok(all)
            });
        }
        if groups > 1 {
            notes.insert(0, format!("Asked in {groups} groups of up to {MAX_ITEMS}."));
        }
        let found = findings.map(|mut all| {
            let finding = if groups > 1 { self.shape.joined(all) } else { all.pop().unwrap_or_default() };
            let rationale = notes.into_iter().chain([finding.rationale]).collect::<Vec<_>>().join(" ");
            Finding { rationale, ..finding }
        });
        Asked { found, usage }
    }

    /// Asks until a reply can be read. What was paid for it before is counted with it.
    async fn finding(
        &self,
        filled: &Filled,
        run: u32,
        usage: &mut Option<Usage>,
        until: Instant,
    ) -> Result<Result<Finding, Open>, Away> {
        let key = || key_of(&[self.key(filled, run).as_bytes()]);
        *usage = self.owed.owed(key);
        let found = self.read_or_asked(filled, run, usage, until).await;
        found.map_err(|away| self.owed.owe(key, usage.take(), away))
    }

    async fn read_or_asked(
        &self,
        filled: &Filled,
        run: u32,
        usage: &mut Option<Usage>,
        until: Instant,
    ) -> Result<Result<Finding, Open>, Away> {
        let cache = self.desk.cache().map(|cache| (cache, self.key(filled, run)));
        if let Some((cache, key)) = &cache
            && let Some(finding) = self.known(cache, key, filled, usage).await
        {
            return Ok(Ok(finding));
        }
        let mut why = String::new();
        for _ in 0..REPLIES {
            let (system, user) = self.messages(filled);
            let completion = match self.desk.ask(&self.question(&system, &user), until).await? {
                Ok(completion) => completion,
                Err(open) => return Ok(Err(open)),
            };
            let model = completion.usage.model.clone();
            add(usage, Some(completion.usage));
            match self.read(&completion.text, filled) {
                Ok(finding) => {
                    // What stands in for the judge would be taken for the judge.
                    if let (Some((cache, key)), false) = (&cache, completion.stood_in) {
                        cache.put(key, Kept { text: completion.text, model }).await;
                    }
                    return Ok(Ok(finding));
                }
                Err(error) => why = completion.note.map_or(error, str::to_owned),
            }
        }
        Ok(Err(Open::Wrong(format!("{REPLIES} replies of the judge {NO_VERDICT}; the last: {why}"))))
    }

    /// What a reply says of these texts.
    fn read(&self, reply: &str, filled: &Filled) -> Result<Finding, String> {
        let finding = self.shape.read(reply, filled.items)?;
        let has_context = || filled.blocks.iter().any(|block| block.name.starts_with(CONTEXT));
        if finding.label.as_deref() == Some(RETRIEVAL) && !has_context() {
            return Err(format!("the reply contradicts itself: {RETRIEVAL}, and nothing was retrieved"));
        }
        placed(finding, &filled.blocks)
    }

    /// What the judge has said of the same before.
    async fn known(
        &self,
        cache: &Cache,
        key: &str,
        filled: &Filled,
        usage: &mut Option<Usage>,
    ) -> Option<Finding> {
        let kept = cache.get(key).await?;
        let finding = self.read(&kept.text, filled).ok()?;
        self.desk.count_cached();
        let nothing = Usage {
            model: kept.model,
            input_tokens: Some(0),
            output_tokens: Some(0),
            cost_usd: self.desk.config().cost(0, 0),
        };
        add(usage, Some(nothing));
        Some(finding)
    }

    /// A hash of all that the judge is sent, but for the code of the call, and of who the judge is.
    fn key(&self, filled: &Filled, run: u32) -> String {
        let mut hash = self.key.clone();
        filled
            .blocks
            .iter()
            .flat_map(|block| [&block.name, &block.text])
            .for_each(|text| part(&mut hash, text));
        if run > 0 {
            part(&mut hash, &run.to_string());
        }
        if filled.asking > 0 {
            part(&mut hash, &format!("asking {}", filled.asking));
        }
        hex::encode(&hash.finalize()[..20])
    }

    /// The finding with the similarity that it waits for.
    async fn compared(&self, mut finding: Finding, input: &EvalInput) -> Result<Finding, String> {
        let Some(compare) = finding.compare.take() else { return Ok(finding) };
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        match compare {
            Compare::Answers { base, weight } => {
                let similarity = self.similarity(text(&input.answer), text(&input.expected)).await?;
                finding.value = base + weight * similarity;
                finding.rationale.push_str(&format!(" Similarity {similarity:.3}."));
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

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
