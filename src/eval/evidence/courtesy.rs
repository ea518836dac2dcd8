//! Sentences that are polite and say nothing: greetings, thanks, offers of help, good wishes.

use super::vocabulary::words;

/// A longer sentence may claim something beside its courtesy.
const MAX_WORDS: usize = 16;

/// How such a sentence begins, in the form of [`words`].
const BEGINNINGS: [&str; 33] = [
    "happy to help",
    "glad to help",
    "i'm happy to help",
    "i'm glad to help",
    "i'm here to help",
    "i am happy to help",
    "i am here to help",
    "i'd be happy to help",
    "i would be happy to help",
    "we're happy to help",
    "we're here to help",
    "i hope this helps",
    "i hope that helps",
    "hope this helps",
    "hope that helps",
    "let me know if you",
    "please let me know if you",
    "just let me know if you",
    "let us know if you",
    "feel free to ask",
    "feel free to reach out",
    "please feel free to ask",
    "please feel free to reach out",
    "don't hesitate to ask",
    "don't hesitate to reach out",
    "please don't hesitate to",
    "thanks for asking",
    "thanks for reaching out",
    "thank you for asking",
    "thank you for reaching out",
    "thank you for your question",
    "you're welcome",
    "great question",
];

/// What is said whole.
const WHOLE: [&str; 14] = [
    "hello",
    "hi",
    "hi there",
    "hello there",
    "good morning",
    "good afternoon",
    "good evening",
    "thank you",
    "thanks",
    "have a great day",
    "have a nice day",
    "best regards",
    "kind regards",
    "good luck",
];

/// Whether a sentence is a courtesy and claims nothing. One with a figure in it may claim something.
pub fn is_courtesy(sentence: &str) -> bool {
    let said = words(sentence);
    if said.is_empty() || said.len() > MAX_WORDS || sentence.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let said = said.join(" ");
    let begins =
        |form: &str| said.strip_prefix(form).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    WHOLE.contains(&said.as_str()) || BEGINNINGS.into_iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn courtesies_are_told_from_claims() {
        for courtesy in [
            "Happy to help with your order.",
            "I\u{2019}m happy to help!",
            "Let me know if you have any other questions.",
            "Hello!",
            "You're welcome.",
            "Have a nice day!",
        ] {
            assert!(is_courtesy(courtesy), "{courtesy}");
        }
        for claim in [
            "",
            "You can return it within thirty days.",
            "Let me know if you want it, since 30 days are left.",
            "Feel free to return it until Monday.",
            "Hello is the title of the song.",
            "You're welcomed by the guide at the gate.",
            "Happy to help with your order, we have already sent the money back to the card that you paid with last week.",
        ] {
            assert!(!is_courtesy(claim), "{claim}");
        }
    }
}
