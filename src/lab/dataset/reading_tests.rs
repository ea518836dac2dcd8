//! References, and which revisions of items are read.

use super::super::super::cells;
use super::*;
use crate::domain::time::UnixNanos;
use crate::lake::TableSnapshot;
use crate::net::Scope;
use crate::schema::batch::{Made, dataset_items_to_batch};
use crate::schema::columns::Table;
use crate::sql::{Config, Snapshots, Sql, Work};
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use object_store::memory::InMemory;
use std::sync::Arc;

#[test]
fn a_reference_names_a_dataset_and_perhaps_a_version() {
    let of = |text: &str| text.parse::<Reference>().map(|r| (r.name, r.version));
    assert_eq!(of("refunds"), Ok(("refunds".to_owned(), None)));
    assert_eq!(of("refunds@7"), Ok(("refunds".to_owned(), Some(7))));
    assert_eq!(of("adhoc/a b@v2"), Ok(("adhoc/a b".to_owned(), Some(2))));
    for wrong in ["", "@1", "a@0", "a@x", "a@b@1", "a\nb"] {
        assert!(of(wrong).is_err(), "{wrong:?}");
    }
}

/// The rows of a version of a dataset: what the items with these numbers say, and which end.
fn version(
    (tenant, dataset_id, version): (&str, &str, i64),
    put: impl IntoIterator<Item = i64>,
    gone: &[i64],
) -> RecordBatch {
    let item = |number: i64, is_deleted: bool| ItemRow {
        item_id: format!("i{number}"),
        // Places are in another order than ids.
        ordinal: number * 7 % 31,
        input: (!is_deleted).then(|| format!("\"{number} in {version}\"")),
        tags: vec![format!("v{version}")],
        is_deleted,
        ..ItemRow::default()
    };
    let put = put.into_iter().map(|number| item(number, false));
    let rows: Vec<ItemRow> = put.chain(gone.iter().map(|number| item(*number, true))).collect();
    let made = Made { tenant: tenant.to_owned(), at: UnixNanos(0), by: "somebody".to_owned() };
    dataset_items_to_batch(&rows, dataset_id, version, &made).unwrap()
}

/// The same when all of it was purged.
fn purged(batch: &RecordBatch) -> RecordBatch {
    let at = batch.schema().index_of("op").unwrap();
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    columns[at] = Arc::new(StringArray::from(vec!["purge"; batch.num_rows()]));
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

fn over(items: Vec<RecordBatch>) -> Sql {
    let store = Arc::new(InMemory::new());
    let snapshots: Snapshots = Arc::new(move |table: Table| TableSnapshot {
        table,
        schema: table.schema(),
        store: store.clone(),
        files: Arc::default(),
        hot: if table == Table::DatasetItems { items.clone() } else { Vec::new() },
    });
    Sql::new(snapshots, Config::default()).unwrap()
}

async fn asked(sql: &Sql, statement: String, version: i64, after: i64) -> Vec<ItemRow> {
    let work = Work::Bound(statement, vec![text("d"), int(version), int(after)]);
    let rows = sql.collect_from("lab", &Scope::Tenant("a".into()), work, None).await.unwrap();
    cells::rows(&rows.batches).map(item).collect()
}

/// The same as a choice by whole rows.
fn meant(page: Page) -> String {
    let limit = if page.limit == i64::MAX { String::new() } else { format!(" LIMIT {}", page.limit) };
    format!(
        "SELECT * FROM (SELECT DISTINCT ON (item_id) * FROM dataset_items WHERE dataset_id = $1 AND version <= $2 \
         ORDER BY item_id, version DESC) WHERE op = 'put' AND ordinal > $3 ORDER BY ordinal, item_id{limit}"
    )
}

#[tokio::test]
async fn items_are_their_newest_revisions() {
    let mine = |number: i64| ("a", "d", number);
    let sql = over(vec![
        version(mine(1), 0..30, &[]),
        version(mine(3), (0..30).filter(|number| number % 3 == 0), &[1, 2, 10]),
        version(mine(2), (0..30).filter(|number| number % 2 == 0), &[5, 7]),
        purged(&version(mine(4), [11, 12], &[])),
        version(mine(5), [2, 5], &[]),
        version(("a", "other", 5), 0..30, &[]),
        version(("b", "d", 5), 0..30, &[]),
    ]);
    for number in 0..=6 {
        let pages = [(i64::MIN, i64::MAX), (10, i64::MAX), (-1, 10), (12, 5), (40, 5), (-1, 0)];
        for page in pages.map(|(after, limit)| Page { after, limit }) {
            let whole = asked(&sql, meant(page), number, page.after).await;
            let found = asked(&sql, items_sql(Depth::Content, page), number, page.after).await;
            assert_eq!(in_order(found), whole, "version {number}, {page:?}");
            let outline = asked(&sql, items_sql(Depth::Outline, page), number, page.after).await;
            let without = |item: ItemRow| ItemRow { input: None, ..item };
            assert_eq!(in_order(outline), whole.into_iter().map(without).collect::<Vec<_>>());
        }
    }
    assert!(!items_sql(Depth::Outline, Page::ALL).contains("input"));
}

#[tokio::test]
async fn an_item_of_a_version_that_was_written_twice_is_there_once() {
    let twice = || version(("a", "d", 1), 0..9, &[]);
    let sql = over(vec![twice(), twice()]);
    let found = in_order(asked(&sql, items_sql(Depth::Content, Page::ALL), 1, i64::MIN).await);
    assert_eq!(found, asked(&sql, meant(Page::ALL), 1, i64::MIN).await);
    assert_eq!(found.len(), 9);
}
