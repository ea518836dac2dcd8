//! Texts that a judge writes anew, such as a question in other words.

use super::client::{Completion, Failed};
use super::delimit::{Block, delimited, nonce};
use super::desk::Desk;
use super::question::{Question, Schema};
use super::reply::read;
use crate::domain::score::Usage;
use crate::domain::trace::EvalInput;
use crate::eval::{NotWritten, Rewritten, Writer, patient};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

/// Who the judge is then, and how it answers.
const RULES: &str = include_str!("prompts/writer.md");
/// The name of the schema.
const NAME: &str = "text";
/// Replies that may hold no text.
const REPLIES: u32 = 2;

/// A judge that writes.
pub(super) struct JudgeWriter {
    desk: Desk,
    at_once: usize,
}

#[derive(Deserialize)]
struct Reply {
    text: String,
}

impl JudgeWriter {
    /// The judge of `desk`, for so many texts at once.
    pub(super) fn new(desk: Desk, at_once: usize) -> Self {
        Self { desk, at_once }
    }

    /// Whether `input` may be sent as it is. One that would be redacted would come back without what it had.
    async fn check(&self, input: &EvalInput) -> Result<(), String> {
        self.desk.check(input).map_err(|missing| format!("there is no {missing}"))?;
        if self.desk.redacted(input).await.question != input.question {
            return Err("it has what judges.redact keeps from the judge".to_owned());
        }
        let most = self.desk.config().max_input_chars;
        let length = input.question.as_ref().map_or(0, |text| text.chars().count());
        if length > most {
            return Err(format!("it has {length} characters, judges.max_input_chars allows {most}"));
        }
        Ok(())
    }

    /// Asks until there is a reply; one that is away is asked again as long as there is time.
    async fn asked(&self, question: &Question<'_>, until: Instant) -> Result<Completion, NotWritten> {
        let wait = |failed: &Failed| match failed {
            Failed::Away(away) => away.wait,
            _ => None,
        };
        let asked = patient(until, || self.desk.complete(question, until), wait).await;
        asked.map_err(|failed| match failed {
            Failed::Away(away) => NotWritten::Away(away.why),
            Failed::Closed(why) => NotWritten::Closed(why),
            Failed::Never(why) | Failed::Spent(why) => NotWritten::Never(why),
        })
    }

    /// What `task` makes of `text`; what each reply took is added to `usage`, also of one that holds no text.
    async fn written(
        &self,
        task: &str,
        text: &str,
        until: Instant,
        usage: &mut Option<Usage>,
    ) -> Result<String, NotWritten> {
        let schema = json!({
            "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
            "additionalProperties": false,
        });
        let schema = Schema::new(NAME, &schema);
        let blocks = [Block::new("TEXT", text)];
        let mut why = String::new();
        for _ in 0..REPLIES {
            let nonce = nonce(&blocks);
            let rules = RULES.replace("{{nonce}}", &nonce);
            let system = format!("{rules}\n# What you write\n\n{task}\n\nJSON schema: {}\n", schema.text());
            let user = delimited(&blocks, &nonce) + "Answer now with the JSON object alone.";
            let question = Question::Verdict { system: &system, user: &user, schema: &schema };
            let Completion { text, note, usage: took, .. } = self.asked(&question, until).await?;
            usage.get_or_insert_default().add(took);
            match read::<Reply>(&text) {
                Ok(reply) if !reply.text.trim().is_empty() => return Ok(reply.text.trim().to_owned()),
                Ok(_) => why = "the reply has no text".to_owned(),
                Err(error) => why = note.map_or(error, str::to_owned),
            }
        }
        Err(NotWritten::Never(format!("{REPLIES} replies of the judge hold no text; the last: {why}")))
    }
}

#[async_trait]
impl Writer for JudgeWriter {
    fn at_once(&self) -> usize {
        self.at_once
    }

    async fn write(&self, task: &str, text: &str, tenant: &str, until: Instant) -> Rewritten {
        let (question, tenant) = (Some(text.to_owned()), Some(tenant.to_owned()));
        let checked = self.check(&EvalInput { question, tenant, ..EvalInput::default() }).await;
        let mut usage = None;
        let text = match checked {
            Ok(()) => self.written(task, text, until, &mut usage).await,
            Err(why) => Err(NotWritten::Never(why)),
        };
        Rewritten { text, usage }
    }
}
