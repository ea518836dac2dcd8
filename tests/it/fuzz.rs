//! F12, the short form: seeded mutations of real requests through the bodies of the fuzz targets.
//!
//! The long form is `cargo run --release --example fuzz -- --seconds 60`. GROUNDLINE_FUZZ_SEED is another seed.

#[path = "../../fuzz/bodies.rs"]
mod bodies;
#[path = "../../fuzz/engine.rs"]
mod engine;

use std::path::Path;

/// Rounds of a target, for a few seconds together.
fn rounds(name: &str) -> u64 {
    match name {
        "frame" | "sql" => 200,
        "journal" => 30,
        _ => 50,
    }
}

#[test]
fn f12_no_input_panics_hangs_or_grows() {
    let seed = std::env::var("GROUNDLINE_FUZZ_SEED").map_or(1, |seed| seed.parse().unwrap());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // As large as the stack of a query's thread.
    let work = std::thread::Builder::new().stack_size(16 << 20).spawn(move || {
        for (name, body) in bodies::TARGETS {
            let corpus = bodies::corpus(name, root);
            assert!(!corpus.is_empty(), "{name} has no inputs");
            // The captures themselves, as they are: every eighth is enough beside the other tests of them.
            corpus.iter().step_by(8).for_each(|input| bodies::run(name, input));
            match engine::run(name, *body, &corpus, seed, |done| done >= rounds(name)) {
                Ok(done) => println!("{name}: {done:?}"),
                Err(found) => panic!(
                    "{name}: {}: seed {}, round {}, {} bytes: GROUNDLINE_FUZZ_SEED={} repeats it",
                    found.what,
                    found.seed,
                    found.round,
                    found.input.len(),
                    found.seed
                ),
            }
        }
        bodies::clean();
    });
    work.unwrap().join().unwrap();
}
