//! A local store whose writes are on the disk when they return.
//!
//! `LocalFileSystem` leaves written files in the page cache. The journal is purged behind a flush, so a flush must
//! survive a power cut: each file is synced before it gets its name, and then the folders up to the root for the name. A
//! commit whose name is there without all of its content would keep the table from being opened. object_store 0.13, which
//! the Delta crates take, has no setting for that.

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// `LocalFileSystem` with an fsync before a file has its name, and one of the name.
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

/// Does what waits for the disk off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T> {
    let ended = tokio::task::spawn_blocking(work).await;
    let result = ended.map_err(|e| Error::Generic { store: "local", source: Box::new(e) })?;
    result.map_err(|e| Error::Generic { store: "local", source: Box::new(e) })
}

/// Makes durable what is at `path`: a file's content, or a folder's names.
fn sync(path: &std::path::Path) -> std::io::Result<()> {
    std::fs::File::open(path)?.sync_all()
}

/// Syncs `file` and every folder from it up to `root`.
async fn sync_up(root: PathBuf, file: PathBuf) -> Result<()> {
    blocking(move || {
        sync(&file)?;
        sync_folders(&root, &file, sync)
    })
    .await
}

/// Syncs every folder from `file` up to `root`.
fn sync_folders(
    root: &std::path::Path,
    file: &std::path::Path,
    sync: impl FnMut(&std::path::Path) -> std::io::Result<()>,
) -> std::io::Result<()> {
    file.ancestors().skip(1).take_while(|at| at.starts_with(root)).try_for_each(sync)
}

/// Writes a file beside its place, syncs it, and only then gives it its name: a power cut leaves the name with all of the
/// content, or no name. False if the name must be new and is taken.
fn put_synced(
    root: &std::path::Path,
    file: &std::path::Path,
    payload: &PutPayload,
    is_new: bool,
    mut sync: impl FnMut(&std::path::Path) -> std::io::Result<()>,
) -> std::io::Result<bool> {
    let (mut staged, aside) = stage(file)?;
    let written = payload.iter().try_for_each(|bytes| staged.write_all(bytes));
    let named = written.and_then(|()| sync(&aside)).and_then(|()| match is_new {
        true => std::fs::hard_link(&aside, file),
        false => std::fs::rename(&aside, file),
    });
    if is_new || named.is_err() {
        // Best effort: what is left is removed at the next start.
        let _ = std::fs::remove_file(&aside);
    }
    match named {
        Err(error) if is_new && error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        named => named?,
    }
    let synced = sync_folders(root, file, sync);
    if synced.is_err() && is_new {
        // What may not last must not be found: a commit that can be read back counts as made.
        let _ = std::fs::remove_file(file);
    }
    synced.map(|()| true)
}

/// A new file beside `file`, under a name that no listing shows, as `LocalFileSystem` has them. Makes the folder if need be.
fn stage(file: &std::path::Path) -> std::io::Result<(std::fs::File, PathBuf)> {
    let mut number = 1_u64;
    loop {
        let mut aside = file.as_os_str().to_owned();
        aside.push(format!("#{number}"));
        let aside = PathBuf::from(aside);
        match (std::fs::File::create_new(&aside), file.parent()) {
            (Ok(staged), _) => return Ok((staged, aside)),
            (Err(error), _) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
                std::fs::create_dir_all(folder)?;
            }
            (Err(error), _) => return Err(error),
        }
    }
}

/// Syncs what is written beside `file` and waits for its name.
fn sync_staged(
    file: &std::path::Path,
    mut sync: impl FnMut(&std::path::Path) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Ok(()) };
    let begin = format!("{}#", name.to_string_lossy());
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(&begin) {
            continue;
        }
        match sync(&entry.path()) {
            // Another upload, which has ended meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            synced => synced?,
        }
    }
    Ok(())
}

impl std::fmt::Display for DurableLocal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DurableLocal({})", self.root.display())
    }
}

#[async_trait]
impl ObjectStore for DurableLocal {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let is_new = matches!(opts.mode, PutMode::Create);
        if matches!(opts.mode, PutMode::Update(_)) || !opts.attributes.is_empty() {
            // What no local store can do, that one says.
            return self.inner.put_opts(location, payload, opts).await;
        }
        let (root, file) = (self.root.clone(), self.inner.path_to_filesystem(location)?);
        let at = file.display().to_string();
        let put = blocking(move || {
            let put = put_synced(&root, &file, &payload, is_new, sync);
            put.map_err(|e| std::io::Error::new(e.kind(), format!("cannot write {}: {e}", file.display())))
        });
        match put.await? {
            true => Ok(PutResult { e_tag: None, version: None }),
            false => {
                let source = Box::new(std::io::Error::from(ErrorKind::AlreadyExists));
                Err(Error::AlreadyExists { path: at, source })
            }
        }
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
        let file = self.file.clone();
        blocking(move || sync_staged(&file, sync)).await?;
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
        let is_hash = name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
        let ours = is_hash
            || name.ends_with(".parquet")
            || name.ends_with(".json")
            || name.ends_with("_last_checkpoint");
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

    #[test]
    fn a_name_is_there_with_all_of_its_content_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("spans/_delta_log");
        let file = log.join(LAST[0]);
        let payload = PutPayload::from_static(b"a commit");
        // The content is synced, then three folders; the fifth sync does not come.
        for (is_new, failing) in
            [true, false].into_iter().flat_map(|new| (1..=5_u32).map(move |at| (new, at)))
        {
            let mut syncs = 0;
            let put = put_synced(folder.path(), &file, &payload, is_new, |at| {
                syncs += 1;
                assert_eq!(file.exists(), syncs > 1, "sync {syncs}");
                if syncs == 1 {
                    assert_eq!(std::fs::read(at).unwrap(), b"a commit");
                }
                if syncs == failing { Err(std::io::Error::other("on purpose")) } else { Ok(()) }
            });
            assert_eq!((put.is_ok(), syncs), (failing == 5, failing.min(4)));
            let is_there = failing == 5 || !is_new && failing > 1;
            assert_eq!(file.exists(), is_there, "new {is_new}, sync {failing} failed");
            assert_eq!(
                std::fs::read_dir(&log).unwrap().count(),
                usize::from(is_there),
                "nothing is beside it"
            );
            if is_there {
                assert!(!put_synced(folder.path(), &file, &PutPayload::new(), true, sync).unwrap());
                assert_eq!(std::fs::read(&file).unwrap(), b"a commit");
                std::fs::remove_file(&file).unwrap();
            }
        }
    }

    #[tokio::test]
    async fn an_upload_in_parts_is_synced_beside_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("spans/a.parquet");
        let asides = [stage(&file).unwrap().1, stage(&file).unwrap().1];
        stage(&folder.path().join("spans/other.parquet")).unwrap();
        let mut synced = Vec::new();
        sync_staged(&file, |at| {
            synced.push(at.to_owned());
            Ok(())
        })
        .unwrap();
        synced.sort();
        assert_eq!(synced, asides);
        assert!(asides[1].ends_with("spans/a.parquet#2"));
        let root = folder.path().canonicalize().unwrap();
        let at = Path::from_absolute_path(root.join("spans/b.parquet")).unwrap();
        let mut upload = open(root).put_multipart_opts(&at, PutMultipartOptions::default()).await.unwrap();
        upload.put_part(PutPayload::from_static(b"rows")).await.unwrap();
        upload.complete().await.unwrap();
        assert_eq!(std::fs::read(folder.path().join("spans/b.parquet")).unwrap(), b"rows");
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
        // Files beside the tables are named by their hash.
        let hash = folder.path().join("spans").join("0a".repeat(32));
        let (gone, stays) = (
            [
                folder.path().join("spans/a.parquet#1"),
                log.join("00000000000000000001.json#12"),
                folder.path().join("spans").join("0a".repeat(32) + "#1"),
            ],
            [
                folder.path().join("spans/a.parquet"),
                folder.path().join("spans/notes#1"),
                log.join("x.json#"),
                hash,
            ],
        );
        for file in gone.iter().chain(&stays) {
            std::fs::write(file, "x").unwrap();
        }
        remove_unfinished(folder.path()).unwrap();
        assert!(gone.iter().all(|file| !file.exists()) && stays.iter().all(|file| file.exists()));
    }
}
