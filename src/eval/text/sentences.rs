//! Sentences with their place in the text.

use super::boundary;
use super::lines::{self, Block};

/// One sentence of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// The words as they stand in the text, without the white space and list markers around them.
    pub text: &'a str,
    /// Byte offset of its first character.
    pub start: usize,
    /// Byte offset just behind its last character.
    pub end: usize,
}

/// Cuts `text` into sentences, in order and without overlap.
///
/// Each has at least one letter or digit: rules, fences and other decoration are left out. A list item, a heading, a
/// table row and a line of fenced code each end with their line. The cost is proportional to the text.
pub fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    for block in lines::blocks(text) {
        match block {
            Block::Line { start, end } => push(text, start, end, &mut found),
            Block::Prose { start, end } => {
                let mut from = start;
                for stop in boundary::stops(&text[start..end]) {
                    push(text, from, start + stop, &mut found);
                    from = start + stop;
                }
                push(text, from, end, &mut found);
            }
        }
    }
    found
}

fn push<'a>(text: &'a str, start: usize, end: usize, into: &mut Vec<Sentence<'a>>) {
    let raw = &text[start..end];
    let start = end - raw.trim_start_matches(is_blank).len();
    let trimmed = text[start..end].trim_end_matches(is_blank);
    if trimmed.chars().any(char::is_alphanumeric) {
        into.push(Sentence { text: trimmed, start, end: start + trimmed.len() });
    }
}

/// White space, and the invisible marks that web text carries around.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::cpu::{between, spent};

    fn cut(text: &str) -> Vec<&str> {
        let found = sentences(text);
        let mut last = 0;
        for s in &found {
            assert_eq!(&text[s.start..s.end], s.text);
            assert!(s.start >= last, "overlap in {text:?}");
            last = s.end;
        }
        found.into_iter().map(|s| s.text).collect()
    }

    /// `|` marks where a sentence must end; nothing else may end one.
    #[track_caller]
    fn check(marked: &str) {
        let want: Vec<String> = marked.split('|').map(|s| s.trim().to_owned()).collect();
        assert_eq!(cut(&marked.replace('|', "")), want);
    }

    #[test]
    fn plain_sentences() {
        check("It rains. |We stay in! |Do you? |Yes.");
        check("no capital letters here. |they still end.");
        assert!(cut("").is_empty());
        assert!(cut(" \n\n--- *** \n").is_empty());
        assert_eq!(cut("no stop"), ["no stop"]);
    }

    #[test]
    fn abbreviations_do_not_end_one() {
        check("Dr. Smith met Mrs. Jones at St. Mary's. |They talked.");
        check("Use fruit, e.g. apples, i.e. Golden Delicious. |Cf. Smith et al. 2020 for more.");
        check("See No. 5 and Fig. 3 on pp. 4-9. |The answer is no. |Nothing else.");
        check("Acme Inc. sold it to Foo Ltd. for 3 dollars. |It was bought by Acme Inc. |The price rose.");
        check("We meet at 5 p.m. on Jan. 3. |It starts at 9 a.m. |Bring apples, pears etc. |Thanks.");
        check("Er kam z.B. am 3. Mai bzw. etwas später. |Das war ca. 1990.");
    }

    #[test]
    fn initials() {
        check("J. R. R. Tolkien wrote it. |John F. Kennedy read it.");
        check("Take vitamin C. |The dose is low.");
        check("He moved to the U.S. in May. |He likes the U.S. |The weather is fine.");
        check("It was made by J. Smith. |Then it broke.");
    }

    #[test]
    fn numbers_addresses_and_names_with_dots() {
        check("Pi is 3.14. |It grew by 25 %. |Version 1.2.3 is out.");
        check("Visit https://example.com/a.b?c=d. |Write to jane.doe@example.com. |Done.");
        check("Open node.js or main.rs. |Call obj.method(). |Run it.");
        check("Use `a.b. C` and `x! Y` here. |Next.");
        check("It is 192.168.0.1. |That is local.");
    }

    #[test]
    fn quotes_brackets_and_citations() {
        check("\"Stop!\" he said. |\"Why?\" |She left.");
        check("He said \"I know.\" |Then he went (see above). |Fine.");
        check("This is known.[1] |That is not.[2][3] |End.");
        check("(It was late.) |We slept.");
        check("**It is bold.** |_So is this._ |End.");
        check("« Oui. » |Il part.");
    }

    #[test]
    fn ellipses_and_runs() {
        check("Wait... what is it? |I see... |Then go.");
        check("Well… maybe. |Really?! |Yes!!! |No.");
    }

    #[test]
    fn other_scripts() {
        assert_eq!(cut("今日は雨です。家にいます。"), ["今日は雨です。", "家にいます。"]);
        assert_eq!(cut("彼は「行こう。」と言った。終わり。"), ["彼は「行こう。」と言った。", "終わり。"]);
        assert_eq!(cut("你好！你去哪里？我回家。"), ["你好！", "你去哪里？", "我回家。"]);
        assert_eq!(cut("यह सच है। वह नहीं।"), ["यह सच है।", "वह नहीं।"]);
        assert_eq!(cut("كيف حالك؟ أنا بخير."), ["كيف حالك؟", "أنا بخير."]);
        check("Он пришёл. |Она ушла.");
    }

    #[test]
    fn lines_and_lists() {
        assert_eq!(cut("Steps:\n- mix it\n- bake it\n\nDone"), ["Steps:", "mix it", "bake it", "Done"]);
        assert_eq!(
            cut("1. First. Then rest.\n2) Second\n(c) third"),
            ["First.", "Then rest.", "Second", "third"]
        );
        assert_eq!(cut("# Title\nText here\n> quoted\n* [ ] task"), ["Title", "Text here", "quoted", "task"]);
        assert_eq!(
            cut("A line that is wrapped by an editor at a column\nand goes on here. End."),
            ["A line that is wrapped by an editor at a column\nand goes on here.", "End."]
        );
        assert_eq!(cut("Name: Jane\r\nTown: Bonn\r\n"), ["Name: Jane", "Town: Bonn"]);
    }

    #[test]
    fn fenced_code_is_cut_by_line_only() {
        let text = "Run this:\n```rust\nlet a = b. C;\nprint!(x);\n```\nIt works.";
        assert_eq!(cut(text), ["Run this:", "let a = b. C;", "print!(x);", "It works."]);
    }

    #[test]
    fn places_are_byte_offsets() {
        let found = sentences("  Ä. Ö ist da. \u{feff}Ü.");
        assert_eq!(found.last().map(|s| (s.start, s.end)), Some((20, 23)));
    }

    #[test]
    fn cost_is_linear_on_hostile_text() {
        for piece in ["a.", ". ", "`", "\"", "(", "[1]", "...", "\n- ", "e.g. ", "。「"] {
            let text = piece.repeat(200_000 / piece.len());
            let begin = spent();
            let _ = sentences(&text);
            let worked = between(begin, spent());
            assert!(worked.as_secs_f64() < 3.0, "{piece:?} took {worked:?}");
        }
    }
}
