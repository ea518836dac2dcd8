//! What the exact operators look for in a text.

use crate::eval::text::sentences;

/// Longest texts whose edit distance is computed, characters: it takes the product of both.
const MAX_DISTANCE: usize = 10_000;

/// Words whose point ends no sentence.
const SHORTENED: &[&str] =
    &["al", "approx", "ca", "cf", "dept", "etc", "excl", "fig", "incl", "no", "resp", "vs"];

/// The least number of characters to insert, delete or replace.
///
/// # Errors
/// When a text is too long.
pub(super) fn distance(a: &str, b: &str) -> Result<usize, String> {
    if a.chars().take(MAX_DISTANCE + 1).count().max(b.chars().take(MAX_DISTANCE + 1).count()) > MAX_DISTANCE {
        return Err(format!(
            "a text is longer than {MAX_DISTANCE} characters: the edit distance would take too long"
        ));
    }
    Ok(strsim::levenshtein(a, b))
}

/// How near the nearest part of `text` comes to `wanted`, 0 to 1: one minus the edit distance over the length of `wanted`,
/// both without case and with single spaces.
///
/// # Errors
/// When a text is too long.
pub(super) fn nearness(text: &str, wanted: &str) -> Result<f64, String> {
    let plain = |text: &str| -> Vec<char> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ").chars().collect()
    };
    let (text, wanted) = (plain(text), plain(wanted));
    if text.len().max(wanted.len()) > MAX_DISTANCE {
        return Err(format!(
            "a text is longer than {MAX_DISTANCE} characters: the edit distance would take too long"
        ));
    }
    if wanted.is_empty() {
        return Ok(1.0);
    }
    // Sellers 1980: a match may begin anywhere in the text, so the first row is zero, and end anywhere.
    let mut row: Vec<usize> = vec![0; text.len() + 1];
    for (at, want) in wanted.iter().enumerate() {
        let mut before = row[0];
        row[0] = at + 1;
        for (column, have) in text.iter().enumerate() {
            let replaced = before + usize::from(have != want);
            before = row[column + 1];
            row[column + 1] = replaced.min(before + 1).min(row[column] + 1);
        }
    }
    let least = row.into_iter().min().unwrap_or(wanted.len());
    Ok(1.0 - least as f64 / wanted.len() as f64)
}

/// Whether a line is an item of a list, and its text.
pub(super) fn list_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.len() < line.len() && after_number.starts_with([')', '.']);
    let rest = if is_numbered { after_number.get(1..) } else { line.strip_prefix(['-', '*', '+', '•']) };
    rest.is_some_and(|rest| rest.starts_with([' ', '\t']) && !rest.trim().is_empty())
}

/// Whether a line is a heading or a row of a table.
pub(super) fn is_set_apart(line: &str) -> bool {
    let line = line.trim_start();
    (line.starts_with('#') && line.trim_start_matches('#').starts_with(' ')) || line.starts_with('|')
}

/// Where a sentence begins with a small letter: what follows a stop, or a line.
pub(super) fn small_start(text: &str) -> Option<&str> {
    let is_small = |text: &str| text.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_lowercase);
    let first = sentences(text).into_iter().map(|sentence| sentence.text).find(|sentence| is_small(sentence));
    // The cutter of sentences takes a small letter behind a stop for the same sentence.
    first.or_else(|| {
        let mut stops = text.match_indices(['.', '!', '?']);
        stops.find_map(|(at, stop)| {
            let rest = text.get(at + stop.len()..)?;
            let next = rest.trim_start();
            let word = text[..at].rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            let is_stop = next.len() < rest.len() && word.chars().count() > 1 && !SHORTENED.contains(&word);
            (is_stop && next.starts_with(char::is_lowercase)).then_some(next)
        })
    })
}

/// The first JSON object or list in a text.
pub(super) fn json_in(text: &str) -> Option<serde_json::Value> {
    // Each start is tried; nothing is read twice but what looked like JSON and was none.
    let mut tries = 0;
    for (at, _) in text.match_indices(['{', '[']) {
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter();
        if let Some(Ok(found)) = stream.next() {
            return Some(found);
        }
        tries += 1;
        if tries >= 1_000 {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness_is_that_of_the_best_place() {
        assert!((nearness("The Quick  brown fox", "quick brown").unwrap() - 1.0).abs() < 1e-12);
        assert!((nearness("a quikc fox", "quick").unwrap() - 0.8).abs() < 1e-12);
        assert!((nearness("xyz", "abcd").unwrap()).abs() < 1e-12);
        assert!(nearness(&"a".repeat(10_001), "a").is_err());
        assert_eq!(distance("kitten", "sitting").unwrap(), 3);
    }

    #[test]
    fn lists_and_sentences_are_seen() {
        for line in ["- a", "  * b", "3. c", "12) d", "• e"] {
            assert!(list_item(line), "{line}");
        }
        for line in ["-a", "3.5 kg", "word - x", "- ", "2024 was"] {
            assert!(!list_item(line), "{line}");
        }
        assert_eq!(small_start("One is. two is. Three."), Some("two is. Three."));
        assert_eq!(small_start("one is. Two."), Some("one is."));
        assert_eq!(small_start("One. 2 is it, e.g. this, etc. and approx. that."), None);
        assert!(is_set_apart("## A") && !is_set_apart("#hash") && is_set_apart("| a |"));
        assert_eq!(json_in("so: {\"a\": [1]} and"), Some(serde_json::json!({"a": [1]})));
        assert_eq!(json_in("no {json} here ["), None);
    }
}
