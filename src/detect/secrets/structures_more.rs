//! Credentials in the files and commands of systems: network, directory, container, database, password hashes.

use super::plausible;
use super::shape::{Shape, around, prefixed};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// A form whose secret is chosen by people.
const fn chosen(kind: &'static str, hints: &'static [&'static str], regex: &'static str) -> Shape {
    let check = |secret: &str| {
        let is_word = secret.bytes().all(|b| b.is_ascii_lowercase());
        !is_word && !plausible::is_placeholder(secret) && !plausible::is_code(secret)
    };
    Shape { kind, hints, before: 0, after: 0, regex, check }
}

/// The forms of this file.
pub const SHAPES: &[Shape] = &[
    prefixed(
        "wireguard_key",
        &["PrivateKey", "PresharedKey"],
        r"(?:PrivateKey|PresharedKey)\s{0,3}=\s{0,3}([A-Za-z0-9+/]{43}=)",
    ),
    prefixed(
        "azure_shared_access_key",
        &["SharedAccessKey=", "SharedSecretValue="],
        r"Shared(?:AccessKey|SecretValue)=([A-Za-z0-9+/]{40,90}={0,2})",
    ),
    around(
        "salesforce_token",
        &["!AQ", "!AR"],
        (20, 130),
        r"\b00D[A-Za-z0-9]{12,15}!A[QR][A-Za-z0-9._]{60,120}",
    ),
    prefixed("stackhawk_key", &["hawk."], r"hawk\.[0-9A-Za-z_-]{20}\.[0-9A-Za-z_-]{20}\b"),
    prefixed(
        "branch_key",
        &["key_live_", "key_test_", "secret_live_"],
        r"(?:key|secret)_(?:live|test)_[A-Za-z0-9]{32,44}\b",
    ),
    chosen(
        "netrc_password",
        &["machine "],
        r"machine[ \t]{1,4}[^\s]{3,200}\s{1,8}login[ \t]{1,4}[^\s]{1,100}\s{1,8}password[ \t]{1,4}([^\s]{4,200})",
    ),
    chosen(
        "powershell_password",
        &["ConvertTo-SecureString"],
        r#"(?i)ConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4}|-AsPlainText[ \t]{1,4}|-Force[ \t]{1,4}){0,3}["']([^"'\n$]{4,100})["']"#,
    ),
    chosen(
        "sql_password",
        &["identified by", "with password", "encrypted password"],
        r#"(?i)(?:identified by|(?:with|encrypted) password)[ \t]{1,4}(?:=[ \t]{0,4})?["']([^"'\n]{4,100})["']"#,
    ),
    Shape {
        kind: "docker_auth",
        hints: &["\"auth\""],
        before: 0,
        after: 0,
        regex: r#""auth"\s{0,4}:\s{0,4}"([A-Za-z0-9+/]{8,400}={0,2})""#,
        check: |secret| {
            let decoded = STANDARD_NO_PAD.decode(secret.trim_end_matches('='));
            decoded.is_ok_and(|bytes| bytes.contains(&b':') && bytes.iter().all(u8::is_ascii_graphic))
        },
    },
    chosen(
        "network_device_password",
        &["password 7 ", "secret 5 ", "secret 8 ", "secret 9 ", "key 7 "],
        r"(?:password|secret|key) [5789] ([0-9A-Fa-f]{8,60}\b|\$[^\s]{20,120})",
    ),
    prefixed(
        "password_hash",
        &[
            "$P$",
            "$H$",
            "$y$",
            "$7$",
            "$sha1$",
            "$scrypt$",
            "$pbkdf2",
            "$krb5",
            "pbkdf2_sha",
            "{SSHA",
            "{SHA}",
            "{CRYPT}",
            "bcrypt_sha256$",
        ],
        r"(?:\$[PH]\$[A-Za-z0-9./]{31}\b|\$y\$[A-Za-z0-9./]{2,8}\$[A-Za-z0-9./]{10,30}\$[A-Za-z0-9./]{43}|\$7\$[A-Za-z0-9./$]{40,120}|\$sha1\$\d{1,8}\$[A-Za-z0-9./]{4,64}\$[A-Za-z0-9./]{28}|\$scrypt\$[A-Za-z0-9=,+/$.]{40,200}|\$pbkdf2(?:-[a-z0-9]{2,10})?\$[A-Za-z0-9=,+/$.]{40,200}|\$krb5(?:tgs|asrep|pa)\$[^\s]{40,}|pbkdf2_sha(?:1|256|512)\$\d{1,8}\$[A-Za-z0-9./+]{4,64}\$[A-Za-z0-9+/]{27,90}={0,2}|\{(?:SSHA|SHA)\d{0,3}\}[A-Za-z0-9+/]{27,100}={0,2}|\{CRYPT\}\$[^\s]{20,120})",
    ),
];
