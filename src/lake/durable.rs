//! A local store whose writes are on the disk when they return.
//!
//! `LocalFileSystem` leaves written files in the page cache. The journal is purged behind a flush, so a flush must
//! survive a power cut: each file is synced, and the folders up to the root for its name. object_store 0.13, which the
//! Delta crates take, has no setting for that.

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
    UploadPart,
};
use std::path::PathBuf;
use std::sync::Arc;

/// `LocalFileSystem` with an fsync after each write.
#[derive(Debug)]
pub struct DurableLocal {
    inner: LocalFileSystem,
    root: PathBuf,
}

impl DurableLocal {
    /// The whole file system, as the Delta log's reader wants it; folders are synced up to `root`.
    pub fn new(root: PathBuf) -> Self {
        Self { inner: LocalFileSystem::new(), root }
    }

    async fn sync(&self, location: &Path) -> Result<()> {
        sync_up(self.root.clone(), self.inner.path_to_filesystem(location)?).await
    }
}

/// Syncs `file` and every folder from it up to `root`.
async fn sync_up(root: PathBuf, file: PathBuf) -> Result<()> {
    let synced = tokio::task::spawn_blocking(move || {
        std::fs::File::open(&file)?.sync_all()?;
        let mut folder = file.parent();
        while let Some(at) = folder.filter(|at| at.starts_with(&root)) {
            std::fs::File::open(at)?.sync_all()?;
            folder = at.parent();
        }
        std::io::Result::Ok(())
    });
    let result = synced.await.map_err(|e| Error::Generic { store: "local", source: Box::new(e) })?;
    result.map_err(|e| Error::Generic { store: "local", source: Box::new(e) })
}

impl std::fmt::Display for DurableLocal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DurableLocal({})", self.root.display())
    }
}

#[async_trait]
impl ObjectStore for DurableLocal {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let created = matches!(opts.mode, PutMode::Create);
        let put = self.inner.put_opts(location, payload, opts).await?;
        let synced = self.sync(location).await;
        if synced.is_err() && created {
            // What may not last must not be found: a commit that can be read back counts as made.
            let _ = self.inner.delete(location).await;
        }
        synced.map(|()| put)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        let file = self.inner.path_to_filesystem(location)?;
        Ok(Box::new(DurableUpload { inner, root: self.root.clone(), file }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await?;
        self.sync(to).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await?;
        self.sync(to).await
    }
}

/// An upload in parts that is synced when it is complete.
#[derive(Debug)]
struct DurableUpload {
    inner: Box<dyn MultipartUpload>,
    root: PathBuf,
    file: PathBuf,
}

#[async_trait]
impl MultipartUpload for DurableUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let put = self.inner.complete().await?;
        sync_up(self.root.clone(), self.file.clone()).await?;
        Ok(put)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

/// The store as the shared handle that tables take.
pub fn open(root: PathBuf) -> Arc<dyn ObjectStore> {
    Arc::new(DurableLocal::new(root))
}

/// Deletes what writes that a crash cut short have left below `root`: the local store writes to `<name>#<number>`, which
/// no listing shows, and renames it when it is whole. Nothing may be writing when this is called.
pub fn remove_unfinished(root: &std::path::Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_unfinished(&entry.path())?;
        } else if is_unfinished(&entry.file_name().to_string_lossy()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Makes durable what a killed server may have left of its last commit in the page cache alone. A commit that is read
/// counts as made, and the journal is purged behind it. Older entries were synced before a newer one was begun.
pub fn sync_logs(root: &std::path::Path) -> std::io::Result<()> {
    let sync = |path: &std::path::Path| std::fs::File::open(path)?.sync_all();
    for table in std::fs::read_dir(root)? {
        let table = table?.path();
        let log = table.join("_delta_log");
        if log.is_dir() {
            newest(&log)?.iter().try_for_each(|file| sync(file))?;
            sync(&log)?;
            sync(&table)?;
        }
    }
    sync(root)
}

/// The last commit, the last checkpoint, and what points to it.
fn newest(log: &std::path::Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut commit, mut checkpoint, mut pointer) = (None, None, None);
    for entry in std::fs::read_dir(log)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        // Versions have leading zeros: the last name is the newest.
        if name.ends_with(".json") {
            commit = commit.max(Some(path));
        } else if name.ends_with(".parquet") {
            checkpoint = checkpoint.max(Some(path));
        } else if name == "_last_checkpoint" {
            pointer = Some(path);
        }
    }
    Ok([commit, checkpoint, pointer].into_iter().flatten().collect())
}

fn is_unfinished(name: &str) -> bool {
    name.rsplit_once('#').is_some_and(|(name, number)| {
        let ours =
            name.ends_with(".parquet") || name.ends_with(".json") || name.ends_with("_last_checkpoint");
        ours && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::store::LakeStore;
    use super::*;

    const LAST: [&str; 3] =
        ["00000000000000000011.json", "00000000000000000010.checkpoint.parquet", "_last_checkpoint"];

    #[test]
    fn what_was_committed_last_is_synced() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("spans/_delta_log");
        std::fs::create_dir_all(&log).unwrap();
        std::fs::create_dir(folder.path().join("no table")).unwrap();
        assert!(newest(&log).unwrap().is_empty());
        let before = ["00000000000000000009.json", "00000000000000000005.checkpoint.parquet"];
        for name in LAST.iter().chain(&before) {
            std::fs::write(log.join(name), "x").unwrap();
        }
        assert_eq!(newest(&log).unwrap(), LAST.map(|name| log.join(name)));
        sync_logs(folder.path()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_lake_whose_last_commit_cannot_be_synced_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("lake/spans/_delta_log");
        std::fs::create_dir_all(&log).unwrap();
        std::os::unix::fs::symlink("nowhere", log.join(LAST[0])).unwrap();
        assert!(LakeStore::open(&Config::default(), folder.path()).is_err());
        std::fs::remove_file(log.join(LAST[0])).unwrap();
        assert!(LakeStore::open(&Config::default(), folder.path()).is_ok());
    }

    #[test]
    fn what_a_crash_cut_short_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("spans/_delta_log");
        std::fs::create_dir_all(&log).unwrap();
        let (gone, stays) = (
            [folder.path().join("spans/a.parquet#1"), log.join("00000000000000000001.json#12")],
            [folder.path().join("spans/a.parquet"), folder.path().join("spans/notes#1"), log.join("x.json#")],
        );
        for file in gone.iter().chain(&stays) {
            std::fs::write(file, "x").unwrap();
        }
        remove_unfinished(folder.path()).unwrap();
        assert!(gone.iter().all(|file| !file.exists()) && stays.iter().all(|file| file.exists()));
    }
}
