//! Datasets of an archive: each version is there, and its hash is that of its items.

use super::tables::Rows;
use crate::lab::Config;
use crate::lab::cells;
use crate::lab::dataset::{Item, Redact, checked_name, hash_of_all, item_row};
use arrow::array::RecordBatch;
use std::collections::BTreeMap;

/// What holds for everything that is stored.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// The limits.
    pub config: &'a Config,
    /// Whether an item has something that must not be stored.
    pub would_redact: &'a dyn Fn(&Item) -> bool,
    /// What takes that out of other texts; none where everything may be stored.
    pub redact: Option<&'a Redact>,
}

/// A version as the archive tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The name of the dataset then.
    pub name: String,
    /// The hash of its content.
    pub content_hash: String,
    items: i64,
}

/// The versions of each dataset, from 1.
pub type Versions = BTreeMap<String, Vec<Version>>;

/// Items that a version changes, each with its hash; none where it takes the item out.
type Changes = BTreeMap<(String, i64), Vec<(String, Option<String>)>>;

/// The versions of the datasets of an archive, whose hashes are computed again, and the items of each dataset.
///
/// # Errors
/// What is missing, or is not what the archive says.
pub fn versions(rows: &Rows, bounds: Bounds<'_>) -> Result<Versions, String> {
    let versions = told(&rows.datasets)?;
    let changes = changes(&rows.items, &versions, bounds)?;
    for (dataset_id, versions) in &versions {
        held(dataset_id, versions, &changes, bounds.config.max_items)?;
    }
    Ok(versions)
}

/// The versions in their order.
fn told(heads: &RecordBatch) -> Result<Versions, String> {
    let mut versions = Versions::new();
    for row in cells::rows(std::slice::from_ref(heads)) {
        let (dataset_id, version, name) = (row.text("dataset_id"), row.int("version"), row.text("name"));
        checked_name(&name)?;
        let known = versions.entry(dataset_id.clone()).or_default();
        let next = i64::try_from(known.len()).unwrap_or(i64::MAX).saturating_add(1);
        if version != Some(next) {
            let found = version.unwrap_or_default();
            return Err(format!("the dataset {dataset_id} has version {found} where {next} should be"));
        }
        let (items, content_hash) = (row.int("items").unwrap_or_default(), row.text("content_hash"));
        known.push(Version { name, content_hash, items });
    }
    Ok(versions)
}

/// The revisions of items, each checked as if it were sent.
fn changes(items: &RecordBatch, versions: &Versions, bounds: Bounds<'_>) -> Result<Changes, String> {
    let mut changes = Changes::new();
    for row in cells::rows(std::slice::from_ref(items)) {
        let (dataset_id, version, item_id) =
            (row.text("dataset_id"), row.int("version").unwrap_or_default(), row.text("item_id"));
        let told =
            |why: &str| format!("item {item_id} in version {version} of the dataset {dataset_id}: {why}");
        let most = versions.get(&dataset_id).map_or(0, Vec::len);
        if !usize::try_from(version).is_ok_and(|version| (1..=most).contains(&version)) {
            return Err(told("the archive has no such version"));
        }
        let hash = row.may("content_hash");
        let change = match (row.text("op").as_str(), hash) {
            ("delete", _) => None,
            ("purge", Some(hash)) => match item_row(row).input {
                None => Some(hash),
                Some(_) => return Err(told("it was purged, and its content is there")),
            },
            ("put", Some(hash)) => {
                let item = Item::of_row(&item_row(row));
                if (bounds.would_redact)(&item) {
                    return Err(told(
                        "ingest.redact would change it, and then its hash: make the archive where it was redacted",
                    ));
                }
                let checked = item.into_row(bounds.config.max_item_size);
                let checked = checked
                    .map_err(|faults| told(&faults.first().map(ToString::to_string).unwrap_or_default()))?;
                if checked.content_hash.as_ref() != Some(&hash) {
                    return Err(told("its content_hash is not that of its content"));
                }
                Some(hash)
            }
            (op, _) => return Err(told(&format!("op is {op:?}, or it has no content_hash"))),
        };
        changes.entry((dataset_id, version)).or_default().push((item_id, change));
    }
    Ok(changes)
}

/// Walks through the versions of a dataset.
fn held(dataset_id: &str, versions: &[Version], changes: &Changes, most: usize) -> Result<(), String> {
    let (mut items, mut hash) = (BTreeMap::new(), hash_of_all(std::iter::empty()));
    for (number, version) in (1i64..).zip(versions) {
        if let Some(changed) = changes.get(&(dataset_id.to_owned(), number)) {
            for (item_id, change) in changed {
                match change {
                    Some(hash) => items.insert(item_id.as_str(), hash.as_str()),
                    None => items.remove(item_id.as_str()),
                };
            }
            hash = hash_of_all(items.values().copied());
        }
        if version.content_hash != hash || usize::try_from(version.items) != Ok(items.len()) {
            return Err(format!(
                "version {number} of the dataset {dataset_id} says that it has {} items of the hash {}, and has {} of {hash}",
                version.items,
                version.content_hash,
                items.len()
            ));
        }
        if items.len() > most {
            return Err(format!(
                "the dataset {dataset_id} has {} items, at most {most} (lab.max_items)",
                items.len()
            ));
        }
    }
    Ok(())
}
