//! The items of one metric of one tenant: who has which, and what to ask next.

use super::draw::is_sent;
use super::item::{Answer, State, standing, state};
use crate::domain::time::UnixNanos;
use crate::schema::batch::{AnswerKind, ReviewItem};
use std::collections::HashMap;
use std::time::Duration;

/// Which items a reviewer asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Those that need more answers.
    Open,
    /// Those whose answers differ, to decide between them.
    Differing,
}

/// An item with its answers.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The item as it was drawn.
    pub drawn: ReviewItem,
    /// Every answer, in the order in which they came.
    pub answers: Vec<Answer>,
    /// Its place in its draw, which has nothing to do with how unsure the evaluator is.
    pub order: u64,
    leases: Vec<(String, UnixNanos)>,
}

impl Entry {
    /// An item without a lease.
    pub fn new(drawn: ReviewItem, answers: Vec<Answer>, order: u64) -> Self {
        Self { drawn, answers, order, leases: Vec::new() }
    }

    fn answered_by(&self, who: &str) -> bool {
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
}

/// How many items stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Items that were drawn, or sent by hand.
    pub drawn: usize,
    /// Those that need more answers.
    pub open: usize,
    /// Those whose answers differ.
    pub adjudicate: usize,
    /// Those that have their label.
    #[serde(rename = "final")]
    pub labelled: usize,
    /// Those that the reviewer who asks has answered.
    pub mine: usize,
}

/// Why an answer is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such item.
    #[error(
        "item {0:?} is not there: it was never drawn for this metric, or it is another tenant's; ask /v1/labels/next"
    )]
    Unknown(String),
    /// The reviewer has answered.
    #[error("{who:?} has answered item {item:?}: take that back first, with \"kind\": \"undo\"")]
    Twice {
        /// Who.
        who: String,
        /// What.
        item: String,
    },
    /// Somebody else's answer has the id.
    #[error(
        "the answer_id is that of another reviewer's answer to item {0:?}: send one of your own, or none"
    )]
    Taken(String),
    /// There is nothing to take back.
    #[error("{who:?} has no answer to item {item:?} that could be taken back")]
    Nothing {
        /// Who.
        who: String,
        /// What.
        item: String,
    },
}

/// The items of one metric of one tenant.
#[derive(Debug, Default)]
pub struct Book {
    entries: Vec<Entry>,
    by_id: HashMap<String, usize>,
    needed: usize,
}

impl Book {
    /// A book in which `needed` answers make a label.
    pub fn new(needed: usize) -> Self {
        Self { needed, ..Self::default() }
    }

    /// Adds items; one that is there stays as it is, but for one that was sent by hand and is drawn now: it keeps its answers.
    pub fn add(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let Some(at) = self.by_id.get(&entry.drawn.item).copied() else {
                self.by_id.insert(entry.drawn.item.clone(), self.entries.len());
                self.entries.push(entry);
                continue;
            };
            let known = &mut self.entries[at];
            if is_sent(&known.drawn) && !is_sent(&entry.drawn) {
                (known.drawn, known.order) = (entry.drawn, entry.order);
            }
        }
        self.entries.sort_by_key(|entry| (entry.drawn.drawn_at, entry.order));
        self.by_id = self.entries.iter().enumerate().map(|(at, e)| (e.drawn.item.clone(), at)).collect();
    }

    /// The item with that id.
    pub fn get(&self, item: &str) -> Option<&Entry> {
        self.by_id.get(item).and_then(|at| self.entries.get(*at))
    }

    /// Whether a draw has chosen an item.
    pub fn has_drawn(&self, item: &str) -> bool {
        self.get(item).is_some_and(|entry| !is_sent(&entry.drawn))
    }

    /// Up to when the population of the last draw was evaluated; none before the first.
    pub fn until(&self) -> Option<UnixNanos> {
        self.entries.iter().map(|entry| entry.drawn.population_until).max()
    }

    /// Whether new items should be drawn: none is open, but for those that somebody could not answer.
    pub fn is_worked_off(&self) -> bool {
        let is_skipped =
            |entry: &Entry| standing(&entry.answers).iter().any(|one| one.kind == AnswerKind::Skip);
        !self
            .entries
            .iter()
            .any(|entry| state(&entry.answers, self.needed) == State::Open && !is_skipped(entry))
    }

    /// Leases up to `count` items to `who` for `lease`, those that `who` has first; none that `who` has answered.
    pub fn next(
        &mut self,
        who: &str,
        count: usize,
        wanted: Wanted,
        now: UnixNanos,
        lease: Duration,
    ) -> Vec<Entry> {
        let needed = self.needed;
        let may = |entry: &Entry| {
            if entry.answered_by(who) {
                return false;
            }
            let others = entry.held_by_others(who, now);
            match state(&entry.answers, needed) {
                State::Open => {
                    wanted == Wanted::Open && (entry.is_held(who, now) || entry.votes() + others < needed)
                }
                State::Adjudicate => wanted == Wanted::Differing && others == 0,
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

    /// The item that `who` may answer with an answer of `kind`, and what that answer is: one about answers that differ decides
    /// between them.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn accept(&self, item: &str, who: &str, kind: AnswerKind) -> Result<(&Entry, AnswerKind), Refused> {
        let entry = self.get(item).ok_or_else(|| Refused::Unknown(item.to_owned()))?;
        let (who_owned, item_owned) = (who.to_owned(), item.to_owned());
        match (kind, entry.answered_by(who)) {
            (AnswerKind::Undo, false) => Err(Refused::Nothing { who: who_owned, item: item_owned }),
            (AnswerKind::Undo, true) => Ok((entry, kind)),
            (_, true) => Err(Refused::Twice { who: who_owned, item: item_owned }),
            (AnswerKind::Answer | AnswerKind::Adjudication, false) => {
                let decides = state(&entry.answers, self.needed) == State::Adjudicate;
                Ok((entry, if decides { AnswerKind::Adjudication } else { AnswerKind::Answer }))
            }
            (AnswerKind::Skip, false) => Ok((entry, kind)),
        }
    }

    /// The item of the answer with that id, if `reviewer` gave it before.
    ///
    /// # Errors
    /// When somebody else did: what others said of an item is told to who answered it, not to who knows an id.
    pub fn known(&self, item: &str, answer: &str, reviewer: &str) -> Result<Option<&Entry>, Refused> {
        let Some(entry) = self.get(item) else { return Ok(None) };
        match entry.answers.iter().find(|one| one.id == answer) {
            Some(one) if one.reviewer != reviewer => Err(Refused::Taken(item.to_owned())),
            found => Ok(found.map(|_| entry)),
        }
    }

    /// The state of an item before and after `answer` joins its answers.
    pub fn change(&self, entry: &Entry, answer: &Answer) -> (State, State) {
        let mut after = entry.answers.clone();
        after.push(answer.clone());
        (state(&entry.answers, self.needed), state(&after, self.needed))
    }

    /// The state of an item.
    pub fn state_of(&self, entry: &Entry) -> State {
        state(&entry.answers, self.needed)
    }

    /// Adds an answer that is durable; who gave it no longer holds the item, unless it was taken back.
    pub fn apply(&mut self, item: &str, answer: Answer) -> Option<&Entry> {
        let at = *self.by_id.get(item)?;
        let entry = self.entries.get_mut(at)?;
        if answer.kind != AnswerKind::Undo {
            entry.leases.retain(|(by, _)| *by != answer.reviewer);
        }
        entry.answers.push(answer);
        Some(entry)
    }

    /// Every item with its state.
    pub fn all(&self) -> Vec<(Entry, State)> {
        self.entries.iter().map(|entry| (entry.clone(), state(&entry.answers, self.needed))).collect()
    }

    /// How many items stand where, for `who`.
    pub fn counts(&self, who: &str) -> Counts {
        let mut counts = Counts { drawn: self.entries.len(), ..Counts::default() };
        for entry in &self.entries {
            match state(&entry.answers, self.needed) {
                State::Open => counts.open += 1,
                State::Adjudicate => counts.adjudicate += 1,
                State::Final(_) => counts.labelled += 1,
            }
            counts.mine += usize::from(entry.answered_by(who));
        }
        counts
    }

    /// Of the items that have their label and that `who` has answered: how many there are, and on how many `who` agrees.
    pub fn agreed(&self, who: &str) -> (usize, usize) {
        let (mut all, mut agreed) = (0, 0);
        for entry in &self.entries {
            let Some(label) = state(&entry.answers, self.needed).label() else { continue };
            let own = standing(&entry.answers).into_iter().find(|one| one.reviewer == who);
            if let Some(passed) = own.and_then(|one| one.passed) {
                all += 1;
                agreed += usize::from(passed == label);
            }
        }
        (all, agreed)
    }
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
