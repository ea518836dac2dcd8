//! Rules: phone numbers.

use super::rule::{Rule, Verdict};

const PHONE_WORDS: &[&str] = &[
    "phone",
    "telephone",
    "tel",
    "call",
    "calls",
    "calling",
    "mobile",
    "cell",
    "fax",
    "contact",
    "whatsapp",
    "sms",
    "reach",
    "dial",
    "text",
    "hotline",
    "answering",
    "messages",
    "handy",
    "telefon",
    "teléfono",
    "téléphone",
    "numer telefonu",
    "komórk",
    "móvil",
    "cellulare",
    "telefone",
    "ph",
    "main line",
    "direct line",
    "land line",
    "switchboard",
    "mobil",
    "rufnummer",
    "celular",
    "telefono",
    "telefoon",
    "puhelin",
    "gsm",
    "tlf",
    "numéro",
    "kontakt",
    "zadzwo",
    "тел",
    "телефон",
    "τηλ",
    "هاتف",
    "טלפון",
    "फ़ोन",
    "फोन",
    "电话",
    "電話",
    "手机",
    "手機",
    "携帯",
    "전화",
    "휴대폰",
];
/// Those of them that stand beside eight digits for nothing else.
const EIGHT_DIGIT_WORDS: &[&str] = &[
    "phone",
    "telephone",
    "tel",
    "mobile",
    "whatsapp",
    "fax",
    "hotline",
    "telefon",
    "mobil",
    "tlf",
    "电话",
    "電話",
    "手机",
    "手機",
];
const NOT_PHONE: &[&str] = &[
    "npi",
    "order",
    "invoice",
    "tracking",
    "account",
    "version",
    "isbn",
    "ticket",
    "ref",
    "reference",
    "case",
    "sku",
    "serial",
    "mrn",
    "timestamp",
    "port",
    "commit",
    "issue",
    "section",
    "nip",
    "regon",
    "krs",
    "pesel",
    "ssn",
    "doi",
    "policy",
    "claim",
    "model",
    "id",
    "code",
    "license",
];

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule {
        kind: "phone",
        shape: r"(?-u)(?:\(\+[1-9]\d{0,2}\)|(?:\+|\b00)[1-9]\d{0,2})[ .-]?(?:\(0?\d{1,4}\)|\d{1,4})(?:[ ./-]{0,2}\d{1,4}){1,6}(?: ?(?:x|ext\.?) ?\d{1,6})?",
        min_digits: 8,
        check: international,
        words: PHONE_WORDS,
        with_word: 0.9,
        needs_word: false,
        denied_by: NOT_PHONE,
    },
    Rule {
        kind: "phone",
        shape: r"(?-u)(?:1[ .-])?(?:\([2-9]\d{2}\) ?|\b[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?: ?(?:x|ext\.?) ?\d{1,6})?",
        min_digits: 10,
        check: |m| Some((m.len(), if m.contains(['(', '-', '.']) { 0.75 } else { 0.5 })),
        words: PHONE_WORDS,
        with_word: 0.9,
        needs_word: false,
        denied_by: NOT_PHONE,
    },
    Rule {
        kind: "phone",
        shape: r"(?-u)(?:\(0?\d{1,4}\)[ ./-]{0,2}|\b\d{2,5}[ ./-]{1,2})\d{2,8}(?:[ ./-]{1,2}\d{2,8}){0,3}(?: ?(?:x|ext\.?) ?\d{1,6})?|\b\d{9,11}\b",
        min_digits: 7,
        check: national,
        words: PHONE_WORDS,
        with_word: 0.7,
        needs_word: false,
        denied_by: NOT_PHONE,
    },
    // Whole countries have eight digits (Denmark, Norway, Singapore, Hong Kong); only words that say nothing else speak for them.
    Rule {
        min_digits: 8,
        with_word: 0.7,
        denied_by: NOT_PHONE,
        ..Rule::by_word("phone", r"(?-u)\b[2-9]\d{7}\b", eight_digits, EIGHT_DIGIT_WORDS)
    },
];

fn digit_count(text: &str) -> usize {
    text.split(['x', 'e']).next().map_or(0, |number| number.bytes().filter(u8::is_ascii_digit).count())
}

/// `+` or `00` and up to fifteen digits (ITU-T E.164).
fn international(candidate: &str) -> Verdict {
    let digits = digit_count(candidate);
    let has_plus = candidate.trim_start_matches('(').starts_with('+');
    if is_signed_decimal(candidate) {
        return None;
    }
    let is_grouped = candidate.contains([' ', '-', '.', '(', '/']);
    let alone = match (has_plus, is_grouped) {
        (true, _) => 0.85,
        (false, true) => 0.55,
        (false, false) => 0.2,
    };
    (8..=if has_plus { 15 } else { 17 }).contains(&digits).then_some((candidate.len(), alone))
}

/// `+40.712776` is a number with its sign. Registries of domains write `+1.2125550147`: more digits behind the stop.
fn is_signed_decimal(candidate: &str) -> bool {
    let parts = candidate.strip_prefix('+').and_then(|number| number.split_once('.'));
    let Some((whole, fraction)) = parts else { return false };
    let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    is_number(whole) && is_number(fraction) && fraction.len() <= 7
}

/// Any other grouping; only a word beside it, or a trunk zero and a bracket, make it a phone number.
fn national(candidate: &str) -> Verdict {
    let digits = digit_count(candidate);
    // Two slashes are of a date or of the number of a document.
    let is_path = candidate.matches('/').count() > 1;
    if is_path || !(7..=13).contains(&digits) || is_like_date(candidate) || is_like_amount(candidate) {
        return None;
    }
    let groups = candidate.split([' ', '-', '.', '/']).filter(|g| !g.is_empty()).count();
    let has_trunk_zero = candidate.starts_with('0') && !candidate.starts_with("00");
    let is_trunk = candidate.starts_with("(0") || (has_trunk_zero && groups >= 3);
    let has_extension = candidate.contains('x');
    let is_solid = candidate.bytes().all(|b| b.is_ascii_digit());
    let alone = match () {
        () if has_extension && digits >= 10 => 0.6,
        () if is_trunk && (9..=11).contains(&digits) => 0.55,
        () if is_solid => 0.15,
        () => 0.2,
    };
    Some((candidate.len(), alone))
}

/// A date without its signs is none.
fn eight_digits(candidate: &str) -> Verdict {
    let part = |from: usize, to: usize| candidate.get(from..to).and_then(|part| part.parse::<u32>().ok());
    let is_in = |part: Option<u32>, most: u32| part.is_some_and(|value| (1..=most).contains(&value));
    let is_year = |part: Option<u32>| part.is_some_and(|value| (1900..2100).contains(&value));
    let is_date = is_year(part(0, 4)) && is_in(part(4, 6), 12) && is_in(part(6, 8), 31)
        || is_year(part(4, 8)) && is_in(part(0, 2), 31) && is_in(part(2, 4), 12);
    (!is_date).then_some((candidate.len(), 0.15))
}

/// `2024-01-31`, `31.01.2024`, `01/31/24`, and the same with a time behind it.
fn is_like_date(candidate: &str) -> bool {
    let parts: Vec<&str> = candidate.split([' ', '-', '.', '/']).collect();
    let value = |i: usize| parts.get(i).and_then(|p| p.parse::<u32>().ok()).unwrap_or(0);
    let is_year = |i: usize| parts.get(i).is_some_and(|p| p.len() == 4) && (1500..2100).contains(&value(i));
    let is_day_month = |i: usize, j: usize| {
        (1..=31).contains(&value(i)) && (1..=31).contains(&value(j)) && value(i).min(value(j)) <= 12
    };
    (is_year(0) && (parts.len() == 2 || is_day_month(1, 2))) || (is_year(2) && is_day_month(0, 1))
}

/// `1 234 567` and `1.234.567` are amounts: groups of three behind a first group of up to three.
fn is_like_amount(candidate: &str) -> bool {
    let mut groups = candidate.split(['.']);
    let first = groups.next().unwrap_or_default();
    candidate.contains('.') && (1..=3).contains(&first.len()) && groups.all(|g| g.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::super::findings as find;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    #[test]
    fn phones() {
        for text in [
            "+44 20 7946 0958",
            "+1 (212) 555-0147",
            "+4915112345678",
            "(212) 555-2368",
            "212-555-2368",
            "212.555.2368 x12",
            "1-800-555-2368",
            "(044)688-7538x8775",
            "phone 510 070 900",
            "Tel.: 030/1234567",
            "call 5551234567",
            "an order, but no message on my registered 905-674-3793",
            "01 23 45 67 89",
            "(+44) 20 7946 0958",
            "Tel: 61234567",
            "tlf. 22334455",
            "电话91234567",
            "(+351) 912 345 678",
            "(+49)151 12345678",
            "+1.2125550147",
        ] {
            assert_eq!(kinds(text), ["phone"], "{text}");
        }
    }

    #[test]
    fn numbers_that_only_look_like_phones() {
        for text in [
            "on 2024-01-31 12:30",
            "31.01.2024",
            "invoice 0937/06/2026",
            "phone (212) 555, NPI: 8404456690",
            "order 212-555-2368",
            "NPI 2125552368",
            "1.234.567.890 units",
            "1 234 567 units",
            "call on 2024-01-31",
            "version 3.14.159 of the text",
            "ISBN 978-3-16-148410-0",
            "between 2019-2023 they call",
            "the fax was sold 1889-1914",
            "at +40.712776 north",
            "phone log of 20260117",
            "fax of 31012026",
            "the text has 61234567 bytes",
            "phone order 61234567",
            "+12.3456789 %",
        ] {
            assert!(!kinds(text).contains(&"phone"), "{text}");
        }
    }
}
