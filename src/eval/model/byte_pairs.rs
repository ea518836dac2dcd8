//! Text as the token ids of a byte-level BPE vocabulary, as `tokenizer.json` of GPT-2, SmolLM2 or Qwen2 holds it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use rten_text::models::{Bpe, BpeOptions, Model as _, char_to_byte};
use rten_text::normalizers::{Normalizer as _, Unicode};
use rten_text::pre_tokenizers::{Digits, PreTokenizer as _, Split, SplitDelimiterBehavior, SplitOptions};
use serde::Deserialize;
use serde_json::Value;

/// Byte pair encoding costs the square of a piece, so a text is cut before. Few tokens have more bytes on average.
const MAX_BYTES_PER_TOKEN: usize = 8;

/// A tokenizer whose vocabulary is made of bytes.
///
/// Names of special tokens inside a text (`<|endoftext|>`) are plain text here, and none are put around it.
pub(super) struct BytePairs {
    forms: Vec<Unicode>,
    has_space_before: bool,
    steps: Vec<Step>,
    pairs: Bpe,
    /// One more than the highest id. A byte that the vocabulary lacks gets this id, which is then left out.
    size: u32,
    is_lacking: [bool; 256],
}

/// The tokens of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    /// What was read, normalised.
    pub text: String,
    /// The ids.
    pub ids: Vec<u32>,
    /// Where the word of each token begins in `text`, bytes.
    pub places: Vec<usize>,
    /// Whether text was left out behind the limit.
    pub is_cut: bool,
}

/// Cuts pieces of text into smaller ones.
enum Step {
    Split(Split),
    Digits(Digits),
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<Added>,
    normalizer: Option<Form>,
    pre_tokenizer: Option<Cut>,
    model: Value,
}

#[derive(Deserialize)]
struct Added {
    id: u32,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Form {
    #[serde(rename = "NFC")]
    Nfc,
    #[serde(rename = "NFD")]
    Nfd,
    #[serde(rename = "NFKC")]
    Nfkc,
    #[serde(rename = "NFKD")]
    Nfkd,
    Sequence {
        normalizers: Vec<Form>,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Cut {
    ByteLevel {
        #[serde(default)]
        add_prefix_space: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    Digits {
        #[serde(default)]
        individual_digits: bool,
    },
    Split {
        pattern: Pattern,
        behavior: Behavior,
        #[serde(default)]
        invert: bool,
    },
    Sequence {
        pretokenizers: Vec<Cut>,
    },
}

#[derive(Deserialize)]
enum Pattern {
    Regex(String),
    String(String),
}

#[derive(Deserialize)]
enum Behavior {
    Removed,
    Isolated,
}

/// The first published files say no type, and give each merge as one line.
#[derive(Deserialize)]
struct Merges {
    vocab: HashMap<String, u32>,
    merges: Vec<Merge>,
    #[serde(default)]
    ignore_merges: bool,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Pair(String, String),
    Line(String),
}

fn yes() -> bool {
    true
}

impl BytePairs {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// What is wrong with it, or which part of it this program does not read.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
        let file: File = serde_json::from_slice(&bytes).map_err(|e| {
            format!(
                "is no tokenizer.json of a byte-level BPE with forms NFC, NFD, NFKC, NFKD and cuts ByteLevel, Digits, \
                 Split (Removed, Isolated): {e}"
            )
        })?;
        let mut found = Cuts::default();
        found.add(file.pre_tokenizer.ok_or_else(byte_level_only)?)?;
        if !found.is_byte_level {
            return Err(byte_level_only());
        }
        let merges = merges(file.model)?;
        let added = file.added_tokens.iter().map(|token| token.id).max();
        let highest = merges.vocab.values().copied().max().max(added).unwrap_or_default();
        let size = highest.checked_add(1).ok_or_else(|| format!("has the id {highest}"))?;
        let (pairs, is_lacking) = pairs(merges, size)?;
        let mut forms = Vec::new();
        file.normalizer.into_iter().for_each(|form| flatten(form, &mut forms));
        let (has_space_before, steps) = (found.has_space_before, found.steps);
        Ok(Self { forms, has_space_before, steps, pairs, size, is_lacking })
    }

    /// How many ids there are: one more than the highest.
    pub(super) fn size(&self) -> usize {
        self.size as usize
    }

    /// The first `limit` tokens of a text, or fewer if it is one of very long words.
    ///
    /// # Errors
    /// When the text is too much for a pattern of the file.
    pub(super) fn encode(&self, text: &str, limit: usize) -> Result<Tokens, String> {
        let start = &text[..text.floor_char_boundary(limit.saturating_mul(MAX_BYTES_PER_TOKEN))];
        let mut tokens = Tokens { is_cut: start.len() < text.len(), ..Tokens::default() };
        tokens.text = self.normalised(start)?;
        let mut pieces = vec![tokens.text.as_str()];
        for step in &self.steps {
            let mut smaller = Vec::new();
            for piece in pieces {
                smaller.extend(step.cut(piece)?);
            }
            pieces = smaller;
        }
        let whole = tokens.text.as_ptr().addr();
        for piece in pieces {
            let place = piece.as_ptr().addr() - whole;
            let known = self.without_lacking(piece);
            let on_token = &mut |_, id| {
                if id < self.size {
                    tokens.ids.push(id);
                    tokens.places.push(place);
                }
            };
            self.pairs.encode_with_offsets(&known, on_token).map_err(|e| e.to_string())?;
            if tokens.ids.len() > limit {
                break;
            }
        }
        tokens.is_cut |= tokens.ids.len() > limit;
        tokens.ids.truncate(limit);
        tokens.places.truncate(limit);
        Ok(tokens)
    }

    fn normalised(&self, text: &str) -> Result<String, String> {
        let mut text = Cow::Borrowed(text);
        for form in &self.forms {
            text = Cow::Owned(form.normalize(&text).map_err(|e| e.to_string())?.0);
        }
        if self.has_space_before && !text.is_empty() && !text.starts_with(' ') {
            text.to_mut().insert(0, ' ');
        }
        Ok(text.into_owned())
    }

    /// Without the characters of which the vocabulary has no byte: their neighbours are merged with each other.
    fn without_lacking<'a>(&self, piece: &'a str) -> Cow<'a, str> {
        let is_lacking = |c: char| {
            let mut buffer = [0; 4];
            c.encode_utf8(&mut buffer).bytes().all(|byte| self.is_lacking[usize::from(byte)])
        };
        if piece.contains(is_lacking) { piece.replace(is_lacking, "").into() } else { piece.into() }
    }
}

impl Step {
    fn cut<'a>(&self, piece: &'a str) -> Result<Vec<&'a str>, String> {
        match self {
            Self::Split(split) => split.pre_tokenize(piece),
            Self::Digits(digits) => digits.pre_tokenize(piece),
        }
        .map_err(|e| e.to_string())
    }
}

/// The cuts of a file in their order.
#[derive(Default)]
struct Cuts {
    steps: Vec<Step>,
    is_byte_level: bool,
    has_space_before: bool,
}

impl Cuts {
    fn add(&mut self, cut: Cut) -> Result<(), String> {
        match cut {
            Cut::ByteLevel { add_prefix_space, use_regex } => {
                if add_prefix_space && !self.steps.is_empty() {
                    return Err(
                        "puts a space before each piece (add_prefix_space), which is not read".to_owned()
                    );
                }
                (self.is_byte_level, self.has_space_before) = (true, add_prefix_space);
                self.steps.extend(use_regex.then(|| Step::Split(Split::gpt2())));
            }
            Cut::Digits { individual_digits } => {
                self.steps.push(Step::Digits(Digits::new(individual_digits)))
            }
            Cut::Split { pattern, behavior, invert } => {
                let pattern = match pattern {
                    Pattern::Regex(pattern) => pattern,
                    Pattern::String(text) => regex::escape(&text),
                };
                let delimiter = match behavior {
                    Behavior::Removed => SplitDelimiterBehavior::Remove,
                    Behavior::Isolated => SplitDelimiterBehavior::Isolate,
                };
                let split = Split::new(SplitOptions { pattern: &pattern, delimiter, invert });
                self.steps.push(Step::Split(split.map_err(|e| e.to_string())?));
            }
            Cut::Sequence { pretokenizers } => {
                pretokenizers.into_iter().try_for_each(|cut| self.add(cut))?;
            }
        }
        Ok(())
    }
}

fn byte_level_only() -> String {
    "is not byte-level: a pre_tokenizer ByteLevel is read, as GPT-2, SmolLM2 and Qwen2 have".to_owned()
}

fn merges(model: Value) -> Result<Merges, String> {
    if let Some(kind) = model.get("type").and_then(Value::as_str).filter(|kind| *kind != "BPE") {
        return Err(format!("is {kind}: a byte-level BPE is read, as GPT-2, SmolLM2 and Qwen2 have"));
    }
    let merges: Merges = serde_json::from_value(model).map_err(|e| format!("its model: {e}"))?;
    let marks = [&merges.continuing_subword_prefix, &merges.end_of_word_suffix];
    if marks.into_iter().flatten().any(|mark| !mark.is_empty()) {
        return Err("marks the insides or ends of words, which is not read".to_owned());
    }
    Ok(merges)
}

/// The encoder, and which bytes the vocabulary lacks. They are left out of a text, or become the token of the unknown
/// where the file names one.
fn pairs(file: Merges, lacking: u32) -> Result<(Bpe, [bool; 256]), String> {
    let Merges { mut vocab, merges, ignore_merges, unk_token, .. } = file;
    let pair = |merge: Merge| match merge {
        Merge::Pair(first, second) => Ok((Cow::Owned(first), Cow::Owned(second))),
        Merge::Line(line) => match line.split_once(' ') {
            Some((first, second)) => Ok((first.to_owned().into(), second.to_owned().into())),
            None => Err(format!("{line:?} is no merge")),
        },
    };
    let merges = merges.into_iter().map(pair).collect::<Result<Vec<_>, _>>()?;
    let unknown = unk_token.and_then(|token| vocab.get(&token).copied());
    let mut is_lacking = [false; 256];
    for (shown, byte) in char_to_byte() {
        vocab.entry(shown.to_string()).or_insert_with(|| {
            is_lacking[usize::from(byte)] = unknown.is_none();
            unknown.unwrap_or(lacking)
        });
    }
    let options = BpeOptions {
        merges: &merges,
        vocab: Some(vocab.into_iter().collect()),
        ignore_merges,
        ..BpeOptions::default()
    };
    Ok((Bpe::new(options).map_err(|e| e.to_string())?, is_lacking))
}

fn flatten(form: Form, forms: &mut Vec<Unicode>) {
    match form {
        Form::Nfc => forms.push(Unicode::Nfc),
        Form::Nfd => forms.push(Unicode::Nfd),
        Form::Nfkc => forms.push(Unicode::Nfkc),
        Form::Nfkd => forms.push(Unicode::Nfkd),
        Form::Sequence { normalizers } => normalizers.into_iter().for_each(|form| flatten(form, forms)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Expected {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        text: String,
        ids: Vec<u32>,
        ids_digits: Vec<u32>,
    }

    fn fixture(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/perplexity").join(name)
    }

    fn refused(text: &str) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        BytePairs::open(file.path()).err().unwrap()
    }

    /// Ids of the library that the files are made for (`training/perplexity_fixture.py`).
    #[test]
    fn agrees_with_the_reference_tokenizer() {
        let expected: Expected =
            serde_json::from_str(&std::fs::read_to_string(fixture("expected.json")).unwrap()).unwrap();
        let [new, old, digits] = ["tokenizer.json", "tokenizer_old.json", "tokenizer_digits.json"]
            .map(|name| BytePairs::open(&fixture(name)).unwrap());
        assert!(expected.cases.len() >= 10 && digits.is_lacking.contains(&true));
        for case in expected.cases {
            let found = new.encode(&case.text, 1_000).unwrap();
            assert_eq!(found.ids, case.ids, "{:?}", case.text);
            assert!(!found.is_cut && found.text == case.text && found.places.is_sorted());
            assert_eq!(old.encode(&case.text, 1_000).unwrap(), found);
            assert_eq!(digits.encode(&case.text, 1_000).unwrap().ids, case.ids_digits, "{:?}", case.text);
        }
    }

    #[test]
    fn limits_hold_and_are_told() {
        let pairs = BytePairs::open(&fixture("tokenizer.json")).unwrap();
        let all = pairs.encode("The museum opens at nine.", 100).unwrap();
        let cut = pairs.encode("The museum opens at nine.", 5).unwrap();
        assert_eq!((&cut.ids[..], cut.is_cut), (&all.ids[..5], true));
        assert!(!pairs.encode("The museum opens at nine.", all.ids.len()).unwrap().is_cut);
        assert!(pairs.encode(&"x".repeat(100_000), 100).unwrap().is_cut);
        assert_eq!(pairs.encode("", 5).unwrap(), Tokens::default());
    }

    #[test]
    fn what_is_not_read_is_named() {
        let path = fixture("tokenizer_unigram.json");
        assert!(BytePairs::open(&path).err().unwrap().contains("not byte-level"));
        assert!(
            BytePairs::open(Path::new("/nowhere/tokenizer.json")).err().unwrap().contains("cannot be read")
        );
        let level = r#""pre_tokenizer":{"type":"ByteLevel"}"#;
        let of = |model: &str| refused(&format!("{{{level},\"model\":{model}}}"));
        assert!(of(r#"{"type":"WordPiece","vocab":{}}"#).contains("WordPiece"));
        assert!(of(r#"{"vocab":{"a":0},"merges":["ab"]}"#).contains("no merge"));
        assert!(of(r#"{"vocab":{"a":0},"merges":["a b"]}"#).contains("not found in vocab"));
        assert!(of(r#"{"vocab":{},"merges":[],"end_of_word_suffix":"</w>"}"#).contains("ends of words"));
        assert!(refused("{").contains("is no tokenizer.json"));
        assert!(refused(r#"{"pre_tokenizer":{"type":"Metaspace"},"model":{}}"#).contains("Metaspace"));
    }
}
