//! Where a row stands.

/// The place of a row: a line, a place in a list, or both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// A line, from 1.
    pub line: Option<u64>,
    /// A place in a list, from 1.
    pub item: Option<u64>,
}

impl Place {
    /// On a line.
    pub fn line(line: u64) -> Self {
        Self { line: Some(line), item: None }
    }

    /// In a list.
    pub fn item(item: u64) -> Self {
        Self { line: None, item: Some(item) }
    }

    /// Behind the name of a file: `cases.csv:3`, or `cases.parquet: item 3` where there are no lines.
    pub fn told(self, file: &str) -> String {
        match (self.line, self.item) {
            (Some(line), _) => format!("{file}:{line}"),
            (None, Some(item)) => format!("{file}: item {item}"),
            (None, None) => file.to_owned(),
        }
    }
}
