//! Object stores under a URL that no query can name.

use crate::schema::columns::Table;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::{ObjectStoreRegistry, ObjectStoreUrl};
use object_store::ObjectStore;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use url::Url;

const SCHEME: &str = "groundline-lake";

/// The stores of the lake's tables, and no others: not even the local disk.
///
/// A query has no way to say a URL (no external tables, no COPY, no URL tables). Should one appear, it finds no store.
#[derive(Default)]
pub struct PrivateStores {
    stores: RwLock<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl PrivateStores {
    /// The URL under which the files of `table` are read.
    ///
    /// # Errors
    /// None are expected: table names are valid host names.
    pub fn url(table: Table) -> Result<ObjectStoreUrl> {
        ObjectStoreUrl::parse(format!("{SCHEME}://{}", table.name()))
    }
}

impl fmt::Debug for PrivateStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.stores.read().keys()).finish()
    }
}

fn key(url: &Url) -> Option<String> {
    (url.scheme() == SCHEME).then(|| url.host_str().map(str::to_owned)).flatten()
}

impl ObjectStoreRegistry for PrivateStores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.stores.write().insert(key(url)?, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        key(url)
            .and_then(|key| self.stores.read().get(&key).cloned())
            .ok_or_else(|| DataFusionError::Plan("queries read tables, not files or addresses".to_owned()))
    }
}
