//! How the tables' rows lie in frames: numbers, and columns by schema version.
//!
//! A frame names the version of the schema that its rows were written in. Columns are only ever added, at the end, and
//! may be NULL; so rows of an earlier version are the first columns of today's schema.

use super::columns::{Column, Table};
use arrow::datatypes::{Field, Schema, SchemaRef};
use std::sync::{Arc, LazyLock};

/// One table, as frames know it.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Its number.
    pub number: u8,
    /// All columns of today.
    pub schema: SchemaRef,
    /// The version that brought each of them.
    since: Vec<u16>,
    /// Columns that format 1 could lack, because it came to have them before there were versions.
    late: usize,
}

impl Layout {
    /// The layout of a table with these columns.
    pub fn new(number: u8, columns: &[Column], late: usize) -> Self {
        let field = |c: &Column| Field::new(c.name, c.kind.data_type(), c.nullable);
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let since = columns.iter().map(|c| c.since).collect();
        Self { number, schema: Arc::new(Schema::new(fields)), since, late }
    }

    /// Today's version.
    pub fn version(&self) -> u16 {
        self.since.iter().copied().max().unwrap_or(1)
    }

    /// How many columns rows of `version` have.
    pub fn columns_at(&self, version: u16) -> usize {
        self.since.iter().filter(|since| **since <= version).count()
    }

    /// The fewest columns that rows of format 1 have.
    pub fn fewest(&self) -> usize {
        self.columns_at(1) - self.late
    }
}

/// The tables that a reader knows, by number.
#[derive(Debug, Clone)]
pub struct Layouts(Vec<Layout>);

impl Layouts {
    /// The tables of this release.
    pub fn current() -> &'static Self {
        static CURRENT: LazyLock<Layouts> = LazyLock::new(|| {
            let late = |table| usize::from(matches!(table, Table::Decisions | Table::Annotations));
            Layouts(Table::ALL.iter().map(|t| Layout::new(t.number(), t.columns(), late(*t))).collect())
        });
        &CURRENT
    }

    /// The table with that number.
    pub fn get(&self, number: u8) -> Option<&Layout> {
        self.0.iter().find(|layout| layout.number == number)
    }

    /// These tables and `more`, which replace those of the same number.
    #[cfg(test)]
    pub(super) fn with(&self, more: Vec<Layout>) -> Self {
        let kept = self.0.iter().filter(|old| more.iter().all(|new| new.number != old.number));
        Self(kept.cloned().chain(more.clone()).collect())
    }
}
