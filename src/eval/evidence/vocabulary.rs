//! Words, stems, numbers, names and negation, as they are compared.
//!
//! A word is a run of letters and digits; an apostrophe between two of them belongs to it. Words are in lower case and
//! without a final "'s". A stem is a word without the first of a few endings, if three characters or more are left.

use crate::eval::text;
use std::collections::HashSet;
use std::sync::LazyLock;

/// English words that say little by themselves.
const STOP_WORDS: &str = "a about above after again all also although am an and any are as at be because been before \
being below between both but by can could did do does doing down during each either else ever every few for from further \
had has have having he her here hers herself him himself his how i if in into is it its itself just may me might more \
most much must my myself neither no nor not of off on once only onto or other our ours ourselves out over own per rather \
same shall she should since so some such than that the their theirs them themselves then there these they this those \
though through thus to too under until up upon us very was we were what when where whether which while who whom whose why \
will with within without would yes yet you your yours yourself yourselves well oh ok okay really quite know think n't \
don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't hasn't haven't i'm i've i'd i'll it's \
that's there's they're we're you're he's she's s t re ve ll d m";

const NEGATIONS: &str = "no not never none nobody nothing neither nor without cannot n't don't doesn't didn't isn't aren't \
wasn't weren't won't wouldn't can't couldn't shouldn't hasn't haven't hadn't unable refuse refused refuses fail failed \
fails lack lacks lacked deny denied denies";

const ENDINGS: [&str; 8] = ["ies", "ied", "ing", "ed", "es", "s", "e", "y"];

static STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
static NEGATING: LazyLock<HashSet<&str>> = LazyLock::new(|| NEGATIONS.split_whitespace().collect());

/// The words of a text as they stand in it.
fn raw_words(text: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), None);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = start.is_some()
            && matches!(c, '\'' | '\u{2019}')
            && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if c.is_alphanumeric() {
            start = start.or(Some(at));
        } else if !joins && let Some(from) = start.take() {
            found.push(&text[from..at]);
        }
    }
    found.extend(start.map(|from| &text[from..]));
    found
}

fn plain(word: &str) -> String {
    let lower = word.to_lowercase().replace('\u{2019}', "'");
    match lower.strip_suffix("'s") {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => lower,
    }
}

/// The words of a text in the form in which they are compared.
pub fn words(text: &str) -> Vec<String> {
    raw_words(text).into_iter().map(plain).collect()
}

pub(super) fn stem(word: &str) -> &str {
    if word.chars().any(char::is_numeric) {
        return word;
    }
    for ending in ENDINGS {
        let Some(rest) = word.strip_suffix(ending) else { continue };
        if rest.chars().count() >= 3 && !(ending == "s" && word.ends_with("ss")) {
            return rest;
        }
    }
    word
}

/// The stems of the words that say something.
pub fn content(text: &str) -> HashSet<String> {
    let said = |word: &String| !STOP.contains(word.as_str());
    words(text).iter().filter(|word| said(word)).map(|word| stem(word).to_owned()).collect()
}

/// The stems of all words.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word).to_owned()).collect()
}

/// The pairs of stems that follow each other.
pub(super) fn bigrams(text: &str) -> HashSet<(String, String)> {
    stems(text).windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// The numbers in digits, in one spelling; those of citations (`[1]`) are none.
pub(super) fn digits(text: &str) -> HashSet<String> {
    text::digits(&text::without_citations(text)).into_iter().collect()
}

/// The numbers in digits, and number words up to ninety.
pub(super) fn numbers(text: &str) -> HashSet<String> {
    let mut found = digits(text);
    found.extend(words(text).iter().filter_map(|word| text::number_word(word)));
    found
}

/// The stems of words with a capital, but for the first word and words that say little.
pub(super) fn names(sentence: &str) -> HashSet<String> {
    let is_name = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    let found = raw_words(sentence).into_iter().skip(1).filter(is_name).map(plain);
    found.filter(|word| !STOP.contains(word.as_str())).map(|word| stem(&word).to_owned()).collect()
}

pub(super) fn is_negated(text: &str) -> bool {
    words(text).iter().any(|word| NEGATING.contains(word.as_str()) || word.ends_with("n't"))
}

/// The share of `wanted` that is not in `known`; 0 if nothing is wanted.
pub fn share_missing<T: Eq + std::hash::Hash>(wanted: &HashSet<T>, known: &HashSet<T>) -> f64 {
    if wanted.is_empty() {
        return 0.0;
    }
    wanted.difference(known).count() as f64 / wanted.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> HashSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_keep_their_apostrophes() {
        assert_eq!(
            words("The dog\u{2019}s bone -- it isn't O'Neil's_x 3.14"),
            ["the", "dog", "bone", "it", "isn't", "o'neil", "x", "3", "14"]
        );
        assert_eq!(words("'quoted' ’"), ["quoted"]);
    }

    #[test]
    fn stems_lose_one_ending() {
        let pairs =
            [("stories", "stor"), ("walked", "walk"), ("glass", "glass"), ("is", "is"), ("b2bs", "b2bs")];
        for (word, expected) in pairs {
            assert_eq!(stem(word), expected);
        }
    }

    #[test]
    fn numbers_have_one_spelling() {
        assert_eq!(digits("1,234,567 and 1.50, 2,5 or 7."), set(&["1234567", "1.5", "2.5", "7"]));
        assert_eq!(numbers("Twelve of 40, ninety"), set(&["12", "40", "90"]));
        assert_eq!(numbers("Twelve of 40 [1], ninety.[2, 3] In [2024]"), set(&["12", "40", "90", "2024"]));
    }

    #[test]
    fn names_are_capitals_inside_a_sentence() {
        assert_eq!(names("Yesterday Marie Curie and I met in Paris."), set(&["mari", "curi", "pari"]));
        assert!(is_negated("He couldn't go") && !is_negated("He could go"));
    }
}
