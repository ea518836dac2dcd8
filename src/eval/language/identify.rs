//! A text as a guess at its language.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::cues;
use super::script::{Script, is_kana};
use super::table::{Group, table};
use crate::eval::model::ModelError;

/// No more characters than this are looked at.
const MAX_CHARS: usize = 4_000;
/// Letters that a language with a script of its own needs.
const MIN_LETTERS_OWN_SCRIPT: usize = 2;
/// Letters and words that the statistics need: a single word may be a name.
const MIN_LETTERS: usize = 12;
const MIN_WORDS: usize = 2;
/// Chinese characters that they need.
const MIN_CHARACTERS: usize = 6;
/// The probability from which a guess is sure.
const SURE: f32 = 0.9;
/// Half a text that is this sure of another language makes it mixed, if it has this many letters.
const HALF_SURE: f32 = 0.9;
const HALF_LETTERS: usize = 24;
/// Letters that a text needs before it is taken for another language than English.
const FOREIGN_LETTERS: usize = 24;
/// The share of letters that must be of the main script.
const MAIN_SCRIPT: f64 = 0.75;
/// Of Japanese syllables, from which characters are read as Japanese.
const KANA: f64 = 0.05;

#[expect(clippy::expect_used, reason = "constants that the tests compile")]
static NOISE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)```.*?(?:```|$)|`[^`\n]{1,200}`|https?://\S+|www\.\S+|\S+@\S+\.\S+|<[^<>\n]{1,100}>|[\p{N}_#@*/\\|=+]+")
        .expect("a constant that the tests compile")
});

/// What was found out about a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// The script that most letters are of; Japanese and Chinese characters count twice.
    pub script: Option<Script>,
    /// The likeliest language, ISO 639-3.
    pub code: Option<&'static str>,
    /// That it is the right one, among those known, from 0 to 1.
    pub probability: f32,
    /// Whether that language can be relied on.
    pub is_sure: bool,
    /// Letters outside of code, addresses and numbers.
    pub letters: usize,
    /// Words of two letters or more without a capital: names have few.
    pub small_words: usize,
    /// Log-odds by language, up to a constant; of the script's languages.
    scores: Vec<(&'static str, f32)>,
}

impl Guess {
    fn none() -> Self {
        Self {
            script: None,
            code: None,
            probability: 0.0,
            is_sure: false,
            letters: 0,
            small_words: 0,
            scores: Vec::new(),
        }
    }

    /// The log-odds that the text is in language `a` when it is in `a` or `b`; none where they do not share its script.
    pub fn odds(&self, a: &str, b: &str) -> Option<f32> {
        let of = |code: &str| self.scores.iter().find(|(c, _)| *c == code).map(|(_, score)| *score);
        Some(of(a)? - of(b)?)
    }
}

/// The language of a text that is surely not English, ISO 639-3: for models that read nothing else. A short text, or one
/// that is mostly names, code or numbers, is not told.
///
/// # Errors
/// When the table that the program carries is damaged.
pub fn foreign(text: &str) -> Result<Option<&'static str>, &'static ModelError> {
    let guess = identify(text)?;
    let is_text = guess.letters >= FOREIGN_LETTERS;
    Ok(guess.code.filter(|code| guess.is_sure && is_text && *code != "eng"))
}

/// Looks at script and n-grams of the first 4,000 characters. Code, addresses, tags and numbers do not count.
///
/// # Errors
/// When the table that the program carries is damaged.
pub fn identify(text: &str) -> Result<Guess, &'static ModelError> {
    let groups = table()?;
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    let clean = NOISE.replace_all(&text[..end], " ");
    let mut guess = Guess::none();
    let Some((script, share)) = main_script(&clean, &mut guess.letters) else { return Ok(guess) };
    guess.script = Some(script);
    let is_small = |word: &&str| word.chars().count() > 1 && word.chars().all(char::is_lowercase);
    guess.small_words = clean.split(|c: char| !c.is_alphabetic()).filter(is_small).count();
    let is_pure = share >= MAIN_SCRIPT && guess.letters >= MIN_LETTERS_OWN_SCRIPT;
    let alone = match script {
        Script::Own(code) => Some(code),
        Script::Hebrew => Some(if cues::is_yiddish(&clean) { "yid" } else { "heb" }),
        Script::Han if has_kana(&clean) => Some("jpn"),
        _ => None,
    };
    if let Some(code) = alone {
        (guess.code, guess.probability, guess.is_sure) = (Some(code), 1.0, is_pure);
        return Ok(guess);
    }
    if let Some(group) = groups.iter().find(|group| group.script == script) {
        by_table(group, &clean, is_pure, &mut guess);
    }
    Ok(guess)
}

/// The script of most letters, and its share of them. Counts the letters.
fn main_script(text: &str, letters: &mut usize) -> Option<(Script, f64)> {
    let mut counts: HashMap<Script, usize> = HashMap::new();
    for script in text.chars().filter_map(Script::of) {
        *letters += 1;
        *counts.entry(script).or_default() += script.weight();
    }
    let all: usize = counts.values().sum();
    // The order of scripts decides between equals, not the hash map's.
    let (script, most) = counts.into_iter().max_by_key(|(script, n)| (*n, *script))?;
    // Latin names are common in texts of other scripts.
    let other = (all - most) as f64 / if script == Script::Latin { 1.0 } else { 2.0 };
    Some((script, most as f64 / (most as f64 + other)))
}

fn has_kana(text: &str) -> bool {
    let kana = text.chars().filter(|c| is_kana(*c)).count() as f64;
    kana > 0.0 && kana >= KANA * text.chars().filter(|c| Script::of(*c) == Some(Script::Han)).count() as f64
}

/// Words as the symbols of their letters.
fn words(group: &Group, text: &str) -> Vec<Vec<u64>> {
    let lower = text.to_lowercase();
    let symbols: Vec<Option<u64>> = lower.chars().map(|c| group.symbol(c)).collect();
    symbols
        .split(Option::is_none)
        .filter(|w| !w.is_empty())
        .map(|w| w.iter().flatten().copied().collect())
        .collect()
}

/// The calibrated scores of some words.
fn scores(group: &Group, words: &[Vec<u64>], extra: f32) -> Vec<f32> {
    let mut scores = vec![0.0; group.codes.len()];
    let letters = words.iter().map(Vec::len).sum();
    words.iter().for_each(|word| group.vote(word, &mut scores));
    if group.script == Script::Devanagari {
        let marathi = group.codes.iter().position(|code| code == "mar").and_then(|at| scores.get_mut(at));
        marathi.into_iter().for_each(|score| *score += extra);
    }
    let temperature = group.temperature(letters);
    scores.iter().map(|score| score / temperature).collect()
}

/// The place and the probability of the largest.
fn top(scores: &[f32]) -> Option<(usize, f32)> {
    let (at, most) =
        scores.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    Some((at, 1.0 / scores.iter().map(|score| (score - most).exp()).sum::<f32>()))
}

fn by_table(group: &'static Group, text: &str, is_pure: bool, guess: &mut Guess) {
    let words = words(group, text);
    let odds = if group.script == Script::Devanagari { cues::marathi(text) } else { 0.0 };
    let whole = scores(group, &words, odds);
    let Some((at, probability)) = top(&whole) else { return };
    guess.code = group.codes.get(at).map(String::as_str);
    guess.probability = probability;
    let is_long = if group.script == Script::Han {
        guess.letters >= MIN_CHARACTERS
    } else {
        guess.letters >= MIN_LETTERS && text.split_whitespace().nth(MIN_WORDS - 1).is_some()
    };
    guess.is_sure = is_pure && is_long && probability >= SURE && !is_mixed(group, &words, at);
    guess.scores = group.codes.iter().map(String::as_str).zip(whole).collect();
}

/// Whether one half of the words is in another language than the whole.
fn is_mixed(group: &Group, words: &[Vec<u64>], whole: usize) -> bool {
    if group.script == Script::Devanagari {
        return false;
    }
    let (first, second) = words.split_at(words.len() / 2);
    [first, second].into_iter().any(|half| {
        half.iter().map(Vec::len).sum::<usize>() >= HALF_LETTERS
            && top(&scores(group, half, 0.0)).is_some_and(|(at, p)| at != whole && p >= HALF_SURE)
    })
}
