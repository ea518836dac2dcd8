//! The failing disk under the real receiver, and the lake that reads what is left of it.

use super::disk::{Disk, Faults};
use super::*;
use crate::domain::time::SystemClock;
use crate::ingest::decode::Traces;
use crate::ingest::{self, Receiver, Refusal};
use crate::journal::files::{Files, LogFile, SystemFiles};
use crate::lake::{self, FlushHandle, Lake, LakeError};
use crate::schema::columns::Table;
use crate::units::ByteSize;
use arrow::array::AsArray;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::thread::ThreadId;
use tokio_util::sync::CancellationToken;

fn open(dir: &Path, disk: &Disk) -> Journal {
    let config =
        Config { segment_size: ByteSize::kib(128), max_frame_size: ByteSize::kib(64), ..Config::default() };
    Journal::open_with(dir, config, 1, disk.files()).unwrap()
}

fn receiver(journal: &Journal) -> Receiver {
    Receiver::new(journal.clone(), Arc::new(SystemClock), ingest::Config::default())
}

fn request(number: u64) -> Traces {
    let span = Span {
        trace_id: vec![7; 16],
        span_id: number.to_be_bytes().to_vec(),
        name: "n".repeat(usize::try_from(number * 97 % 3_000).unwrap()),
        start_time_unix_nano: 1,
        end_time_unix_nano: 2,
        ..Span::default()
    };
    let scope_spans = vec![ScopeSpans { spans: vec![span], ..ScopeSpans::default() }];
    let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
    Traces::from_request(ExportTraceServiceRequest { resource_spans }).unwrap()
}

/// The spans that queries would see after a start, in order.
async fn visible(journal: &Journal) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let config = lake::Config::default();
    let (lake, manifests) =
        Lake::open(config, folder.path(), Arc::new(SystemClock), journal.id()).await.unwrap();
    FlushHandle::catch_up(lake.clone(), journal.clone(), manifests).await.unwrap();
    let mut numbers = Vec::new();
    for batch in lake.snapshot(Table::Spans).hot {
        let ids = batch.column_by_name("span_id").unwrap().as_string::<i32>().clone();
        numbers.extend(ids.iter().map(|id| u64::from_str_radix(id.unwrap(), 16).unwrap()));
    }
    numbers.sort_unstable();
    numbers
}

/// F6: the power goes in the middle of requests. What was acknowledged is visible after the start, whatever part of the
/// unsynced rest made it to the disk by chance.
#[tokio::test]
async fn f06_the_power_goes_under_the_door() {
    for (round, kept) in [0, 1, 40, usize::MAX].into_iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        let journal = open(dir.path(), &disk);
        let receiver = receiver(&journal);
        let mut acknowledged = BTreeSet::new();
        for number in 1..=20 + round as u64 {
            receiver.spans(request(number), "t").await.unwrap();
            acknowledged.insert(number);
        }
        disk.set(Faults { off: true, ..Faults::default() });
        let error = receiver.spans(request(99), "t").await.unwrap_err();
        assert!(matches!(error, Refusal::Overloaded { .. }), "{error}");
        drop((receiver, journal));
        disk.restore(dir.path(), |bytes| bytes.min(kept));
        let journal = open(dir.path(), &disk);
        let visible = visible(&journal).await;
        let distinct: BTreeSet<u64> = visible.iter().copied().collect();
        assert_eq!(distinct.len(), visible.len(), "a span is there twice");
        assert!(acknowledged.is_subset(&distinct), "{acknowledged:?} {distinct:?}");
        assert!(distinct.len() <= acknowledged.len() + 1);
    }
}

/// F9: after a failed sync the receiver acknowledges nothing, says "later", and the disk is never asked again.
#[tokio::test]
async fn f09_a_failed_sync_closes_the_door() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::default();
    let journal = open(dir.path(), &disk);
    let receiver = receiver(&journal);
    for number in 1..=3 {
        receiver.spans(request(number), "t").await.unwrap();
    }
    disk.set(Faults { sync_once: true, ..Faults::default() });
    let syncs = disk.syncs();
    for number in 4..=8 {
        let error = receiver.spans(request(number), "t").await.unwrap_err();
        assert!(matches!(error, Refusal::Overloaded { .. }), "{error}");
    }
    assert_eq!(disk.syncs(), syncs, "never a second try");
    drop((receiver, journal));
    disk.restore(dir.path(), |_| 0);
    let journal = open(dir.path(), &disk);
    assert_eq!(visible(&journal).await, [1, 2, 3]);
}

/// F8: no space for a span at any amount of free space: later, and nothing of it is kept; with space again it goes on.
#[tokio::test]
async fn f08_no_space_under_the_door() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::default();
    let journal = open(dir.path(), &disk);
    let receiver = receiver(&journal);
    let mut acknowledged = Vec::new();
    for (number, space) in (1..).zip([0, 1, 27, 28, 29, 500, 3_000]) {
        disk.set(Faults { space: Some(space), ..Faults::default() });
        let error = receiver.spans(request(1_000 + number), "t").await.unwrap_err();
        assert!(matches!(error, Refusal::Overloaded { .. }), "{space}: {error}");
        disk.set(Faults::default());
        receiver.spans(request(number), "t").await.unwrap();
        acknowledged.push(number);
    }
    drop((receiver, journal));
    disk.restore(dir.path(), |_| 0);
    let journal = open(dir.path(), &disk);
    assert_eq!(visible(&journal).await, acknowledged);
}

/// Brings what the journal holds to the files of the lake in `folder`, as a start and a stop do.
async fn store(journal: &Journal, folder: &Path) -> Result<(), LakeError> {
    let (config, clock) = (lake::Config::default(), Arc::new(SystemClock));
    let (lake, manifests) = Lake::open(config, folder, clock, journal.id()).await?;
    let stop = CancellationToken::new();
    stop.cancel();
    FlushHandle::catch_up(lake, journal.clone(), manifests).await?.run(stop).await
}

fn files_of(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A data directory that was restored from an older copy, with the tables elsewhere: frames to come would have the
/// numbers of stored ones and be left out without a word.
#[tokio::test]
async fn a_journal_that_ends_before_its_tables_is_refused() {
    let [dir, copy, folder] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let reopen = |dir: &Path| open(dir, &Disk::default());
    let journal = reopen(dir.path());
    receiver(&journal).spans(request(1), "t").await.unwrap();
    store(&journal, folder.path()).await.unwrap();
    drop(journal);
    for file in files_of(dir.path()) {
        std::fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
    }
    // The tables may have all that the journal has.
    let journal = reopen(dir.path());
    store(&journal, folder.path()).await.unwrap();
    receiver(&journal).spans(request(2), "t").await.unwrap();
    store(&journal, folder.path()).await.unwrap();
    drop(journal);
    // An emptied journal goes on with its numbers.
    let segments =
        files_of(dir.path()).into_iter().filter(|file| file.extension().is_some_and(|e| e == "seg"));
    segments.for_each(|file| std::fs::remove_file(file).unwrap());
    let journal = reopen(dir.path());
    store(&journal, folder.path()).await.unwrap();
    drop(journal);

    let journal = reopen(copy.path());
    let error = store(&journal, folder.path()).await.unwrap_err();
    assert!(matches!(error, LakeError::JournalBehind { position: 2, durable: 1, .. }), "{error}");
    assert!(error.to_string().contains(&copy.path().display().to_string()), "{error}");
    drop(journal);
    // As the message says: a new journal.
    let new = tempfile::tempdir().unwrap();
    let journal = reopen(new.path());
    receiver(&journal).spans(request(3), "t").await.unwrap();
    store(&journal, folder.path()).await.unwrap();
}

/// Real files that note which thread moved a cursor last.
#[derive(Default)]
struct Noting(Mutex<Option<ThreadId>>);

impl Files for Noting {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        SystemFiles.create(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        SystemFiles.open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        *self.0.lock() = Some(std::thread::current().id());
        SystemFiles.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        SystemFiles.remove(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        SystemFiles.sync_dir(dir)
    }
}

/// Requests are answered on the same threads as the loop's: they must not wait for its disk.
#[tokio::test]
async fn the_cursor_moves_on_a_thread_of_its_own() {
    let [dir, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let files = Arc::new(Noting::default());
    let journal = Journal::open_with(dir.path(), Config::default(), 1, files.clone()).unwrap();
    receiver(&journal).spans(request(1), "t").await.unwrap();
    store(&journal, folder.path()).await.unwrap();
    assert_eq!(journal.cursor(lake::CURSOR).unwrap(), 1);
    let moved = *files.0.lock();
    assert!(moved.is_some_and(|thread| thread != std::thread::current().id()));
}
