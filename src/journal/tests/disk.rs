//! A disk that fails on demand and forgets what was not synced.

use crate::journal::files::{Files, LogFile, SystemFiles};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Real files, plus what a power cut would leave of them. Nothing is really synced, which makes it quick.
#[derive(Clone, Default)]
pub(super) struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    last_id: u64,
    /// Names as the process sees them, and as they are on the disk. In one order, so that a seed leaves the same of each.
    names: BTreeMap<PathBuf, u64>,
    durable_names: BTreeMap<PathBuf, u64>,
    /// What is on the disk of each file.
    synced: BTreeMap<u64, Vec<u8>>,
    faults: Faults,
    syncs: u64,
}

/// What goes wrong from now on.
#[derive(Default, Clone, Copy)]
pub(super) struct Faults {
    /// The next sync of a file fails.
    pub(super) sync_once: bool,
    /// Bytes until the disk is full.
    pub(super) space: Option<u64>,
    /// Each write takes only a few bytes.
    pub(super) short_writes: bool,
    /// The power is off: everything fails.
    pub(super) off: bool,
}

struct DiskFile {
    disk: Disk,
    id: u64,
    path: PathBuf,
    real: Box<dyn LogFile>,
}

fn failed() -> io::Error {
    io::Error::other("injected")
}

impl Disk {
    pub(super) fn files(&self) -> Arc<dyn Files> {
        Arc::new(self.clone())
    }

    pub(super) fn set(&self, faults: Faults) {
        self.0.lock().faults = faults;
    }

    pub(super) fn syncs(&self) -> u64 {
        self.0.lock().syncs
    }

    /// Leaves in `dir` what a power cut would: synced bytes under synced names. Of what was not synced, `keep` says
    /// how many of so many bytes made it to the disk by chance. The power is on again then.
    pub(super) fn restore(&self, dir: &Path, mut keep: impl FnMut(usize) -> usize) {
        let mut state = self.0.lock();
        let mut images = Vec::new();
        for (path, id) in &state.durable_names {
            let mut image = state.synced[id].clone();
            let live = std::fs::read(path).unwrap_or_default();
            if let Some(tail) =
                live.strip_prefix(image.as_slice()).filter(|_| state.names.get(path) == Some(id))
            {
                image.extend_from_slice(&tail[..keep(tail.len())]);
            }
            images.push((path.clone(), image));
        }
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if !path.ends_with("LOCK") {
                std::fs::remove_file(path).unwrap();
            }
        }
        *state = State::default();
        for (path, image) in images {
            std::fs::write(&path, &image).unwrap();
            state.adopt(&path, image);
        }
    }

    fn check(&self) -> io::Result<()> {
        if self.0.lock().faults.off { Err(failed()) } else { Ok(()) }
    }
}

impl State {
    fn adopt(&mut self, path: &Path, content: Vec<u8>) -> u64 {
        self.last_id += 1;
        self.names.insert(path.to_owned(), self.last_id);
        self.durable_names.insert(path.to_owned(), self.last_id);
        self.synced.insert(self.last_id, content);
        self.last_id
    }
}

impl Files for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.check()?;
        if self.0.lock().faults.space == Some(0) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let real = SystemFiles.create(path)?;
        let mut state = self.0.lock();
        state.last_id += 1;
        let id = state.last_id;
        state.names.insert(path.to_owned(), id);
        state.synced.insert(id, Vec::new());
        Ok(Box::new(DiskFile { disk: self.clone(), id, path: path.to_owned(), real }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.check()?;
        let real = SystemFiles.open(path)?;
        let mut state = self.0.lock();
        let known = state.names.get(path).copied();
        let id = match known {
            Some(id) => id,
            None => state.adopt(path, std::fs::read(path)?),
        };
        Ok(Box::new(DiskFile { disk: self.clone(), id, path: path.to_owned(), real }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check()?;
        SystemFiles.rename(from, to)?;
        let mut state = self.0.lock();
        if let Some(id) = state.names.remove(from) {
            state.names.insert(to.to_owned(), id);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.check()?;
        self.0.lock().names.remove(path);
        SystemFiles.remove(path)
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        self.check()?;
        let mut state = self.0.lock();
        state.durable_names = state.names.clone();
        Ok(())
    }
}

impl LogFile for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.check()?;
        let mut state = self.disk.0.lock();
        let mut len = if state.faults.short_writes { bytes.len().min(7) } else { bytes.len() };
        if let Some(space) = &mut state.faults.space {
            if *space == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            len = len.min(*space as usize);
            *space -= len as u64;
        }
        drop(state);
        self.real.write(&bytes[..len])
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.check()?;
        let content = std::fs::read(&self.path)?;
        let mut state = self.disk.0.lock();
        if std::mem::take(&mut state.faults.sync_once) {
            return Err(failed());
        }
        state.syncs += 1;
        state.synced.insert(self.id, content);
        Ok(())
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.disk.check()?;
        self.real.truncate(len)
    }
}
