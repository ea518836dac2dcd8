//! How much regular expressions have done for one batch of rows, and whether they may go on.

use super::compiled::{Compiled, told};
use crate::sql::cancel::Flag;
use crate::sql::error::SqlError;
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use std::time::{Duration, Instant};

/// Bytes of a text times bytes of the states of a regular expression that it is held against once: nothing stops that. Seconds,
/// where the text is in thousands of places of the expression at once.
const OF_MATCH: u64 = 1 << 34;

/// The same, after which it is time to look whether the query should stop: tens of milliseconds at worst.
const LOOK: u64 = 1 << 28;

/// The same, up to which all matches in a text need no clock: well below a millisecond at worst.
const BRIEF: u64 = 1 << 20;

/// How long all matches in one text may take.
const OF_TEXT: Duration = Duration::from_secs(2);

/// How long a batch may take where nobody says when the query should stop.
const OF_BATCH: Duration = Duration::from_secs(10);

/// How much a nanosecond counts: [`OF_MATCH`] takes some seconds.
const OF_NANOSECOND: u64 = 5;

/// Watches over one batch of rows.
#[derive(Debug)]
pub struct Watch {
    name: &'static str,
    flag: Option<Flag>,
    began: Instant,
    held: u64,
    of_text: Duration,
}

impl Watch {
    /// Begins to watch the function `name` in the query of `options`.
    pub fn new(name: &'static str, options: &ConfigOptions) -> Self {
        let flag = options.extensions.get::<Flag>().cloned();
        Self { name, flag, began: Instant::now(), held: 0, of_text: OF_TEXT }
    }

    /// Lets `text` be held against an expression once, and says what that may cost.
    ///
    /// # Errors
    /// [`SqlError::Limit`] where that alone may take too long; where the query should stop.
    pub fn once(&mut self, compiled: &Compiled, text: &str) -> Result<u64> {
        let cost = compiled.cost(text);
        if cost > OF_MATCH {
            let (name, bytes) = (self.name, text.len());
            return Err(told(SqlError::Limit(format!(
                "{name}: a text of {bytes} bytes is too long for a regular expression that repeats so much; repeat less in it"
            ))));
        }
        self.held = self.held.saturating_add(cost);
        if self.held > LOOK {
            self.held = 0;
            self.look()?;
        }
        Ok(cost)
    }

    /// Finds all matches in `text`, where that may take long, and says what it cost. What looks for the next match may read all of
    /// the text again, and the engine does not look at the clock then.
    ///
    /// # Errors
    /// As [`Watch::once`]; [`SqlError::Limit`] where it takes too long.
    pub fn all(&mut self, compiled: &Compiled, text: &str) -> Result<u64> {
        let once = self.once(compiled, text)?;
        let most = once.saturating_mul(text.len() as u64);
        if most <= BRIEF {
            return Ok(most);
        }
        let began = Instant::now();
        for _ in compiled.regex().find_iter(text) {
            self.look()?;
            if began.elapsed() > self.of_text {
                let (name, bytes, most) = (self.name, text.len(), self.of_text.as_secs());
                return Err(told(SqlError::Limit(format!(
                    "{name}: all matches in a text of {bytes} bytes take more than {most} s; repeat less in the regular expression"
                ))));
            }
        }
        let taken = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(once.max(taken.saturating_mul(OF_NANOSECOND)))
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// Where the query should stop.
    pub fn look(&self) -> Result<()> {
        match &self.flag {
            Some(flag) => flag.check(),
            None if self.began.elapsed() > OF_BATCH => {
                let (name, most) = (self.name, OF_BATCH.as_secs());
                Err(told(SqlError::Limit(format!(
                    "{name} took more than {most} s for one batch of rows; repeat less in the regular expression"
                ))))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_should_stop_does() {
        let flag = Flag::default();
        let mut options = ConfigOptions::new();
        options.extensions.insert(flag.clone());
        let (light, heavy) =
            (Compiled::new("a+", "").unwrap(), Compiled::new("([ab]{100}){100}c", "").unwrap());
        let mut watch = Watch::new("f", &options);
        assert!(watch.once(&light, "aaa").is_ok() && watch.all(&light, &"a b".repeat(1000)).is_ok());
        let why = watch.once(&heavy, &"a".repeat(1 << 20)).unwrap_err().to_string();
        assert!(why.contains("too long for a regular expression"), "{why}");
        flag.set();
        assert!(watch.all(&light, &"a b".repeat(1000)).unwrap_err().to_string().contains("cancelled"));
        let stopped = (0..1000).find_map(|_| watch.once(&heavy, &"a".repeat(2000)).err());
        assert!(stopped.is_some_and(|why| why.to_string().contains("cancelled")));
    }

    #[test]
    fn looking_for_match_after_match_ends() {
        // Each match is one letter, after all that follow were read.
        let compiled = Compiled::new(".*[^A-Z]|[A-Z]", "").unwrap();
        let mut watch = Watch::new("f", &ConfigOptions::new());
        assert!(watch.all(&compiled, &"A".repeat(100)).is_ok());
        watch.of_text = Duration::ZERO;
        let why = watch.all(&compiled, &"A".repeat(10_000)).unwrap_err().to_string();
        assert!(why.contains("all matches in a text"), "{why}");
    }
}
