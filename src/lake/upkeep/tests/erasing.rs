//! Rows that are erased: what was looked for before is not read again, and nothing is missed.

use super::{World, config, ids, once, read_columns, span};
use crate::lake::{Erasure, Left, Looked};
use crate::schema::columns::Table;
use arrow::array::AsArray;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use std::sync::Arc;

/// The spans with the traces of these; as [`span`] gives them.
fn of(traces: &[i64]) -> Erasure {
    let trace = |id: &i64| span(*id, "t", 0)["trace_id"].as_str().unwrap().to_owned();
    Erasure {
        table: Table::Spans,
        tenant: "t".to_owned(),
        column: "trace_id",
        values: traces.iter().map(trace).collect(),
        left: Left::Nothing,
    }
}

#[tokio::test]
async fn what_comes_after_the_look_is_erased_and_what_was_clean_is_not_read() {
    let mut world = World::new(Arc::new(InMemory::new()), config()).await;
    world.spans(0..100, "t", 0).await;
    world.spans(100..200, "t", 0).await;
    world.spans(3..4, "other", 0).await;
    let looked = world.lake.look_for(&of(&[3])).await.unwrap();
    // A late span of the same trace, and a trace that nobody looked for.
    world.spans(1_003..1_004, "t", 0).await;
    let erased = world.lake.erase(&of(&[3, 150]), &looked).await.unwrap();
    assert_eq!((erased.rows, erased.files), (3, 3));
    assert_eq!(ids(&world.snapshot()).await, once((0..200).filter(|id| *id != 150)));
    // Where nothing was found before, a file is not even opened.
    let looked = world.lake.look_for(&of(&[7])).await.unwrap();
    let snapshot = world.snapshot();
    for file in snapshot.files.iter() {
        let read = read_columns(&snapshot.store, file, &["span_id"]).await.unwrap();
        let mut ids = read.iter().flat_map(|batch| batch.column(0).as_string::<i32>().iter().flatten());
        if ids.all(|id| id != format!("{:016x}", 7)) {
            snapshot.store.delete(&file.path).await.unwrap();
        }
    }
    assert_eq!(world.lake.erase(&of(&[7]), &looked).await.unwrap().rows, 1);
    world.lake.erase(&of(&[9]), &Looked::default()).await.unwrap_err();
}
