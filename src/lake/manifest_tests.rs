//! Commits whose answers are lost, and servers that commit at once.

use super::super::path::merged_path;
use super::super::watched::Watched;
use super::*;
use crate::domain::time::SystemClock;
use crate::lake::Config;

fn written() -> Written {
    Written { bytes: b"PAR1".to_vec(), rows: 1, min_time: Some(1), max_time: Some(2) }
}

fn filled(first: u64, last: u64) -> Filled {
    Filled { first, last, written: written() }
}

async fn open(store: &LakeStore) -> Manifest {
    Manifest::open(store, Table::Spans, 7, Arc::new(SystemClock)).await.unwrap()
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = LakeStore::open(&Config::default(), folder.path()).unwrap();
    let mut other = open(&store).await;
    // As if this one had sent the commit and never heard of it.
    let mut deaf = open(&store).await;
    let mut deafer = open(&store).await;
    other.append(vec![filled(1, 5)]).await.unwrap();
    deaf.append(vec![filled(1, 5)]).await.unwrap();
    assert_eq!((deaf.position(), deaf.files().unwrap().len()), (5, 1));
    // More rows have come meanwhile: the frames 1 to 5 must not be stored again with them.
    for _ in 0..2 {
        deafer.append(vec![filled(1, 7)]).await.unwrap_err();
    }
    deaf.append(vec![filled(6, 9)]).await.unwrap();
    let reopened = open(&store).await;
    assert_eq!((reopened.position(), reopened.files().unwrap().len()), (9, 2));
}

#[tokio::test]
async fn several_files_of_a_flush_are_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = LakeStore::open(&Config::default(), folder.path()).unwrap();
    let mut one = open(&store).await;
    let (mut deaf, before) = (open(&store).await, one.delta.version().unwrap());
    one.append(vec![filled(1, 3), filled(4, 4), filled(5, 9)]).await.unwrap();
    assert_eq!((one.position(), one.files().unwrap().len()), (9, 3));
    assert_eq!(one.delta.version().unwrap(), before + 1);
    // As if its answer had been lost, and the flush cut the rows in another way when it was tried again.
    deaf.append(vec![filled(1, 4), filled(5, 9)]).await.unwrap();
    assert_eq!((deaf.position(), deaf.files().unwrap().len()), (9, 3));
}

async fn merge(into: &mut Manifest, tag: u128, old: &HashSet<Path>) -> bool {
    let path = merged_path(Uuid::from_u128(tag));
    let new = put(&into.store, Table::Spans, path, written(), 1).await.unwrap();
    into.replace(old, &[new], Rows::Same).await.unwrap()
}

#[tokio::test]
async fn several_merges_are_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = LakeStore::open(&Config::default(), folder.path()).unwrap();
    let mut one = open(&store).await;
    for n in 1..=6 {
        one.append(vec![filled(n, n)]).await.unwrap();
    }
    let before = one.delta.version().unwrap();
    let old: HashSet<Path> = one.files().unwrap().into_iter().map(|f| f.path).collect();
    let mut new = Vec::new();
    for tag in 0..3 {
        let path = merged_path(Uuid::from_u128(tag));
        new.push(put(&one.store, Table::Spans, path, written(), 1).await.unwrap());
    }
    assert!(one.replace(&old, &new, Rows::Same).await.unwrap());
    assert_eq!(one.delta.version().unwrap(), before + 1);
    let reopened = open(&store).await;
    assert_eq!((reopened.files().unwrap().len(), reopened.position()), (3, 6));
    // Of files that are gone none can be replaced, whatever else is named with them.
    let mixed = old.into_iter().take(1).chain([merged_path(Uuid::from_u128(0))]).collect();
    assert!(!one.replace(&mixed, &[], Rows::Same).await.unwrap());
    assert_eq!(one.files().unwrap().len(), 3);
}

/// The library alone would let both succeed, and the rows would be there twice.
#[tokio::test]
async fn of_two_servers_that_merge_the_same_files_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let store = LakeStore::open(&Config::default(), folder.path()).unwrap();
    let mut one = open(&store).await;
    one.append(vec![filled(1, 1)]).await.unwrap();
    one.append(vec![filled(2, 2)]).await.unwrap();
    let mut other = open(&store).await;
    let old: HashSet<Path> = one.files().unwrap().into_iter().map(|f| f.path).collect();
    assert!(merge(&mut one, 1, &old).await);
    // Another's append does not stop a merge.
    one.append(vec![filled(3, 3)]).await.unwrap();
    assert!(!merge(&mut other, 2, &old).await);
    let paths = |m: &Manifest| m.files().unwrap().into_iter().map(|f| f.path).collect::<HashSet<_>>();
    assert_eq!((paths(&other).len(), paths(&other)), (2, paths(&one)));
    one.append(vec![filled(4, 4)]).await.unwrap();
    let old = paths(&other);
    assert!(merge(&mut other, 3, &old).await);
    let reopened = open(&store).await;
    assert_eq!((reopened.files().unwrap().len(), reopened.position()), (2, 4));
    assert_eq!(reopened.removed().await.unwrap().len(), 4);
}

/// With sixty entries since the last checkpoint, an idle refresh is one request, and news costs what is new.
#[tokio::test]
async fn a_refresh_asks_for_the_next_version_by_its_name() {
    let watched = Arc::new(Watched::new());
    let store = LakeStore::over(watched.clone());
    let mut one = open(&store).await;
    let mut other = Manifest::open(&store, Table::Spans, 8, Arc::new(SystemClock)).await.unwrap();
    for n in 1..=60 {
        other.append(vec![filled(n, n)]).await.unwrap();
    }
    one.refresh().await.unwrap();
    assert_eq!((one.files().unwrap().len(), one.position()), (60, 0));
    watched.take_calls();
    for _ in 0..39 {
        one.refresh().await.unwrap();
    }
    let calls = watched.take_calls();
    assert_eq!(calls, vec!["get 00000000000000000061.json"; 39]);

    other.append(vec![filled(61, 61)]).await.unwrap();
    watched.take_calls();
    one.refresh().await.unwrap();
    let calls = watched.take_calls();
    let known = |call: &&String| call.starts_with("get ") && ***call < *"get 00000000000000000061";
    assert_eq!(calls.iter().filter(known).count(), 0, "what is known is not read again: {calls:?}");
    assert!(calls.len() <= 6, "{calls:?}");
    assert_eq!(one.files().unwrap().len(), 61);
}

/// The journal's position comes from the entries that a refresh reads, also if its own commit's answer was lost.
#[tokio::test]
async fn a_refresh_finds_the_position_of_its_own_journal_only() {
    let store = LakeStore::over(Arc::new(Watched::new()));
    let (mut deaf, mut same) = (open(&store).await, open(&store).await);
    let mut other = Manifest::open(&store, Table::Spans, 8, Arc::new(SystemClock)).await.unwrap();
    same.append(vec![filled(1, 5)]).await.unwrap();
    other.append(vec![filled(1, 90)]).await.unwrap();
    deaf.refresh().await.unwrap();
    assert_eq!((deaf.position(), deaf.files().unwrap().len()), (5, 2));
    deaf.reload().await.unwrap();
    assert_eq!(deaf.position(), 5);
}
