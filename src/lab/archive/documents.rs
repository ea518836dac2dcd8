//! The files of items in an archive: `documents/<SHA-256>/<name>`, each once.

use super::manifest::Files;
use crate::lab::cells;
use crate::lab::dataset::{Datasets, file_hashes, files_of};
use crate::lab::error::LabError;
use crate::lab::store::Who;
use crate::units::ByteSize;
use arrow::array::RecordBatch;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The folder of the files.
const FOLDER: &str = "documents/";

/// Files by their names in the archive.
pub type Documents = Files;

/// The files that revisions of items name, as an archive has them.
///
/// # Errors
/// [`LabError::Limit`] where they are more than an archive may have.
pub async fn read(datasets: &Datasets, who: &Who, items: &RecordBatch) -> Result<Documents, LabError> {
    let (mut files, mut bytes) = (Documents::new(), 0u64);
    for (sha256, name) in named(items) {
        let content = datasets.whole_file(who, &sha256).await?;
        bytes = bytes.saturating_add(content.len() as u64);
        let most = datasets.config().max_zip_size;
        if bytes > most.bytes() {
            return Err(LabError::Limit(format!(
                "the files of the items have more than {most} (lab.max_zip_size)"
            )));
        }
        files.insert(format!("{FOLDER}{sha256}/{name}"), content);
    }
    Ok(files)
}

/// The hash of each file, and the first of the names that it has.
fn named(items: &RecordBatch) -> BTreeMap<String, String> {
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for row in cells::rows(std::slice::from_ref(items)) {
        for file in files_of(row.may("files").as_deref()) {
            let known = named.entry(file.sha256).or_insert_with(|| file.name.clone());
            if file.name < *known {
                *known = file.name;
            }
        }
    }
    named
}

/// Takes the files of an archive by their hashes: those that its items name, each of at most `most` bytes, and no others.
///
/// # Errors
/// Which is missing, too large, of another hash, or belongs to no item.
pub fn taken(
    files: &mut Files,
    items: &RecordBatch,
    most: ByteSize,
) -> Result<BTreeMap<String, Bytes>, String> {
    let columns: Vec<Option<String>> =
        cells::rows(std::slice::from_ref(items)).map(|row| row.may("files")).collect();
    let mut wanted = file_hashes(columns.iter().map(Option::as_deref));
    let names: Vec<String> = files.keys().filter(|name| name.starts_with(FOLDER)).cloned().collect();
    let mut taken = BTreeMap::new();
    for name in names {
        let content = files.remove(&name).unwrap_or_default();
        let sha256 = hex::encode(Sha256::digest(&content));
        if !name.starts_with(&format!("{FOLDER}{sha256}/")) {
            return Err(format!("{name:?} has the SHA-256 {sha256}, which is not that of its folder"));
        }
        if content.len() > most.in_memory() {
            return Err(format!("{name:?} has more than {most} (lab.max_file_size)"));
        }
        if !wanted.remove(&sha256) {
            return Err(format!("{name:?} belongs to no item of the archive, or is there twice"));
        }
        taken.insert(sha256, Bytes::from(content));
    }
    match wanted.first() {
        None => Ok(taken),
        Some(sha256) => Err(format!("the file {sha256}, which an item names, is missing in the archive")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, StringArray};
    use serde_json::json;
    use std::sync::Arc;

    fn items(hashes: &[&str]) -> RecordBatch {
        let file = |sha256: &&str| json!([{ "name": "b.txt", "sha256": sha256 }]).to_string();
        let column: ArrayRef = Arc::new(hashes.iter().map(|one| Some(file(one))).collect::<StringArray>());
        RecordBatch::try_from_iter([("files", column)]).unwrap()
    }

    #[test]
    fn an_archive_has_the_files_of_its_items_and_no_others() {
        let hash = |content: &[u8]| hex::encode(Sha256::digest(content));
        let (one, two) = (hash(b"1"), hash(b"2"));
        let all = |more: &[(&str, &[u8])]| {
            let own =
                [(format!("{FOLDER}{one}/b.txt"), b"1".to_vec()), ("report.html".to_owned(), Vec::new())];
            let more = more.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec()));
            own.into_iter().chain(more).collect::<Files>()
        };
        let taken =
            |files: &mut Files, hashes: &[&str]| super::taken(files, &items(hashes), ByteSize::kib(1));
        let mut files = all(&[]);
        assert_eq!(
            taken(&mut files, &[&one, &one]).unwrap(),
            BTreeMap::from([(one.clone(), Bytes::from("1"))])
        );
        assert_eq!(files.into_keys().collect::<Vec<_>>(), ["report.html"]);
        assert!(taken(&mut all(&[]), &[&one, &two]).unwrap_err().contains("is missing"));
        let more = format!("{FOLDER}{two}/b.txt");
        assert!(taken(&mut all(&[(&more, b"2")]), &[&one]).unwrap_err().contains("belongs to no item"));
        assert!(
            taken(&mut all(&[(&more, b"3")]), &[&one, &two]).unwrap_err().contains("not that of its folder")
        );
        let large = vec![0; 2_000];
        let name = format!("{FOLDER}{}/b.txt", hash(&large));
        let told = taken(&mut all(&[(&name, &large)]), &[&one]).unwrap_err();
        assert!(told.contains("more than 1KiB (lab.max_file_size)"), "{told}");
        assert_eq!(named(&items(&[&two, &one])).len(), 2);
    }
}
