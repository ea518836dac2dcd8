//! Replies to some of an evaluator's questions, kept while another one waits: who comes again pays for what is missing.

use crate::domain::trace::EvalInput;
use crate::eval::Away;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Replies that are kept at most; of more, all is asked again. One with its reasons has a few kilobytes.
const MAX_KEPT: usize = 4_096;

/// What a reply is known by: a hash of the question and its texts.
pub(super) type Key = [u8; 32];

/// Replies that wait for others, in two generations: when the young one is half of the limit, the old one is dropped.
///
/// A reply is given out once, with what it took: the evaluation that is done counts it, and nobody else.
pub(super) struct Partial<T>(Mutex<[HashMap<Key, T>; 2]>);

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

impl<T> Partial<T> {
    /// Whether nothing is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().iter().all(HashMap::is_empty)
    }

    /// Takes out what was said of it before.
    pub(super) fn take(&self, key: &Key) -> Option<T> {
        let mut kept = self.0.lock();
        let [young, old] = &mut *kept;
        young.remove(key).or_else(|| old.remove(key))
    }

    /// Keeps a reply.
    pub(super) fn put(&self, key: Key, reply: T) {
        let mut kept = self.0.lock();
        let [young, old] = &mut *kept;
        if young.len() >= MAX_KEPT / 2 {
            *old = std::mem::take(young);
        }
        young.insert(key, reply);
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
        for (key, answer) in answers {
            if let Ok(reply) = answer {
                self.put(key, reply);
            }
        }
        Err(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(counts: bool) -> Away {
        Away { why: "gone".to_owned(), counts, wait: None }
    }

    #[tokio::test]
    async fn what_came_is_given_out_once() {
        let (partial, one, two) = (Partial::default(), key_of(&[b"a"]), key_of(&[b"b"]));
        assert_eq!(partial.all(vec![(one, Ok(1)), (two, Err(away(true)))]), Err(away(true)));
        assert_eq!(partial.or_ask(one, async { Ok(9) }).await, (one, Ok(1)));
        assert_eq!(partial.or_ask(one, async { Ok(9) }).await, (one, Ok(9)), "it was taken");
        assert_eq!(partial.all(vec![(one, Ok(1)), (two, Ok(2))]), Ok(vec![1, 2]));
        assert_eq!(partial.take(&one), None, "what is done is not kept");
        assert!(partial.is_empty());
        partial.put(one, 3);
        assert!(!partial.is_empty());
        assert_ne!(key_of(&[b"a", b"b"]), key_of(&[b"ab"]));
    }

    #[test]
    fn who_is_away_for_everybody_counts_first() {
        let partial: Partial<u8> = Partial::default();
        let answers = vec![([0; 32], Err(away(true))), ([1; 32], Err(away(false)))];
        assert_eq!(partial.all(answers), Err(away(false)));
    }

    #[test]
    fn what_nobody_comes_for_goes() {
        let partial = Partial::default();
        for n in 0..3 * MAX_KEPT {
            partial.put(key_of(&[&n.to_le_bytes()]), n);
            let kept = partial.0.lock();
            assert!(kept[0].len() + kept[1].len() <= MAX_KEPT);
        }
        assert_eq!(partial.take(&key_of(&[&0usize.to_le_bytes()])), None);
        let last = 3 * MAX_KEPT - 1;
        assert_eq!(partial.take(&key_of(&[&last.to_le_bytes()])), Some(last));
    }
}
