//! What a judge is asked that no configuration knows: questions of test suites, parts of answers, and what failed checks have
//! in common.

use super::client::Panel;
use super::custom::own;
use super::desk::{Desk, Open};
use super::session::Sessions;
use super::shape::Shape;
use super::verdict::{Asked, Verdict};
use crate::domain::trace::EvalInput;
use crate::eval::{
    Away, CustomConfig, Evaluator, JudgeDesk, Unwritten, Writing, Written, without_placeholders,
};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::time::Instant;

const EXTRACT: &str = include_str!("prompts/extract.md");
const ANALYSIS: &str = include_str!("prompts/error_analysis.md");
/// Where the words of a test's author stand in the prompt.
const WORDS: &str = "{{instruction}}";

/// The first judge, for what stands in no configuration.
pub(super) struct SuiteDesk {
    panel: Arc<Panel>,
    sessions: Arc<Sessions>,
    desk: Desk,
}

impl SuiteDesk {
    /// The judge at the first place of `panel`, which has one.
    pub(super) fn new(panel: Arc<Panel>, sessions: Arc<Sessions>) -> Self {
        Self { desk: Desk::new(panel.clone(), 0), panel, sessions }
    }

    /// The question that has it write.
    fn question(&self, what: Writing<'_>) -> Result<Verdict, String> {
        let (id, prompt, shape) = match what {
            // What the suite's author writes is no placeholder of ours.
            Writing::Part(words) => {
                ("extract", EXTRACT.replace(WORDS, &without_placeholders(words.trim())), Shape::Parts)
            }
            Writing::Analysis => ("error_analysis", ANALYSIS.to_owned(), Shape::Prose),
        };
        Verdict::new(id, &prompt, shape, self.desk.clone(), None)
    }

    /// Why the judge is not asked for a part: what it does not see it would not find.
    fn too_long(&self, what: Writing<'_>, input: &EvalInput) -> Option<String> {
        let most = self.desk.config().max_input_chars;
        let length = input.answer.as_ref().map_or(0, |answer| answer.chars().count());
        (matches!(what, Writing::Part(_)) && length > most).then(|| {
            format!(
                "the answer has {length} characters, more than a judge is given (judges.max_input_chars = {most}), and nothing is \
                 extracted from a part of it"
            )
        })
    }
}

#[async_trait]
impl JudgeDesk for SuiteDesk {
    fn evaluator(&self, question: &CustomConfig) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(own(&self.panel, &self.sessions, question)?))
    }

    async fn write(
        &self,
        what: Writing<'_>,
        input: &EvalInput,
        until: Instant,
    ) -> Result<Result<Written, Unwritten>, Away> {
        // Nothing below this line sees a text that may not leave.
        if let Err(missing) = self.desk.check(input) {
            return Ok(Err(Unwritten::Missing(missing.to_owned())));
        }
        let redacted = self.desk.redacted(input).await;
        if let Some(why) = self.too_long(what, &redacted) {
            return Ok(Err(Unwritten::Failed(why)));
        }
        let question = match self.question(what) {
            Ok(question) => question,
            Err(why) => return Ok(Err(Unwritten::Failed(why))),
        };
        Ok(read(what, question.ask(&redacted, until).await?))
    }
}

/// What was written, out of what was found.
fn read(what: Writing<'_>, asked: Asked) -> Result<Written, Unwritten> {
    let finding = asked.found.map_err(|open| match open {
        Open::Missing(what) => Unwritten::Missing(what),
        Open::Wrong(why) => Unwritten::Failed(why),
    })?;
    let text = match what {
        Writing::Part(_) => Some(finding.parts.join("\n")).filter(|text| !text.is_empty()),
        Writing::Analysis => Some(finding.rationale),
    };
    Ok(Written { text, model: asked.usage.map(|usage| usage.model).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::super::config::JudgeConfig;
    use super::*;
    use crate::domain::time::{Clock, SystemClock};

    fn desk() -> SuiteDesk {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let judge = JudgeConfig {
            max_input_chars: 1_000,
            tenants: Some(vec!["a".to_owned()]),
            redact: vec!["email".to_owned()],
            ..JudgeConfig::new("main", "http://127.0.0.1:1/v1", "m")
        };
        let panel = Panel::new(&[judge], &clock, &Arc::default(), None).unwrap();
        SuiteDesk::new(Arc::new(panel), Arc::default())
    }

    fn answer(text: &str) -> EvalInput {
        EvalInput { answer: Some(text.to_owned()), tenant: Some("a".to_owned()), ..EvalInput::default() }
    }

    #[test]
    fn the_authors_words_are_in_the_question_and_the_answer_beside_it() {
        let desk = desk();
        let question = desk.question(Writing::Part("the period, not {{question}}")).unwrap();
        let (system, user) = question.messages(&question.fill(&answer("within 14 days")).unwrap());
        assert!(system.contains("the period, not { {question}}") && !system.contains("within 14 days"));
        assert!(user.contains("within 14 days") && !user.contains("the period"), "{user}");
        assert!(desk.question(Writing::Analysis).is_ok());
    }

    #[tokio::test]
    async fn nobody_is_asked_about_what_may_not_leave_or_is_not_seen_whole() {
        let (desk, until) = (desk(), Instant::now());
        let part = Writing::Part("the period");
        let other = EvalInput { tenant: None, ..answer("x") };
        let told = desk.write(part, &other, until).await.unwrap();
        assert!(
            matches!(&told, Err(Unwritten::Missing(what)) if what.contains("judges.tenants")),
            "{told:?}"
        );
        let told = desk.write(part, &answer(&"x".repeat(1_001)), until).await.unwrap();
        assert!(matches!(&told, Err(Unwritten::Failed(why)) if why.contains("1001 characters")), "{told:?}");
        let told = desk.write(part, &answer(" "), until).await.unwrap();
        assert_eq!(told, Err(Unwritten::Missing("answer".to_owned())));
    }
}
