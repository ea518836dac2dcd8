//! Verdicts that a judge has given before, on the disk: the same question about the same texts is not paid for twice.
//!
//! A file a verdict, named by the hash of all that the judge was sent, but for the code of the call. What was used longest
//! ago goes when the folder is full. A damaged or lost file is a question that is asked again.

use crate::units::{ByteSize, Time};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file takes at least so much of a disk, bytes.
const BLOCK: u64 = 4_096;
/// A longer reply is not kept, bytes.
const MAX_REPLY: usize = 1 << 20;
/// What stands behind the hash in a file's name.
const SUFFIX: &str = "json";

/// Settings of the cache of judges' replies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// How much of the disk it takes at most; 0 for no cache.
    pub size: ByteSize,
    /// A verdict that is older is asked for again.
    #[serde(with = "Time")]
    pub max_age: Duration,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { size: ByteSize::ZERO, max_age: Duration::from_hours(24 * 30) }
    }
}

/// The least size that holds some verdicts.
const MIN_SIZE: u64 = 1 << 20;

impl CacheConfig {
    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let size = self.size.bytes();
        let mut faults = Vec::new();
        if size > 0 && size < MIN_SIZE {
            faults.push(
                "score.judge_cache.size is below 1MiB: it would hold nothing; 0 turns it off".to_owned(),
            );
        }
        if size > 0 && self.max_age.is_zero() {
            faults.push(
                "score.judge_cache.max_age is 0: nothing would be found; set size = 0 for no cache"
                    .to_owned(),
            );
        }
        faults
    }
}

/// A reply that was a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The reply's text.
    pub text: String,
    /// The model that wrote it.
    pub model: String,
}

/// A reply as it stands in its file.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// When it was written, seconds since 1970.
    at: u64,
    #[serde(flatten)]
    kept: Kept,
}

#[derive(Debug, Default)]
struct Index {
    /// Bytes on the disk and the last use of each hash.
    known: HashMap<String, (u64, u64)>,
    /// Hashes by their last use.
    by_use: BTreeMap<u64, String>,
    bytes: u64,
    uses: u64,
}

impl Index {
    fn used(&mut self, key: &str, bytes: u64) {
        self.remove(key);
        self.uses += 1;
        self.known.insert(key.to_owned(), (bytes, self.uses));
        self.by_use.insert(self.uses, key.to_owned());
        self.bytes += bytes;
    }

    fn remove(&mut self, key: &str) {
        if let Some((bytes, used)) = self.known.remove(key) {
            self.by_use.remove(&used);
            self.bytes -= bytes;
        }
    }

    /// Takes out what was used longest ago until `most` bytes are left.
    fn shrink(&mut self, most: u64) -> Vec<String> {
        let mut gone = Vec::new();
        while self.bytes > most
            && let Some((_, key)) = self.by_use.pop_first()
        {
            self.remove(&key);
            gone.push(key);
        }
        gone
    }
}

/// The folder of replies.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    most: u64,
    max_age: Duration,
    index: Mutex<Index>,
}

impl Cache {
    /// Opens the folder, which is made if it is not there. Blocks.
    ///
    /// # Errors
    /// When it cannot be made or read.
    pub(super) fn open(folder: &Path, config: &CacheConfig) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let Ok(about) = path.metadata() else { continue };
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            match (stem, path.extension().and_then(|suffix| suffix.to_str())) {
                (Some(key), Some(SUFFIX)) if about.is_file() => {
                    let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    found.push((changed, key.to_owned(), about.len()));
                }
                // What a crash has left of a write.
                (_, Some("part")) => drop(std::fs::remove_file(&path)),
                _ => {}
            }
        }
        found.sort();
        let mut index = Index::default();
        found.into_iter().for_each(|(_, key, bytes)| index.used(&key, bytes.max(BLOCK)));
        let most = config.size.bytes();
        let cache =
            Self { folder: folder.to_owned(), most, max_age: config.max_age, index: Mutex::new(index) };
        let gone = cache.index.lock().shrink(most);
        remove(&cache.paths(&gone));
        Ok(cache)
    }

    /// The reply that is kept under `key`, unless it is too old.
    pub(super) async fn get(&self, key: &str) -> Option<Kept> {
        let (bytes, _) = *self.index.lock().known.get(key)?;
        let read = tokio::fs::read(self.path(key)).await.ok();
        let stored = read.and_then(|read| serde_json::from_slice::<Stored>(&read).ok());
        let age = |stored: &Stored| Duration::from_secs(now().saturating_sub(stored.at));
        match stored.filter(|stored| age(stored) < self.max_age) {
            Some(stored) => {
                self.index.lock().used(key, bytes);
                Some(stored.kept)
            }
            None => {
                self.index.lock().remove(key);
                let _ = tokio::fs::remove_file(self.path(key)).await;
                None
            }
        }
    }

    /// Keeps a reply. One that cannot be written is not kept, which costs a question and nothing else.
    pub(super) async fn put(&self, key: &str, kept: Kept) {
        if kept.text.len() > MAX_REPLY {
            return;
        }
        let Ok(bytes) = serde_json::to_vec(&Stored { at: now(), kept }) else { return };
        let (path, size) = (self.path(key), u64::try_from(bytes.len()).unwrap_or(u64::MAX).max(BLOCK));
        // Another task or program may write the same.
        let part = self.folder.join(format!("{}.part", uuid::Uuid::new_v4().simple()));
        let written = match tokio::fs::write(&part, bytes).await {
            Ok(()) => tokio::fs::rename(&part, path).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::warn!(%error, folder = %self.folder.display(), "a judge's reply could not be kept");
            let _ = tokio::fs::remove_file(&part).await;
            return;
        }
        let gone = {
            let mut index = self.index.lock();
            index.used(key, size);
            index.shrink(self.most)
        };
        removed(self.paths(&gone)).await;
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(key).with_extension(SUFFIX)
    }

    fn paths(&self, keys: &[String]) -> Vec<PathBuf> {
        keys.iter().map(|key| self.path(key)).collect()
    }
}

/// Removes files. Blocks.
fn remove(paths: &[PathBuf]) {
    for path in paths {
        let _ = std::fs::remove_file(path);
    }
}

/// Removes files on another thread, also where nobody waits for it any more: they are in no index.
async fn removed(paths: Vec<PathBuf>) {
    if !paths.is_empty() {
        let _ = tokio::task::spawn_blocking(move || remove(&paths)).await;
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    fn config(size: u64, max_age: Duration) -> CacheConfig {
        CacheConfig { size: ByteSize::new(size), max_age }
    }

    fn kept(text: &str) -> Kept {
        Kept { text: text.to_owned(), model: "m".to_owned() }
    }

    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn what_is_kept_is_found_again_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made");
        let cache = Cache::open(&path, &config(MIN_SIZE, LONG)).unwrap();
        assert_eq!(cache.get("aa").await, None);
        cache.put("aa", kept("one")).await;
        assert_eq!(cache.get("aa").await, Some(kept("one")));
        std::fs::write(path.join("x.part"), "half").unwrap();
        let cache = Cache::open(&path, &config(MIN_SIZE, LONG)).unwrap();
        assert_eq!(cache.get("aa").await, Some(kept("one")));
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1, "no part is left");
        // A damaged file is nothing, and goes.
        std::fs::write(path.join("aa.json"), "{").unwrap();
        assert_eq!((cache.get("aa").await, cache.get("aa").await), (None, None));
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn what_was_used_longest_ago_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), &config(3 * BLOCK, LONG)).unwrap();
        for key in ["aa", "bb", "cc"] {
            cache.put(key, kept(key)).await;
        }
        assert!(cache.get("aa").await.is_some());
        cache.put("dd", kept("dd")).await;
        assert_eq!(cache.get("bb").await, None);
        assert!(cache.get("aa").await.is_some() && cache.get("dd").await.is_some());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        let smaller = Cache::open(folder.path(), &config(BLOCK, LONG)).unwrap();
        assert_eq!(
            (smaller.index.lock().bytes, std::fs::read_dir(folder.path()).unwrap().count()),
            (BLOCK, 1)
        );
    }

    #[tokio::test]
    async fn what_is_too_old_or_too_long_is_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), &config(MIN_SIZE, LONG)).unwrap();
        cache.put("aa", kept(&"x".repeat(MAX_REPLY + 1))).await;
        assert_eq!(cache.get("aa").await, None);
        let stored = serde_json::to_vec(&Stored { at: now() - 7_200, kept: kept("old") }).unwrap();
        std::fs::write(folder.path().join("bb.json"), stored).unwrap();
        let cache = Cache::open(folder.path(), &config(MIN_SIZE, LONG)).unwrap();
        assert_eq!(cache.get("bb").await, None);
    }

    #[test]
    fn what_goes_is_removed_on_another_thread() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("aa.json");
        std::fs::write(&file, "{}").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            // The only other thread waits meanwhile.
            let (go, waits) = std::sync::mpsc::channel::<()>();
            let busy = tokio::task::spawn_blocking(move || waits.recv().is_err());
            assert!(removed(vec![file.clone()]).now_or_never().is_none(), "others would wait for the disk");
            assert!(file.exists());
            drop(go);
            assert!(busy.await.unwrap());
            removed(vec![file.clone()]).await;
            assert!(!file.exists());
            assert!(removed(Vec::new()).now_or_never().is_some());
        });
    }

    #[test]
    fn faults_are_told() {
        assert_eq!(CacheConfig::default().faults(), Vec::<String>::new());
        assert!(config(10, LONG).faults()[0].contains("judge_cache.size"));
        assert!(config(MIN_SIZE, Duration::ZERO).faults()[0].contains("judge_cache.max_age"));
    }
}
