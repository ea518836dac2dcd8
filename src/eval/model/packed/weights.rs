//! The parts of an encoder, from the tensors of its file.

use super::lines::Linear;
use super::tensors::Tensors;
use bytes::Bytes;

/// Numbers of a token.
pub(super) const WIDTH: usize = 384;
/// Numbers of a token inside a layer's second half.
pub(super) const INNER: usize = 1536;
/// Heads of the attention, each of [`super::lines::PANEL`] numbers.
pub(super) const HEADS: usize = 12;

/// How numbers become bytes: times `factor`, and `zero` added.
pub(super) struct Steps {
    pub factor: Vec<f32>,
    pub zero: i32,
}

/// A normalisation over the numbers of a token.
pub(super) struct Norm {
    pub weight: Vec<f32>,
    pub bias: Vec<f32>,
}

/// One layer.
pub(super) struct Layer {
    pub input: Steps,
    /// Queries, which are scaled, then keys, then values, head by head.
    pub heads: Linear,
    pub mixed: Steps,
    pub output: Linear,
    pub after_attention: Norm,
    pub narrow: Steps,
    pub widen: Linear,
    pub wide: Steps,
    pub narrowing: Linear,
    pub after: Norm,
}

impl Layer {
    /// Whether all weights are as small as [`Linear::is_seven_bits`] tells.
    pub(super) fn is_seven_bits(&self) -> bool {
        [&self.heads, &self.output, &self.widen, &self.narrowing].into_iter().all(Linear::is_seven_bits)
    }
}

/// What becomes of the first token: a layer with tanh, and a linear one.
pub(super) struct Head {
    pub pooler: Vec<f32>,
    pub pooler_bias: Vec<f32>,
    pub weight: Vec<f32>,
    pub bias: Vec<f32>,
}

/// All weights.
pub(super) struct Weights {
    pub words: Bytes,
    pub word_scales: Vec<f32>,
    pub types: Vec<f32>,
    pub places: Vec<f32>,
    pub embedded: Norm,
    pub layers: Vec<Layer>,
    /// None of a network that gives all tokens.
    pub head: Option<Head>,
}

impl Weights {
    /// None where the file is no encoder of this shape.
    pub(super) fn new(tensors: &Tensors) -> Option<Self> {
        let mut layers = Vec::new();
        while let Some(layer) = layer(tensors, layers.len()) {
            layers.push(layer);
        }
        let words = tensors.bytes("words")?.clone();
        let has_more = tensors.floats(&format!("encoder.layer.{}.output.dense.bias", layers.len())).is_some();
        let weights = Self {
            words,
            word_scales: tensors.floats("word_scales")?,
            types: tensors.floats("types")?,
            places: tensors.floats("places")?,
            embedded: norm(tensors, "embeddings.LayerNorm")?,
            layers,
            head: head(tensors),
        };
        let fits = weights.words.len() == weights.word_scales.len() * WIDTH
            && weights.types.len() == 2 * WIDTH
            && weights.places.len().is_multiple_of(WIDTH)
            && weights.head.is_some() == tensors.floats("pooler.weight").is_some();
        (fits && !has_more && !weights.layers.is_empty()).then_some(weights)
    }

    /// Tokens of a text at most.
    pub(super) fn longest(&self) -> usize {
        self.places.len() / WIDTH
    }
}

fn layer(tensors: &Tensors, at: usize) -> Option<Layer> {
    let name = |part: &str| format!("encoder.layer.{at}.{part}");
    let input = steps(tensors, &name("attention.self.query"), WIDTH)?;
    let mixed = steps(tensors, &name("attention.output.dense"), WIDTH)?;
    let narrow = steps(tensors, &name("intermediate.dense"), WIDTH)?;
    let wide = steps(tensors, &name("output.dense"), INNER)?;
    Some(Layer {
        heads: heads(tensors, at, &input)?,
        output: linear(tensors, &name("attention.output.dense"), &mixed, [WIDTH, WIDTH])?,
        after_attention: norm(tensors, &name("attention.output.LayerNorm"))?,
        widen: linear(tensors, &name("intermediate.dense"), &narrow, [WIDTH, INNER])?,
        narrowing: linear(tensors, &name("output.dense"), &wide, [INNER, WIDTH])?,
        after: norm(tensors, &name("output.LayerNorm"))?,
        input,
        mixed,
        narrow,
        wide,
    })
}

/// Queries, keys and values read the same bytes, so they are one product.
fn heads(tensors: &Tensors, at: usize, input: &Steps) -> Option<Linear> {
    let scaling = *tensors.floats("attention_scale")?.first()?;
    let (mut parts, mut scale, mut bias) = (Vec::new(), Vec::new(), Vec::new());
    for (part, by) in [("query", scaling), ("key", 1.0), ("value", 1.0)] {
        let name = format!("encoder.layer.{at}.attention.self.{part}");
        parts.push(tensors.bytes(&format!("{name}.weight")).filter(|bytes| bytes.len() == WIDTH * WIDTH)?);
        scale.extend(tensors.floats(&format!("{name}.total_scale"))?.into_iter().map(|value| value * by));
        bias.extend(tensors.floats(&format!("{name}.bias"))?.into_iter().map(|value| value * by));
    }
    let row = |row: usize| parts.iter().flat_map(move |part| &part[row * WIDTH..(row + 1) * WIDTH]);
    let weights: Vec<i8> = (0..WIDTH).flat_map(row).map(|byte| byte.cast_signed()).collect();
    if scale.len() != 3 * WIDTH {
        return None;
    }
    Linear::new(&weights, &scale, &bias, u8::try_from(input.zero).ok()?)
}

fn linear(tensors: &Tensors, name: &str, input: &Steps, [rows, columns]: [usize; 2]) -> Option<Linear> {
    let bytes = tensors.bytes(&format!("{name}.weight")).filter(|bytes| bytes.len() == rows * columns)?;
    let weights: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
    let scale = tensors.floats(&format!("{name}.total_scale")).filter(|scale| scale.len() == columns)?;
    Linear::new(&weights, &scale, &tensors.floats(&format!("{name}.bias"))?, u8::try_from(input.zero).ok()?)
}

/// A layer's input is divided by a factor a number before its step, or not.
fn steps(tensors: &Tensors, name: &str, width: usize) -> Option<Steps> {
    let step = *tensors.floats(&format!("{name}.step"))?.first()?;
    let zero = i32::from(*tensors.bytes(&format!("{name}.zero"))?.first()?);
    let inverse = tensors.floats(&format!("{name}.inverse")).unwrap_or_else(|| vec![1.0; width]);
    let factor: Vec<f32> = inverse.into_iter().map(|value| value / step).collect();
    (factor.len() == width && factor.iter().all(|value| value.is_finite())).then_some(Steps { factor, zero })
}

fn norm(tensors: &Tensors, name: &str) -> Option<Norm> {
    let part = |part: &str| tensors.floats(&format!("{name}.{part}")).filter(|values| values.len() == WIDTH);
    Some(Norm { weight: part("weight")?, bias: part("bias")? })
}

fn head(tensors: &Tensors) -> Option<Head> {
    let head = Head {
        pooler: tensors.floats("pooler.weight")?,
        pooler_bias: tensors.floats("pooler.bias")?,
        weight: tensors.floats("head.weight")?,
        bias: tensors.floats("head.bias")?,
    };
    let pooled = head.pooler_bias.len();
    (head.pooler.len() == WIDTH * pooled && head.weight.len() == pooled * head.bias.len()).then_some(head)
}
