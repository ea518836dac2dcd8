//! Rules: numbers that states give to people. Where there is a check digit, it must be right.

use super::checksum::{digits, luhn, mod11_10, verhoeff, weighted};
use super::rule::{Rule, Verdict};

const SSN_WORDS: &[&str] = &["ssn", "social security", "social sec", "soc sec", "seguro social"];
const TAX: &[&str] = &["tax", "tin", "steuer", "idnr", "steuer-id", "identifikationsnummer", "finanzamt"];

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule {
        denied_by: &["routing", "aba", "account", "zip", "order", "ref", "regon", "invoice"],
        ..Rule::by_check("us_ssn", r"(?-u)\b\d{3}([ -])\d{2}[ -]\d{4}\b|\b\d{9}\b", us_ssn, SSN_WORDS)
    },
    Rule::by_word(
        "us_ssn",
        r"(?-u)\b\d[ .]\d[ .]\d ?[-. ] ?\d[ .]\d ?[-. ] ?\d[ .]\d[ .]\d[ .]\d\b",
        |m| Some((m.len(), 0.2)),
        SSN_WORDS,
    ),
    Rule::by_check("us_itin", r"(?-u)\b9\d{2}-\d{2}-\d{4}\b", us_itin, &["itin", "taxpayer"]),
    Rule::by_check(
        "uk_nino",
        r"(?i-u)\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b",
        uk_nino,
        &["national insurance", "ni number", "nino", "insurance no"],
    ),
    Rule::by_word("uk_nhs", r"(?-u)\b\d{3}[ -]?\d{3}[ -]?\d{4}\b", uk_nhs, &["nhs"]),
    Rule::by_check("de_tax_id", r"(?-u)\b[1-9]\d ?\d{3} ?\d{3} ?\d{3}\b", de_tax_id, TAX),
    Rule::by_check("pl_pesel", r"(?-u)\b\d(?:[ .\n-]?\d){10}\b", pl_pesel, &["pesel"]),
    Rule::by_check(
        "pl_nip",
        r"(?-u)\b\d(?:[ .\n-]?\d){9}\b",
        pl_nip,
        &["nip", "vat", "identyfikacji podatkowej"],
    ),
    Rule::by_check(
        "it_codice_fiscale",
        r"(?i-u)\b[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]\b",
        it_codice,
        &["codice fiscale", "cod. fisc"],
    ),
    Rule::by_check(
        "es_dni",
        r"(?i-u)\b(?:\d{8}|[XYZ]-?\d{7})-?[A-Z]\b",
        es_dni,
        &["dni", "nie", "nif", "documento nacional"],
    ),
    Rule::by_check(
        "fr_nir",
        r"(?i-u)\b[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}\b",
        fr_nir,
        &["sécurité sociale", "securite sociale", "nir", "insee"],
    ),
    Rule::by_check(
        "in_aadhaar",
        r"(?-u)\b[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}\b",
        in_aadhaar,
        &["aadhaar", "aadhar", "uidai", "uid"],
    ),
    Rule::by_check(
        "in_pan",
        r"(?-u)\b[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]\b",
        |m| Some((m.len(), if m.as_bytes()[3] == b'P' { 0.6 } else { 0.3 })),
        &["pan", "income tax", "permanent account"],
    ),
    Rule::by_check("br_cpf", r"(?-u)\b\d{3}\.\d{3}\.\d{3}-\d{2}\b|\b\d{11}\b", br_cpf, &["cpf"]),
    Rule::by_word(
        "ca_sin",
        r"(?-u)\b[1-79]\d{2}([ -]?)\d{3}[ -]?\d{3}\b",
        |m| luhn(&digits(m)).then_some((m.len(), 0.2)),
        &["sin", "social insurance", "numéro d'assurance sociale", "nas"],
    ),
    Rule::by_word("au_tfn", r"(?-u)\b\d{3} ?\d{3} ?\d{2,3}\b", au_tfn, &["tfn", "tax file"]),
    Rule::by_word("au_medicare", r"(?-u)\b[2-6]\d{3} ?\d{5} ?\d\b", au_medicare, &["medicare"]),
    Rule::by_word(
        "nl_bsn",
        r"(?-u)\b\d{9}\b|\b\d{4}\.\d{2}\.\d{3}\b",
        nl_bsn,
        &["bsn", "burgerservice", "sofinummer"],
    ),
    Rule::by_check(
        "be_national_number",
        r"(?-u)\b\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}\b",
        be_number,
        &["rijksregister", "registre national", "insz", "niss"],
    ),
    Rule::by_check("ch_ahv", r"(?-u)\b756\.?\d{4}\.?\d{4}\.?\d{2}\b", ch_ahv, &["ahv", "avs"]),
    Rule::by_check(
        "se_personnummer",
        r"(?-u)\b(?:19|20)?\d{6}[-+]\d{4}\b",
        se_number,
        &["personnummer", "samordningsnummer"],
    ),
    Rule::by_check(
        "cn_resident_id",
        r"(?i-u)\b[1-8]\d{5}(?:19|20)\d{9}[0-9X]\b",
        cn_id,
        &["身份证", "身份證", "公民身份", "resident id", "id card"],
    ),
    Rule::by_check("sg_nric", r"(?i-u)\b[STFGM]\d{7}[A-Z]\b", sg_nric, &["nric", "fin"]),
];

fn sure(candidate: &str, is_valid: bool, alone: f64) -> Verdict {
    is_valid.then_some((candidate.len(), alone))
}

/// Areas 000, 666 and 9xx, group 00 and serial 0000 were never given; their shape counts only beside the words.
fn us_ssn(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let area = d[0] * 100 + d[1] * 10 + d[2];
    let was_given = !matches!(area, 0 | 666 | 900..) && d[3] + d[4] > 0 && d[5..].iter().sum::<u32>() > 0;
    let alone = match (candidate.as_bytes()[3], was_given) {
        (b'-', true) => 0.8,
        (b'-', false) => 0.2,
        (b' ', true) => 0.4,
        (_, true) => 0.15,
        (_, false) => return None,
    };
    Some((candidate.len(), alone))
}

fn us_itin(candidate: &str) -> Verdict {
    let group: u32 = candidate[4..6].parse().ok()?;
    sure(candidate, matches!(group, 50..=65 | 70..=88 | 90..=92 | 94..=99), 0.55)
}

fn uk_nino(candidate: &str) -> Verdict {
    let prefix = candidate[..2].to_ascii_uppercase();
    let is_given = !["BG", "GB", "NK", "KN", "TN", "NT", "ZZ"].contains(&prefix.as_str());
    let is_upper = !candidate.bytes().any(|b| b.is_ascii_lowercase());
    sure(candidate, is_given, if is_upper { 0.7 } else { 0.4 })
}

fn uk_nhs(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let check = 11 - weighted(&d[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    sure(candidate, check % 11 == d[9] && check != 10, 0.2)
}

/// Of the first ten digits exactly one stands twice or three times.
fn de_tax_id(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let mut counts = [0; 10];
    for digit in &d[..10] {
        counts[*digit as usize] += 1;
    }
    let repeated: Vec<i32> = counts.into_iter().filter(|n| *n > 1).collect();
    let has_shape = matches!(repeated.as_slice(), [2 | 3]);
    sure(candidate, has_shape && mod11_10(&d), if candidate.contains(' ') { 0.55 } else { 0.3 })
}

/// The date of birth with the century in the month, and the check digit.
fn pl_pesel(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let (month, day) = ((d[2] * 10 + d[3]) % 20, d[4] * 10 + d[5]);
    let check = (10 - weighted(&d[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10;
    // Nobody who lives was born before 1900 or will be after 2039: such a number is of something else, but beside the word.
    let is_living = match d[2] * 10 + d[3] {
        1..=12 => true,
        21..=32 => d[0] < 4,
        _ => false,
    };
    sure(
        candidate,
        (1..=12).contains(&month) && (1..=31).contains(&day) && check == d[10],
        if candidate.len() == 11 && is_living { 0.55 } else { 0.2 },
    )
}

fn pl_nip(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let is_valid = weighted(&d[..9], &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == d[9];
    let is_grouped = candidate.matches('-').count() == 3 && candidate.len() == 13;
    sure(candidate, is_valid, if is_grouped { 0.6 } else { 0.2 })
}

fn it_codice(candidate: &str) -> Verdict {
    /// What a character at an odd place counts; a digit counts like the letter of its value.
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let upper = candidate.to_ascii_uppercase();
    let value = |b: u8| u32::from(if b.is_ascii_digit() { b - b'0' } else { b - b'A' });
    let (body, check) = upper.as_bytes().split_at(15);
    let sum: u32 = body
        .iter()
        .enumerate()
        .map(|(i, b)| if i % 2 == 0 { ODD[value(*b) as usize] } else { value(*b) })
        .sum();
    sure(candidate, sum % 26 == value(check[0]), 0.9)
}

fn es_dni(candidate: &str) -> Verdict {
    const LETTERS: &[u8] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let upper = candidate.to_ascii_uppercase();
    let first = match upper.as_bytes()[0] {
        b'X' => "0",
        b'Y' => "1",
        b'Z' => "2",
        _ => "",
    };
    let body: String = upper.chars().filter(char::is_ascii_digit).collect();
    let number: usize = format!("{first}{body}").parse().ok()?;
    let check = upper.bytes().last()?;
    let is_upper = candidate == upper;
    sure(candidate, LETTERS[number % LETTERS.len()] == check, if is_upper { 0.7 } else { 0.4 })
}

/// Thirteen digits, and 97 less their remainder; the departments of Corsica count 19 and 18.
fn fr_nir(candidate: &str) -> Verdict {
    let compact: String = candidate.chars().filter(|c| *c != ' ').collect();
    let numeric = compact.to_ascii_uppercase().replacen("2A", "19", 1).replacen("2B", "18", 1);
    let (body, key) = numeric.split_at_checked(13)?;
    let (body, key): (u64, u64) = (body.parse().ok()?, key.parse().ok()?);
    sure(candidate, 97 - body % 97 == key, 0.7)
}

fn in_aadhaar(candidate: &str) -> Verdict {
    let d = digits(candidate);
    // `2023 2024 2025` is the head of a table.
    let is_years = d.chunks(4).all(|group| (19..=20).contains(&(group[0] * 10 + group[1])));
    sure(candidate, !is_years && verhoeff(&d), if candidate.contains(' ') { 0.6 } else { 0.25 })
}

fn br_cpf(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let check = |n: usize| {
        let sum: u32 =
            d[..n].iter().zip((2..=n as u32 + 1).rev()).map(|(digit, weight)| digit * weight).sum();
        sum * 10 % 11 % 10 == d[n]
    };
    let is_varied = d.iter().any(|digit| *digit != d[0]);
    sure(candidate, is_varied && check(9) && check(10), if candidate.contains('.') { 0.85 } else { 0.25 })
}

fn au_tfn(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let weights: &[u32] =
        if d.len() == 9 { &[1, 4, 3, 7, 5, 8, 6, 9, 10] } else { &[10, 7, 8, 4, 6, 3, 5, 1] };
    sure(candidate, weighted(&d, weights).is_multiple_of(11), 0.2)
}

fn au_medicare(candidate: &str) -> Verdict {
    let d = digits(candidate);
    sure(candidate, weighted(&d[..8], &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == d[8], 0.2)
}

fn nl_bsn(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let sum = weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
    sure(candidate, sum > d[8] && (sum - d[8]).is_multiple_of(11), 0.2)
}

/// 97 less the remainder of the first nine digits; those born since 2000 have a 2 before them.
fn be_number(candidate: &str) -> Verdict {
    let value = digits(candidate).iter().fold(0u64, |v, d| v * 10 + u64::from(*d));
    let (body, key) = (value / 100, value % 100);
    sure(candidate, 97 - body % 97 == key || 97 - (2_000_000_000 + body) % 97 == key, 0.8)
}

fn ch_ahv(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let sum = weighted(&d[..12], &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]);
    sure(candidate, (10 - sum % 10) % 10 == d[12], 0.85)
}

fn se_number(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let d = &d[d.len() - 10..];
    let (month, day) = (d[2] * 10 + d[3], d[4] * 10 + d[5]);
    sure(candidate, (1..=12).contains(&month) && (1..=31).contains(&day) && luhn(d), 0.6)
}

fn cn_id(candidate: &str) -> Verdict {
    let values: Vec<u32> = candidate.chars().map(|c| c.to_digit(10).unwrap_or(10)).collect();
    let sum = weighted(&values, &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
    let is_date = (1..=12).contains(&(values[10] * 10 + values[11]))
        && (1..=31).contains(&(values[12] * 10 + values[13]));
    sure(candidate, is_date && (12 - sum % 11) % 11 == values[17], 0.85)
}

fn sg_nric(candidate: &str) -> Verdict {
    let upper = candidate.to_ascii_uppercase();
    let d = digits(&upper);
    let (series, check) = (upper.as_bytes()[0], upper.as_bytes()[8]);
    let offset = match series {
        b'T' | b'G' => 4,
        b'M' => 3,
        _ => 0,
    };
    let rest = ((weighted(&d, &[2, 7, 6, 5, 4, 3, 2]) + offset) % 11) as usize;
    let letters: &[u8; 11] = match series {
        b'S' | b'T' => b"JZIHGFEDCBA",
        b'M' => b"XWUTRQPNJLK",
        _ => b"XWUTRQPNMLK",
    };
    sure(candidate, letters[rest] == check, 0.75)
}

#[cfg(test)]
mod tests {
    use super::super::findings as find;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    /// Kind, a right one, the same with a broken check, a look-alike.
    const CASES: &[(&str, &str, &str, &str)] = &[
        ("us_ssn", "SSN 078-05-1120", "412-00-1120", "000-12-3456"),
        ("us_ssn", "412-55-1120", "666-55-1120", "412551120"),
        ("us_itin", "ITIN 912-70-1234", "912-10-1234", "912-701-234"),
        ("uk_nino", "AB 12 34 56 C", "GB 12 34 56 C", "AB 12 34 56 E"),
        ("uk_nhs", "NHS number 943 476 5919", "NHS number 943 476 5918", "94347 65919 parts"),
        ("de_tax_id", "Steuer-ID 86 095 742 719", "Steuer-ID 86 095 742 718", "86095742719 parts"),
        ("pl_pesel", "PESEL 4405 1401\n359", "PESEL 4405 1401 358", "44.05.14.01.35.9"),
        ("pl_pesel", "PESEL 44051401359", "PESEL 44051401358", "44991401359"),
        ("pl_nip", "NIP 526-000-12-46", "NIP 526-000-12-47", "5260001246 parts"),
        ("pl_id_card", "dowód ABA300000", "dowód ABA300001", "ABA300000 parts"),
        ("it_codice_fiscale", "RSSMRA85T10A562S", "RSSMRA85T10A562T", "RSSMRA85T10A56"),
        ("es_dni", "12345678Z", "12345678A", "1234567Z"),
        ("es_dni", "NIE X1234567L", "NIE X1234567M", "X12345L"),
        ("fr_nir", "1 84 12 76 451 089 46", "1 84 12 76 451 089 47", "1 84 13 76 451 089 46"),
        ("in_aadhaar", "Aadhaar 2341 2341 2346", "Aadhaar 2341 2341 2347", "234123412346 parts"),
        ("in_pan", "ABCPE1234F", "ABCDE1234F", "ABCPE12345"),
        ("br_cpf", "529.982.247-25", "529.982.247-26", "111.111.111-11"),
        ("ca_sin", "SIN 130 692 544", "SIN 130 692 545", "130 692 544 parts"),
        ("au_tfn", "TFN 123 456 782", "TFN 123 456 783", "123 456 782 parts"),
        ("au_medicare", "Medicare 2123 45670 1", "Medicare 2123 45680 1", "2123456701 parts"),
        ("nl_bsn", "BSN 111222333", "BSN 111222334", "111222333 parts"),
        ("be_national_number", "85.07.30-033.28", "85.07.30-033.29", "85.07.30-033"),
        ("ch_ahv", "756.9217.0769.85", "756.9217.0769.84", "755.9217.0769.85"),
        ("se_personnummer", "811228-9874", "811228-9873", "811328-9874"),
        ("cn_resident_id", "11010519491231002X", "110105194912310021", "110105194913310021"),
        ("sg_nric", "S1234567D", "S1234567A", "S123456D"),
        ("sg_nric", "M1234567K", "M1234567L", "M123456K"),
    ];

    #[test]
    fn right_numbers_are_found_and_others_are_not() {
        for (kind, right, broken, lookalike) in CASES {
            assert_eq!(kinds(right), [*kind], "{right}");
            assert!(!kinds(broken).contains(kind), "{broken}");
            assert_eq!(kinds(lookalike), [""; 0], "{lookalike}");
        }
    }

    #[test]
    fn what_only_passes_the_check_is_no_number_of_a_person() {
        for text in
            ["| 2023 2024 2025 |", "in 2022 2023 2024 2025", "ticket 40661501357", "order 50712044117"]
        {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
        assert_eq!(kinds("PESEL 40661501357"), ["pl_pesel"]);
        assert_eq!(kinds("born in Kraków, 44051401359"), ["pl_pesel"]);
    }

    #[test]
    fn a_number_that_was_never_given_counts_beside_its_name() {
        assert_eq!(kinds("His SSN is 912-45-6789"), ["us_ssn"]);
        assert_eq!(kinds("The part is 912-45-6789"), [""; 0]);
    }
}
