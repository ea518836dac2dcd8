//! The items of two experiments, each at a place of its own: a run and a score are looked up once, by the id of their item,
//! and all else goes by places.

use super::reading::{Scored, StoredRun};
use super::summary::{Data, Unit, Weights, place};
use crate::schema::batch::ItemRow;
use datafusion::common::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A score of an item that both experiments have asked, and the place of that item.
pub type Placed<'a> = (usize, &'a Scored);

/// The items that two experiments have asked, and those that the new one asks.
pub struct Both<'a> {
    ids: Ids<'a>,
    /// By place, whether both have asked it and it said the same in both.
    is_paired: Vec<bool>,
    /// The paired items that count for something, in the order of their ids: sums do not depend on that of a hash map then.
    spots: Vec<Spot<'a>>,
    /// The runs of the new experiment and of the baseline, in the order of their repetitions.
    runs: [Vec<Ran<'a>>; 2],
    /// Items that at least one of them has asked.
    asked: usize,
}

/// Ids of items and their places: first the items of a version in the order of their ids, then those that are no more.
struct Ids<'a> {
    all: Vec<&'a str>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Ids<'a> {
    fn place(&mut self, id: &'a str) -> usize {
        let Self { all, places } = self;
        *places.entry(id).or_insert_with(|| {
            all.push(id);
            all.len() - 1
        })
    }
}

/// A run at the place of its item.
struct Ran<'a> {
    at: usize,
    repetition: i64,
    run: &'a StoredRun,
}

/// A paired item: its place, its group, and what it counts for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot<'a> {
    /// The place.
    pub at: usize,
    group: &'a str,
    weight: f64,
}

impl<'a> Spot<'a> {
    /// The item with the mean of `sum`.
    pub fn unit(&self, sum: &Sum) -> Unit<'a> {
        Unit { group: self.group, weight: self.weight, value: sum.mean(), repetitions: sum.of }
    }
}

/// The values of an item, one for each repetition.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    total: f64,
    /// How many are above one half.
    pub passed: usize,
    /// How many there are.
    pub of: usize,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.total += value;
        self.passed += usize::from(value > 0.5);
        self.of += 1;
    }

    /// Their mean; no number without values.
    pub fn mean(&self) -> f64 {
        self.total / self.of as f64
    }
}

impl<'a> Both<'a> {
    /// The items of `new` and all that either has asked.
    pub fn of(new: &Data<'a>, baseline: &Data<'a>) -> Self {
        let mut items: Vec<&'a ItemRow> = new.items.iter().collect();
        // Most are in that order already: ids begin with the time.
        items.sort_by(|a, b| a.item_id.cmp(&b.item_id));
        let mut ids =
            Ids { all: Vec::with_capacity(items.len()), places: HashMap::with_capacity(items.len()) };
        let at: Vec<usize> = items.iter().map(|item| ids.place(&item.item_id)).collect();
        let runs = [ran(new, &mut ids), ran(baseline, &mut ids)];
        let mut hashes: Vec<[Option<Option<&str>>; 2]> = vec![[None, None]; ids.all.len()];
        for (side, runs) in runs.iter().enumerate() {
            for one in runs {
                hashes[one.at][side] = Some(one.run.item_hash.as_deref());
            }
        }
        let is_paired: Vec<bool> = hashes.iter().map(|[now, then]| now.is_some() && now == then).collect();
        let asked = hashes.iter().filter(|[now, then]| now.is_some() || then.is_some()).count();
        let spot = |(at, item): (usize, &'a ItemRow)| {
            let (group, weight) = place(item, Weights::Items);
            (is_paired[at] && weight > 0.0).then_some(Spot { at, group, weight })
        };
        let spots = at.into_iter().zip(items).filter_map(spot).collect();
        Self { ids, is_paired, spots, runs, asked }
    }

    /// How many items are in both.
    pub fn paired(&self) -> usize {
        self.is_paired.iter().filter(|is| **is).count()
    }

    /// How many at least one has asked.
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.ids.all.len()
    }

    /// The item at a place.
    pub fn id(&self, at: usize) -> &'a str {
        self.ids.all[at]
    }

    /// The place of an item that is in both.
    pub fn paired_at(&self, id: &str) -> Option<usize> {
        self.ids.places.get(id).copied().filter(|at| self.is_paired[*at])
    }

    /// The items that are in both, in the order of their ids; but for those of the version that are no more, or count for nothing.
    pub fn spots(&self) -> &[Spot<'a>] {
        &self.spots
    }

    /// Those of these items alone.
    pub fn within(&self, items: &BTreeSet<&str>) -> Vec<Spot<'a>> {
        let spot = |id: &&str| {
            let at = self.paired_at(id)?;
            let found = self.spots.binary_search_by_key(&at, |spot| spot.at).ok()?;
            Some(self.spots[found])
        };
        items.iter().filter_map(spot).collect()
    }

    /// The scores of items that are in both by evaluator and metric, each in the order that they come in.
    pub fn metrics(&self, scores: &'a [Scored]) -> BTreeMap<(&'a str, &'a str), Vec<Placed<'a>>> {
        let mut all: BTreeMap<(&str, &str), Vec<Placed<'a>>> = BTreeMap::new();
        // Most lie beside others of their metric.
        for alike in scores.chunk_by(|a, b| a.metric == b.metric && a.evaluator == b.evaluator) {
            let Some(first) = alike.first() else { continue };
            let placed = alike.iter().filter_map(|score| Some((self.paired_at(&score.item_id)?, score)));
            all.entry((&*first.evaluator, &*first.metric)).or_default().extend(placed);
        }
        all
    }

    /// The finite ones of `values`, by place.
    pub fn sums(&self, values: impl Iterator<Item = (usize, f64)>) -> Vec<Sum> {
        let mut sums = vec![Sum::default(); self.places()];
        values.filter(|(_, value)| value.is_finite()).for_each(|(at, value)| sums[at].add(value));
        sums
    }

    /// An amount of the runs that have an answer, by place: of the new experiment and of the baseline.
    pub fn amounts(&self, get: fn(&StoredRun) -> Option<f64>) -> [Vec<Sum>; 2] {
        self.runs.each_ref().map(|runs| {
            let answered = runs.iter().filter(|one| !one.run.is_error);
            self.sums(answered.filter_map(|one| Some((one.at, get(one.run)?))))
        })
    }

    /// By place, whether a run of the new experiment has no answer and each of the baseline has, of items that are in both.
    pub fn fails(&self) -> Vec<bool> {
        let [now, then] = self.runs.each_ref().map(|runs| {
            let mut fails = vec![false; self.places()];
            runs.iter().filter(|one| one.run.is_error).for_each(|one| fails[one.at] = true);
            fails
        });
        let both = now.into_iter().zip(then).zip(&self.is_paired);
        both.map(|((now, then), is_paired)| now && !then && *is_paired).collect()
    }
}

/// The runs of an experiment at the places of their items, in the order of their repetitions.
fn ran<'a>(data: &Data<'a>, ids: &mut Ids<'a>) -> Vec<Ran<'a>> {
    let runs = data.runs.iter();
    let mut all: Vec<Ran<'a>> = runs
        .map(|((item, repetition), run)| Ran { at: ids.place(item), repetition: *repetition, run })
        .collect();
    all.sort_by_key(|one| one.repetition);
    all
}

#[cfg(test)]
mod tests {
    use super::super::tried::Tried;
    use super::*;

    /// Items that were purged have runs and no place among the spots, and each of the others is where its id says.
    #[test]
    fn each_item_has_a_place_in_the_order_of_ids() {
        let (mut new, baseline) =
            (Tried::of(&[&[true, false] as &[bool]; 12]), Tried::of(&[&[true] as &[bool]; 11]));
        new.items.retain(|item| item.item_id != "3");
        new.items[0].weight = Some(0.0);
        let (now, then) = (new.data(), baseline.data());
        let both = Both::of(&now, &then);
        assert_eq!((both.places(), both.asked(), both.paired()), (12, 12, 11));
        let ids: Vec<&str> = both.spots().iter().map(|spot| both.id(spot.at)).collect();
        assert_eq!(ids, ["1", "10", "2", "4", "5", "6", "7", "8", "9"]);
        let some = both.within(&["0", "10", "11", "2", "3"].into());
        assert_eq!(some.iter().map(|spot| both.id(spot.at)).collect::<Vec<_>>(), ["10", "2"]);
        assert_eq!(both.paired_at("11"), None);
        let scores = both.metrics(now.scores);
        let passed =
            scores[&("e", "m")].iter().filter_map(|(at, one)| Some((*at, f64::from(u8::from(one.passed?)))));
        let sums = both.sums(passed);
        let at = |id: &str| both.paired_at(id).unwrap();
        assert_eq!((sums[at("3")].of, sums[at("10")].passed, sums[at("10")].mean()), (2, 1, 0.5));
        assert!(both.fails().iter().all(|fails| !fails));
    }

    #[test]
    fn amounts_are_of_runs_that_have_an_answer() {
        let (mut new, baseline) =
            (Tried::of(&[&[true, true] as &[bool]; 2]), Tried::of(&[&[true] as &[bool]; 2]));
        for ((item, repetition), run) in &mut new.runs {
            run.duration_ms = Some(if *repetition == 1 { 4.0 } else { f64::INFINITY });
            run.is_error = item == "1";
        }
        let (now, then) = (new.data(), baseline.data());
        let both = Both::of(&now, &then);
        let [took, before] = both.amounts(|run| run.duration_ms);
        assert_eq!(took.iter().map(|sum| sum.of).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(took[0].mean(), 4.0);
        assert!(before.iter().all(|sum| *sum == Sum::default()));
        assert_eq!(both.fails(), [false, true]);
    }
}
