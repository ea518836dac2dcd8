//! The numbers of a text, brought to one spelling: the cheapest sign of a sentence that its source does not support.

use std::collections::HashSet;

use crate::score::text::words;

/// English number words up to ninety; others are not numbers here.
const WORDS: [(&str, &str); 28] = [
    ("zero", "0"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("seventeen", "17"),
    ("eighteen", "18"),
    ("nineteen", "19"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("seventy", "70"),
    ("eighty", "80"),
    ("ninety", "90"),
];

/// The numbers that some texts hold.
pub struct Numbers(HashSet<String>);

impl Numbers {
    /// The numbers of all texts, digits and English words alike.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut all = HashSet::new();
        for text in texts {
            all.extend(digits(text));
            let lower = text.to_lowercase();
            for word in words(&lower) {
                let known = WORDS.iter().find(|(name, _)| *name == word.text);
                all.extend(known.map(|(_, digits)| (*digits).to_owned()));
            }
        }
        Self(all)
    }

    /// The numbers in digits of `text` that are not among these, and their share of its numbers (0 if it has none).
    pub fn missing_from(&self, text: &str) -> (Vec<String>, f64) {
        let mut found = digits(text);
        found.sort();
        found.dedup();
        let total = found.len();
        found.retain(|number| !self.0.contains(number));
        let share = if total == 0 { 0.0 } else { found.len() as f64 / total as f64 };
        (found, share)
    }
}

/// Every number in digits: thousands separators taken out, a decimal comma made a point, trailing zeros cut.
fn digits(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let joins = (c == '.' || c == ',') && chars.peek().is_some_and(char::is_ascii_digit);
        if c.is_ascii_digit() || (joins && !current.is_empty()) {
            current.push(c);
        } else if !current.is_empty() {
            found.push(one_spelling(&std::mem::take(&mut current)));
        }
    }
    if !current.is_empty() {
        found.push(one_spelling(&current));
    }
    found
}

fn one_spelling(number: &str) -> String {
    let parts: Vec<&str> = number.split(['.', ',']).collect();
    let (first, rest) = parts.split_first().unwrap_or((&"", &[]));
    let grouped = !rest.is_empty() && first.len() <= 3 && rest.iter().all(|part| part.len() == 3);
    if grouped {
        return parts.concat();
    }
    match rest {
        [fraction] => {
            let fraction = fraction.trim_end_matches('0');
            if fraction.is_empty() { (*first).to_owned() } else { format!("{first}.{fraction}") }
        }
        _ => number.replace(',', "."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_number_are_one_number() {
        for (text, expected) in [
            ("1,000 items", "1000"),
            ("1.000 Stück", "1000"),
            ("3.50 EUR", "3.5"),
            ("3,5 %", "3.5"),
            ("25%.", "25"),
        ] {
            assert_eq!(digits(text), [expected], "{text}");
        }
        assert_eq!(digits("from 9 to 17, or 1.2.3"), ["9", "17", "1.2.3"]);
    }

    #[test]
    fn words_of_the_source_support_digits() {
        let source = Numbers::of(["Returns within Thirty days, 15% fee."].into_iter());
        assert_eq!(source.missing_from("30 days and 15%"), (vec![], 0.0));
        assert_eq!(source.missing_from("90 days and 15%"), (vec!["90".to_owned()], 0.5));
        assert_eq!(source.missing_from("no numbers"), (vec![], 0.0));
    }
}
