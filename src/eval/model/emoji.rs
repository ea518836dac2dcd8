//! Emoji as words and look-alike letters as letters, because WordPiece knows neither.

use std::collections::HashMap;

use super::error::ModelError;

const NAME: &str = "emoji table";

/// What becomes of characters, and of pairs of them.
///
/// A line of the table: code points in hexadecimal, a tab, the replacement. Words stand between spaces; a replacement
/// that begins with `+` is joined to its neighbours, and `+` alone deletes.
pub(super) struct Emoji {
    replacements: HashMap<String, &'static str>,
}

impl Emoji {
    /// Reads a table.
    ///
    /// # Errors
    /// When a line is no entry.
    pub(super) fn new(table: &'static str) -> Result<Self, ModelError> {
        let damaged = |line: &str| ModelError::open(NAME, format!("{line:?} is no entry"));
        let mut replacements = HashMap::new();
        for line in table.lines() {
            let (points, replacement) = line.split_once('\t').ok_or_else(|| damaged(line))?;
            let character = |point: &str| u32::from_str_radix(point, 16).ok().and_then(char::from_u32);
            let key: Option<String> = points.split(' ').map(character).collect();
            replacements.insert(key.ok_or_else(|| damaged(line))?, replacement);
        }
        Ok(Self { replacements })
    }

    /// `text` with every entry replaced: first what is deleted, then from left to right, two characters before one.
    pub(super) fn normalise(&self, text: &str) -> String {
        if text.is_ascii() {
            return text.to_owned();
        }
        let mut buffer = [0; 4];
        let mut is_kept =
            |c: &char| self.replacements.get(&*c.encode_utf8(&mut buffer)).is_none_or(|r| *r != "+");
        let kept: Vec<char> = text.chars().filter(|c| is_kept(c)).collect();
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        while at < kept.len() {
            let entry = [2, 1].into_iter().filter(|size| at + size <= kept.len()).find_map(|size| {
                let key: String = kept[at..at + size].iter().collect();
                self.replacements.get(&key).map(|replacement| (*replacement, size))
            });
            match entry.map(|(replacement, size)| (replacement.strip_prefix('+'), replacement, size)) {
                None => out.push(kept[at]),
                Some((Some(joined), _, _)) => out.push_str(joined),
                Some((None, word, _)) => {
                    out.push(' ');
                    out.push_str(word);
                    out.push(' ');
                }
            }
            at += entry.map_or(1, |(_, size)| size);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_letters_and_what_is_deleted() {
        let table = "1F412\tmonkey\n1D4EA\t+a\n200B\t+\n1F1F5 1F1F1\tpoland\n1F1F5\t+p";
        let emoji = Emoji::new(table).unwrap();
        assert_eq!(emoji.normalise("plain text"), "plain text");
        assert_eq!(emoji.normalise("é \u{1F412}\u{1F412}!"), "é  monkey  monkey !");
        assert_eq!(emoji.normalise("b\u{1D4EA}\u{200B}d"), "bad");
        assert_eq!(emoji.normalise("\u{1F1F5}\u{200B}\u{1F1F1} \u{1F1F5}"), " poland  p");
        assert!(Emoji::new("1F412 monkey").is_err() && Emoji::new("zz\tx").is_err());
    }
}
