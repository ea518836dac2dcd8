//! A configuration file, changed by a verb.

use std::path::Path;

/// Replaces the text of the file by what `change` makes of it. The file is whole at any moment and keeps its permissions.
///
/// # Errors
/// What is wrong, with the file's name.
pub fn rewrite(path: &Path, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), String> {
    let named = |e: &dyn ToString| format!("{}: {}", path.display(), e.to_string());
    let text = std::fs::read_to_string(path).map_err(|e| named(&e))?;
    let changed = change(&text).map_err(|e| named(&e))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.new"));
    let mode = std::fs::metadata(path).map_err(|e| named(&e))?.permissions();
    std::fs::write(&beside, changed)
        .and_then(|()| std::fs::set_permissions(&beside, mode))
        .and_then(|()| std::fs::rename(&beside, path))
        .map_err(|e| named(&e))
}

/// A table without a header of its own.
pub fn implicit() -> toml_edit::Item {
    let mut table = toml_edit::Table::new();
    table.set_implicit(true);
    toml_edit::Item::Table(table)
}
