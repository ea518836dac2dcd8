//! The lossless JSON text of attributes, read back.
//!
//! The reverse of [`Value::write_json`]. A general JSON tree would keep only the last of two equal keys, so the text is
//! read into values directly.

use super::value::{Attrs, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The text is not what [`Value::write_json`] writes.
#[derive(Debug, thiserror::Error)]
#[error("not the JSON of attributes: {0}")]
pub struct ValueError(#[from] serde_json::Error);

impl Value {
    /// Reads the lossless JSON text back: the value that [`Value::write_json`] was given, with two exceptions. The bits
    /// inside of a NaN are not kept. Text of more than 127 nested brackets is an error, as is any that was never written
    /// by it, such as an integer beyond 64 bits.
    pub fn from_json(text: &str) -> Result<Self, ValueError> {
        Ok(serde_json::from_str(text)?)
    }
}

impl Attrs {
    /// Reads back what [`Attrs::to_json`] wrote, with every key in its order, also keys that repeat.
    pub fn from_json(text: &str) -> Result<Self, ValueError> {
        Ok(serde_json::from_str(text)?)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Attrs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Attrs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of attributes")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Attrs, A::Error> {
                Ok(Attrs(pairs(map)?.into_iter().map(|(key, value)| (own_key(key), value)).collect()))
            }
        }
        from.deserialize_map(Pairs)
    }
}

/// Keys as they are written, in their order.
fn pairs<'de, A: MapAccess<'de>>(mut map: A) -> Result<Vec<(String, Value)>, A::Error> {
    let mut pairs = Vec::new();
    while let Some(pair) = map.next_entry()? {
        pairs.push(pair);
    }
    Ok(pairs)
}

/// The sender's own key: one that begins with `$` was written with one more.
fn own_key(key: String) -> String {
    match key.strip_prefix('$') {
        Some(own) => own.to_owned(),
        None => key,
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of an attribute")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Value, E> {
        Ok(Value::Int(n))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Value, E> {
        i64::try_from(n).map(Value::Int).map_err(|_| E::custom(format!("{n} is beyond 64 bits with a sign")))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Value, E> {
        Ok(Value::Double(x))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Str(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::Str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        let pairs = pairs(map)?;
        // A sender's own key never begins with a single `$`, so these two cannot be anything else.
        if let [(key, Value::Str(text))] = pairs.as_slice() {
            match key.as_str() {
                "$bytes" => return BASE64.decode(text).map(Value::Bytes).map_err(A::Error::custom),
                "$double" => return odd_double(text).map(Value::Double),
                _ => {}
            }
        }
        Ok(Value::Map(pairs.into_iter().map(|(key, value)| (own_key(key), value)).collect()))
    }
}

fn odd_double<E: Error>(text: &str) -> Result<f64, E> {
    match text {
        "NaN" => Ok(f64::NAN),
        "inf" => Ok(f64::INFINITY),
        "-inf" => Ok(f64::NEG_INFINITY),
        other => Err(E::custom(format!("{other:?} is not NaN, inf or -inf"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(value: &Value) -> Value {
        let mut text = String::new();
        value.write_json(&mut text);
        Value::from_json(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn every_value_comes_back() {
        let map = |pairs: &[(&str, Value)]| {
            Value::Map(pairs.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect())
        };
        let text = |t: &str| Value::Str(t.to_owned());
        let values = [
            Value::Null,
            text(""),
            text("\u{0}\u{1f}\u{7f}\"\\\n\r\t\u{2028}é漢🦀"),
            text("NaN"),
            Value::Bool(true),
            Value::Int(0),
            Value::Int(i64::MIN),
            Value::Int(i64::MAX),
            Value::Double(5.0),
            Value::Double(-0.0),
            Value::Double(0.1 + 0.2),
            Value::Double(f64::MAX),
            Value::Double(f64::MIN_POSITIVE / 3.0),
            Value::Double(1e16),
            Value::Double(f64::INFINITY),
            Value::Double(f64::NEG_INFINITY),
            Value::Bytes(Vec::new()),
            Value::Bytes((0..=255).collect()),
            Value::Array(Vec::new()),
            Value::Array(vec![Value::Null, Value::Array(vec![]), map(&[])]),
            map(&[("", text("empty key")), ("a", Value::Int(1)), ("a", Value::Int(2))]),
            map(&[("$bytes", text("AA=="))]),
            map(&[("$$double", text("NaN"))]),
            map(&[("$", text("")), ("$bytes", Value::Bytes(vec![1]))]),
        ];
        for value in &values {
            let back = back(value);
            assert_eq!(back, *value);
            if let (Value::Double(was), Value::Double(is)) = (value, &back) {
                assert_eq!(was.to_bits(), is.to_bits(), "{was}");
            }
        }
        assert!(matches!(back(&Value::Double(f64::NAN)), Value::Double(x) if x.is_nan()));
        let attrs =
            Attrs(vec![("$k".into(), text("v")), ("k".into(), Value::Null), ("k".into(), values[1].clone())]);
        assert_eq!(Attrs::from_json(&attrs.to_json()).unwrap(), attrs);
        // An attribute called like the mark of bytes is not bytes.
        let attrs = Attrs(vec![("$bytes".into(), text("AA=="))]);
        assert_eq!(Attrs::from_json(&attrs.to_json()).unwrap(), attrs);
    }

    #[test]
    fn other_text_is_an_error() {
        for text in ["", "{", "18446744073709551615", r#"{"$bytes":"%"}"#, r#"{"$double":"1"}"#, "[1] 2"] {
            assert!(Value::from_json(text).is_err(), "{text}");
        }
        assert!(Attrs::from_json("[]").is_err());
    }
}
