//! Random numbers with a seed, in the forms that the benchmarks need.

use groundline::stats::seeded::Seeded;

/// Random numbers that repeat with the seed.
pub struct Random(Seeded);

impl Random {
    /// A generator that `seed` determines.
    pub fn new(seed: u64) -> Self {
        Self(Seeded::new(seed))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number from 0 to `below`, without it.
    pub fn below(&mut self, below: u64) -> u64 {
        self.bits() % below.max(1)
    }

    /// An index into something of `length` items.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// A number from 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// True with probability `share`.
    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// An index below `length` where small ones are frequent, as with words: rank r has a share of about 1/r.
    pub fn ranked(&mut self, length: usize) -> usize {
        let rank = (self.unit() * (length as f64).ln()).exp();
        (rank as usize).min(length).saturating_sub(1)
    }

    /// Nanoseconds with a long tail about `median`.
    pub fn duration(&mut self, median: u64) -> u64 {
        let around = (self.unit() + self.unit() + self.unit() - 1.5) * 2.0;
        (median as f64 * around.exp()) as u64 + 1_000
    }

    /// The bytes of an id.
    pub fn id<const N: usize>(&mut self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(N);
        while bytes.len() < N {
            bytes.extend_from_slice(&self.bits().to_be_bytes());
        }
        bytes.truncate(N);
        bytes
    }
}
