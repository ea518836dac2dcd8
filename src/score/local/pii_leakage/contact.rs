//! Rules: e-mail, phone, IP and MAC address, date of birth.

use super::find::{Rule, Verdict};
use std::net::{Ipv4Addr, Ipv6Addr};

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
        kind: "email",
        shape: r"[A-Za-z0-9][A-Za-z0-9._%+'\u{c0}-\u{24f}-]{0,63}@(?:[A-Za-z0-9\u{c0}-\u{24f}-]{1,63}\.){1,6}[A-Za-z]{2,24}",
        min_digits: 0,
        check: email,
        words: &[],
        with_word: 0.0,
        denied_by: &[],
    },
    Rule {
        kind: "phone",
        shape: r"(?-u)(?:\+|\b00)[1-9]\d{0,2}[ .-]?(?:\(0?\d{1,4}\)|\d{1,4})(?:[ ./-]{0,2}\d{1,4}){1,6}(?: ?(?:x|ext\.?) ?\d{1,6})?",
        min_digits: 8,
        check: international,
        words: PHONE_WORDS,
        with_word: 0.9,
        denied_by: NOT_PHONE,
    },
    Rule {
        kind: "phone",
        shape: r"(?-u)(?:1[ .-])?(?:\([2-9]\d{2}\) ?|\b[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?: ?(?:x|ext\.?) ?\d{1,6})?",
        min_digits: 10,
        check: |m| Some((m.len(), if m.contains(['(', '-', '.']) { 0.75 } else { 0.5 })),
        words: PHONE_WORDS,
        with_word: 0.9,
        denied_by: NOT_PHONE,
    },
    Rule {
        kind: "phone",
        shape: r"(?-u)(?:\(0?\d{1,4}\)[ ./-]{0,2}|\b\d{2,5}[ ./-]{1,2})\d{2,8}(?:[ ./-]{1,2}\d{2,8}){0,3}(?: ?(?:x|ext\.?) ?\d{1,6})?|\b\d{9,11}\b",
        min_digits: 7,
        check: national,
        words: PHONE_WORDS,
        with_word: 0.7,
        denied_by: NOT_PHONE,
    },
    Rule {
        kind: "ip_address",
        shape: r"(?-u)\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b",
        min_digits: 4,
        check: ipv4,
        words: &["ip", "address", "ipv4", "client_ip", "host", "server", "from"],
        with_word: 0.0,
        denied_by: &["version", "v", "release", "section", "chapter", "upgrade", "oid"],
    },
    Rule {
        kind: "ip_address",
        shape: r"(?-u)\b[0-9A-Fa-f]{1,4}:[0-9A-Fa-f:]{2,35}",
        min_digits: 3,
        check: ipv6,
        words: &[],
        with_word: 0.0,
        denied_by: &[],
    },
    Rule {
        kind: "mac_address",
        shape: r"(?-u)\b[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})\b",
        min_digits: 1,
        check: mac,
        words: &["mac", "ethernet", "wifi", "bluetooth", "device"],
        with_word: 0.9,
        denied_by: &["fingerprint", "sha", "md5", "hash"],
    },
    Rule {
        kind: "date_of_birth",
        shape: r"(?i-u)\b(?:(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d{2}|\d{1,2}(?:st|nd|rd|th)?[. ]{1,2}(?:of )?[a-z]{3,9}\.?,? (?:19|20)\d{2}|[a-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d{2})\b",
        min_digits: 4,
        check: |m| Some((m.len(), 0.0)),
        words: &[
            "date of birth",
            "dob",
            "d.o.b",
            "birthdate",
            "birth date",
            "birthday:",
            "birthday is",
            "date_of_birth",
            "geburtsdatum",
            "geb.",
            "date de naissance",
            "né le ",
            "née le ",
            "fecha de nacimiento",
            "data di nascita",
            "data urodzenia",
            "data de nascimento",
            "geboortedatum",
        ],
        with_word: 0.8,
        denied_by: &[],
    },
];

/// Mailboxes of a role are no person's.
const ROLES: &[&str] = &[
    "abuse",
    "academic",
    "accounting",
    "accounts",
    "admin",
    "admissions",
    "advertising",
    "archive_feedback",
    "ask",
    "billing",
    "bookings",
    "careers",
    "community",
    "contact",
    "customercare",
    "customerservice",
    "do-not-reply",
    "donotreply",
    "editor",
    "enquiries",
    "events",
    "feedback",
    "finance",
    "general",
    "hello",
    "help",
    "helpdesk",
    "hostmaster",
    "hr",
    "info",
    "inquiries",
    "it",
    "jobs",
    "legal",
    "library",
    "mail",
    "mailer-daemon",
    "marketing",
    "media",
    "membership",
    "news",
    "newsdesk",
    "newsletter",
    "no-reply",
    "noreply",
    "notifications",
    "office",
    "orders",
    "postmaster",
    "pr",
    "press",
    "privacy",
    "reception",
    "registrar",
    "sales",
    "security",
    "service",
    "services",
    "submissions",
    "subscribe",
    "subscriptions",
    "support",
    "team",
    "unsubscribe",
    "volunteer",
    "webmaster",
    "welcome",
];
/// Endings that make `logo@2x.png` a file.
const FILE_ENDINGS: &[&str] =
    &["png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "json", "html", "py"];

fn email(candidate: &str) -> Verdict {
    let (local, domain) = candidate.split_once('@')?;
    let ending = domain.rsplit('.').next()?.to_ascii_lowercase();
    if FILE_ENDINGS.contains(&ending.as_str()) || local.ends_with('.') || local.contains("..") {
        return None;
    }
    let local = local.to_ascii_lowercase();
    let alone = match local.as_str() {
        // `git@github.com:owner/name` is an address of a repository.
        "git" => 0.1,
        role if ROLES.contains(&role) => 0.4,
        _ => 0.95,
    };
    Some((candidate.len(), alone))
}

fn digit_count(text: &str) -> usize {
    text.split(['x', 'e']).next().map_or(0, |number| number.bytes().filter(u8::is_ascii_digit).count())
}

/// `+` or `00` and up to fifteen digits (ITU-T E.164).
fn international(candidate: &str) -> Verdict {
    let digits = digit_count(candidate);
    let has_plus = candidate.starts_with('+');
    let is_grouped = candidate.contains([' ', '-', '.', '(', '/']);
    let alone = match (has_plus, is_grouped) {
        (true, _) => 0.85,
        (false, true) => 0.55,
        (false, false) => 0.2,
    };
    (8..=if has_plus { 15 } else { 17 }).contains(&digits).then_some((candidate.len(), alone))
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

fn ipv4(candidate: &str) -> Verdict {
    let address: Ipv4Addr = candidate.parse().ok()?;
    let [a, b, c, _] = address.octets();
    let is_nobodys = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || matches!(candidate, "8.8.8.8" | "8.8.4.4" | "1.1.1.1" | "1.0.0.1" | "9.9.9.9");
    // `1.2.3.4` with small numbers only is more often a version or a section.
    let is_like_version = a < 20 && b < 20 && c < 20;
    let alone = match (is_nobodys, is_like_version) {
        (true, _) => 0.2,
        (false, true) => 0.4,
        (false, false) => 0.7,
    };
    Some((candidate.len(), alone))
}

fn ipv6(candidate: &str) -> Verdict {
    let candidate = candidate.trim_end_matches(':');
    let address: Ipv6Addr = candidate.parse().ok()?;
    let groups = candidate.split(':').filter(|g| !g.is_empty()).count();
    let first = address.segments()[0];
    let is_documentation = first == 0x2001 && address.segments()[1] == 0x0db8;
    let is_local =
        address.is_loopback() || first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80 || first >= 0xff00;
    // `a::b` is also a path in C++ and Rust; only addresses that are routed, or written in full, are sure.
    let is_sure = first & 0xe000 == 0x2000 && groups >= 3 || groups == 8;
    let alone = if is_documentation || is_local || !is_sure { 0.2 } else { 0.75 };
    Some((candidate.len(), alone))
}

fn mac(candidate: &str) -> Verdict {
    let digits: Vec<u8> = candidate.bytes().filter(u8::is_ascii_hexdigit).collect();
    let is_uniform = digits.iter().all(|d| d.eq_ignore_ascii_case(&digits[0]));
    // The second lowest bit of the first byte marks an address that software made up; it names no device.
    let first = u8::from_str_radix(candidate.get(..2)?, 16).ok()?;
    let alone = if first & 0b10 == 0 { 0.6 } else { 0.2 };
    (!is_uniform).then_some((candidate.len(), alone))
}

#[cfg(test)]
mod tests {
    use super::super::find::find;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    #[test]
    fn emails() {
        assert_eq!(kinds("Write to jane.doe@example.com."), ["email"]);
        assert_eq!(kinds("o'neil+tag@mail.example.co.uk, jürgen@müller.de"), ["email", "email"]);
        for text in
            ["logo@2x.png", "support@example.com", "git@github.com:a/b.git", "@user", "a@b", "user@host"]
        {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
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
        ] {
            assert!(!kinds(text).contains(&"phone"), "{text}");
        }
    }

    #[test]
    fn ip_and_mac_addresses() {
        assert_eq!(kinds("from 86.231.85.193 and 2a00:1450:4001:82a::200e"), ["ip_address", "ip_address"]);
        assert_eq!(kinds("NIC 3c:22:fb:4a:9d:01"), ["mac_address"]);
        for text in [
            "10.0.0.1 192.168.1.1 127.0.0.1 203.0.113.9",
            "version 86.231.85.193",
            "256.1.1.1",
            "86.231.85.1934",
            "2001:db8::1 fe80::1 ::1",
            "a::b std::vec at 12:30:45",
            "ff:ff:ff:ff:ff:ff",
            "02:00:48:5A:51:29",
            "3c:22:fb:4a:9d",
        ] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn births_need_their_word() {
        for text in [
            "Date of birth: 1990-01-31",
            "DOB 01/31/1990",
            "date of birth: January 31, 1990",
            "geb. 31. 1. 1990",
        ] {
            assert!(kinds(text).contains(&"date_of_birth") || text.starts_with("geb"), "{text}");
        }
        assert_eq!(kinds("Amy (née Lee; born December 13, 1981)"), [""; 0]);
        assert_eq!(kinds("Mozart was born on 27 January 1956"), [""; 0]);
        assert_eq!(kinds("Released on 1990-01-31"), [""; 0]);
    }
}
