//! Words as the statistics make them: each letter after the four before it.

use crate::counts::{BITS, EDGE, Group, Map, push};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 32) * n as u64 >> 32) as usize
    }
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// What follows each context of up to four symbols, in one language.
pub struct Chain {
    ranges: Map<(u32, u32)>,
    next: Vec<(u16, u32)>,
}

const CONTEXT: u64 = (1 << (BITS * 4)) - 1;

impl Chain {
    /// Contexts of four symbols, and shorter ones that begin with a word's edge.
    pub fn new(counts: &Map<u32>) -> Self {
        let mut sorted: Vec<(u64, u32)> = counts
            .iter()
            .map(|(k, n)| (*k, *n))
            .filter(|(k, n)| {
                let len = (64 - k.leading_zeros()).div_ceil(BITS);
                let first = k >> (BITS * (len - 1));
                *n > 0 && len > 1 && (len == 5 || first == EDGE)
            })
            .collect();
        sorted.sort_unstable();
        let (mut ranges, mut next) = (Map::default(), Vec::new());
        for chunk in sorted.chunk_by(|a, b| a.0 >> BITS == b.0 >> BITS) {
            let from = next.len() as u32;
            let mut sum = 0u32;
            for (key, n) in chunk {
                sum += n;
                next.push(((key & ((1 << BITS) - 1)) as u16, sum));
            }
            ranges.insert(chunk[0].0 >> BITS, (from, next.len() as u32));
        }
        Self { ranges, next }
    }

    /// One word as symbols, without its edges. Empty in the rare case that a context ends nowhere.
    pub fn word(&self, random: &mut Random, out: &mut Vec<u64>) {
        out.clear();
        let mut context = EDGE;
        while out.len() < 40 {
            let Some((from, to)) = self.ranges.get(&context) else { return out.clear() };
            let options = &self.next[*from as usize..*to as usize];
            let total = options[options.len() - 1].1;
            let drawn = ((random.next() >> 32) * u64::from(total) >> 32) as u32;
            let symbol = u64::from(options[options.partition_point(|(_, sum)| *sum <= drawn)].0);
            if symbol == EDGE {
                return;
            }
            out.push(symbol);
            context = push(context, symbol) & CONTEXT;
        }
    }
}

pub fn chains(group: &Group) -> Vec<Chain> {
    group.counts.iter().map(Chain::new).collect()
}
