//! Rules: numbers of further states of Europe, and those of Poland that a reader has garbled.

use super::checksum::{digits, luhn, weighted};
use super::rule::{Rule, Verdict};

const NIP_WORDS: &[&str] = &["nip", "identyfikacji podatkowej"];
const REGON_WORDS: &[&str] = &["regon"];
const ID_WORDS: &[&str] = &["dowód", "dowod", "legitymuj", "dow. os", "id card"];

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule::by_word("pl_regon", r"(?-u)\b\d(?:[ .\n-]?\d){8}(?:(?:[ .\n-]?\d){5})?\b", pl_regon, REGON_WORDS),
    // Optical readers and people who hide numbers write O for 0, and l or I for 1. The check digit tells.
    Rule::by_word("pl_pesel", r"(?-u)\b[0-9OoIl](?:[ .\n-]?[0-9OoIl]){10}\b", garbled_pesel, &["pesel"]),
    Rule::by_word("pl_nip", r"(?-u)\b[0-9OoIl](?:[ .\n-]?[0-9OoIl]){9}\b", garbled_nip, NIP_WORDS),
    Rule::by_word("pl_regon", r"(?-u)\b[0-9OoIl](?:[ .\n-]?[0-9OoIl]){8}\b", garbled_regon, REGON_WORDS),
    Rule::by_word(
        "pl_id_card",
        r"(?i-u)\b[A-Z](?:[ .\n-]?[A-Z]){2}(?:[ .\n-]?[0-9OIl]){6}\b",
        pl_id_card,
        ID_WORDS,
    ),
    Rule::by_check("fi_hetu", r"(?-u)\b\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]\b", fi_hetu, &["henkilötunnus"]),
    Rule::by_word("dk_cpr", r"(?-u)\b\d{6}-?\d{4}\b", dk_cpr, &["cpr"]),
    Rule::by_word(
        "no_fodselsnummer",
        r"(?-u)\b\d{6} ?\d{5}\b",
        no_number,
        &["fødselsnummer", "personnummer"],
    ),
    Rule::by_word("pt_nif", r"(?-u)\b[1-9]\d{2} ?\d{3} ?\d{3}\b", pt_nif, &["nif", "contribuinte"]),
    Rule::by_word(
        "at_svnr",
        r"(?-u)\b[1-9]\d{3}[ /-]?\d{6}\b",
        at_svnr,
        &["sozialversicherung", "svnr", "sv-nr", "versicherungsnummer"],
    ),
    Rule::by_check(
        "de_rvnr",
        r"(?-u)\b\d{2} ?\d{6} ?[A-Z] ?\d{3}\b",
        de_rvnr,
        &["rentenversicherung", "sozialversicherung", "versicherungsnummer", "rvnr"],
    ),
    Rule::by_word(
        "de_id_card",
        r"(?-u)\b[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8}\b",
        |m| (digits(m).len() >= 3).then_some((m.len(), 0.0)),
        &["personalausweis", "ausweisnummer"],
    ),
    Rule::by_word("cz_rodne_cislo", r"(?-u)\b\d{6}/\d{3,4}\b", cz_number, &["rodné", "rodne", "rodného"]),
    Rule::by_word("ro_cnp", r"(?-u)\b[1-8]\d{12}\b", ro_cnp, &["cnp"]),
    Rule::by_word("bg_egn", r"(?-u)\b\d{10}\b", bg_egn, &["егн", "egn"]),
    Rule::by_word("gr_amka", r"(?-u)\b\d{11}\b", gr_amka, &["αμκα", "amka"]),
    Rule::by_word("ie_pps", r"(?-u)\b\d{7}[A-W][A-IW]?\b", ie_pps, &["pps", "ppsn"]),
    Rule::by_check("ru_snils", r"(?-u)\b\d{3}-\d{3}-\d{3}[ -]\d{2}\b", ru_snils, &["снилс", "snils"]),
    Rule::by_word("ru_inn", r"(?-u)\b\d{12}\b", ru_inn, &["инн", "inn"]),
    Rule::by_word("uk_utr", r"(?-u)\b\d{5} ?\d{5}\b", uk_utr, &["utr", "unique taxpayer"]),
    Rule {
        min_digits: 2,
        ..Rule::by_word(
            "vehicle_plate",
            r"(?-u)\b[A-Z]{1,3}[ -]?[A-Z0-9]{1,5}(?:[ -][A-Z0-9]{1,4})?\b",
            |m| ((2..=6).contains(&digits(m).len()) && m.len() >= 5).then_some((m.len(), 0.0)),
            &[
                "license plate",
                "licence plate",
                "number plate",
                "plate number",
                "registration plate",
                "vehicle registration",
                "rejestrac",
                "nr rej",
                "tablic",
                "nummernschild",
                "plaque d'immat",
                "kennzeichen",
                "immatriculation",
                "matrícula",
                "targa",
                "kenteken",
                "registration number",
                "reg. no",
            ],
        )
    },
];

fn sure(candidate: &str, is_valid: bool, alone: f64) -> Verdict {
    is_valid.then_some((candidate.len(), alone))
}

/// Digits, with letters that are mistaken for them; none if more than half are such letters.
fn garbled(candidate: &str) -> Option<Vec<u32>> {
    let mut letters = 0;
    let mut out = Vec::new();
    for c in candidate.chars() {
        match c {
            'O' | 'o' => (letters, _) = (letters + 1, out.push(0)),
            'I' | 'l' => (letters, _) = (letters + 1, out.push(1)),
            c => out.extend(c.to_digit(10)),
        }
    }
    (letters > 0 && letters * 2 <= out.len()).then_some(out)
}

fn is_regon(d: &[u32]) -> bool {
    let short = weighted(&d[..8], &[8, 9, 2, 3, 4, 5, 6, 7]) % 11 % 10 == d[8];
    let long =
        d.len() != 14 || weighted(&d[..13], &[2, 4, 8, 5, 0, 9, 7, 3, 6, 1, 2, 4, 8]) % 11 % 10 == d[13];
    short && long && d.iter().any(|digit| *digit != d[0])
}

/// Of nine digits, or of fourteen with the part of the company.
fn pl_regon(candidate: &str) -> Verdict {
    let d = digits(candidate);
    if d.len() == 14 && !is_regon(&d) {
        // What follows the ninth digit is of something else.
        let (ninth, _) = candidate.char_indices().filter(|(_, c)| c.is_ascii_digit()).nth(8)?;
        return is_regon(&d[..9]).then_some((ninth + 1, 0.2));
    }
    sure(candidate, is_regon(&d), 0.2)
}

fn garbled_regon(candidate: &str) -> Verdict {
    sure(candidate, is_regon(&garbled(candidate)?), 0.0)
}

fn garbled_pesel(candidate: &str) -> Verdict {
    let d = garbled(candidate)?;
    let (month, day) = ((d[2] * 10 + d[3]) % 20, d[4] * 10 + d[5]);
    let sum = weighted(&d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]);
    sure(candidate, (1..=12).contains(&month) && (1..=31).contains(&day) && sum.is_multiple_of(10), 0.0)
}

fn garbled_nip(candidate: &str) -> Verdict {
    let d = garbled(candidate)?;
    sure(candidate, weighted(&d[..9], &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == d[9], 0.0)
}

/// Three letters and six digits, of which the first checks the rest.
fn pl_id_card(candidate: &str) -> Verdict {
    let compact: Vec<char> = candidate.chars().filter(char::is_ascii_alphanumeric).collect();
    let values = compact.iter().enumerate().filter_map(|(i, c)| match c.to_ascii_uppercase() {
        'O' if i > 2 => Some(0),
        'I' | 'L' if i > 2 => Some(1),
        c => c.to_digit(36),
    });
    let values: Vec<u32> = values.collect();
    sure(candidate, weighted(&values, &[7, 3, 1, 9, 7, 3, 1, 7, 3]).is_multiple_of(10), 0.3)
}

fn is_date(day: u32, month: u32) -> bool {
    (1..=31).contains(&day) && (1..=12).contains(&month)
}

fn number(d: &[u32]) -> u64 {
    d.iter().fold(0, |value, digit| value * 10 + u64::from(*digit))
}

fn fi_hetu(candidate: &str) -> Verdict {
    const CHECKS: &[u8] = b"0123456789ABCDEFHJKLMNPRSTUVWXY";
    let d = digits(&candidate[..10]);
    let check = candidate.bytes().last()?;
    let is_valid = d.len() == 9 && is_date(d[0] * 10 + d[1], d[2] * 10 + d[3]);
    sure(candidate, is_valid && CHECKS[(number(&d) % 31) as usize] == check, 0.8)
}

fn dk_cpr(candidate: &str) -> Verdict {
    let d = digits(candidate);
    sure(candidate, is_date(d[0] * 10 + d[1], d[2] * 10 + d[3]), 0.2)
}

fn no_number(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let first = weighted(&d, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]).is_multiple_of(11);
    let second = weighted(&d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11);
    sure(candidate, first && second, 0.3)
}

fn pt_nif(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let rest = weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    sure(candidate, if rest < 2 { 0 } else { 11 - rest } == d[8], 0.2)
}

/// Three digits, the check digit, the date of birth.
fn at_svnr(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let check = weighted(&d, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11;
    sure(candidate, check == d[3] && is_date(d[4] * 10 + d[5], d[6] * 10 + d[7]), 0.3)
}

/// The letter counts as its two-digit place in the alphabet; of each product the digits are summed.
fn de_rvnr(candidate: &str) -> Verdict {
    let mut d = Vec::with_capacity(13);
    for c in candidate.chars() {
        match c {
            'A'..='Z' => {
                let place = u32::from(c) - u32::from('A') + 1;
                d.extend([place / 10, place % 10]);
            }
            c => d.extend(c.to_digit(10)),
        }
    }
    let products = d.iter().zip([2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1]).map(|(digit, weight)| digit * weight);
    let sum: u32 = products.map(|product| product / 10 + product % 10).sum();
    sure(candidate, sum % 10 == d[12] && is_date(d[2] * 10 + d[3], d[4] * 10 + d[5]), 0.75)
}

fn cz_number(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let is_valid = d.len() == 9 || number(&d).is_multiple_of(11) || number(&d[..9]) % 11 == 10 && d[9] == 0;
    sure(candidate, is_valid, 0.3)
}

fn ro_cnp(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let check = weighted(&d[..12], &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
    sure(candidate, check % 10 + check / 10 == d[12] && is_date(d[5] * 10 + d[6], d[3] * 10 + d[4]), 0.3)
}

fn bg_egn(candidate: &str) -> Verdict {
    let d = digits(candidate);
    sure(candidate, weighted(&d[..9], &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == d[9], 0.2)
}

fn gr_amka(candidate: &str) -> Verdict {
    let d = digits(candidate);
    sure(candidate, luhn(&d) && is_date(d[0] * 10 + d[1], d[2] * 10 + d[3]), 0.3)
}

fn ie_pps(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let letters: Vec<u32> =
        candidate.bytes().filter(u8::is_ascii_uppercase).map(|b| u32::from(b - b'A') + 1).collect();
    let second = letters.get(1).map_or(0, |letter| if *letter == 23 { 0 } else { *letter });
    let rest = (weighted(&d, &[8, 7, 6, 5, 4, 3, 2]) + 9 * second) % 23;
    sure(candidate, rest == letters[0] % 23, 0.4)
}

fn ru_snils(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let sum = weighted(&d[..9], &[9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101 % 100;
    sure(candidate, sum == d[9] * 10 + d[10], 0.8)
}

fn ru_inn(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let first = weighted(&d[..10], &[7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10 == d[10];
    let second = weighted(&d[..11], &[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10 == d[11];
    sure(candidate, first && second, 0.3)
}

fn uk_utr(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let rest = weighted(&d[1..], &[6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11;
    sure(candidate, [2, 1, 9, 8, 7, 6, 5, 4, 3, 2, 1][rest as usize] == d[0], 0.2)
}

#[cfg(test)]
mod tests {
    use crate::detect::pii::findings;

    fn kinds(text: &str) -> Vec<&'static str> {
        findings(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    /// Kind, a right one, the same with a broken check.
    const CASES: &[(&str, &str, &str)] = &[
        ("pl_regon", "REGON 123456785", "REGON 123456786"),
        ("pl_regon", "REGON 12345678512347", "REGON 123456786123"),
        ("pl_pesel", "PESEL 44O514Ol359", "PESEL 44O514Ol358"),
        ("pl_nip", "NIP 526 OOO l2 46", "NIP 526 OOO l2 47"),
        ("pl_id_card", "dowód osobisty A B A 3.0.0.0.0.0", "dowód osobisty A B A 3.0.0.0.0.1"),
        ("fi_hetu", "131052-308T", "131052-308U"),
        ("no_fodselsnummer", "fødselsnummer 01010750160", "fødselsnummer 01010750161"),
        ("pt_nif", "contribuinte 123456789", "contribuinte 123456780"),
        ("at_svnr", "Sozialversicherung 1237 010180", "Sozialversicherung 1238 010180"),
        ("de_rvnr", "15 070649 C 103", "15 070649 C 104"),
        ("cz_rodne_cislo", "rodné číslo 736028/5163", "rodné číslo 736028/5164"),
        ("ro_cnp", "CNP 1800101221144", "CNP 1800101221143"),
        ("bg_egn", "ЕГН 7523169263", "ЕГН 7523169264"),
        ("gr_amka", "ΑΜΚΑ 01013099997", "ΑΜΚΑ 01013099998"),
        ("ie_pps", "PPS 1234567T", "PPS 1234567S"),
        ("ru_snils", "112-233-445 95", "112-233-445 96"),
        ("ru_inn", "ИНН 500100732259", "ИНН 500100732258"),
        ("vehicle_plate", "nr rejestracyjny WX 12345", "model WX 12345"),
        ("vehicle_plate", "tablica KR 5AB12", "plan KR 5AB12"),
    ];

    #[test]
    fn right_numbers_are_found_and_broken_ones_are_not() {
        for (kind, right, broken) in CASES {
            assert_eq!(kinds(right), [*kind], "{right}");
            assert!(!kinds(broken).contains(kind), "{broken}");
        }
    }
}
