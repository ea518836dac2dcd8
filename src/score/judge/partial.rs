//! Replies to some of an evaluator's questions, kept while another one waits: who comes again pays for what is missing.

use super::told::add;
use crate::domain::score::Usage;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Bill, Owed};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Replies that are kept at most; of more, all is asked again. One with its reasons has a few kilobytes.
const MAX_KEPT: usize = 4_096;

/// What a reply is known by: a hash of the question and its texts.
pub(super) type Key = [u8; 32];

/// A reply that took something.
pub(super) trait Paid {
    /// What it took; none if nobody was asked.
    fn usage(&mut self) -> &mut Option<Usage>;
}

impl Paid for Option<Usage> {
    fn usage(&mut self) -> &mut Option<Usage> {
        self
    }
}

impl<T> Paid for (T, Option<Usage>) {
    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.1
    }
}

/// Replies that wait for others, in two generations: when the young one is half of the limit, the old one is dropped.
///
/// A reply is given out once, with what it took: the evaluation that is done counts it, and nobody else. Where the evaluation
/// is given up, who does that counts what [`Away::owed`] tells, and the reply is given out without it.
pub(super) struct Partial<T>(Mutex<[HashMap<Key, (T, Bill)>; 2]>);

/// What was paid for questions that have no answer yet.
pub(super) type Debts = Partial<Option<Usage>>;

impl<T> Default for Partial<T> {
    fn default() -> Self {
        Self(Mutex::new([HashMap::new(), HashMap::new()]))
    }
}

/// The key of the question called `name` about `input`.
pub(super) fn key(name: &str, input: &EvalInput) -> Key {
    let texts = serde_json::to_vec(input).unwrap_or_default();
    key_of(&[name.as_bytes(), &texts])
}

/// The key of these parts.
pub(super) fn key_of(parts: &[&[u8]]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        // Lengths keep the parts apart.
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

impl Debts {
    /// Takes out what is owed under a key, which is made where there may be something: mostly nobody owes anything, and no text
    /// is hashed for that.
    pub(super) fn owed(&self, key: impl FnOnce() -> Key) -> Option<Usage> {
        if self.is_empty() { None } else { self.take(&key()).flatten() }
    }

    /// `away` with what was paid before that, which is kept for who comes again.
    pub(super) fn owe(&self, key: impl FnOnce() -> Key, took: Option<Usage>, mut away: Away) -> Away {
        if took.is_some() {
            away.owed.add(self.put(key(), took));
        }
        away
    }
}

impl<T: Paid> Partial<T> {
    /// Whether nothing is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().iter().all(HashMap::is_empty)
    }

    /// Takes out what was said of it before.
    pub(super) fn take(&self, key: &Key) -> Option<T> {
        let mut kept = self.0.lock();
        let [young, old] = &mut *kept;
        let (mut reply, bill) = young.remove(key).or_else(|| old.remove(key))?;
        *reply.usage() = bill.take();
        Some(reply)
    }

    /// Keeps a reply. What it took is on the bill.
    pub(super) fn put(&self, key: Key, mut reply: T) -> Bill {
        let mut kept = self.0.lock();
        let [young, old] = &mut *kept;
        // The same may have been asked twice at once, and paid twice.
        let before = young.remove(&key).or_else(|| old.remove(&key));
        let mut took = before.and_then(|(_, bill)| bill.take());
        add(&mut took, reply.usage().take());
        let bill = Bill::new(took);
        if young.len() >= MAX_KEPT / 2 {
            *old = std::mem::take(young);
        }
        young.insert(key, (reply, bill.clone()));
        bill
    }

    /// What was said of it before, or what `ask` says now.
    ///
    /// # Errors
    /// Those of `ask`.
    pub(super) async fn or_ask(
        &self,
        key: Key,
        ask: impl Future<Output = Result<T, Away>>,
    ) -> (Key, Result<T, Away>) {
        match self.take(&key) {
            Some(reply) => (key, Ok(reply)),
            None => (key, ask.await),
        }
    }

    /// All of them if all have come. Otherwise those that have are kept.
    ///
    /// # Errors
    /// One who is away; rather one that is away for everybody, which is no attempt of the item.
    pub(super) fn all(&self, answers: Vec<(Key, Result<T, Away>)>) -> Result<Vec<T>, Away> {
        let away =
            |answer: &&(Key, Result<T, Away>)| answer.1.as_ref().err().is_some_and(|away| !away.counts);
        let why = answers.iter().find(away).or_else(|| answers.iter().find(|answer| answer.1.is_err()));
        let Some(why) = why.and_then(|answer| answer.1.as_ref().err().cloned()) else {
            return Ok(answers.into_iter().filter_map(|(_, answer)| answer.ok()).collect());
        };
        let mut owed = Owed::default();
        for (key, answer) in answers {
            match answer {
                Ok(reply) => owed.add(self.put(key, reply)),
                Err(away) => owed.extend(away.owed),
            }
        }
        Err(Away { owed, ..why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(counts: bool) -> Away {
        Away::new("gone", counts, None)
    }

    /// A reply that took so many tokens.
    fn paid(reply: u8, tokens: i64) -> (u8, Option<Usage>) {
        (reply, Some(Usage { model: "m".to_owned(), input_tokens: Some(tokens), ..Usage::default() }))
    }

    fn tokens(usage: Option<Usage>) -> Option<i64> {
        usage.and_then(|usage| usage.input_tokens)
    }

    #[tokio::test]
    async fn what_came_is_given_out_once() {
        let (partial, one, two) = (Partial::default(), key_of(&[b"a"]), key_of(&[b"b"]));
        let why = partial.all(vec![(one, Ok(paid(1, 10))), (two, Err(away(true)))]).unwrap_err();
        assert!(why.counts && why.why == "gone");
        let again = || partial.or_ask(one, async { Ok(paid(9, 90)) });
        assert_eq!(again().await, (one, Ok(paid(1, 10))));
        assert_eq!(tokens(why.owed.take()), None, "who has come again counts it");
        assert_eq!(again().await, (one, Ok(paid(9, 90))), "it was taken");
        let both = vec![(one, Ok(paid(1, 10))), (two, Ok(paid(2, 20)))];
        assert_eq!(partial.all(both), Ok(vec![paid(1, 10), paid(2, 20)]));
        assert_eq!(partial.take(&one), None, "what is done is not kept");
        assert!(partial.is_empty());
        partial.put(one, paid(3, 30));
        assert!(!partial.is_empty());
        assert_ne!(key_of(&[b"a", b"b"]), key_of(&[b"ab"]));
    }

    #[test]
    fn who_gives_up_counts_what_came_and_nobody_else_does() {
        let (partial, debts) = (Partial::default(), Debts::default());
        let [one, two, three] = [[1; 32], [2; 32], [3; 32]];
        let unread = debts.owe(|| two, paid(0, 5).1, away(true));
        let answers = vec![(one, Ok(paid(1, 10))), (two, Err(unread)), (three, Ok(paid(3, 20)))];
        let why = partial.all(answers).unwrap_err();
        assert_eq!(tokens(why.owed.take()), Some(35));
        assert_eq!(tokens(why.owed.take()), None, "once");
        let (reply, usage) = partial.take(&one).unwrap();
        let usage = usage.unwrap();
        assert_eq!((reply, usage.model.as_str(), usage.input_tokens), (1, "m", None));
        assert_eq!(tokens(debts.owed(|| two)), None);
    }

    #[test]
    fn what_was_paid_twice_is_owed_twice() {
        let partial = Partial::default();
        let other = Usage { model: "other".to_owned(), input_tokens: Some(10), ..Usage::default() };
        let first = partial.put([1; 32], (1, Some(other)));
        partial.put([1; 32], paid(2, 20));
        let (reply, usage) = partial.take(&[1; 32]).unwrap();
        let usage = usage.unwrap();
        assert_eq!((reply, usage.model.as_str(), usage.input_tokens), (2, "m", Some(30)));
        assert_eq!(tokens(first.take()), None);
    }

    #[test]
    fn who_is_away_for_everybody_counts_first() {
        let partial: Partial<(u8, Option<Usage>)> = Partial::default();
        let answers = vec![([0; 32], Err(away(true))), ([1; 32], Err(away(false)))];
        assert_eq!(partial.all(answers), Err(away(false)));
    }

    #[test]
    fn what_nobody_comes_for_goes() {
        let partial: Partial<(usize, Option<Usage>)> = Partial::default();
        for n in 0..3 * MAX_KEPT {
            partial.put(key_of(&[&n.to_le_bytes()]), (n, None));
            let kept = partial.0.lock();
            assert!(kept[0].len() + kept[1].len() <= MAX_KEPT);
        }
        assert_eq!(partial.take(&key_of(&[&0usize.to_le_bytes()])), None);
        let last = 3 * MAX_KEPT - 1;
        assert_eq!(partial.take(&key_of(&[&last.to_le_bytes()])), Some((last, None)));
    }
}
