//! Rules: numbers of states of America, Asia and Africa.

use super::checksum::{digits, luhn, weighted};
use super::rule::{Rule, Verdict};

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule::by_check("br_cnpj", r"(?-u)\b\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}\b|\b\d{14}\b", br_cnpj, &["cnpj"]),
    Rule::by_check("mx_curp", r"(?-u)\b[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d\b", mx_curp, &["curp"]),
    Rule::by_word(
        "mx_rfc",
        r"(?-u)\b[A-Z&]{4}\d{6}[A-Z0-9]{2}[0-9A]\b",
        |m| is_date_at(&digits(m), 2, 4).then_some((m.len(), 0.4)),
        &["rfc", "contribuyente"],
    ),
    Rule::by_check("ar_cuit", r"(?-u)\b(?:2[03470]|3[034])-\d{8}-\d\b", ar_cuit, &["cuit", "cuil"]),
    Rule::by_check(
        "cl_rut",
        r"(?i-u)\b\d{1,2}\.\d{3}\.\d{3}-[0-9K]\b|\b\d{7,8}-[0-9K]\b",
        cl_rut,
        &["rut", "run"],
    ),
    Rule::by_check(
        "us_mbi",
        r"(?-u)\b[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9][0-9]-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9][0-9]-?[AC-HJKMNP-RT-Y]{2}[0-9]{2}\b",
        |m| Some((m.len(), if m.contains('-') { 0.7 } else { 0.4 })),
        &["mbi", "medicare", "beneficiary"],
    ),
    Rule::by_word("bank_routing", r"(?-u)\b[0-3]\d{8}\b", aba, &["routing", "aba", "rtn"]),
    Rule::by_word(
        "jp_my_number",
        r"(?-u)\b\d{4}[ -]?\d{4}[ -]?\d{4}\b",
        jp_number,
        &["my number", "mynumber", "マイナンバー", "個人番号"],
    ),
    Rule::by_check(
        "kr_rrn",
        r"(?-u)\b\d{6}-[1-8]\d{6}\b",
        kr_rrn,
        &["주민등록", "rrn", "resident registration"],
    ),
    Rule::by_word(
        "za_id",
        r"(?-u)\b\d{13}\b|\b\d{6} \d{4} \d{3}\b",
        za_id,
        &["south african", "sa id", "rsa id", "id number", "identity number", "id no"],
    ),
    Rule::by_word("tr_kimlik", r"(?-u)\b[1-9]\d{10}\b", tr_number, &["kimlik", "tckn", "t.c."]),
    Rule::by_word(
        "il_id",
        r"(?-u)\b\d{9}\b",
        |m| luhn(&digits(m)).then_some((m.len(), 0.2)),
        &["teudat zehut", "israeli id", "תעודת זהות", "ת.ז", "ת\"ז"],
    ),
    Rule::by_check("hk_id", r"(?-u)\b[A-Z]{1,2}\d{6}\([0-9A]\)", hk_id, &["hkid", "hong kong", "身份證"]),
    Rule::by_check("tw_id", r"(?-u)\b[A-Z][12]\d{8}\b", tw_id, &["身分證", "taiwan", "national id"]),
    Rule::by_check(
        "th_id",
        r"(?-u)\b[1-8]-\d{4}-\d{5}-\d{2}-\d\b|\b[1-8]\d{12}\b",
        th_id,
        &["บัตรประชาชน", "ประจำตัวประชาชน", "thai id", "citizen id"],
    ),
    Rule::by_word("id_nik", r"(?-u)\b\d{16}\b", id_nik, &["nik", "ktp", "kependudukan"]),
    Rule::by_word(
        "my_nric",
        r"(?-u)\b\d{6}-?\d{2}-?\d{4}\b",
        |m| is_date_at(&digits(m), 2, 4).then_some((m.len(), 0.3)),
        &["mykad", "nric", "kad pengenalan", "no. kp", "no kp"],
    ),
    Rule::by_word("vn_cccd", r"(?-u)\b0\d{11}\b", any, &["cccd", "căn cước", "cmnd"]),
    Rule::by_check("pk_cnic", r"(?-u)\b[1-7]\d{4}-\d{7}-\d\b", |m| Some((m.len(), 0.6)), &["cnic", "nadra"]),
    Rule::by_check(
        "ae_emirates_id",
        r"(?-u)\b784-?\d{4}-?\d{7}-?\d\b",
        |m| luhn(&digits(m)).then_some((m.len(), 0.7)),
        &["emirates id", "eid"],
    ),
    Rule::by_word("ng_nin", r"(?-u)\b\d{11}\b", any, &["nin", "national identification number"]),
    Rule::by_word(
        "ph_id",
        r"(?-u)\b\d{2}-\d{7}-\d\b|\b\d{4}-\d{4}-\d{4}-\d{4}\b",
        any,
        &["sss", "philsys", "philippine"],
    ),
];

fn any(candidate: &str) -> Verdict {
    Some((candidate.len(), 0.0))
}

fn sure(candidate: &str, is_valid: bool, alone: f64) -> Verdict {
    is_valid.then_some((candidate.len(), alone))
}

/// Whether the month and the day stand at these places.
fn is_date_at(d: &[u32], month: usize, day: usize) -> bool {
    let two = |at: usize| d[at] * 10 + d[at + 1];
    (1..=12).contains(&two(month)) && (1..=31).contains(&two(day))
}

fn br_cnpj(candidate: &str) -> Verdict {
    const WEIGHTS: [u32; 13] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
    let d = digits(candidate);
    let check = |n: usize| {
        let rest = weighted(&d[..n], &WEIGHTS[13 - n..]) % 11;
        (if rest < 2 { 0 } else { 11 - rest }) == d[n]
    };
    let is_varied = d.iter().any(|digit| *digit != d[0]);
    sure(candidate, is_varied && check(12) && check(13), if candidate.contains('/') { 0.85 } else { 0.25 })
}

fn mx_curp(candidate: &str) -> Verdict {
    // The alphabet has Ñ between N and O.
    let value = |b: u8| match b {
        b'0'..=b'9' => u32::from(b - b'0'),
        b'A'..=b'N' => u32::from(b - b'A') + 10,
        _ => u32::from(b.saturating_sub(b'A')) + 11,
    };
    let sum: u32 = candidate.bytes().take(17).zip((2..=18).rev()).map(|(b, w)| value(b) * w).sum();
    let check = candidate.bytes().last().map(value);
    sure(candidate, is_date_at(&digits(candidate), 2, 4) && check == Some((10 - sum % 10) % 10), 0.9)
}

fn ar_cuit(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let check = 11 - weighted(&d[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    sure(candidate, check % 11 == d[10], 0.7)
}

fn cl_rut(candidate: &str) -> Verdict {
    let (body, check) = candidate.rsplit_once('-')?;
    let mut d = digits(body);
    d.reverse();
    let expected = 11 - weighted(&d, &[2, 3, 4, 5, 6, 7, 2, 3]) % 11;
    let is_valid = match check {
        "K" | "k" => expected == 10,
        digit => digit.parse() == Ok(expected % 11),
    };
    sure(candidate, is_valid, if candidate.contains('.') { 0.8 } else { 0.25 })
}

fn aba(candidate: &str) -> Verdict {
    let d = digits(candidate);
    sure(candidate, weighted(&d, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10), 0.2)
}

fn jp_number(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let rest = weighted(&d[..11], &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    sure(candidate, if rest < 2 { 0 } else { 11 - rest } == d[11], 0.2)
}

/// Numbers given since October 2020 have no check digit; then the date must do.
fn kr_rrn(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let check = (11 - weighted(&d[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10;
    sure(candidate, is_date_at(&d, 2, 4), if check == d[12] { 0.75 } else { 0.4 })
}

fn za_id(candidate: &str) -> Verdict {
    let d = digits(candidate);
    sure(candidate, luhn(&d) && is_date_at(&d, 2, 4) && d[10] < 3, 0.3)
}

fn tr_number(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let odd = d[0] + d[2] + d[4] + d[6] + d[8];
    let even = d[1] + d[3] + d[5] + d[7];
    let tenth = (odd * 7 + 100 - even) % 10 == d[9];
    sure(candidate, tenth && d[..10].iter().sum::<u32>() % 10 == d[10], 0.3)
}

/// One letter or two, six digits, the check digit in brackets; a missing letter counts 36.
fn hk_id(candidate: &str) -> Verdict {
    let compact: Vec<u32> = candidate.chars().filter_map(|c| c.to_digit(36)).collect();
    let mut values = if compact.len() == 8 { vec![36] } else { Vec::new() };
    values.extend(compact);
    sure(candidate, weighted(&values, &[9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11), 0.75)
}

fn tw_id(candidate: &str) -> Verdict {
    const LETTERS: &str = "ABCDEFGHJKLMNPQRSTUVXYWZIO";
    let letter = LETTERS.find(candidate.chars().next()?)? as u32 + 10;
    let d = digits(candidate);
    let sum = letter / 10 + letter % 10 * 9 + weighted(&d, &[8, 7, 6, 5, 4, 3, 2, 1, 1]);
    sure(candidate, sum.is_multiple_of(10), 0.55)
}

fn th_id(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let check = (11 - weighted(&d[..12], &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 10;
    sure(candidate, check == d[12], if candidate.contains('-') { 0.75 } else { 0.25 })
}

/// The day of a woman's birth has forty added.
fn id_nik(candidate: &str) -> Verdict {
    let d = digits(candidate);
    let (day, month) = ((d[6] * 10 + d[7]) % 40, d[8] * 10 + d[9]);
    sure(candidate, (1..=31).contains(&day) && (1..=12).contains(&month), 0.2)
}

#[cfg(test)]
mod tests {
    use crate::detect::pii::findings;

    fn kinds(text: &str) -> Vec<&'static str> {
        findings(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    /// Kind, a right one, the same with a broken check.
    const CASES: &[(&str, &str, &str)] = &[
        ("br_cnpj", "11.222.333/0001-81", "11.222.333/0001-82"),
        ("mx_curp", "HEGG560427MVZRRL04", "HEGG560427MVZRRL05"),
        ("mx_rfc", "RFC GODE561231GR8", "RFC GODE569931GR8"),
        ("ar_cuit", "20-12345678-6", "20-12345678-7"),
        ("cl_rut", "12.345.678-5", "12.345.678-6"),
        ("us_mbi", "1EG4-TE5-MK73", "1EG4-TE5-MKK3"),
        ("bank_routing", "routing 011000015", "routing 011000016"),
        ("jp_my_number", "マイナンバー1234 5678 9018", "マイナンバー1234 5678 9019"),
        ("kr_rrn", "주민등록번호 820701-2409184", "주민등록번호 821301-2409184"),
        ("za_id", "SA ID 8001015009087", "SA ID 8001015009088"),
        ("tr_kimlik", "TC kimlik 10000000146", "TC kimlik 10000000147"),
        ("il_id", "Israeli ID 123456782", "Israeli ID 123456783"),
        ("hk_id", "A123456(3)", "A123456(4)"),
        ("tw_id", "A123456789", "A123456788"),
        ("th_id", "1-1017-00230-70-8", "1-1017-00230-70-7"),
        ("ae_emirates_id", "784-1234-1234567-2", "784-1234-1234567-3"),
    ];

    #[test]
    fn right_numbers_are_found_and_broken_ones_are_not() {
        for (kind, right, broken) in CASES {
            assert_eq!(kinds(right), [*kind], "{right}");
            assert!(!kinds(broken).contains(kind), "{broken}");
        }
    }
}
