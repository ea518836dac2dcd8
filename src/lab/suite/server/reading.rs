//! Suites as they are stored.

use super::super::load::Suite;
use super::content::{StoredCheck, StoredTest, suite_of};
use crate::domain::time::UnixNanos;
use crate::lab::cells::Row;
use crate::lab::dataset::Reference;
use crate::lab::error::LabError;
use crate::lab::store::{Store, int, text};
use crate::schema::batch::{Made, SuiteRow};
use serde::Serialize;
use serde_json::Value as Json;

/// A revision of a suite as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuiteHead {
    /// The suite.
    pub suite_id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: i64,
    /// Whether it was edited since that version.
    pub draft: bool,
    /// Counts its edits.
    pub revision: i64,
    /// What made it.
    pub change: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many tests it has.
    pub tests: i64,
    /// How many checks they have.
    pub checks: i64,
    /// The hash of what it says.
    pub content_hash: String,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Json>,
    /// Why it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When, RFC 3339 in UTC.
    pub created_at: String,
    /// By whom.
    pub created_by: String,
    /// The row.
    #[serde(skip)]
    pub row: SuiteRow,
}

impl SuiteHead {
    fn of(row: Row<'_>) -> Self {
        let micros = row.micros("created_at").unwrap_or_default();
        let stored = SuiteRow {
            suite_id: row.text("suite_id"),
            revision: row.int("revision").unwrap_or_default(),
            version: row.int("version").unwrap_or_default(),
            draft: row.flag("draft").unwrap_or_default(),
            change: row.text("change"),
            name: row.text("name"),
            description: row.may("description"),
            spec: row.text("spec"),
            dataset_id: row.text("dataset_id"),
            dataset_version: row.int("dataset_version").unwrap_or_default(),
            tests: row.int("tests").unwrap_or_default(),
            checks: row.int("checks").unwrap_or_default(),
            content_hash: row.text("content_hash"),
            source: row.may("source"),
            message: row.may("message"),
            made: Made {
                tenant: row.text("tenant"),
                at: UnixNanos(micros.saturating_mul(1_000)),
                by: row.text("created_by"),
            },
        };
        let at = chrono::DateTime::from_timestamp_micros(micros);
        Self {
            suite_id: stored.suite_id.clone(),
            name: stored.name.clone(),
            version: stored.version,
            draft: stored.draft,
            revision: stored.revision,
            change: stored.change.clone(),
            description: stored.description.clone(),
            tests: stored.tests,
            checks: stored.checks,
            content_hash: stored.content_hash.clone(),
            source: stored.source.as_deref().and_then(|text| serde_json::from_str(text).ok()),
            message: stored.message.clone(),
            created_at: at
                .map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
                .unwrap_or_default(),
            created_by: stored.made.by.clone(),
            row: stored,
        }
    }

    /// Its name and version, as a person writes it.
    pub fn at(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// The newest revisions of the suites whose names come after `after`, by name.
///
/// # Errors
/// The limits of queries.
pub async fn list(store: &Store, tenant: &str, after: &str, limit: i64) -> Result<Vec<SuiteHead>, LabError> {
    let sql = "SELECT * FROM (SELECT DISTINCT ON (suite_id) * FROM suites WHERE name > $1 \
               ORDER BY suite_id, revision DESC, version DESC) ORDER BY name LIMIT $2";
    let rows = store.ask(tenant, sql, vec![text(after), int(limit)]).await?;
    Ok(rows.iter().map(SuiteHead::of).collect())
}

/// The newest revision of the suite of that name, if there is one.
///
/// # Errors
/// The limits of queries.
pub async fn newest(store: &Store, tenant: &str, name: &str) -> Result<Option<SuiteHead>, LabError> {
    let sql = "SELECT * FROM suites WHERE name = $1 ORDER BY revision DESC, version DESC LIMIT 1";
    let rows = store.ask(tenant, sql, vec![text(name)]).await?;
    Ok(rows.iter().next().map(SuiteHead::of))
}

/// The suite that `reference` names: its newest revision, or the revision that a version has.
///
/// # Errors
/// [`LabError::Missing`] if the tenant has no such suite, or the suite no such version.
pub async fn find(store: &Store, tenant: &str, reference: &Reference) -> Result<SuiteHead, LabError> {
    let name = &reference.name;
    let missing =
        || LabError::Missing(format!("there is no suite {name:?}; groundline suite list shows them"));
    let head = newest(store, tenant, name).await?.ok_or_else(missing)?;
    let Some(version) = reference.version else { return Ok(head) };
    let last = head.version;
    find_version(store, tenant, &head.suite_id, version).await?.ok_or_else(|| {
        LabError::Missing(format!("the suite {name:?} has no version {version}; the newest is {last}"))
    })
}

/// The revision that a version of a suite has, if there is such a version.
///
/// # Errors
/// The limits of queries.
pub async fn find_version(
    store: &Store,
    tenant: &str,
    suite_id: &str,
    version: i64,
) -> Result<Option<SuiteHead>, LabError> {
    let sql = "SELECT * FROM suites WHERE suite_id = $1 AND version = $2 AND NOT draft \
               ORDER BY revision DESC LIMIT 1";
    let rows = store.ask(tenant, sql, vec![text(suite_id), int(version)]).await?;
    Ok(rows.iter().next().map(SuiteHead::of))
}

/// Every revision and version of a suite, the newest first.
///
/// # Errors
/// The limits of queries.
pub async fn revisions(store: &Store, tenant: &str, suite_id: &str) -> Result<Vec<SuiteHead>, LabError> {
    let sql = "SELECT * FROM suites WHERE suite_id = $1 ORDER BY revision DESC, version DESC";
    let rows = store.ask(tenant, sql, vec![text(suite_id)]).await?;
    Ok(rows.iter().map(SuiteHead::of).collect())
}

/// Whether a revision has all its tests: none was purged.
///
/// # Errors
/// The limits of queries.
pub async fn is_whole(store: &Store, tenant: &str, head: &SuiteHead) -> Result<bool, LabError> {
    let sql = "SELECT count(*) AS tests FROM suite_tests WHERE suite_id = $1 AND revision = $2";
    let rows = store.ask(tenant, sql, vec![text(&head.suite_id), int(head.revision)]).await?;
    Ok(rows.iter().next().and_then(|row| row.int("tests")) == Some(head.tests))
}

/// The suite as it was at a revision, with all its tests and checks.
///
/// # Errors
/// [`LabError::Wrong`] when tests of it were purged: what is left is another suite.
pub async fn whole(store: &Store, tenant: &str, head: &SuiteHead) -> Result<Suite, LabError> {
    let at = || vec![text(&head.suite_id), int(head.revision)];
    let sql = "SELECT test_id, spec FROM suite_tests WHERE suite_id = $1 AND revision = $2 ORDER BY ordinal";
    let rows = store.ask(tenant, sql, at()).await?;
    let tests: Vec<StoredTest> =
        rows.iter().map(|row| StoredTest { id: row.text("test_id"), spec: row.text("spec") }).collect();
    let gone = head.tests.saturating_sub(i64::try_from(tests.len()).unwrap_or(i64::MAX));
    if gone != 0 {
        return Err(LabError::Wrong(format!(
            "{}: {gone} of its {} tests were purged: it is not what it was. Import the suite anew without them, which makes \
             the next version",
            head.at(),
            head.tests
        )));
    }
    let sql = "SELECT test_id, spec FROM suite_checks WHERE suite_id = $1 AND revision = $2 \
               ORDER BY test_id, ordinal";
    let rows = store.ask(tenant, sql, at()).await?;
    let checks: Vec<StoredCheck> =
        rows.iter().map(|row| StoredCheck { test: row.may("test_id"), spec: row.text("spec") }).collect();
    let (spec, version, name) = (head.row.spec.clone(), head.version, head.at());
    // Every expression of every check is compiled: that takes long enough to hold up other requests of this thread.
    let work = move || suite_of(&spec, version, (tests, checks), &name);
    let read = tokio::task::spawn_blocking(work).await.map_err(|e| LabError::Broken(e.to_string()))?;
    read.map_err(|faults| LabError::Wrong(faults.to_string()))
}
