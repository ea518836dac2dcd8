//! The object store under the tables: local disk with fsync, or S3.

use super::config::Config;
use super::durable;
use super::error::LakeError;
use super::files::LakeFiles;
use crate::journal::create_dirs;
use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path as StorePath;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, RetryConfig};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// A request to the bucket is tried again this often; the flush loop then goes on trying by itself.
const RETRIES: usize = 5;

/// No try begins later than this after the first.
const RETRY_TIME: Duration = Duration::from_secs(30);

/// The store of one lake.
#[derive(Clone)]
pub struct LakeStore {
    /// The store; its root is the bucket, or the root of the file system: the Delta log is addressed from there.
    root: Arc<dyn ObjectStore>,
    prefix: StorePath,
    url: Url,
}

/// The store and the address of one table.
pub struct TableStore {
    /// A store whose root is the table.
    pub table: Arc<dyn ObjectStore>,
    /// A store whose root is the whole bucket or file system.
    pub root: Arc<dyn ObjectStore>,
    /// The table's address.
    pub url: Url,
}

impl LakeStore {
    /// Opens the store that `config` names; the local folder is made if it is not there.
    pub fn open(config: &Config, data_dir: &Path) -> Result<Self, LakeError> {
        if config.url.is_empty() {
            let root = data_dir.join("lake");
            create_dirs(&root).map_err(|e| LakeError::Folder(root.clone(), e))?;
            let root = root.canonicalize().map_err(|e| LakeError::Folder(root.clone(), e))?;
            let url =
                Url::from_directory_path(&root).map_err(|()| LakeError::Url(root.display().to_string()))?;
            let prefix = StorePath::from_absolute_path(&root)?;
            durable::remove_unfinished(&root).map_err(|e| LakeError::Folder(root.clone(), e))?;
            durable::sync_logs(&root).map_err(|e| LakeError::Folder(root.clone(), e))?;
            return Ok(Self { root: durable::open(root), prefix, url });
        }
        let mut text = config.url.clone();
        if !text.ends_with('/') {
            text.push('/');
        }
        let url = Url::parse(&text).map_err(|_| LakeError::Url(config.url.clone()))?;
        let bucket = url.host_str().ok_or_else(|| LakeError::Url(config.url.clone()))?;
        let root: Arc<dyn ObjectStore> = Arc::new(s3(config, bucket)?);
        Ok(Self { root, prefix: StorePath::from_url_path(url.path())?, url })
    }

    /// A lake in `root`, for tests of stores that fail.
    #[cfg(test)]
    pub fn over(root: Arc<dyn ObjectStore>) -> Self {
        let url = Url::parse("memory:///lake/").expect("an address");
        Self { root, prefix: StorePath::from("lake"), url }
    }

    /// The store of the table `name`.
    pub fn table(&self, name: &str) -> Result<TableStore, LakeError> {
        let url =
            self.url.join(&format!("{name}/")).map_err(|_| LakeError::Url(format!("{}{name}", self.url)))?;
        let prefix = self.prefix.clone().join(name);
        let table: Arc<dyn ObjectStore> = Arc::new(PrefixStore::new(self.root.clone(), prefix));
        Ok(TableStore { table, root: self.root.clone(), url })
    }

    /// The files beside the tables.
    pub fn files(&self) -> LakeFiles {
        LakeFiles::new(self.root.clone(), self.prefix.clone())
    }
}

fn s3(config: &Config, bucket: &str) -> Result<object_store::aws::AmazonS3, LakeError> {
    let s3 = &config.s3;
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIME, ..RetryConfig::default() };
    // Two commits of one version must conflict, whatever the environment says.
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_allow_http(s3.allow_http)
        .with_retry(retry)
        .with_conditional_put(S3ConditionalPut::ETagMatch);
    if !s3.region.is_empty() {
        builder = builder.with_region(&s3.region);
    }
    if !s3.endpoint.is_empty() {
        builder = builder.with_endpoint(&s3.endpoint);
    }
    if !s3.access_key_id.is_empty() {
        builder = builder.with_access_key_id(&s3.access_key_id);
    }
    if !s3.secret_access_key.is_empty() {
        builder = builder.with_secret_access_key(&s3.secret_access_key);
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use object_store::{ObjectStoreExt, PutMode};

    #[tokio::test]
    async fn one_of_two_creates_of_a_commit_fails() {
        let folder = tempfile::tempdir().unwrap();
        let store = LakeStore::open(&Config::default(), folder.path()).unwrap();
        let table = store.table("spans").unwrap().table;
        let commit = StorePath::from("_delta_log/00000000000000000000.json");
        let create = |text: &'static str| {
            table.put_opts(&commit, Bytes::from_static(text.as_bytes()).into(), PutMode::Create.into())
        };
        let (one, other) = tokio::join!(create("one"), create("two"));
        let won = if one.is_ok() { "one" } else { "two" };
        let lost = one.and(other).unwrap_err();
        assert!(matches!(lost, object_store::Error::AlreadyExists { .. }), "{lost}");
        assert_eq!(table.get(&commit).await.unwrap().bytes().await.unwrap(), won);
    }
}
