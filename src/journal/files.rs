//! The file operations that can fail, behind a trait: the world's edge, which tests replace by one that fails.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Operations on names.
pub(super) trait Files: Send + Sync {
    /// A new empty file; one of that name is emptied. The name is durable after [`Files::sync_dir`].
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
    /// An existing file, for writing; [`LogFile::truncate`] says where.
    fn open(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
    /// Replaces `to` by `from`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes created, renamed and removed names in `dir` durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
}

/// Operations on one open file, written from one place on.
pub(super) trait LogFile: Send {
    /// Writes some of the bytes and says how many; they are durable after [`LogFile::sync`].
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// All bytes written so far, and the length, are on the disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the file to `len` bytes and goes on writing there.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
}

/// Writes all of the bytes.
pub(super) fn write_all(file: &mut dyn LogFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Makes `dir` and the folders above it that are missing. Their names are durable when this returns.
pub fn create_dirs(dir: &Path) -> io::Result<()> {
    create_dirs_with(dir, |folder| SystemFiles.sync_dir(folder))
}

fn create_dirs_with(dir: &Path, mut sync: impl FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    let missing = dir.ancestors().take_while(|at| !at.as_os_str().is_empty() && !at.exists()).count();
    std::fs::create_dir_all(dir)?;
    let parents = dir.ancestors().filter_map(Path::parent).take(missing.max(1));
    for (at, parent) in parents.enumerate() {
        let here = parent.as_os_str().is_empty();
        let synced = sync(if here { Path::new(".") } else { parent });
        // One that was there may be what a crash has left unsynced. Its parent need not be ours to read.
        if at < missing {
            synced?;
        }
    }
    Ok(())
}

/// The operating system's files.
pub(super) struct SystemFiles;

struct SystemFile(File);

impl Files for SystemFiles {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(SystemFile(File::create(path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(SystemFile(OpenOptions::new().write(true).open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    // Elsewhere a directory cannot be opened as a file, and names are durable with the file's own sync.
    #[cfg(not(unix))]
    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile for SystemFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)?;
        self.0.seek(SeekFrom::Start(len)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parents_of_new_folders_are_synced() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("a/b/c");
        let mut synced = Vec::new();
        let create = |synced: &mut Vec<_>| {
            create_dirs_with(&dir, |folder| {
                synced.push(folder.to_owned());
                Ok(())
            })
        };
        create(&mut synced).unwrap();
        assert_eq!(synced, ["a/b", "a", ""].map(|name| root.path().join(name)));
        assert!(dir.is_dir());
        synced.clear();
        create(&mut synced).unwrap();
        assert_eq!(synced, [root.path().join("a/b")], "it may have been made just before a crash");

        let failing = |_: &Path| -> io::Result<()> { Err(io::ErrorKind::PermissionDenied.into()) };
        create_dirs_with(&dir, failing).unwrap();
        create_dirs_with(&dir.join("d"), failing).unwrap_err();
        create_dirs(&dir.join("e")).unwrap();
    }
}
