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
            Value::Bytes(bytes) => {
                out.push_str("{\"$bytes\":\"");
                BASE64.encode_string(bytes, out);
                out.push_str("\"}");
            }
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

fn write_double(x: f64, out: &mut String) {
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
        if key.starts_with('$') {
            write_json_string(&format!("${key}"), out);
        } else {
            write_json_string(key, out);
        }
        out.push(':');
        value.write_json(out);
    }
    out.push('}');
}

/// Appends `text` as a JSON string with its quotes.
pub fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    let mut start = 0;
    for (i, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[start..i]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        start = i + 1;
    }
    out.push_str(&text[start..]);
    out.push('"');
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
