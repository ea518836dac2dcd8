//! A causal language model of the user: how unexpected is each token of a text?

use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rten::{Model, NodeId, RunOptions, ValueOrView};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView, Tensor};

use super::byte_pairs::BytePairs;
use super::error::ModelError;
use super::network::{Lanes, counted, options};

const NAME: &str = "perplexity";

/// What lies behind this many tokens of a text is not read.
pub const MAX_CAUSAL_TOKENS: usize = 2_048;

/// Exports round the vocabulary up, to at most this much more than the tokenizer has.
const MAX_PADDING: usize = 1_024;

/// The least expected passage has at most this many tokens.
const PASSAGE: usize = 12;

/// Where a model is, and how much of a text it reads at a time.
#[derive(Debug, Clone, Copy)]
pub struct CausalFiles<'a> {
    /// The network: `input_ids` to `logits`.
    pub model: &'a Path,
    /// The tokenizer: byte-level BPE.
    pub tokenizer: &'a Path,
    /// The tokens that the network reads at once, two or more.
    pub window: usize,
    /// How far the window moves, tokens; below `window`.
    pub stride: usize,
}

/// A causal language model with its tokenizer.
pub struct CausalModel {
    model: Model,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
    tokenizer: BytePairs,
    window: usize,
    stride: usize,
    lanes: Lanes,
    version: String,
}

/// How expected a text is.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The tokens that were read; the first has no context, so its cross-entropy is not known.
    pub tokens: usize,
    /// Whether text was left out behind [`MAX_CAUSAL_TOKENS`].
    pub is_cut: bool,
    /// The mean of the tokens' cross-entropies, nats; none for fewer than two tokens.
    pub mean: Option<f64>,
    /// The passage of up to a dozen tokens with the highest mean, and that mean.
    pub worst: Option<(String, f64)>,
}

#[derive(Debug, Clone, Copy)]
enum Input {
    Ids,
    Mask,
    Positions,
}

/// A run of the network: what it reads, and the tokens whose cross-entropies are taken from it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stride {
    read: Range<usize>,
    counted: Range<usize>,
}

impl CausalModel {
    /// Opens both files and runs the network once, so that files that do not fit each other are found now.
    ///
    /// # Errors
    /// When a file is not there, is damaged, or is nothing that this program runs.
    pub(super) fn open(files: &CausalFiles<'_>, lanes: Lanes) -> Result<Self, ModelError> {
        let wrong = |key: &str, path: &Path, reason: &str| {
            ModelError::open(NAME, format!("eval.perplexity.{key}: {}: {reason}", path.display()))
        };
        let of_model = |reason: &str| wrong("model", files.model, reason);
        let of_tokenizer = |reason: &str| wrong("tokenizer", files.tokenizer, reason);
        let tokenizer = BytePairs::open(files.tokenizer).map_err(|e| of_tokenizer(&e))?;
        let unread = |e: std::io::Error| format!("cannot be read: {e}");
        let sums = (
            checksum(files.model).map_err(|e| of_model(&unread(e)))?,
            checksum(files.tokenizer).map_err(|e| of_tokenizer(&unread(e)))?,
        );
        let version = format!("{:08x}-{:08x}-w{}-s{}", sums.0, sums.1, files.window, files.stride);
        let model = options().load_file(files.model).map_err(|e| of_model(&e.to_string()))?;
        let inputs = inputs(&model).map_err(|e| of_model(&e))?;
        let output = model.node_id("logits").map_err(|_| of_model("has no output logits"))?;
        let (window, stride) = (files.window, files.stride);
        let opened = Self { model, inputs, output, tokenizer, window, stride, lanes, version };
        opened.try_out().map_err(|e| of_model(&e))?;
        Ok(opened)
    }

    /// Changes with the files, the window and the stride.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Reads a text, up to [`MAX_CAUSAL_TOKENS`]. Blocks while the network runs.
    ///
    /// Each token but the first is counted once. The first window counts all of its tokens, each later one those that
    /// are new to it, which have `window - stride` tokens or more before them (Hugging Face, "Perplexity of
    /// fixed-length models").
    ///
    /// # Errors
    /// When the network fails; then nothing is given.
    pub fn read(&self, text: &str) -> Result<Reading, ModelError> {
        let failed = |reason: String| ModelError::inference(NAME, reason);
        let tokens = self.tokenizer.encode(text, MAX_CAUSAL_TOKENS).map_err(failed)?;
        let ids: Vec<i32> = tokens.ids.iter().map(|id| id.cast_signed()).collect();
        let mut losses = Vec::with_capacity(ids.len());
        for window in windows(ids.len(), self.window, self.stride) {
            self.add_losses(&ids, &window, &mut losses).map_err(failed)?;
        }
        let mean = (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64);
        let worst = worst(&losses).map(|(first, mean)| {
            // The loss at 0 is that of the token at 1.
            let (first, end) = (first + 1, first + 1 + PASSAGE.min(losses.len()));
            let after = tokens.places.iter().skip(end).find(|place| **place > tokens.places[end - 1]);
            let text = tokens.text.get(tokens.places[first]..after.copied().unwrap_or(tokens.text.len()));
            (text.unwrap_or_default().to_owned(), mean)
        });
        Ok(Reading { tokens: ids.len(), is_cut: tokens.is_cut, mean, worst })
    }

    /// The cross-entropies of the tokens that a window counts, nats.
    fn add_losses(&self, ids: &[i32], window: &Stride, losses: &mut Vec<f64>) -> Result<(), String> {
        let part = &ids[window.read.clone()];
        let logits = self.logits(part, 0)?;
        let logits: NdTensorView<f32, 3> = logits.nd_view();
        for at in window.counted.clone() {
            let row = at - 1 - window.read.start;
            let row = logits.slice((0, row)).to_contiguous();
            let loss = cross_entropy(row.data(), usize::try_from(ids[at]).unwrap_or(usize::MAX));
            losses
                .push(loss.ok_or("the logits are not finite, or not as many as the vocabulary has tokens")?);
        }
        Ok(())
    }

    /// The logits of each token, shape (1, tokens, vocabulary), on one thread of the lanes.
    fn logits(&self, ids: &[i32], first_position: usize) -> Result<Tensor<f32>, String> {
        let of = |input: Input| {
            NdTensor::<i32, 2>::from_fn([1, ids.len()], |[_, at]| match input {
                Input::Ids => ids[at],
                Input::Mask => 1,
                Input::Positions => i32::try_from(first_position + at).unwrap_or(i32::MAX),
            })
        };
        let inputs: Vec<(NodeId, ValueOrView<'_>)> =
            self.inputs.iter().map(|(node, input)| (*node, of(*input).into())).collect();
        let lane = self.lanes.borrow();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&lane.threads)));
        let output = counted(&lane.threads, || self.model.run_n(inputs, [self.output], Some(options)));
        drop(lane);
        let [output] = output.map_err(|e| e.to_string())?;
        let output: Tensor<f32> =
            output.try_into().map_err(|_| "logits are no numbers of 32 bits".to_owned())?;
        match output.shape() {
            [1, tokens, _] if *tokens == ids.len() => Ok(output),
            shape => Err(format!(
                "logits have the shape {shape:?}, must be (batch, sequence, vocabulary), here (1, {}, …)",
                ids.len()
            )),
        }
    }

    /// Two tokens at the end of the window, where learned positions would be exceeded.
    fn try_out(&self) -> Result<(), String> {
        let hint =
            || format!("does not run two tokens at the end of eval.perplexity.window = {}", self.window);
        let logits = self.logits(&[0, 0], self.window - 2).map_err(|e| format!("{}: {e}", hint()))?;
        let (found, wanted) = (logits.size(2), self.tokenizer.size());
        if found < wanted || found > wanted + MAX_PADDING {
            return Err(format!(
                "gives logits of {found} tokens and eval.perplexity.tokenizer has {wanted}: they are not of one model"
            ));
        }
        Ok(())
    }
}

/// The inputs of the graph, each by what it is given.
fn inputs(model: &Model) -> Result<Vec<(NodeId, Input)>, String> {
    let mut inputs = Vec::new();
    for node in model.input_ids() {
        let name = model.node_info(*node).and_then(|info| info.name()).unwrap_or_default();
        let input = match name {
            "input_ids" => Input::Ids,
            "attention_mask" => Input::Mask,
            "position_ids" => Input::Positions,
            _ if name.starts_with("past") || name == "use_cache_branch" => {
                return Err(format!(
                    "wants a cache ({name}): export the model without one (Optimum: --task text-generation, not \
                     text-generation-with-past)"
                ));
            }
            _ => {
                return Err(format!(
                    "has an input {name:?}; a causal model has input_ids, and perhaps attention_mask and position_ids"
                ));
            }
        };
        inputs.push((*node, input));
    }
    if inputs.iter().any(|(_, input)| matches!(input, Input::Ids)) {
        Ok(inputs)
    } else {
        Err("has no input input_ids".to_owned())
    }
}

/// Windows over a text of so many tokens; `stride` lies below `window`.
fn windows(tokens: usize, window: usize, stride: usize) -> Vec<Stride> {
    let (mut found, mut begin, mut counted) = (Vec::new(), 0, 1);
    while counted < tokens {
        let end = (begin + window).min(tokens);
        found.push(Stride { read: begin..end, counted: counted..end });
        (begin, counted) = (begin + stride, end);
    }
    found
}

/// -ln of the softmax of the logits at `target`.
fn cross_entropy(logits: &[f32], target: usize) -> Option<f64> {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from((logit - highest).exp())).sum();
    let loss = sum.ln() + f64::from(highest) - f64::from(*logits.get(target)?);
    loss.is_finite().then_some(loss)
}

/// Where the passage with the highest mean begins, and the mean.
fn worst(losses: &[f64]) -> Option<(usize, f64)> {
    let length = PASSAGE.min(losses.len()).max(1);
    let means = losses.windows(length).map(|part| part.iter().sum::<f64>() / length as f64);
    means.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// CRC-32C of a file, and of the weights that an export keeps beside it.
fn checksum(path: &Path) -> std::io::Result<u32> {
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let beside = [beside("_data"), beside(".data")];
    let mut buffer = vec![0; 1 << 16];
    let mut sum = 0;
    for path in std::iter::once(path).chain(beside.iter().map(PathBuf::as_path).filter(|path| path.is_file()))
    {
        let mut file = std::fs::File::open(path)?;
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => sum = crc32c::crc32c_append(sum, &buffer[..read]),
            }
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests;
