//! The numbers of a text, brought to one spelling: the cheapest sign of a sentence that its source does not support.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::eval::text::{digits, number_word, without_citations, words};

/// The numbers that some texts hold.
pub struct Numbers(HashSet<String>);

impl Numbers {
    /// The numbers of all texts, digits and English words alike. Those of citations (`[1]`) are none.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut all = HashSet::new();
        for text in texts {
            let plain = with_our_digits(text);
            let read = without_citations(&plain);
            all.extend(digits(&read));
            all.extend(without_group_blanks(&read).iter().flat_map(|joined| digits(joined)));
            let lower = text.to_lowercase();
            for word in words(&lower) {
                all.extend(number_word(&word.text));
            }
        }
        Self(all)
    }

    /// The numbers in digits of `text` that are not among these, and their share of its numbers (0 if it has none).
    ///
    /// Where a blank may part groups of three digits (`1 000`) or two numbers, the reading with fewer of them counts.
    pub fn missing_from(&self, text: &str) -> (Vec<String>, f64) {
        let plain = with_our_digits(text);
        let read = without_citations(&plain);
        let apart = self.missing(&read);
        match without_group_blanks(&read).map(|joined| self.missing(&joined)) {
            Some(joined) if joined.1 < apart.1 => joined,
            _ => apart,
        }
    }

    fn missing(&self, text: &str) -> (Vec<String>, f64) {
        let mut found = digits(text);
        found.sort();
        found.dedup();
        let total = found.len();
        found.retain(|number| !self.0.contains(number));
        let share = if total == 0 { 0.0 } else { found.len() as f64 / total as f64 };
        (found, share)
    }
}

/// The text with digits of other scripts, and the decimal signs of Arabic, written as ours.
fn with_our_digits(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.chars().map(ours).collect()) }
}

fn ours(c: char) -> char {
    /// Arabic, Persian, Devanagari, Bengali, Thai, full width.
    const ZEROS: [u32; 6] = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10];
    let code = u32::from(c);
    match c {
        '\u{66b}' => '.',
        '\u{66c}' => ',',
        _ => {
            let zero = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&code));
            zero.and_then(|zero| char::from_digit(code - *zero, 10)).unwrap_or(c)
        }
    }
}

/// The text without the blanks between groups of three digits, as many languages write large numbers; none if it has no such blank.
fn without_group_blanks(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut out = String::with_capacity(text.len());
    let mut run = 0;
    for (at, c) in chars.iter().enumerate() {
        let is_blank = matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}');
        let is_before_group = is_blank && (1..=3).all(|n| is_digit(at + n)) && !is_digit(at + 4);
        if is_before_group && (1..=3).contains(&run) {
            run = 0;
            continue;
        }
        run = if c.is_ascii_digit() { run + 1 } else { 0 };
        out.push(*c);
    }
    (out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_the_same_in_other_digits_and_groups() {
        let source = Numbers::of(
            ["Le prix est de 12 500 euros ; مهلة ٣٠ يومًا و ٢٫٥ ٪, in 2024 100 rooms."].into_iter(),
        );
        for text in ["12,500 euros", "12 500 euros", "12\u{202f}500 euros", "30 days", "2.5 %", "३० दिन"]
        {
            assert_eq!(source.missing_from(text), (vec![], 0.0), "{text}");
        }
        assert_eq!(source.missing_from("2024 100"), (vec![], 0.0), "a year, and a number");
        assert_eq!(source.missing_from("13 500 euros").0, ["13"]);
        assert_eq!(source.missing_from("2024100").0, ["2024100"]);
    }

    #[test]
    fn words_of_the_source_support_digits() {
        let source = Numbers::of(["Returns within Thirty days, 15% fee."].into_iter());
        assert_eq!(source.missing_from("30 days and 15%"), (vec![], 0.0));
        assert_eq!(source.missing_from("90 days and 15%"), (vec!["90".to_owned()], 0.5));
        assert_eq!(source.missing_from("no numbers"), (vec![], 0.0));
    }

    #[test]
    fn citations_are_no_numbers() {
        let source = Numbers::of(["[7] Returns within 30 days."].into_iter());
        assert_eq!(source.missing_from("30 days [1]."), (vec![], 0.0));
        assert_eq!(source.missing_from("30 days, 7 for food [2, 3]"), (vec!["7".to_owned()], 0.5));
    }
}
