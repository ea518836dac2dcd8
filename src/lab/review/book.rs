//! The items of one queue: who has which, and what to ask next.

use super::answer::{Answer, State, standing, state};
use super::template::Template;
use crate::domain::time::UnixNanos;
use crate::lab::error::LabError;
use crate::lab::experiment::AutoEval;
use crate::schema::batch::{AnswerKind, ReviewItem};
use std::collections::HashMap;
use std::time::Duration;

/// An item with its answers.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The item as it was chosen.
    pub chosen: ReviewItem,
    /// What evaluators said and a reviewer is asked about.
    pub asked: Vec<AutoEval>,
    /// Every answer, in the order in which they came.
    pub answers: Vec<Answer>,
    leases: Vec<(String, UnixNanos)>,
}

impl Entry {
    /// An item without a lease.
    pub fn new(chosen: ReviewItem, answers: Vec<Answer>) -> Self {
        let asked = chosen.of_queue.as_ref().and_then(|of| of.auto_evals.as_deref());
        let asked = asked.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        Self { chosen, asked, answers, leases: Vec::new() }
    }

    /// The run that is reviewed; none for a span.
    pub fn run_id(&self) -> Option<&str> {
        self.chosen.of_queue.as_ref()?.run_id.as_deref()
    }

    /// The item of the dataset whose run is reviewed; none for a span.
    pub fn item_id(&self) -> Option<&str> {
        self.chosen.of_queue.as_ref()?.item_id.as_deref()
    }

    /// Whether `who` has an answer that holds.
    pub fn answered_by(&self, who: &str) -> bool {
        standing(&self.answers).iter().any(|one| one.reviewer == who)
    }

    fn is_held(&self, who: &str, now: UnixNanos) -> bool {
        self.leases.iter().any(|(by, until)| by == who && *until > now)
    }

    fn held_by_others(&self, who: &str, now: UnixNanos) -> usize {
        self.leases.iter().filter(|(by, until)| by != who && *until > now).count()
    }

    fn votes(&self) -> usize {
        standing(&self.answers).iter().filter(|one| one.kind == AnswerKind::Answer).count()
    }

    /// What is asked about first.
    fn rank(&self) -> (i64, UnixNanos, &str) {
        let priority = self.chosen.of_queue.as_ref().map_or(0, |of| of.priority);
        (-priority, self.chosen.drawn_at, &self.chosen.item)
    }
}

/// How many items stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Items of the queue.
    pub items: usize,
    /// Those that need more answers.
    pub open: usize,
    /// Those whose answers differ.
    pub adjudicate: usize,
    /// Those that have their label.
    #[serde(rename = "final")]
    pub labelled: usize,
    /// Those that the reviewer who asks has answered.
    pub mine: usize,
    /// Of those of them that have their label, how many answers say the same.
    pub agreed: usize,
    /// How many of them have their label.
    pub with_label: usize,
}

/// What a queue asks of its items.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// How many answers make a label.
    pub needed: usize,
    /// What is asked.
    pub templates: Vec<Template>,
}

/// The items of one queue.
#[derive(Debug, Clone, Default)]
pub struct Book {
    entries: Vec<Entry>,
    by_id: HashMap<String, usize>,
    rules: Rules,
    /// How many archives had been restored when it was read.
    pub restores: u64,
}

impl Book {
    /// A book without items.
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Adds items; one that is there stays as it is.
    pub fn add(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            if !self.by_id.contains_key(&entry.chosen.item) {
                self.by_id.insert(entry.chosen.item.clone(), self.entries.len());
                self.entries.push(entry);
            }
        }
        self.entries.sort_by(|one, other| one.rank().cmp(&other.rank()));
        self.number();
    }

    /// Takes over who holds which item from the book that this one replaces.
    pub fn keep_leases(&mut self, before: Book) {
        for old in before.entries {
            let entry = self.by_id.get(&old.chosen.item).and_then(|at| self.entries.get_mut(*at));
            if let Some(entry) = entry {
                entry.leases = old.leases;
            }
        }
    }

    /// Takes out items of which `is_gone` says so.
    pub fn retain(&mut self, is_gone: impl Fn(&Entry) -> bool) {
        self.entries.retain(|entry| !is_gone(entry));
        self.number();
    }

    fn number(&mut self) {
        self.by_id = self.entries.iter().enumerate().map(|(at, e)| (e.chosen.item.clone(), at)).collect();
    }

    /// Whether an item is there.
    pub fn has(&self, item: &str) -> bool {
        self.by_id.contains_key(item)
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.entries.len()
    }

    /// Leases up to `count` items to `who` for `lease`, those that `who` has first; none that `who` has answered. Items whose
    /// answers differ where `decides`, else those that need more answers.
    pub fn claim(
        &mut self,
        who: &str,
        (count, decides): (usize, bool),
        now: UnixNanos,
        lease: Duration,
    ) -> Vec<Entry> {
        let may = |entry: &Entry| {
            if entry.answered_by(who) {
                return false;
            }
            let others = entry.held_by_others(who, now);
            match self.state_of(entry) {
                State::Open => {
                    !decides && (entry.is_held(who, now) || entry.votes() + others < self.rules.needed)
                }
                State::Adjudicate => decides && others == 0,
                State::Final(_) => false,
            }
        };
        let mut at: Vec<usize> = (0..self.entries.len()).filter(|at| may(&self.entries[*at])).collect();
        at.sort_by_key(|at| !self.entries[*at].is_held(who, now));
        at.truncate(count);
        let until = UnixNanos(now.0.saturating_add(crate::units::nanos(lease)));
        for at in &at {
            let entry = &mut self.entries[*at];
            entry.leases.retain(|(by, until)| by != who && *until > now);
            entry.leases.push((who.to_owned(), until));
        }
        at.into_iter().map(|at| self.entries[at].clone()).collect()
    }

    /// The item.
    ///
    /// # Errors
    /// [`LabError::Missing`] if the queue has none of that id.
    pub fn find(&self, item: &str) -> Result<&Entry, LabError> {
        let found = self.by_id.get(item).and_then(|at| self.entries.get(*at));
        found.ok_or_else(|| LabError::Missing(format!("the queue has no item {item:?}: claim one")))
    }

    /// What an answer of `kind` by `who` is: one about answers that differ decides between them.
    ///
    /// # Errors
    /// [`LabError::Conflict`] for an item that `who` has answered, or has not and takes back.
    pub fn accept(&self, entry: &Entry, who: &str, kind: AnswerKind) -> Result<AnswerKind, LabError> {
        let item = &entry.chosen.item;
        match (kind, entry.answered_by(who)) {
            (AnswerKind::Undo, false) => {
                let why = format!("{who:?} has no answer to item {item:?} that could be taken back");
                Err(LabError::Conflict(why))
            }
            (AnswerKind::Undo, true) => Ok(kind),
            (_, true) => {
                let why = format!(
                    "{who:?} has answered item {item:?}: take that back first, with \"kind\": \"undo\""
                );
                Err(LabError::Conflict(why))
            }
            (AnswerKind::Answer | AnswerKind::Adjudication, false) => {
                let decides = self.state_of(entry) == State::Adjudicate;
                Ok(if decides { AnswerKind::Adjudication } else { AnswerKind::Answer })
            }
            (AnswerKind::Skip, false) => Ok(kind),
        }
    }

    /// The state of an item.
    pub fn state_of(&self, entry: &Entry) -> State {
        state(&entry.answers, self.rules.needed, &self.rules.templates)
    }

    /// The state of an item when `answer` has joined its answers.
    pub fn after(&self, entry: &Entry, answer: &Answer) -> State {
        let mut answers = entry.answers.clone();
        answers.push(answer.clone());
        state(&answers, self.rules.needed, &self.rules.templates)
    }

    /// Adds an answer that is durable; who gave it no longer holds the item, unless it was taken back.
    pub fn apply(&mut self, item: &str, answer: Answer) {
        let entry = self.by_id.get(item).and_then(|at| self.entries.get_mut(*at));
        if let Some(entry) = entry {
            if answer.kind != AnswerKind::Undo {
                entry.leases.retain(|(by, _)| *by != answer.reviewer);
            }
            entry.answers.push(answer);
        }
    }

    /// Every item with its state.
    pub fn all(&self) -> Vec<(Entry, State)> {
        self.entries.iter().map(|entry| (entry.clone(), self.state_of(entry))).collect()
    }

    /// How many items stand where, for `who`.
    pub fn counts(&self, who: &str) -> Counts {
        let mut counts = Counts { items: self.entries.len(), ..Counts::default() };
        for entry in &self.entries {
            let state = self.state_of(entry);
            match &state {
                State::Open => counts.open += 1,
                State::Adjudicate => counts.adjudicate += 1,
                State::Final(_) => counts.labelled += 1,
            }
            let hold = standing(&entry.answers);
            let Some(mine) = hold.iter().find(|one| one.reviewer == who) else { continue };
            counts.mine += 1;
            if let Some(label) = state.label().filter(|_| mine.kind == AnswerKind::Answer) {
                counts.with_label += 1;
                counts.agreed += usize::from(mine.response.agrees(label, &self.rules.templates));
            }
        }
        counts
    }
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
