//! Lists the captures that the demo sends and the files of the console, so that the binary carries them.

use brotli::enc::BrotliEncoderParams;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    fold_equal_functions();
    let (root, out) = (PathBuf::from(env::var("CARGO_MANIFEST_DIR")?), PathBuf::from(env::var("OUT_DIR")?));
    captures(&root.join("tests/fixtures/otlp"), &out)?;
    console(&root.join("console/dist"), &out)
}

fn captures(root: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={}", root.display());
    let mut text = String::from("&[\n");
    for dialect in sorted(root)? {
        if !dialect.is_dir() {
            continue;
        }
        for file in sorted(&dialect)? {
            let (folder, name) = (name(&dialect), name(&file));
            writeln!(text, "    ({folder:?}, {name:?}, include_bytes!({:?})),", file.display().to_string())?;
        }
    }
    text.push_str("]\n");
    fs::write(out.join("captures.rs"), text)?;
    Ok(())
}

/// The built console: each file as it is and, where that is smaller, compressed, with the SHA-256 of each form.
fn console(dist: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={}", dist.display());
    if !dist.join("index.html").is_file() {
        return Err(format!("{}/index.html is missing: it is committed, get it back", dist.display()).into());
    }
    let mut text = String::from("&[\n");
    for (name, path) in files(dist)? {
        let bytes = fs::read(&path)?;
        let plain = form(&path, &bytes)?;
        let (mut brotli, mut gzip) = (String::from("None"), String::from("None"));
        if is_text(&name) {
            let hash = sha256(&bytes)?;
            brotli = smaller(&bytes, &out.join(format!("{hash}.br")), with_brotli)?;
            gzip = smaller(&bytes, &out.join(format!("{hash}.gz")), with_gzip)?;
        }
        writeln!(text, "    File {{ name: {name:?}, plain: {plain}, brotli: {brotli}, gzip: {gzip} }},")?;
    }
    text.push_str("]\n");
    fs::write(out.join("console.rs"), text)?;
    Ok(())
}

/// Every file below `folder` with its path from there.
fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let mut found = Vec::new();
    for path in sorted(folder)? {
        if path.is_dir() {
            let inner = files(&path)?;
            found.extend(inner.into_iter().map(|(below, file)| (format!("{}/{below}", name(&path)), file)));
        } else {
            found.push((name(&path), path));
        }
    }
    Ok(found)
}

fn is_text(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    ["html", "js", "css", "svg", "json", "map", "txt"].contains(&ending)
}

type Compress = fn(&[u8]) -> Result<Vec<u8>, Box<dyn Error>>;

/// The form of `bytes` that `compress` gives, kept in `file` for the next build; `None` where it saves too little.
fn smaller(bytes: &[u8], file: &Path, compress: Compress) -> Result<String, Box<dyn Error>> {
    if !file.is_file() {
        fs::write(file, compress(bytes)?)?;
    }
    let compressed = fs::read(file)?;
    if compressed.len() * 10 > bytes.len() * 9 {
        return Ok("None".to_owned());
    }
    Ok(format!("Some({})", form(file, &compressed)?))
}

fn with_brotli(bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut out = Vec::new();
    // The best quality, and the largest window that every browser takes.
    let params = BrotliEncoderParams { quality: 11, lgwin: 22, ..BrotliEncoderParams::default() };
    brotli::BrotliCompress(&mut &bytes[..], &mut out, &params)?;
    Ok(out)
}

fn with_gzip(bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn form(path: &Path, bytes: &[u8]) -> Result<String, Box<dyn Error>> {
    let hash = sha256(bytes)?;
    Ok(format!("Form {{ bytes: include_bytes!({:?}), sha256: {hash:?} }}", path.display().to_string()))
}

fn sha256(bytes: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
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
