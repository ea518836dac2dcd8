//! Certificates and tokens are read again when their files change.
//!
//! The files are small, so each look reads them whole and compares what they hold: times of files say too little where a
//! link is swapped or a clock steps.

use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Largest file that is read, bytes.
const MAX_FILE: u64 = 16 << 20;

type Apply = Box<dyn Fn(&[Vec<u8>]) -> Result<(), String> + Send>;

/// Files that together make one thing, and what is done with them when they change.
pub struct Source {
    what: &'static str,
    files: Vec<PathBuf>,
    seen: [u8; 32],
    apply: Apply,
}

impl Source {
    /// Reads the files and applies them.
    ///
    /// # Errors
    /// A file that cannot be read, or what `apply` says.
    pub fn load(
        what: &'static str,
        files: Vec<PathBuf>,
        apply: impl Fn(&[Vec<u8>]) -> Result<(), String> + Send + 'static,
    ) -> Result<Self, String> {
        let mut source = Self { what, files, seen: [0; 32], apply: Box::new(apply) };
        source.look()?;
        Ok(source)
    }

    /// Applies the files if they hold something else than at the last look. What cannot be applied changes nothing and is
    /// not tried again until it changes.
    fn look(&mut self) -> Result<bool, String> {
        let mut contents = Vec::with_capacity(self.files.len());
        let mut hash = Sha256::new();
        for file in &self.files {
            let bytes = read(file).map_err(|e| format!("{}: cannot be read: {e}", file.display()))?;
            hash.update(bytes.len().to_le_bytes());
            hash.update(&bytes);
            contents.push(bytes);
        }
        let now: [u8; 32] = hash.finalize().into();
        if now == self.seen {
            return Ok(false);
        }
        self.seen = now;
        (self.apply)(&contents).map(|()| true)
    }
}

fn read(file: &PathBuf) -> std::io::Result<Vec<u8>> {
    let bytes = std::fs::metadata(file)?.len();
    if bytes > MAX_FILE {
        return Err(std::io::Error::other(format!("{bytes} bytes, at most {MAX_FILE}")));
    }
    std::fs::read(file)
}

/// The loop that looks.
pub struct Reloader {
    sources: Vec<Source>,
    every: Duration,
    now: Arc<Notify>,
}

impl Reloader {
    /// Looks at `sources` `every` so long, and when [`Reloader::trigger`] is notified.
    pub fn new(sources: Vec<Source>, every: Duration) -> Self {
        for source in &sources {
            for outcome in ["ok", "failed"] {
                count(source.what, outcome, 0);
            }
        }
        Self { sources, every, now: Arc::default() }
    }

    /// Notified, it makes the loop look at once.
    pub fn trigger(&self) -> Arc<Notify> {
        self.now.clone()
    }

    /// Runs until `stop`.
    pub async fn run(mut self, stop: CancellationToken) {
        // What cannot be read is told once, not at every look.
        let mut told = vec![String::new(); self.sources.len()];
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(self.every) => {}
                () = self.now.notified() => {}
            }
            let looked = tokio::task::spawn_blocking(move || {
                let results: Vec<_> = self.sources.iter_mut().map(|s| (s.what, s.look())).collect();
                (self, results)
            });
            let Ok((back, results)) = looked.await else {
                tracing::error!("certificates and tokens are not watched any more; restart the server");
                return stop.cancelled().await;
            };
            self = back;
            for ((what, result), told) in results.into_iter().zip(&mut told) {
                tell(what, result, told);
            }
        }
    }
}

fn tell(what: &'static str, result: Result<bool, String>, told: &mut String) {
    match result {
        Ok(changed) => {
            told.clear();
            if changed {
                count(what, "ok", 1);
                tracing::info!(
                    what,
                    "the files changed; new connections and requests use what they hold now"
                );
            }
        }
        Err(error) if *told != error => {
            count(what, "failed", 1);
            tracing::error!(what, %error, "the changed files cannot be used; what was there before goes on to hold");
            *told = error;
        }
        Err(_) => {}
    }
}

fn count(what: &'static str, outcome: &'static str, by: u64) {
    metrics::counter!("groundline_reloads_total", "what" => what, "outcome" => outcome).increment(by);
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    #[test]
    fn a_change_is_applied_once_and_a_bad_one_leaves_the_old() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "1").unwrap();
        let held = Arc::new(Mutex::new(Vec::new()));
        let to = held.clone();
        let mut source = Source::load("x", vec![file.clone()], move |files| {
            let text = String::from_utf8(files[0].clone()).map_err(|e| e.to_string())?;
            let number: u32 = text.parse().map_err(|_| format!("{text} is no number"))?;
            to.lock().push(number);
            Ok(())
        })
        .unwrap();
        assert_eq!(source.look(), Ok(false));
        std::fs::write(&file, "bad").unwrap();
        assert!(source.look().is_err());
        assert_eq!(source.look(), Ok(false), "the same bad file is not tried again");
        std::fs::write(&file, "2").unwrap();
        assert_eq!(source.look(), Ok(true));
        std::fs::remove_file(&file).unwrap();
        assert!(source.look().unwrap_err().contains("cannot be read"));
        assert_eq!(*held.lock(), [1, 2]);
    }
}
