//! Rules: IP and MAC address, date of birth.

use super::rule::{Rule, Verdict};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule {
        kind: "ip_address",
        shape: r"(?-u)\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b",
        min_digits: 4,
        check: ipv4,
        words: &["ip", "address", "ipv4", "client_ip", "host", "server", "from"],
        with_word: 0.0,
        needs_word: false,
        denied_by: &["version", "v", "release", "section", "chapter", "upgrade", "oid"],
    },
    Rule {
        kind: "ip_address",
        shape: r"(?-u)\b[0-9A-Fa-f]{1,4}:[0-9A-Fa-f:]{2,35}",
        min_digits: 3,
        check: ipv6,
        words: &[],
        with_word: 0.0,
        needs_word: false,
        denied_by: &[],
    },
    Rule {
        kind: "mac_address",
        shape: r"(?-u)\b[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})\b",
        min_digits: 1,
        check: mac,
        words: &["mac", "ethernet", "wifi", "bluetooth", "device"],
        with_word: 0.9,
        needs_word: false,
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
        needs_word: true,
        denied_by: &[],
    },
];

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
    // Eight pairs of digits are the end of a fingerprint or the name of a port, never an address.
    let is_pairs = candidate.split(':').all(|group| group.len() == 2);
    let alone = if is_documentation || is_local || is_pairs || !is_sure { 0.2 } else { 0.75 };
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
    use super::super::findings as find;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    #[test]
    fn ip_and_mac_addresses() {
        assert_eq!(kinds("from 86.231.85.193 and 2a00:1450:4001:82a::200e"), ["ip_address", "ip_address"]);
        for text in ["NIC 3c:22:fb:4a:9d:01", "mac:3c:22:fb:4a:9d:01", "3C-22-FB-4A-9D-01-eth0"] {
            assert_eq!(kinds(text), ["mac_address"], "{text}");
        }
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
            // Fingerprints of keys, without a word that says so.
            "44:a0:9f:15:b2:66:1c:d8:03:7e:90:5b:e1:2f:88:c4",
            "RSA 3C:22:FB:4A:9D:01:44:A0:9F:15:B2:66:1C:D8:03:7E:90:5B:E1:2F",
            "50:01:43:80:12:34:56:78",
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
