//! First starts at the same time, tables of older releases and of newer ones.

use super::super::manifest::Manifest;
use super::super::watched::Watched;
use super::*;
use crate::domain::time::SystemClock;
use crate::lake::{Config, Lake};
use deltalake::kernel::{DataType, PrimitiveType};
use futures::TryStreamExt;

const TABLE: Table = Table::Decisions;

/// A table with the columns of `columns`.
async fn made(lake: &LakeStore, columns: impl IntoIterator<Item = StructField>) {
    let at = lake.table(TABLE.name()).unwrap();
    let log = default_logstore(at.table, at.root, &at.url, &StorageConfig::default());
    create(&log, TABLE, &StructType::try_new(columns).unwrap()).await.unwrap();
}

fn today() -> Vec<StructField> {
    let schema: StructType = TABLE.schema().as_ref().try_into_kernel().unwrap();
    schema.fields().cloned().collect()
}

/// The columns of before there were tenants.
fn before() -> Vec<StructField> {
    today().into_iter().filter(|field| field.name() != "tenant").collect()
}

fn columns(delta: &DeltaTable) -> Vec<String> {
    delta.snapshot().unwrap().schema().fields().map(|field| field.name().clone()).collect()
}

async fn entries(store: &Arc<Watched>) -> usize {
    let log = object_store::path::Path::from("lake/decisions/_delta_log");
    store.list(Some(&log)).try_collect::<Vec<_>>().await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_pairs_of_first_starts_at_once_all_run() {
    for _ in 0..10 {
        // Of every table both put the first entry of the log at the same moment.
        let store = Arc::new(Watched::meeting_at("/00000000000000000000.json"));
        let start = |journal: u32| {
            let lake = LakeStore::over(store.clone());
            let clock = Arc::new(SystemClock);
            tokio::spawn(async move { Lake::open_in(&lake, Config::default(), clock, journal).await })
        };
        let (one, other) = tokio::join!(start(1), start(2));
        let (one, other) = (one.unwrap().unwrap(), other.unwrap().unwrap());
        let puts = store.take_calls().iter().filter(|call| call.starts_with("put ")).count();
        assert_eq!(puts, 2 * Table::ALL.len(), "both tried to make each table, and nothing else");
        assert_eq!(
            (one.1.len(), other.1.len(), entries(&store).await),
            (Table::ALL.len(), Table::ALL.len(), 1)
        );
    }
}

#[tokio::test]
async fn columns_that_came_later_are_added_once() {
    let store = Arc::new(Watched::new());
    let lake = LakeStore::over(store.clone());
    made(&lake, before()).await;
    for _ in 0..2 {
        let (delta, _) = open(&lake, TABLE).await.unwrap();
        let wanted: Vec<String> = today().iter().map(|field| field.name().clone()).collect();
        assert_eq!(columns(&delta), wanted);
        assert_eq!(entries(&store).await, 2, "one commit makes the table, one adds the column");
    }
    // What the table is stays: its identity, its name, its words.
    let (delta, _) = open(&lake, TABLE).await.unwrap();
    let metadata = delta.snapshot().unwrap().metadata();
    assert_eq!((metadata.name(), metadata.description()), (Some(TABLE.name()), Some(TABLE.doc())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_add_the_columns_at_once() {
    for _ in 0..10 {
        let store = Arc::new(Watched::meeting_at("/00000000000000000001.json"));
        let lake = LakeStore::over(store.clone());
        made(&lake, before()).await;
        let add = || {
            let lake = lake.clone();
            tokio::spawn(async move { open(&lake, TABLE).await.map(|(delta, _)| delta) })
        };
        let (one, other) = tokio::join!(add(), add());
        let (one, other) = (one.unwrap().unwrap(), other.unwrap().unwrap());
        assert_eq!((columns(&one), entries(&store).await), (columns(&other), 2));
    }
}

#[tokio::test]
async fn a_table_of_a_newer_release_is_refused_and_left_alone() {
    let store = Arc::new(Watched::new());
    let lake = LakeStore::over(store.clone());
    let newer = StructField::nullable("verdict_of_2030", DataType::Primitive(PrimitiveType::String));
    made(&lake, before().into_iter().chain([newer])).await;
    let error = Manifest::open(&lake, TABLE, 7, Arc::new(SystemClock)).await.err().unwrap();
    assert!(matches!(error, LakeError::Newer { table: "decisions", .. }), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("verdict_of_2030") && told.contains("Start that release or a newer one"), "{told}");
    assert_eq!(entries(&store).await, 1);
}

#[tokio::test]
async fn columns_that_do_not_fit_are_named() {
    let other = |field: StructField| match field.name().as_str() {
        "reason" => StructField::nullable("reason", DataType::Primitive(PrimitiveType::Long)),
        _ => field,
    };
    let tables = [
        (today().into_iter().map(other).collect::<Vec<_>>(), "decisions.reason is long"),
        (today().into_iter().filter(|f| f.name() != "rule").collect(), "decisions.rule is missing"),
    ];
    for (columns, told) in tables {
        let lake = LakeStore::over(Arc::new(Watched::new()));
        made(&lake, columns).await;
        let error = open(&lake, TABLE).await.err().unwrap().to_string();
        assert!(error.contains(told), "{error}");
    }
}
