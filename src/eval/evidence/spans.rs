//! Spans of years with their length behind them.

use std::borrow::Cow;

/// Lengths that are told as words, as texts do.
const SMALL: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];
/// Longer ones are no stays.
const MAX_YEARS: u32 = 200;

/// Four digits that may be a year, and where they stand.
#[derive(Clone, Copy)]
struct Year {
    value: u32,
    start: usize,
    end: usize,
}

/// The text with the length of spans of years behind them: "2006 to 2015 (nine years)".
///
/// A reader works it out; the network does not, and takes "nine years" for something that the text does not say. On 212
/// answers over passages with such spans, none of them learned from, the share of wrong numbers that are caught went from
/// 0.21 to 0.41 and that of all verdicts that are right from 0.54 to 0.57.
pub(super) fn with_spans(text: &str) -> Cow<'_, str> {
    let years = years(text);
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    while let [first, last, ..] = years[at..] {
        let Some(length) = length(text, first, last) else {
            at += 1;
            continue;
        };
        out.push_str(&text[from..last.end]);
        match SMALL.get(length as usize) {
            Some(word) => out.push_str(&format!(" ({word} years)")),
            None => out.push_str(&format!(" ({length} years)")),
        }
        (from, at) = (last.end, at + 2);
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// What may be years: four digits that stand alone, from 1000 to 2099.
fn years(text: &str) -> Vec<Year> {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let at = text.len() - rest.len() + start;
        let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + digits;
        rest = &text[end..];
        let alone = !text[..at].ends_with(joins) && !rest.starts_with(joins);
        if digits == 4
            && alone
            && let Ok(value) = text[at..end].parse::<u32>()
            && (1000..2100).contains(&value)
        {
            found.push(Year { value, start: at, end });
        }
    }
    found
}

/// The years from the first to the last, if the text between them says that they are a span.
fn length(text: &str, first: Year, last: Year) -> Option<u32> {
    let joint = &text[first.end..last.start];
    let is_span = match joint {
        " to " | " until " | " till " => true,
        " and " => text[..first.start].ends_with("between ") || text[..first.start].ends_with("Between "),
        _ => {
            matches!(joint, "-" | " -" | "- " | " - " | "\u{2013}" | " \u{2013}" | "\u{2013} " | " \u{2013} ")
        }
    };
    let rest = &text[last.end..];
    let is_told = rest.starts_with('(') || rest.starts_with(" (");
    let years = last.value.checked_sub(first.value)?;
    (is_span && !is_told && (2..=MAX_YEARS).contains(&years)).then_some(years)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_years_have_their_length_behind_them() {
        for (text, told) in [
            ("From 2006 to 2015 she was there.", "From 2006 to 2015 (nine years) she was there."),
            (
                "Between 1990 and 1994, 2001\u{2013}2020",
                "Between 1990 and 1994 (four years), 2001\u{2013}2020 (19 years)",
            ),
            ("1987 - 1995", "1987 - 1995 (eight years)"),
            ("2001-2003-2009", "2001-2003 (two years)-2009"),
        ] {
            assert_eq!(with_spans(text), told);
        }
        for plain in [
            "",
            "In 2001 and 2007 she won.",
            "2015 to 2006",
            "2014 to 2015",
            "1000 to 1999",
            "2006 to 2015 (nine years)",
            "12006 to 2015",
            "a2006 to 2015",
            "2006 to 20150",
            "2006, to 2015",
            "2500 to 2700",
            "\u{fc}2006 to 2015\u{fc}",
        ] {
            assert!(matches!(with_spans(plain), Cow::Borrowed(_)), "{plain}: {}", with_spans(plain));
        }
    }
}
