//! Texts that are nearly the same: three words in a row that both have, of all that either has (Jaccard's index). Which
//! texts are compared is decided by MinHash (Broder 1997) in bands, so that time grows with the number of texts and not with
//! its square.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Share of common parts from which two texts are nearly the same.
pub const NEAR: f64 = 0.7;
/// Words of a part.
const WORDS: usize = 3;
/// Shorter texts are the same or not: a single word is too much of them.
const LEAST_WORDS: usize = 6;
/// Bands of so many hashes: a pair at the threshold shares one but for one in eighty.
const BANDS: usize = 16;
const ROWS: usize = 4;

/// Groups of places whose texts are nearly the same; each place in one group at most, the groups and their places in order.
pub fn groups(texts: &[&str]) -> Vec<Vec<usize>> {
    let sets: Vec<BTreeSet<u64>> = texts.iter().map(|text| parts(text)).collect();
    let mut union = Union((0..texts.len()).collect());
    for band in 0..BANDS {
        let mut buckets: HashMap<[u64; ROWS], (usize, usize)> = HashMap::new();
        for (at, set) in sets.iter().enumerate().filter(|(_, set)| !set.is_empty()) {
            // With the first and the last of a bucket: all pairs of a bucket would be too many.
            let bucket = buckets.entry(signature(set, band)).or_insert((at, at));
            for other in [bucket.0, bucket.1] {
                if union.root(other) != union.root(at) && jaccard(set, &sets[other]) >= NEAR {
                    union.join(other, at);
                }
            }
            bucket.1 = at;
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..texts.len() {
        groups.entry(union.root(at)).or_default().push(at);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

fn parts(text: &str) -> BTreeSet<u64> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.len() < LEAST_WORDS {
        return BTreeSet::new();
    }
    words.windows(WORDS).map(|words| hash(&words.join(" "))).collect()
}

fn jaccard(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> f64 {
    let both = one.intersection(other).count();
    both as f64 / (one.len() + other.len() - both).max(1) as f64
}

fn signature(parts: &BTreeSet<u64>, band: usize) -> [u64; ROWS] {
    std::array::from_fn(|row| {
        let seed = mixed((band * ROWS + row + 1) as u64);
        parts.iter().map(|part| mixed(part ^ seed)).min().unwrap_or_default()
    })
}

/// FNV-1a: the same in every release, so that findings do not change with the compiler.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The finalizer of SplitMix64.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Places that belong together; the root of each is the least.
struct Union(Vec<usize>);

impl Union {
    fn root(&mut self, at: usize) -> usize {
        let mut root = at;
        while self.0[root] != root {
            self.0[root] = self.0[self.0[root]];
            root = self.0[root];
        }
        root
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "how long can a customer of the shop return a pair of shoes that was worn in the rain for one whole week and more";

    #[test]
    fn one_word_of_many_makes_a_near_copy() {
        let near = LONG.replace("rain", "snow");
        let other = "which river flows through the city of london and out into the north sea at its mouth";
        assert_eq!(groups(&[LONG, other, &near, LONG]), [vec![0, 2, 3]]);
        assert!(groups(&["the red one", "the blue one", "the red one"]).is_empty());
    }

    /// Every pair above the threshold is found among many, and none below it.
    #[test]
    fn what_is_found_is_what_all_pairs_would_give() {
        let text = |n: usize| {
            let words = (0..30).map(|at| format!("w{}", mixed((n * 100 + at) as u64) % 5_000));
            words.collect::<Vec<_>>().join(" ")
        };
        let mut all: Vec<String> = (0..300).map(text).collect();
        for n in 0..40 {
            // One word at the end changes one part of 28, one in the middle three.
            all.push(format!("{} end", all[n].rsplit_once(' ').unwrap().0));
        }
        let texts: Vec<&str> = all.iter().map(String::as_str).collect();
        let found = groups(&texts);
        let wanted: Vec<Vec<usize>> = (0..40).map(|n| vec![n, 300 + n]).collect();
        assert_eq!(found, wanted);
        assert!((jaccard(&parts(texts[0]), &parts(texts[300])) - 27.0 / 29.0).abs() < 1e-12);
    }
}
