//! PEM, JWT, connection strings, addresses with passwords, activation keys, password hashes.

use super::plausible;
use super::shape::{Shape, prefixed};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// The forms of this file.
pub const SHAPES: &[Shape] = &[
    prefixed(
        "private_key",
        &["-----BEGIN "],
        // The body may be broken into lines by escapes, quotes or indentation.
        r#"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----[ \t\r\n\\nr"'+>|,.-]{0,40}(?:[A-Za-z-]{1,20}: [ -~]{1,80}[\r\n]{1,4}){0,4}[A-Za-z0-9+/= \t\r\n\\"',:>|.-]{48,}"#,
    ),
    prefixed(
        "private_key",
        // PuTTY's files. What stands before these lines is public, and a search from the file's head has no end.
        &["Private-Lines: "],
        r"Private-Lines: \d{1,3}[ \r\n]{1,4}[A-Za-z0-9+/= \r\n]{40,}",
    ),
    prefixed(
        "certificate",
        &["-----BEGIN CERTIFICATE", "-----BEGIN TRUSTED CERTIFICATE"],
        r#"-----BEGIN (?:TRUSTED )?CERTIFICATE-----[A-Za-z0-9+/= \t\r\n\\"',]{64,}"#,
    ),
    prefixed("encoded_private_key", &["LS0tLS1CRUdJTi"], r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,}={0,2}"),
    Shape {
        kind: "jwt",
        hints: &["eyJ"],
        before: 0,
        after: 0,
        // A header alone is a match that the check refuses: a long one is passed, not read again from each hint in it.
        regex: r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})?",
        check: is_jwt,
    },
    Shape {
        kind: "jwt",
        hints: &["ZXlK"],
        before: 0,
        after: 0,
        regex: r"ZXlK[A-Za-z0-9+/]{60,}={0,2}",
        check: |secret| {
            let inner = STANDARD_NO_PAD.decode(secret.trim_end_matches('=')).unwrap_or_default();
            String::from_utf8(inner).is_ok_and(|text| is_jwt(&text))
        },
    },
    Shape {
        kind: "gcp_service_account",
        hints: &["private_key_id"],
        before: 1,
        after: 90,
        regex: r#""private_key_id"\s{0,4}:\s{0,4}"([a-f0-9]{32,64})""#,
        check: plausible::is_varied,
    },
    Shape {
        kind: "url_password",
        hints: &["://"],
        before: 25,
        after: 300,
        regex: r#"[A-Za-z][A-Za-z0-9+.-]{1,24}://[^\s/:@"'<>`]{0,80}:([^\s/@"'<>`]{3,200})@[A-Za-z0-9_.\[-]"#,
        check: |secret| !plausible::is_placeholder(secret) && !secret.contains(['{', '(']),
    },
    Shape {
        kind: "connection_string_password",
        hints: &["password=", "pwd=", "password =", "pwd ="],
        before: 290,
        after: 90,
        regex: r#"(?i)(?:server|data source|host|uid|user id|user|username|driver|dsn|database|initial catalog|jdbc:[a-z]{2,12}:)\s{0,2}[=:/][^\n"'<>]{0,200}?[;?&]\s{0,2}(?:password|pwd)\s{0,2}=\s{0,2}'?([^;"'\s&<>]{3,80})"#,
        check: |secret| !plausible::is_placeholder(secret) && !plausible::is_code(secret),
    },
    Shape {
        kind: "basic_authorization",
        hints: &["authorization"],
        before: 0,
        after: 0,
        regex: r"(?i)\bauthorization\W{1,6}basic\s{1,3}([A-Za-z0-9+/]{8,}={0,2})",
        check: |secret| {
            STANDARD_NO_PAD.decode(secret.trim_end_matches('=')).is_ok_and(|bytes| bytes.contains(&b':'))
        },
    },
    Shape {
        kind: "command_line_password",
        hints: &["curl "],
        before: 0,
        after: 0,
        regex: r#"curl\s[^\n]{0,200}?\s(?:-u|--user)\s{1,3}["']?[^\s:"']{1,100}:([^\s"']{6,200})"#,
        check: |secret| !plausible::is_placeholder(secret),
    },
    Shape {
        kind: "network_credential",
        hints: &["NetworkCredential"],
        before: 0,
        after: 0,
        regex: r#"NetworkCredential\s?\(\s{0,4}"[^"\n]{1,100}"\s{0,4},\s{0,4}"([^"\n]{4,100})""#,
        check: |secret| !plausible::is_placeholder(secret),
    },
    Shape {
        kind: "bearer_token",
        hints: &["bearer "],
        before: 0,
        after: 0,
        regex: r"(?i)\bbearer\s{1,3}([A-Za-z0-9_.~+/-]{16,}={0,2})",
        check: |secret| {
            plausible::has_digit(secret)
                && plausible::entropy(secret) > 3.0
                && !plausible::is_placeholder(secret)
        },
    },
    Shape {
        kind: "aws_secret_access_key",
        hints: &["aws", "secret"],
        before: 0,
        after: 0,
        regex: r#"(?i)(?:aws|secret)[a-z0-9_ .-]{0,24}(?:key|secret)[^A-Za-z0-9/+\n]{1,12}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        check: |secret| {
            let has = |f: fn(&u8) -> bool| secret.bytes().any(|b| f(&b));
            has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit)
        },
    },
    Shape {
        kind: "windows_activation_key",
        hints: &["-"],
        before: 5,
        after: 24,
        regex: r"(?:[BCDFGHJKMNPQRTVWXY2-9]{5}-){4}[BCDFGHJKMNPQRTVWXY2-9]{5}\b",
        check: |secret| plausible::is_varied(secret) && secret.bytes().any(|b| b.is_ascii_uppercase()),
    },
    prefixed(
        "password_hash",
        &["$1$", "$apr1$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$8$", "$9$", "$argon2"],
        r"\$(?:1\$[A-Za-z0-9./]{1,8}\$[A-Za-z0-9./]{22}|apr1\$[A-Za-z0-9./]{1,8}\$[A-Za-z0-9./]{22}|2[abxy]\$\d\d\$[A-Za-z0-9./]{53}|[89]\$[A-Za-z0-9./]{14}\$[A-Za-z0-9./]{43}|[56]\$(?:rounds=\d{1,9}\$)?[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{43,86}|argon2(?:id|i|d)\$[A-Za-z0-9+/=,$.-]{40,200})",
    ),
    prefixed("ntlm_message", &["TlRMTVNTUA"], r"TlRMTVNTUAAD[A-Za-z0-9+/=]{40,}"),
];

/// Whether the first of the three parts is a JSON object that names an algorithm.
fn is_jwt(secret: &str) -> bool {
    let mut parts = secret.split('.');
    let Some(header) = parts.next() else { return false };
    if parts.count() < 2 {
        return false;
    }
    let bytes =
        URL_SAFE_NO_PAD.decode(header).or_else(|_| STANDARD_NO_PAD.decode(header)).unwrap_or_default();
    let json: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    json.is_some_and(|header| header.get("alg").is_some_and(|alg| alg.is_string()))
}
