//! A user's model, opened: its network, its tokenizer and what stands beside it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::error::ModelError;
use super::meaning::Meaning;
use super::network::{Lanes, Network, Row};
use super::settings::{FileConfig, Slot};
use super::template::Template;
use super::tokenizer_file::TokenizerFile;
use super::tokens::Tokens;
use super::wordpiece::Keep;

/// Tokens that a model reads where nobody says otherwise.
const USUAL_TOKENS: usize = 512;

/// Positions that these families count but do not use.
const OFFSET: usize = 2;

/// What is kept of the sentence, and of the end of the question, as the program's own models read them.
const SENTENCE: Keep = Keep::Beginning(128);
const QUESTION: Keep = Keep::End(96);
/// Of two answers the expected one has what any second text has at most, half of the room.
const EXPECTED: Keep = Keep::Beginning(usize::MAX);

/// A network with its tokenizer.
pub(super) struct Opened {
    /// The network.
    pub network: Network,
    /// Texts to ids.
    pub tokens: Tokens,
    /// What the logits mean; none for an encoder.
    pub meaning: Option<Meaning>,
    /// The file's name and a hash of the files and of how they are read.
    pub version: String,
}

/// What `config.json` beside a model says of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stored {
    /// `bert`, `roberta`, …; empty if it is not said.
    pub family: String,
    /// The labels in the order of the logits; empty if they are not said.
    pub labels: Vec<String>,
    /// Tokens that it reads.
    pub max_tokens: Option<usize>,
    /// The id that fills batches.
    padding: Option<i32>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredConfig {
    model_type: Option<String>,
    id2label: Option<serde_json::Map<String, serde_json::Value>>,
    max_position_embeddings: Option<usize>,
    pad_token_id: Option<i32>,
}

impl Stored {
    /// Reads `config.json` beside the model; nothing is known where there is none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn beside(file: &FileConfig) -> Result<Self, String> {
        let path = file.beside("config.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("{}: cannot be read: {error}", path.display())),
        };
        let read: StoredConfig =
            serde_json::from_str(&text).map_err(|e| format!("{}: is no config.json: {e}", path.display()))?;
        let family = read.model_type.unwrap_or_default();
        let offset =
            if matches!(family.as_str(), "roberta" | "xlm-roberta" | "camembert") { OFFSET } else { 0 };
        let labels = read.id2label.unwrap_or_default();
        let named =
            |at: usize| labels.get(&at.to_string()).and_then(|label| label.as_str()).map(str::to_owned);
        Ok(Self {
            labels: (0..labels.len()).map_while(named).collect(),
            max_tokens: read.max_position_embeddings.map(|most| most.saturating_sub(offset)),
            padding: read.pad_token_id,
            family,
        })
    }
}

/// Opens the files of a slot and runs the network once, so that files that do not fit each other are found now.
///
/// # Errors
/// When a file is not there, is damaged, or is nothing that this program runs; the message has the key.
pub(super) fn open(slot: Slot, file: &FileConfig, lanes: Lanes) -> Result<Opened, ModelError> {
    let wrong = |key: &str, path: &Path, reason: &str| {
        ModelError::open(slot.name(), format!("models.{}.{key}: {}: {reason}", slot.name(), path.display()))
    };
    let (model, tokenizer) = (PathBuf::from(&file.path), file.tokenizer_path());
    let of_model = |reason: String| wrong("path", &model, &reason);
    let of_tokenizer = |reason: String| wrong("tokenizer", &tokenizer, &reason);
    let stored = Stored::beside(file).map_err(of_model)?;
    let limit = if file.max_tokens > 0 {
        file.max_tokens
    } else {
        stored.max_tokens.unwrap_or(USUAL_TOKENS).min(USUAL_TOKENS)
    };
    let read = TokenizerFile::open(&tokenizer, limit, stored.padding).map_err(of_tokenizer)?;
    let padding = read.padding();
    let size = read.size();
    let version = version(file, &model, &tokenizer).map_err(|e| of_model(format!("cannot be read: {e}")))?;
    let network =
        Network::open_file(slot.name(), &model, &outputs(slot, file), padding, lanes).map_err(of_model)?;
    let tokens = Tokens::File(Arc::new(read), template(slot, file));
    let found = try_out(slot, &network, &tokens).map_err(|e| {
        of_model(format!("does not run with {}, which has {size} tokens: {e}", tokenizer.display()))
    })?;
    let meaning = match slot {
        Slot::Embedding => None,
        _ if found.len() != 1 => {
            return Err(of_model(format!(
                "gives a tensor of the shape {found:?} for a text, and no row of logits"
            )));
        }
        _ => Some(Meaning::new(slot, file, &stored.labels, found[0]).map_err(of_model)?),
    };
    Ok(Opened { network, tokens, meaning, version })
}

/// The outputs that may be read, the first one that is there is.
fn outputs(slot: Slot, file: &FileConfig) -> Vec<&str> {
    if !file.output.is_empty() {
        return vec![file.output.as_str()];
    }
    match slot {
        Slot::Embedding => vec!["sentence_embedding", "last_hidden_state", "token_embeddings"],
        _ => vec!["logits"],
    }
}

fn template(slot: Slot, file: &FileConfig) -> Template {
    let (long, short) = slot.placeholders();
    let kept = match slot {
        Slot::Entailment => SENTENCE,
        Slot::Similarity => EXPECTED,
        _ => QUESTION,
    };
    Template::new(file.input(slot), long, short.map(|name| (name, kept)))
}

/// The shape of a text's row, of a short text and of one that fills the model.
fn try_out(slot: Slot, network: &Network, tokens: &Tokens) -> Result<Vec<usize>, String> {
    let long = "word ".repeat(tokens.limit());
    let mut found = Vec::new();
    for text in ["A text.", long.as_str()] {
        let sequence = match slot {
            Slot::Entailment | Slot::Relevance | Slot::Similarity => tokens.pair(text, "A question.")?,
            Slot::Toxicity | Slot::Embedding => tokens.single(text)?,
        };
        let shape = |row: Row<'_>, _| Ok(row.shape.to_vec());
        let mut shapes = network.run(&[sequence], shape).map_err(|e| e.to_string())?;
        found.extend(shapes.pop().filter(|_| found.is_empty()).unwrap_or_default());
    }
    Ok(found)
}

/// The file's name, and a hash of the files and of every setting but where they are.
fn version(file: &FileConfig, model: &Path, tokenizer: &Path) -> std::io::Result<String> {
    const HASH: usize = 8;
    let mut hash = Sha256::new();
    let weights = ["_data", ".data"].map(|end| PathBuf::from(format!("{}{end}", model.display())));
    for path in
        [model, tokenizer].into_iter().chain(weights.iter().map(PathBuf::as_path).filter(|p| p.exists()))
    {
        let mut read = File::open(path)?;
        let mut bytes = vec![0u8; 1 << 20];
        loop {
            let count = read.read(&mut bytes)?;
            if count == 0 {
                break;
            }
            hash.update(&bytes[..count]);
        }
    }
    let settings = FileConfig { path: String::new(), tokenizer: String::new(), ..file.clone() };
    hash.update(serde_json::to_vec(&settings).unwrap_or_default());
    let stem = model.file_stem().and_then(|stem| stem.to_str()).unwrap_or("model");
    let stem: String =
        stem.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    Ok(format!("{stem}-{}", &hex::encode(hash.finalize())[..HASH]))
}
