//! Untrusted text between delimiters that nobody can guess.

use std::fmt::Write as _;

/// So much of a text that is cut comes from its beginning; the rest from its end.
const HEAD: (usize, usize) = (2, 3);

/// What stands beside the name, the number and the text of a block, bytes.
const MARKS: usize = "<<< \n\n >>>\n\n".len();
/// Room for a line behind the blocks, bytes.
const LINE: usize = 64;

/// A text under evaluation, with the name that the judge knows it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Such as `ANSWER` or `CONTEXT 2`.
    pub name: String,
    /// The text, as it was sent to us.
    pub text: String,
}

impl Block {
    pub(super) fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

/// A number that no text can know: random, and in none of `blocks`.
pub(super) fn nonce(blocks: &[Block]) -> String {
    loop {
        let nonce = uuid::Uuid::new_v4().simple().to_string();
        if blocks.iter().all(|block| !block.text.contains(&nonce)) {
            return nonce;
        }
    }
}

/// The blocks, each between a line `<<<NAME nonce` and a line `NAME nonce>>>`, with room for a line behind them.
pub(super) fn delimited(blocks: &[Block], nonce: &str) -> String {
    let bytes = |Block { name, text }: &Block| text.len() + 2 * (name.len() + nonce.len()) + MARKS;
    let mut out = String::with_capacity(blocks.iter().map(bytes).sum::<usize>() + LINE);
    for Block { name, text } in blocks {
        // A String takes everything.
        let _ = write!(out, "<<<{name} {nonce}\n{text}\n{name} {nonce}>>>\n\n");
    }
    out
}

/// The blocks with at most `max` characters of text together, and what was left out, to be told; none if nothing was.
///
/// Each block gets an equal share; what short ones leave goes to the longer ones. A block that is longer than its share keeps
/// two thirds of it from its beginning and one third from its end.
pub(super) fn windowed(mut blocks: Vec<Block>, max: usize) -> (Vec<Block>, Option<String>) {
    let lengths: Vec<usize> = blocks.iter().map(|block| block.text.chars().count()).collect();
    if lengths.iter().sum::<usize>() <= max {
        return (blocks, None);
    }
    let share = fair_share(&lengths, max);
    let mut told = Vec::new();
    for (block, length) in blocks.iter_mut().zip(lengths).filter(|(_, length)| *length > share) {
        told.push(format!("{} with {share} of {length} characters", block.name));
        block.text = cut(&block.text, length, share);
    }
    let note = format!(
        "Judged on a window (judges.max_input_chars = {max}): {}; of each the first two thirds and the last third.",
        told.join(", ")
    );
    (blocks, Some(note))
}

/// The largest length to which all can be cut so that they have `max` together.
fn fair_share(lengths: &[usize], max: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = max;
    for (at, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - at);
        if *length > share {
            return share;
        }
        left -= length;
    }
    max
}

fn cut(text: &str, length: usize, share: usize) -> String {
    let head = share * HEAD.0 / HEAD.1;
    let tail = share - head;
    let first: String = text.chars().take(head).collect();
    let last: String = text.chars().skip(length - tail).collect();
    format!("{first}\n[… {} characters left out …]\n{last}", length - share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_blocks_stay_whole_and_long_ones_share_what_is_left() {
        let long = format!("{}{}", "a".repeat(900), "z".repeat(100));
        let blocks = vec![Block::new("ANSWER", "short"), Block::new("CONTEXT 1", long.clone())];
        let (same, note) = windowed(blocks.clone(), 2_000);
        assert_eq!((same, note), (blocks.clone(), None));
        let (cut, note) = windowed(blocks, 305);
        assert_eq!(cut[0].text, "short");
        assert_eq!(cut[1].text.matches('a').count(), 200 + "characters left out".matches('a').count());
        assert!(cut[1].text.ends_with(&"z".repeat(100)) && cut[1].text.contains("700 characters left out"));
        let note = note.unwrap();
        assert!(note.contains("CONTEXT 1 with 300 of 1000 characters"), "{note}");
    }

    #[test]
    fn characters_are_not_cut_apart() {
        let (cut, _) = windowed(vec![Block::new("ANSWER", "ä".repeat(50))], 10);
        assert_eq!(cut[0].text.matches('ä').count(), 10);
    }

    #[test]
    fn shares_are_fair() {
        assert_eq!(fair_share(&[1, 10, 10], 11), 5);
        assert_eq!(fair_share(&[10, 1, 2], 100), 100);
    }

    #[test]
    fn each_call_has_its_own_nonce() {
        assert_ne!(nonce(&[]), nonce(&[]));
        let text = delimited(&[Block::new("ANSWER", "x\ny")], "77");
        assert_eq!(text, "<<<ANSWER 77\nx\ny\nANSWER 77>>>\n\n");
        assert_eq!(text.capacity(), text.len() + LINE, "it has not grown");
    }
}
