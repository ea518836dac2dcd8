//! What can go wrong with a value, and how much may be done for one batch of rows.

use crate::sql::error::SqlError;
use serde_json::Value;
use std::cell::Cell;
use std::time::{Duration, Instant};

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

/// Bytes of a text times bytes of the states of a regular expression that it is held against. Measured: 3.5 s, where a text is
/// in thousands of places of the expression at once.
const OF_MATCH: u64 = 1 << 34;

/// The same, after which it is time to look at the clock.
const LOOK: u64 = 1 << 24;

/// How long regular expressions may take over one batch of rows. A query is not stopped within a batch.
const OF_TIME: Duration = Duration::from_secs(10);

/// Why a path has no complete answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The value is not as the path has it: conditions do not know then, and `silent` passes over it.
    Value(String),
    /// The path names what there is not.
    Path(String),
    /// It would take more than [`OF_VALUE`] or [`OF_BATCH`].
    Limit,
    /// A text of so many bytes is too long for a regular expression: more than [`OF_MATCH`].
    Text(usize),
    /// Regular expressions took more than [`OF_TIME`].
    Time,
}

impl Fault {
    /// The same for who asked.
    pub fn told(self, name: &str) -> SqlError {
        match self {
            Fault::Value(why) | Fault::Path(why) => SqlError::Wrong(why),
            Fault::Limit => SqlError::Limit(format!(
                "{name} would take more than {OF_VALUE} steps for one value, or {OF_BATCH} for one batch of rows; a jsonpath without ** or with fewer filters takes less"
            )),
            Fault::Text(bytes) => SqlError::Limit(format!(
                "{name}: a text of {bytes} bytes is too long for a regular expression that repeats so much; repeat less in it"
            )),
            Fault::Time => SqlError::Limit(format!(
                "{name}: like_regex took more than {} s for one batch of rows; repeat less in the regular expression",
                OF_TIME.as_secs()
            )),
        }
    }
}

/// A fault of the value.
pub fn wrong<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Value(why.into()))
}

/// Counts the steps of one batch of rows.
#[derive(Debug)]
pub struct Steps {
    value: Cell<u64>,
    batch: Cell<u64>,
    /// What regular expressions may have taken since the clock was looked at.
    held: Cell<u64>,
    until: Instant,
}

impl Default for Steps {
    fn default() -> Self {
        let until = Instant::now() + OF_TIME;
        Self { value: Cell::new(0), batch: Cell::new(0), held: Cell::new(0), until }
    }
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

    /// Lets `text` be held against a regular expression whose states have `weight` bytes.
    ///
    /// # Errors
    /// [`Fault::Text`] where that alone may take too long, [`Fault::Time`] where those before have.
    pub fn hold(&self, text: &str, weight: usize) -> Result<(), Fault> {
        let cost = (text.len() as u64).saturating_mul(weight as u64);
        if cost > OF_MATCH {
            return Err(Fault::Text(text.len()));
        }
        let held = self.held.get().saturating_add(cost);
        let is_time = held > LOOK;
        self.held.set(if is_time { 0 } else { held });
        if is_time && Instant::now() > self.until { Err(Fault::Time) } else { Ok(()) }
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

    #[test]
    fn texts_are_held_against_expressions_until_it_takes_too_long() {
        let text = "x".repeat(1 << 16);
        let mut steps = Steps::default();
        assert_eq!(steps.hold(&text, 1 << 18), Ok(()));
        assert_eq!(steps.hold(&text, (1 << 18) + 1), Err(Fault::Text(1 << 16)));
        steps.until = Instant::now();
        // Little costs no look at the clock.
        assert_eq!(steps.hold("x", 1 << 18), Ok(()));
        while Instant::now() <= steps.until {
            std::hint::spin_loop();
        }
        assert_eq!(steps.hold(&text, 1 << 18), Err(Fault::Time));
    }
}
