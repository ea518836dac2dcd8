//! Rules: numbers known only by the words beside them (passport, licence, medical record ...).

use super::checksum::{digits, luhn};
use super::rule::{Rule, Verdict};

const fn by_word(
    kind: &'static str,
    shape: &'static str,
    check: fn(&str) -> Verdict,
    words: &'static [&'static str],
    with_word: f64,
) -> Rule {
    Rule { min_digits: 5, with_word, ..Rule::by_word(kind, shape, check, words) }
}

/// The rules of this file.
pub const RULES: &[Rule] = &[
    by_word(
        "passport",
        r"(?-u)\b(?:[A-Z]{1,2}[0-9]{6,8}|[0-9]{8,9}|[CFGHJK][0-9CFGHJKLMNPRTVWXYZ]{8}|[0-9]{2}[A-Z]{2}[0-9]{5})\b",
        with_digits,
        &["passport", "reisepass", "passeport", "pasaporte", "paszport", "passaporto"],
        0.75,
    ),
    by_word(
        "driver_licence",
        r"(?-u)\b(?:[A-Z]{1,2}[0-9]{5,13}|[0-9]{7,9}|[A-Z9]{5}[0-9]{6}[A-Z0-9]{5}|[A-Z][0-9]{3}-[0-9]{3,4}-[0-9]{3,4}(?:-[0-9]{3})?)\b",
        with_digits,
        &[
            "driver's licen",
            "drivers licen",
            "driver licen",
            "driving licen",
            "driver’s licen",
            "führerschein",
            "permis de conduire",
            "prawo jazdy",
            "dl number",
        ],
        0.75,
    ),
    by_word(
        "medical_record",
        r"(?-u)\b[A-Z]{0,3}-?[0-9]{5,10}\b",
        with_digits,
        &["mrn", "medical record", "med rec", "patient id", "patient number"],
        0.75,
    ),
    by_word("us_npi", r"(?-u)\b[0-9]{10}\b", us_npi, &["npi", "national provider"], 0.7),
    by_word("us_dea", r"(?-u)\b[ABCDEFGHJKLMPRSTUX][A-Z9][0-9]{7}\b", us_dea, &["dea"], 0.8),
    by_word(
        "vin",
        r"(?i-u)\b[A-HJ-NPR-Z0-9]{17}\b|\b[A-HJ-NPR-Z0-9]{4}([ -])[A-HJ-NPR-Z0-9]{4}[ -][A-HJ-NPR-Z0-9]{4}[ -][A-HJ-NPR-Z0-9]{4}[ -][A-HJ-NPR-Z0-9]\b",
        with_digits,
        &["vin", "vehicle identification", "chassis", "fahrgestell"],
        0.75,
    ),
    by_word(
        "bank_account",
        r"(?-u)\b[0-9]{8,17}\b|\b[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{8}\b",
        with_digits,
        &["account number", "account no", "acct", "kontonummer", "bank account", "sort code"],
        0.65,
    ),
];

/// The shape says nothing by itself.
fn with_digits(candidate: &str) -> Verdict {
    (digits(candidate).len() >= 5).then_some((candidate.len(), 0.0))
}

/// A number of a provider of health care: Luhn with the prefix of the United States before it. A broken check is
/// still told, but less surely.
fn us_npi(candidate: &str) -> Verdict {
    let full = digits(&format!("80840{candidate}"));
    Some((
        candidate.len(),
        if luhn(&full) && matches!(candidate.as_bytes()[0], b'1' | b'2') { 0.3 } else { 0.0 },
    ))
}

fn us_dea(candidate: &str) -> Verdict {
    let d = digits(&candidate[2..]);
    let sum = d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5]);
    (sum % 10 == d[6]).then_some((candidate.len(), 0.5))
}

#[cfg(test)]
mod tests {
    use super::super::findings as find;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    #[test]
    fn the_word_makes_the_kind() {
        for (kind, text) in [
            ("passport", "Passport No. C01X00T47"),
            ("passport", "passport number 533380006"),
            ("driver_licence", "driver's license D1234567"),
            ("driver_licence", "driving licence MORGA657054SM9IJ"),
            ("medical_record", "MRN: 1293110"),
            ("us_npi", "NPI is 1234567893"),
            ("vin", "VIN 1HGCM82633A004352"),
            ("bank_account", "account number 12345678"),
            ("us_dea", "DEA AB1234563"),
        ] {
            assert_eq!(kinds(text), [kind], "{text}");
        }
    }

    #[test]
    fn without_the_word_there_is_none() {
        for text in [
            "part C01X00T47",
            "number 533380006",
            "item D1234567",
            "build 1293110",
            "1HGCM82633A004352",
            "AB1234567",
        ] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
        assert_eq!(kinds("DEA AB1234564"), [""; 0]);
    }
}
