//! Rows in through the journal, out through SQL.

use super::cells::{self, Row};
use super::error::LabError;
use crate::domain::id::TenantId;
use crate::domain::time::{Clock, UnixNanos};
use crate::journal::Journal;
use crate::lake::Lake;
use crate::net::Scope;
use crate::schema::batch::Made;
use crate::schema::frame::{self, Part};
use crate::sql::{Collected, Sql, Work};
use arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long a writer waits until what it wrote is visible.
const VISIBLE: Duration = Duration::from_secs(60);

/// Who changes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// Whose rows it concerns.
    pub tenant: TenantId,
    /// The name that stands in the rows.
    pub name: String,
}

/// The tables of the lab. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    /// Where rows become durable.
    pub journal: Journal,
    /// Where they become visible.
    pub lake: Arc<Lake>,
    /// What reads them.
    pub sql: Arc<Sql>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How often rows came from elsewhere.
    pub restores: Restores,
}

/// Counts how often an archive was restored, so that who keeps rows in memory knows when to read them again.
#[derive(Debug, Clone, Default)]
pub struct Restores(Arc<AtomicU64>);

impl Restores {
    /// Counts one more: its rows are visible.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many there were since the start.
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The rows of an answer.
pub struct Rows(Collected);

impl Rows {
    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        cells::rows(&self.0.batches)
    }

    /// The batches of the answer.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.0.batches
    }

    /// The whole answer.
    pub fn collected(&self) -> &Collected {
        &self.0
    }
}

impl Store {
    /// The answer to `sql`, with `values` for its `$1`, `$2` …, over the rows of `tenant`.
    ///
    /// # Errors
    /// As the endpoints of SQL: the limits of `[sql]` hold.
    pub async fn ask(&self, tenant: &str, sql: &str, values: Vec<ScalarValue>) -> Result<Rows, LabError> {
        let scope = Scope::Tenant(tenant.into());
        let work = Work::Bound(sql.to_owned(), values);
        Ok(Rows(self.sql.collect_from("lab", &scope, work, None).await?))
    }

    /// The same over the rows of all tenants, for what nobody asked for.
    ///
    /// # Errors
    /// As [`Store::ask`].
    pub async fn ask_all(&self, sql: &str, values: Vec<ScalarValue>) -> Result<Rows, LabError> {
        let work = Work::Bound(sql.to_owned(), values);
        Ok(Rows(self.sql.collect_from("lab", &Scope::All, work, None).await?))
    }

    /// Writes `parts` as one frame. When it returns they are durable, and visible to SQL.
    ///
    /// # Errors
    /// [`LabError::Limit`] for more than a frame holds, [`LabError::Later`] when the journal is full.
    pub async fn write(&self, parts: Vec<Part>) -> Result<(), LabError> {
        let encoded = tokio::task::spawn_blocking(move || frame::encode(&parts))
            .await
            .map_err(|e| LabError::Broken(e.to_string()))?;
        let (kind, payload) = encoded.map_err(|e| LabError::Broken(e.to_string()))?;
        let seq = self.journal.append(kind.0, payload).await?;
        let mut applied = self.lake.watch_applied();
        let seen = tokio::time::timeout(VISIBLE, applied.wait_for(|at| *at >= seq)).await;
        match seen {
            Ok(Ok(_)) => Ok(()),
            _ => {
                Err(LabError::Later("it is stored, and will be visible when the tables catch up".to_owned()))
            }
        }
    }

    /// What stands in rows that `who` makes now.
    pub fn made(&self, who: &Who) -> Made {
        Made { tenant: who.tenant.to_string(), at: self.now(), by: who.name.clone() }
    }

    /// The time now.
    pub fn now(&self) -> UnixNanos {
        self.clock.now()
    }
}

/// A text as a parameter of a query.
pub fn text(value: &str) -> ScalarValue {
    ScalarValue::Utf8(Some(value.to_owned()))
}

/// An integer as a parameter of a query.
pub fn int(value: i64) -> ScalarValue {
    ScalarValue::Int64(Some(value))
}

/// A moment as a parameter of a query.
pub fn moment(at: UnixNanos) -> ScalarValue {
    ScalarValue::TimestampMicrosecond(Some(at.micros()), Some("UTC".into()))
}
