//! Softmax regression on the n-grams of generated texts: first all weights, then those that are kept.

use crate::rows::{Rows, keys};
use crate::sample::{Chain, Random};

/// A weight of a row for a language of the group.
#[derive(Clone, Copy)]
pub struct Entry {
    pub language: u8,
    pub weight: f32,
}

/// Rows of kept weights, one after the other.
pub struct Sparse {
    pub from: Vec<u32>,
    pub entries: Vec<Entry>,
}

/// A generated text: its language and the rows of its n-grams.
struct Example {
    language: usize,
    rows: Vec<u32>,
}

struct Maker<'a> {
    chains: &'a [Chain],
    rows: &'a Rows,
    random: Random,
    word: Vec<u64>,
}

impl Maker<'_> {
    /// Half are single words, as lists, labels and names have them; the rest are pairs and phrases.
    fn fill(&mut self, example: &mut Example) {
        let n = self.chains.len();
        example.language = self.random.below(n);
        example.rows.clear();
        let kind = self.random.unit();
        let (words, least) = match kind {
            k if k < 0.50 => (1, 5),
            k if k < 0.60 => (1, 1),
            k if k < 0.85 => (2, 5),
            _ => (2 + self.random.below(7), 1),
        };
        for _ in 0..words {
            // A word of another language now and then: names and loans.
            let is_foreign = words > 2 && self.random.unit() < 0.04;
            let from = if is_foreign { self.random.below(n) } else { example.language };
            for _ in 0..50 {
                self.chains[from].word(&mut self.random, &mut self.word);
                if self.word.len() >= least {
                    break;
                }
            }
            self.add(from, example);
        }
    }

    /// An n-gram seen a few times would be unseen in other text of that language about that share of the time.
    fn add(&mut self, language: usize, example: &mut Example) {
        let (rows, random) = (self.rows, &mut self.random);
        let shortened = match random.unit() {
            u if u < 0.05 => 3,
            u if u < 0.15 => 4,
            _ => 5,
        };
        keys(&self.word, |key| {
            if key >> (crate::counts::BITS * shortened) != 0 {
                return;
            }
            let Some(row) = rows.index.get(&key) else { return };
            let count = rows.counts[*row as usize * rows.languages + language];
            if count < 40 && random.unit() < 0.75 / f32::from(count.max(1)) {
                return;
            }
            example.rows.push(*row);
        });
    }
}

/// Scores to probabilities, in place.
fn softmax(scores: &mut [f32]) {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for s in scores.iter_mut() {
        *s = (*s - top).exp();
        sum += *s;
    }
    for s in scores.iter_mut() {
        *s /= sum;
    }
}

const LANES: usize = 52;
/// Step at the first sight of a row.
const STEP: f32 = 0.1;
/// Of the log-ratio that a weight begins with: the n-grams of a text overlap, each tells a part.
const BEGIN: f32 = 0.2;

fn maker<'a>(chains: &'a [Chain], rows: &'a Rows, seed: u64) -> Maker<'a> {
    Maker { chains, rows, random: Random(seed), word: Vec::new() }
}

/// Reports every tenth: the share of right guesses and the loss so far.
struct Progress {
    right: usize,
    loss: f64,
    seen: usize,
}

impl Progress {
    fn note(&mut self, p: &[f32], language: usize, of: usize) {
        self.seen += 1;
        self.right += usize::from(p.iter().all(|q| *q <= p[language]));
        self.loss -= f64::from(p[language].max(1e-9).ln());
        if self.seen == of {
            let n = self.seen as f64;
            eprintln!("  right {:.4} loss {:.4}", self.right as f64 / n, self.loss / n);
            *self = Self { right: 0, loss: 0.0, seen: 0 };
        }
    }
}

/// All weights of all rows, `LANES` a row.
pub fn dense(chains: &[Chain], rows: &Rows, examples: usize) -> Vec<f32> {
    let n = chains.len();
    let mut weights = vec![0f32; rows.rate.len() * LANES];
    for (w, ratios) in weights.chunks_mut(LANES).zip(rows.ratios.chunks(n)) {
        w.iter_mut().zip(ratios).for_each(|(w, ratio)| *w = BEGIN * ratio);
    }
    let mut seen = vec![1e-3f32; rows.rate.len()];
    let mut make = maker(chains, rows, 7);
    let mut example = Example { language: 0, rows: Vec::new() };
    let mut progress = Progress { right: 0, loss: 0.0, seen: 0 };
    for at in 0..examples {
        make.fill(&mut example);
        let mut p = [0f32; LANES];
        for row in &example.rows {
            let w = &weights[*row as usize * LANES..][..LANES];
            for (a, b) in p.iter_mut().zip(w) {
                *a += b;
            }
        }
        softmax(&mut p[..n]);
        progress.note(&p[..n], example.language, examples / 10);
        p[example.language] -= 1.0;
        let size: f32 = p[..n].iter().map(|g| g * g).sum();
        if size < 1e-4 {
            continue;
        }
        let step = STEP * (1.0 - at as f32 / examples as f32);
        for row in &example.rows {
            let g = &mut seen[*row as usize];
            *g += size;
            let step = step / g.sqrt().max(1.0) / (example.rows.len() as f32).sqrt() * 2.0;
            let w = &mut weights[*row as usize * LANES..][..LANES];
            for (a, b) in w.iter_mut().zip(&p) {
                *a -= step * b;
            }
        }
    }
    weights
}

/// Keeps the entries that matter most: squared distance from the row's usual weight, by how often the row is met.
///
/// Adding a constant to a row changes no decision, so the median is taken off.
pub fn keep(weights: &[f32], rows: &Rows, most: usize) -> Sparse {
    let n = rows.languages;
    let mut shifted = weights.to_vec();
    let mut values = Vec::with_capacity(rows.rate.len() * n);
    for (row, w) in shifted.chunks_mut(LANES).enumerate() {
        let mut sorted: Vec<f32> = w[..n].to_vec();
        sorted.sort_unstable_by(f32::total_cmp);
        let usual = sorted[n / 2];
        for v in &mut w[..n] {
            *v -= usual;
            values.push(*v * *v * rows.rate[row]);
        }
    }
    let least = if values.len() > most {
        let mut copy = values.clone();
        let at = copy.len() - most;
        *copy.select_nth_unstable_by(at, f32::total_cmp).1
    } else {
        0.0
    };
    let mut out = Sparse { from: vec![0], entries: Vec::new() };
    for (row, w) in shifted.chunks(LANES).enumerate() {
        for l in 0..n {
            if values[row * n + l] > least {
                out.entries.push(Entry { language: l as u8, weight: w[l] });
            }
        }
        out.from.push(out.entries.len() as u32);
    }
    out
}

/// Goes on with the kept weights only.
pub fn sparse(chains: &[Chain], rows: &Rows, kept: &mut Sparse, examples: usize, seed: u64) {
    let n = chains.len();
    let mut seen = vec![1.0f32; rows.rate.len()];
    let mut make = maker(chains, rows, seed);
    let mut example = Example { language: 0, rows: Vec::new() };
    let mut progress = Progress { right: 0, loss: 0.0, seen: 0 };
    for at in 0..examples {
        make.fill(&mut example);
        let mut p = [0f32; 64];
        for row in &example.rows {
            let row = *row as usize;
            for e in &kept.entries[kept.from[row] as usize..kept.from[row + 1] as usize] {
                p[e.language as usize & 63] += e.weight;
            }
        }
        softmax(&mut p[..n]);
        progress.note(&p[..n], example.language, examples / 10);
        p[example.language] -= 1.0;
        let size: f32 = p[..n].iter().map(|g| g * g).sum();
        if size < 1e-4 {
            continue;
        }
        let step = STEP * 0.6 * (1.0 - at as f32 / examples as f32);
        for row in &example.rows {
            let row = *row as usize;
            seen[row] += size;
            let step = step / seen[row].sqrt() / (example.rows.len() as f32).sqrt() * 2.0;
            for e in &mut kept.entries[kept.from[row] as usize..kept.from[row + 1] as usize] {
                e.weight -= step * p[e.language as usize & 63];
            }
        }
    }
}
