//! Texts as unit vectors.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};

use super::assets;
use super::cache::{EmbeddingCache, TextKey};
use super::error::ModelError;
use super::pool::Pool;
use super::wordpiece::WordPiece;

/// How many numbers an embedding has.
pub const EMBEDDING_DIM: usize = 384;

/// What lies behind this many tokens of a text is not read, as the model was trained.
pub const MAX_TOKENS: usize = 256;

/// A batch holds at most this many tokens, padding included; more would leave the processor's cache.
const BATCH_TOKENS: usize = 1024;

/// Embeddings that are kept, about 1.6 KiB each.
const CACHED: usize = 20_000;

const NAME: &str = "minilm-l6-v2";

/// The sentence encoder all-MiniLM-L6-v2. Made for English.
pub struct Encoder {
    tokenizer: WordPiece,
    model: Model,
    inputs: [NodeId; 3],
    output: NodeId,
    /// One thread each: batches side by side on single threads are faster than one batch on all of them.
    lanes: Pool<Arc<ThreadPool>>,
    cache: EmbeddingCache,
}

/// A text's key and its vector.
type Embedded = (TextKey, Arc<[f32]>);

/// A text that is not in the cache.
struct Job {
    key: TextKey,
    ids: Vec<i32>,
}

impl Encoder {
    /// Opens the model that the program carries; at most `instances` batches run at a time, each on one thread.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub fn embedded(instances: usize) -> Result<Self, ModelError> {
        let open = |e: &dyn ToString| ModelError::open(NAME, e.to_string());
        let model = ModelOptions::with_all_ops()
            .prepack_weights(true)
            .load_static_slice(assets::MINILM)
            .map_err(|e| open(&e))?;
        let node = |name: &str| model.node_id(name).map_err(|e| open(&e));
        let inputs = [node("input_ids")?, node("attention_mask")?, node("token_type_ids")?];
        let output = node("last_hidden_state")?;
        let lanes = (0..instances.max(1)).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect();
        Ok(Self {
            tokenizer: WordPiece::new(assets::MINILM_VOCABULARY)?,
            model,
            inputs,
            output,
            lanes: Pool::new(lanes),
            cache: EmbeddingCache::new(CACHED),
        })
    }

    /// The unit vector of each text, in the order of the texts. Blocks while the model runs.
    ///
    /// A text behind [`MAX_TOKENS`] tokens is cut; an empty text has a vector too, which means nothing.
    ///
    /// # Errors
    /// When the network fails; then no vector is given.
    pub fn embed<S: AsRef<str>>(&self, texts: &[S]) -> Result<Vec<Vec<f32>>, ModelError> {
        let keys: Vec<TextKey> = texts.iter().map(|text| self.cache.key(text.as_ref())).collect();
        let mut known: HashMap<TextKey, Arc<[f32]>> = HashMap::new();
        let mut jobs: HashMap<TextKey, Job> = HashMap::new();
        for (key, text) in keys.iter().zip(texts) {
            if known.contains_key(key) || jobs.contains_key(key) {
                continue;
            }
            if let Some(vector) = self.cache.get(*key) {
                known.insert(*key, vector);
            } else {
                let ids = self.tokenizer.encode(text.as_ref(), MAX_TOKENS);
                jobs.insert(*key, Job { key: *key, ids });
            }
        }
        for (key, vector) in self.run_all(jobs.into_values().collect())? {
            self.cache.put(key, vector.clone());
            known.insert(key, vector);
        }
        let lost = || ModelError::inference(NAME, "a batch gave fewer vectors than it had texts");
        keys.iter().map(|key| known.get(key).map(|vector| vector.to_vec()).ok_or_else(lost)).collect()
    }

    /// How many tokens the whole text has, without the two that frame it.
    pub fn token_count(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }

    /// How many tokens carry meaning: known ones with a letter or a digit. Stops counting at `enough`.
    pub fn meaningful_tokens(&self, text: &str, enough: usize) -> usize {
        self.tokenizer.count_meaningful(text, enough)
    }

    /// Runs the jobs in batches of like length, on as many lanes as there are batches.
    fn run_all(&self, mut jobs: Vec<Job>) -> Result<Vec<Embedded>, ModelError> {
        jobs.sort_by_key(|job| (job.ids.len(), job.key));
        let batches = batches(&jobs);
        let workers = self.lanes.size().min(batches.len());
        if workers <= 1 {
            return batches.into_iter().try_fold(Vec::new(), |mut done, batch| {
                done.extend(self.run_batch(batch)?);
                Ok(done)
            });
        }
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Ok(Vec::with_capacity(jobs.len()))));
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let vectors = self.run_batch(batch);
                        let mut done = done.lock();
                        match (vectors, done.as_mut()) {
                            (Ok(vectors), Ok(all)) => all.extend(vectors),
                            (Err(error), Ok(_)) => *done = Err(error),
                            (_, Err(_)) => return,
                        }
                    }
                });
            }
        });
        done.into_inner()
    }

    fn run_batch(&self, jobs: &[Job]) -> Result<Vec<Embedded>, ModelError> {
        let width = jobs.iter().map(|job| job.ids.len()).max().unwrap_or(0);
        let shape = [jobs.len(), width];
        let (mut ids, mut mask) = (NdTensor::<i32, 2>::zeros(shape), NdTensor::<i32, 2>::zeros(shape));
        for (row, job) in jobs.iter().enumerate() {
            for (column, id) in job.ids.iter().enumerate() {
                ids[[row, column]] = *id;
                mask[[row, column]] = 1;
            }
        }
        let kinds = NdTensor::<i32, 2>::zeros(shape);
        let inputs =
            self.inputs.into_iter().zip([ids.view().into(), mask.view().into(), kinds.view().into()]);
        let lane = self.lanes.borrow();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&lane)));
        let output = self.model.run_n(inputs.collect(), [self.output], Some(options));
        drop(lane);
        let [hidden] = output.map_err(|e| ModelError::inference(NAME, e))?;
        let hidden: NdTensor<f32, 3> = hidden
            .try_into()
            .map_err(|_| ModelError::inference(NAME, "the output is not a tensor of three dimensions"))?;
        if hidden.shape() != [jobs.len(), width, EMBEDDING_DIM] {
            return Err(ModelError::inference(
                NAME,
                format!("the output has the shape {:?}", hidden.shape()),
            ));
        }
        Ok(jobs
            .iter()
            .enumerate()
            .map(|(row, job)| (job.key, pool(hidden.slice(row), job.ids.len())))
            .collect())
    }
}

/// Cuts sorted jobs so that no batch, padded to its longest text, holds more than [`BATCH_TOKENS`].
fn batches(sorted: &[Job]) -> Vec<&[Job]> {
    let (mut found, mut start) = (Vec::new(), 0);
    for at in 0..sorted.len() {
        if at > start && (at + 1 - start) * sorted[at].ids.len() > BATCH_TOKENS {
            found.push(&sorted[start..at]);
            start = at;
        }
    }
    if start < sorted.len() {
        found.push(&sorted[start..]);
    }
    found
}

/// The mean of the tokens' vectors, brought to length one.
fn pool(hidden: NdTensorView<f32, 2>, tokens: usize) -> Arc<[f32]> {
    let mut sum = vec![0f32; EMBEDDING_DIM];
    for token in 0..tokens {
        for (total, value) in sum.iter_mut().zip(hidden.slice(token).iter()) {
            *total += value;
        }
    }
    let length = sum.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.iter().map(|v| v / length).collect()
}

/// The cosine of the angle between two vectors, from -1 to 1; 0 where one of them is zero.
#[cfg(test)]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { (dot(a, b) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

/// [`cosine`] of two vectors of length one, as [`Encoder::embed`] gives them; a third of the work.
pub fn unit_cosine(a: &[f32], b: &[f32]) -> f32 {
    dot(a, b).clamp(-1.0, 1.0)
}

/// Eight sums side by side, because the compiler may not reorder one sum of floats into vector instructions.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0f32; 8];
    for (x, y) in a.iter().zip(b) {
        for (sum, (p, q)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += p * q;
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(p, q)| p * q).sum::<f32>()
}

#[cfg(test)]
mod tests;
