//! Exact counts of n-grams, word beginnings and word ends from the published conditional probabilities.

use crate::languages::{LANGUAGES, Script, script_of};
use fst::Streamer;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::Path;

/// Bits of one symbol; five of them make a key.
pub const BITS: u32 = 10;
/// The symbol of a word's beginning and end.
pub const EDGE: u64 = 1;
/// The longest n-gram.
pub const ORDER: usize = 5;

#[derive(Default)]
pub struct Mix(u64);
impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers")
    }
    fn write_u64(&mut self, n: u64) {
        let x = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = x ^ (x >> 29);
    }
}
pub type Map<V> = HashMap<u64, V, BuildHasherDefault<Mix>>;

/// The languages of one script with their counts.
pub struct Group {
    pub script: Script,
    /// Where each language stands in `LANGUAGES`.
    pub languages: Vec<usize>,
    /// Letters; the symbol of the first is 2.
    pub alphabet: Vec<char>,
    pub symbols: HashMap<char, u64>,
    /// By language: n-gram with edges to count.
    pub counts: Vec<Map<u32>>,
    /// By language: words in the source.
    pub words: Vec<f64>,
}

/// Appends a symbol to a key.
pub fn push(key: u64, symbol: u64) -> u64 {
    key << BITS | symbol
}

/// Symbols of a key, first to last.
pub fn symbols(key: u64) -> Vec<u64> {
    let mut out: Vec<u64> =
        (0..ORDER as u32).map(|i| key >> (BITS * i) & ((1 << BITS) - 1)).take_while(|s| *s > 0).collect();
    out.reverse();
    out
}

/// Calls with each n-gram and its count. Prefixes come before what they begin, so conditionals multiply on the way.
fn read(models: &Path, name: &str) -> Vec<(String, f64)> {
    let folder = format!("lingua-{name}-language-model-1.3.0/models/ngrams.fst");
    let bytes = std::fs::read(models.join(folder)).expect("the package is there");
    let map = fst::Map::new(bytes).expect("an FST");
    let mut stream = map.stream();
    let mut out = Vec::with_capacity(map.len());
    let mut begun = [1.0; ORDER + 1];
    while let Some((key, value)) = stream.next() {
        let text = std::str::from_utf8(key).expect("UTF-8");
        let length = text.chars().count();
        begun[length] = begun[length - 1] * f64::from_bits(value).exp();
        out.push((text.to_owned(), begun[length]));
    }
    // The rarest n-gram was seen once.
    let once = out.iter().map(|x| x.1).fold(f64::INFINITY, f64::min);
    out.iter_mut().for_each(|x| x.1 = (x.1 / once).round());
    out
}

pub fn load(models: &Path, script: Script) -> Group {
    let languages: Vec<usize> = (0..LANGUAGES.len()).filter(|i| LANGUAGES[*i].3 == script).collect();
    let raw: Vec<Vec<(String, f64)>> = languages.iter().map(|i| read(models, LANGUAGES[*i].0)).collect();
    let mut rate: HashMap<char, f64> = HashMap::new();
    for counts in &raw {
        let singles = counts.iter().filter(|(k, _)| k.chars().count() == 1);
        let total: f64 = singles.clone().map(|x| x.1).sum();
        for (key, count) in singles {
            let c = key.chars().next().expect("one");
            if script_of(c) == Some(script) {
                let best = rate.entry(c).or_default();
                *best = best.max(count / total);
            }
        }
    }
    let least = if script == Script::Han { 0.0 } else { 3e-6 };
    let mut alphabet: Vec<char> = rate.iter().filter(|(_, r)| **r >= least).map(|(c, _)| *c).collect();
    alphabet.sort_unstable();
    let table: HashMap<char, u64> = alphabet.iter().enumerate().map(|(i, c)| (*c, i as u64 + 2)).collect();
    let mut group =
        Group { script, languages, alphabet, symbols: table, counts: Vec::new(), words: Vec::new() };
    if script == Script::Han {
        return with_single_characters(group, &raw);
    }
    assert!(group.alphabet.len() < (1 << BITS) - 2, "the alphabet fits");
    for counts in raw {
        let inner: Map<f64> = counts.iter().filter_map(|(k, n)| group.key(k).map(|key| (key, *n))).collect();
        let (with_edges, words) = edges(&inner);
        group.words.push(words);
        group.counts.push(with_edges);
    }
    group
}

/// Of Chinese and Japanese only single characters are published.
fn with_single_characters(mut group: Group, raw: &[Vec<(String, f64)>]) -> Group {
    for counts in raw {
        let of: Map<u32> = counts
            .iter()
            .filter_map(|(k, n)| {
                k.chars().next().and_then(|c| group.symbols.get(&c)).map(|s| (*s, *n as u32))
            })
            .collect();
        group.words.push(of.values().map(|n| f64::from(*n)).sum());
        group.counts.push(of);
    }
    group
}

impl Group {
    /// The key of an n-gram, if all its letters are in the alphabet.
    pub fn key(&self, text: &str) -> Option<u64> {
        text.chars().try_fold(0, |key, c| self.symbols.get(&c).map(|s| push(key, *s)))
    }
}

fn length(key: u64) -> usize {
    (64 - key.leading_zeros()).div_ceil(BITS) as usize
}

/// What is not followed by a letter ends a word; what none precedes begins one.
fn edges(inner: &Map<f64>) -> (Map<u32>, f64) {
    let (mut right, mut left): (Map<f64>, Map<f64>) = Default::default();
    for (key, n) in inner {
        let len = length(*key) as u32;
        if len > 1 {
            *right.entry(key >> BITS).or_default() += n;
            *left.entry(key & ((1 << (BITS * (len - 1))) - 1)).or_default() += n;
        }
    }
    let mut out: Map<u32> = Map::default();
    let mut start: Map<f64> = Map::default();
    let mut words = 0.0;
    for (key, n) in inner {
        let len = length(*key) as u32;
        out.insert(*key, *n as u32);
        if len == ORDER as u32 {
            continue;
        }
        let begins = n - left.get(key).copied().unwrap_or(0.0);
        let ends = n - right.get(key).copied().unwrap_or(0.0);
        if begins >= 0.5 {
            start.insert(*key, begins);
            out.insert(EDGE << (BITS * len) | key, begins as u32);
            words += if len == 1 { begins } else { 0.0 };
        }
        if ends >= 0.5 {
            out.insert(push(*key, EDGE), ends as u32);
        }
    }
    let mut started: Map<f64> = Map::default();
    for (key, n) in &start {
        *started.entry(key >> BITS).or_default() += n;
    }
    for (key, n) in &start {
        let len = length(*key) as u32;
        let whole = n - started.get(key).copied().unwrap_or(0.0);
        if len <= 3 && whole >= 0.5 {
            out.insert(push(EDGE << (BITS * len) | key, EDGE), whole as u32);
        }
    }
    (out, words)
}
