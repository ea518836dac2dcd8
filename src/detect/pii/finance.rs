//! Rules: payment card, IBAN, wallet addresses.

use super::checksum::{digits, luhn, mod97};
use super::rule::{Rule, Verdict};
use super::wallet;

const CARD_WORDS: &[&str] = &[
    "card",
    "visa",
    "mastercard",
    "amex",
    "maestro",
    "credit",
    "debit",
    "cc",
    "pan",
    "karta",
    "karty",
    "kartę",
    "carte",
    "tarjeta",
    "carta",
    "kreditkarte",
    "karte",
    "cartão",
];
const ACCOUNT_WORDS: &[&str] =
    &["iban", "account", "konto", "konta", "rachun", "nrb", "compte", "cuenta", "conto", "bank"];
const WALLET_WORDS: &[&str] = &["wallet", "bitcoin", "btc", "eth", "ethereum", "address", "crypto"];

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule {
        kind: "credit_card",
        shape: r"(?-u)\b\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}(?:[ -]\d{3})?\b|\b\d{4}[ -]\d{6}[ -]\d{4,5}\b|\b\d{12,19}\b",
        min_digits: 12,
        check: card,
        words: CARD_WORDS,
        with_word: 0.95,
        needs_word: false,
        denied_by: &["trace", "span", "request", "order", "tracking", "timestamp", "isbn", "id"],
    },
    Rule {
        kind: "iban",
        shape: r"(?i-u)\b[A-Z]{2}(?:[ .\n-]?\d){2}(?:[ .\n-]?[A-Z0-9]){11,30}",
        min_digits: 8,
        check: iban,
        words: ACCOUNT_WORDS,
        with_word: 0.95,
        needs_word: false,
        denied_by: &[],
    },
    Rule {
        kind: "iban",
        shape: r"(?-u)\b\d{2}(?:[ -]?\d{4}){6}\b",
        min_digits: 26,
        check: polish_account,
        words: ACCOUNT_WORDS,
        with_word: 0.95,
        needs_word: false,
        denied_by: &[],
    },
    Rule {
        min_digits: 8,
        ..Rule::by_word(
            "iban",
            r"(?-u)\b(?:[A-Z][ .\n-]?[A-Z][ .\n-]?)?[0-9OoIl](?:[ .\n-]?[0-9OoIl]){15,27}\b",
            garbled_iban,
            ACCOUNT_WORDS,
        )
    },
    Rule {
        min_digits: 13,
        ..Rule::by_word("credit_card", r"(?-u)\b\d(?:[ .\n-]?\d){12,18}\b", card, CARD_WORDS)
    },
    Rule {
        kind: "crypto_wallet",
        shape: r"(?-u)\b[13][1-9A-HJ-NP-Za-km-z]{25,34}\b",
        min_digits: 2,
        check: |m| wallet::is_base58check(m).then_some((m.len(), 0.9)),
        words: WALLET_WORDS,
        with_word: 0.95,
        needs_word: false,
        denied_by: &[],
    },
    Rule {
        kind: "crypto_wallet",
        shape: r"(?-u)\b(?:bc1[02-9ac-hj-np-z]{11,71}|BC1[02-9AC-HJ-NP-Z]{11,71})\b",
        min_digits: 1,
        check: |m| wallet::is_bech32(m).then_some((m.len(), 0.95)),
        words: WALLET_WORDS,
        with_word: 0.95,
        needs_word: false,
        denied_by: &[],
    },
    Rule {
        kind: "crypto_wallet",
        shape: r"(?-u)\b0x[0-9a-fA-F]{40}\b",
        min_digits: 2,
        check: ethereum,
        words: WALLET_WORDS,
        with_word: 0.9,
        needs_word: false,
        denied_by: &["contract", "token", "commit"],
    },
];

/// Lengths and first digits as the issuers publish them, then the check digit.
fn card(candidate: &str) -> Verdict {
    let number = digits(candidate);
    let alone = issuer(&number)?;
    // A number of one or two different digits (`0000 ...`, `4444 ...`) passes the check too easily.
    let mut kinds = number.clone();
    kinds.sort_unstable();
    kinds.dedup();
    (luhn(&number) && kinds.len() > 1).then_some((candidate.len(), alone))
}

/// How sure the range is by itself; none for a number that no issuer gives.
fn issuer(number: &[u32]) -> Option<f64> {
    let first = |n: usize| number.iter().take(n).fold(0, |value, d| value * 10 + d);
    let length = number.len();
    let known = match (first(4), length) {
        (4000..=4999, 13 | 16 | 19)
        | (5100..=5599 | 2221..=2720, 16)
        | (3400..=3499 | 3700..=3799, 15)
        | (3000..=3059 | 3095 | 3600..=3699 | 3800..=3999, 14)
        | (6011 | 6440..=6599, 16 | 19)
        | (3528..=3589, 16 | 19)
        | (2200..=2204, 16) => 0.85,
        (2131 | 1800, 15) | (6200..=6299 | 8100..=8299 | 3528..=3699, 16..=19) => 0.6,
        // Maestro numbers are of any length, and JCB has given old ones; a word must speak for them.
        (5000..=5099 | 5600..=5899 | 6000..=6999, 12..=19) | (3500..=3599, 16) => 0.35,
        _ => return None,
    };
    // Thirteen digits are more often a time in milliseconds than an old Visa card.
    Some(if length == 13 { 0.4 } else { known })
}

/// The length of the IBAN of each country, from the registry.
const IBAN_LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 \
    DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 \
    IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 \
    OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 \
    UA29 VA22 VG24 XK20 YE30";

/// Every account has more, those of the countries whose banks have letters too.
const LEAST_IBAN_DIGITS: usize = 8;

/// The candidate may have swallowed the word behind it; only the country's length counts.
fn iban(candidate: &str) -> Verdict {
    let country = candidate.get(..2)?.to_ascii_uppercase();
    let entry = IBAN_LENGTHS.split_ascii_whitespace().find(|entry| entry.starts_with(&country))?;
    let length: usize = entry[2..].parse().ok()?;
    let (last, _) = candidate.char_indices().filter(|(_, c)| c.is_ascii_alphanumeric()).nth(length - 1)?;
    let value: Vec<char> = candidate[..=last].chars().filter(char::is_ascii_alphanumeric).collect();
    let rest = mod97(value[4..].iter().chain(&value[..4]).copied())?;
    // `at 10 am on Friday we rang` passes the check too.
    let digits = value.iter().filter(|c| c.is_ascii_digit()).count();
    (rest == 1 && digits >= LEAST_IBAN_DIGITS).then_some((last + 1, 0.9))
}

/// Polish accounts are written without the country.
fn polish_account(candidate: &str) -> Verdict {
    let value: Vec<char> = candidate.chars().filter(char::is_ascii_digit).collect();
    let rest = mod97(value[2..].iter().copied().chain("PL".chars()).chain(value[..2].iter().copied()))?;
    (rest == 1).then_some((candidate.len(), 0.8))
}

/// O for 0, and l or I for 1: in the countries whose accounts have digits only, the check digits tell. Without a country
/// it is a Polish account.
fn garbled_iban(candidate: &str) -> Verdict {
    const ONLY_DIGITS: [&str; 16] =
        ["PL", "DE", "AT", "BE", "CZ", "DK", "EE", "ES", "FI", "HR", "HU", "LT", "NO", "PT", "SE", "SK"];
    let compact: String = candidate.chars().filter(char::is_ascii_alphanumeric).collect();
    let country = compact.get(..2).filter(|country| country.bytes().all(|b| b.is_ascii_uppercase()));
    let country = country.filter(|country| ONLY_DIGITS.contains(country));
    let digits = compact[country.map_or(0, str::len)..].replace(['O', 'o'], "0").replace(['I', 'l'], "1");
    let letters = compact.bytes().filter(|b| matches!(b, b'O' | b'o' | b'I' | b'l')).count();
    let entry = IBAN_LENGTHS.split_ascii_whitespace().find(|e| e.starts_with(country.unwrap_or("PL")))?;
    let length: usize = entry[2..].parse().ok()?;
    let body = digits.get(2..length - 2)?;
    let rest = mod97(body.chars().chain(entry[..2].chars()).chain(digits[..2].chars()))?;
    let (last, _) = candidate
        .char_indices()
        .filter(|(_, c)| c.is_ascii_alphanumeric())
        .nth(length - if country.is_some() { 1 } else { 3 })?;
    (rest == 1 && letters * 3 <= length).then_some((last + 1, 0.0))
}

/// Forty hexadecimal digits behind `0x`; the zero address and the like are nobody's.
fn ethereum(candidate: &str) -> Verdict {
    let body = &candidate.as_bytes()[2..];
    let is_varied = body.iter().collect::<std::collections::HashSet<_>>().len() > 6;
    is_varied.then_some((candidate.len(), 0.6))
}

#[cfg(test)]
mod tests {
    use super::super::findings as find;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    #[test]
    fn cards_of_the_issuers() {
        for number in [
            "4111111111111111",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "5555555555554444",
            "2223003122003222",
            "378282246310005",
            "3782 822463 10005",
            "6011111111111117",
            "30569309025904",
            "3530111333300000",
        ] {
            assert_eq!(kinds(&format!("It is {number}.")), ["credit_card"], "{number}");
        }
        assert_eq!(kinds("my card 503867297114"), ["credit_card"]);
        assert_eq!(kinds("the part 503867297114"), [""; 0]);
    }

    #[test]
    fn numbers_that_only_look_like_cards() {
        for text in [
            "4111 1111 1111 1112",
            "9111111111111111",
            "0000 0000 0000 0000",
            "at 1700000000000 ms",
            "order id 4532015112830366000000",
            "4111 1111 1111",
        ] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn ibans() {
        assert_eq!(kinds("DE89 3704 0044 0532 0130 00"), ["iban"]);
        assert_eq!(kinds("Pay to GB82WEST12345698765432 NOW please"), ["iban"]);
        let found = find("NL91 ABNA 0417 1643 00 EURO");
        assert_eq!((found[0].start, found[0].end), (0, 22));
        assert_eq!(kinds("DE89 3704 0044 0532 0130 01"), [""; 0]);
        assert_eq!(kinds("DE89 3704 0044 0532 0130"), [""; 0]);
        assert_eq!(kinds("XX89 3704 0044 0532 0130 00"), [""; 0]);
        assert_eq!(kinds("Order 20261127: at 10 am on Friday we rang."), [""; 0]);
        for text in ["MT84 MALT 0110 0001 2345 MTLC AST0 01S", "QA58 DOHB 0000 1234 5678 90AB CDEF G"] {
            assert_eq!(kinds(text), ["iban"], "{text}");
        }
        assert_eq!(kinds("konto 61 1090 1014 0000 0712 1981 2874"), ["iban"]);
        assert_eq!(kinds("konto 61 1090 1014 0000 0712 1981 2875"), [""; 0]);
    }

    #[test]
    fn wallets() {
        assert_eq!(kinds("to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"), ["crypto_wallet"]);
        assert_eq!(kinds("to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"), [""; 0]);
        assert_eq!(kinds("to bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"), ["crypto_wallet"]);
        assert_eq!(kinds("to bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"), [""; 0]);
        assert_eq!(kinds("to 0x52908400098527886E0F7030069857D2E4169EE7"), ["crypto_wallet"]);
        assert_eq!(kinds("to 0x0000000000000000000000000000000000000000"), [""; 0]);
    }
}
