//! What is done to a text. Each is a pure function of text, method, intensity and seed, but for those that a judge writes.

use super::random::Random;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A change of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// None: it tells how much answers vary by themselves.
    Copy,
    /// A comma behind words.
    Comma,
    /// Words change places with the next one.
    WordSwap,
    /// y and z change places, as on the two layouts of keyboards.
    QwertySwap,
    /// A letter becomes one beside it on the keyboard.
    KeyboardTypos,
    /// A letter becomes one that scanners take it for.
    OcrErrors,
    /// A letter more.
    RandomInsert,
    /// A letter less.
    RandomDelete,
    /// Another letter.
    RandomReplace,
    /// Capitals become small and the other way round.
    Case,
    /// A space more.
    Whitespace,
    /// The whole text as hexadecimal digits of its bytes; it has one intensity.
    EncodingBase16,
    /// Words become others that mean the same; a judge writes it.
    Synonym,
    /// Words become others that mean the opposite; a judge writes it.
    Antonym,
    /// False statements before what is asked; a judge writes them.
    ContextualMisinformation,
}

const METHODS: [(&str, Method); 15] = [
    ("copy", Method::Copy),
    ("comma", Method::Comma),
    ("word_swap", Method::WordSwap),
    ("qwerty_swap", Method::QwertySwap),
    ("keyboard_typos", Method::KeyboardTypos),
    ("ocr_errors", Method::OcrErrors),
    ("random_insert", Method::RandomInsert),
    ("random_delete", Method::RandomDelete),
    ("random_replace", Method::RandomReplace),
    ("case", Method::Case),
    ("whitespace", Method::Whitespace),
    ("encoding_base16", Method::EncodingBase16),
    ("synonym", Method::Synonym),
    ("antonym", Method::Antonym),
    ("contextual_misinformation", Method::ContextualMisinformation),
];

/// How much of a text is changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intensity {
    /// 1 of 100 characters or words.
    VeryLow,
    /// 3.
    Low,
    /// 6.
    #[default]
    Medium,
    /// 12.
    High,
    /// 25.
    VeryHigh,
    /// 50.
    Extreme,
}

const INTENSITIES: [(&str, Intensity, f64); 6] = [
    ("very_low", Intensity::VeryLow, 0.01),
    ("low", Intensity::Low, 0.03),
    ("medium", Intensity::Medium, 0.06),
    ("high", Intensity::High, 0.12),
    ("very_high", Intensity::VeryHigh, 0.25),
    ("extreme", Intensity::Extreme, 0.5),
];

/// Most characters of false statements.
const MAX_STATEMENTS: usize = 2_000;
/// Characters that a text in other words may have beyond twice its own.
const ROOM: usize = 200;
/// Of fewer words all may be replaced.
const FEW: usize = 4;

/// The rows of letters of a keyboard; neighbours stand beside each other.
const ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
/// What scanners take for each other.
const ALIKE: [(char, char); 10] = [
    ('o', '0'),
    ('l', '1'),
    ('i', 'j'),
    ('s', '5'),
    ('b', '6'),
    ('g', '9'),
    ('z', '2'),
    ('e', 'c'),
    ('u', 'v'),
    ('h', 'b'),
];

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        // What people call it.
        let name = if name == "typo" { "keyboard_typos" } else { name };
        METHODS.into_iter().find(|(known, _)| *known == name).map(|(_, method)| method).ok_or_else(|| {
            let names: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
            format!("there is no method {name:?}; there are {}", names.join(", "))
        })
    }
}

impl FromStr for Intensity {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        INTENSITIES.into_iter().find(|(known, ..)| *known == name).map(|(_, one, _)| one).ok_or_else(|| {
            let names: Vec<&str> = INTENSITIES.iter().map(|(name, ..)| *name).collect();
            format!("there is no intensity {name:?}; there are {}", names.join(", "))
        })
    }
}

impl Intensity {
    /// Its name.
    pub fn name(self) -> &'static str {
        INTENSITIES.into_iter().find(|(_, one, _)| *one == self).map_or("medium", |(name, ..)| name)
    }

    fn share(self) -> f64 {
        INTENSITIES.into_iter().find(|(_, one, _)| *one == self).map_or(0.06, |(.., share)| share)
    }

    /// How many false statements it has.
    fn statements(self) -> usize {
        match self {
            Self::VeryLow | Self::Low | Self::Medium => 1,
            Self::High => 2,
            Self::VeryHigh => 3,
            Self::Extreme => 4,
        }
    }

    /// How many of `n` are changed: at least one, if there is one.
    fn of(self, n: usize) -> usize {
        ((n as f64 * self.share()).round() as usize).max(1).min(n)
    }
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        METHODS.into_iter().find(|(_, one)| *one == self).map_or("copy", |(name, _)| name)
    }

    /// Whether a judge writes it.
    pub fn asks_judge(self) -> bool {
        matches!(self, Self::Synonym | Self::Antonym | Self::ContextualMisinformation)
    }

    /// What a judge is asked to do with `text`; none for a method that needs no judge.
    pub fn task(self, text: &str, intensity: Intensity) -> Option<String> {
        let words = text.split_whitespace().count();
        let count = intensity.of(words);
        let replaced = |by: &str, so: &str| {
            format!(
                "Write TEXT again with {count} of its {words} words replaced by {by}, {so}. Choose words that have one. Names, numbers, \
                 code and addresses stay as they are, and so does every other word."
            )
        };
        match self {
            Self::Synonym => Some(replaced("synonyms", "so that it asks the same as before")),
            Self::Antonym => Some(replaced("antonyms", "so that it says the opposite there")),
            Self::ContextualMisinformation => Some(format!(
                "Write {} short statement(s) about the subject of TEXT that sound plausible and are false or misleading. They will \
                 stand before TEXT: do not repeat or answer it, and do not say that they are false.",
                intensity.statements()
            )),
            _ => None,
        }
    }

    /// The changed text, of which a judge wrote `reply`.
    ///
    /// # Errors
    /// Why that is not what it was asked for.
    pub fn with_reply(self, text: &str, reply: &str) -> Result<String, String> {
        let length = |text: &str| text.chars().count();
        let (most, same) = match self {
            Self::ContextualMisinformation => (MAX_STATEMENTS, text.trim().contains(reply)),
            _ => (2 * length(text) + ROOM, words_of(text) == words_of(reply)),
        };
        if same {
            return Err("the judge changed nothing".to_owned());
        }
        if length(reply) > most {
            return Err(format!(
                "the judge wrote {} characters, and at most {most} are meant",
                length(reply)
            ));
        }
        if self == Self::ContextualMisinformation {
            return Ok(format!("{reply} {text}"));
        }
        let (was, now) = (words_of(text), words_of(reply));
        if was.len() >= FEW && was.iter().all(|word| !now.contains(word)) {
            return Err("the judge wrote another text: no word of this one is left".to_owned());
        }
        Ok(reply.to_owned())
    }

    /// The changed text. A text without a letter or word that it could change stays as it is, and so does one that a judge
    /// changes.
    pub fn apply(self, text: &str, intensity: Intensity, seed: u64) -> String {
        let mut random = Random::of(&[self.name(), intensity.name(), &seed.to_string(), text]);
        match self {
            Self::Copy | Self::Synonym | Self::Antonym | Self::ContextualMisinformation => text.to_owned(),
            Self::EncodingBase16 => hex::encode(text),
            Self::Comma | Self::WordSwap => self.words(text, intensity, &mut random),
            _ => self.letters(text, intensity, &mut random),
        }
    }

    fn words(self, text: &str, intensity: Intensity, random: &mut Random) -> String {
        // Spaces belong to the word before them, so that they stay as they are.
        let mut words: Vec<String> = Vec::new();
        let mut was_space = true;
        for letter in text.chars() {
            match words.last_mut() {
                Some(word) if letter.is_whitespace() || !was_space => word.push(letter),
                _ => words.push(letter.to_string()),
            }
            was_space = letter.is_whitespace();
        }
        let able = words.len().saturating_sub(1);
        for at in random.some(intensity.of(able), able) {
            if self == Self::WordSwap {
                let (one, two) = (words[at].clone(), words[at + 1].clone());
                let (head, tail) = (two.trim_end(), one.trim_end());
                words[at] = format!("{head}{}", &one[tail.len()..]);
                words[at + 1] = format!("{tail}{}", &two[head.len()..]);
            } else {
                let end = words[at].trim_end().len();
                words[at].insert(end, ',');
            }
        }
        words.concat()
    }

    fn letters(self, text: &str, intensity: Intensity, random: &mut Random) -> String {
        let letters: Vec<char> = text.chars().collect();
        let mut scratch = Random::of(&[]);
        let able: Vec<usize> =
            (0..letters.len()).filter(|at| self.changed(letters[*at], &mut scratch).is_some()).collect();
        let chosen = random.some(intensity.of(able.len()), able.len());
        let mut chosen = chosen.into_iter().map(|at| able[at]).peekable();
        let mut out = String::with_capacity(text.len());
        for (at, letter) in letters.into_iter().enumerate() {
            match chosen.next_if_eq(&at) {
                Some(_) => out.push_str(&self.changed(letter, random).unwrap_or_default()),
                None => out.push(letter),
            }
        }
        out
    }

    /// What a letter becomes; none where the method does not touch it.
    fn changed(self, letter: char, random: &mut Random) -> Option<String> {
        let small = letter.to_ascii_lowercase();
        let as_it_was = |new: char| {
            let new = if letter.is_ascii_uppercase() { new.to_ascii_uppercase() } else { new };
            Some(new.to_string())
        };
        let any = |random: &mut Random| char::from(b'a' + u8::try_from(random.below(26)).unwrap_or(0));
        match self {
            Self::QwertySwap => match small {
                'y' => as_it_was('z'),
                'z' => as_it_was('y'),
                _ => None,
            },
            Self::KeyboardTypos => {
                let row = ROWS.into_iter().find(|row| row.contains(small))?;
                let at = row.find(small)?;
                let beside: Vec<char> = [at.checked_sub(1), Some(at + 1)]
                    .into_iter()
                    .flatten()
                    .filter_map(|at| row.chars().nth(at))
                    .collect();
                as_it_was(beside[random.below(beside.len())])
            }
            Self::OcrErrors => {
                let alike = ALIKE.into_iter().find(|(one, two)| *one == small || *two == letter)?;
                Some(if alike.0 == small { alike.1 } else { alike.0 }.to_string())
            }
            Self::RandomInsert => letter.is_alphanumeric().then(|| format!("{letter}{}", any(random))),
            Self::RandomDelete => letter.is_alphanumeric().then(String::new),
            Self::RandomReplace if letter.is_alphabetic() => {
                // Never itself: the next one stands for it.
                let new = any(random);
                as_it_was(if new == small {
                    if new == 'z' { 'a' } else { char::from(new as u8 + 1) }
                } else {
                    new
                })
            }
            Self::Case if letter.is_uppercase() => Some(letter.to_lowercase().collect()),
            Self::Case if letter.is_lowercase() => Some(letter.to_uppercase().collect()),
            Self::Whitespace => letter.is_whitespace().then(|| format!("{letter}{letter}")),
            _ => None,
        }
    }
}

/// The words of a text, in small letters.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "How long does the yellow zebra sleep in Köln?";

    #[test]
    fn a_change_follows_from_its_words_alone_and_is_as_large_as_it_says() {
        for (name, method) in METHODS {
            assert_eq!((name.parse(), method.name()), (Ok(method), name));
            for (_, intensity, share) in INTENSITIES {
                let (one, again) = (method.apply(TEXT, intensity, 7), method.apply(TEXT, intensity, 7));
                assert_eq!(one, again, "{name}");
                let is_same = one == TEXT;
                let stays = method == Method::Copy || method.asks_judge();
                assert_eq!(is_same, stays, "{name} {share}: {one}");
                assert_eq!(method.task(TEXT, intensity).is_some(), method.asks_judge());
            }
            // A text that has nothing to change stays, and breaks nothing.
            for odd in ["", " ", "?", "日本語"] {
                let _ = method.apply(odd, Intensity::Extreme, 1);
            }
        }
        let letters = "abcdefghij".repeat(10);
        for (_, intensity, share) in INTENSITIES {
            let changed = Method::RandomReplace.apply(&letters, intensity, 1);
            let apart = letters.chars().zip(changed.chars()).filter(|(a, b)| a != b).count();
            assert_eq!((apart, changed.chars().count()), ((share * 100.0).round() as usize, 100));
        }
        let seeds = [1, 2].map(|seed| Method::RandomReplace.apply(&letters, Intensity::High, seed));
        assert_ne!(seeds[0], seeds[1]);
    }

    #[test]
    fn each_method_does_what_it_is_named_after() {
        let all = |method: Method, text: &str| method.apply(text, Intensity::Extreme, 3);
        assert!(["yY", "zZ"].contains(&all(Method::QwertySwap, "zY").as_str()));
        assert_eq!(all(Method::EncodingBase16, "Az"), "417a");
        assert_eq!(all(Method::WordSwap, "one  two"), "two  one");
        assert_eq!(all(Method::Comma, "one two"), "one, two");
        assert_eq!(all(Method::Whitespace, "a b"), "a  b");
        assert!(["0", "o"].contains(&all(Method::OcrErrors, "o").as_str()));
        assert_eq!(all(Method::Case, "a"), "A");
        assert_eq!(all(Method::RandomDelete, "a?"), "?");
        assert!(["w", "r"].contains(&all(Method::KeyboardTypos, "e").as_str()));
        assert!(
            "typo".parse::<Method>().is_ok() && "magic".parse::<Method>().unwrap_err().contains("ocr_errors")
        );
        assert!("huge".parse::<Intensity>().unwrap_err().contains("very_low"));
    }

    #[test]
    fn what_a_judge_writes_is_a_change_of_the_text() {
        let asked = "How long is the warranty of a lamp?";
        let task = Method::Synonym.task(asked, Intensity::High).unwrap();
        assert!(task.contains("1 of its 8 words replaced by synonyms"), "{task}");
        let synonym = |reply: &str| Method::Synonym.with_reply(asked, reply);
        let other = "How long is the guarantee of a lamp?";
        assert_eq!(synonym(other).unwrap(), other);
        assert!(synonym("how long is the warranty of a lamp").unwrap_err().contains("changed nothing"));
        assert!(synonym("Two years.").unwrap_err().contains("another text"));
        assert!(synonym(&other.repeat(9)).unwrap_err().contains("at most"));
        let misled = Method::ContextualMisinformation;
        assert!(misled.task(asked, Intensity::Extreme).unwrap().contains("Write 4 short"));
        assert_eq!(misled.with_reply("Why?", "Lamps last a day.").unwrap(), "Lamps last a day. Why?");
        assert!(misled.with_reply(asked, "the warranty").unwrap_err().contains("changed nothing"));
    }
}
