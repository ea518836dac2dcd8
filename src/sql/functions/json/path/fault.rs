//! What can go wrong with a value, and how much may be done for one batch of rows.

use crate::sql::error::SqlError;
use serde_json::Value;
use std::cell::Cell;

/// Steps that one value may take, each of which keeps less than a hundred bytes.
const OF_VALUE: u64 = 5_000_000;

/// Steps that one batch of rows may take.
const OF_BATCH: u64 = 50_000_000;

/// Steps for a part of a value that is copied.
const COPIED: usize = 4;

/// Bytes of a text that is read or copied in one step.
const BYTES: usize = 16;

/// Steps for compiling a regular expression.
const COMPILED: usize = 50_000;

/// Why a path has no complete answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The value is not as the path has it: conditions do not know then, and `silent` passes over it.
    Value(String),
    /// The path names what there is not.
    Path(String),
    /// It would take more than [`OF_VALUE`] or [`OF_BATCH`].
    Limit,
}

impl Fault {
    /// The same for who asked.
    pub fn told(self, name: &str) -> SqlError {
        match self {
            Fault::Value(why) | Fault::Path(why) => SqlError::Wrong(why),
            Fault::Limit => SqlError::Limit(format!(
                "{name} would take more than {OF_VALUE} steps for one value, or {OF_BATCH} for one batch of rows; a jsonpath without ** or with fewer filters takes less"
            )),
        }
    }
}

/// A fault of the value.
pub fn wrong<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Value(why.into()))
}

/// Counts the steps of one batch of rows.
#[derive(Debug, Default)]
pub struct Steps {
    value: Cell<u64>,
    batch: Cell<u64>,
}

impl Steps {
    /// Takes `count` steps.
    ///
    /// # Errors
    /// [`Fault::Limit`] where there are not so many left.
    pub fn take(&self, count: usize) -> Result<(), Fault> {
        let value = self.value.get().saturating_add(count as u64);
        self.value.set(value);
        let batch = self.batch.get().saturating_add(count as u64);
        self.batch.set(batch);
        if value > OF_VALUE || batch > OF_BATCH { Err(Fault::Limit) } else { Ok(()) }
    }

    /// The next value begins.
    pub fn next_value(&self) {
        self.value.set(0);
    }

    /// Takes the steps for reading a text.
    ///
    /// # Errors
    /// As [`Steps::take`].
    pub fn read(&self, text: &str) -> Result<(), Fault> {
        self.take(1 + text.len() / BYTES)
    }

    /// Takes the steps for reading a path from its text.
    ///
    /// # Errors
    /// As [`Steps::take`].
    pub fn parse(&self, path: &str, patterns: usize) -> Result<(), Fault> {
        self.take(path.len() + patterns * COMPILED)
    }

    /// Takes the steps for a copy of `value`.
    ///
    /// # Errors
    /// As [`Steps::take`].
    pub fn copy(&self, value: &Value) -> Result<(), Fault> {
        self.take(COPIED)?;
        match value {
            Value::String(text) => self.read(text),
            Value::Array(elements) => elements.iter().try_for_each(|element| self.copy(element)),
            Value::Object(object) => object.iter().try_for_each(|(key, value)| {
                self.read(key)?;
                self.copy(value)
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_cost_what_they_hold() {
        let steps = Steps::default();
        steps.copy(&serde_json::json!({"a": ["0123456789abcdef", 1]})).unwrap();
        assert_eq!(steps.value.get(), 4 * COPIED as u64 + 1 + 2);
        assert_eq!(steps.take(OF_VALUE as usize), Err(Fault::Limit));
        steps.next_value();
        assert_eq!(steps.take(1), Ok(()));
        let each = |_| {
            steps.next_value();
            steps.take(OF_VALUE as usize / 2)
        };
        assert_eq!(Steps::default().parse("$", 101), Err(Fault::Limit));
        assert!((0..30).map(each).any(|taken| taken == Err(Fault::Limit)));
    }
}
