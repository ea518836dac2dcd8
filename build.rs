//! Lists the captures that the demo sends, so that the binary carries them.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    fold_equal_functions();
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("tests/fixtures/otlp");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut text = String::from("&[\n");
    for dialect in sorted(&root)? {
        if !dialect.is_dir() {
            continue;
        }
        for file in sorted(&dialect)? {
            let (folder, name) = (name(&dialect), name(&file));
            writeln!(text, "    ({folder:?}, {name:?}, include_bytes!({:?})),", file.display().to_string())?;
        }
    }
    text.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("captures.rs"), text)?;
    Ok(())
}

/// Tells the linker to keep one of several functions with the same code, where the pinned toolchain brings the linker
/// that can: the release binary becomes smaller.
fn fold_equal_functions() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("TARGET", "x86_64-unknown-linux-gnu")
        && is("HOST", "x86_64-unknown-linux-gnu")
        && is("PROFILE", "release")
    {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}
