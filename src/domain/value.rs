//! An attribute value as OTLP sends it, and its JSON text.
//!
//! The JSON text keeps every difference that OTLP makes: `5` is an integer and `5.0` a double, bytes are
//! `{"$bytes":"<base64>"}`, doubles that JSON has no number for are `{"$double":"NaN"}`, a value that was not set is
//! `null`. A key of the sender's own that begins with `$` is written with one more `$`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::fmt::Write as _;

/// One attribute value. The variants are those of the OTLP `AnyValue`.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An `AnyValue` with nothing set. Legal, and seen on the wire.
    Null,
    /// UTF-8 text.
    Str(String),
    /// True or false.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// A 64-bit float, NaN and infinities included.
    Double(f64),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// Values in order.
    Array(Vec<Value>),
    /// Keys and values in the order in which they came.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if this is one; numeric text counts, because senders write both.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(n) => Some(*n as f64),
            Value::Double(x) => Some(*x),
            Value::Str(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The integer, if this is one: also a double without a fraction, and numeric text.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            Value::Double(x) if x.fract() == 0.0 && x.abs() < 9e15 => Some(*x as i64),
            Value::Str(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// Plain JSON for reading by people and dialects: bytes become base64 text, odd doubles text. Not lossless.
    pub fn to_plain_json(&self) -> serde_json::Value {
        use serde_json::Value as J;
        match self {
            Value::Null => J::Null,
            Value::Str(text) => J::String(text.clone()),
            Value::Bool(b) => J::Bool(*b),
            Value::Int(n) => J::from(*n),
            Value::Double(x) => {
                serde_json::Number::from_f64(*x).map_or_else(|| J::String(x.to_string()), J::Number)
            }
            Value::Bytes(bytes) => J::String(BASE64.encode(bytes)),
            Value::Array(values) => J::Array(values.iter().map(Value::to_plain_json).collect()),
            Value::Map(pairs) => {
                J::Object(pairs.iter().map(|(k, v)| (k.clone(), v.to_plain_json())).collect())
            }
        }
    }

    /// Appends the lossless JSON text of the module's description to `out`.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Str(text) => write_json_string(text, out),
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Int(n) => {
                let _ = write!(out, "{n}");
            }
            Value::Double(x) => write_double(*x, out),
            Value::Bytes(bytes) => write_bytes(bytes, out),
            Value::Array(values) => {
                out.push('[');
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    value.write_json(out);
                }
                out.push(']');
            }
            Value::Map(pairs) => write_object(pairs, out),
        }
    }
}

/// Appends bytes as the module's description says.
pub fn write_bytes(bytes: &[u8], out: &mut String) {
    out.push_str("{\"$bytes\":\"");
    BASE64.encode_string(bytes, out);
    out.push_str("\"}");
}

/// Appends a double as the module's description says.
pub fn write_double(x: f64, out: &mut String) {
    if !x.is_finite() {
        let _ = write!(out, "{{\"$double\":\"{x}\"}}");
    } else {
        // `{:?}` is the shortest text that reads back to the same bits, and always shows that it is a float.
        let _ = write!(out, "{x:?}");
    }
}

fn write_object(pairs: &[(String, Value)], out: &mut String) {
    out.push('{');
    for (i, (key, value)) in pairs.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_key(key, out);
        value.write_json(out);
    }
    out.push('}');
}

/// Appends a key of the sender's and the colon.
pub fn write_key(key: &str, out: &mut String) {
    if key.starts_with('$') {
        write_json_string(&format!("${key}"), out);
    } else {
        write_json_string(key, out);
    }
    out.push(':');
}

/// Appends `text` as a JSON string with its quotes.
pub fn write_json_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        // The byte is ASCII, so the text may be cut on both sides of it.
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let byte = tail.as_bytes().first().copied().unwrap_or_default();
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

/// Where the first byte stands that a JSON string must not hold as it is. Eight bytes are looked at in one step.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The high bit of a byte stays set where that byte of `word` is zero, or above such a byte.
    let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let (chunks, rest) = bytes.as_chunks::<8>();
    let odd = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    for (at, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
        let quote = zero(word ^ (LOW * u64::from(b'"')));
        let slash = zero(word ^ (LOW * u64::from(b'\\')));
        if control | quote | slash != 0 {
            return chunk.iter().position(odd).map(|inner| at * 8 + inner);
        }
    }
    rest.iter().position(odd).map(|inner| chunks.len() * 8 + inner)
}

/// Attributes in the order in which they came. Keys may repeat; the last one wins on look-up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attrs(pub Vec<(String, Value)>);

impl Attrs {
    /// The value under `key`; a value that was not set counts as absent.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v).filter(|v| **v != Value::Null)
    }

    /// The text under `key`. Empty text is text.
    pub fn str(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    /// Whether any key begins with `prefix`.
    pub fn has_prefix(&self, prefix: &str) -> bool {
        self.0.iter().any(|(k, _)| k.starts_with(prefix))
    }

    /// The lossless JSON object.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(16 + self.0.len() * 32);
        write_object(&self.0, &mut out);
        out
    }
}
