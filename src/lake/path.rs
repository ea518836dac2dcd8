//! Names of data files: which journal frames a file holds, readable from its name.

use object_store::path::Path;

/// The name of a data file below its table's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataPath {
    /// Sequence number of the first journal frame.
    pub first: u64,
    /// Sequence number of the last journal frame.
    pub last: u64,
}

impl DataPath {
    /// The path relative to the table.
    pub fn path(self) -> Path {
        Path::from(format!("{:020}-{:020}.parquet", self.first, self.last))
    }

    /// Reads what [`DataPath::path`] printed.
    #[cfg(test)]
    pub fn parse(path: &Path) -> Option<Self> {
        let (first, last) = path.filename()?.strip_suffix(".parquet")?.split_once('-')?;
        Some(Self { first: first.parse().ok()?, last: last.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed() {
        let path = DataPath { first: 1, last: u64::MAX };
        assert_eq!(DataPath::parse(&path.path()), Some(path));
        assert_eq!(DataPath::parse(&Path::from("_delta_log/0.json")), None);
    }
}
