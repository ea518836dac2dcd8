//! Where an item stands, from its answers.

use crate::domain::time::UnixNanos;
use crate::schema::batch::AnswerKind;

/// What one reviewer said.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Identity.
    pub id: String,
    /// Who.
    pub reviewer: String,
    /// What it does.
    pub kind: AnswerKind,
    /// Whether the item passes; none for skip and undo.
    pub passed: Option<bool>,
    /// Why.
    pub comment: Option<String>,
    /// Whether the reviewer wants it looked at again.
    pub flagged: bool,
    /// When.
    pub at: UnixNanos,
}

/// Where an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It needs more answers.
    Open,
    /// Its answers differ: somebody who gave none of them decides.
    Adjudicate,
    /// It has its label.
    Final(bool),
}

impl State {
    /// Its name for people and programs.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Adjudicate => "adjudicate",
            State::Final(_) => "final",
        }
    }

    /// The label, if it has one.
    pub fn label(self) -> Option<bool> {
        match self {
            State::Final(passed) => Some(passed),
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

/// The state after `answers`, of which `needed` decide. One that came late, after the others had decided, is kept and
/// changes nothing.
pub fn state(answers: &[Answer], needed: usize) -> State {
    let hold = standing(answers);
    let decided = hold.iter().rev().find(|one| one.kind == AnswerKind::Adjudication);
    if let Some(passed) = decided.and_then(|one| one.passed) {
        return State::Final(passed);
    }
    let votes: Vec<bool> = hold
        .iter()
        .filter(|one| one.kind == AnswerKind::Answer)
        .filter_map(|one| one.passed)
        .take(needed)
        .collect();
    match votes.first() {
        Some(first) if votes.len() >= needed => {
            if votes.iter().all(|vote| vote == first) {
                State::Final(*first)
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

    fn said(reviewer: &str, kind: AnswerKind, passed: Option<bool>) -> Answer {
        let reviewer = reviewer.to_owned();
        Answer { id: String::new(), reviewer, kind, passed, comment: None, flagged: false, at: UnixNanos(0) }
    }

    #[test]
    fn answers_make_a_label_differ_or_wait() {
        use AnswerKind::{Adjudication, Answer, Skip, Undo};
        let yes = |who: &str| said(who, Answer, Some(true));
        let no = |who: &str| said(who, Answer, Some(false));
        let skip = said("a", Skip, None);
        let undo = said("a", Undo, None);
        let judge = said("c", Adjudication, Some(false));
        assert_eq!(state(&[], 1), State::Open);
        assert_eq!(state(&[yes("a")], 1), State::Final(true));
        assert_eq!(state(&[yes("a")], 2), State::Open);
        assert_eq!(state(&[yes("a"), yes("b")], 2), State::Final(true));
        assert_eq!(state(&[yes("a"), no("b")], 2), State::Adjudicate);
        assert_eq!(state(&[yes("a"), no("b"), judge], 2), State::Final(false));
        assert_eq!(state(&[skip, yes("b")], 1), State::Final(true));
        assert_eq!(state(&[yes("a"), undo.clone()], 1), State::Open);
        assert_eq!(state(&[yes("a"), undo, no("a")], 1), State::Final(false));
        // Late: the label stands.
        assert_eq!(state(&[yes("a"), no("b")], 1), State::Final(true));
    }
}
