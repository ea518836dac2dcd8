//! All models, opened once for the whole program.

use std::sync::Arc;

use super::encoder::Encoder;
use super::error::ModelError;
use super::toxicity_head::ToxicityHead;

/// The models that the program carries. Evaluators share one of these.
pub struct Models {
    /// Texts as unit vectors.
    pub encoder: Encoder,
    /// Vectors as probabilities of toxicity.
    pub toxicity: ToxicityHead,
}

impl Models {
    /// Opens them all; at most `instances` batches run at a time, each on one thread.
    ///
    /// # Errors
    /// When weights are damaged.
    pub fn embedded(instances: usize) -> Result<Arc<Self>, ModelError> {
        Ok(Arc::new(Self { encoder: Encoder::embedded(instances)?, toxicity: ToxicityHead::embedded()? }))
    }
}
