//! Versions and items as they are stored.

use super::super::cells::Row;
use super::super::error::LabError;
use super::super::ids::trace_ids;
use super::super::store::{Store, int, text};
use crate::domain::id::EXPERIMENT_MARK;
use crate::schema::batch::ItemRow;
use serde::Serialize;
use std::collections::BTreeSet;
use std::str::FromStr;

/// Longest name of a dataset, bytes.
const MAX_NAME: usize = 128;

/// A dataset, and perhaps one of its versions: `refunds` or `refunds@7`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The name.
    pub name: String,
    /// The version; none for the newest.
    pub version: Option<i64>,
}

impl FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) = match text.rsplit_once('@') {
            None => (text, None),
            Some((name, version)) => {
                let number = version.strip_prefix('v').unwrap_or(version).parse::<i64>().ok();
                let wrong = || format!("{text:?}: behind @ stands a version such as 7");
                (name, Some(number.filter(|number| *number > 0).ok_or_else(wrong)?))
            }
        };
        checked_name(name)?;
        Ok(Self { name: name.to_owned(), version })
    }
}

/// `name`, if a dataset may have it.
pub fn checked_name(name: &str) -> Result<(), String> {
    let is_name = !name.is_empty() && name.len() <= MAX_NAME && !name.contains('@');
    match is_name && !name.chars().any(char::is_control) {
        true => Ok(()),
        false => {
            Err(format!("the name {name:?} must have 1 to {MAX_NAME} bytes, and no @ or control characters"))
        }
    }
}

/// A version of a dataset as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Head {
    /// The dataset.
    pub dataset_id: String,
    /// Its name.
    pub name: String,
    /// The version.
    pub version: i64,
    /// What it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_version: Option<i64>,
    /// What made it.
    pub change: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// How many items it has.
    pub items: i64,
    /// The hash of its content.
    pub content_hash: String,
    /// The JSON Schema of inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<serde_json::Value>,
    /// The JSON Schema of what is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_schema: Option<serde_json::Value>,
    /// The JSON Schema of metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_schema: Option<serde_json::Value>,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<serde_json::Value>,
    /// Why it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When, RFC 3339 in UTC.
    pub created_at: String,
    /// By whom.
    pub created_by: String,
    /// Items that it had and that were purged since; told of a version that is asked for by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub purged: Vec<String>,
}

impl Head {
    fn of(row: Row<'_>) -> Self {
        let at = row.micros("created_at").and_then(chrono::DateTime::from_timestamp_micros);
        let json = |name: &str| row.may(name).and_then(|text| serde_json::from_str(&text).ok());
        Self {
            input_schema: json("input_schema"),
            expected_schema: json("expected_schema"),
            metadata_schema: json("metadata_schema"),
            dataset_id: row.text("dataset_id"),
            name: row.text("name"),
            version: row.int("version").unwrap_or_default(),
            parent_version: row.int("parent_version"),
            change: row.text("change"),
            description: row.may("description"),
            labels: row.texts("labels"),
            items: row.int("items").unwrap_or_default(),
            content_hash: row.text("content_hash"),
            source: json("source"),
            message: row.may("message"),
            created_at: at
                .map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
                .unwrap_or_default(),
            created_by: row.text("created_by"),
            purged: Vec::new(),
        }
    }

    /// The schemas of input, expected and metadata.
    pub fn schemas(&self) -> [Option<&serde_json::Value>; 3] {
        [&self.input_schema, &self.expected_schema, &self.metadata_schema].map(Option::as_ref)
    }

    /// Whether it is put away.
    pub fn is_archived(&self) -> bool {
        self.change == "archive"
    }
}

/// The newest versions of the datasets whose names come after `after`, by name.
pub async fn list(store: &Store, tenant: &str, after: &str, limit: i64) -> Result<Vec<Head>, LabError> {
    let sql = "SELECT * FROM datasets_latest WHERE name > $1 AND change <> 'archive' ORDER BY name LIMIT $2";
    let rows = store.ask(tenant, sql, vec![text(after), int(limit)]).await?;
    Ok(rows.iter().map(Head::of).collect())
}

/// The newest version of the dataset of that name, if there is one.
pub async fn newest(store: &Store, tenant: &str, name: &str) -> Result<Option<Head>, LabError> {
    let sql = "SELECT * FROM datasets_latest WHERE name = $1 ORDER BY created_at DESC LIMIT 1";
    let rows = store.ask(tenant, sql, vec![text(name)]).await?;
    Ok(rows.iter().next().map(Head::of))
}

/// The newest version of the dataset of that id, if there is one.
///
/// # Errors
/// The limits of queries.
pub async fn find_by_id(store: &Store, tenant: &str, dataset_id: &str) -> Result<Option<Head>, LabError> {
    let sql = "SELECT * FROM datasets_latest WHERE dataset_id = $1 LIMIT 1";
    let rows = store.ask(tenant, sql, vec![text(dataset_id)]).await?;
    Ok(rows.iter().next().map(Head::of))
}

/// The version that `reference` names.
///
/// # Errors
/// [`LabError::Missing`] if the tenant has no such dataset, or the dataset no such version.
pub async fn find(store: &Store, tenant: &str, reference: &Reference) -> Result<Head, LabError> {
    let name = &reference.name;
    let missing =
        || LabError::Missing(format!("there is no dataset {name:?}; groundline dataset list shows them"));
    let head = newest(store, tenant, name).await?.ok_or_else(missing)?;
    match reference.version {
        None => Ok(head),
        Some(version) if version == head.version => Ok(head),
        Some(version) => {
            let sql = "SELECT * FROM datasets WHERE dataset_id = $1 AND version = $2 LIMIT 1";
            let rows = store.ask(tenant, sql, vec![text(&head.dataset_id), int(version)]).await?;
            let last = head.version;
            rows.iter().next().map(Head::of).ok_or_else(|| {
                LabError::Missing(format!("{name:?} has no version {version}; its versions are 1 to {last}"))
            })
        }
    }
}

/// Every version of a dataset, the newest first.
pub async fn versions(store: &Store, tenant: &str, dataset_id: &str) -> Result<Vec<Head>, LabError> {
    let sql = "SELECT * FROM datasets WHERE dataset_id = $1 ORDER BY version DESC";
    let rows = store.ask(tenant, sql, vec![text(dataset_id)]).await?;
    Ok(rows.iter().map(Head::of).collect())
}

/// What is known of a revision beside what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The item.
    pub item_id: String,
    /// The sender's id of it.
    pub external_id: Option<String>,
    /// put, delete or purge.
    pub op: String,
    /// The hash of what it said.
    pub content_hash: Option<String>,
}

/// The revisions of items of a dataset in all its versions, by the items' ids or the sender's; of all items without `ids`.
pub async fn revisions(
    store: &Store,
    tenant: &str,
    dataset_id: &str,
    ids: Option<&[String]>,
) -> Result<Vec<Revision>, LabError> {
    let mut sql =
        "SELECT DISTINCT item_id, external_id, op, content_hash FROM dataset_items WHERE dataset_id = $1"
            .to_owned();
    if let Some(ids) = ids {
        let places: Vec<String> = (0..ids.len()).map(|at| format!("${}", at + 2)).collect();
        let places = places.join(", ");
        sql.push_str(&format!(
            " AND item_id IN (SELECT item_id FROM dataset_items WHERE dataset_id = $1 \
             AND (item_id IN ({places}) OR external_id IN ({places})))"
        ));
    }
    let ids = ids.unwrap_or_default();
    let values = std::iter::once(text(dataset_id)).chain(ids.iter().map(|id| text(id))).collect();
    let rows = store.ask(tenant, &sql, values).await?;
    let revision = |row: Row<'_>| Revision {
        item_id: row.text("item_id"),
        external_id: row.may("external_id"),
        op: row.text("op"),
        content_hash: row.may("content_hash"),
    };
    Ok(rows.iter().map(revision).collect())
}

/// The traces that runs of `items` were given, of all items that the dataset ever had without `items`. Those of production that
/// a run names are not among them.
///
/// # Errors
/// The limits of queries.
pub async fn traces(
    store: &Store,
    tenant: &str,
    dataset_id: &str,
    items: Option<&BTreeSet<String>>,
) -> Result<BTreeSet<String>, LabError> {
    let (among, values): (String, Vec<_>) = match items {
        None => {
            ("SELECT item_id FROM dataset_items WHERE dataset_id = $1".to_owned(), vec![text(dataset_id)])
        }
        Some(items) => {
            let places: Vec<String> = (1..=items.len()).map(|at| format!("${at}")).collect();
            (places.join(", "), items.iter().map(|id| text(id)).collect())
        }
    };
    let sql = format!("SELECT DISTINCT run_id, attempt, trace_id FROM runs WHERE item_id IN ({among})");
    let rows = store.ask(tenant, &sql, values).await?;
    let (mark, mut traces) = (hex::encode(EXPERIMENT_MARK), BTreeSet::new());
    for row in rows.iter() {
        // Labels of a run that names a trace of production's stand under the one that it was given.
        traces.insert(trace_ids(&row.text("run_id"), row.int("attempt").unwrap_or(1)).0);
        traces.extend(row.may("trace_id").filter(|id| id.starts_with(&mark)));
    }
    Ok(traces)
}

/// Most purged items that are told.
const MAX_TOLD: i64 = 1_000;

/// The ids of the items that a dataset had at `version` and that were purged since, at most 1,000.
///
/// # Errors
/// The limits of queries.
pub async fn purged(
    store: &Store,
    tenant: &str,
    (dataset_id, version): (&str, i64),
) -> Result<Vec<String>, LabError> {
    // Where nothing ever was, as in most datasets, the newest revision of each item need not be looked for.
    let any =
        "SELECT item_id FROM dataset_items WHERE dataset_id = $1 AND version <= $2 AND op = 'purge' LIMIT 1";
    let any = store.ask(tenant, any, vec![text(dataset_id), int(version)]).await?;
    if any.iter().next().is_none() {
        return Ok(Vec::new());
    }
    let sql = format!("{} AND op = 'purge' ORDER BY item_id LIMIT $3", revisions_of("item_id", NEWEST));
    let rows = store.ask(tenant, &sql, vec![text(dataset_id), int(version), int(MAX_TOLD)]).await?;
    Ok(rows.iter().map(|row| row.text("item_id")).collect())
}

/// How many items of a version have what evaluators may need of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filled {
    /// An expected answer.
    pub expected: i64,
    /// Constraints.
    pub constraints: i64,
    /// The documents that should be retrieved.
    pub expected_documents: i64,
}

/// What the items of a dataset have at `version`.
///
/// # Errors
/// The limits of queries.
pub async fn filled(
    store: &Store,
    tenant: &str,
    (dataset_id, version): (&str, i64),
) -> Result<Filled, LabError> {
    let counted = "count(expected) AS expected, count(constraints) AS constraints, \
                   count(CASE WHEN metadata LIKE '%\"expected_documents\"%' \
                   OR metadata LIKE '%\"expected_retrieved_context\"%' THEN 1 END) AS expected_documents";
    let sql = format!("{} AND op = 'put'", revisions_of(counted, NEWEST));
    let rows = store.ask(tenant, &sql, vec![text(dataset_id), int(version)]).await?;
    let of = |row: Row<'_>| {
        let count = |name: &str| row.int(name).unwrap_or_default();
        Filled {
            expected: count("expected"),
            constraints: count("constraints"),
            expected_documents: count("expected_documents"),
        }
    };
    Ok(rows.iter().next().map(of).unwrap_or_default())
}

/// How much of the items is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Ids, places, hashes, and how they are grouped and weighed.
    Outline,
    /// Everything.
    Content,
}

/// The columns of [`Depth::Outline`].
const OUTLINE: &str = "item_id, external_id, ordinal, tags, split, weight, group_id, source_trace_id, \
     source_span_id, inclusion_probability, content_hash, op";

/// Those that come on top in [`Depth::Content`].
const CONTENT: &str = "input, expected, metadata, contexts, constraints, files";

/// Which of the items are read.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Those behind this place.
    pub after: i64,
    /// At most so many.
    pub limit: i64,
}

impl Page {
    /// All of them; the limits of queries hold.
    pub const ALL: Self = Self { after: i64::MIN, limit: i64::MAX };
}

/// Which revisions are the newest of the dataset `$1` at the version `$2`. A group of each item holds a number, where a choice by
/// whole rows would hold all that each says.
const NEWEST: &str = "SELECT item_id AS newest_id, max(version) AS newest_version FROM dataset_items \
     WHERE dataset_id = $1 AND version <= $2 GROUP BY item_id";

/// The `columns` of the revisions that `those` names; conditions may follow. What is read of others goes at once.
fn revisions_of(columns: &str, those: &str) -> String {
    format!(
        "SELECT {columns} FROM ({those}) JOIN dataset_items ON item_id = newest_id AND version = newest_version \
         WHERE dataset_id = $1 AND version <= $2"
    )
}

/// The items of a dataset as they were at `version`, in their order.
pub async fn items(
    store: &Store,
    tenant: &str,
    (dataset_id, version): (&str, i64),
    depth: Depth,
    page: Page,
) -> Result<Vec<ItemRow>, LabError> {
    let sql = items_sql(depth, page);
    let rows = store.ask(tenant, &sql, vec![text(dataset_id), int(version), int(page.after)]).await?;
    Ok(in_order(rows.iter().map(item).collect()))
}

fn items_sql(depth: Depth, page: Page) -> String {
    const ASKED: &str = "op = 'put' AND ordinal > $3";
    let columns = match depth {
        Depth::Outline => OUTLINE.to_owned(),
        Depth::Content => format!("{OUTLINE}, {CONTENT}"),
    };
    let those = match page.limit {
        i64::MAX => NEWEST.to_owned(),
        // Which items are on the page is found without their texts.
        limit => format!(
            "{} AND {ASKED} ORDER BY ordinal, item_id LIMIT {}",
            revisions_of("newest_id, newest_version", NEWEST),
            limit.max(0)
        ),
    };
    format!("{} AND {ASKED}", revisions_of(&columns, &those))
}

/// Items in their order, each once: a version that was written twice has two revisions of an item.
fn in_order(mut items: Vec<ItemRow>) -> Vec<ItemRow> {
    items.sort_by(|a, b| (a.ordinal, &a.item_id).cmp(&(b.ordinal, &b.item_id)));
    items.dedup_by(|later, first| later.item_id == first.item_id);
    items
}

/// The item of a row, as it was put.
pub fn item(row: Row<'_>) -> ItemRow {
    ItemRow {
        item_id: row.text("item_id"),
        external_id: row.may("external_id"),
        is_deleted: false,
        ordinal: row.int("ordinal").unwrap_or_default(),
        input: row.may("input"),
        expected: row.may("expected"),
        metadata: row.may("metadata"),
        contexts: row.may("contexts"),
        constraints: row.may("constraints"),
        tags: row.texts("tags"),
        split: row.may("split"),
        weight: row.number("weight"),
        group_id: row.may("group_id"),
        files: row.may("files"),
        source_trace_id: row.may("source_trace_id"),
        source_span_id: row.may("source_span_id"),
        inclusion_probability: row.number("inclusion_probability"),
        content_hash: row.may("content_hash"),
    }
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
