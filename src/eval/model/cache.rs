//! The embeddings of texts that were seen lately.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::Mutex;

/// What a text is known by: two keyed 64-bit hashes, so that no sender can build two texts with one key.
pub(super) type TextKey = (u64, u64);

/// At most `capacity` embeddings. Entries live in two generations: a hit moves an entry to the young one, and when
/// the young one is half of the capacity, the old one is dropped whole. So no list of uses has to be kept.
pub(super) struct EmbeddingCache {
    hashers: (RandomState, RandomState),
    half: usize,
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<TextKey, Arc<[f32]>>,
    old: HashMap<TextKey, Arc<[f32]>>,
}

impl EmbeddingCache {
    /// An empty cache that will hold at most `capacity` embeddings.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            hashers: (RandomState::new(), RandomState::new()),
            half: (capacity / 2).max(1),
            generations: Mutex::default(),
        }
    }

    /// What `text` is known by in this cache.
    pub(super) fn key(&self, text: &str) -> TextKey {
        (self.hashers.0.hash_one(text), self.hashers.1.hash_one(text))
    }

    /// The embedding of the text with this key, if it is still here.
    pub(super) fn get(&self, key: TextKey) -> Option<Arc<[f32]>> {
        let mut generations = self.generations.lock();
        if let Some(found) = generations.young.get(&key) {
            return Some(found.clone());
        }
        let found = generations.old.remove(&key)?;
        self.insert(&mut generations, key, found.clone());
        Some(found)
    }

    /// Keeps an embedding.
    pub(super) fn put(&self, key: TextKey, embedding: Arc<[f32]>) {
        self.insert(&mut self.generations.lock(), key, embedding);
    }

    fn insert(&self, generations: &mut Generations, key: TextKey, embedding: Arc<[f32]>) {
        if generations.young.len() >= self.half {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(key, embedding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(value: usize) -> Arc<[f32]> {
        Arc::from(vec![value as f32])
    }

    #[test]
    fn stays_within_its_capacity_and_keeps_what_is_used() {
        let cache = EmbeddingCache::new(10);
        let kept = cache.key("kept");
        cache.put(kept, vector(0));
        for i in 1..100 {
            cache.put(cache.key(&i.to_string()), vector(i));
            assert!(cache.get(kept).is_some(), "used after every insertion, gone after {i}");
            let generations = cache.generations.lock();
            assert!(generations.young.len() + generations.old.len() <= 10);
        }
        assert!(cache.get(cache.key("1")).is_none());
        assert_eq!(cache.get(cache.key("99")), Some(vector(99)));
    }
}
