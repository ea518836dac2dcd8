//! Whole rounds: what queries see while files are merged, go by age and are deleted.

use super::super::super::manifest::Manifest;
use super::super::super::watched::Watched;
use super::{HOUR, World, config, ids, once, span};
use crate::domain::time::{Clock, SECOND};
use crate::lake::config::RetentionRule;
use crate::lake::{Config, Lake, Retention};
use crate::schema::columns::Table;
use crate::units::ByteSize;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::Duration;

async fn objects(store: &Arc<InMemory>, end: &str) -> usize {
    let listed: Vec<_> = store.list(Some(&"lake/spans".into())).try_collect().await.unwrap();
    listed.iter().filter(|object| object.location.as_ref().ends_with(end)).count()
}

/// 1970, 2100, before 1970, a day a span: as many files as for clocks that are right.
#[tokio::test]
async fn wild_clocks_do_not_make_more_files() {
    let mut counts = Vec::new();
    for wild in [false, true] {
        let mut world = World::new(Arc::new(InMemory::new()), config()).await;
        let now = world.clock.now().0;
        for n in 0..32i64 {
            let start = |id: i64| match (wild, id % 4) {
                (false, _) => now,
                (_, 0) => id * 86_400 * SECOND,
                (_, 1) => 4_102_444_800 * SECOND + id * 864_000 * SECOND,
                (_, 2) => -id * 86_400 * SECOND,
                _ => now + id,
            };
            world.push((n * 5..n * 5 + 5).map(|id| span(id, "t", start(id))).collect());
            world.flush().await.unwrap();
            if n % 4 == 3 {
                assert_eq!(world.round().await, 0);
                assert!(world.files() < 12, "{} files", world.files());
            }
        }
        assert_eq!(ids(&world.snapshot()).await, once(0..160));
        counts.push(world.files());
        // When the window has passed, one file is left.
        world.clock.advance(48 * HOUR);
        world.round().await;
        assert_eq!(world.files(), 1);
        assert_eq!(ids(&world.snapshot()).await, once(0..160));
    }
    assert!(counts[1] <= counts[0] + 3, "{counts:?}");
}

#[tokio::test]
async fn the_journal_position_and_other_readers_of_the_log_stay_right() {
    let mut world = World::new(Arc::new(InMemory::new()), config()).await;
    for n in 0..9 {
        world.spans(n..n + 1, "t", n).await;
    }
    world.round().await;
    let files = world.files();
    assert!(files < 9);
    world.spans(9..10, "t", 0).await;
    let opened = Manifest::open(&world.store, Table::Spans, 7, world.clock.clone()).await.unwrap();
    assert_eq!((opened.position(), opened.files().unwrap().len()), (10, files + 1));
    let (reopened, _) = Lake::open_in(&world.store, config(), world.clock.clone(), 7).await.unwrap();
    assert_eq!(ids(&reopened.snapshot(Table::Spans)).await, once(0..10));
    // Another journal on the same bucket begins at 0.
    let other = Manifest::open(&world.store, Table::Spans, 8, world.clock.clone()).await.unwrap();
    assert_eq!(other.position(), 0);
}

#[tokio::test]
async fn files_are_deleted_late_and_never_under_a_query() {
    let store = Arc::new(InMemory::new());
    let mut world = World::new(store.clone(), config()).await;
    for n in 0..6 {
        world.spans(n * 10..n * 10 + 10, "t", n).await;
    }
    let before = world.snapshot();
    assert_eq!(before.files.len(), 6);
    world.round().await;
    assert_eq!((world.files(), objects(&store, ".parquet").await), (1, 7));
    // An orphan: put and never committed, as by a crash.
    store.put(&"lake/spans/merged-orphan.parquet".into(), "PAR1".into()).await.unwrap();
    world.clock.advance(3 * HOUR);
    world.round_with_vacuum().await;
    assert_eq!(objects(&store, ".parquet").await, 7, "the orphan goes, what the query holds stays");
    assert_eq!(ids(&before).await, once(0..60));
    drop(before);
    world.round_with_vacuum().await;
    assert_eq!(objects(&store, ".parquet").await, 1);
    assert_eq!(ids(&world.snapshot()).await, once(0..60));
}

/// The log of a table that commits for ever does not grow for ever, and is right after its head is gone.
#[tokio::test]
async fn old_entries_of_the_log_are_deleted_behind_a_checkpoint() {
    let store = Arc::new(InMemory::new());
    let mut world = World::new(store.clone(), config()).await;
    for n in 0..110 {
        world.spans(n..n + 1, "t", n).await;
    }
    let entries = objects(&store, ".json").await;
    assert!(entries > 110);
    world.round().await;
    let more = objects(&store, ".json").await - entries;
    assert!(
        (1..=2).contains(&more),
        "nothing is old yet, and the merges of a plan share a commit: {more} entries more"
    );
    world.clock.advance(3 * HOUR);
    assert_eq!(world.round_with_vacuum().await, 0);
    assert!(objects(&store, ".json").await < 20, "{} entries", objects(&store, ".json").await);
    world.spans(110..111, "t", 0).await;
    assert_eq!(ids(&world.snapshot()).await, once(0..111));
    let (reopened, _) = Lake::open_in(&world.store, config(), world.clock.clone(), 7).await.unwrap();
    assert_eq!(ids(&reopened.snapshot(Table::Spans)).await, once(0..111));
}

fn keep(max_age: Duration, rules: Vec<RetentionRule>) -> Config {
    Config { retention: Retention { max_age, max_size: ByteSize::ZERO, rules }, ..config() }
}

#[tokio::test]
async fn rows_go_by_the_servers_clock_whatever_theirs_says() {
    let mut world = World::new(Arc::new(InMemory::new()), keep(Duration::from_hours(2), Vec::new())).await;
    world.spans(0..5, "t", 0).await;
    world.spans(5..10, "t", 4_102_444_800 * SECOND).await;
    world.round().await;
    assert_eq!(ids(&world.snapshot()).await, once(0..10), "1970 does not vanish at once");
    world.clock.advance(HOUR);
    world.spans(10..15, "t", 0).await;
    world.round().await;
    assert_eq!(ids(&world.snapshot()).await, once(0..15));
    world.clock.advance(HOUR + SECOND);
    world.round().await;
    assert_eq!(ids(&world.snapshot()).await, once(10..15), "2100 does not stay for ever");
    world.clock.advance(HOUR);
    world.round().await;
    assert_eq!(world.files(), 0);
}

#[tokio::test]
async fn a_tenants_rows_go_from_files_that_others_share() {
    let rules = vec![RetentionRule {
        tenant: "trial".to_owned(),
        max_age: Some(Duration::from_hours(1)),
        ..RetentionRule::default()
    }];
    let mut world = World::new(Arc::new(InMemory::new()), keep(Duration::ZERO, rules)).await;
    let tenant = |id: i64| if id % 2 == 0 { "trial" } else { "paid" };
    for n in 0..3i64 {
        let rows = (n * 20..n * 20 + 20).map(|id| span(id, tenant(id), id));
        world.push(rows.collect());
        world.flush().await.unwrap();
    }
    world.spans(60..70, "trial", 0).await;
    world.round().await;
    assert_eq!(ids(&world.snapshot()).await, once(0..70));
    world.clock.advance(HOUR + SECOND);
    assert_eq!(world.round().await, 0);
    let paid = once((0..60).filter(|id| id % 2 == 1));
    assert_eq!(ids(&world.snapshot()).await, paid);
    // Nothing is written again for nothing.
    let files = world.snapshot().files;
    world.round().await;
    assert_eq!(world.snapshot().files, files);
}

/// A file that only a tenant has goes in a commit of its own; one that others share is written again behind it.
#[tokio::test]
async fn a_commit_that_fails_keeps_no_other_rows_from_going() {
    let rules = vec![RetentionRule {
        tenant: "trial".to_owned(),
        max_age: Some(Duration::from_hours(1)),
        ..RetentionRule::default()
    }];
    let store = Arc::new(Watched::new());
    let mut world = World::new(store.clone(), keep(Duration::ZERO, rules)).await;
    let tenant = |id: i64| if id % 2 == 0 { "trial" } else { "paid" };
    world.push((0..20).map(|id| span(id, tenant(id), id)).collect());
    world.flush().await.unwrap();
    world.spans(20..30, "trial", 0).await;
    world.clock.advance(HOUR + SECOND);
    // The table was made, and two files came.
    store.refuse("/spans/_delta_log/00000000000000000003.json");
    assert_eq!(world.round().await, 1);
    assert_eq!(ids(&world.snapshot()).await, once((0..30).filter(|id| *id >= 20 || id % 2 == 1)));
    assert_eq!(world.round().await, 0);
    assert_eq!(ids(&world.snapshot()).await, once((0..20).filter(|id| id % 2 == 1)));
}

/// The path of the first file of spans in the store.
fn first_file(world: &World) -> String {
    let first = world.snapshot().files.iter().map(|file| file.path.to_string()).min().unwrap();
    format!("lake/spans/{first}")
}

#[tokio::test]
async fn a_file_that_is_gone_keeps_no_others_from_being_merged() {
    let store = Arc::new(InMemory::new());
    let settings = Config { compact_window: Duration::from_hours(1), ..config() };
    let mut world = World::new(store.clone(), settings).await;
    for window in 0..3 {
        world.spans(window * 20..window * 20 + 10, "t", window).await;
        world.spans(window * 20 + 10..window * 20 + 20, "t", window).await;
        world.clock.advance(HOUR);
    }
    store.delete(&first_file(&world).into()).await.unwrap();
    assert_eq!(world.round().await, 1);
    assert_eq!(world.round().await, 0);
    assert_eq!(world.files(), 4, "the two of the first window, and one of each other");
}

#[tokio::test]
async fn a_start_says_which_file_it_cannot_read() {
    let store = Arc::new(InMemory::new());
    let mut world = World::new(store.clone(), config()).await;
    world.spans(0..10, "t", 0).await;
    let path = first_file(&world);
    store.put(&path.clone().into(), "no rows".into()).await.unwrap();
    let opened = Lake::open_in(&world.store, config(), world.clock.clone(), 7).await;
    let error = opened.err().unwrap().to_string();
    let name = path.rsplit('/').next().unwrap();
    assert!(error.contains(&format!("the file {name} of the table spans cannot be read")), "{error}");
}

#[tokio::test]
async fn the_oldest_rows_go_when_there_are_too_many_bytes() {
    let config = Config { compact_min_files: 64, ..config() };
    let mut world = World::new(Arc::new(InMemory::new()), config.clone()).await;
    for n in 0..10 {
        world.spans(n * 10..n * 10 + 10, "t", 100 - n).await;
        world.clock.advance(SECOND);
    }
    let bytes: u64 = world.snapshot().files.iter().map(|file| file.bytes).sum();
    let retention = Retention { max_size: ByteSize::new(bytes / 2), ..Retention::default() };
    let config = Config { retention, ..config };
    let (lake, _) = Lake::open_in(&world.store, config, world.clock.clone(), 7).await.unwrap();
    (world.upkeep, world.lake) = (super::super::run::Upkeep::new(lake.clone()), lake);
    world.round().await;
    let left = world.snapshot();
    assert!(left.files.iter().map(|file| file.bytes).sum::<u64>() <= bytes / 2);
    let first = 100 - i64::try_from(left.files.len()).unwrap() * 10;
    assert_eq!(ids(&left).await, once(first..100));
    assert!(first <= 60);
}
