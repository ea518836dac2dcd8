//! What reviewers say of an item, and where the item stands then.

use super::template::{MAX_TEXT, Template};
use crate::domain::time::UnixNanos;
use crate::lab::error::Fault;
use crate::lab::experiment::AutoEval;
use crate::schema::batch::AnswerKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A score as a reviewer says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// pass or fail.
    pub response: Verdict,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// Whether a score should be a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It passes.
    #[serde(alias = "Pass")]
    Pass,
    /// It fails.
    #[serde(alias = "Fail")]
    Fail,
}

impl Verdict {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
        }
    }
}

/// What one person says of an item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Response {
    /// By name of the template.
    pub templates: BTreeMap<String, Value>,
    /// By evaluator and metric.
    pub auto_evals: BTreeMap<String, Edit>,
}

impl Response {
    /// What was sent, as it is kept.
    ///
    /// # Errors
    /// Everything that is missing, not asked for, or no such answer.
    pub fn taken(
        sent: &BTreeMap<String, Value>,
        edits: BTreeMap<String, Edit>,
        (templates, asked): (&[Template], &[AutoEval]),
    ) -> Result<Self, Vec<Fault>> {
        let (mut taken, mut faults) = (Self::default(), Vec::new());
        for template in templates {
            match sent.get(&template.name).filter(|value| !value.is_null() && **value != "") {
                Some(value) => match template.taken(value) {
                    Ok(value) => drop(taken.templates.insert(template.name.clone(), value)),
                    Err(why) => faults.push(Fault::new(why).at("templates")),
                },
                None if template.optional => {}
                None => {
                    faults.push(Fault::new(format!("{:?} is not answered", template.name)).at("templates"));
                }
            }
        }
        for name in sent.keys().filter(|name| templates.iter().all(|template| template.name != **name)) {
            faults.push(Fault::new(format!("the queue does not ask for {name:?}")).at("templates"));
        }
        for one in asked.iter().filter(|one| !edits.contains_key(&one.key())) {
            let why = format!("{:?} is not answered: pass or fail", one.key());
            faults.push(Fault::new(why).at("auto_evals"));
        }
        for (key, edit) in edits {
            if asked.iter().all(|one| one.key() != key) {
                let why = format!("{key:?} is not asked about this item");
                faults.push(Fault::new(why).at("auto_evals"));
            } else if edit.feedback.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
                let why = format!("the feedback of {key:?} is longer than {MAX_TEXT} bytes");
                faults.push(Fault::new(why).at("auto_evals"));
            } else {
                taken.auto_evals.insert(key, edit);
            }
        }
        if faults.is_empty() { Ok(taken) } else { Err(faults) }
    }

    /// Whether two people say the same of everything that is measured.
    pub fn agrees(&self, other: &Self, templates: &[Template]) -> bool {
        let same = |template: &Template| {
            template.agree(self.templates.get(&template.name), other.templates.get(&template.name))
        };
        let verdicts = |of: &Self| -> Vec<(String, Verdict)> {
            of.auto_evals.iter().map(|(key, edit)| (key.clone(), edit.response)).collect()
        };
        templates.iter().all(same) && verdicts(self) == verdicts(other)
    }
}

/// An answer as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Identity.
    pub id: String,
    /// Who.
    pub reviewer: String,
    /// What it does.
    pub kind: AnswerKind,
    /// What it says; nothing for skip and undo.
    pub response: Response,
    /// What else is said.
    pub comment: Option<String>,
    /// Whether it should be looked at again.
    pub flagged: bool,
    /// How long it took, seconds.
    pub seconds: Option<f64>,
    /// When.
    pub at: UnixNanos,
}

/// Where an item stands.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// It needs more answers.
    Open,
    /// Its answers differ: somebody who gave none of them decides.
    Adjudicate,
    /// It has its label.
    Final(Response),
}

impl State {
    /// Its name for people and programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            State::Open => "open",
            State::Adjudicate => "adjudicate",
            State::Final(_) => "final",
        }
    }

    /// The label, if it has one.
    pub fn label(&self) -> Option<&Response> {
        match self {
            State::Final(label) => Some(label),
            State::Open | State::Adjudicate => None,
        }
    }
}

/// The answers that hold: an undo takes back the last one of its reviewer.
pub fn standing(answers: &[Answer]) -> Vec<&Answer> {
    let mut hold: Vec<&Answer> = Vec::new();
    for answer in answers {
        if answer.kind != AnswerKind::Undo {
            hold.push(answer);
        } else if let Some(at) = hold.iter().rposition(|one| one.reviewer == answer.reviewer) {
            hold.remove(at);
        }
    }
    hold
}

/// The state after `answers`, of which `needed` decide. One that came late is kept and changes nothing. Of numbers that
/// agree within the tolerance of their template the first is the label.
pub fn state(answers: &[Answer], needed: usize, templates: &[Template]) -> State {
    let hold = standing(answers);
    if let Some(decided) = hold.iter().rev().find(|one| one.kind == AnswerKind::Adjudication) {
        return State::Final(decided.response.clone());
    }
    let votes = hold.iter().filter(|one| one.kind == AnswerKind::Answer).take(needed);
    let votes: Vec<&Response> = votes.map(|one| &one.response).collect();
    match votes.split_first() {
        Some((first, others)) if votes.len() >= needed => {
            if others.iter().all(|other| other.agrees(first, templates)) {
                State::Final((*first).clone())
            } else {
                State::Adjudicate
            }
        }
        _ => State::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tone() -> Vec<Template> {
        serde_json::from_value(json!([
            {"name": "tone", "type": "categorical", "categories": ["polite", "rude"]},
            {"name": "note", "type": "free_text", "optional": true},
        ]))
        .unwrap()
    }

    fn said(reviewer: &str, kind: AnswerKind, tone: &str) -> Answer {
        let mut response = Response::default();
        if !tone.is_empty() {
            response.templates.insert("tone".to_owned(), json!(tone));
            response.templates.insert("note".to_owned(), json!(format!("by {reviewer}")));
        }
        let (comment, at) = (None, UnixNanos(0));
        let reviewer = reviewer.to_owned();
        Answer { id: String::new(), reviewer, kind, response, comment, flagged: false, seconds: None, at }
    }

    #[test]
    fn answers_make_a_label_differ_or_wait() {
        use AnswerKind::{Adjudication, Answer, Skip, Undo};
        let templates = tone();
        let of = |answers: &[super::Answer], needed: usize| {
            let state = state(answers, needed, &templates);
            let label = state.label().map(|label| label.templates["tone"].as_str().unwrap().to_owned());
            (state.as_str(), label.unwrap_or_default())
        };
        let (ana, ben) = (said("ana", Answer, "polite"), said("ben", Answer, "rude"));
        assert_eq!(of(&[], 1), ("open", String::new()));
        assert_eq!(of(std::slice::from_ref(&ana), 2), ("open", String::new()));
        assert_eq!(of(&[ana.clone(), said("ben", Answer, "polite")], 2), ("final", "polite".into()));
        assert_eq!(of(&[ana.clone(), ben.clone()], 2), ("adjudicate", String::new()));
        let decided = said("cleo", Adjudication, "rude");
        assert_eq!(of(&[ana.clone(), ben.clone(), decided], 2), ("final", "rude".into()));
        let undone = [ana.clone(), ben.clone(), said("ben", Undo, "")];
        assert_eq!(of(&undone, 2), ("open", String::new()));
        assert_eq!(of(&[said("ana", Skip, ""), ben.clone()], 1), ("final", "rude".into()));
        assert_eq!(of(&[ana, ben], 1), ("final", "polite".into()), "one that comes late changes nothing");
    }

    #[test]
    fn what_is_missing_or_not_asked_for_is_told_at_once() {
        let (templates, asked) = (tone(), [AutoEval::named("sql_eval", "sql_eval")]);
        let edits = |text: Value| serde_json::from_value::<BTreeMap<String, Edit>>(text).unwrap();
        let sent = BTreeMap::from([("tone".to_owned(), json!("odd")), ("size".to_owned(), json!(3))]);
        let wrong = edits(json!({"other": {"response": "pass"}}));
        let faults = Response::taken(&sent, wrong, (&templates[..], &asked[..])).unwrap_err();
        let told = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for part in ["it may be polite, rude", "\"size\"", "\"sql_eval\" is not answered", "\"other\""] {
            assert!(told.contains(part), "{part}: {told}");
        }
        let sent = BTreeMap::from([("tone".to_owned(), json!("Rude"))]);
        let right = edits(json!({"sql_eval": {"response": "Pass", "feedback": "the same rows"}}));
        let taken = Response::taken(&sent, right, (&templates[..], &asked[..])).unwrap();
        assert_eq!((&taken.templates["tone"], taken.templates.len()), (&json!("rude"), 1));
        assert_eq!(taken.auto_evals["sql_eval"].response, Verdict::Pass);
    }
}
