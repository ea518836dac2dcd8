//! The encoder as a file of a user's, which the graph runtime (rten) runs on every processor.

use std::sync::Arc;

use groundline::eval::{FileConfig, Models, ModelsConfig, Slot};

use crate::{Failed, tokenizers};

/// The weights that the program carries too, opened from their file.
pub fn open(instances: usize) -> Result<Arc<Models>, Failed> {
    let folder = tempfile::tempdir()?;
    let tokenizer = folder.path().join("tokenizer.json");
    std::fs::write(&tokenizer, tokenizers::word_pieces().to_string())?;
    let mut file = FileConfig::of(concat!(env!("CARGO_MANIFEST_DIR"), "/models/minilm-l6-v2/model.onnx"));
    file.tokenizer = tokenizer.to_string_lossy().into_owned();
    file.max_tokens = 256;
    Ok(Models::open(instances, &ModelsConfig::only(Slot::Embedding, file))?)
}
