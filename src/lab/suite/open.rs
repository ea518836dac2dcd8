//! A suite file of ours or of another system.

use super::exchange::import;
use super::fault::Faults;
use super::load::{StoredItems, Suite, build, read as read_ours};
use std::path::Path;

/// Reads a suite, with `items` of stored datasets: TOML is ours, anything else is imported first. With `partial`, cases that are wrong are left out and
/// told; else they are as bad as any other fault. What was read in another way than it looks is told in both cases.
///
/// # Errors
/// Every fault, each with file, line and item.
pub fn read(path: &Path, partial: bool, items: &StoredItems) -> Result<(Suite, Faults), Faults> {
    if path.extension().is_some_and(|extension| extension == "toml") {
        return read_ours(path, partial, items);
    }
    let (imported, faults) = import(path)?;
    if !faults.is_empty() && !partial {
        return Err(faults);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.display().to_string();
    let mut told = faults;
    imported.warnings.iter().for_each(|warning| told.add(warning.clone()));
    let (suite, more) = build(imported.spec, imported.tests, (folder, items), &name, partial)?;
    told.join(more);
    Ok((suite, told))
}
