//! Texts with what they give away redacted.
//!
//! A text that is JSON is walked: each string and number is looked at with its key before it, which is its context, and
//! the result is JSON again. Any other text is looked at as it is, and so is JSON in which that found nothing.

use super::finding::Finding;
use super::kinds::Kinds;
use super::policy::Policy;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands for the kind in a replacement.
pub const KIND: &str = "{kind}";
/// JSON in strings of JSON is walked to this depth.
const MAX_DEPTH: usize = 8;
/// Shorter numbers are of nobody.
const MIN_DIGITS: usize = 7;
/// No more of a key than this is context.
const MAX_NAME: usize = 128;

/// How many findings of each kind were redacted.
pub type Counts = BTreeMap<&'static str, u64>;

/// Redacts what is found.
#[derive(Debug, Clone)]
pub struct Redaction {
    kinds: Kinds,
    policy: Arc<Policy>,
    replace: String,
}

/// `text` with every finding of `kinds` replaced by its kind, such as `[EMAIL]`.
pub fn redact<'a>(text: &'a str, kinds: &Kinds) -> Cow<'a, str> {
    let redaction = Redaction::new(kinds.clone(), Arc::default(), format!("[{KIND}]"));
    redaction.text("", text, &mut Counts::new())
}

impl Redaction {
    /// Of these kinds, but for what `policy` lets through. In `replace`, `{kind}` is the finding's kind in capitals.
    pub fn new(kinds: Kinds, policy: Arc<Policy>, replace: String) -> Self {
        Self { kinds, policy, replace }
    }

    /// `text`, which stands under the key `name`, without what was found in it. Borrowed if there was nothing.
    pub fn text<'a>(&self, name: &str, text: &'a str, counts: &mut Counts) -> Cow<'a, str> {
        self.nested(name, text, counts, 0)
    }

    /// What stands for a number under the key `name`, if the number is a finding.
    pub fn number(&self, name: &str, number: &str, counts: &mut Counts) -> Option<String> {
        let has_digits = number.bytes().filter(u8::is_ascii_digit).count() >= MIN_DIGITS;
        if !has_digits {
            return None;
        }
        match self.plain(name, number, counts) {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        }
    }

    fn nested<'a>(&self, name: &str, text: &'a str, counts: &mut Counts, depth: usize) -> Cow<'a, str> {
        let is_json = depth < MAX_DEPTH && text.trim_start().starts_with(['{', '[', '"']);
        if is_json && let Ok(mut json) = serde_json::from_str::<Value>(text) {
            if self.json(name, &mut json, counts, depth + 1) {
                return Cow::Owned(json.to_string());
            }
            return self.unread(name, text, &json, counts);
        }
        self.plain(name, text, counts)
    }

    /// Of a key that an object has twice only the last value is walked, and of a long number only its beginning: `text`
    /// without what was found in the rest. It is JSON again.
    fn unread<'a>(&self, name: &str, text: &'a str, json: &Value, counts: &mut Counts) -> Cow<'a, str> {
        let mut more = Counts::new();
        let Cow::Owned(clean) = self.plain(name, text, &mut more) else { return Cow::Borrowed(text) };
        if serde_json::from_str::<IgnoredAny>(&clean).is_err() {
            // A finding that is no string, or not in one; written anew, the text holds what was walked and no more.
            return Cow::Owned(json.to_string());
        }
        for (kind, count) in more {
            *counts.entry(kind).or_default() += count;
        }
        Cow::Owned(clean)
    }

    /// True if something was redacted.
    fn json(&self, name: &str, value: &mut Value, counts: &mut Counts, depth: usize) -> bool {
        match value {
            Value::Null | Value::Bool(_) => false,
            Value::Number(number) => match self.number(name, &number.to_string(), counts) {
                Some(text) => {
                    *value = Value::String(text);
                    true
                }
                None => false,
            },
            Value::String(text) => match self.nested(name, text, counts, depth) {
                Cow::Borrowed(_) => false,
                Cow::Owned(clean) => {
                    *text = clean;
                    true
                }
            },
            Value::Array(items) => {
                let mut changed = false;
                for item in items {
                    changed |= self.json(name, item, counts, depth);
                }
                changed
            }
            Value::Object(fields) => self.object(fields, counts, depth),
        }
    }

    fn object(&self, fields: &mut serde_json::Map<String, Value>, counts: &mut Counts, depth: usize) -> bool {
        let mut changed = false;
        for (key, value) in fields.iter_mut() {
            changed |= self.json(key, value, counts, depth);
        }
        let speaks =
            fields.keys().any(|key| matches!(self.plain("", key, &mut Counts::new()), Cow::Owned(_)));
        if speaks {
            let old = std::mem::take(fields);
            fields.extend(
                old.into_iter().map(|(key, value)| (self.plain("", &key, counts).into_owned(), value)),
            );
        }
        changed || speaks
    }

    fn plain<'a>(&self, name: &str, text: &'a str, counts: &mut Counts) -> Cow<'a, str> {
        if text.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut findings = self.found(text, text, 0);
        if !name.is_empty() {
            let name = &name[..super::floor_boundary(name, MAX_NAME)];
            let with_name = format!("{name}: {text}");
            findings.extend(self.found(&with_name, text, with_name.len() - text.len()));
        }
        // Some are found twice, and personal data and credentials may overlap.
        let findings = super::finding::without_overlap(findings);
        if findings.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for finding in findings {
            out.push_str(&text[done..finding.start]);
            out.push_str(&self.replace.replace(KIND, &finding.kind.to_uppercase()));
            *counts.entry(finding.kind).or_default() += 1;
            done = finding.end;
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// The findings of `searched` that lie behind its first `offset` bytes, as places of `text`.
    fn found(&self, searched: &str, text: &str, offset: usize) -> Vec<Finding> {
        let mut findings = self.kinds.findings(searched);
        findings.retain(|f| f.start >= offset);
        for finding in &mut findings {
            finding.start -= offset;
            finding.end -= offset;
        }
        self.policy.apply(text, &mut findings);
        findings
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
