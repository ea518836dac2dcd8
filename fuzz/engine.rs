//! A seeded mutator and the loop around it, for stable Rust. A seed and a number of rounds are all that a finding needs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An input may take this much time of its thread.
const LIMIT: Duration = Duration::from_secs(1);

/// An input that has not ended by then never will: the process is ended, with the seed.
const HANG_S: u64 = 60;

/// What the run may add to the process's memory, KiB.
const GROWTH_KIB: u64 = 512 << 10;

/// What a run did.
#[derive(Debug, Default)]
pub struct Done {
    pub rounds: u64,
    pub slowest: Duration,
    pub longest: usize,
}

/// A finding.
pub struct Finding {
    pub what: String,
    pub seed: u64,
    pub round: u64,
    pub input: Vec<u8>,
}

struct Random(u64);

impl Random {
    fn new(seed: u64, round: u64) -> Self {
        Self((seed ^ round.wrapping_mul(0xD134_2543_DE82_EF95)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Pieces that mean something to some parser.
const TOKENS: &[&[u8]] = &[
    b"\0",
    b"\xff\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    b"{",
    b"[",
    b"[[[[[[[[",
    b"{\"a\":",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"-1",
    b"1e999",
    b"18446744073709551615",
    b"9223372036854775808",
    b"NaN",
    b"$bytes",
    b"\"\"",
    b"\xc3\x28",
    b"(",
    b"((((((((",
    b" UNION ALL ",
    b" SELECT ",
    b"--",
    b"/*",
    b";",
    b"'",
    b" + 1",
    b"\n[",
    b" = ",
    b".0.",
    b"\t",
    b"\n",
    b"role",
    b"content",
    b"parts",
    b"\x0a\x00",
    b"\x12\x7f",
];

/// The input of a round: one of the corpus, changed in one to eight places.
pub fn mutated(corpus: &[Vec<u8>], seed: u64, round: u64, most: usize) -> Vec<u8> {
    let mut random = Random::new(seed, round);
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len() + 1);
        match random.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + 1 + random.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + 1 + random.below(200)).min(bytes.len());
                let piece = bytes[at..end].repeat(1 + random.below(5));
                bytes.splice(at..at, piece);
            }
            5 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                let piece = other[from..(from + 1 + random.below(400)).min(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => {
                let piece: Vec<u8> = (0..random.below(12)).map(|_| random.next() as u8).collect();
                bytes.splice(at..at, piece);
            }
            7 => {
                let piece =
                    TOKENS[random.below(TOKENS.len())].repeat(1 + random.below(3) * random.below(200));
                bytes.splice(at..at, piece);
            }
            _ => {
                let piece = TOKENS[random.below(TOKENS.len())];
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece.iter().copied());
            }
        }
    }
    bytes.truncate(most);
    bytes
}

/// Runs rounds until `until` says so.
pub fn run(
    name: &'static str,
    body: fn(&[u8]),
    corpus: &[Vec<u8>],
    seed: u64,
    mut until: impl FnMut(u64) -> bool,
) -> Result<Done, Finding> {
    let alive = watchdog(name, seed);
    let (mut done, before) = (Done::default(), resident_kib());
    while !until(done.rounds) {
        alive.store(done.rounds, Ordering::Relaxed);
        let input = mutated(corpus, seed, done.rounds, 128 << 10);
        let (began, busy) = (Instant::now(), thread_time());
        let ended = catch_unwind(AssertUnwindSafe(|| body(&input)));
        let what = match ended {
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                Some(
                    text.or_else(|| panic.downcast_ref::<&str>().map(|t| (*t).to_owned()))
                        .unwrap_or_default(),
                )
            }
            // The neighbours' work is not ours: only the thread's own time counts.
            Ok(()) if began.elapsed() > LIMIT && thread_time().saturating_sub(busy) > LIMIT => {
                Some(format!("took {:?}", began.elapsed()))
            }
            Ok(()) => None,
        };
        if let Some(what) = what {
            alive.store(u64::MAX, Ordering::Relaxed);
            return Err(Finding { what, seed, round: done.rounds, input });
        }
        done.slowest = done.slowest.max(began.elapsed());
        done.longest = done.longest.max(input.len());
        done.rounds += 1;
    }
    alive.store(u64::MAX, Ordering::Relaxed);
    let grown = resident_kib().saturating_sub(before);
    if grown > GROWTH_KIB {
        return Err(Finding {
            what: format!("memory grew by {grown} KiB"),
            seed,
            round: done.rounds,
            input: vec![],
        });
    }
    Ok(done)
}

/// Ends the process when one round takes for ever. The counter tells the round; the largest number that all is over.
fn watchdog(name: &'static str, seed: u64) -> Arc<AtomicU64> {
    let round = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&round);
    std::thread::spawn(move || {
        let (mut last, mut same) = (0, 0);
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = seen.load(Ordering::Relaxed);
            same = if now == last { same + 1 } else { 0 };
            last = now;
            if now == u64::MAX {
                return;
            }
            if same > HANG_S {
                eprintln!("{name}: round {now} of seed {seed} hangs");
                std::process::abort();
            }
        }
    });
    round
}

/// Time that this thread has worked; ticks of 10 ms, from Linux's `/proc`.
fn thread_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let after = text.rsplit(')').next().unwrap_or_default();
    let fields = after.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(fields.sum::<u64>() * 10)
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}
