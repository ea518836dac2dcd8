//! One snapshot for the statements of a transaction that asks for it.
//!
//! A transaction reads one snapshot if it is REPEATABLE READ, SERIALIZABLE or READ ONLY; otherwise each statement reads its
//! own, as READ COMMITTED means. A table enters the snapshot when it is first read. Files and rows of a snapshot are held
//! for as long as it is kept, so that is bounded.

use super::rows::{error, hinted};
use crate::net::Scope;
use crate::sql::tables::QuerySnapshots;
use datafusion::sql::sqlparser::ast::{TransactionAccessMode, TransactionIsolationLevel, TransactionMode};
use parking_lot::Mutex;
use pgwire::api::ClientInfo;
use pgwire::error::PgWireResult;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long a transaction keeps its snapshot.
const MAX_AGE: Duration = Duration::from_secs(300);

/// The setting that tells the isolation of this transaction.
const ISOLATION: &str = "transaction_isolation";

/// The setting that tells that of transactions that do not say it.
const DEFAULT_ISOLATION: &str = "default_transaction_isolation";

/// What a transaction asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Each statement its own snapshot.
    Each,
    /// One, or a newer one when that was kept for too long.
    ReadOnly,
    /// One, or an error.
    Repeatable,
}

#[derive(Default)]
enum State {
    #[default]
    Each,
    /// Nothing was read yet.
    Asked(Asked),
    Taken(Asked, Arc<QuerySnapshots>),
    /// It was kept for too long.
    TooOld,
}

/// The snapshot of a connection's transaction.
#[derive(Default)]
struct Kept(Mutex<State>);

impl Kept {
    /// Lets go of `snapshots`, if they are still kept.
    fn expire(&self, snapshots: &Weak<QuerySnapshots>) {
        let mut state = self.0.lock();
        if let State::Taken(asked, kept) = &*state
            && std::ptr::eq(Arc::as_ptr(kept), snapshots.as_ptr())
        {
            *state = match asked {
                Asked::Repeatable => State::TooOld,
                asked => State::Asked(*asked),
            };
        }
    }

    /// The snapshot for a statement that sees `scope`; none if it reads its own. Whether it was taken now.
    fn get(&self, scope: &Scope) -> PgWireResult<(Option<Arc<QuerySnapshots>>, bool)> {
        let mut state = self.0.lock();
        let asked = match &*state {
            State::Each | State::Asked(Asked::Each) => return Ok((None, false)),
            State::Taken(_, kept) if kept.scope() == scope => return Ok((Some(kept.clone()), false)),
            State::TooOld => {
                let hint =
                    "End the transaction and begin another: a snapshot is kept for at most five minutes.";
                return Err(hinted("72000", "snapshot too old".to_owned(), hint));
            }
            State::Taken(asked, _) | State::Asked(asked) => *asked,
        };
        let taken = Arc::new(QuerySnapshots::new(scope.clone()));
        *state = State::Taken(asked, taken.clone());
        Ok((Some(taken), true))
    }
}

fn kept<C: ClientInfo + ?Sized>(client: &C) -> Arc<Kept> {
    client.session_extensions().get_or_insert_with(Kept::default)
}

/// Begins a transaction with `modes`.
pub fn begin<C: ClientInfo + ?Sized>(client: &mut C, modes: &[TransactionMode]) {
    let default = client.metadata().get(DEFAULT_ISOLATION).and_then(|level| of_level(level));
    *kept(client).0.lock() = default.map_or(State::Each, State::Asked);
    characterize(client, modes);
}

/// Changes the modes of a transaction that has read nothing yet.
///
/// # Errors
/// If it has.
pub fn change<C: ClientInfo + ?Sized>(client: &mut C, modes: &[TransactionMode]) -> PgWireResult<()> {
    if matches!(*kept(client).0.lock(), State::Taken(..) | State::TooOld) && isolation(modes).is_some() {
        return Err(error(
            "25001",
            "SET TRANSACTION ISOLATION LEVEL must be called before any query".to_owned(),
        ));
    }
    characterize(client, modes);
    Ok(())
}

/// What transactions of the connection ask for that do not say it themselves.
pub fn set_default<C: ClientInfo + ?Sized>(client: &mut C, modes: &[TransactionMode]) {
    if let Some(level) = isolation(modes) {
        client.metadata_mut().insert(DEFAULT_ISOLATION.to_owned(), level.to_owned());
    }
}

fn characterize<C: ClientInfo + ?Sized>(client: &mut C, modes: &[TransactionMode]) {
    if let Some(level) = isolation(modes) {
        client.metadata_mut().insert(ISOLATION.to_owned(), level.to_owned());
    }
    let is_read_only =
        |mode: &TransactionMode| matches!(mode, TransactionMode::AccessMode(TransactionAccessMode::ReadOnly));
    let asked = match isolation(modes).and_then(of_level) {
        Some(Asked::Repeatable) => Some(Asked::Repeatable),
        other if modes.iter().any(is_read_only) => {
            other.filter(|a| *a == Asked::Repeatable).or(Some(Asked::ReadOnly))
        }
        other => other,
    };
    let kept = kept(client);
    let mut state = kept.0.lock();
    match (&*state, asked) {
        // READ ONLY takes nothing from a transaction that is REPEATABLE READ already.
        (State::Asked(Asked::Repeatable), Some(Asked::ReadOnly)) | (_, None) => {}
        (State::Each | State::Asked(_), Some(asked)) => *state = State::Asked(asked),
        (State::Taken(..) | State::TooOld, _) => {}
    }
}

fn isolation(modes: &[TransactionMode]) -> Option<&'static str> {
    modes.iter().rev().find_map(|mode| match mode {
        TransactionMode::IsolationLevel(level) => Some(match level {
            TransactionIsolationLevel::ReadUncommitted => "read uncommitted",
            TransactionIsolationLevel::ReadCommitted => "read committed",
            TransactionIsolationLevel::RepeatableRead | TransactionIsolationLevel::Snapshot => {
                "repeatable read"
            }
            TransactionIsolationLevel::Serializable => "serializable",
        }),
        TransactionMode::AccessMode(_) => None,
    })
}

fn of_level(level: &str) -> Option<Asked> {
    match level.to_lowercase().as_str() {
        "repeatable read" | "serializable" => Some(Asked::Repeatable),
        "read committed" | "read uncommitted" => Some(Asked::Each),
        _ => None,
    }
}

/// Lets go of the snapshot of a transaction that ends.
pub fn end<C: ClientInfo + ?Sized>(client: &mut C) {
    *kept(client).0.lock() = State::Each;
    client.metadata_mut().remove(ISOLATION);
}

/// The snapshot that the next statement reads, with the rows of `scope`; none if it reads its own.
///
/// # Errors
/// If the transaction's was kept for too long.
pub fn snapshots<C: ClientInfo + ?Sized>(
    client: &C,
    scope: &Scope,
) -> PgWireResult<Option<Arc<QuerySnapshots>>> {
    let kept = kept(client);
    let (snapshots, is_new) = kept.get(scope)?;
    if let Some(snapshots) = snapshots.as_ref().filter(|_| is_new) {
        let (kept, snapshots) = (Arc::downgrade(&kept), Arc::downgrade(snapshots));
        tokio::spawn(async move {
            tokio::time::sleep(MAX_AGE).await;
            if let Some(kept) = kept.upgrade() {
                kept.expire(&snapshots);
            }
        });
    }
    Ok(snapshots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(asked: Asked) -> Kept {
        Kept(Mutex::new(State::Asked(asked)))
    }

    #[test]
    fn a_transaction_keeps_what_it_asks_for() {
        assert!(Kept::default().get(&Scope::All).unwrap().0.is_none());
        assert!(kept(Asked::Each).get(&Scope::All).unwrap().0.is_none());
        for asked in [Asked::ReadOnly, Asked::Repeatable] {
            let kept = kept(asked);
            let (first, is_new) = kept.get(&Scope::All).unwrap();
            let (second, again) = kept.get(&Scope::All).unwrap();
            assert!(is_new && !again && Arc::ptr_eq(&first.unwrap(), &second.unwrap()), "{asked:?}");
            let other = kept.get(&Scope::Tenant("a".into())).unwrap();
            assert!(other.1, "rows of another tenant are not in it");
        }
    }

    #[test]
    fn snapshots_are_not_kept_for_ever() {
        for asked in [Asked::ReadOnly, Asked::Repeatable] {
            let kept = kept(asked);
            let first = kept.get(&Scope::All).unwrap().0.unwrap();
            kept.expire(&Arc::downgrade(&Arc::new(QuerySnapshots::new(Scope::All))));
            assert!(!kept.get(&Scope::All).unwrap().1, "another one");
            kept.expire(&Arc::downgrade(&first));
            match asked {
                Asked::Repeatable => assert!(kept.get(&Scope::All).is_err()),
                _ => assert!(kept.get(&Scope::All).unwrap().1),
            }
        }
    }
}
