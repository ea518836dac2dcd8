//! Ends that come in the same moment.

use super::*;
use crate::queue::Outcome;
use std::sync::atomic::{AtomicUsize, Ordering};

fn end(id: &str) -> End {
    let done =
        QueueEvent::Done { id: id.to_owned(), outcome: Outcome::Scored, error: None, score_version: 1 };
    End { events: vec![done], ..End::default() }
}

fn journal(folder: &std::path::Path) -> Journal {
    Journal::open(folder, crate::journal::Config::default(), crate::schema::FORMAT).unwrap()
}

/// What became of each end, written at the same time.
async fn written(together: Together, ids: &[&str]) -> Vec<bool> {
    let together = Arc::new(together);
    let all = ids.iter().map(|id| together.with_others(end(id)));
    let answers = futures::future::join_all(all).await;
    let (answers, ends): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
    let given_back: Vec<&str> = ends.iter().flat_map(|end| &end.events).map(QueueEvent::id).collect();
    assert_eq!(given_back, ids, "each gets its own end back");
    answers.into_iter().map(|answer| matches!(answer.unwrap(), Written::Yes)).collect()
}

#[tokio::test]
async fn what_ends_in_the_same_moment_is_one_frame() {
    static FRAMES: AtomicUsize = AtomicUsize::new(0);
    let counted: Encode = |rows, decisions, events| {
        FRAMES.fetch_add(1, Ordering::SeqCst);
        encoded(rows, decisions, events)
    };
    let folder = tempfile::tempdir().unwrap();
    let together = Together::new(journal(folder.path())).with_encode(counted);
    assert_eq!(written(together, &["a", "b", "c"]).await, [true; 3]);
    assert_eq!(FRAMES.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_end_that_cannot_be_written_takes_no_other_with_it() {
    let picky: Encode = |rows, decisions, events| {
        let is_bad = |event: &QueueEvent| matches!(event, QueueEvent::Done { id, .. } if id == "bad");
        if events.iter().any(is_bad) {
            return Err(FrameError::Damaged("a row that cannot be written"));
        }
        encoded(rows, decisions, events)
    };
    let folder = tempfile::tempdir().unwrap();
    let together = Together::new(journal(folder.path())).with_encode(picky);
    assert_eq!(written(together, &["a", "bad", "c"]).await, [true, false, true]);
}

/// Who was first may be given up before the moment is over.
#[tokio::test]
async fn the_others_are_written_when_the_first_one_waits_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let together = Arc::new(Together::new(journal(folder.path())));
    let first = tokio::time::timeout(Duration::ZERO, together.with_others(end("a")));
    assert!(first.await.is_err());
    assert!(matches!(together.with_others(end("b")).await.0.unwrap(), Written::Yes));
}
