//! Files of items, brought here for a target that reads them by their path.

use super::client::{Asked, LabClient, Refused};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Files that are here as long as this is there, each once.
#[derive(Default)]
pub struct Fetched {
    folder: Option<TempDir>,
}

impl Fetched {
    /// Brings the files of runs here. When it returns, each has the path of its own under `path`.
    ///
    /// # Errors
    /// When the server refuses one, or it cannot be written here.
    pub async fn bring(&mut self, client: &LabClient, runs: &mut [Value]) -> Result<(), Refused> {
        let files = runs.iter_mut().filter_map(|run| run.get_mut("files").and_then(Value::as_array_mut));
        for file in files.flatten().filter_map(Value::as_object_mut) {
            let text = |key: &str| file.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (sha256, name) = (text("sha256"), text("name"));
            if sha256.is_empty() || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                continue;
            }
            // What the server says is no path of ours: the name alone counts.
            let name = Path::new(&name).file_name().map_or_else(|| PathBuf::from("file"), PathBuf::from);
            let path = self.folder()?.join(&sha256).join(name);
            if !path.is_file() {
                let content = client.ask(Asked::get(&["files", &sha256])).await?;
                written(&path, &content).map_err(|e| Refused::from(format!("{}: {e}", path.display())))?;
            }
            file.insert("path".to_owned(), path.display().to_string().into());
        }
        Ok(())
    }

    fn folder(&mut self) -> Result<&Path, Refused> {
        if self.folder.is_none() {
            self.folder =
                Some(TempDir::new().map_err(|e| Refused::from(format!("a folder for files: {e}")))?);
        }
        Ok(self.folder.as_ref().map_or_else(|| Path::new("."), TempDir::path))
    }
}

fn written(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, content)
}
