//! Checked steps through a JSON tree. A step that meets the wrong type fails with the path to it.

use super::outcome::DecodeError;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Map, Value as Json};

/// An object of the tree and how one came to it.
pub(super) struct Node<'a> {
    fields: &'a Map<String, Json>,
    parent: Option<&'a Node<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Item(&'a str, usize),
}

impl<'a> Node<'a> {
    /// The tree's root, which must be an object.
    pub(super) fn root(json: &'a Json) -> Result<Self, DecodeError> {
        match json {
            Json::Object(fields) => Ok(Self { fields, parent: None, step: Step::Root }),
            _ => Err(DecodeError::Field { path: "$".into(), problem: "must be an object".into() }),
        }
    }

    fn path(&self) -> String {
        let above = self.parent.map(Node::path);
        match (above, self.step) {
            (Some(above), Step::Field(name)) => format!("{above}.{name}"),
            (Some(above), Step::Item(name, i)) => format!("{above}.{name}[{i}]"),
            _ => "$".to_owned(),
        }
    }

    /// The error that `name` is wrong.
    pub(super) fn wrong(&self, name: &str, problem: &str) -> DecodeError {
        DecodeError::Field { path: format!("{}.{name}", self.path()), problem: problem.to_owned() }
    }

    /// The value under `name`; `null` is the same as nothing.
    pub(super) fn get(&self, name: &str) -> Option<&'a Json> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// The object under `name`.
    pub(super) fn object<'b>(&'b self, name: &'b str) -> Result<Option<Node<'b>>, DecodeError> {
        match self.get(name) {
            None => Ok(None),
            Some(Json::Object(fields)) => {
                Ok(Some(Node { fields, parent: Some(self), step: Step::Field(name) }))
            }
            Some(_) => Err(self.wrong(name, "must be an object")),
        }
    }

    /// Every object of the list under `name`, each made into a `T`; nothing under `name` is an empty list.
    pub(super) fn list<T>(
        &self,
        name: &str,
        mut make: impl FnMut(&Node<'_>) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let items = match self.get(name) {
            None => return Ok(Vec::new()),
            Some(Json::Array(items)) => items,
            Some(_) => return Err(self.wrong(name, "must be a list")),
        };
        let one = |(i, item): (usize, &Json)| match item {
            Json::Object(fields) => make(&Node { fields, parent: Some(self), step: Step::Item(name, i) }),
            _ => Err(self.wrong(&format!("{name}[{i}]"), "must be an object")),
        };
        items.iter().enumerate().map(one).collect()
    }

    /// The text under `name`; empty where there is none.
    pub(super) fn text(&self, name: &str) -> Result<String, DecodeError> {
        match self.get(name) {
            None => Ok(String::new()),
            Some(Json::String(text)) => Ok(text.clone()),
            Some(_) => Err(self.wrong(name, "must be a string")),
        }
    }

    /// A hexadecimal id. Text that is not hexadecimal becomes one byte: a width that no id has, so that only the
    /// item that carries it is refused and not the whole request.
    pub(super) fn id(&self, name: &str) -> Result<Vec<u8>, DecodeError> {
        Ok(hex::decode(self.text(name)?).unwrap_or_else(|_| vec![0]))
    }

    /// The signed integer under `name`, as a number or as text; 0 where there is none.
    pub(super) fn int(&self, name: &str) -> Result<i64, DecodeError> {
        let Some(value) = self.get(name) else { return Ok(0) };
        integer(value)
            .and_then(|n| i64::try_from(n).ok())
            .ok_or_else(|| self.wrong(name, "must be a 64-bit integer"))
    }

    /// The unsigned integer under `name`, as a number or as text; 0 where there is none.
    pub(super) fn unsigned(&self, name: &str) -> Result<u64, DecodeError> {
        let Some(value) = self.get(name) else { return Ok(0) };
        integer(value)
            .and_then(|n| u64::try_from(n).ok())
            .ok_or_else(|| self.wrong(name, "must be an unsigned 64-bit integer"))
    }

    /// As [`Node::unsigned`], of 32 bits.
    pub(super) fn unsigned32(&self, name: &str) -> Result<u32, DecodeError> {
        u32::try_from(self.unsigned(name)?)
            .map_err(|_| self.wrong(name, "must be an unsigned 32-bit integer"))
    }

    /// An enumeration. OTLP/JSON allows its numbers only, not its names.
    pub(super) fn enumeration(&self, name: &str) -> Result<i32, DecodeError> {
        let wrong = || self.wrong(name, "must be the enumeration's integer, not its name");
        match self.get(name) {
            None => Ok(0),
            Some(value @ Json::Number(_)) => {
                integer(value).and_then(|n| i32::try_from(n).ok()).ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }

    /// The float under `name`: a number, numeric text, or one of the names that JSON has no number for.
    pub(super) fn double(&self, name: &str) -> Result<f64, DecodeError> {
        let parsed = match self.get(name) {
            None => return Ok(0.0),
            Some(Json::Number(number)) => number.as_f64(),
            Some(Json::String(text)) => match text.as_str() {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                // Rust would also read "nan" and "inf", which OTLP does not know.
                text if text.bytes().any(|b| b.is_ascii_digit()) => text.parse().ok(),
                _ => None,
            },
            Some(_) => None,
        };
        parsed.ok_or_else(|| self.wrong(name, "must be a number"))
    }

    /// The truth value under `name`.
    pub(super) fn boolean(&self, name: &str) -> Result<bool, DecodeError> {
        match self.get(name) {
            None => Ok(false),
            Some(Json::Bool(b)) => Ok(*b),
            Some(_) => Err(self.wrong(name, "must be true or false")),
        }
    }

    /// Base64 of either alphabet, with or without padding, as the protobuf mapping asks of readers.
    pub(super) fn bytes(&self, name: &str) -> Result<Vec<u8>, DecodeError> {
        let text = self.text(name)?;
        [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
            .iter()
            .find_map(|engine| engine.decode(&text).ok())
            .ok_or_else(|| self.wrong(name, "must be base64"))
    }
}

fn integer(value: &Json) -> Option<i128> {
    match value {
        Json::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
            // JavaScript writes large integers as 1e21; exact ones are integers all the same.
            .or_else(|| number.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 1e20).map(|x| x as i128)),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}
