//! Which n-grams are learnt, and how often each language has them.

use crate::counts::{EDGE, Group, Map, ORDER, push};

/// The n-grams of a group that tell most, numbered.
pub struct Rows {
    pub index: Map<u32>,
    /// Mean rate per word over the languages, by row.
    pub rate: Vec<f32>,
    /// Count by row and language, up to 255.
    pub counts: Vec<u8>,
    pub languages: usize,
    /// Log of each language's rate over the mean, smoothed, by row and language.
    pub ratios: Vec<f32>,
}

/// Words of a source that would make unseen n-grams a tenth as likely as on average.
const SMOOTHING: f32 = 300_000.0;

/// How far above chance the rate of each language is: the expected bits a word gives away by this n-gram.
fn telling(rates: &[f32]) -> f32 {
    let mean = rates.iter().sum::<f32>() / rates.len() as f32;
    rates.iter().filter(|r| **r > 0.0).map(|r| r * (r / mean).ln()).sum()
}

impl Rows {
    pub fn choose(group: &Group, most: usize) -> Self {
        let n = group.languages.len();
        let mut all: Map<u32> = Map::default();
        for counts in &group.counts {
            for (key, count) in counts {
                // One sighting is a name or a slip more often than not.
                if *count > 1 {
                    let next = all.len() as u32;
                    all.entry(*key).or_insert(next);
                }
            }
        }
        let mut rates = vec![0f32; all.len() * n];
        for (l, counts) in group.counts.iter().enumerate() {
            for (key, count) in counts {
                if let Some(at) = all.get(key) {
                    rates[*at as usize * n + l] = (*count as f32 - 0.5) / group.words[l] as f32;
                }
            }
        }
        let mut ranked: Vec<(f32, u64)> =
            all.iter().map(|(key, at)| (telling(&rates[*at as usize * n..][..n]), *key)).collect();
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.truncate(most);
        let mut rows = Self {
            index: Map::default(),
            rate: Vec::new(),
            counts: Vec::new(),
            languages: n,
            ratios: Vec::new(),
        };
        for (_, key) in ranked {
            let old = all[&key] as usize;
            rows.index.insert(key, rows.rate.len() as u32);
            let mean = rates[old * n..][..n].iter().sum::<f32>() / n as f32;
            rows.rate.push(mean);
            for (l, counts) in group.counts.iter().enumerate() {
                let (count, words) = (counts.get(&key).map_or(0.0, |c| *c as f32), group.words[l] as f32);
                let smoothed = (count + 0.1 * mean * SMOOTHING) / (words + SMOOTHING);
                rows.ratios.push((smoothed / mean).max(1e-3).ln());
            }
            rows.counts.extend(group.counts.iter().map(|c| c.get(&key).map_or(0, |n| (*n).min(255) as u8)));
        }
        rows
    }
}

/// The keys of a word's n-grams, edges included.
pub fn keys(word: &[u64], mut each: impl FnMut(u64)) {
    let at = |i: usize| if i == 0 || i > word.len() { EDGE } else { word[i - 1] };
    for from in 0..word.len() + 2 {
        let mut key = 0;
        for i in from..(from + ORDER).min(word.len() + 2) {
            key = push(key, at(i));
            if key != EDGE {
                each(key);
            }
        }
    }
}

/// The words of a text: runs of letters of the group's alphabet.
pub fn words(group: &Group, text: &str) -> Vec<Vec<u64>> {
    let mut out = Vec::new();
    let mut word = Vec::new();
    for c in text.to_lowercase().chars().chain([' ']) {
        match group.symbols.get(&c) {
            Some(symbol) => word.push(*symbol),
            None if word.is_empty() => {}
            None => out.push(std::mem::take(&mut word)),
        }
    }
    out
}
