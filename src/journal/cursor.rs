//! How far each named reader has come. One small file each, replaced whole.

use super::error::JournalError;
use super::files::{self, Files};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SUFFIX: &str = ".cursor";
const TEMPORARY: &str = ".cursor.tmp";
/// Every reader of the product has one; this is far above their number.
const MAX_CURSORS: usize = 64;
const MAX_NAME: usize = 64;

/// All registered cursors.
pub(super) struct Cursors {
    dir: PathBuf,
    files: Arc<dyn Files>,
    positions: BTreeMap<String, u64>,
}

impl Cursors {
    /// Reads the cursor files. A damaged one stands at 0: its reader sees again what is still there.
    pub(super) fn load(dir: &Path, files: Arc<dyn Files>) -> Result<Self, JournalError> {
        let list_error = |e| JournalError::io("list", dir, e);
        let mut positions = BTreeMap::new();
        for entry in std::fs::read_dir(dir).map_err(list_error)? {
            let entry = entry.map_err(list_error)?;
            let file_name = entry.file_name();
            let Some(file_name) = file_name.to_str() else { continue };
            if file_name.ends_with(TEMPORARY) {
                // Left by a crash before the rename; the file that it should have replaced still counts.
                let _ = files.remove(&entry.path());
                continue;
            }
            let Some(name) = file_name.strip_suffix(SUFFIX).filter(|name| is_name(name)) else { continue };
            let position = read(&entry.path())?.unwrap_or_else(|| {
                tracing::error!(cursor = name, dir = %dir.display(), "cursor file is damaged; its reader begins anew");
                0
            });
            positions.insert(name.to_owned(), position);
        }
        Ok(Self { dir: dir.to_owned(), files, positions })
    }

    /// The position of `name`. One that is not known yet is registered at 0, durably.
    pub(super) fn get_or_register(&mut self, name: &str) -> Result<u64, JournalError> {
        if let Some(position) = self.positions.get(name) {
            return Ok(*position);
        }
        self.store(name, 0)?;
        Ok(0)
    }

    /// Moves `name` to `seq`, durably.
    pub(super) fn set(&mut self, name: &str, seq: u64, durable: u64) -> Result<(), JournalError> {
        if seq > durable {
            return Err(JournalError::CursorAhead { name: name.to_owned(), seq, durable });
        }
        match self.positions.get(name) {
            Some(&at) if seq < at => Err(JournalError::CursorBack { name: name.to_owned(), seq, at }),
            Some(&at) if seq == at => Ok(()),
            _ => self.store(name, seq),
        }
    }

    /// Every name with its position, in the order of the names.
    pub(super) fn all(&self) -> Vec<(String, u64)> {
        self.positions.iter().map(|(name, position)| (name.clone(), *position)).collect()
    }

    /// The position of the slowest reader; none without readers.
    pub(super) fn slowest(&self) -> Option<u64> {
        self.positions.values().min().copied()
    }

    /// The position of the fastest reader; 0 without readers.
    pub(super) fn fastest(&self) -> u64 {
        self.positions.values().max().copied().unwrap_or(0)
    }

    fn store(&mut self, name: &str, seq: u64) -> Result<(), JournalError> {
        if !is_name(name) {
            return Err(JournalError::CursorName { name: name.to_owned() });
        }
        if !self.positions.contains_key(name) && self.positions.len() >= MAX_CURSORS {
            return Err(JournalError::CursorLimit { limit: MAX_CURSORS });
        }
        let temporary = self.dir.join(format!("{name}{TEMPORARY}"));
        let path = self.dir.join(format!("{name}{SUFFIX}"));
        if let Err(error) = self.replace(&temporary, &path, &encode(seq)) {
            // Best effort: a full disk must not stay full because of it. Loading removes it too.
            let _ = self.files.remove(&temporary);
            return Err(JournalError::io("write", &path, error));
        }
        self.positions.insert(name.to_owned(), seq);
        Ok(())
    }

    fn replace(&self, temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.files.create(temporary)?;
        files::write_all(file.as_mut(), bytes)?;
        file.sync()?;
        self.files.rename(temporary, path)?;
        self.files.sync_dir(&self.dir)
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed)
}

fn encode(seq: u64) -> Vec<u8> {
    let number = seq.to_string();
    format!("{number} {:08x}\n", crc32c::crc32c(number.as_bytes())).into_bytes()
}

/// The position in the file; none if it is damaged.
fn read(path: &Path) -> Result<Option<u64>, JournalError> {
    let bytes = std::fs::read(path).map_err(|e| JournalError::io("read", path, e))?;
    let seq = std::str::from_utf8(&bytes)
        .ok()
        .and_then(|text| text.split_once(' '))
        .and_then(|(number, _)| number.parse().ok());
    Ok(seq.filter(|seq| encode(*seq) == bytes))
}

#[cfg(test)]
mod tests {
    use super::super::files::SystemFiles;
    use super::*;

    #[test]
    fn positions_survive_and_damage_reads_as_the_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let load = || Cursors::load(dir.path(), Arc::new(SystemFiles)).unwrap();
        let mut cursors = load();
        assert_eq!(cursors.slowest(), None);
        assert_eq!(cursors.get_or_register("flush").unwrap(), 0);
        cursors.set("sample", 7, 9).unwrap();
        let mut cursors = load();
        assert_eq!((cursors.slowest(), cursors.fastest()), (Some(0), 7));
        assert_eq!(cursors.get_or_register("sample").unwrap(), 7);

        let path = dir.path().join("sample.cursor");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[0] = b'8';
        std::fs::write(&path, bytes).unwrap();
        std::fs::write(dir.path().join("flush.cursor.tmp"), "12").unwrap();
        assert_eq!(load().get_or_register("sample").unwrap(), 0);
        assert!(!dir.path().join("flush.cursor.tmp").exists());
    }

    #[test]
    fn wrong_moves_and_names_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut cursors = Cursors::load(dir.path(), Arc::new(SystemFiles)).unwrap();
        for name in ["", "../up", "A", "a.b", &"x".repeat(65)] {
            let error = cursors.get_or_register(name).unwrap_err();
            assert!(matches!(error, JournalError::CursorName { .. }), "{name}: {error}");
        }
        cursors.set("a", 5, 9).unwrap();
        assert!(matches!(cursors.set("a", 4, 9), Err(JournalError::CursorBack { at: 5, .. })));
        assert!(matches!(cursors.set("a", 10, 9), Err(JournalError::CursorAhead { durable: 9, .. })));
        for i in 1..MAX_CURSORS {
            cursors.get_or_register(&format!("n{i}")).unwrap();
        }
        assert!(matches!(cursors.get_or_register("late"), Err(JournalError::CursorLimit { .. })));
    }
}
