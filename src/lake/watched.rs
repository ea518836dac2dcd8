//! A store in memory for tests: it counts what is asked of it, lets two writers of one object meet, and refuses an object.

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use parking_lot::Mutex;
use tokio::sync::Barrier;

/// The store.
#[derive(Debug)]
pub struct Watched {
    inner: InMemory,
    calls: Mutex<Vec<String>>,
    /// How the name of the object ends that two must be about to put before either does.
    meet_at: Option<&'static str>,
    barrier: Barrier,
    /// How the name of the object ends that is not put the next time.
    refused: Mutex<Option<&'static str>>,
}

impl Watched {
    /// An empty store.
    pub fn new() -> Self {
        Self {
            inner: InMemory::new(),
            calls: Mutex::default(),
            meet_at: None,
            barrier: Barrier::new(2),
            refused: Mutex::default(),
        }
    }

    /// The next put to a name that ends so fails.
    pub fn refuse(&self, end: &'static str) {
        *self.refused.lock() = Some(end);
    }

    /// What two put to a name that ends so, they put at the same time.
    pub fn meeting_at(end: &'static str) -> Self {
        Self { meet_at: Some(end), ..Self::new() }
    }

    /// The calls since the last time, as `verb name`.
    pub fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock())
    }

    fn note(&self, verb: &str, at: &str) {
        let name = at.rsplit('/').next().unwrap_or_default();
        self.calls.lock().push(format!("{verb} {name}"));
    }
}

impl std::fmt::Display for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("watched")
    }
}

#[async_trait]
impl ObjectStore for Watched {
    async fn put_opts(&self, at: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.note("put", at.as_ref());
        if self.refused.lock().take_if(|end| at.as_ref().ends_with(*end)).is_some() {
            return Err(Error::Generic { store: "watched", source: "on purpose".into() });
        }
        if self.meet_at.is_some_and(|end| at.as_ref().ends_with(end)) {
            self.barrier.wait().await;
        }
        self.inner.put_opts(at, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.note("get", at.as_ref());
        self.inner.get_opts(at, options).await
    }

    fn delete_stream(&self, at: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(at)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.note("list", prefix.map_or("", |at| at.as_ref()));
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.note("list", prefix.map_or("", |at| at.as_ref()));
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.note("list", prefix.map_or("", |at| at.as_ref()));
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}
