//! Items of the stored datasets that a suite names.

use super::super::lab::{Asked, LabClient, Where};
use crate::lab::suite::{StoredItems, stored};
use clap::Args;
use std::path::{Path, PathBuf};

/// Where datasets are stored that a suite names.
#[derive(Debug, Clone, Args)]
pub struct StoredArgs {
    /// A running server with the datasets that the suite names, such as refunds@7.
    #[arg(long, conflicts_with = "data_dir")]
    url: Option<String>,
    /// A token of the server with the role query, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The data directory of a stopped server with these datasets.
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

impl StoredArgs {
    /// The items of all stored datasets that `suite` names. `NAME@latest` is the newest version.
    ///
    /// # Errors
    /// When one is not there.
    pub async fn items(&self, suite: &Path, config: Option<&Path>) -> Result<StoredItems, String> {
        let names = stored(suite);
        let place = match (&self.url, &self.data_dir) {
            _ if names.is_empty() => return Ok(StoredItems::new()),
            // What is missing then is told where the suite is read.
            (None, None) => return Ok(StoredItems::new()),
            (Some(url), _) => Where::server(url.clone(), self.token.clone()),
            (None, Some(dir)) => Where::folder(dir.clone(), config.map(Path::to_path_buf)),
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
        let path = ["datasets", &dataset, "items"];
        let answer = endpoint.ask(Asked::get(&path).with("format", "jsonl")).await;
        let bytes = answer.map_err(|refused| format!("suite.dataset {name:?}: {}", refused.error))?;
        items.insert(name, bytes);
    }
    Ok(items)
}
