//! Our tokenizers beside Hugging Face's library: the same ids, and tokens a CPU-second.

use crate::common::{random::Random, system, text::Words};
use crate::eval::model::{BytePairs, WordPiece};
use crate::{Args, Failed};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;
use tokenizers::Tokenizer;

/// The vocabulary of the embedded models.
const VOCABULARY: &str = include_str!("../../models/minilm-l6-v2/vocab.txt");
/// A byte-level BPE that the tests have.
const PAIRS: &str = "tests/fixtures/perplexity/tokenizer.json";
/// Keys of a line whose texts are read.
const KEYS: [&str; 5] = ["context", "question", "answer", "passage", "text"];
/// Texts that are timed.
const TIMED: usize = 4_000;

/// Prints both comparisons.
pub fn print(args: &Args) -> Result<(), Failed> {
    let texts = match &args.texts {
        Some(folder) => read_folder(folder)?,
        None => made(),
    };
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} texts, {bytes} bytes", texts.len());
    println!(
        "\n{:<12}{:>18}{:>22}{:>22}{:>8}",
        "tokenizer", "texts that differ", "ours", "tokenizers", "ratio"
    );
    let (ours, theirs) = (WordPiece::new(VOCABULARY)?, Tokenizer::from_bytes(word_pieces().to_string())?);
    compare(
        "WordPiece",
        &texts,
        args.seconds,
        |text| Ok(ours.encode(text)),
        |text| ids(&theirs, text, true),
    )?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAIRS);
    let ours = BytePairs::open(&path)?;
    let mut theirs = Tokenizer::from_file(&path)?;
    theirs.set_encode_special_tokens(true);
    compare("byte pairs", &texts, args.seconds, |text| ours.encode(text), |text| ids(&theirs, text, false))
}

/// The fast way of the library: it leaves out where in the text the tokens stand.
fn ids(tokenizer: &Tokenizer, text: &str, with_special: bool) -> Result<Vec<u32>, Failed> {
    Ok(tokenizer.encode_fast(text, with_special)?.get_ids().to_vec())
}

fn compare(
    name: &str,
    texts: &[String],
    seconds: f64,
    ours: impl Fn(&str) -> Result<Vec<u32>, Failed>,
    theirs: impl Fn(&str) -> Result<Vec<u32>, Failed>,
) -> Result<(), Failed> {
    let mut differ = 0;
    for text in texts {
        differ += usize::from(ours(text)? != theirs(text)?);
    }
    let timed: Vec<&String> = texts.iter().step_by((texts.len() / TIMED).max(1)).collect();
    let (ours, theirs) = (rate(&timed, seconds, ours)?, rate(&timed, seconds, theirs)?);
    println!("{name:<12}{differ:>18}{ours:>22.0}{theirs:>22.0}{:>8.2}", ours / theirs);
    Ok(())
}

/// Tokens a CPU-second.
fn rate(
    texts: &[&String],
    seconds: f64,
    encode: impl Fn(&str) -> Result<Vec<u32>, Failed>,
) -> Result<f64, Failed> {
    let own = || system::cpu_seconds(std::process::id());
    let (begin, mut tokens) = (own(), 0);
    while own() - begin < seconds {
        for text in texts {
            tokens += encode(text)?.len();
        }
    }
    Ok(tokens as f64 / (own() - begin))
}

/// A `tokenizer.json` of our vocabulary, as BERT's uncased models have it.
pub fn word_pieces() -> Value {
    let vocabulary: serde_json::Map<String, Value> =
        VOCABULARY.lines().zip(0..).map(|(token, id)| (token.to_owned(), json!(id))).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "decoder": null,
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", vocabulary["[SEP]"]],
            "cls": ["[CLS]", vocabulary["[CLS]"]]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
}

fn made() -> Vec<String> {
    let (words, mut random) = (Words::new(), Random::new(11));
    (0..TIMED).map(|at| words.text(&mut random, 40 + at % 2_000)).collect()
}

/// The texts of every `.jsonl.gz` in the folder and below it.
fn read_folder(folder: &Path) -> Result<Vec<String>, Failed> {
    let (mut folders, mut texts) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(".jsonl.gz") {
                read_file(&path, &mut texts)?;
            }
        }
    }
    Ok(texts)
}

fn read_file(path: &Path, texts: &mut Vec<String>) -> Result<(), Failed> {
    let mut lines = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut lines)?;
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line)?;
        for key in KEYS {
            let many = line[key].as_array().map_or(std::slice::from_ref(&line[key]), Vec::as_slice);
            texts.extend(many.iter().filter_map(Value::as_str).map(str::to_owned));
        }
    }
    Ok(())
}
