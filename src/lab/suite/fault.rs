//! What is wrong with a file, with its place.

use std::fmt;

/// More faults are counted and not told: a file of another format would have one a line.
const MAX_TOLD: usize = 50;

/// Every fault of a suite's files, each with file, line and item where it has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    told: Vec<String>,
    more: usize,
}

impl Faults {
    /// One fault alone.
    pub(super) fn one(what: impl Into<String>) -> Self {
        Self { told: vec![what.into()], more: 0 }
    }

    pub(super) fn add(&mut self, what: impl Into<String>) {
        if self.told.len() < MAX_TOLD {
            self.told.push(what.into());
        } else {
            self.more += 1;
        }
    }

    pub(super) fn join(&mut self, other: Self) {
        other.told.into_iter().for_each(|what| self.add(what));
        self.more += other.more;
    }

    /// Those that are told, one a line.
    pub(super) fn lines(&self) -> &[String] {
        &self.told
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told.join("\n"))?;
        if self.more > 0 {
            write!(f, "\n… and {} more", self.more)?;
        }
        Ok(())
    }
}

/// Where something stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SourceLine {
    /// The file's name as it was given.
    pub file: String,
    /// From 1; 0 where the format does not tell.
    pub line: usize,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}
