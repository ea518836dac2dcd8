//! The way of texts through an encoder, all their tokens one behind the other.

use super::attention::Room;
use super::lines::PANEL;
use super::weights::{HEADS, Head, INNER, Layer, WIDTH, Weights};
use super::work::{OneHead, Work};
use std::ops::Range;

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
///
/// # Safety
/// The processor has the instructions of `W`.
pub(super) unsafe fn forward<W: Work>(
    weights: &Weights,
    texts: &[Input<'_>],
    scratch: &mut Scratch,
) -> Vec<Vec<f32>> {
    let mut places = Vec::with_capacity(texts.len());
    let mut tokens = 0;
    for text in texts {
        places.push(tokens..tokens + text.ids.len());
        tokens += text.ids.len();
    }
    scratch.fit(tokens);
    embed(weights, texts, scratch);
    // SAFETY: by the promise of the caller, here and below.
    unsafe { W::normalise(&mut scratch.numbers, &weights.embedded) };
    let (last, layers) = match (&weights.head, weights.layers.split_last()) {
        (Some(_), Some((last, layers))) => (Some(last), layers),
        _ => (None, &weights.layers[..]),
    };
    for layer in layers {
        // SAFETY: as above.
        unsafe { whole_layer::<W>(layer, &places, &places, scratch) };
    }
    let Some((layer, head)) = last.zip(weights.head.as_ref()) else {
        return places
            .into_iter()
            .map(|place| scratch.numbers[place.start * WIDTH..place.end * WIDTH].to_vec())
            .collect();
    };
    // Of the last layer only the first token of each text is read.
    let firsts: Vec<Range<usize>> = places.iter().map(|place| place.start..place.start + 1).collect();
    // SAFETY: as above.
    unsafe { whole_layer::<W>(layer, &places, &firsts, scratch) };
    scratch.numbers.as_chunks::<WIDTH>().0.iter().map(|first| logits(head, first)).collect()
}

/// The sums of word, kind and place of each token.
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
        }
    }
}

/// One layer, of the tokens that ask alone: these lie one behind the other then.
///
/// # Safety
/// The processor has the instructions of `W`.
unsafe fn whole_layer<W: Work>(
    layer: &Layer,
    places: &[Range<usize>],
    asking: &[Range<usize>],
    scratch: &mut Scratch,
) {
    // SAFETY: by the promise of the caller.
    unsafe {
        W::to_bytes(&scratch.numbers, &layer.input, &mut scratch.bytes);
        first_half::<W>(layer, places, asking, scratch);
        second_half::<W>(layer, scratch);
    }
}

/// From the bytes of all tokens to the numbers after attention.
///
/// # Safety
/// As for [`whole_layer`].
unsafe fn first_half<W: Work>(
    layer: &Layer,
    places: &[Range<usize>],
    asking: &[Range<usize>],
    scratch: &mut Scratch,
) {
    let Scratch { room, numbers, bytes, queries, keys, values, .. } = scratch;
    let tokens = numbers.len() / WIDTH;
    let count: usize = asking.iter().map(ExactSizeIterator::len).sum();
    // SAFETY: by the promise of the caller, here and below.
    unsafe {
        W::by_head(bytes, &layer.heads, HEADS..2 * HEADS, keys);
        W::by_head(bytes, &layer.heads, 2 * HEADS..3 * HEADS, values);
    }
    if count < tokens {
        for (to, from) in asking.iter().flat_map(Clone::clone).enumerate() {
            bytes.copy_within(from * WIDTH..(from + 1) * WIDTH, to * WIDTH);
            numbers.copy_within(from * WIDTH..(from + 1) * WIDTH, to * WIDTH);
        }
        bytes.truncate(count * WIDTH);
        numbers.truncate(count * WIDTH);
    }
    // SAFETY: as above.
    unsafe { W::by_head(bytes, &layer.heads, 0..HEADS, queries) };
    for head in 0..HEADS {
        let mut first = 0;
        for (place, asks) in places.iter().zip(asking) {
            let part = |from: usize, count: usize| from * PANEL..(from + count) * PANEL;
            let all = part(head * tokens + place.start, place.len());
            let one = OneHead {
                queries: &queries[part(head * count + first, asks.len())],
                keys: &keys[all.clone()],
                values: &values[all],
                factors: &layer.mixed.factor[head * PANEL..][..PANEL],
                zero: layer.mixed.zero,
            };
            // SAFETY: as above.
            unsafe { W::attend(one, room, &mut bytes[first * WIDTH + head * PANEL..]) };
            first += asks.len();
        }
    }
    // SAFETY: as above.
    unsafe {
        W::add::<WIDTH>(bytes, &layer.output, numbers);
        W::normalise(numbers, &layer.after_attention);
    }
}

/// From the numbers after attention to those after the layer.
///
/// # Safety
/// As for [`whole_layer`].
unsafe fn second_half<W: Work>(layer: &Layer, scratch: &mut Scratch) {
    let Scratch { numbers, bytes, wide, .. } = scratch;
    wide.truncate(numbers.len() / WIDTH * INNER);
    // SAFETY: by the promise of the caller.
    unsafe {
        W::to_bytes(numbers, &layer.narrow, bytes);
        W::activate(bytes, &layer.widen, &layer.wide, wide);
        W::add::<INNER>(wide, &layer.narrowing, numbers);
        W::normalise(numbers, &layer.after);
    }
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
