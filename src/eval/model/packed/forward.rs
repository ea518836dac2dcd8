//! The way of texts through an encoder, all their tokens one behind the other.

use super::attention::{Room, attend};
use super::lines::PANEL;
use super::multiply::multiply;
use super::vector::{LANES, gelu, load, store, store_bytes, sum};
use super::weights::{HEADS, Head, INNER, Layer, Norm, Steps, WIDTH, Weights};
use std::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_fmadd_ps, _mm512_mul_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_sub_ps,
};
use std::ops::Range;

/// Vectors of a token.
const PARTS: usize = WIDTH / LANES;

/// As the models were trained.
const EPSILON: f32 = 1e-12;

/// One or two texts as ids, and where the second begins.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    /// The ids with their special tokens, at least one.
    pub ids: &'a [i32],
    /// The length of `ids` if there is one text.
    pub second: usize,
}

/// Memory of one run, kept for the next.
#[derive(Default)]
pub struct Scratch {
    room: Room,
    /// By token: its numbers, and the bytes that the next product reads.
    numbers: Vec<f32>,
    bytes: Vec<u8>,
    wide: Vec<u8>,
    /// By head, then by token.
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
}

impl Scratch {
    fn fit(&mut self, tokens: usize) {
        for list in [&mut self.numbers, &mut self.queries, &mut self.keys, &mut self.values] {
            list.resize(tokens * WIDTH, 0.0);
        }
        self.bytes.resize(tokens * WIDTH, 0);
        self.wide.resize(tokens * INNER, 0);
    }
}

/// What the network gives of each text: logits, or the numbers of each token. Ids that are not in the table count as the first.
#[target_feature(enable = "avx512f,avx512vnni")]
pub(super) fn forward(weights: &Weights, texts: &[Input<'_>], scratch: &mut Scratch) -> Vec<Vec<f32>> {
    let mut places = Vec::with_capacity(texts.len());
    let mut tokens = 0;
    for text in texts {
        places.push(tokens..tokens + text.ids.len());
        tokens += text.ids.len();
    }
    scratch.fit(tokens);
    embed(weights, texts, scratch);
    let (last, layers) = match (&weights.head, weights.layers.split_last()) {
        (Some(_), Some((last, layers))) => (Some(last), layers),
        _ => (None, &weights.layers[..]),
    };
    for layer in layers {
        to_bytes(&scratch.numbers, &layer.input, &mut scratch.bytes);
        attention(layer, &places, &places, scratch);
        second_half(layer, scratch);
    }
    let Some((layer, head)) = last.zip(weights.head.as_ref()) else {
        return places
            .into_iter()
            .map(|place| scratch.numbers[place.start * WIDTH..place.end * WIDTH].to_vec())
            .collect();
    };
    // Of the last layer only the first token of each text is read.
    to_bytes(&scratch.numbers, &layer.input, &mut scratch.bytes);
    let firsts: Vec<Range<usize>> = places.iter().map(|place| place.start..place.start + 1).collect();
    attention(layer, &places, &firsts, scratch);
    second_half(layer, scratch);
    scratch.numbers.as_chunks::<WIDTH>().0.iter().map(|first| logits(head, first)).collect()
}

#[target_feature(enable = "avx512f")]
#[inline]
fn embed(weights: &Weights, texts: &[Input<'_>], scratch: &mut Scratch) {
    let mut rows = scratch.numbers.as_chunks_mut::<WIDTH>().0.iter_mut();
    for text in texts {
        for (at, id) in text.ids.iter().enumerate() {
            let Some(row) = rows.next() else { return };
            let id = usize::try_from(*id).ok().filter(|id| *id < weights.word_scales.len()).unwrap_or(0);
            let word = &weights.words[id * WIDTH..(id + 1) * WIDTH];
            let kind = &weights.types[usize::from(at >= text.second) * WIDTH..][..WIDTH];
            let place = &weights.places[at * WIDTH..(at + 1) * WIDTH];
            let scale = weights.word_scales[id];
            for (number, ((word, kind), place)) in row.iter_mut().zip(word.iter().zip(kind).zip(place)) {
                *number = f32::from(word.cast_signed()) * scale + kind + place;
            }
            normalise(row, &weights.embedded);
        }
    }
}

/// Brings the numbers of a token to mean 0 and variance 1, then to the norm's own.
#[target_feature(enable = "avx512f")]
#[inline]
fn normalise(row: &mut [f32; WIDTH], norm: &Norm) {
    let parts = row.as_chunks_mut::<LANES>().0;
    let mut values = [_mm512_setzero_ps(); PARTS];
    for (value, part) in values.iter_mut().zip(parts.iter()) {
        *value = load(part);
    }
    let mean = _mm512_set1_ps(sum(&values) / WIDTH as f32);
    let mut squares = _mm512_setzero_ps();
    for value in &mut values {
        *value = _mm512_sub_ps(*value, mean);
        squares = _mm512_fmadd_ps(*value, *value, squares);
    }
    let variance = sum(&[squares]) / WIDTH as f32;
    let by = _mm512_set1_ps(1.0 / (variance + EPSILON).sqrt());
    let (weights, biases) = (norm.weight.as_chunks::<LANES>().0, norm.bias.as_chunks::<LANES>().0);
    for (at, part) in parts.iter_mut().enumerate() {
        store(part, _mm512_fmadd_ps(_mm512_mul_ps(values[at], by), load(&weights[at]), load(&biases[at])));
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn to_bytes(numbers: &[f32], steps: &Steps, bytes: &mut [u8]) {
    let factors = steps.factor.as_chunks::<LANES>().0;
    for (numbers, bytes) in numbers.as_chunks::<WIDTH>().0.iter().zip(bytes.as_chunks_mut::<WIDTH>().0) {
        let parts = numbers.as_chunks::<LANES>().0.iter().zip(bytes.as_chunks_mut::<LANES>().0);
        for ((numbers, bytes), factor) in parts.zip(factors) {
            store_bytes(bytes, load(numbers), load(factor), steps.zero);
        }
    }
}

/// From the bytes of all tokens to the numbers after the first half of a layer, of the tokens that ask alone; these lie one
/// behind the other then.
#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
fn attention(layer: &Layer, places: &[Range<usize>], asking: &[Range<usize>], scratch: &mut Scratch) {
    let Scratch { room, numbers, bytes, queries, keys, values, .. } = scratch;
    let tokens = numbers.len() / WIDTH;
    let count: usize = asking.iter().map(ExactSizeIterator::len).sum();
    multiply::<WIDTH>(bytes, &layer.heads, HEADS..3 * HEADS, |row, panel, found| {
        let to = if panel < 2 * HEADS { &mut *keys } else { &mut *values };
        put(to, (panel % HEADS) * tokens + row, found);
    });
    if count < tokens {
        for (to, from) in asking.iter().flat_map(Clone::clone).enumerate() {
            bytes.copy_within(from * WIDTH..(from + 1) * WIDTH, to * WIDTH);
            numbers.copy_within(from * WIDTH..(from + 1) * WIDTH, to * WIDTH);
        }
        bytes.truncate(count * WIDTH);
        numbers.truncate(count * WIDTH);
    }
    multiply::<WIDTH>(bytes, &layer.heads, 0..HEADS, |row, panel, found| {
        put(queries, panel * count + row, found)
    });
    let factors = layer.mixed.factor.as_chunks::<LANES>().0;
    for head in 0..HEADS {
        let mut first = 0;
        for (place, asks) in places.iter().zip(asking) {
            let part = |from: usize, count: usize| from * PANEL..(from + count) * PANEL;
            let all = part(head * tokens + place.start, place.len());
            let asked = part(head * count + first, asks.len());
            attend(&queries[asked], &keys[all.clone()], &values[all], room, |row, mixed| {
                let to = &mut bytes[(first + row) * WIDTH + head * PANEL..][..PANEL];
                let factors = &factors[head * 2..];
                for ((to, mixed), factor) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(mixed).zip(factors)
                {
                    store_bytes(to, mixed, load(factor), layer.mixed.zero);
                }
            });
            first += asks.len();
        }
    }
    multiply::<WIDTH>(bytes, &layer.output, 0..layer.output.panels(), |row, panel, found| {
        add(numbers, row, panel, found)
    });
    for row in numbers.as_chunks_mut::<WIDTH>().0 {
        normalise(row, &layer.after_attention);
    }
}

#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
fn second_half(layer: &Layer, scratch: &mut Scratch) {
    let Scratch { numbers, bytes, wide, .. } = scratch;
    to_bytes(numbers, &layer.narrow, bytes);
    wide.truncate(numbers.len() / WIDTH * INNER);
    let factors = layer.wide.factor.as_chunks::<LANES>().0;
    multiply::<WIDTH>(bytes, &layer.widen, 0..layer.widen.panels(), |row, panel, found| {
        let to = &mut wide[row * INNER + panel * PANEL..][..PANEL];
        for ((to, found), factor) in
            to.as_chunks_mut::<LANES>().0.iter_mut().zip(found).zip(&factors[panel * 2..])
        {
            store_bytes(to, gelu(found), load(factor), layer.wide.zero);
        }
    });
    multiply::<INNER>(wide, &layer.narrowing, 0..layer.narrowing.panels(), |row, panel, found| {
        add(numbers, row, panel, found)
    });
    for row in numbers.as_chunks_mut::<WIDTH>().0 {
        normalise(row, &layer.after);
    }
}

/// Puts a head's numbers of a token into their place.
#[target_feature(enable = "avx512f")]
#[inline]
fn put(to: &mut [f32], at: usize, found: [__m512; 2]) {
    let to = to[at * PANEL..][..PANEL].as_chunks_mut::<LANES>().0;
    to.iter_mut().zip(found).for_each(|(to, found)| store(to, found));
}

#[target_feature(enable = "avx512f")]
#[inline]
fn add(numbers: &mut [f32], row: usize, panel: usize, found: [__m512; 2]) {
    let to = numbers[row * WIDTH + panel * PANEL..][..PANEL].as_chunks_mut::<LANES>().0;
    to.iter_mut().zip(found).for_each(|(to, found)| store(to, _mm512_add_ps(load(to), found)));
}

fn logits(head: &Head, first: &[f32; WIDTH]) -> Vec<f32> {
    let pooled: Vec<f32> =
        linear(first, &head.pooler, &head.pooler_bias).into_iter().map(f32::tanh).collect();
    linear(&pooled, &head.weight, &head.bias)
}

fn linear(input: &[f32], weights: &[f32], bias: &[f32]) -> Vec<f32> {
    let mut sums = bias.to_vec();
    for (value, row) in input.iter().zip(weights.chunks_exact(bias.len())) {
        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
    }
    sums
}
