//! Numbers that follow from a seed and a text alone.

use sha2::{Digest, Sha256};

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(super) struct Random(u64);

impl Random {
    /// The stream of these words.
    pub fn of(words: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for word in words {
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word);
        }
        let bytes = hash.finalize();
        Self(bytes.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`, which is above 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The high half of the product: even enough for texts.
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// `count` different numbers below `n`, in rising order; all of them where `count` is not less.
    pub fn some(&mut self, count: usize, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        let count = count.min(n);
        for at in 0..count {
            let other = at + self.below(n - at);
            all.swap(at, other);
        }
        all.truncate(count);
        all.sort_unstable();
        all
    }
}
