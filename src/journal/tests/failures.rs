//! What a failing disk does.

use super::disk::{Disk, Faults};
use super::*;
use crate::journal::{Full, JournalError};

fn open(dir: &Path, disk: &Disk) -> Journal {
    Journal::open_with(dir, small(), 1, disk.files()).unwrap()
}

#[test]
fn no_space_is_retryable_and_passes_without_a_restart() {
    // Every amount of space from none to a whole record, also where the record would begin a new segment.
    for before in [1, 4] {
        for space in 0..=260 {
            let dir = tempfile::tempdir().unwrap();
            let disk = Disk::default();
            let journal = open(dir.path(), &disk);
            let mut reader = journal.reader(0).unwrap();
            append(&journal, before, 200);
            assert_eq!(read_all(&mut reader).len() as u64, before);
            disk.set(Faults { space: Some(space), ..Faults::default() });
            let needed = if before == 4 { 260 } else { 228 };
            let answer = run(journal.append(9, payload(99, 200)));
            if space >= needed {
                assert_eq!(answer.unwrap(), before + 1);
                continue;
            }
            let error = answer.unwrap_err();
            assert!(
                matches!(error, JournalError::Full(Full::Device)) && error.is_retryable(),
                "{space}: {error}"
            );
            assert_eq!(reader.next().unwrap(), None);
            disk.set(Faults::default());
            append(&journal, 2, 190);
            let rest: Vec<u64> = read_all(&mut reader).iter().map(|f| f.seq).collect();
            assert_eq!(rest, [before + 1, before + 2], "space {space}");
            drop(journal);
            let journal = open(dir.path(), &disk);
            assert_eq!(seqs(&journal, 0), (1..=before + 2).collect::<Vec<_>>());
            let stats = journal.stats();
            assert_eq!((stats.torn_bytes_cut, stats.quarantined_frames), (0, 0));
        }
    }
}

#[test]
fn a_segment_that_was_asked_for_begins_when_there_is_space_again() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::default();
    let journal = open(dir.path(), &disk);
    append(&journal, 1, 10);
    journal.begin_segment();
    disk.set(Faults { space: Some(0), ..Faults::default() });
    run(journal.append(9, payload(99, 10))).unwrap_err();
    assert_eq!(journal.stats().segments, 1);
    disk.set(Faults::default());
    append(&journal, 2, 10);
    assert_eq!(journal.stats().segments, 2, "the second frame begins one, the third does not");
}

#[test]
fn a_failed_sync_poisons() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::default();
    let journal = open(dir.path(), &disk);
    append(&journal, 2, 100);
    disk.set(Faults { sync_once: true, ..Faults::default() });
    let syncs = disk.syncs();
    run(async {
        let (a, b) = tokio::join!(journal.append(1, Bytes::new()), journal.append(1, Bytes::new()));
        for error in [a.unwrap_err(), b.unwrap_err(), journal.append(1, Bytes::new()).await.unwrap_err()] {
            assert!(matches!(error, JournalError::Poisoned { .. }) && !error.is_retryable(), "{error}");
        }
    });
    assert_eq!(disk.syncs(), syncs, "never a second try");
    assert_eq!(journal.durable(), 2);
    assert_eq!(seqs(&journal, 0), [1, 2]);
    drop(journal);
    let journal = open(dir.path(), &disk);
    assert_eq!(seqs(&journal, 0), [1, 2]);
    append(&journal, 1, 100);
}

#[test]
fn a_failed_sync_of_a_new_segment_poisons() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::default();
    let journal = open(dir.path(), &disk);
    append(&journal, 4, 200);
    disk.set(Faults { sync_once: true, ..Faults::default() });
    let error = run(journal.append(1, payload(5, 200))).unwrap_err();
    assert!(matches!(error, JournalError::Poisoned { .. }), "{error}");
    drop(journal);
    let journal = open(dir.path(), &disk);
    append(&journal, 1, 200);
    assert_eq!(seqs(&journal, 0), [1, 2, 3, 4, 5]);
}

#[test]
fn short_writes_are_completed() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::default();
    disk.set(Faults { short_writes: true, ..Faults::default() });
    let journal = open(dir.path(), &disk);
    append(&journal, 20, 200);
    journal.set_cursor("only", 3).unwrap();
    drop(journal);
    let journal = open(dir.path(), &disk);
    assert_eq!((journal.cursor("only").unwrap(), journal.stats().torn_bytes_cut), (3, 0));
    assert_eq!(seqs(&journal, 0), (1..=20).collect::<Vec<_>>());
}

#[test]
fn a_power_cut_loses_nothing_that_was_answered() {
    for cut_after in 1..=12 {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        let journal = open(dir.path(), &disk);
        append(&journal, cut_after, 200);
        journal.set_cursor("only", cut_after / 2).unwrap();
        disk.set(Faults { off: true, ..Faults::default() });
        assert!(run(journal.append(1, Bytes::new())).is_err());
        drop(journal);
        disk.restore(dir.path(), |_| 0);
        let journal = open(dir.path(), &disk);
        assert_eq!(journal.cursor("only").unwrap(), cut_after / 2);
        assert_eq!(seqs(&journal, cut_after / 2), (cut_after / 2 + 1..=cut_after).collect::<Vec<_>>());
        append(&journal, 1, 200);
    }
}

#[test]
fn a_cursor_that_cannot_be_written_stays_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::default();
    let journal = open(dir.path(), &disk);
    append(&journal, 8, 200);
    journal.set_cursor("only", 2).unwrap();
    disk.set(Faults { space: Some(3), ..Faults::default() });
    let error = journal.set_cursor("only", 8).unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert_eq!((journal.cursor("only").unwrap(), journal.stats().oldest_seq), (2, 1));
    disk.set(Faults::default());
    journal.set_cursor("only", 8).unwrap();
    assert_eq!(journal.stats().oldest_seq, 5);
}
