//! A network with its threads: token sequences in, one result each out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rten::{LoadError, Model, ModelOptions, NodeId, RunOptions, ThreadPool};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};

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
/// them, and a bounded number of lanes leaves the door its share of the processor.
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

/// A network that reads ids, mask and types, and gives one tensor whose first axis is the batch.
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
    inputs: [NodeId; 3],
    output: NodeId,
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
        let node = |node: &str| model.node_id(node).map_err(|e| ModelError::open(name, e));
        let inputs = [node("input_ids")?, node("attention_mask")?, node("token_type_ids")?];
        let output = node(output)?;
        Ok(Self { name, engine: Engine::Graph(Box::new(Graph { model, inputs, output })), lanes })
    }

    /// What `read` makes of each sequence's row of the output, given its length, in the order of the sequences; behind the
    /// numbers of a sequence's tokens may stand those of padding. Blocks while it runs.
    ///
    /// # Errors
    /// When the network fails; then nothing is given.
    pub(super) fn run<T: Send>(
        &self,
        sequences: &[Sequence],
        read: impl Fn(&[f32], usize) -> Result<T, ModelError> + Sync,
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
            std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
        }
        let lost = || ModelError::inference(self.name, "a batch gave fewer rows than it had texts");
        done.into_inner()?.into_iter().map(|result| result.ok_or_else(lost)).collect()
    }

    fn run_batch<T>(
        &self,
        batch: &[usize],
        sequences: &[Sequence],
        read: &impl Fn(&[f32], usize) -> Result<T, ModelError>,
    ) -> Result<Vec<T>, ModelError> {
        let mut lane = self.lanes.borrow();
        match &self.engine {
            Engine::Packed(packed) => {
                let texts: Vec<(&[i32], usize)> =
                    batch.iter().map(|at| (&sequences[*at].ids[..], sequences[*at].second)).collect();
                let found = packed.run(&texts, &mut lane.scratch)?;
                drop(lane);
                found.iter().zip(&texts).map(|(row, (ids, _))| read(row, ids.len())).collect()
            }
            Engine::Graph(graph) => {
                let output = graph.run(self.name, batch, sequences, &lane.threads)?;
                drop(lane);
                let each = output.len() / batch.len().max(1);
                batch
                    .iter()
                    .zip(output.chunks(each.max(1)))
                    .map(|(at, row)| read(row, sequences[*at].ids.len()))
                    .collect()
            }
        }
    }
}

impl Graph {
    /// The output for a batch, row by row.
    fn run(
        &self,
        name: &'static str,
        batch: &[usize],
        sequences: &[Sequence],
        threads: &Arc<ThreadPool>,
    ) -> Result<Vec<f32>, ModelError> {
        let width = batch.iter().map(|at| sequences[*at].ids.len()).max().unwrap_or(0);
        let shape = [batch.len(), width];
        let [mut ids, mut mask, mut kinds] = [(); 3].map(|()| NdTensor::<i32, 2>::zeros(shape));
        for (row, at) in batch.iter().enumerate() {
            let sequence = &sequences[*at];
            for (column, id) in sequence.ids.iter().enumerate() {
                ids[[row, column]] = *id;
                mask[[row, column]] = 1;
                kinds[[row, column]] = i32::from(column >= sequence.second);
            }
        }
        let inputs =
            self.inputs.into_iter().zip([ids.view().into(), mask.view().into(), kinds.view().into()]);
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(threads)));
        let [output] = self
            .model
            .run_n(inputs.collect(), [self.output], Some(options))
            .map_err(|e| ModelError::inference(name, e))?;
        let output: Tensor<f32> =
            output.try_into().map_err(|_| ModelError::inference(name, "the output is not of numbers"))?;
        if output.shape().first() != Some(&batch.len()) {
            return Err(ModelError::inference(
                name,
                format!("the output has the shape {:?}", output.shape()),
            ));
        }
        Ok(output.to_vec())
    }
}

/// The encoder without padding, where the processor can. Without optimisation our own code is a hundred times slower than the
/// graph runtime, which is optimised in every build: then there is none.
fn unpadded(name: &'static str, file: &Bytes) -> Option<Box<Packed>> {
    if cfg!(debug_assertions) { None } else { Packed::open(name, file).map(Box::new) }
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
