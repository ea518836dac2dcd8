//! JSON inside strings: encoded more than once, or cut off by a length limit.

use super::masked::REDACTED;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;

/// How often a string may hold JSON that is again a string with JSON. Three were seen on the wire.
const MAX_NESTING: usize = 3;

/// The object, list or string that `text` holds; none if it holds no JSON or another kind of value.
///
/// A string that itself holds JSON is opened, up to three times. Text that ends too early, as an attribute length limit
/// leaves it, is closed at the last complete value; text that is wrong in another way is not JSON.
pub(super) fn decode(text: &str) -> Option<Json> {
    decode_noting_cut(text).map(|(json, _)| json)
}

/// As [`decode`], and whether `text` itself ended too early.
pub(super) fn decode_noting_cut(text: &str) -> Option<(Json, bool)> {
    let (mut json, cut) = parse(text)?;
    for _ in 1..MAX_NESTING {
        let Json::String(inner) = &json else { break };
        let Some((opened, _)) = parse(inner) else { break };
        json = opened;
    }
    Some((json, cut))
}

/// As [`decode`], and text that holds no JSON is a JSON string.
pub(super) fn decode_or_text(text: &str) -> Json {
    decode(text).unwrap_or_else(|| Json::String(text.to_owned()))
}

/// `json`, or what is inside if it is a string with JSON.
pub(super) fn open(json: &Json) -> Cow<'_, Json> {
    match json {
        Json::String(text) => decode(text).map_or(Cow::Borrowed(json), Cow::Owned),
        other => Cow::Borrowed(other),
    }
}

/// The value, and whether its text had to be closed.
fn parse(text: &str) -> Option<(Json, bool)> {
    let text = text.trim_start();
    match text.as_bytes().first()? {
        // A quoted text that lacks its end may just be text.
        b'"' => serde_json::from_str(text).ok().map(|json| (json, false)),
        b'{' | b'[' => match serde_json::from_str(text) {
            Ok(json) => Some((json, false)),
            Err(error) if error.is_eof() => repair(text).map(|json| (json, true)),
            Err(_) => None,
        },
        _ => None,
    }
}

/// Closes JSON text that was cut off. A string that was cut keeps its beginning; a number or a word that was cut is
/// dropped, because its beginning is another value.
fn repair(text: &str) -> Option<Json> {
    let end = scan(text);
    let in_text = || close(&format!("{}\"", without_half_escape(text)), &end.open);
    let at_safe = || {
        let whole = &text[..end.safe];
        close(whole, &scan(whole).open)
    };
    end.in_string.then(in_text).flatten().or_else(at_safe)
}

/// Where a scan over JSON text stands at its end.
struct Scan {
    /// The brackets that close what is open, the innermost last.
    open: Vec<u8>,
    in_string: bool,
    /// The last place where closing the open brackets gives valid JSON.
    safe: usize,
}

fn scan(text: &str) -> Scan {
    let mut end = Scan { open: Vec::new(), in_string: false, safe: 0 };
    let mut escaped = false;
    for (i, byte) in text.bytes().enumerate() {
        if end.in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => end.in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => end.in_string = true,
            b'{' | b'[' => {
                end.open.push(if byte == b'{' { b'}' } else { b']' });
                end.safe = i + 1;
            }
            b'}' | b']' => {
                end.open.pop();
                end.safe = i + 1;
            }
            // What stands before a comma is complete.
            b',' => end.safe = i,
            _ => {}
        }
    }
    end
}

fn close(text: &str, open: &[u8]) -> Option<Json> {
    let mut whole = text.to_owned();
    whole.extend(open.iter().rev().map(|&bracket| char::from(bracket)));
    serde_json::from_str(&whole).ok()
}

/// Cuts an escape sequence that the cut went through, and the first half of a surrogate pair.
fn without_half_escape(text: &str) -> &str {
    let tail_start = text.len().saturating_sub(12);
    let tail = &text.as_bytes()[tail_start..];
    let mut end = text.len();
    let mut i = 0;
    // The tail may begin inside of an escape; a wrong guess only costs a few characters of a cut text.
    while i < tail.len() {
        if tail[i] != b'\\' {
            i += 1;
            continue;
        }
        let width = if tail.get(i + 1) == Some(&b'u') { 6 } else { 2 };
        let high_surrogate = width == 6
            && tail.get(i + 2).is_some_and(|b| b.eq_ignore_ascii_case(&b'd'))
            && tail.get(i + 3).is_some_and(|b| matches!(b.to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b'));
        let needed = if high_surrogate { 12 } else { width };
        if i + needed > tail.len() {
            end = tail_start + i;
            break;
        }
        i += needed;
    }
    &text[..end]
}

/// The text of a JSON string, unless it is empty or masked.
pub(super) fn text(json: &Json) -> Option<&str> {
    json.as_str().filter(|text| !text.is_empty() && *text != REDACTED)
}

/// The text under the first of `keys` that has some.
pub(super) fn text_at(json: &Json, keys: &[&str]) -> Option<String> {
    text_in(json.as_object()?, keys)
}

/// As [`text_at`], in an object.
pub(super) fn text_in(object: &Map<String, Json>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| text(object.get(*key)?)).map(str::to_owned)
}

/// The value at a path of keys separated by dots.
pub(super) fn at<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(json, |json, key| json.get(key)).filter(|value| !value.is_null())
}

/// A number, also out of text and out of a list's first element.
pub(super) fn number(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.trim().parse().ok().filter(|x: &f64| x.is_finite()),
        _ => None,
    }
}

/// An integer, also out of text and out of a float without a fraction.
pub(super) fn integer(json: &Json) -> Option<i64> {
    json.as_i64().or_else(|| number(json).filter(|x| x.fract() == 0.0 && x.abs() < 9e15).map(|x| x as i64))
}

/// The largest number that is believed to be a count. Larger ones, once added up, would leave 64 bits.
const MAX_COUNT: i64 = 1_000_000_000_000;

/// Whether `n` can be a count of tokens: neither below zero (some write -1 for "no limit") nor absurd.
pub(super) fn is_count(n: i64) -> bool {
    (0..=MAX_COUNT).contains(&n)
}

/// Whether `x` can be a cost in US dollars: neither below zero nor beyond what a number holds.
pub(super) fn is_cost(x: f64) -> bool {
    x.is_finite() && x >= 0.0
}

/// The sum of the parts of a cost; none without parts, or where a part or the sum cannot be a cost.
pub(super) fn cost_of_parts(parts: &[f64]) -> Option<f64> {
    let sum = parts.iter().sum::<f64>();
    (!parts.is_empty() && parts.iter().all(|part| is_cost(*part)) && is_cost(sum)).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strings_are_opened_three_times_and_no_more() {
        let once = json!({"a": 1}).to_string();
        let twice = Json::String(once.clone()).to_string();
        let thrice = Json::String(twice.clone()).to_string();
        let four = Json::String(thrice.clone()).to_string();
        assert_eq!(decode(&once), Some(json!({"a": 1})));
        assert_eq!(decode(&thrice), Some(json!({"a": 1})));
        assert_eq!(decode(&four), Some(Json::String(once)));
    }

    #[test]
    fn ordinary_text_is_not_json() {
        for text in
            ["", "hello", "12", "true", "[1] Return policy", "{city} is fine", "\"To be\" he said", "\"cut"]
        {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[test]
    fn every_prefix_of_a_json_text_is_closed() {
        let whole = r#"[{"role":"user","parts":[{"type":"text","content":"é \"q\" \ud83d\ude00 \u00e9"}],"n":1234,"b":true},{"x":null}]"#;
        for end in (1..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let got = decode(&whole[..end]);
            assert!(matches!(got, Some(Json::Array(_))), "cut at {end}: {got:?}");
        }
        let cut = decode(&whole[..50]).expect("is closed");
        assert_eq!(at(&cut[0], "role"), Some(&json!("user")));
    }

    #[test]
    fn a_cut_number_is_dropped_and_a_cut_text_is_kept() {
        assert_eq!(decode(r#"{"a":"whole","score":0.7"#), Some(json!({"a": "whole"})));
        assert_eq!(decode(r#"{"a":"who"#), Some(json!({"a": "who"})));
        assert_eq!(decode(r#"{"a":"x","be"#), Some(json!({"a": "x"})));
    }
}
