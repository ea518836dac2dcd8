//! Items of the stored datasets that a suite names.

use super::super::lab::{Asked, LabClient, Where};
use super::super::trust::Trust;
use crate::lab::suite::{StoredItems, stored};
use clap::Args;
use std::path::{Path, PathBuf};

/// Where datasets are stored that a suite names.
#[derive(Debug, Clone, Args)]
pub struct StoredArgs {
    /// A running server: it has the datasets that the suite names, such as refunds@7, and test keeps its run there.
    #[arg(long, conflicts_with = "data_dir")]
    url: Option<String>,
    /// A token of the server with the role query, and lab to keep something, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// The data directory of a stopped server with these datasets.
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

impl StoredArgs {
    /// The server, or the folder of a stopped one; none if neither is named.
    pub fn place(&self, config: Option<&Path>) -> Option<Where> {
        match (&self.url, &self.data_dir) {
            (Some(url), _) => Some(Where::server(url.clone(), self.token.clone(), self.trust.clone())),
            (None, Some(dir)) => Some(Where::folder(dir.clone(), config.map(Path::to_path_buf))),
            (None, None) => None,
        }
    }

    /// Whether it is a running server.
    pub fn is_server(&self) -> bool {
        self.url.is_some()
    }

    /// The items of all stored datasets that `suite` names. `NAME@latest` is the newest version.
    ///
    /// # Errors
    /// When one is not there.
    pub async fn items(&self, suite: &Path, config: Option<&Path>) -> Result<StoredItems, String> {
        let names = stored(suite);
        // What is missing then is told where the suite is read.
        let Some(place) = self.place(config).filter(|_| !names.is_empty()) else {
            return Ok(StoredItems::new());
        };
        let endpoint = LabClient::open(&place).await?;
        let fetched = fetched(&endpoint, names).await;
        endpoint.close().await.and(fetched)
    }
}

async fn fetched(endpoint: &LabClient, names: Vec<String>) -> Result<StoredItems, String> {
    let mut items = StoredItems::new();
    for name in names {
        let dataset = name.strip_suffix("@latest").unwrap_or(&name).to_owned();
        let refused = |error: String| format!("suite.dataset {name:?}: {error}");
        let head = endpoint.value(Asked::get(&["datasets", &dataset])).await;
        let head = head.map_err(|told| refused(told.error))?;
        if let Some([first, more @ ..]) = head["purged"].as_array().map(Vec::as_slice) {
            let (count, version) = (more.len() + 1, &head["version"]);
            return Err(refused(format!(
                "{count} of the {} items of version {version} were purged, such as {first}: the suite would ask fewer tests \
                 and not say so. Name a later version of the dataset",
                head["items"]
            )));
        }
        let path = ["datasets", &dataset, "items"];
        let answer = endpoint.ask(Asked::get(&path).with("format", "jsonl")).await;
        let bytes = answer.map_err(|told| refused(told.error))?;
        items.insert(name, bytes);
    }
    Ok(items)
}
