//! What `open` makes of torn and damaged files.

use super::*;

/// Twelve frames of 200 bytes: 1-4, 5-8 and 9-12 in three files.
fn three_segments() -> (tempfile::TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    append(&open_unsynced(dir.path()), 12, 200);
    let files = segment_files(dir.path());
    assert_eq!(files.len(), 3);
    (dir, files)
}

fn except(lost: &[u64], last: u64) -> Vec<u64> {
    (1..=last).filter(|seq| !lost.contains(seq)).collect()
}

#[test]
fn a_torn_tail_is_cut_at_every_byte_of_the_last_record() {
    let (dir, files) = three_segments();
    let whole = std::fs::read(&files[2]).unwrap();
    let start = whole.len() - 228;
    for len in start..whole.len() {
        // Cut short; or of full length with zeros where the data never arrived.
        for zeros in [0, whole.len() - len] {
            let mut torn = whole[..len].to_vec();
            torn.resize(len + zeros, 0);
            if torn == whole {
                continue;
            }
            std::fs::write(&files[2], &torn).unwrap();
            let journal = open_unsynced(dir.path());
            let stats = journal.stats();
            assert_eq!(stats.torn_bytes_cut, (torn.len() - start) as u64, "at byte {len}");
            assert_eq!((stats.durable_seq, stats.quarantined_frames, stats.quarantined_segments), (11, 0, 0));
            drop(journal);
        }
    }
    let journal = open_unsynced(dir.path());
    append(&journal, 2, 200);
    assert_eq!(seqs(&journal, 0), except(&[], 13));
}

#[test]
fn a_bit_flip_in_the_middle_costs_one_frame() {
    let (dir, files) = three_segments();
    // Every byte of the second record of an old segment and of the last one.
    for (file, lost) in [(&files[1], 6), (&files[2], 10)] {
        let whole = std::fs::read(file).unwrap();
        for at in 32 + 228..32 + 2 * 228 {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            std::fs::write(file, &flipped).unwrap();
            let journal = open_unsynced(dir.path());
            assert_eq!(seqs(&journal, 0), except(&[lost], 12), "byte {at}");
            assert_eq!(seqs(&journal, 3).len(), 8, "a second reader finds the same damage");
            let stats = journal.stats();
            assert_eq!(
                (stats.torn_bytes_cut, stats.quarantined_frames, stats.quarantined_segments),
                (0, 1, 1)
            );
        }
        std::fs::write(file, &whole).unwrap();
    }
}

#[test]
fn appends_go_on_behind_damage_in_the_last_segment() {
    let (dir, files) = three_segments();
    let mut bytes = std::fs::read(&files[2]).unwrap();
    bytes[40..300].fill(0xB7);
    std::fs::write(&files[2], &bytes).unwrap();
    let journal = open_unsynced(dir.path());
    assert_eq!(journal.stats().quarantined_frames, 2, "recovery saw it already");
    append(&journal, 3, 200);
    assert_eq!(seqs(&journal, 0), except(&[9, 10], 15));
}

#[test]
fn the_last_record_of_an_old_segment_is_passed_over() {
    let (dir, files) = three_segments();
    for cut in [1, 100, 227, 228, 500] {
        let whole = std::fs::read(&files[0]).unwrap();
        std::fs::write(&files[0], &whole[..whole.len() - cut]).unwrap();
        let journal = open_unsynced(dir.path());
        let lost = (cut as u64).div_ceil(228);
        assert_eq!(seqs(&journal, 0).len() as u64, 12 - lost);
        assert_eq!(journal.stats().quarantined_frames, lost);
        std::fs::write(&files[0], &whole).unwrap();
    }
}

#[test]
fn headers_of_segments_can_be_damaged() {
    for index in 0..3 {
        let (dir, files) = three_segments();
        let mut bytes = std::fs::read(&files[index]).unwrap();
        bytes[9 + index] ^= 4;
        std::fs::write(&files[index], &bytes).unwrap();
        let journal = open_unsynced(dir.path());
        assert_eq!(seqs(&journal, 0), except(&[], 12), "segment {index}: the salt is known from elsewhere");
        append(&journal, 1, 200);
        assert_eq!(seqs(&journal, 11), [12, 13]);
        assert_eq!(journal.stats().quarantined_segments, 1);
        assert_eq!(journal.stats().quarantined_frames, 0);
    }
}

#[test]
fn a_last_segment_that_was_cut_short_while_it_was_made_is_removed() {
    for len in 0..32 {
        let (dir, files) = three_segments();
        let header = std::fs::read(&files[2]).unwrap()[..len].to_vec();
        std::fs::write(&files[2], header).unwrap();
        let journal = open_unsynced(dir.path());
        assert_eq!((journal.durable(), journal.stats().torn_bytes_cut), (8, len as u64));
        append(&journal, 1, 200);
        assert_eq!(seqs(&journal, 0), except(&[], 9));
    }
}

#[test]
fn a_last_segment_without_anything_readable_is_set_aside() {
    let (dir, files) = three_segments();
    let length = std::fs::metadata(&files[2]).unwrap().len() as usize;
    std::fs::write(&files[2], vec![0x55; length]).unwrap();
    let journal = open_unsynced(dir.path());
    assert!(files[2].with_extension("seg.bad").exists());
    assert_eq!(journal.stats().quarantined_segments, 1);
    append(&journal, 1, 200);
    assert_eq!(seqs(&journal, 0), except(&[], 9));
}

#[test]
fn a_missing_file_in_the_middle_is_jumped_over() {
    let (dir, files) = three_segments();
    std::fs::remove_file(&files[1]).unwrap();
    let journal = open_unsynced(dir.path());
    assert_eq!(seqs(&journal, 0), except(&[5, 6, 7, 8], 12));
    assert_eq!(journal.stats().quarantined_frames, 4);
    // Also if it goes missing while the journal is open.
    std::fs::remove_file(&files[0]).unwrap();
    assert_eq!(seqs(&journal, 0), [9, 10, 11, 12]);
    assert_eq!(journal.stats().quarantined_frames, 8);
}

#[test]
fn the_lock_file_may_lose_the_salt() {
    let (dir, _) = three_segments();
    for text in ["", "zz", "00000000"] {
        std::fs::write(dir.path().join("LOCK"), text).unwrap();
        let journal = open_unsynced(dir.path());
        let last = journal.durable();
        append(&journal, 3, 200);
        assert_eq!(seqs(&journal, 0), except(&[], last + 3), "{text:?}");
    }
}

#[test]
fn a_newer_format_is_refused_with_its_number() {
    let (dir, files) = three_segments();
    let mut bytes = std::fs::read(&files[0]).unwrap();
    bytes[8] = 9;
    let crc = crc32c::crc32c(&bytes[..28]);
    bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(&files[0], &bytes).unwrap();
    let error = Journal::open(dir.path(), small(), 1).unwrap_err();
    assert!(error.to_string().contains("format version 9"), "{error}");
}

#[test]
fn payloads_of_a_newer_format_are_refused_and_nothing_is_changed() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), small(), 7).unwrap();
    append(&journal, 3, 100);
    drop(journal);
    let before = std::fs::read(&segment_files(dir.path())[0]).unwrap();
    let error = Journal::open(dir.path(), small(), 6).unwrap_err();
    assert!(
        error.to_string().contains("format version 7, this release reads 6: use a newer release"),
        "{error}"
    );
    assert_eq!(std::fs::read(&segment_files(dir.path())[0]).unwrap(), before);
    assert_eq!(seqs(&Journal::open(dir.path(), small(), 7).unwrap(), 0), [1, 2, 3]);
}

#[test]
fn frames_of_a_newer_format_go_to_a_segment_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), small(), 6).unwrap();
    append(&journal, 2, 100);
    drop(journal);
    let journal = Journal::open(dir.path(), small(), 7).unwrap();
    append(&journal, 2, 100);
    assert_eq!(segment_files(dir.path()).len(), 2);
    assert_eq!(seqs(&journal, 0), [1, 2, 3, 4]);
    drop(journal);
    // A segment without a frame does not keep its old stamp.
    let journal = Journal::open(dir.path(), small(), 8).unwrap();
    drop(journal);
    let journal = Journal::open(dir.path(), small(), 9).unwrap();
    append(&journal, 1, 100);
    assert_eq!(segment_files(dir.path()).len(), 3);
    assert_eq!(seqs(&journal, 0), [1, 2, 3, 4, 5]);
}

#[test]
fn a_payload_cannot_pass_for_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open_unsynced(dir.path());
    append(&journal, 1, 100);
    // A record of another journal with the right numbers, inside of a payload whose own header is then damaged.
    let other = tempfile::tempdir().unwrap();
    append(&open_unsynced(other.path()), 2, 50);
    let forged = std::fs::read(&segment_files(other.path())[0]).unwrap()[32..].to_vec();
    run(journal.append(2, forged.into())).unwrap();
    append(&journal, 1, 100);
    drop(journal);
    let file = &segment_files(dir.path())[0];
    let mut bytes = std::fs::read(file).unwrap();
    bytes[32 + 128 + 5] ^= 1;
    std::fs::write(file, &bytes).unwrap();
    let journal = open_unsynced(dir.path());
    assert_eq!(seqs(&journal, 0), [1, 3]);
}
