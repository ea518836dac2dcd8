//! Which objects are deleted.
//!
//! An object goes when no version of the table has had it for `vacuum_after`: files that a commit has removed, counted
//! from the commit, and files that never were in one, counted from their writing. What a query of this process still
//! reads stays, however long it takes.

use object_store::path::Path;
use std::collections::{HashMap, HashSet};

/// An object of the table's folder.
#[derive(Debug, Clone)]
pub struct Object {
    /// Its path in the table.
    pub path: Path,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was written, milliseconds since 1970.
    pub written: i64,
}

/// What the log says of files, read after the objects were listed: a file that was listed before its commit is then
/// among the active ones.
pub struct Log {
    /// The files of the newest version.
    pub active: HashSet<Path>,
    /// Files that were removed, with the time, milliseconds since 1970.
    pub removed: HashMap<Path, i64>,
    /// Files that queries of this process may read.
    pub pinned: HashSet<Path>,
}

/// The objects to delete at `now`; both times are milliseconds.
pub fn plan<'a>(objects: &'a [Object], log: &Log, now: i64, after: i64) -> Vec<&'a Object> {
    let is_needless = |object: &&Object| {
        let since = log.removed.get(&object.path).copied().unwrap_or(object.written);
        is_data(&object.path)
            && !log.active.contains(&object.path)
            && !log.pinned.contains(&object.path)
            && now.saturating_sub(since) > after
    };
    objects.iter().filter(is_needless).collect()
}

/// The entries of the Delta log to delete: those before the newest checkpoint that was written at `cutoff` or earlier.
/// Whoever has read the log since then needs none of them.
pub fn plan_log(objects: &[Object], cutoff: i64) -> Vec<&Object> {
    let entries: Vec<(u64, bool, &Object)> = objects.iter().filter_map(entry).collect();
    let old = entries.iter().filter(|(_, is_checkpoint, object)| *is_checkpoint && object.written <= cutoff);
    let Some(checkpoint) = old.map(|(version, ..)| *version).max() else { return Vec::new() };
    entries.into_iter().filter(|(version, ..)| *version < checkpoint).map(|(.., object)| object).collect()
}

/// The version of a commit or a checkpoint of one file, and which of the two it is.
fn entry(object: &Object) -> Option<(u64, bool, &Object)> {
    let (version, kind) = object.path.as_ref().strip_prefix("_delta_log/")?.split_once('.')?;
    let version = (version.len() == 20).then(|| version.parse().ok())??;
    match kind {
        "json" => Some((version, false, object)),
        "checkpoint.parquet" => Some((version, true, object)),
        _ => None,
    }
}

/// Only what looks like a data file of ours is ever deleted: not the log, and no folder of somebody else.
fn is_data(path: &Path) -> bool {
    path.parts().count() == 1 && path.as_ref().ends_with(".parquet")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_data_files_that_nobody_has_are_deleted() {
        let object = |path: &str, written| Object { path: path.into(), bytes: 1, written };
        let objects = [
            object("active.parquet", 0),
            object("removed-long-ago.parquet", 0),
            object("removed-just-now.parquet", 0),
            object("read-by-a-query.parquet", 0),
            object("orphan.parquet", 0),
            object("being-committed.parquet", 950),
            object("_delta_log/00000000000000000100.checkpoint.parquet", 0),
            object("somebody/else.parquet", 0),
            object("notes.txt", 0),
        ];
        let removed = [("removed-long-ago.parquet", 800), ("removed-just-now.parquet", 950)];
        let log = Log {
            active: HashSet::from(["active.parquet".into()]),
            removed: removed.map(|(path, at)| (path.into(), at)).into(),
            pinned: HashSet::from(["read-by-a-query.parquet".into()]),
        };
        let gone: Vec<&str> = plan(&objects, &log, 1_000, 100).iter().map(|o| o.path.as_ref()).collect();
        assert_eq!(gone, ["removed-long-ago.parquet", "orphan.parquet"]);
        assert_eq!(plan(&objects, &log, 1_000, 1_000).len(), 0);
    }

    #[test]
    fn log_entries_go_only_behind_a_checkpoint_that_is_old_itself() {
        let entry = |name: &str, written| {
            let path = format!("_delta_log/{name}").into();
            Object { path, bytes: 1, written }
        };
        let mut objects: Vec<Object> =
            (0..30).map(|n: i64| entry(&format!("{n:020}.json"), n * 10)).collect();
        assert!(plan_log(&objects, 1_000).is_empty(), "there is no checkpoint");
        for n in [9, 19] {
            objects.push(entry(&format!("{n:020}.checkpoint.parquet"), n * 10 + 1));
        }
        objects.push(entry("_last_checkpoint", 0));
        objects.push(entry("somebody.json", 0));
        assert!(plan_log(&objects, 90).is_empty(), "the checkpoint is not old enough");
        let names = |gone: Vec<&Object>| gone.iter().map(|o| o.path.to_string()).collect::<Vec<_>>();
        assert_eq!(names(plan_log(&objects, 100)), names(objects[..9].iter().collect()));
        // The checkpoint before the one that stands for all goes as well.
        assert_eq!(plan_log(&objects, 10_000).len(), 19 + 1);
    }
}
