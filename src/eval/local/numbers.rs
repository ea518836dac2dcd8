//! The numbers of a text, brought to one spelling: the cheapest sign of a sentence that its source does not support.

use std::collections::HashSet;

use crate::eval::text::{digits, number_word, without_citations, words};

/// The numbers that some texts hold.
pub struct Numbers(HashSet<String>);

impl Numbers {
    /// The numbers of all texts, digits and English words alike. Those of citations (`[1]`) are none.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut all = HashSet::new();
        for text in texts {
            all.extend(digits(&without_citations(text)));
            let lower = text.to_lowercase();
            for word in words(&lower) {
                all.extend(number_word(&word.text));
            }
        }
        Self(all)
    }

    /// The numbers in digits of `text` that are not among these, and their share of its numbers (0 if it has none).
    pub fn missing_from(&self, text: &str) -> (Vec<String>, f64) {
        let mut found = digits(&without_citations(text));
        found.sort();
        found.dedup();
        let total = found.len();
        found.retain(|number| !self.0.contains(number));
        let share = if total == 0 { 0.0 } else { found.len() as f64 / total as f64 };
        (found, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
