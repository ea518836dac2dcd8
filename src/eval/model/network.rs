//! A network with its threads: token sequences in, one result each out.

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

/// A network that reads ids, mask and types, and gives one tensor whose first axis is the batch.
pub(super) struct Network {
    name: &'static str,
    model: Model,
    inputs: [NodeId; 3],
    output: NodeId,
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
        let node = |node: &str| model.node_id(node).map_err(|e| ModelError::open(name, e));
        let inputs = [node("input_ids")?, node("attention_mask")?, node("token_type_ids")?];
        let output = node(output)?;
        Ok(Self { name, model, inputs, output, lanes })
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
