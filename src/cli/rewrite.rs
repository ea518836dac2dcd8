//! A configuration file, changed by a verb.

use std::path::Path;

/// Replaces the text of the file by what `change` makes of it. The file is whole at any moment and keeps its permissions; of a
/// link it is the file behind it.
///
/// # Errors
/// What is wrong, with the file's name.
pub fn rewrite(path: &Path, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), String> {
    let named = |e: &dyn ToString| format!("{}: {}", path.display(), e.to_string());
    // A file in the place of a link would not be the one that others read.
    let path = &std::fs::canonicalize(path).map_err(|e| named(&e))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_stays_one_and_the_file_behind_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("its own.toml"), folder.path().join("link.toml"));
        std::fs::write(&file, "a").unwrap();
        std::os::unix::fs::symlink("its own.toml", &link).unwrap();
        rewrite(&link, |text| Ok(format!("{text}b"))).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "ab");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside them");
    }
}
