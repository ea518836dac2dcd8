//! Files of items, stored beside the tables: what a change brings, what a purge takes away, and what is read.

use super::attached::{self, is_sha256};
use super::datasets::Datasets;
use super::item::Item;
use super::packed::Packed;
use crate::lab::error::{Fault, LabError};
use crate::lab::place::Place;
use crate::lab::store::{Store, Who, text};
use crate::lake::{LakeError, LakeFiles, Stored};
use crate::schema::batch::ItemRow;
use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use std::collections::{BTreeMap, BTreeSet};

/// What the store of the files says, to who asked.
fn told(error: LakeError) -> LabError {
    LabError::Later(format!("the files beside items: {error}; try again"))
}

impl Datasets {
    pub(super) fn files(&self) -> &LakeFiles {
        self.store().lake.files()
    }

    /// Fills the lengths of files that items name by their hash. Items with one that is neither stored nor in the archive
    /// that they came in are taken out, and what is wrong with them is told.
    pub(super) async fn with_lengths(
        &self,
        who: &Who,
        items: &mut Vec<(Place, Item)>,
        packed: Option<&Packed>,
    ) -> Result<Vec<Fault>, LabError> {
        let mut faults = Vec::new();
        let mut known: BTreeMap<String, Option<u64>> = BTreeMap::new();
        let mut are_there = Vec::with_capacity(items.len());
        for (place, item) in items.iter_mut() {
            let before = faults.len();
            for file in &mut item.files {
                // What is no hash is told with the other faults of the item.
                if packed.is_some_and(|packed| packed.has(&file.sha256)) || !is_sha256(&file.sha256) {
                    continue;
                }
                let length = match known.get(&file.sha256) {
                    Some(length) => *length,
                    None => self.files().size(&who.tenant, &file.sha256).await.map_err(told)?,
                };
                known.insert(file.sha256.clone(), length);
                match length {
                    Some(bytes) => file.bytes = bytes,
                    None => {
                        let why = format!(
                            "no file with the SHA-256 {} is stored: send the items in a ZIP archive with it",
                            file.sha256
                        );
                        faults.push(Fault::new(why).at("files").on(*place));
                    }
                }
            }
            are_there.push(faults.len() == before);
        }
        let mut are_there = are_there.into_iter();
        items.retain(|_| are_there.next().unwrap_or_default());
        Ok(faults)
    }

    /// Stores the files that `rows` name, as far as they are not there. Nobody may purge meanwhile. When it returns, all of
    /// them are on the disk.
    ///
    /// # Errors
    /// When one cannot be stored, or was purged since it was looked for; those that came with it are gone again.
    pub(super) async fn keep(
        &self,
        who: &Who,
        rows: &[ItemRow],
        packed: Option<&Packed>,
    ) -> Result<(), LabError> {
        let mut new = Vec::new();
        for sha256 in attached::hashes(rows.iter().map(|row| row.files.as_deref())) {
            if let Err(error) = self.keep_one(who, &sha256, packed, &mut new).await {
                for sha256 in new {
                    if let Err(error) = self.files().delete(&who.tenant, &sha256).await {
                        tracing::warn!(tenant = %who.tenant, sha256, %error, "a file that no item names stays");
                    }
                }
                return Err(error);
            }
        }
        Ok(())
    }

    async fn keep_one(
        &self,
        who: &Who,
        sha256: &str,
        packed: Option<&Packed>,
        new: &mut Vec<String>,
    ) -> Result<(), LabError> {
        if self.files().size(&who.tenant, sha256).await.map_err(told)?.is_some() {
            return Ok(());
        }
        let content = match packed {
            Some(packed) => packed.content(sha256).await?,
            None => None,
        };
        let gone = || LabError::Wrong(format!("the file {sha256} was purged meanwhile: send it again"));
        self.files().put(&who.tenant, sha256, content.ok_or_else(gone)?).await.map_err(told)?;
        new.push(sha256.to_owned());
        Ok(())
    }

    /// Stores files by their hashes, as far as they are not there. Nobody may purge meanwhile.
    ///
    /// # Errors
    /// When one cannot be stored.
    pub(in crate::lab) async fn keep_all(
        &self,
        who: &Who,
        files: &BTreeMap<String, Bytes>,
    ) -> Result<(), LabError> {
        for (sha256, content) in files {
            if self.files().size(&who.tenant, sha256).await.map_err(told)?.is_none() {
                self.files().put(&who.tenant, sha256, content.clone()).await.map_err(told)?;
            }
        }
        Ok(())
    }

    /// Deletes the files that `items` name and no other item does; how many. Whoever erases rows does it first: behind a
    /// crash the rows are still there to say which files they are. Nobody may change datasets meanwhile.
    ///
    /// # Errors
    /// The limits of queries, and when one cannot be deleted.
    pub(super) async fn purge_files(
        &self,
        who: &Who,
        dataset_id: &str,
        items: &BTreeSet<String>,
    ) -> Result<u64, LabError> {
        let of_dataset =
            "SELECT DISTINCT item_id, files FROM dataset_items WHERE dataset_id = $1 AND files IS NOT NULL";
        let (theirs, _) = named(self.store(), who, (of_dataset, Some(dataset_id)), items).await?;
        if theirs.is_empty() {
            return Ok(0);
        }
        let of_all = "SELECT DISTINCT item_id, files FROM dataset_items WHERE files IS NOT NULL";
        let (_, others) = named(self.store(), who, (of_all, None), items).await?;
        let mut deleted = 0;
        for sha256 in theirs.difference(&others) {
            let is_there = self.files().size(&who.tenant, sha256).await.map_err(told)?.is_some();
            self.files().delete(&who.tenant, sha256).await.map_err(told)?;
            deleted += u64::from(is_there);
        }
        Ok(deleted)
    }

    /// A file of the tenant by its hash.
    ///
    /// # Errors
    /// [`LabError::Missing`] where the tenant has none.
    pub async fn file(&self, who: &Who, sha256: &str) -> Result<Stored, LabError> {
        let found = match is_sha256(sha256) {
            true => self.files().get(&who.tenant, sha256).await.map_err(told)?,
            false => None,
        };
        found.ok_or_else(|| LabError::Missing(format!("there is no file with the SHA-256 {sha256:?}")))
    }

    /// The whole of a file in memory.
    ///
    /// # Errors
    /// As [`Datasets::file`].
    pub(in crate::lab) async fn whole_file(&self, who: &Who, sha256: &str) -> Result<Vec<u8>, LabError> {
        let stored = self.file(who, sha256).await?;
        let parts = stored.content.try_fold(BytesMut::new(), |mut all, part| async move {
            all.extend_from_slice(&part);
            Ok(all)
        });
        Ok(parts.await.map_err(|e| told(LakeError::from(e)))?.to_vec())
    }
}

/// The hashes of the files that rows of `items` name, and those that other rows do.
async fn named(
    store: &Store,
    who: &Who,
    (sql, dataset_id): (&str, Option<&str>),
    items: &BTreeSet<String>,
) -> Result<(BTreeSet<String>, BTreeSet<String>), LabError> {
    let rows = store.ask(&who.tenant, sql, dataset_id.map(text).into_iter().collect()).await?;
    let (mut theirs, mut others) = (BTreeSet::new(), BTreeSet::new());
    for row in rows.iter() {
        let files = row.may("files");
        let to = if items.contains(&row.text("item_id")) { &mut theirs } else { &mut others };
        to.extend(attached::hashes(std::iter::once(files.as_deref())));
    }
    Ok((theirs, others))
}
