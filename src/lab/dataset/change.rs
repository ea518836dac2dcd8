//! What is to be changed about a dataset, and what came of it.

use super::super::error::Fault;
use super::item::Item;
use super::plan::{Equals, Others};
use super::reading::Head;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A dataset that is to be made.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct New {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// What its items must look like.
    pub input_schema: Option<Value>,
    /// What is expected must look like this.
    pub expected_schema: Option<Value>,
    /// And the metadata like this.
    pub metadata_schema: Option<Value>,
    /// Why.
    pub message: Option<String>,
}

impl New {
    /// Its schemas, as JSON text.
    pub fn schemas(&self) -> [Option<String>; 3] {
        [&self.input_schema, &self.expected_schema, &self.metadata_schema]
            .map(|schema| schema.as_ref().map(ToString::to_string))
    }
}

/// What is to be different about a dataset, beside its items.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Edit {
    /// What inputs must look like, a JSON Schema, which the items are held against first; null takes it away.
    #[serde(deserialize_with = "given")]
    pub input_schema: Option<Value>,
    /// The same of what is expected.
    #[serde(deserialize_with = "given")]
    pub expected_schema: Option<Value>,
    /// The same of metadata.
    #[serde(deserialize_with = "given")]
    pub metadata_schema: Option<Value>,
    /// Its new name.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Words to find it by.
    pub labels: Option<Vec<String>>,
    /// Whether it is put away; it can be read as before, and any change takes it out again.
    pub archived: Option<bool>,
    /// Why.
    pub message: Option<String>,
    /// The version that this is based on.
    pub if_version: Option<i64>,
}

/// A value that is there, null included.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Edit {
    /// Whether it says something about schemas.
    pub fn has_schema(&self) -> bool {
        self.input_schema.is_some() || self.expected_schema.is_some() || self.metadata_schema.is_some()
    }

    /// The schemas of `before` after it, as JSON text.
    pub fn schemas(&self, before: &Head) -> [Option<String>; 3] {
        let mut after = before.schemas().map(|schema| schema.map(ToString::to_string));
        let given = [&self.input_schema, &self.expected_schema, &self.metadata_schema];
        for (place, given) in after.iter_mut().zip(given) {
            match given {
                None => {}
                Some(Value::Null) => *place = None,
                Some(schema) => *place = Some(schema.to_string()),
            }
        }
        after
    }
}

/// Items to put and to take out.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Change {
    /// Items to add, or to replace those that they name.
    pub put: Vec<Item>,
    /// Items to take out, by their id or the sender's.
    pub delete: Vec<String>,
    /// Why.
    pub message: Option<String>,
    /// The version that this is based on.
    pub if_version: Option<i64>,
}

/// Items to purge.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Purge {
    /// Items, by their id or the sender's; also those that were taken out before.
    pub items: Vec<String>,
    /// Every item that any version had, in the place of `items`.
    pub all: bool,
    /// Why, without what is to be forgotten: it stays.
    pub message: Option<String>,
}

/// What was purged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Purged {
    /// The dataset.
    pub dataset_id: String,
    /// The newest version now.
    pub version: i64,
    /// The ids of the items.
    pub items: Vec<String>,
    /// Files that were deleted: no other item names them.
    pub files: u64,
    /// Revisions that have lost their content.
    pub revisions: u64,
    /// Runs that are gone.
    pub runs: u64,
    /// Scores that are gone.
    pub scores: u64,
    /// Spans and log records of those runs' own traces that are gone.
    pub spans: u64,
    /// Annotations of those traces that are gone.
    pub annotations: u64,
    /// Results of checks that are gone.
    pub check_results: u64,
    /// Tests and checks of suites that are gone.
    pub suite_rows: u64,
}

/// How a file is taken.
#[derive(Debug, Clone, Default)]
pub struct Taking {
    /// What becomes of equal items.
    pub equals: Equals,
    /// What becomes of items that the file does not have.
    pub others: Others,
    /// What becomes of the good items of a file with faults.
    pub faulty: Faulty,
    /// Whether it is only tried.
    pub end: End,
    /// What becomes of a name that no dataset has.
    pub absent: Absent,
    /// Where it comes from, JSON.
    pub source: Option<Value>,
    /// Why.
    pub message: Option<String>,
    /// The version that this is based on.
    pub if_version: Option<i64>,
}

/// What becomes of the good items of a file with faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Faulty {
    /// Nothing: the file is repaired first.
    #[default]
    Nothing,
    /// They are imported.
    Partial,
}

/// How an import ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// A new version is stored.
    #[default]
    Stored,
    /// It is told what would be stored.
    Tried,
}

/// What becomes of a name that no dataset has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Absent {
    /// It is an error.
    #[default]
    Refused,
    /// A dataset of that name is made.
    Made,
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The dataset.
    pub dataset_id: String,
    /// The newest version now.
    pub version: i64,
    /// The hash of its content.
    pub content_hash: String,
    /// Items that it has.
    pub items: usize,
    /// Items that were added or changed.
    pub put: usize,
    /// Items that were taken out.
    pub deleted: usize,
    /// Items that were sent and are there like that.
    pub unchanged: usize,
    /// Items that were sent more than once.
    pub duplicates: usize,
    /// Items of a file that their system had archived, and that were left out.
    pub archived: usize,
    /// What is wrong with the items of a file that were left out.
    pub faults: Vec<Fault>,
    /// What does not match a schema that only warns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Fault>,
}

/// Items that differ between two versions.
#[derive(Debug, Default, Serialize)]
pub struct Difference {
    /// Items that the later one has and the earlier one lacks.
    pub added: Vec<Item>,
    /// Items that the earlier one has and the later one lacks.
    pub removed: Vec<Item>,
    /// Items that both have and that say something else.
    pub changed: Vec<Changed>,
}

/// An item of two versions.
#[derive(Debug, Serialize)]
pub struct Changed {
    /// The item.
    pub item_id: String,
    /// In the earlier version.
    pub before: Item,
    /// In the later version.
    pub after: Item,
}
