//! What a sound disk gives.

use super::*;
use crate::journal::{Full, JournalError};
use crate::units::ByteSize;
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn frames_come_back_in_order_and_the_watch_tells() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), small(), 1).unwrap();
    let watch = journal.watch();
    let mut reader = journal.reader(0).unwrap();
    assert_eq!(reader.next().unwrap(), None);
    append(&journal, 20, 200);
    assert_eq!(*watch.borrow(), 20);
    assert_eq!(read_all(&mut reader).len(), 20);
    assert_eq!(reader.position(), 20);
    append(&journal, 1, 0);
    assert_eq!(reader.next().unwrap().map(|f| (f.seq, f.payload.len())), Some((21, 0)));
    assert_eq!(seqs(&journal, 7), (8..=21).collect::<Vec<_>>());
    assert_eq!(seqs(&journal, 99), Vec::<u64>::new());
    let stats = journal.stats();
    assert_eq!((stats.segments, stats.oldest_seq, stats.durable_seq, stats.queued_bytes), (5, 1, 21, 0));
    let on_disk: u64 = segment_files(dir.path()).iter().map(|p| p.metadata().unwrap().len()).sum();
    assert_eq!(stats.bytes_on_disk, on_disk);
}

#[test]
fn sixty_four_appenders_get_dense_unique_numbers_with_few_syncs() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config { segment_size: ByteSize::kib(16), max_frame_size: ByteSize::new(900), ..small() };
    let journal = Journal::open(dir.path(), config, 1).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let answers = runtime.block_on(async {
        let tasks: Vec<_> = (0..64u64)
            .map(|task| {
                let journal = journal.clone();
                tokio::spawn(async move {
                    let mut answers = Vec::new();
                    for i in 0..20 {
                        let payload = Bytes::from(format!("{task}/{i}"));
                        let seq = journal.append(1, payload.clone()).await.unwrap();
                        assert!(journal.durable() >= seq);
                        answers.push((seq, payload));
                    }
                    answers
                })
            })
            .collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.extend(task.await.unwrap());
        }
        answers
    });
    let numbers: BTreeSet<u64> = answers.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (1..=64 * 20).collect());
    assert!(journal.stats().fsyncs < 64 * 20 / 4, "{:?}", journal.stats());
    let frames = read_all(&mut journal.reader(0).unwrap());
    for (seq, payload) in answers {
        assert_eq!(frames[seq as usize - 1].payload, payload);
    }
}

#[test]
fn purge_waits_for_the_slowest_cursor_and_spares_the_active_segment() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), small(), 1).unwrap();
    assert_eq!(journal.cursor("fast").unwrap(), 0);
    assert_eq!(journal.cursor("slow").unwrap(), 0);
    append(&journal, 20, 200);
    journal.set_cursor("fast", 20).unwrap();
    assert_eq!(journal.stats().oldest_seq, 1);
    journal.set_cursor("slow", 9).unwrap();
    // Four records a segment: 1-4, 5-8, 9-12, ...
    assert_eq!(journal.stats().oldest_seq, 9);
    assert_eq!(segment_files(dir.path()).len(), 3);
    assert_eq!(seqs(&journal, 0), (9..=20).collect::<Vec<_>>());
    drop(journal);

    let journal = Journal::open(dir.path(), small(), 1).unwrap();
    assert_eq!((journal.cursor("slow").unwrap(), journal.cursor("fast").unwrap()), (9, 20));
    journal.set_cursor("slow", 20).unwrap();
    assert_eq!((journal.stats().segments, journal.stats().oldest_seq), (1, 17));
    append(&journal, 1, 10);
    assert_eq!(seqs(&journal, 20), [21]);
    assert_eq!(journal.stats().quarantined_frames, 0, "what was purged is not missed");
}

#[test]
fn a_reader_goes_on_when_its_segment_is_purged() {
    // Frames that are still in memory are read although their files are gone.
    for (bytes, first) in [(0, 17), (800, 17), (1 << 20, 4)] {
        let recent_size = ByteSize::new(bytes);
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path(), Config { recent_size, ..small() }, 1).unwrap();
        append(&journal, 3, 200);
        let mut reader = journal.reader(0).unwrap();
        assert_eq!(reader.next().unwrap().map(|f| f.seq), Some(1));
        append(&journal, 17, 200);
        journal.set_cursor("only", 20).unwrap();
        let rest: Vec<u64> = read_all(&mut reader).iter().map(|f| f.seq).collect();
        assert_eq!(rest, [2, 3].into_iter().chain(first..=20).collect::<Vec<_>>(), "{recent_size}");
        assert_eq!(journal.stats().quarantined_frames, 0);
    }
}

#[test]
fn a_number_that_a_cursor_passed_is_never_given_again() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), small(), 1).unwrap();
    append(&journal, 10, 200);
    journal.set_cursor("only", 10).unwrap();
    drop(journal);
    for path in segment_files(dir.path()) {
        std::fs::remove_file(path).unwrap();
    }
    let journal = Journal::open(dir.path(), small(), 1).unwrap();
    assert_eq!(journal.durable(), 10);
    append(&journal, 1, 5);
    assert_eq!(seqs(&journal, 10), [11]);
}

#[test]
fn the_directory_belongs_to_one() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), small(), 1).unwrap();
    let error = Journal::open(dir.path(), small(), 1).unwrap_err();
    assert!(matches!(error, JournalError::Locked { .. }));
    assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
    let other = journal.clone();
    drop(journal);
    assert!(Journal::open(dir.path(), small(), 1).is_err());
    drop(other);
    Journal::open(dir.path(), small(), 1).unwrap();
}

#[test]
fn closed_takes_nothing_but_still_reads() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), small(), 1).unwrap();
    append(&journal, 3, 10);
    journal.close();
    journal.close();
    let error = run(journal.append(1, Bytes::new())).unwrap_err();
    assert!(matches!(error, JournalError::Closed) && !error.is_retryable());
    assert_eq!(seqs(&journal, 0), [1, 2, 3]);
    journal.set_cursor("only", 3).unwrap();
}

#[test]
fn limits_answer_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config { max_disk_size: ByteSize::kib(2), ..small() };
    let journal = Journal::open(dir.path(), config, 1).unwrap();
    let error = run(journal.append(1, payload(1, 901))).unwrap_err();
    assert!(
        matches!(error, JournalError::FrameTooLarge { bytes: 901, limit } if limit == ByteSize::new(900))
            && !error.is_retryable()
    );
    append(&journal, 2, 900);
    let error = run(journal.append(1, payload(3, 200))).unwrap_err();
    assert!(matches!(error, JournalError::Full(Full::Disk { .. })) && error.is_retryable(), "{error}");
    journal.set_cursor("only", 2).unwrap();
    append(&journal, 1, 200);
    assert!(matches!(
        Journal::open(dir.path(), Config { max_frame_size: ByteSize::ZERO, ..small() }, 1),
        Err(JournalError::Config(_))
    ));
}

#[test]
fn a_commit_window_gathers_frames() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config {
        commit_window: Duration::from_secs(1),
        segment_size: ByteSize::mib(1),
        max_disk_size: ByteSize::mib(2),
        ..small()
    };
    let journal = Journal::open(dir.path(), config, 1).unwrap();
    run(async {
        let second = async {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            journal.append(1, Bytes::new()).await
        };
        let (a, b) = tokio::join!(journal.append(1, Bytes::new()), second);
        assert_eq!((a.unwrap(), b.unwrap()), (1, 2));
    });
    assert_eq!(journal.stats().fsyncs, 1);
}
