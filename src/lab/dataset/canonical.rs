//! JSON in one spelling (RFC 8785): keys in order, no spaces, each number written one way. Equal values have equal bytes.
//!
//! One difference: the RFC takes every number for a double. Here an integer beyond 2⁵³ keeps its digits, because two ids
//! that differ must not become one.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

/// `value` in its one spelling.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// SHA-256 of the one spelling of `value`, in hexadecimal digits.
pub fn hash(value: &Value) -> String {
    hex::encode(Sha256::digest(canonical(value)))
}

/// SHA-256 of `hashes` in order, whatever order they come in: equal content has an equal hash.
pub fn hash_of_all<'a>(hashes: impl Iterator<Item = &'a str>) -> String {
    let mut sorted: Vec<&str> = hashes.collect();
    sorted.sort_unstable();
    let mut all = Sha256::new();
    for hash in sorted {
        all.update(hash);
        all.update("\n");
    }
    hex::encode(all.finalize())
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => out.push_str(&spelled(number)),
        Value::Array(values) => {
            out.push('[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(value, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            // The RFC sorts by UTF-16 units, as JavaScript does.
            keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (at, key) in keys.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(&fields[key.as_str()], out);
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

/// The largest exponent that is written with zeros.
const MOST_ZEROS: i32 = 21;
/// The smallest exponent that is written with zeros.
const LEAST_ZEROS: i32 = -6;

/// A number as JavaScript writes it.
fn spelled(number: &Number) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    let value = number.as_f64().unwrap_or_default();
    if value == 0.0 {
        return "0".to_owned();
    }
    // The shortest digits that give the same double.
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // The value is 0.DIGITS times ten to this power.
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let split = usize::try_from(point).unwrap_or_default();
    let text = if count <= point && point <= MOST_ZEROS {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= MOST_ZEROS {
        format!("{}.{}", &digits[..split], &digits[split..])
    } else if LEAST_ZEROS < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{:+}", point - 1)
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The numbers of RFC 8785, appendix B, as far as JSON has them.
    #[test]
    fn numbers_are_written_as_the_rfc_says() {
        for (value, wanted) in [
            (0.0, "0"),
            (-0.0, "0"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (295_147_905_179_352_830_000.0, "295147905179352830000"),
            (1e21, "1e+21"),
            (9.999_999_999_999_997e22, "9.999999999999997e+22"),
            (333_333_333.333_333_3, "333333333.3333333"),
            (0.000_001, "0.000001"),
            (1e-7, "1e-7"),
            (4.5, "4.5"),
            (-1.5e-9, "-1.5e-9"),
            (10.0, "10"),
        ] {
            assert_eq!(canonical(&json!(value)), wanted);
        }
        assert_eq!(canonical(&json!(u64::MAX)), u64::MAX.to_string());
    }

    #[test]
    fn equal_values_have_equal_hashes() {
        let one: Value =
            serde_json::from_str(r#"{"b": 5.0, "a": ["x", null, {"z": true, "y": "\u00e9\n"}]}"#).unwrap();
        let other: Value =
            serde_json::from_str(r#"{"a":["x",null,{"y":"é\u000a","z":true}],"b":5}"#).unwrap();
        assert_eq!(canonical(&one), r#"{"a":["x",null,{"y":"é\n","z":true}],"b":5}"#);
        assert_eq!(hash(&one), hash(&other));
        assert_ne!(hash(&one), hash(&json!({"a": ["x"], "b": 5})));
    }

    #[test]
    fn keys_are_sorted_by_utf_16() {
        // U+1F600 begins with a surrogate, which is below U+FB33 there and above it in UTF-8.
        let value = json!({"\u{fb33}": 1, "\u{1f600}": 2, "a": 3});
        assert_eq!(canonical(&value), "{\"a\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn the_hash_of_all_does_not_know_the_order() {
        assert_eq!(hash_of_all(["a", "b"].into_iter()), hash_of_all(["b", "a"].into_iter()));
        assert_ne!(hash_of_all(["a", "b"].into_iter()), hash_of_all(["ab"].into_iter()));
    }
}
