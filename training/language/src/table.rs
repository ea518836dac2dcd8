//! The stored form: see `src/eval/language/table.rs`, which reads it.

use crate::counts::{Group, ORDER, symbols};
use crate::languages::{LANGUAGES, SCRIPTS, Script};
use crate::rows::{self, Rows};
use crate::train::Sparse;

/// Of a weight.
pub const STEP: f32 = 0.25;

/// A group as the program sees it.
pub struct Stored<'a> {
    pub group: &'a Group,
    /// Sorted by key: language and weight in steps.
    pub rows: Vec<(u64, Vec<(u8, i8)>)>,
    pub scale: f32,
    pub exponent: f32,
}

impl<'a> Stored<'a> {
    pub fn new(group: &'a Group, rows: &Rows, kept: &Sparse) -> Self {
        let mut out = Vec::new();
        for (key, row) in &rows.index {
            let row = *row as usize;
            let votes: Vec<(u8, i8)> = kept.entries[kept.from[row] as usize..kept.from[row + 1] as usize]
                .iter()
                .map(|e| (e.language, (e.weight / STEP).round().clamp(-127.0, 127.0) as i8))
                .filter(|(_, w)| *w != 0)
                .collect();
            if !votes.is_empty() {
                out.push((*key, votes));
            }
        }
        out.sort_by_key(|(key, _)| symbols(*key));
        Self { group, rows: out, scale: 1.0, exponent: 0.0 }
    }

    /// Chinese against Japanese: the log ratio of each character's frequency, less for rare ones, and a share for each
    /// character that no Japanese syllable followed.
    pub fn of_characters(group: &'a Group) -> Self {
        const RARE: f64 = 300.0;
        const NO_SYLLABLE: f64 = 0.75;
        let mut out = Vec::new();
        for at in 0..group.alphabet.len() as u64 {
            let count = |l: usize| f64::from(group.counts[l].get(&(at + 2)).copied().unwrap_or(0));
            let rate = |l: usize| (count(l) + 0.5) / group.words[l];
            let most = count(0).max(count(1));
            let odds = (rate(1) / rate(0)).ln().clamp(-5.0, 5.0) * most / (most + RARE) - NO_SYLLABLE;
            let weight = (odds as f32 / STEP).round() as i8;
            if weight != 0 {
                out.push((at + 2, vec![(1, weight)]));
            }
        }
        Self { group, rows: out, scale: 1.0, exponent: 0.0 }
    }

    pub fn votes(&self) -> usize {
        self.rows.iter().map(|(_, votes)| votes.len()).sum()
    }

    pub fn index(&self) -> crate::counts::Map<u32> {
        self.rows.iter().enumerate().map(|(at, (key, _))| (*key, at as u32)).collect()
    }

    /// Scores before the temperature, and the letters they are of.
    pub fn scores(&self, index: &crate::counts::Map<u32>, text: &str) -> (Vec<f32>, usize) {
        let mut scores = vec![0.0; self.group.languages.len()];
        let mut letters = 0;
        for word in rows::words(self.group, text) {
            letters += word.len();
            let mut vote = |key: u64| {
                if let Some(at) = index.get(&key) {
                    for (l, w) in &self.rows[*at as usize].1 {
                        scores[*l as usize] += f32::from(*w) * STEP;
                    }
                }
            };
            if self.group.script == Script::Han {
                word.iter().for_each(|s| vote(*s));
            } else {
                rows::keys(&word, vote);
            }
        }
        (scores, letters)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let script = SCRIPTS.iter().position(|s| *s == self.group.script).expect("known");
        out.extend([script as u8, self.group.languages.len() as u8]);
        self.group.languages.iter().for_each(|l| out.extend(LANGUAGES[*l].1.as_bytes()));
        for number in [self.scale, self.exponent, STEP] {
            out.extend(number.to_le_bytes());
        }
        out.extend((self.group.alphabet.len() as u16).to_le_bytes());
        self.group.alphabet.iter().for_each(|c| out.extend((*c as u32).to_le_bytes()));
        out.extend((self.rows.len() as u32).to_le_bytes());
        out.extend((self.votes() as u32).to_le_bytes());
        let is_wide = self.group.alphabet.len() > 253;
        let (mut shapes, mut letters, mut counts, mut voters, mut weights) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut before: Vec<u64> = Vec::new();
        for (key, votes) in &self.rows {
            let now = if is_wide { vec![*key] } else { symbols(*key) };
            let shared = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
            assert!(now.len() <= ORDER);
            shapes.push((shared << 4 | (now.len() - shared)) as u8);
            for s in &now[shared..] {
                let bytes = s.to_le_bytes();
                letters.extend(&bytes[..if is_wide { 2 } else { 1 }]);
            }
            counts.push(votes.len() as u8);
            for (l, w) in votes {
                voters.push(*l);
                weights.push(w.to_le_bytes()[0]);
            }
            before = now;
        }
        for stream in [shapes, letters, counts, voters, weights] {
            out.extend((stream.len() as u32).to_le_bytes());
            out.extend(stream);
        }
    }
}

/// The whole file.
pub fn file(groups: &[Stored]) -> Vec<u8> {
    let mut payload = vec![groups.len() as u8];
    groups.iter().for_each(|g| g.write(&mut payload));
    let packed = zstd::bulk::compress(&payload, 19).expect("zstd");
    let mut out = b"GLLANG01".to_vec();
    out.extend(crc32c(&packed).to_le_bytes());
    out.extend(packed);
    out
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0x82f6_3b78 } else { c >> 1 })
    })
}
