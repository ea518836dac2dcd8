//! A value assigned to a name such as `password` or `api_key`.

use super::plausible;
use crate::detect::finding::Finding;

/// The kinds of what is found here.
pub const KINDS: [&str; 2] = ["generic_secret", "password"];
/// A name is no longer than this on either side of the key word.
const MAX_NAME: usize = 48;
/// So much of a value is read.
const MAX_VALUE: usize = 512;

/// Words that name a secret by themselves.
const ALONE: [&str; 17] = [
    "pass",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "creds",
    "auth",
    "key",
    "passw",
    "access",
    "private",
];
/// Words that name a secret with `key` behind them.
const OF_KEYS: [&str; 9] =
    ["api", "app", "access", "auth", "private", "encryption", "signing", "account", "license"];

/// Every key word.
pub fn keywords() -> Vec<String> {
    let mut words: Vec<String> = ALONE.iter().map(|word| (*word).to_owned()).collect();
    for word in OF_KEYS {
        words.extend(["", " ", "_", "-", "."].iter().map(|gap| format!("{word}{gap}key")));
    }
    words
}

/// Parts of a name that say that its value is no secret.
const OTHER_NAMES: &[&str] = &[
    "public",
    "publish",
    "pub_",
    "pubkey",
    "keyword",
    "keyboard",
    "keystone",
    "monkey",
    "turkey",
    "hotkey",
    "tokeniz",
    "token_count",
    "tokens",
    "token_type",
    "tokentype",
    "token_url",
    "_name",
    "-name",
    "name=",
    "keyname",
    "_file",
    "-file",
    "keyfile",
    "_path",
    "-path",
    "_length",
    "-length",
    "_size",
    "_len",
    "_type",
    "_url",
    "_uri",
    "_format",
    "_index",
    "primary_key",
    "foreign_key",
    "partition",
    "sort_key",
    "cache_key",
    "cachekey",
    "object_key",
    "schema_key",
    "_id",
    "-id",
    "keyid",
    "passenger",
    "passage",
    "passing",
    "passive",
    "passed",
    "compass",
    "bypass",
    "passport",
    "author",
    "authen",
    "pass_rate",
    "passthrough",
    "surpass",
    "secretary",
    "expir",
    "max_token",
    "min_token",
    "num_token",
    "key_size",
    "etag",
    "checksum",
    "fingerprint",
    "thumbprint",
    "integrity",
    "commit",
    "sha256",
    "sha1",
    "md5",
    "digest",
    "trace",
    "span",
    "csrf",
    "xsrf",
    "field",
    "label",
    "hint",
    "prompt",
    "policy",
    "input",
    "reset",
    "forgot",
    "hash_key",
    "keyspace",
    "keystore",
    "keyset",
    "map_key",
    "mapkey",
    "keycode",
    "key_code",
    "attribute",
    "version",
    "primarykey",
    "foreignkey",
    "key_down",
    "keydown",
    "keyup",
    "keyhash",
    "keychars",
    "keysize",
    "keysign",
    "credentialsid",
    "credentialid",
    "secretsid",
    "tokenid",
    "idempot",
];
/// Key words after which any value that is no placeholder counts.
const STRONG: &[&str] = &["pass", "pwd", "secret", "token", "api", "access", "auth", "private", "credential"];

/// Takes the key words of a text in the order of their ends, and finds the values beside them that look generated or
/// chosen, not written.
pub struct Finder<'a> {
    text: &'a str,
    /// The last key word; a longer one may still take its place.
    last: Option<(usize, usize)>,
    /// Where the last value ended.
    taken: usize,
}

impl<'a> Finder<'a> {
    /// At the begin of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, last: None, taken: 0 }
    }

    /// There is a key word between these places.
    pub fn note(&mut self, (start, end): (usize, usize), found: &mut Vec<Finding>) {
        match self.last {
            Some((s, e)) if s <= start && end <= e => {}
            Some((s, e)) if start <= s && e <= end => self.last = Some((start, end)),
            _ => {
                self.end(found);
                self.last = Some((start, end));
            }
        }
    }

    /// There are no more.
    pub fn end(&mut self, found: &mut Vec<Finding>) {
        let Some((start, end)) = self.last.take().filter(|(start, _)| *start >= self.taken) else { return };
        let (text, keyword) = (self.text, &self.text[start..end]);
        // `PWDL` heads the columns of league tables; an accessor is no access.
        let is_letter_behind = text[end..].bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
        let is_whole = ["pwd", "access", "private"].iter().any(|word| keyword.eq_ignore_ascii_case(word));
        if is_letter_behind && is_whole {
            return;
        }
        let name = name_around(text, start, end);
        if let Some((from, to)) = joined(text, end, name.1) {
            self.taken = to;
            found.push(Finding { kind: "generic_secret", start: from, end: to, confidence: 0.6 });
            return;
        }
        let Some(value) = Value::behind(text, name) else { return };
        let name_text = &text[name.0..name.1];
        if let Some((kind, confidence)) = judge(name_text, keyword, &value) {
            self.taken = whole(text, &value);
            found.push(Finding { kind, start: value.start, end: self.taken, confidence });
        }
    }
}

/// Where the value ends: what is longer than is read of it is one value all the same.
fn whole(text: &str, value: &Value) -> usize {
    let end = value.start + value.text.len();
    if value.text.len() <= MAX_VALUE {
        return end;
    }
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+/=.~%-".contains(byte);
    end + text.as_bytes()[end..].iter().take_while(|byte| is_token(byte)).count()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn name_around(text: &str, start: usize, end: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let left = bytes[..start].iter().rev().take(MAX_NAME).take_while(|b| is_name_byte(**b)).count();
    let right = bytes[end..].iter().take(MAX_NAME).take_while(|b| is_name_byte(**b)).count();
    (start - left, end + right)
}

/// The generated value that a hyphen joins to the key word: `access-token-7654ba98-1e11-3279-2cff-d5f31f9ab9cd`.
fn joined(text: &str, end: usize, behind: usize) -> Option<(usize, usize)> {
    let mut at = end;
    loop {
        let rest = text[at..behind].trim_start_matches(['-', '_', '.']);
        let from = behind - rest.len();
        let word = ["key", "token", "secret", "access", "private", "code", "api"]
            .iter()
            .find(|word| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)));
        let Some(word) = word else {
            let length = text[from..].bytes().take(MAX_VALUE).take_while(|b| is_name_byte(*b)).count();
            let value = text[from..from + length].trim_end_matches(['.', '-', '_']);
            let is_apart = from > at && !text[..from].ends_with('.');
            let digits = value.bytes().filter(u8::is_ascii_digit).count();
            let is_value = is_apart && value.len() >= 20 && digits >= 4 && !plausible::is_placeholder(value);
            let longest = value.split(['-', '_', '.']).map(str::len).max().unwrap_or(0);
            let is_random = longest >= 20 || plausible::is_uuid(value);
            return (is_value && is_random && plausible::entropy(value) > 3.2)
                .then_some((from, from + value.len()));
        };
        at = from + word.len();
    }
}

/// How the value is joined to the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// `=`, `:`, `=>` and the like.
    Assigned,
    /// Only white space, or the verb "is".
    Beside,
}

struct Value<'a> {
    text: &'a str,
    start: usize,
    join: Join,
    is_quoted: bool,
}

impl<'a> Value<'a> {
    /// The value that follows the name between the two places, on the same line.
    fn behind(text: &'a str, (start, end): (usize, usize)) -> Option<Self> {
        let rest = &text[end..];
        // What closes the name (`"]`, `')`, `[]`), a type (`: string`, `str`), the operator, then the opening quote.
        let mut tail = rest.trim_start_matches(['"', '\'', '`', '[', ']', ')', '>', '*', '\\']);
        tail = trim_blanks(tail);
        for word in ["string", "str", "String"] {
            tail = tail.strip_prefix(word).map_or(tail, trim_blanks);
        }
        let operator = tail
            .bytes()
            .take(5)
            .take_while(|b| matches!(b, b'=' | b':' | b'>' | b'!' | b'?' | b'|' | b'(' | b','))
            .count();
        let is_option = text[start..].starts_with('-');
        // `<password>value</password>`
        let is_element = text[..start].ends_with('<') && rest.starts_with('>');
        let mut join = if operator > 0 || is_option || is_element { Join::Assigned } else { Join::Beside };
        tail = trim_blanks(&tail[operator..]);
        if tail.starts_with("value=") {
            join = Join::Assigned;
        }
        for word in ["string", "str", "String", "is ", "value="] {
            tail = tail.strip_prefix(word).map_or(tail, trim_blanks);
        }
        let again = tail.bytes().take(3).take_while(|b| matches!(b, b'=' | b':' | b'>')).count();
        if again > 0 {
            join = Join::Assigned;
        }
        tail = trim_blanks(&tail[again..]);
        if rest.len() - tail.len() == 0 || rest.len() - tail.len() > 40 {
            return None;
        }
        Self::read(text, tail, join)
    }

    fn read(text: &'a str, tail: &'a str, join: Join) -> Option<Self> {
        let body = tail.trim_start_matches(['\\', '@']);
        let quote = body.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        // Build files quote twice; three quotes open a long string in some languages; two are an empty one.
        let inner = quote.map_or(body, |q| {
            let three = [q; 3].iter().collect::<String>();
            body.strip_prefix(three.as_str()).unwrap_or(&body[q.len_utf8()..])
        });
        let (quote, inner) = match inner.strip_prefix('"') {
            Some(deeper) if quote == Some('\'') => (Some('"'), deeper),
            _ => (quote, inner),
        };
        let is_end = |c: char| match quote {
            Some(q) => c == q || c == '\n' || c == '\\',
            None => {
                c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '<' | '>' | '|' | '}' | ']')
            }
        };
        let length =
            inner.char_indices().find(|(i, c)| is_end(*c) || *i > MAX_VALUE).map_or(inner.len(), |(i, _)| i);
        let value = if quote.is_some() {
            &inner[..length]
        } else {
            inner[..length].trim_end_matches(['.', ':', ')', '?'])
        };
        let start = text.len() - inner.len();
        (!value.is_empty()).then_some(Self { text: value, start, join, is_quoted: quote.is_some() })
    }
}

fn trim_blanks(text: &str) -> &str {
    let trimmed = text.trim_start_matches([' ', '\t']);
    if text.len() - trimmed.len() > 8 { text } else { trimmed }
}

/// The kind and confidence of the value under that name; none if it is no secret.
fn judge(name: &str, keyword: &str, value: &Value) -> Option<(&'static str, f64)> {
    let text = value.text;
    // The cheap questions first: behind most key words stands prose.
    if value.join == Join::Beside && !plausible::has_digit(text) && !is_scrambled(text) {
        return None;
    }
    let (name, keyword) = (name.to_ascii_lowercase(), keyword.to_ascii_lowercase());
    if OTHER_NAMES.iter().any(|other| name.contains(other)) || plausible::is_placeholder(text) {
        return None;
    }
    let is_password = keyword.starts_with("pass") || keyword == "pwd";
    if is_password {
        // "The password is hunter2" says it too, but a word after "is" is only a word.
        let is_said = value.join == Join::Assigned || plausible::has_digit(text);
        let names_itself = text.to_ascii_lowercase().contains("passw");
        return (is_said && !names_itself && is_password_like(value)).then_some(("password", 0.7));
    }
    let is_named_key = ["_key", "-key", ".key"].iter().any(|end| name.ends_with(end));
    let is_alone = matches!(keyword.as_str(), "access" | "private");
    let is_strong = !is_alone && STRONG.iter().any(|word| keyword.starts_with(word))
        || (is_named_key && plausible::is_uuid(text));
    is_generated(text, is_strong, value.join).then_some(("generic_secret", if is_strong { 0.7 } else { 0.6 }))
}

/// What people choose: six characters of two kinds, and no expression of a program.
fn is_password_like(value: &Value) -> bool {
    let text = value.text;
    if text.len() < 6
        || text.starts_with([',', ')', ';', ':', '=', '&', '|', '+', '#', '.'])
        || plausible::is_code(text)
        || (!value.is_quoted && text.len() > 128)
    {
        return false;
    }
    let has = |f: fn(&u8) -> bool| usize::from(text.bytes().any(|b| f(&b)));
    let kinds = has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_digit)
        + has(u8::is_ascii_punctuation);
    let is_words = text.contains(' ') && !plausible::has_digit(text);
    let is_name = text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.'));
    let is_chosen = kinds >= 2 && !is_words && (value.is_quoted || !is_name);
    (is_chosen || is_gibberish(text)) && plausible::entropy(text) > 2.0
}

/// Eight letters or more with five consonants in a row, as hardly a word has.
fn is_gibberish(text: &str) -> bool {
    let is_letters = text.len() >= 8 && text.bytes().all(|b| b.is_ascii_alphabetic());
    let is_vowel = |c: char| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    is_letters && text.split(is_vowel).any(|run| run.len() >= 5)
}

/// Sixteen letters or digits or more whose case changes nearly every second time; in names it changes with each word.
fn is_scrambled(text: &str) -> bool {
    if text.len() < 16 || !text.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return false;
    }
    let changes = text
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase())
        .count();
    changes * 5 >= text.len() * 2
}

/// What machines make: long, without blanks, letters and digits mixed, spread evenly.
fn is_generated(text: &str, is_strong: bool, join: Join) -> bool {
    let is_token = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-+/=.~:$!@#%^&*()".contains(&b));
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let (min_length, min_entropy) = match (is_strong, join) {
        (true, Join::Assigned) => (10, 2.9),
        (true, Join::Beside) | (false, Join::Assigned) => (16, 3.2),
        (false, Join::Beside) => (20, 3.5),
    };
    if plausible::is_uuid(text) {
        return is_strong;
    }
    // Keys of digits or of letters only are rare and long.
    let is_plain = text.len() >= 24 && digits == text.len() || text.len() >= 16 && is_gibberish(text);
    if is_plain && is_strong && join == Join::Assigned {
        return plausible::entropy(text) >= 2.8;
    }
    if is_scrambled(text) && is_strong {
        return !plausible::is_code(text);
    }
    // A date, a version, a number with a unit: few letters or few digits among punctuation.
    let is_mixed = digits >= 2 && letters >= 2;
    is_token
        && is_mixed
        && text.len() >= min_length
        && plausible::entropy(text) >= min_entropy
        && !plausible::is_code(text)
        && !is_version_like(text)
}

/// `rc0.15.0_20231217`, `jjwt-jackson-0.11.2`, `prod5-cmk-eu-west-1`: words and short numbers between separators.
fn is_version_like(text: &str) -> bool {
    let pieces: Vec<&str> = text.split(['-', '_', '.', '/', ':']).filter(|p| !p.is_empty()).collect();
    pieces.len() > 2
        && pieces.iter().all(|p| {
            p.len() <= 8
                || p.bytes().all(|b| b.is_ascii_alphabetic())
                || p.bytes().all(|b| b.is_ascii_digit())
        })
}
