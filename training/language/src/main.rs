//! Makes `models/language/table.bin`: `cargo run --release -- MODELS HELD_OUT OUT [examples in thousands]`.
//!
//! MODELS holds the unpacked language packages of lingua, HELD_OUT folders of gettext catalogues by language.

mod counts;
mod held_out;
mod languages;
mod measure;
mod rows;
mod sample;
mod table;
mod train;

use languages::{SCRIPTS, Script};
use std::path::{Path, PathBuf};
use table::Stored;
use train::{Entry, Sparse};

/// Rows that are learnt, weights that are kept, share of the examples.
fn sizes(script: Script) -> (usize, usize, f32) {
    match script {
        Script::Latin => (1_400_000, 4_000_000, 1.0),
        Script::Cyrillic => (300_000, 800_000, 0.25),
        Script::Arabic => (80_000, 100_000, 0.1),
        Script::Devanagari | Script::Han => (20_000, 20_000, 0.03),
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"))
}

/// What training left behind goes on from there.
fn save(path: &Path, kept: &Sparse) {
    let mut out = (kept.from.len() as u32).to_le_bytes().to_vec();
    kept.from.iter().for_each(|n| out.extend(n.to_le_bytes()));
    for e in &kept.entries {
        out.extend(u32::from(e.language).to_le_bytes());
        out.extend(e.weight.to_le_bytes());
    }
    std::fs::write(path, out).expect("written");
}

fn restore(path: &Path) -> Option<Sparse> {
    let bytes = std::fs::read(path).ok()?;
    let n = number(&bytes, 0) as usize;
    let from = (0..n).map(|i| number(&bytes, 4 + 4 * i)).collect();
    let entry =
        |chunk: &[u8]| Entry { language: number(chunk, 0) as u8, weight: f32::from_bits(number(chunk, 4)) };
    Some(Sparse { from, entries: bytes[4 + 4 * n..].chunks_exact(8).map(entry).collect() })
}

fn learn(group: &counts::Group, out: &Path, thousands: usize) -> (rows::Rows, Sparse) {
    let (learnt, kept, share) = sizes(group.script);
    let examples = (thousands as f32 * 1_000.0 * share) as usize;
    let rows = rows::Rows::choose(group, learnt);
    let path = |step: &str| -> PathBuf { out.with_extension(format!("{:?}.{step}", group.script)) };
    if let Some(done) = restore(&path("final")) {
        return (rows, done);
    }
    let chains = sample::chains(group);
    let mut sparse = restore(&path("kept")).unwrap_or_else(|| {
        let weights = train::dense(&chains, &rows, examples);
        let sparse = train::keep(&weights, &rows, kept);
        save(&path("kept"), &sparse);
        sparse
    });
    train::sparse(&chains, &rows, &mut sparse, examples / 2, 8);
    save(&path("final"), &sparse);
    (rows, sparse)
}

fn main() {
    let mut words = std::env::args().skip(1);
    let (Some(models), Some(held_out), Some(out)) = (words.next(), words.next(), words.next()) else {
        eprintln!("MODELS HELD_OUT OUT [examples in thousands]");
        return;
    };
    let (out, thousands) = (PathBuf::from(out), words.next().and_then(|n| n.parse().ok()).unwrap_or(6_000));
    let lines = held_out::lines(Path::new(&held_out), 150);
    std::fs::write(out.with_extension("jsonl"), measure::json_lines(&lines)).expect("written");
    let groups: Vec<counts::Group> =
        SCRIPTS.iter().rev().map(|s| counts::load(Path::new(&models), *s)).collect();
    let mut all: Vec<Stored> = Vec::new();
    for group in &groups {
        eprintln!("{:?}: {} letters", group.script, group.alphabet.len());
        let mut stored = if group.script == Script::Han {
            Stored::of_characters(group)
        } else {
            let (rows, sparse) = learn(group, &out, thousands);
            Stored::new(group, &rows, &sparse)
        };
        println!("{:?}: {} rows, {} votes", group.script, stored.rows.len(), stored.votes());
        measure::calibrate(&mut stored, &lines);
        measure::report(&stored, &lines);
        all.push(stored);
    }
    let file = table::file(&all);
    println!("{} bytes", file.len());
    std::fs::write(&out, file).expect("written");
}
