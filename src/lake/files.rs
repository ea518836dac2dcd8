//! Files beside the tables, by tenant and hash: `<lake>/files/<tenant>/<SHA-256>`.
//!
//! A file is written once and never changed, so the same bytes are there once for each tenant, however many rows name them.
//! Which rows do is the business of who writes them.

use super::error::LakeError;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use std::sync::Arc;

/// The folder of all files.
const FOLDER: &str = "files";

/// The files of all tenants.
pub struct LakeFiles {
    root: Arc<dyn ObjectStore>,
    folder: Path,
}

/// A file on its way out.
pub struct Stored {
    /// Its length, bytes.
    pub bytes: u64,
    /// Its content, piece by piece.
    pub content: BoxStream<'static, object_store::Result<Bytes>>,
}

impl LakeFiles {
    /// Those below `prefix` of the store.
    pub(super) fn new(root: Arc<dyn ObjectStore>, prefix: Path) -> Self {
        Self { root, folder: prefix.join(FOLDER) }
    }

    /// Stores a file under its hash. When it returns, it is on the disk.
    ///
    /// # Errors
    /// When the store cannot write it.
    pub async fn put(&self, tenant: &str, sha256: &str, content: Bytes) -> Result<(), LakeError> {
        self.root.put(&self.path(tenant, sha256), content.into()).await?;
        Ok(())
    }

    /// The length of a file, bytes; none if the tenant has no such file.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub async fn size(&self, tenant: &str, sha256: &str) -> Result<Option<u64>, LakeError> {
        Ok(there(self.root.head(&self.path(tenant, sha256)).await)?.map(|meta| meta.size))
    }

    /// A file; none if the tenant has no such file.
    ///
    /// # Errors
    /// When the store cannot be asked; what goes wrong later is told by the content.
    pub async fn get(&self, tenant: &str, sha256: &str) -> Result<Option<Stored>, LakeError> {
        let found = there(self.root.get(&self.path(tenant, sha256)).await)?;
        Ok(found.map(|found| Stored { bytes: found.meta.size, content: found.into_stream() }))
    }

    /// Deletes a file; one that is not there is no error.
    ///
    /// # Errors
    /// When the store cannot delete it.
    pub async fn delete(&self, tenant: &str, sha256: &str) -> Result<(), LakeError> {
        there(self.root.delete(&self.path(tenant, sha256)).await)?;
        Ok(())
    }

    /// Where a file is. A tenant's name is escaped as one part: none can lead into the folder of another.
    fn path(&self, tenant: &str, sha256: &str) -> Path {
        self.folder.clone().join(tenant).join(sha256)
    }
}

/// What is there, and none for what is not.
fn there<T>(found: Result<T, Error>) -> Result<Option<T>, LakeError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::store::LakeStore;
    use super::*;
    use futures::TryStreamExt;

    async fn read(files: &LakeFiles, tenant: &str, sha256: &str) -> Option<Vec<u8>> {
        let stored = files.get(tenant, sha256).await.unwrap()?;
        let parts: Vec<Bytes> = stored.content.try_collect().await.unwrap();
        let all = parts.concat();
        assert_eq!(stored.bytes, all.len() as u64);
        Some(all)
    }

    #[tokio::test]
    async fn each_tenant_has_its_files_and_reaches_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let files = LakeStore::open(&Config::default(), folder.path()).unwrap().files();
        let tenants = ["a", "b", "..", ".", "a/b", "../b", "caf\u{e9} & co"];
        for (number, tenant) in tenants.into_iter().enumerate() {
            files.put(tenant, "0af1", Bytes::from(vec![7; number + 1])).await.unwrap();
        }
        for (number, tenant) in tenants.into_iter().enumerate() {
            assert_eq!(read(&files, tenant, "0af1").await, Some(vec![7; number + 1]), "{tenant}");
        }
        assert!(folder.path().join("lake/files/a/0af1").is_file());
        files.delete("a", "0af1").await.unwrap();
        files.delete("a", "0af1").await.unwrap();
        assert_eq!(files.size("a", "0af1").await.unwrap(), None);
        assert_eq!(read(&files, "a", "0af1").await, None);
        assert_eq!(files.size("b", "0af1").await.unwrap(), Some(2));
    }
}
