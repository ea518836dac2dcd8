//! Models of each family with random weights, against what PyTorch gives for them (`training/model_fixtures.py`).

use std::path::PathBuf;

use serde::Deserialize;

use super::file::{self, Opened};
use super::models::Models;
use super::network::lanes;
use super::settings::{FileConfig, ModelsConfig, Pooling, Slot};
use super::survey::survey;

const FAMILIES: [&str; 5] = ["bert", "roberta", "deberta-v2", "modernbert", "xlm-roberta"];

/// How far a logit may be from PyTorch's.
const NEAR: f32 = 1e-3;

#[derive(Deserialize)]
struct Expected {
    texts: Vec<Text>,
    pairs: Vec<Pair>,
    embeddings: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    ids: Vec<i32>,
    logits: Vec<f32>,
}

#[derive(Deserialize)]
struct Pair {
    pair: (String, String),
    ids: Vec<i32>,
    logits: Vec<f32>,
}

#[derive(Deserialize)]
struct Embedding {
    text: String,
    mean: Vec<f32>,
    first: Vec<f32>,
}

fn folder(family: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models").join(family)
}

fn config(family: &str) -> FileConfig {
    FileConfig::of(folder(family).join("model.onnx").to_str().unwrap())
}

fn expected(family: &str) -> Expected {
    serde_json::from_str(&std::fs::read_to_string(folder(family).join("expected.json")).unwrap()).unwrap()
}

fn close(found: &[f32], wanted: &[f32], what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() < NEAR, "{what}: {found}, expected {wanted}");
    }
}

fn logits(opened: &Opened, sequences: &[super::network::Sequence]) -> Vec<Vec<f32>> {
    opened.network.run(sequences, |row, _| Ok(row.iter().copied().collect())).unwrap()
}

#[test]
fn every_family_gives_the_logits_of_pytorch() {
    for family in FAMILIES {
        let expected = expected(family);
        // One text: as the toxicity slot reads; the labels say nothing here.
        let labels = ["toxicity", "insult", "threat"].map(str::to_owned).to_vec();
        let single = FileConfig { labels, ..config(family) };
        let opened = file::open(Slot::Toxicity, &single, lanes(1)).unwrap();
        let mut sequences = Vec::new();
        for text in &expected.texts {
            let sequence = opened.tokens.single(&text.text).unwrap();
            assert_eq!(sequence.ids, text.ids, "{family}: {:?}", text.text);
            sequences.push(sequence);
        }
        for (text, found) in expected.texts.iter().zip(logits(&opened, &sequences)) {
            close(&found, &text.logits, &format!("{family}: {:?}", text.text));
        }
        let opened = file::open(Slot::Entailment, &config(family), lanes(1)).unwrap();
        for pair in &expected.pairs {
            let sequence = opened.tokens.pair(&pair.pair.0, &pair.pair.1).unwrap();
            assert_eq!(sequence.ids, pair.ids, "{family}: {:?}", pair.pair);
            close(&logits(&opened, &[sequence])[0], &pair.logits, &format!("{family}: {:?}", pair.pair));
        }
        let label = |at: usize| opened.meaning.as_ref().unwrap().tells(at);
        assert!(label(0) && label(1) && label(2), "{family}: the labels of config.json");
    }
}

/// Texts of many lengths in one batch: what fills the shorter ones does not move them.
#[test]
fn a_batch_gives_what_each_text_alone_gives() {
    for family in FAMILIES {
        let opened = file::open(Slot::Entailment, &config(family), lanes(1)).unwrap();
        let pair = |words: usize| opened.tokens.pair(&"museum ".repeat(words), "It opens.").unwrap();
        let sequences: Vec<_> = [4, 5, 6, 5, 4, 6].map(pair).to_vec();
        let together = logits(&opened, &sequences);
        for (sequence, found) in sequences.iter().zip(&together) {
            close(found, &logits(&opened, std::slice::from_ref(sequence))[0], family);
        }
    }
}

#[test]
fn an_embedding_is_pooled_as_it_is_asked_for() {
    let of = |pooling| {
        let file = FileConfig { pooling, max_tokens: 64, ..config("bert") };
        Models::open(1, &ModelsConfig::only(Slot::Embedding, file)).unwrap()
    };
    let (mean, first) = (of(Pooling::Mean), of(Pooling::First));
    let expected = expected("bert").embeddings;
    assert!(expected.len() > 5);
    // What is longer than 64 tokens is cut here, and not in the fixture.
    for one in expected.iter().filter(|one| mean.similarity().token_count(&one.text) < 60) {
        close(&mean.similarity().embed(&[&one.text]).unwrap()[0], &one.mean, &one.text);
        close(&first.similarity().embed(&[&one.text]).unwrap()[0], &one.first, &one.text);
    }
    assert_eq!(mean.encoder.embed(&["A text."]).unwrap()[0].len(), 384, "the program's own stays");
    assert_ne!(mean.version(Slot::Embedding), first.version(Slot::Embedding));
    assert!(mean.version(Slot::Embedding).starts_with("model-"), "{}", mean.version(Slot::Embedding));
}

#[test]
fn what_is_too_long_is_cut_and_the_short_text_stays() {
    for family in FAMILIES {
        let file = FileConfig { max_tokens: 40, ..config(family) };
        let opened = file::open(Slot::Entailment, &file, lanes(1)).unwrap();
        let long = opened.tokens.pair(&"The museum opens. ".repeat(500), "It is closed.").unwrap();
        assert!((34..=40).contains(&long.ids.len()), "{family}: {}", long.ids.len());
        let alone = opened.tokens.pair("", "It is closed.").unwrap();
        let tail = 5.min(alone.ids.len());
        assert_eq!(long.ids[long.ids.len() - tail..], alone.ids[alone.ids.len() - tail..], "{family}");
        let both = opened.tokens.pair(&"museum ".repeat(500), &"closed ".repeat(500)).unwrap();
        assert!(both.ids.len() <= 40, "{family}: {}", both.ids.len());
    }
}

#[test]
fn files_that_do_not_fit_are_told_with_their_key() {
    let fault = |slot, file: &FileConfig| match file::open(slot, file, lanes(1)) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    };
    let bert = config("bert");
    let gone = FileConfig { path: "/nowhere/model.onnx".to_owned(), ..bert.clone() };
    let told = fault(Slot::Entailment, &gone);
    assert!(told.contains("models.entailment.tokenizer: /nowhere/tokenizer.json: cannot be read"), "{told}");
    let other = FileConfig {
        tokenizer: folder("roberta").join("tokenizer.json").to_str().unwrap().into(),
        ..bert.clone()
    };
    let told = fault(Slot::Entailment, &other);
    assert!(told.contains("does not run with") && told.contains("tokens"), "{told}");
    let output = FileConfig { output: "scores".to_owned(), ..bert.clone() };
    let told = fault(Slot::Entailment, &output);
    assert!(told.contains("has the outputs logits, last_hidden_state, and none of them is scores"), "{told}");
    let hidden = FileConfig { output: "last_hidden_state".to_owned(), ..bert.clone() };
    assert!(fault(Slot::Relevance, &hidden).contains("no row of logits"));
    assert!(fault(Slot::Relevance, &bert).contains("give models.relevance.labels"));
}

#[test]
fn a_survey_names_every_operator_that_is_missing() {
    let found = survey(&config("deberta-v2")).unwrap();
    assert!(found.missing.is_empty() && found.fault.is_none(), "{found:?}");
    assert_eq!(found.stored.family, "deberta-v2");
    assert_eq!((found.inputs.len(), found.outputs.as_slice()), (2, ["logits".to_owned()].as_slice()));
    // The same file with two operators that nobody has, of the same length.
    let bytes = std::fs::read(folder("bert").join("model.onnx")).unwrap();
    let renamed = replaced(&replaced(&bytes, b"Softmax", b"Sortmax"), b"Tanh", b"Tynh");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.onnx");
    std::fs::write(&path, renamed).unwrap();
    let found = survey(&FileConfig::of(path.to_str().unwrap())).unwrap();
    assert_eq!(found.missing, ["Sortmax", "Tynh"], "{found:?}");
    std::fs::write(&path, "no model").unwrap();
    assert!(survey(&FileConfig::of(path.to_str().unwrap())).unwrap_err().contains("is no ONNX file"));
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for at in 0..=out.len() - from.len() {
        if out[at..].starts_with(from) {
            out[at..at + to.len()].copy_from_slice(to);
        }
    }
    out
}
