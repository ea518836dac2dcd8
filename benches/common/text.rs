//! Text of varied words: the whole words of the encoder's vocabulary, frequent ones more often, in sentences.

use super::random::Random;

/// A source of words.
pub struct Words(Vec<&'static str>);

impl Words {
    /// The words of the vocabulary that is in the repository.
    pub fn new() -> Self {
        let vocabulary = include_str!("../../models/minilm-l6-v2/vocab.txt");
        let words = vocabulary.lines().filter(|w| w.len() > 1 && w.bytes().all(|b| b.is_ascii_lowercase()));
        Self(words.collect())
    }

    /// Sentences of at least `bytes` bytes.
    pub fn text(&self, random: &mut Random, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes + 120);
        while out.len() < bytes {
            let words = 6 + random.index(16);
            for at in 0..words {
                let word = self.0[random.ranked(self.0.len())];
                if at == 0 {
                    out.push_str(&word[..1].to_uppercase());
                    out.push_str(&word[1..]);
                } else {
                    out.push(' ');
                    out.push_str(word);
                }
                if random.chance(0.02) {
                    out.push_str(&format!(" {}", random.below(5_000)));
                }
            }
            let end: &str = random.pick::<&str>(&[". ", ". ", ".\n", "? "]);
            out.push_str(end);
        }
        out
    }
}
