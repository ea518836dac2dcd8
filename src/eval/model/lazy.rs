//! What is opened when it is first asked for.

use super::error::ModelError;
use parking_lot::Mutex;
use std::sync::Arc;

/// A place for one thing. What could not be opened is tried again at the next call.
pub struct Lazy<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Lazy<T> {
    /// The thing, which `open` opens if nobody has asked before. Others wait meanwhile.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn get(&self, open: impl FnOnce() -> Result<T, ModelError>) -> Result<Arc<T>, ModelError> {
        let mut slot = self.0.lock();
        if let Some(open) = slot.as_ref() {
            return Ok(open.clone());
        }
        let opened = Arc::new(open()?);
        *slot = Some(opened.clone());
        Ok(opened)
    }
}
