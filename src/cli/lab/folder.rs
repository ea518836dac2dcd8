//! A folder as the ZIP archive that the server takes.

use crate::lab::zipped;
use std::collections::BTreeMap;
use std::path::Path;

/// Most bytes of the files of a folder together.
const MAX_BYTES: u64 = 1 << 30;
/// Most folders within each other.
const MAX_DEPTH: usize = 32;

/// The files below `folder` as an archive; what is hidden and what is a link is left out.
///
/// # Errors
/// When a file cannot be read, or they are too many or too large.
pub fn packed(folder: &Path) -> Result<Vec<u8>, String> {
    let (mut files, mut left) = (BTreeMap::new(), MAX_BYTES);
    collect(folder, "", MAX_DEPTH, &mut left, &mut files)?;
    zipped(&files).map_err(|why| format!("{}: {why}", folder.display()))
}

fn collect(
    folder: &Path,
    prefix: &str,
    depth: usize,
    left: &mut u64,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), String> {
    let told = |path: &Path, why: &dyn ToString| format!("{}: {}", path.display(), why.to_string());
    let depth = depth.checked_sub(1).ok_or_else(|| told(folder, &"too many folders within each other"))?;
    for entry in std::fs::read_dir(folder).map_err(|e| told(folder, &e))? {
        let entry = entry.map_err(|e| told(folder, &e))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(|e| told(&entry.path(), &e))?);
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| told(&path, &"its name is not UTF-8"))?;
        if name.starts_with('.') {
            continue;
        }
        let name = format!("{prefix}{name}");
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), depth, left, files)?;
        } else if kind.is_file() {
            let bytes = entry.metadata().map_err(|e| told(&path, &e))?.len();
            let rest = left.checked_sub(bytes);
            *left = rest.ok_or_else(|| told(folder, &"its files have more than 1 GiB together"))?;
            files.insert(name, std::fs::read(&path).map_err(|e| told(&path, &e))?);
        }
    }
    Ok(())
}
