//! A network with its threads: token sequences in, one result each out.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rten::{LoadError, Model, ModelOptions, NodeId, RunOptions, ThreadPool};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};

use super::super::cpu;
use super::error::ModelError;
use super::packed::{Packed, Scratch};
use super::pool::Pool;
use bytes::Bytes;

/// A batch holds at most this many tokens, padding included; more would leave the processor's cache.
const BATCH_TOKENS: usize = 1024;

/// The same where nothing is padded and many small batches cost no more than a large one.
const PACKED_TOKENS: usize = 256;

/// A text may be padded by this many tokens and a quarter of its own: more batches cost more than so little padding.
const PADDING_TOKENS: usize = 2;

/// The threads of all networks, one a lane: batches side by side on single threads are faster than one batch on all of
/// them, and a bounded number of lanes leaves the receiver its share of the processor.
pub(super) type Lanes = Arc<Pool<Lane>>;

/// Where one batch runs at a time.
pub(super) struct Lane {
    /// The thread of the graph runtime.
    pub threads: Arc<ThreadPool>,
    scratch: Scratch,
}

/// As many lanes as batches may run at a time.
pub(super) fn lanes(count: usize) -> Lanes {
    let lane = |_| Lane { threads: Arc::new(ThreadPool::with_num_threads(1)), scratch: Scratch::default() };
    Arc::new(Pool::new((0..count.max(1)).map(lane).collect()))
}

/// One or two texts as token ids with their special tokens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Sequence {
    /// The ids.
    pub ids: Vec<i32>,
    /// Where the second text begins; the length of `ids` if there is none.
    pub second: usize,
}

impl Sequence {
    /// One text.
    pub(super) fn single(ids: Vec<i32>) -> Self {
        Self { second: ids.len(), ids }
    }
}

/// What a network gives for one text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    /// All numbers.
    pub numbers: &'a [f32],
    /// How many there are on each axis: tokens and numbers of a token, or numbers of the text.
    pub shape: &'a [usize],
}

/// What an input is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    Ids,
    Mask,
    Kinds,
}

impl Given {
    fn of(input: &str) -> Option<Self> {
        match input {
            "input_ids" => Some(Self::Ids),
            "attention_mask" => Some(Self::Mask),
            "token_type_ids" => Some(Self::Kinds),
            _ => None,
        }
    }
}

/// A network that reads ids, and mask and types if it wants them, and gives one tensor whose first axis is the batch.
pub(super) struct Network {
    name: &'static str,
    engine: Engine,
    lanes: Lanes,
}

enum Engine {
    /// Without padding, on processors that can.
    Packed(Box<Packed>),
    /// In the graph runtime.
    Graph(Box<Graph>),
}

struct Graph {
    model: Model,
    inputs: Vec<(NodeId, Given)>,
    output: NodeId,
    padding: i32,
}

impl Network {
    /// Opens a model whose weights live as long as the program.
    ///
    /// # Errors
    /// When the weights are damaged or have other inputs and outputs.
    pub(super) fn open_static(
        name: &'static str,
        weights: &'static [u8],
        output: &str,
        lanes: Lanes,
    ) -> Result<Self, ModelError> {
        if let Some(packed) = unpadded(name, &Bytes::from_static(weights)) {
            return Ok(Self { name, engine: Engine::Packed(packed), lanes });
        }
        Self::with_model(name, options().load_static_slice(weights), output, lanes)
    }

    /// Opens a model from bytes of its own, of which `words` live as long as the program: they are not kept twice.
    ///
    /// # Errors
    /// When the weights are damaged or have other inputs and outputs.
    pub(super) fn open(
        name: &'static str,
        weights: Vec<u8>,
        words: &'static [u8],
        output: &str,
        lanes: Lanes,
    ) -> Result<Self, ModelError> {
        let weights = Bytes::from(weights);
        if let Some(mut packed) = unpadded(name, &weights) {
            packed.share_words(words);
            return Ok(Self { name, engine: Engine::Packed(packed), lanes });
        }
        Self::with_model(name, options().load(weights.into()), output, lanes)
    }

    /// In the graph runtime, whatever the processor can.
    fn with_model(
        name: &'static str,
        model: Result<Model, LoadError>,
        output: &str,
        lanes: Lanes,
    ) -> Result<Self, ModelError> {
        let model = model.map_err(|e| ModelError::open(name, e))?;
        let inputs = inputs(&model).map_err(|e| ModelError::open(name, e))?;
        let output = model.node_id(output).map_err(|e| ModelError::open(name, e))?;
        let graph = Graph { model, inputs, output, padding: 0 };
        Ok(Self { name, engine: Engine::Graph(Box::new(graph)), lanes })
    }

    /// Opens a file of the user. Shorter texts of a batch are filled with `padding`. The output is the first of `outputs`
    /// that the file has, or its only one where there is no such.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn open_file(
        name: &'static str,
        path: &Path,
        outputs: &[&str],
        padding: i32,
        lanes: Lanes,
    ) -> Result<Self, String> {
        let model = options().load_file(path).map_err(|e| e.to_string())?;
        let inputs = inputs(&model)?;
        let named =
            |node: &NodeId| model.node_info(*node).and_then(|info| info.name()).unwrap_or("").to_owned();
        let there: Vec<String> = model.output_ids().iter().map(named).collect();
        let wanted = outputs.iter().find_map(|wanted| there.iter().position(|name| name == wanted));
        let Some(at) = wanted.or((there.len() == 1).then_some(0)) else {
            let (wanted, there) = (outputs.join(", "), there.join(", "));
            return Err(format!("has the outputs {there}, and none of them is {wanted}: name one as output"));
        };
        let output = model.output_ids()[at];
        let graph = Graph { model, inputs, output, padding };
        Ok(Self { name, engine: Engine::Graph(Box::new(graph)), lanes })
    }

    /// What `read` makes of each sequence's row of the output, given its length, in the order of the sequences; behind the
    /// numbers of a sequence's tokens may stand those of padding. Blocks while it runs.
    ///
    /// # Errors
    /// When the network fails; then nothing is given.
    pub(super) fn run<T: Send>(
        &self,
        sequences: &[Sequence],
        read: impl Fn(Row<'_>, usize) -> Result<T, ModelError> + Sync,
    ) -> Result<Vec<T>, ModelError> {
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(|at| sequences[*at].ids.len());
        let batches = match &self.engine {
            Engine::Packed(_) => packed_batches(&order, sequences),
            Engine::Graph(_) => batches(&order, sequences),
        };
        let done: Mutex<Result<Vec<Option<T>>, ModelError>> =
            Mutex::new(Ok(sequences.iter().map(|_| None).collect()));
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                let results = self.run_batch(batch, sequences, &read);
                let mut done = done.lock();
                match (results, done.as_mut()) {
                    (Ok(results), Ok(all)) => {
                        for (at, result) in batch.iter().zip(results) {
                            all[*at] = Some(result);
                        }
                    }
                    (Err(error), Ok(_)) => *done = Err(error),
                    (_, Err(_)) => return,
                }
            }
        };
        let workers = self.lanes.size().min(batches.len());
        if workers <= 1 {
            work();
        } else {
            let worked = Mutex::new(Duration::ZERO);
            let work = || {
                work();
                // The thread began for this work alone.
                *worked.lock() += cpu::spent().unwrap_or_default();
            };
            std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
            cpu::helped(worked.into_inner());
        }
        let lost = || ModelError::inference(self.name, "a batch gave fewer rows than it had texts");
        done.into_inner()?.into_iter().map(|result| result.ok_or_else(lost)).collect()
    }

    fn run_batch<T>(
        &self,
        batch: &[usize],
        sequences: &[Sequence],
        read: &impl Fn(Row<'_>, usize) -> Result<T, ModelError>,
    ) -> Result<Vec<T>, ModelError> {
        let mut lane = self.lanes.borrow();
        match &self.engine {
            Engine::Packed(packed) => {
                let texts: Vec<(&[i32], usize)> =
                    batch.iter().map(|at| (&sequences[*at].ids[..], sequences[*at].second)).collect();
                let found = packed.run(&texts, &mut lane.scratch)?;
                drop(lane);
                let each = found.iter().zip(&texts).map(|(numbers, (ids, _))| (numbers, ids.len()));
                each.map(|(numbers, tokens)| match packed.numbers_a_token() {
                    Some(size) => read(Row { numbers, shape: &[tokens, size] }, tokens),
                    None => read(Row { numbers, shape: &[numbers.len()] }, tokens),
                })
                .collect()
            }
            Engine::Graph(graph) => {
                let output = graph.run(self.name, batch, sequences, &lane.threads)?;
                drop(lane);
                let (shape, numbers) = (output.shape().split_at(1).1, output.to_vec());
                let each = shape.iter().product::<usize>().max(1);
                batch
                    .iter()
                    .zip(numbers.chunks(each))
                    .map(|(at, numbers)| read(Row { numbers, shape }, sequences[*at].ids.len()))
                    .collect()
            }
        }
    }
}

impl Graph {
    /// The output for a batch, a row for each.
    fn run(
        &self,
        name: &'static str,
        batch: &[usize],
        sequences: &[Sequence],
        threads: &Arc<ThreadPool>,
    ) -> Result<Tensor<f32>, ModelError> {
        let width = batch.iter().map(|at| sequences[*at].ids.len()).max().unwrap_or(0);
        let shape = [batch.len(), width];
        let [mut ids, mut mask, mut kinds] =
            [self.padding, 0, 0].map(|filled| NdTensor::<i32, 2>::full(shape, filled));
        for (row, at) in batch.iter().enumerate() {
            let sequence = &sequences[*at];
            for (column, id) in sequence.ids.iter().enumerate() {
                ids[[row, column]] = *id;
                mask[[row, column]] = 1;
                kinds[[row, column]] = i32::from(column >= sequence.second);
            }
        }
        let inputs = self.inputs.iter().map(|(node, given)| {
            let tensor = match given {
                Given::Ids => &ids,
                Given::Mask => &mask,
                Given::Kinds => &kinds,
            };
            (*node, tensor.view().into())
        });
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(threads)));
        let inputs = inputs.collect();
        let output = counted(threads, || self.model.run_n(inputs, [self.output], Some(options)));
        let [output] = output.map_err(|e| ModelError::inference(name, e))?;
        let output: Tensor<f32> =
            output.try_into().map_err(|_| ModelError::inference(name, "the output is not of numbers"))?;
        if output.shape().first() != Some(&batch.len()) {
            return Err(ModelError::inference(
                name,
                format!("the output has the shape {:?}", output.shape()),
            ));
        }
        Ok(output)
    }
}

/// Does `work`, most of it on the thread of `threads`, and counts that as this thread's.
pub(super) fn counted<R>(threads: &ThreadPool, work: impl FnOnce() -> R) -> R {
    let before = threads.run(cpu::own);
    let done = work();
    cpu::helped(cpu::between(before, threads.run(cpu::own)));
    done
}

/// The encoder without padding, where the processor can. Without optimisation our own code is a hundred times slower than the
/// graph runtime, which is optimised in every build: then there is none.
fn unpadded(name: &'static str, file: &Bytes) -> Option<Box<Packed>> {
    if cfg!(debug_assertions) { None } else { Packed::open(name, file).map(Box::new) }
}

/// The inputs of a graph, each by what it is given.
fn inputs(model: &Model) -> Result<Vec<(NodeId, Given)>, String> {
    let mut inputs = Vec::new();
    for node in model.input_ids() {
        let name = model.node_info(*node).and_then(|info| info.name()).unwrap_or_default();
        let known =
            "input_ids, attention_mask and token_type_ids are given: export an encoder, not a decoder";
        let given = Given::of(name).ok_or_else(|| format!("has the input {name:?}; only {known}"))?;
        inputs.push((*node, given));
    }
    if inputs.iter().all(|(_, given)| *given != Given::Ids) {
        return Err("has no input input_ids".to_owned());
    }
    Ok(inputs)
}

/// How every model is opened.
pub(super) fn options() -> ModelOptions {
    let mut options = ModelOptions::with_all_ops();
    options.prepack_weights(true);
    options
}

/// Cuts indices, sorted by length, so that no batch, padded to its longest text, holds more than [`BATCH_TOKENS`], and
/// none is more than about a quarter longer than its shortest text.
fn batches<'a>(order: &'a [usize], sequences: &[Sequence]) -> Vec<&'a [usize]> {
    let (mut found, mut start) = (Vec::new(), 0);
    let length = |at: usize| sequences[order[at]].ids.len();
    for at in 0..order.len() {
        let is_full = (at + 1 - start) * length(at) > BATCH_TOKENS;
        let is_padded = length(at) > length(start) + length(start) / 4 + PADDING_TOKENS;
        if at > start && (is_full || is_padded) {
            found.push(&order[start..at]);
            start = at;
        }
    }
    if start < order.len() {
        found.push(&order[start..]);
    }
    found
}

/// Cuts indices so that no batch holds more than [`PACKED_TOKENS`], but for a text that is longer.
fn packed_batches<'a>(order: &'a [usize], sequences: &[Sequence]) -> Vec<&'a [usize]> {
    let (mut found, mut start, mut tokens) = (Vec::new(), 0, 0);
    for (at, sequence) in order.iter().enumerate() {
        let length = sequences[*sequence].ids.len();
        if at > start && tokens + length > PACKED_TOKENS {
            found.push(&order[start..at]);
            (start, tokens) = (at, 0);
        }
        tokens += length;
    }
    if start < order.len() {
        found.push(&order[start..]);
    }
    found
}

#[cfg(test)]
mod tests;
