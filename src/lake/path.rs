//! Names of data files: which journal frames a file holds, readable from its name.

use object_store::path::Path;
use uuid::Uuid;

/// The name of a data file below its table's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataPath {
    /// Sequence number of the first journal frame.
    pub first: u64,
    /// Sequence number of the last journal frame.
    pub last: u64,
    /// Random, so that no attempt and no other journal writes to a name that is committed.
    pub tag: u32,
}

impl DataPath {
    /// The path relative to the table.
    pub fn path(self) -> Path {
        Path::from(format!("{:020}-{:020}-{:08x}.parquet", self.first, self.last, self.tag))
    }

    /// Reads what [`DataPath::path`] printed.
    #[cfg(test)]
    pub fn parse(path: &Path) -> Option<Self> {
        let mut parts = path.filename()?.strip_suffix(".parquet")?.split('-');
        let (first, last, tag) = (parts.next()?, parts.next()?, parts.next()?);
        let tag = u32::from_str_radix(tag, 16).ok()?;
        Some(Self { first: first.parse().ok()?, last: last.parse().ok()?, tag })
    }
}

/// The path of a file that was merged from others, relative to the table. It may hold rows of several journals, so it
/// names no frames.
pub fn merged_path(id: Uuid) -> Path {
    Path::from(format!("merged-{}.parquet", id.simple()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed() {
        let path = DataPath { first: 1, last: u64::MAX, tag: 0xab };
        assert_eq!(DataPath::parse(&path.path()), Some(path));
        assert_eq!(DataPath::parse(&Path::from("_delta_log/0.json")), None);
    }
}
