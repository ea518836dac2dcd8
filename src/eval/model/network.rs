//! A network with its threads: token sequences in, one result each out.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor, TensorView};

use super::error::ModelError;
use super::pool::Pool;

/// A batch holds at most this many tokens, padding included; more would leave the processor's cache.
const BATCH_TOKENS: usize = 1024;

/// A text may be padded by this many tokens and a quarter of its own: more batches cost more than so little padding.
const PADDING_TOKENS: usize = 2;

/// The threads of all networks, one a lane: batches side by side on single threads are faster than one batch on all of
/// them, and a bounded number of lanes leaves the door its share of the processor.
pub(super) type Lanes = Arc<Pool<Arc<ThreadPool>>>;

/// As many lanes as batches may run at a time.
pub(super) fn lanes(count: usize) -> Lanes {
    let lane = |_| Arc::new(ThreadPool::with_num_threads(1));
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
    model: Model,
    inputs: Vec<(NodeId, Given)>,
    output: NodeId,
    padding: i32,
    lanes: Lanes,
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
        let model = options().load_static_slice(weights).map_err(|e| ModelError::open(name, e))?;
        Self::with_model(name, model, output, lanes)
    }

    /// Opens a model from bytes of its own.
    ///
    /// # Errors
    /// When the weights are damaged or have other inputs and outputs.
    pub(super) fn open(
        name: &'static str,
        weights: Vec<u8>,
        output: &str,
        lanes: Lanes,
    ) -> Result<Self, ModelError> {
        let model = options().load(weights).map_err(|e| ModelError::open(name, e))?;
        Self::with_model(name, model, output, lanes)
    }

    fn with_model(name: &'static str, model: Model, output: &str, lanes: Lanes) -> Result<Self, ModelError> {
        let inputs = inputs(&model).map_err(|e| ModelError::open(name, e))?;
        let output = model.node_id(output).map_err(|e| ModelError::open(name, e))?;
        Ok(Self { name, model, inputs, output, padding: 0, lanes })
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
        Ok(Self { name, model, inputs, output, padding, lanes })
    }

    /// What `read` makes of each sequence's row of the output, in the order of the sequences. Blocks while it runs.
    ///
    /// # Errors
    /// When the network fails; then nothing is given.
    pub(super) fn run<T: Send>(
        &self,
        sequences: &[Sequence],
        read: impl Fn(TensorView<'_, f32>, usize) -> Result<T, ModelError> + Sync,
    ) -> Result<Vec<T>, ModelError> {
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(|at| sequences[*at].ids.len());
        let batches = batches(&order, sequences);
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
        read: &impl Fn(TensorView<'_, f32>, usize) -> Result<T, ModelError>,
    ) -> Result<Vec<T>, ModelError> {
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
        let lane = self.lanes.borrow();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&lane)));
        let output = self.model.run_n(inputs.collect(), [self.output], Some(options));
        drop(lane);
        let [output] = output.map_err(|e| ModelError::inference(self.name, e))?;
        let output: Tensor<f32> = output
            .try_into()
            .map_err(|_| ModelError::inference(self.name, "the output is not of numbers"))?;
        if output.shape().first() != Some(&batch.len()) {
            return Err(ModelError::inference(
                self.name,
                format!("the output has the shape {:?}", output.shape()),
            ));
        }
        let row = |(row, at): (usize, &usize)| read(output.slice(row), sequences[*at].ids.len());
        batch.iter().enumerate().map(row).collect()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_within_the_token_budget() {
        let lengths = [3, 3, 200, 256, 256, 256, 256, 256];
        let sequences: Vec<Sequence> = lengths.iter().map(|n| Sequence::single(vec![0; *n])).collect();
        let order: Vec<usize> = (0..sequences.len()).collect();
        let cut = batches(&order, &sequences);
        assert_eq!(cut.iter().map(|batch| batch.len()).sum::<usize>(), sequences.len());
        for batch in &cut {
            let longest = lengths[batch[batch.len() - 1]];
            assert!(batch.len() == 1 || batch.len() * longest <= BATCH_TOKENS);
            assert!(batch.len() == 1 || longest <= lengths[batch[0]] * 5 / 4 + PADDING_TOKENS);
        }
    }
}
