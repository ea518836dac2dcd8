//! The journal as a whole, on real directories and on a disk that fails on demand.

mod disk;
mod failures;
mod model;
mod operation;
mod receiver;
mod recovery;

use super::{Config, Frame, Journal, Reader};
use crate::units::ByteSize;
use bytes::Bytes;
use std::path::{Path, PathBuf};

/// Small segments, so that a few frames fill several.
fn small() -> Config {
    Config {
        segment_size: ByteSize::kib(1),
        max_frame_size: ByteSize::new(900),
        max_queued_size: ByteSize::mib(1),
        max_disk_size: ByteSize::mib(1),
        ..Config::default()
    }
}

/// Opens without real syncs: these tests damage files by hand, and hundreds of syncs take seconds.
fn open_unsynced(dir: &Path) -> Journal {
    Journal::open_with(dir, small(), 1, disk::Disk::default().files()).unwrap()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// A payload that tells which one it is.
fn payload(number: u64, len: usize) -> Bytes {
    Bytes::from((0..len).map(|i| (number as usize * 31 + i * 7) as u8).collect::<Vec<_>>())
}

/// Appends frames of `len` bytes one after the other.
fn append(journal: &Journal, count: u64, len: usize) {
    run(async {
        for _ in 0..count {
            let next = journal.durable() + 1;
            assert_eq!(journal.append(next as u32, payload(next, len)).await.unwrap(), next);
        }
    });
}

fn read_all(reader: &mut Reader) -> Vec<Frame> {
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

fn seqs(journal: &Journal, after: u64) -> Vec<u64> {
    let frames = read_all(&mut journal.reader(after).unwrap());
    for frame in &frames {
        assert_eq!(frame.payload, payload(frame.seq, frame.payload.len()), "frame {}", frame.seq);
        assert_eq!(frame.kind, frame.seq as u32);
    }
    frames.iter().map(|f| f.seq).collect()
}

fn segment_files(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "seg"))
        .collect();
    paths.sort();
    paths
}
