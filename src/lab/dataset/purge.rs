//! A person's right to be forgotten: items out of every version, run and score, and out of the suites that have them as tests.
//!
//! What is left of an item is a tombstone in each version that had it: its id, its place, the hash of what it said, and in
//! `datasets` a version that says who purged it and when. So the hash of every version can still be explained, and nothing
//! else is known.

use super::change::{Purge, Purged};
use super::datasets::Datasets;
use super::plan::Wanted;
use super::reading::{self, Head, Revision};
use crate::lab::error::{Fault, LabError, MAX_FAULTS};
use crate::lab::store::Who;
use crate::lake::{Erasure, LakeError, Left, Looked};
use crate::schema::columns::Table;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Most items of one request.
const MAX_ITEMS: usize = 1_000;
/// What a revision says beside its id, its place and its hash.
const CONTENT: &[&str] = &[
    "external_id",
    "input",
    "expected",
    "metadata",
    "contexts",
    "constraints",
    "tags",
    "split",
    "group_id",
    "files",
    "source_trace_id",
    "source_span_id",
];

/// Whose rows under a run's own trace go with the run: what it did, and what people said of it.
const UNDER_TRACES: [Table; 5] =
    [Table::Spans, Table::LogRecords, Table::Annotations, Table::ReviewItems, Table::ReviewAnswers];

/// What is to be purged.
struct Meant {
    /// The dataset.
    head: Head,
    /// What the items said.
    revisions: Vec<Revision>,
    /// Their ids.
    items: BTreeSet<String>,
}

impl Datasets {
    /// Takes items out of every version, with their runs and scores, and files that no other item names. When it returns, no
    /// query shows their content, those files are gone, and
    /// the files that had it wait for vacuum (`lake.vacuum_after`). Purging again changes nothing, and goes on with what a
    /// crash broke off.
    ///
    /// # Errors
    /// [`LabError::Faults`] with every id that names nothing; nothing is changed then.
    pub async fn purge(&self, who: &Who, name: &str, purge: Purge) -> Result<Purged, LabError> {
        if purge.all != purge.items.is_empty() || purge.items.len() > MAX_ITEMS {
            let why = format!(
                "items names {} items; name 1 to {MAX_ITEMS} at once, or none and say \"all\": true",
                purge.items.len()
            );
            return Err(LabError::Wrong(why));
        }
        // Spans are many. Nobody waits while their files are looked through, and what comes meanwhile is found below.
        let Meant { head, items, .. } = self.meant(who, name, &purge).await?;
        let only = (!purge.all).then_some(&items);
        let traces = reading::traces(self.store(), &who.tenant, &head.dataset_id, only).await?;
        let mut looked = Vec::with_capacity(UNDER_TRACES.len());
        for table in UNDER_TRACES {
            looked.push(self.looked(who, &traces, table).await?);
        }
        let _changing = self.changing.lock().await;
        let Meant { head, revisions, items } = self.meant(who, name, &purge).await?;
        // From here on nothing that is on its way is stored.
        self.purged.write().entry(who.tenant.clone()).or_default().extend(items.iter().cloned());
        let mut version = head.version;
        if revisions.iter().any(|revision| revision.op == "put") {
            let known = self.outline(who, &head).await?;
            let there: BTreeSet<&str> = known.iter().map(|item| item.item_id.as_str()).collect();
            let delete = items.iter().filter(|id| there.contains(id.as_str())).cloned().collect();
            let mut plan = self.planned(&known, Wanted { delete, ..Wanted::default() })?;
            plan.rows.iter_mut().for_each(|row| row.external_id = None);
            let mut row = self.following(who, &head, "purge");
            row.items = i64::try_from(plan.items).unwrap_or(i64::MAX);
            row.content_hash = plan.content_hash;
            (row.source, row.message) =
                (Some(told(purge.all, &items, &revisions).to_string()), purge.message);
            version = row.version;
            // What the journal has of the items lies before this frame, and goes when every reader has passed it.
            self.store().journal.begin_segment();
            self.write(row, plan.rows).await?;
        }
        let files = self.purge_files(who, &head.dataset_id, &items).await?;
        let bare = Left::Bare { without: CONTENT, mark: ("op", "put", "purge") };
        // Before the runs, which name the traces: a purge that is sent again finds them.
        let only = (!purge.all).then_some(&items);
        let traces = reading::traces(self.store(), &who.tenant, &head.dataset_id, only).await?;
        let (spans, annotations) = self.erased_under(who, &traces, &looked).await?;
        // Where people reviewed its runs, what they were shown and what they said goes, too.
        self.erased(who, &items, Table::ReviewItems, Left::Nothing).await?;
        self.erased(who, &items, Table::ReviewAnswers, Left::Nothing).await?;
        Ok(Purged {
            runs: self.erased(who, &items, Table::Runs, Left::Nothing).await?,
            scores: self.erased(who, &items, Table::Scores, Left::Nothing).await?,
            check_results: self.erased(who, &items, Table::CheckResults, Left::Nothing).await?,
            suite_rows: self.erased(who, &items, Table::SuiteTests, Left::Nothing).await?
                + self.erased(who, &items, Table::SuiteChecks, Left::Nothing).await?,
            // Last: a purge that is sent again finds its items by the ids of their senders, which go here.
            revisions: self.erased(who, &items, Table::DatasetItems, bare).await?,
            spans,
            annotations,
            files,
            dataset_id: head.dataset_id,
            version,
            items: items.into_iter().collect(),
        })
    }

    /// What is to be purged, as it is now.
    async fn meant(&self, who: &Who, name: &str, purge: &Purge) -> Result<Meant, LabError> {
        let head = self.based_on(who, name, None).await?;
        let named_ids = (!purge.all).then_some(purge.items.as_slice());
        let revisions = reading::revisions(self.store(), &who.tenant, &head.dataset_id, named_ids).await?;
        let items: BTreeSet<String> = match purge.all {
            true => revisions.iter().map(|revision| revision.item_id.clone()).collect(),
            false => named(&purge.items, &revisions)?,
        };
        if items.is_empty() {
            return Err(LabError::Wrong(format!("{name:?} never had an item: there is nothing to purge")));
        }
        Ok(Meant { head, revisions, items })
    }

    /// Which files of a table have rows of these traces.
    async fn looked(&self, who: &Who, traces: &BTreeSet<String>, table: Table) -> Result<Looked, LabError> {
        self.store().lake.look_for(&of_traces(who, traces, table)).await.map_err(incomplete)
    }

    async fn erased(
        &self,
        who: &Who,
        items: &BTreeSet<String>,
        table: Table,
        left: Left,
    ) -> Result<u64, LabError> {
        let (tenant, values) = (who.tenant.to_string(), items.clone());
        let erasure = Erasure { table, tenant, column: "item_id", values, left };
        self.erased_by(erasure, &Looked::default()).await
    }

    /// How many spans and log records, and how many annotations, went with all that stands under `traces`.
    async fn erased_under(
        &self,
        who: &Who,
        traces: &BTreeSet<String>,
        looked: &[Looked],
    ) -> Result<(u64, u64), LabError> {
        let (mut spans, mut annotations) = (0, 0);
        for (table, looked) in UNDER_TRACES.into_iter().zip(looked) {
            let rows = self.erased_by(of_traces(who, traces, table), looked).await?;
            match table {
                Table::Spans | Table::LogRecords => spans += rows,
                Table::Annotations => annotations += rows,
                _ => {}
            }
        }
        Ok((spans, annotations))
    }

    async fn erased_by(&self, erasure: Erasure, looked: &Looked) -> Result<u64, LabError> {
        if erasure.values.is_empty() {
            return Ok(0);
        }
        Ok(self.store().lake.erase(&erasure, looked).await.map_err(incomplete)?.rows)
    }
}

fn incomplete(error: LakeError) -> LabError {
    LabError::Broken(format!("the purge is not complete, send it again: {error}"))
}

/// All rows of these traces in a table.
fn of_traces(who: &Who, traces: &BTreeSet<String>, table: Table) -> Erasure {
    let (tenant, values) = (who.tenant.to_string(), traces.clone());
    Erasure { table, tenant, column: "trace_id", values, left: Left::Nothing }
}

/// The ids of the items that are named.
fn named(wanted: &[String], revisions: &[Revision]) -> Result<BTreeSet<String>, LabError> {
    let (mut items, mut faults) = (BTreeSet::new(), Vec::new());
    for id in wanted {
        let of = |revision: &&Revision| revision.item_id == *id || revision.external_id.as_ref() == Some(id);
        let found: BTreeSet<String> = revisions.iter().filter(of).map(|one| one.item_id.clone()).collect();
        if found.is_empty() {
            faults.push(Fault::new(format!("no version has an item {id:?}")).at("items"));
        }
        items.extend(found);
    }
    faults.truncate(MAX_FAULTS);
    if faults.is_empty() { Ok(items) } else { Err(LabError::Faults(faults)) }
}

/// What is said of a purge. Of a whole dataset the tombstones of its items alone say which they were.
fn told(all: bool, items: &BTreeSet<String>, revisions: &[Revision]) -> serde_json::Value {
    if all { json!({ "purged_all": items.len() }) } else { tombstones(revisions) }
}

/// What is said of purged items: their ids, and the hashes of what they said.
fn tombstones(revisions: &[Revision]) -> serde_json::Value {
    let mut items: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for revision in revisions {
        items.entry(&revision.item_id).or_default().extend(revision.content_hash.as_deref());
    }
    let one = |(id, hashes): (&str, BTreeSet<&str>)| json!({ "item_id": id, "content_hashes": hashes });
    json!({ "purged": items.into_iter().map(one).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revision(item: &str, external: Option<&str>, hash: &str) -> Revision {
        Revision {
            item_id: item.to_owned(),
            external_id: external.map(str::to_owned),
            op: "put".to_owned(),
            content_hash: Some(hash.to_owned()),
        }
    }

    #[test]
    fn items_are_named_by_either_id_in_any_version() {
        let all =
            [revision("a", Some("x"), "1"), revision("a", Some("y"), "2"), revision("b", Some("z"), "3")];
        let of = |ids: &[&str]| named(&ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), &all);
        assert_eq!(of(&["x", "b"]).unwrap().into_iter().collect::<Vec<_>>(), ["a", "b"]);
        let faults = of(&["y", "nobody", "none"]).unwrap_err().to_string();
        assert!(faults.contains("no version has an item \"nobody\"") && faults.contains("none"), "{faults}");
        assert_eq!(
            tombstones(&all[..2]),
            json!({"purged": [{"item_id": "a", "content_hashes": ["1", "2"]}]})
        );
    }
}
