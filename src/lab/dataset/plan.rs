//! What a change does to the items that are there. Pure: items in, revisions out.

use super::super::error::Fault;
use super::canonical;
use crate::schema::batch::ItemRow;
use std::collections::{HashMap, HashSet, VecDeque};

/// What is put and what is taken out.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Items to add, or to replace those that they name.
    pub put: Vec<ItemRow>,
    /// Items to take out, by their id or the sender's.
    pub delete: Vec<String>,
    /// What becomes of equal items.
    pub equals: Equals,
    /// What becomes of the items that are not named.
    pub others: Others,
    /// What an id is that no item has.
    pub ids: Ids,
}

/// What becomes of an item that the same change has already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Equals {
    /// It is counted and left out.
    #[default]
    Once,
    /// It is an item of its own.
    Each,
}

/// What becomes of items that a change does not name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Others {
    /// They stay.
    #[default]
    Stay,
    /// They are taken out.
    Go,
}

/// What an `item_id` is that no item of the dataset has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ids {
    /// A fault.
    #[default]
    Known,
    /// Nothing: a file may come from another dataset.
    Any,
}

/// What a change does.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    /// Revisions to write, in order; none if nothing changes.
    pub rows: Vec<ItemRow>,
    /// Items that were added or changed.
    pub put: usize,
    /// Items that were taken out.
    pub deleted: usize,
    /// Items that were sent and are there like that.
    pub unchanged: usize,
    /// Items that the change had more than once.
    pub duplicates: usize,
    /// Items that are there afterwards.
    pub items: usize,
    /// The hash of their content.
    pub content_hash: String,
}

/// What becomes of `known`, the items of the newest version in their order, when `wanted` is done. New items get ids from
/// `new_id`.
///
/// # Errors
/// Every id that names nothing or two things, with the place in the list of what is put, from 1.
pub fn plan(
    known: &[ItemRow],
    wanted: Wanted,
    mut new_id: impl FnMut() -> String,
) -> Result<Plan, Vec<Fault>> {
    let mut matching = Matching::new(known);
    let (mut plan, mut faults) = (Plan::default(), Vec::new());
    let mut next = known.iter().map(|item| item.ordinal + 1).max().unwrap_or(1);
    let mut named: HashMap<String, Option<String>> = HashMap::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut added: Vec<ItemRow> = Vec::new();
    let mut renamed: Vec<(u64, usize)> = Vec::new();
    for (number, mut row) in (1u64..).zip(wanted.put) {
        let hash = row.content_hash.clone().unwrap_or_default();
        if let Some(id) = row.external_id.clone() {
            match named.insert(id.clone(), row.content_hash.clone()) {
                None => {}
                Some(before) if before == row.content_hash => {
                    plan.duplicates += 1;
                    continue;
                }
                Some(_) => {
                    let why = format!(
                        "{id:?} is there twice with different content; give each item an id of its own"
                    );
                    faults.push(Fault { item: Some(number), ..Fault::new(why).at("external_id") });
                    continue;
                }
            }
        } else if row.item_id.is_empty() && !seen.insert(hash.clone()) && wanted.equals == Equals::Once {
            plan.duplicates += 1;
            continue;
        }
        match matching.find(&row, wanted.ids) {
            Ok(Some(at)) => {
                (row.item_id, row.ordinal) = (known[at].item_id.clone(), known[at].ordinal);
                row.external_id = row.external_id.or_else(|| known[at].external_id.clone());
                renamed.extend(matching.namesake(&row, at).map(|other| (number, other)));
                match is_same(&row, &known[at]) {
                    true => plan.unchanged += 1,
                    false => added.push(row),
                }
            }
            Ok(None) => {
                (row.item_id, row.ordinal) = (new_id(), next);
                next += 1;
                added.push(row);
            }
            Err(fault) => faults.push(Fault { item: Some(number), ..fault }),
        }
    }
    let gone = matching.gone(&wanted.delete, wanted.others, &mut faults);
    faults.extend(renamed.into_iter().filter_map(|(number, other)| {
        let stays = (&known[other], !gone.contains(&other));
        taken(stays, &added).map(|fault| Fault { item: Some(number), ..fault })
    }));
    if !faults.is_empty() {
        return Err(faults);
    }
    plan.put = added.len();
    plan.deleted = gone.len();
    plan.after(known, added, &gone);
    Ok(plan)
}

/// That another item got the id of `other`, unless that one goes or gets an id of its own among those that were `added`.
fn taken((other, stays): (&ItemRow, bool), added: &[ItemRow]) -> Option<Fault> {
    let now = added.iter().find(|row| row.item_id == other.item_id).unwrap_or(other);
    let id = other.external_id.as_ref().filter(|_| stays && now.external_id == other.external_id)?;
    let why =
        format!("{id:?} is the id of the item {:?} already; give each item an id of its own", other.item_id);
    Some(Fault::new(why).at("external_id"))
}

/// Whether two revisions say the same. Their texts are compared by their hash: the order of keys says nothing.
fn is_same(a: &ItemRow, b: &ItemRow) -> bool {
    let about = |row: &ItemRow| ItemRow {
        item_id: String::new(),
        ordinal: 0,
        input: None,
        expected: None,
        metadata: None,
        contexts: None,
        constraints: None,
        files: None,
        ..row.clone()
    };
    a.content_hash == b.content_hash && about(a) == about(b)
}

/// The revisions that make `known` what `then` was: those that differ, and the end of those that were not there.
pub fn revert(known: &[ItemRow], then: &[ItemRow]) -> Plan {
    let before: HashMap<&str, &ItemRow> = known.iter().map(|item| (item.item_id.as_str(), item)).collect();
    let kept: HashSet<&str> = then.iter().map(|item| item.item_id.as_str()).collect();
    let differs = |item: &&ItemRow| before.get(item.item_id.as_str()).is_none_or(|now| !is_same(now, item));
    let added: Vec<ItemRow> = then.iter().filter(differs).cloned().collect();
    let gone: HashSet<usize> =
        (0..known.len()).filter(|at| !kept.contains(known[*at].item_id.as_str())).collect();
    let mut plan = Plan { put: added.len(), deleted: gone.len(), ..Plan::default() };
    plan.after(known, added, &gone);
    plan
}

impl Plan {
    /// Fills what follows from the revisions.
    fn after(&mut self, known: &[ItemRow], added: Vec<ItemRow>, gone: &HashSet<usize>) {
        let changed: HashSet<&str> = added.iter().map(|item| item.item_id.as_str()).collect();
        let stay = known
            .iter()
            .enumerate()
            .filter(|(at, item)| !gone.contains(at) && !changed.contains(item.item_id.as_str()));
        let after: Vec<&ItemRow> = stay.map(|(_, item)| item).chain(&added).collect();
        let hashes = after.iter().filter_map(|item| item.content_hash.as_deref());
        self.content_hash = canonical::hash_of_all(hashes);
        self.items = after.len();
        let ends = known.iter().enumerate().filter(|(at, _)| gone.contains(at)).map(|(_, item)| ItemRow {
            item_id: item.item_id.clone(),
            external_id: item.external_id.clone(),
            ordinal: item.ordinal,
            is_deleted: true,
            ..ItemRow::default()
        });
        let ends: Vec<ItemRow> = ends.collect();
        self.rows = added;
        self.rows.extend(ends);
    }
}

/// Which of the items that are there is meant.
struct Matching<'a> {
    known: &'a [ItemRow],
    by_id: HashMap<&'a str, usize>,
    by_external: HashMap<&'a str, usize>,
    /// Items of each content that nothing has matched yet.
    by_hash: HashMap<&'a str, VecDeque<usize>>,
    met: HashSet<usize>,
}

impl<'a> Matching<'a> {
    fn new(known: &'a [ItemRow]) -> Self {
        let mut by_hash: HashMap<&str, VecDeque<usize>> = HashMap::new();
        for (at, item) in known.iter().enumerate() {
            by_hash.entry(item.content_hash.as_deref().unwrap_or_default()).or_default().push_back(at);
        }
        let external = |(at, item): (usize, &'a ItemRow)| Some((item.external_id.as_deref()?, at));
        Self {
            known,
            by_id: known.iter().enumerate().map(|(at, item)| (item.item_id.as_str(), at)).collect(),
            by_external: known.iter().enumerate().filter_map(external).collect(),
            by_hash,
            met: HashSet::new(),
        }
    }

    fn find(&mut self, row: &ItemRow, ids: Ids) -> Result<Option<usize>, Fault> {
        let id = Some(row.item_id.as_str()).filter(|id| !id.is_empty());
        if let Some(at) = id.and_then(|id| self.by_id.get(id)).copied() {
            return self.meet(at).map(Some);
        }
        if let (Some(id), Ids::Known) = (id, ids) {
            let why = format!("no item {id:?} in this dataset; leave item_id out to add one");
            return Err(Fault::new(why).at("item_id"));
        }
        if let Some(external) = &row.external_id {
            let at = self.by_external.get(external.as_str()).copied();
            return at.map(|at| self.meet(at)).transpose();
        }
        let hash = row.content_hash.as_deref().unwrap_or_default();
        while let Some(at) = self.by_hash.get_mut(hash).and_then(VecDeque::pop_front) {
            if self.met.insert(at) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The other item that has the sender's id which `row` gives to the item at a place.
    fn namesake(&self, row: &ItemRow, at: usize) -> Option<usize> {
        self.by_external.get(row.external_id.as_deref()?).copied().filter(|other| *other != at)
    }

    fn meet(&mut self, at: usize) -> Result<usize, Fault> {
        match self.met.insert(at) {
            true => Ok(at),
            false => {
                let id = &self.known[at].item_id;
                Err(Fault::new(format!("the item {id:?} is named twice in one change")).at("item_id"))
            }
        }
    }

    /// The items that are taken out.
    fn gone(&self, delete: &[String], others: Others, faults: &mut Vec<Fault>) -> HashSet<usize> {
        let mut gone = HashSet::new();
        for id in delete {
            match self.by_id.get(id.as_str()).or_else(|| self.by_external.get(id.as_str())) {
                None => faults.push(Fault::new(format!("no item {id:?} in this dataset")).at("delete")),
                Some(at) if self.met.contains(at) => {
                    faults.push(
                        Fault::new(format!("the item {id:?} is put and deleted in one change")).at("delete"),
                    );
                }
                Some(at) => {
                    gone.insert(*at);
                }
            }
        }
        if others == Others::Go {
            gone.extend((0..self.known.len()).filter(|at| !self.met.contains(at)));
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(external: Option<&str>, content: &str) -> ItemRow {
        ItemRow {
            external_id: external.map(str::to_owned),
            input: Some(format!("\"{content}\"")),
            content_hash: Some(format!("hash of {content}")),
            ..ItemRow::default()
        }
    }

    fn put(items: &[ItemRow]) -> Wanted {
        Wanted { put: items.to_vec(), ..Wanted::default() }
    }

    fn planned(known: &[ItemRow], wanted: Wanted) -> Result<Plan, Vec<Fault>> {
        let mut count = known.len();
        plan(known, wanted, || {
            count += 1;
            format!("item-{count}")
        })
    }

    /// The items after a plan, as a reader sees them: the newest revision of each that is not its end.
    fn after(known: &[ItemRow], plan: &Plan) -> Vec<ItemRow> {
        let newest = |item: &ItemRow| plan.rows.iter().find(|row| row.item_id == item.item_id).cloned();
        let mut all: Vec<ItemRow> =
            known.iter().map(|item| newest(item).unwrap_or_else(|| item.clone())).collect();
        let new = plan.rows.iter().filter(|row| known.iter().all(|item| item.item_id != row.item_id));
        all.extend(new.cloned());
        all.retain(|item| !item.is_deleted);
        all.sort_by_key(|item| item.ordinal);
        all
    }

    #[test]
    fn the_same_data_again_changes_nothing_in_any_order() {
        let first = planned(&[], put(&[item(None, "a"), item(None, "b"), item(None, "a")])).unwrap();
        assert_eq!((first.put, first.duplicates, first.items), (2, 1, 2));
        let known = after(&[], &first);
        let again = planned(&known, put(&[item(None, "b"), item(None, "a")])).unwrap();
        assert_eq!((again.unchanged, again.rows.len()), (2, 0));
        assert_eq!(again.content_hash, first.content_hash);
    }

    #[test]
    fn equal_items_may_be_items_of_their_own() {
        let twice = || Wanted { equals: Equals::Each, ..put(&[item(None, "a"), item(None, "a")]) };
        let first = planned(&[], twice()).unwrap();
        assert_eq!((first.put, first.duplicates), (2, 0));
        let again = planned(&after(&[], &first), twice()).unwrap();
        assert_eq!((again.unchanged, again.rows.len()), (2, 0));
    }

    #[test]
    fn an_id_replaces_its_item_and_keeps_its_place() {
        let known = after(&[], &planned(&[], put(&[item(Some("x"), "a"), item(Some("y"), "b")])).unwrap());
        let changed = planned(&known, put(&[item(Some("x"), "c")])).unwrap();
        assert_eq!((changed.put, changed.items), (1, 2));
        assert_eq!((changed.rows[0].item_id.as_str(), changed.rows[0].ordinal), ("item-1", 1));
        let by_id = ItemRow { item_id: "item-2".to_owned(), ..item(None, "d") };
        let changed = planned(&known, put(&[by_id])).unwrap();
        assert_eq!(changed.rows[0].external_id.as_deref(), Some("y"));
    }

    #[test]
    fn no_two_items_have_one_id() {
        let known = after(&[], &planned(&[], put(&[item(Some("x"), "a"), item(Some("y"), "b")])).unwrap());
        let named =
            |id: &str, external: &str| ItemRow { item_id: id.to_owned(), ..item(Some(external), "c") };
        let faults = planned(&known, put(&[item(Some("z"), "d"), named("item-2", "x")])).unwrap_err();
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with("item 2: external_id: \"x\" is the id of the item \"item-1\""),
            "{told:?}"
        );
        // It is free where its item goes, or gets another one in the same change.
        let gone = Wanted { delete: vec!["item-1".to_owned()], ..put(&[named("item-2", "x")]) };
        assert_eq!(planned(&known, gone).unwrap().items, 1);
        let swapped = planned(&known, put(&[named("item-2", "x"), named("item-1", "y")])).unwrap();
        let ids: Vec<Option<String>> =
            after(&known, &swapped).into_iter().map(|item| item.external_id).collect();
        assert_eq!(ids, [Some("y".to_owned()), Some("x".to_owned())]);
    }

    #[test]
    fn going_back_gives_the_same_hash() {
        let first = planned(&[], put(&[item(Some("x"), "a"), item(Some("y"), "b")])).unwrap();
        let one = after(&[], &first);
        let wanted = Wanted { delete: vec!["y".to_owned()], ..put(&[item(Some("x"), "c"), item(None, "d")]) };
        let second = planned(&one, wanted).unwrap();
        assert_eq!((second.put, second.deleted, second.items), (2, 1, 2));
        let two = after(&one, &second);
        let back = revert(&two, &one);
        assert_eq!((back.put, back.deleted), (2, 1));
        assert_eq!(back.content_hash, first.content_hash);
        assert_eq!(after(&two, &back), one);
        assert!(revert(&one, &one).rows.is_empty());
    }

    #[test]
    fn what_is_not_named_may_go() {
        let known = after(&[], &planned(&[], put(&[item(None, "a"), item(None, "b")])).unwrap());
        let only = planned(&known, Wanted { others: Others::Go, ..put(&[item(None, "b")]) }).unwrap();
        assert_eq!((only.unchanged, only.deleted, only.items), (1, 1, 1));
    }

    #[test]
    fn ids_that_name_nothing_or_two_things_are_faults() {
        let known = after(&[], &planned(&[], put(&[item(Some("x"), "a")])).unwrap());
        let unknown = ItemRow { item_id: "nobody".to_owned(), ..item(None, "b") };
        let wanted = Wanted {
            delete: vec!["none".to_owned(), "x".to_owned()],
            ..put(&[unknown.clone(), item(Some("x"), "c"), item(Some("x"), "d")])
        };
        let faults: Vec<String> =
            planned(&known, wanted).unwrap_err().iter().map(ToString::to_string).collect();
        assert!(faults[0].starts_with("item 1: item_id: no item \"nobody\""), "{faults:?}");
        assert!(faults[1].starts_with("item 3: external_id: \"x\" is there twice"), "{faults:?}");
        assert!(faults[2].starts_with("delete: no item \"none\""), "{faults:?}");
        assert!(faults[3].contains("put and deleted"), "{faults:?}");
        let from_elsewhere = planned(&known, Wanted { ids: Ids::Any, ..put(&[unknown]) }).unwrap();
        assert_eq!(from_elsewhere.put, 1);
    }
}
