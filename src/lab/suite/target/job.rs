//! One question, and the ids that it is asked under.

use super::super::item::Item;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// One run of one test.
pub(super) struct Job<'a> {
    pub item: &'a Item,
    pub run_id: String,
    /// 32 hexadecimal digits.
    pub trace_id: String,
    /// 16 hexadecimal digits.
    pub span_id: String,
}

impl<'a> Job<'a> {
    pub fn new(item: &'a Item) -> Self {
        let hex = || uuid::Uuid::new_v4().simple().to_string();
        let mut span_id = hex();
        span_id.truncate(16);
        Self { item, run_id: uuid::Uuid::new_v4().to_string(), trace_id: hex(), span_id }
    }

    /// The W3C header under which spans of the application become this run's trace.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace_id, self.span_id)
    }

    /// What targets other than chat completions are sent.
    pub fn message(&self, parameters: &BTreeMap<String, Json>) -> Json {
        let spec = &self.item.spec;
        let files: Vec<Json> = spec.files.iter().map(|file| json!({"name": file, "path": file})).collect();
        json!({
            "run_id": self.run_id,
            "item_id": spec.id,
            "input": spec.input,
            "contexts": spec.contexts,
            "files": files,
            "parameters": parameters,
            "traceparent": self.traceparent(),
        })
    }
}
