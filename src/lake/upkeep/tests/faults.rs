//! A store that fails at each step in turn, before it has done what it was asked or after.

use super::{HOUR, World, config, ids, once, span};
use crate::domain::time::SECOND;
use crate::lake::config::RetentionRule;
use crate::lake::{Config, Lake, Retention};
use crate::schema::columns::Table;
use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Calls between the faults that are tried by default; no divisor of the number of calls of a round.
const STEP: i64 = 71;

/// Fails `often` calls in a row, the first of them after `calls` more.
#[derive(Debug, Default)]
struct Flaky {
    inner: InMemory,
    calls: Arc<AtomicI64>,
    often: i64,
    /// Whether the work is done and only the answer is lost.
    late: bool,
}

impl Flaky {
    fn fails(&self) -> bool {
        let left = self.calls.fetch_sub(1, Ordering::SeqCst) - 1;
        left < 0 && left >= -self.often
    }

    fn error() -> Error {
        Error::Generic { store: "flaky", source: "on purpose".into() }
    }

    fn before(&self) -> Result<bool> {
        match (self.fails(), self.late) {
            (true, false) => Err(Self::error()),
            (fails, _) => Ok(fails),
        }
    }
}

fn after<T>(fails: bool, done: Result<T>) -> Result<T> {
    if fails { done.and(Err(Flaky::error())) } else { done }
}

impl std::fmt::Display for Flaky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("flaky")
    }
}

#[async_trait]
impl ObjectStore for Flaky {
    async fn put_opts(&self, at: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let fails = self.before()?;
        after(fails, self.inner.put_opts(at, payload, options).await)
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        let fails = self.before()?;
        after(fails, self.inner.get_opts(at, options).await)
    }

    fn delete_stream(&self, at: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.before() {
            Err(error) => futures::stream::once(async { Err(error) }).boxed(),
            Ok(fails) => self.inner.delete_stream(at).map(move |done| after(fails, done)).boxed(),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.before() {
            Err(error) => futures::stream::once(async { Err(error) }).boxed(),
            Ok(fails) => self.inner.list(prefix).map(move |found| after(fails, found)).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let fails = self.before()?;
        after(fails, self.inner.copy_opts(from, to, options).await)
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        let fails = self.before()?;
        after(fails, self.inner.rename_opts(from, to, options).await)
    }
}

/// The settings of the story: a tenant's rows go after an hour.
fn settings() -> Config {
    let rule = RetentionRule {
        tenant: "trial".to_owned(),
        max_age: Some(Duration::from_hours(1)),
        ..RetentionRule::default()
    };
    let retention = Retention { rules: vec![rule], ..Retention::default() };
    Config { retention, compact_min_files: 2, ..config() }
}

/// Flush, merge, let rows go, delete, flush again, while the store fails once at the call `at`. What is visible is right
/// at every step; gives whether the story reached the failure.
async fn story(at: i64, often: i64, late: bool) -> bool {
    let calls = Arc::new(AtomicI64::new(i64::MAX));
    let store = Arc::new(Flaky { calls: calls.clone(), often, late, ..Flaky::default() });
    let mut world = World::new(store.clone(), settings()).await;
    calls.store(at, Ordering::SeqCst);
    let tenant = |id: i64| if id % 5 == 0 { "trial" } else { "paid" };
    let right = async |world: &World, what: &str, expected: &dyn Fn(i64) -> bool, to: i64| {
        let saved = calls.swap(i64::MAX, Ordering::SeqCst);
        let seen = ids(&world.snapshot()).await;
        calls.store(saved, Ordering::SeqCst);
        let wanted = once((0..to).filter(|id| expected(*id)));
        assert_eq!(seen, wanted, "call {at}, {often} times, late {late}: {what}");
    };
    let all = |_: i64| true;
    for n in 0..4i64 {
        world.push((n * 10..n * 10 + 10).map(|id| span(id, tenant(id), id)).collect());
        let _ = world.flush().await;
        right(&world, "after a flush", &all, n * 10 + 10).await;
    }
    for _ in 0..2 {
        world.round_with_vacuum().await;
        right(&world, "after a merge", &all, 40).await;
    }
    world.push((40..50).map(|id| span(id, "paid", id)).collect());
    while world.flush().await.is_err() {}
    world.clock.advance(HOUR + SECOND);
    let expected = |id: i64| id >= 40 || id % 5 != 0;
    for _ in 0..2 + often {
        world.round_with_vacuum().await;
    }
    right(&world, "after retention", &expected, 50).await;
    world.clock.advance(3 * HOUR);
    for _ in 0..2 + often {
        world.round_with_vacuum().await;
        right(&world, "after vacuum", &expected, 50).await;
    }
    world.push((50..60).map(|id| span(id, "paid", id)).collect());
    while world.flush().await.is_err() {}
    let reached = calls.swap(i64::MAX, Ordering::SeqCst) < 0;
    assert_eq!(world.round().await, 0, "call {at}: the loop goes on");
    right(&world, "at the end", &expected, 60).await;
    // What is in the store is right as well, and holds no file that nobody needs.
    world.clock.advance(3 * HOUR);
    world.round_with_vacuum().await;
    let (lake, _) = Lake::open_in(&world.store, settings(), world.clock.clone(), 7).await.unwrap();
    let snapshot = lake.snapshot(Table::Spans);
    assert_eq!(ids(&snapshot).await, once((0..60).filter(|id| expected(*id))), "call {at}, reopened");
    let listed: Vec<_> = store.inner.list(Some(&"lake/spans".into())).try_collect().await.unwrap();
    let parquet =
        |o: &&ObjectMeta| o.location.as_ref().ends_with(".parquet") && !o.location.as_ref().contains("_log");
    assert_eq!(listed.iter().filter(parquet).count(), snapshot.files.len(), "call {at}: {listed:?}");
    reached
}

/// GROUNDLINE_FAULT_STEP = 1 tries every call; by default a few that the step spreads over the story.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_nothing_is_lost_or_doubled() {
    let step = std::env::var("GROUNDLINE_FAULT_STEP").map_or(STEP, |n| n.parse().unwrap());
    let (mut at, mut stories) = (0, 0);
    loop {
        // Once, and so often in a row that the commit's answer and the look at the log both fail.
        let (often, late) = [(1, false), (1, true), (3, false), (3, true)][stories % 4];
        if !story(at, often, late).await {
            break;
        }
        stories += 1;
        at += step;
    }
    println!("{stories} faults, the last at call {at}");
    assert!(stories >= 5, "only {stories} faults were tried");
}

/// Three windows of two files each that have passed, so three merges of one plan, while the store fails from the call
/// `at` on; gives whether the round reached the failure.
async fn shared_commit(at: i64, often: i64, late: bool) -> bool {
    let calls = Arc::new(AtomicI64::new(i64::MAX));
    let store = Arc::new(Flaky { calls: calls.clone(), often, late, ..Flaky::default() });
    let settings = Config { compact_window: Duration::from_hours(1), ..config() };
    let mut world = World::new(store, settings).await;
    for window in 0..3 {
        world.spans(window * 20..window * 20 + 10, "t", window).await;
        world.spans(window * 20 + 10..window * 20 + 20, "t", window).await;
        world.clock.advance(HOUR);
    }
    calls.store(at, Ordering::SeqCst);
    world.round().await;
    let reached = calls.swap(i64::MAX, Ordering::SeqCst) < 0;
    assert_eq!(ids(&world.snapshot()).await, once(0..60), "call {at}, {often} times, late {late}");
    assert_eq!(world.round().await, 0, "call {at}: the loop goes on");
    assert_eq!((world.files(), ids(&world.snapshot()).await), (3, once(0..60)), "call {at}, late {late}");
    let (lake, _) = Lake::open_in(&world.store, config(), world.clock.clone(), 7).await.unwrap();
    let reopened = lake.snapshot(Table::Spans);
    assert_eq!((reopened.files.len(), ids(&reopened).await), (3, once(0..60)), "call {at}, reopened");
    reached
}

/// GROUNDLINE_FAULT_STEP = 1 tries every call here too; by default every third.
#[tokio::test]
async fn merges_that_share_a_commit_lose_and_double_nothing() {
    let step = if std::env::var("GROUNDLINE_FAULT_STEP").is_ok_and(|n| n == "1") { 1 } else { 3 };
    for (often, late) in [(1, false), (1, true), (3, false), (3, true)] {
        let mut at = 0;
        while shared_commit(at, often, late).await {
            at += step;
        }
        println!("{at} calls failed");
        assert!(at > 10, "only {at} calls failed");
    }
}
