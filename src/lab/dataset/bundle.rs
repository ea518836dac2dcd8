//! A version as a ZIP archive: `items.jsonl` and the files that its items name, as an import takes them.

use super::attached::Attached;
use super::datasets::Datasets;
use super::item::Item;
use crate::lab::error::LabError;
use crate::lab::store::Who;
use crate::lab::zip;
use std::collections::BTreeMap;

/// The table of the items.
const ITEMS: &str = "items.jsonl";
/// The folder of the files.
const FOLDER: &str = "documents";

impl Datasets {
    /// `items` and their files as an archive. The same items give the same bytes.
    ///
    /// # Errors
    /// [`LabError::Limit`] where the files are more than an archive may have, [`LabError::Missing`] for a file that is gone.
    pub async fn bundled(&self, who: &Who, mut items: Vec<Item>) -> Result<Vec<u8>, LabError> {
        let wanted = placed(&mut items);
        let (mut files, mut bytes) = (BTreeMap::new(), 0u64);
        for (path, sha256) in wanted {
            let content = self.whole_file(who, &sha256).await?;
            bytes = bytes.saturating_add(content.len() as u64);
            let config = self.config();
            if bytes > config.max_zip_size.bytes() || files.len() >= config.max_zip_entries {
                let why = format!(
                    "the files of the items are more than {} or {} (lab.max_zip_size, lab.max_zip_entries): export a part, \
                     ?after=…&limit=…",
                    config.max_zip_size, config.max_zip_entries
                );
                return Err(LabError::Limit(why));
            }
            files.insert(path, content);
        }
        let packed = tokio::task::spawn_blocking(move || {
            let lines: Vec<String> =
                items.iter().map(|item| format!("{}\n", serde_json::json!(item))).collect();
            files.insert(ITEMS.to_owned(), lines.concat().into_bytes());
            zip::write(&files)
        });
        packed.await.map_err(|e| LabError::Broken(e.to_string()))?.map_err(LabError::Limit)
    }
}

/// Gives each file its path in the archive: its own where no other file has that, else one by its hash. What lies where.
fn placed(items: &mut [Item]) -> BTreeMap<String, String> {
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for file in items.iter_mut().flat_map(|item| &mut item.files) {
        let own = file.path.take().filter(|path| is_free(path, &file.sha256, &wanted));
        let path = own.unwrap_or_else(|| by_hash(file));
        wanted.insert(path.clone(), file.sha256.clone());
        file.path = Some(path);
    }
    wanted
}

/// Whether a file may lie there: below a folder, where it is not taken for a table, and where nothing else lies.
fn is_free(path: &str, sha256: &str, wanted: &BTreeMap<String, String>) -> bool {
    let is_same = wanted.get(path).is_none_or(|known| known == sha256);
    is_same && path.contains('/') && !path.ends_with('/')
}

fn by_hash(file: &Attached) -> String {
    format!("{FOLDER}/{}/{}", file.sha256, file.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_paths_where_they_can() {
        let file = |path: Option<&str>, digit: &str| Attached {
            name: "a.txt".to_owned(),
            path: path.map(str::to_owned),
            sha256: digit.repeat(64),
            ..Attached::default()
        };
        let files = vec![
            file(Some("documents/a.txt"), "1"),
            file(Some("documents/a.txt"), "2"),
            file(Some("documents/a.txt"), "1"),
            file(Some("a.txt"), "3"),
            file(None, "4"),
        ];
        let mut items = vec![Item { files, ..Item::default() }];
        let wanted = placed(&mut items);
        let told: Vec<String> = items[0].files.iter().map(|file| file.path.clone().unwrap()).collect();
        let hashed = |digit: &str| format!("documents/{}/a.txt", digit.repeat(64));
        let own = "documents/a.txt".to_owned();
        assert_eq!(told, [own.clone(), hashed("2"), own, hashed("3"), hashed("4")]);
        assert_eq!(wanted.len(), 4);
        assert!(told.iter().all(|path| wanted.contains_key(path)));
    }
}
