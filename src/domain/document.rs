//! One retrieved document, as every convention's retrieval span is brought to it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// One retrieved document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Document {
    /// The sender's id of the document or chunk.
    pub id: Option<String>,
    /// Where the document came from (URI, file name, source).
    pub uri: Option<String>,
    /// Its text; many conventions leave it out.
    pub content: Option<String>,
    /// The retriever's score, in the retriever's own scale: not 0 to 1.
    pub score: Option<f64>,
    /// Its place in the answer of the retriever, from 0.
    pub rank: Option<i32>,
    /// What else the sender said of it, a JSON object.
    pub metadata: Option<Json>,
    /// The tenant that the document belongs to, where its metadata say so.
    pub tenant: Option<String>,
}
