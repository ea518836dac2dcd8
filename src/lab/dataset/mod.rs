//! Datasets: what an application is asked, and what it should answer.
//!
//! | file | what |
//! |---|---|
//! | `canonical` | JSON in one spelling, so that equal values have equal hashes |
//! | `attached` | files of an item |
//! | `item` | an item as JSON and as a row |
//! | `fields` | the fields of a line or row, by the names that files use |
//! | `foreign` | lines of other systems, read |
//! | `shapes` | lines of other systems, written |
//! | `packed` | a ZIP archive of a table and files |
//! | `files` | the items of a file |
//! | `plan` | what a change does to the items that are there |
//! | `export` | items as JSON lines, JSON, CSV, and for fine-tuning |
//! | `bundle` | a version as a ZIP archive |
//! | `reading` | versions and items as they are stored |
//! | `change` | what is to be changed, and what came of it |
//! | `datasets` | every change of a dataset |
//! | `kept` | files of items, stored beside the tables |
//! | `edit` | name, labels and schemas of a dataset |
//! | `schema` | what its items must look like |
//! | `purge` | items out of every version |
//! | `http` | the routes |
//!
//! ```text
//! file ─► files ─► fields ─► item ─┐
//! SQL  ─► rows  ─► fields ─► item ─┼─► plan ─► one frame: a row of `datasets`, rows of `dataset_items`
//! JSON ───────────────────► item ──┘
//! ```
//!
//! A version is the newest revision of each item up to it. Reverting writes the revisions that differ, and nothing is
//! ever rewritten but items that are purged.

mod attached;
mod bundle;
mod canonical;
mod change;
mod datasets;
mod edit;
mod export;
mod fields;
mod files;
mod foreign;
mod http;
mod item;
mod kept;
mod packed;
mod plan;
mod purge;
mod reading;
mod schema;
mod shapes;

pub use super::texts::{expected_text, text_of};
pub use attached::Attached;
pub(in crate::lab) use attached::{hashes as file_hashes, of_column as files_of};
pub(in crate::lab) use canonical::hash_of_all;
pub use change::{Absent, Change, Edit, End, Faulty, New, Outcome, Purge, Purged, Taking};
pub(in crate::lab) use datasets::redact_json;
pub use datasets::{Datasets, Redact};
pub use export::ExportFormat;
pub use fields::Mapping;
pub use files::Import;
pub use http::{DatasetEndpoint, dataset_router};
pub use item::Item;
pub use plan::{Equals, Others};
pub(in crate::lab) use reading::{Filled, filled};
pub use reading::{Head, Reference, find};
pub(in crate::lab) use reading::{checked_name, find_by_id, item as item_row, newest as find_or_none};
