//! Parse, run, exit code.

use std::process::ExitCode;

/// Many small texts are made and dropped on several threads; `benches/README.md` has what this gives.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    groundline::cli::main()
}
