//! What a path finds.

use super::fault::{Fault, Steps};
use serde_json::Value;
use std::rc::Rc;

/// A value that was found.
#[derive(Debug, Clone)]
pub enum Item<'a> {
    /// A part of the value that was asked, or a constant of the path.
    Part(&'a Value),
    /// One that was made.
    Made(Rc<Value>),
}

impl<'a> Item<'a> {
    /// A value that was made.
    pub fn made(value: Value) -> Self {
        Item::Made(Rc::new(value))
    }

    /// The value.
    pub fn value(&self) -> &Value {
        match self {
            Item::Part(value) => value,
            Item::Made(value) => value,
        }
    }

    /// Whether it has parts.
    pub fn has_parts(&self) -> bool {
        self.value().is_array() || self.value().is_object()
    }

    /// The part behind a key of an object.
    ///
    /// # Errors
    /// As [`Steps::take`].
    pub fn behind(&self, key: &str, steps: &Steps) -> Result<Option<Item<'a>>, Fault> {
        match self {
            Item::Part(value) => Ok(value.get(key).map(Item::Part)),
            Item::Made(value) => value.get(key).map(|part| copied(part, steps)).transpose(),
        }
    }

    /// An element of an array.
    ///
    /// # Errors
    /// As [`Steps::take`].
    pub fn element(&self, place: usize, steps: &Steps) -> Result<Option<Item<'a>>, Fault> {
        match self {
            Item::Part(value) => Ok(value.get(place).map(Item::Part)),
            Item::Made(value) => value.get(place).map(|part| copied(part, steps)).transpose(),
        }
    }

    /// The elements of an array, or the values of an object.
    ///
    /// # Errors
    /// As [`Steps::take`].
    pub fn parts(&self, steps: &Steps) -> Result<Vec<Item<'a>>, Fault> {
        match self {
            Item::Part(value) => {
                let parts: Vec<Item<'a>> = parts_of(value).into_iter().map(Item::Part).collect();
                steps.take(parts.len())?;
                Ok(parts)
            }
            Item::Made(value) => parts_of(value).into_iter().map(|part| copied(part, steps)).collect(),
        }
    }
}

fn copied<'a>(part: &Value, steps: &Steps) -> Result<Item<'a>, Fault> {
    steps.copy(part)?;
    Ok(Item::made(part.clone()))
}

fn parts_of(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(elements) => elements.iter().collect(),
        Value::Object(object) => object.values().collect(),
        _ => vec![],
    }
}

/// What was found so far.
#[derive(Debug)]
pub struct Found<'a> {
    /// The values, in their order.
    pub items: Vec<Item<'a>>,
    first_only: bool,
}

impl Found<'_> {
    /// Nothing yet; with `first_only` one value is enough.
    pub fn new(first_only: bool) -> Self {
        Found { items: Vec::new(), first_only }
    }

    /// Whether no more need be looked for.
    pub fn is_enough(&self) -> bool {
        self.first_only && !self.items.is_empty()
    }
}
