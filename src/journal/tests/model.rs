//! Random steps against a model in memory: whatever happens, what was answered is there, once, and in order.

use super::disk::{Disk, Faults};
use super::*;
use crate::journal::JournalError;
use std::collections::{BTreeMap, BTreeSet};

/// A small generator (xorshift64*), so that a seed is all that a failure needs.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }
}

struct Model {
    dir: tempfile::TempDir,
    disk: Disk,
    journal: Option<Journal>,
    random: Random,
    written: u64,
    /// What must be there.
    answered: BTreeMap<u64, Bytes>,
    /// What may be there: never answered because of a crash.
    unanswered: BTreeSet<Bytes>,
    cursors: BTreeMap<&'static str, u64>,
}

impl Model {
    fn new(seed: u64) -> Self {
        let (dir, disk) = (tempfile::tempdir().unwrap(), Disk::default());
        let journal = Journal::open_with(dir.path(), small(), 1, disk.files()).unwrap();
        // Both from the start: a cursor that comes later finds only what is still there.
        let cursors = ["flush", "sample"].map(|name| (name, journal.cursor(name).unwrap())).into();
        let journal = Some(journal);
        let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (answered, unanswered) = Default::default();
        Self { dir, disk, journal, random, written: 0, answered, unanswered, cursors }
    }

    fn journal(&self) -> Journal {
        self.journal.clone().unwrap()
    }

    fn payload(&mut self) -> Bytes {
        self.written += 1;
        let len = [0, 10, 300, 800][self.random.below(4) as usize];
        let mut bytes = self.written.to_le_bytes().to_vec();
        bytes.extend_from_slice(&payload(self.written, len));
        Bytes::from(bytes)
    }

    fn append(&mut self) {
        let journal = self.journal();
        let payloads: Vec<Bytes> = (0..=self.random.below(4)).map(|_| self.payload()).collect();
        let answers = run(async {
            let tasks: Vec<_> = payloads
                .iter()
                .map(|payload| {
                    let (journal, payload) = (journal.clone(), payload.clone());
                    async move { journal.append(7, payload).await }
                })
                .collect();
            join_all(tasks).await
        });
        for (payload, answer) in payloads.into_iter().zip(answers) {
            match answer {
                Ok(seq) => assert!(self.answered.insert(seq, payload).is_none(), "{seq} was given twice"),
                Err(JournalError::Full(_)) => {}
                Err(_) => _ = self.unanswered.insert(payload),
            }
        }
    }

    fn read(&mut self) {
        let last = self.answered.keys().next_back().copied().unwrap_or(0);
        let after = self.random.below(last + 2);
        let oldest = self.journal().stats().oldest_seq;
        let mut expected = self.answered.range(oldest.max(after + 1)..);
        let mut reader = self.journal().reader(after).unwrap();
        while let Some(frame) = reader.next().unwrap() {
            assert_eq!(expected.next(), Some((&frame.seq, &frame.payload)), "after {after}");
        }
        assert_eq!(expected.next(), None, "after {after}");
    }

    fn move_cursor(&mut self) {
        let name = ["flush", "sample"][self.random.below(2) as usize];
        let journal = self.journal();
        let at = journal.cursor(name).unwrap();
        assert_eq!(at, self.cursors[name]);
        let to = at + self.random.below(journal.durable() - at + 1);
        journal.set_cursor(name, to).unwrap();
        self.cursors.insert(name, to);
        let slowest = self.cursors.values().min().copied().unwrap();
        assert!(journal.stats().oldest_seq <= slowest + 1, "{:?} {:?}", journal.stats(), self.cursors);
    }

    /// The space runs out in the middle of something, and comes back.
    fn run_out_of_space(&mut self) {
        let space = self.random.below(1500);
        self.disk.set(Faults { space: Some(space), ..Faults::default() });
        self.append();
        self.disk.set(Faults::default());
    }

    fn crash(&mut self) {
        match self.random.below(3) {
            0 => self.disk.set(Faults { sync_once: true, ..Faults::default() }),
            1 => self.disk.set(Faults { off: true, ..Faults::default() }),
            _ => {}
        }
        self.append();
        self.disk.set(Faults { off: true, ..Faults::default() });
        self.journal = None;
        let random = &mut self.random;
        self.disk.restore(self.dir.path(), |len| random.below(len as u64 + 1) as usize);
        self.reopen();
    }

    /// Opens the directory and takes stock: all that was answered, perhaps some that was not, nothing else.
    fn reopen(&mut self) {
        self.journal = None;
        let journal = Journal::open_with(self.dir.path(), small(), 1, self.disk.files()).unwrap();
        let stats = journal.stats();
        assert_eq!((stats.quarantined_frames, stats.quarantined_segments), (0, 0));
        for frame in read_all(&mut journal.reader(0).unwrap()) {
            if self.answered.get(&frame.seq) != Some(&frame.payload) {
                assert!(self.unanswered.remove(&frame.payload), "unknown frame {}", frame.seq);
                assert!(self.answered.insert(frame.seq, frame.payload).is_none(), "{} changed", frame.seq);
            }
        }
        for (name, seq) in &self.cursors {
            assert_eq!(journal.cursor(name).unwrap(), *seq, "{name}");
        }
        self.journal = Some(journal);
        self.read();
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=9 => self.append(),
            10..=12 => self.read(),
            13..=15 => self.move_cursor(),
            16 => self.run_out_of_space(),
            17 => self.reopen(),
            _ => self.crash(),
        }
    }
}

async fn join_all<F: Future + Send + 'static>(tasks: Vec<F>) -> Vec<F::Output>
where
    F::Output: Send + 'static,
{
    let handles: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
    let mut outputs = Vec::new();
    for handle in handles {
        outputs.push(handle.await.unwrap());
    }
    outputs
}

/// Says the seed when a step panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the model test failed with seed {}", self.0);
        }
    }
}

#[test]
fn what_was_answered_stays_whatever_happens() {
    for seed in 1..=8 {
        let _seed = Seed(seed);
        let mut model = Model::new(seed);
        for _ in 0..100 {
            model.step();
        }
        model.reopen();
    }
}
