//! A batch: who waits for an answer, and what came for whom.

use super::describe::Description;
use super::item::{Answer, Item, skipped};
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Said};
use serde_json::Value as Json;
use std::sync::Arc;
use tokio::sync::oneshot;

/// What a plug-in writes beside answers to one batch, in lines or answers that fit nobody; more is a fault.
const MAX_STRAYS: u64 = 1_000;
/// So much of a stray is told, characters.
const MAX_TOLD: usize = 200;

/// One who waits for an answer.
pub(super) struct Job {
    pub input: EvalInput,
    /// It is closed when nobody waits for the answer any more.
    pub reply: oneshot::Sender<Result<Said, Away>>,
}

impl Job {
    /// Tells the answer. Who has given up meanwhile hears nothing.
    pub(super) fn tell(self, answer: Result<Said, Away>) {
        let _ = self.reply.send(answer);
    }

    /// Tells that nobody answered, for no fault of the item.
    pub(super) fn away(self, why: &str) {
        self.tell(Err(Away::new(why, false, None)));
    }

    /// Tells that nobody answered, and that the item may be the cause.
    pub(super) fn suspected(self, why: &str) {
        self.tell(Err(Away::new(why, true, None)));
    }
}

/// The items of a batch that have no answer yet, with those who wait for them.
pub(super) struct Ledger {
    plugin: String,
    description: Arc<Description>,
    open: Vec<(Item, Job)>,
    strays: u64,
    last_stray: String,
}

impl Ledger {
    /// Every job gets an id of its own, never used before. Those that lack an input are told so at once.
    pub(super) fn open(plugin: &str, description: &Arc<Description>, jobs: Vec<Job>) -> Self {
        let mut open = Vec::with_capacity(jobs.len());
        for job in jobs {
            let id = uuid::Uuid::new_v4().simple().to_string();
            match Item::new(id, description, &job.input) {
                Ok(item) => open.push((item, job)),
                Err(missing) => {
                    let version = Some(description.version.clone());
                    job.tell(Ok(Said { scores: skipped(description, missing), usage: None, version }));
                }
            }
        }
        let (plugin, description) = (plugin.to_owned(), description.clone());
        Self { plugin, description, open, strays: 0, last_stray: String::new() }
    }

    /// The version that is to answer.
    pub(super) fn version(&self) -> &str {
        &self.description.version
    }

    /// What waits for an answer.
    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.open.iter().map(|(item, _)| item)
    }

    /// Whether all have an answer.
    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Those who still have none.
    pub(super) fn left(self) -> Vec<Job> {
        self.open.into_iter().map(|(_, job)| job).collect()
    }

    /// Takes an answer; true if somebody waited for it. The first answer of an item stands, and others are strays.
    pub(super) fn take(&mut self, answer: Answer) -> bool {
        let Some(at) = self.open.iter().position(|(item, _)| item.id == answer.id) else {
            self.stray(&format!("an answer to {:?}, which is not asked or answered already", answer.id));
            return false;
        };
        let (_, job) = self.open.swap_remove(at);
        let scores = answer.scores(&self.description);
        job.tell(Ok(Said { scores, usage: None, version: Some(self.description.version.clone()) }));
        metrics::counter!("groundline_plugin_items_total", "plugin" => self.plugin.clone(), "outcome" => "answered")
            .increment(1);
        true
    }

    /// Takes a line; true if it was an answer that somebody waited for.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        match serde_json::from_slice::<Json>(line) {
            Ok(json) => match Answer::from_json(&json) {
                Some(answer) => return self.take(answer),
                None => self.stray(&String::from_utf8_lossy(line)),
            },
            Err(error) => {
                let text = String::from_utf8_lossy(line);
                // Ids are random: a line that has one is meant for it, such as one with a value that JSON does not have.
                let meant = self.items().find(|item| text.contains(&item.id)).map(|item| item.id.clone());
                if let Some(id) = meant {
                    return self.take(Answer { id, said: Err(format!("the answer is no JSON: {error}")) });
                }
                self.stray(&text);
            }
        }
        false
    }

    /// # Errors
    /// When more came that is no answer than can be passed over.
    pub(super) fn bounded(&self) -> Result<(), String> {
        if self.strays <= MAX_STRAYS {
            return Ok(());
        }
        Err(format!(
            "it wrote more than {MAX_STRAYS} lines that are no answers, the last: {}",
            self.last_stray
        ))
    }

    /// What came that is no answer, for a reason.
    pub(super) fn strays(&self) -> String {
        match self.strays {
            0 => String::new(),
            many => format!("; {many} line(s) were no answers, the last: {}", self.last_stray),
        }
    }

    fn stray(&mut self, what: &str) {
        if what.trim().is_empty() {
            return;
        }
        self.strays += 1;
        self.last_stray = what.trim().chars().take(MAX_TOLD).collect();
        metrics::counter!("groundline_plugin_strays_total", "plugin" => self.plugin.clone()).increment(1);
        // One a batch is told: a plug-in may write for ever.
        if self.strays == 1 {
            tracing::warn!(plugin = self.plugin, what = self.last_stray, "a plug-in wrote what is no answer");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::describe::tests::tone;
    use super::*;
    use crate::domain::score::ScoreStatus;
    use serde_json::json;

    type Replies = Vec<oneshot::Receiver<Result<Said, Away>>>;

    fn ledger(answers: &[&str]) -> (Ledger, Vec<String>, Replies) {
        let (mut jobs, mut replies) = (Vec::new(), Vec::new());
        for answer in answers {
            let (reply, answered) = oneshot::channel();
            let input = EvalInput { answer: Some((*answer).to_owned()), ..EvalInput::default() };
            jobs.push(Job { input, reply });
            replies.push(answered);
        }
        let description = Arc::new(Description::from_json(tone()).unwrap());
        let ledger = Ledger::open("tone", &description, jobs);
        let ids = ledger.items().map(|item| item.id.clone()).collect();
        (ledger, ids, replies)
    }

    fn line(id: &str, value: f64) -> Vec<u8> {
        let scores = json!([{"metric": "politeness", "value": value}, {"metric": "promise", "passed": true}]);
        json!({"id": id, "scores": scores}).to_string().into_bytes()
    }

    #[test]
    fn each_answer_goes_to_who_asked_and_the_first_one_stands() {
        let (mut ledger, ids, mut replies) = ledger(&["a", "b", "c"]);
        assert!(ledger.read(&line(&ids[1], 0.25)) && ledger.read(&line(&ids[0], 0.75)));
        assert!(!ledger.read(&line(&ids[1], 1.0)) && !ledger.read(&line("other", 1.0)));
        assert!(!ledger.read(b"loading the model ...") && !ledger.read(b"[1]") && !ledger.read(b"\xff\xfe"));
        assert!(ledger.strays().starts_with("; 5 line(s)"), "{}", ledger.strays());
        let value = |reply: &mut oneshot::Receiver<Result<Said, Away>>| {
            reply.try_recv().ok().map(|said| said.unwrap().scores[0].value)
        };
        let values: Vec<_> = replies.iter_mut().map(value).collect();
        assert_eq!(values, [Some(Some(0.75)), Some(Some(0.25)), None]);
        assert_eq!(ledger.left().len(), 1);
    }

    #[test]
    fn a_line_that_is_no_json_and_names_an_item_is_its_error() {
        let (mut ledger, ids, mut replies) = ledger(&["a", "b"]);
        let nan = format!(
            "{{\"id\": \"{}\", \"scores\": [{{\"metric\": \"politeness\", \"value\": NaN}}]}}",
            ids[0]
        );
        assert!(ledger.read(nan.as_bytes()) && !ledger.is_done());
        let said = replies[0].try_recv().unwrap().unwrap();
        assert!(said.scores.iter().all(|score| score.status == ScoreStatus::Error && score.value.is_none()));
        assert!(said.scores[0].error.as_deref().unwrap().contains("no JSON"));
    }

    #[test]
    fn what_lacks_an_input_is_not_asked() {
        let (ledger, ids, mut replies) = ledger(&["", "b"]);
        assert_eq!(ids.len(), 1);
        let said = replies[0].try_recv().unwrap().unwrap();
        assert!(
            said.scores
                .iter()
                .all(|s| (s.status, s.error.as_deref()) == (ScoreStatus::Skipped, Some("answer")))
        );
        assert_eq!((said.scores.len(), said.version.as_deref(), ledger.left().len()), (2, Some("3"), 1));
    }

    #[test]
    fn endless_strays_are_a_fault() {
        let (mut ledger, _, _replies) = ledger(&["a"]);
        for _ in 0..MAX_STRAYS {
            ledger.read(b"spam");
        }
        assert!(ledger.bounded().is_ok());
        ledger.read(b"spam");
        assert!(ledger.bounded().unwrap_err().contains("spam"));
    }
}
