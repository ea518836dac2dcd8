//! Entropy, and what is only a placeholder.

/// Parts of values that stand in documentation for a secret.
const PLACEHOLDERS: &[&str] = &[
    "your",
    "changeme",
    "change_me",
    "change-me",
    "placeholder",
    "redacted",
    "removed",
    "hidden",
    "insert",
    "replace",
    "dummy",
    "sample",
    "<",
    "${",
    "{{",
    "%(",
    "$(",
    "#{",
    "****",
    "....",
    "xxxx",
    "####",
    "____",
    "todo",
    "tbd",
    "fill_in",
    "mysecret",
    "my-secret",
    "my_secret",
    "my-token",
    "my_token",
    "my-api",
    "my_api",
    "example.com",
    "not-set",
    "notset",
    "undefined",
    "enter_",
    "enter-",
    "put_",
    "put-",
    "goes_here",
    "goes-here",
    "goeshere",
    "here>",
    "…",
];
/// Values that are words of the trade and no secrets.
const WORDS: &[&str] = &[
    "password", "passwd", "pass", "pwd", "secret", "token", "key", "apikey", "api_key", "api-key", "none",
    "null", "nil", "true", "false", "string", "str", "text", "value", "default", "empty", "required",
    "optional", "bearer", "basic", "invalid", "missing", "expired", "test", "testing", "user", "username",
    "admin", "root", "guest", "public", "private", "hash", "self", "this", "example", "foo", "bar", "foobar",
    "abc", "abc123",
];

/// The last bytes of a generated value are not of three kinds only.
const TAIL: usize = 12;

/// A piece with a digit that is this long is no word.
const GENERATED: usize = 12;

/// Shannon entropy of the characters, in bits a character.
pub fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len() as f64;
    counts.iter().filter(|n| **n > 0).map(|n| f64::from(*n) / total).map(|share| -share * share.log2()).sum()
}

/// Whether there are enough different characters for a generated value; `xxxx-xxxx` has too few.
pub fn is_varied(text: &str) -> bool {
    let mut seen = [false; 256];
    for byte in text.bytes() {
        seen[usize::from(byte)] = true;
    }
    let kinds = seen.iter().filter(|s| **s).count();
    let tail: std::collections::HashSet<u8> = text.bytes().rev().take(TAIL).collect();
    let is_tail_varied = text.len() < TAIL || tail.len() >= 4;
    kinds >= 5.min(text.len())
        && is_tail_varied
        && !text.to_ascii_lowercase().contains("xxxxxx")
        && !text.contains("...")
}

/// Whether there is a digit.
pub fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a piece without hyphen and underscore is long and has a digit: words in a row (`sk-learn-in-10-minutes`) have none.
pub fn has_generated_piece(text: &str) -> bool {
    text.split(['-', '_', '.']).any(|piece| piece.len() >= GENERATED && has_digit(piece))
}

/// Whether the value only stands for a secret: a template, a word, a filler.
pub fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let first = lower.trim_start_matches(['"', '\'']).chars().next();
    let is_alphabet = lower.contains("abcdefghijklm") || lower.contains("0123456789");
    WORDS.contains(&bare)
        || PLACEHOLDERS.iter().any(|part| lower.contains(part))
        || is_alphabet
        || first.is_some_and(|c| c == '$' || c == '%' || c == '@')
        || lower.chars().all(|c| Some(c) == first)
        || is_run(&lower)
}

/// `123456789`, `abcdefgh`: each character follows the one before.
fn is_run(lower: &str) -> bool {
    let bytes = lower.as_bytes();
    bytes.len() > 3 && bytes.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1))
}

/// Whether `value` has the form of a UUID.
pub fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value
            .bytes()
            .enumerate()
            .all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
}

/// Whether `value` is an expression of a program rather than data: a call, a path of names, a reference.
pub fn is_code(value: &str) -> bool {
    let is_call = value.ends_with(['(', '['])
        || value.contains('(') && (value.ends_with(')') || !value.contains(['@', '!', '#', '^']));
    let is_index = value.contains('[') && value.ends_with(']');
    let is_path =
        value.starts_with('/') || value.starts_with("./") || value.starts_with('~') || value.contains("://");
    let names: Vec<&str> = value.split(['.', ':', '-', '>']).filter(|n| !n.is_empty()).collect();
    let is_name = |n: &&str| {
        let digits = n.bytes().filter(u8::is_ascii_digit).count();
        let is_word = n.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_word && n.as_bytes()[0].is_ascii_alphabetic() && digits * 3 <= n.len()
    };
    let is_dotted = names.len() > 1 && value.contains(['.', ':', '>']) && names.iter().all(is_name);
    is_call || is_index || is_path || is_dotted || value.starts_with("arn:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_of_known_texts() {
        assert!(entropy("aaaa").abs() < 1e-12);
        assert!((entropy("abcd") - 2.0).abs() < 1e-12);
    }

    #[test]
    fn placeholders() {
        for value in [
            "your-api-key",
            "xxxxxxxx",
            "changeme",
            "<token>",
            "${TOKEN}",
            "{{ x }}",
            "$VAR",
            "12345678",
            "********",
            "password",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in ["hunter2!", "s3cr3tP4ss", "AKIAIOSFODNN7EXAMPLE"] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn code_is_no_data() {
        for value in [
            "os.environ[\"X\"]",
            "getenv(\"SECRET\")",
            "self.password",
            "/etc/passwd",
            "https://a.b/c",
            "Foo::bar",
        ] {
            assert!(is_code(value), "{value}");
        }
        assert!(!is_code("a1.b2c3"));
    }
}
