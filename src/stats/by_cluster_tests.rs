//! Known values, the items alone where no two are alike, and coverage by seeded simulation.

use super::super::seeded::Seeded;
use super::*;

fn rate_of(one: bool, pi: f64) -> Rate {
    let mut rate = Rate::new();
    assert!(rate.push(one, pi));
    rate
}

fn mean_of(value: f64, pi: f64) -> Weighted {
    let mut mean = Weighted::new();
    assert!(mean.push(value, pi));
    mean
}

fn pair_of(a: f64, b: f64, pi: f64) -> Paired {
    let mut pair = Paired::new();
    assert!(pair.push(a, b, pi));
    pair
}

/// Clusters of so many items of weight 1 each, of which so many are ones.
fn clusters(of: &[(u32, u32)]) -> ByCluster<Rate> {
    let mut all = ByCluster::new();
    for (key, (items, ones)) in (0_u128..).zip(of) {
        (0..*items).for_each(|at| all.push(Some(key), &rate_of(at < *ones, 1.0)));
    }
    all
}

fn same(a: Option<Estimate>, b: Option<Estimate>) {
    let (a, b) = (a.unwrap(), b.unwrap());
    let shown = |e: &Estimate| [e.estimate, e.lower.unwrap(), e.upper.unwrap(), e.n_eff];
    let near = shown(&a).iter().zip(shown(&b)).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near && a.n == b.n, "{a:?} is not {b:?}");
}

/// With a key each, without keys, and some of both.
#[test]
fn clusters_of_one_item_are_the_items_alone() {
    let mut random = Seeded::new(3);
    let items: Vec<(f64, f64, f64)> = (0..200)
        .map(|_| (random.unit(), f64::from(u8::from(random.unit() < 0.1)), 0.1 + 0.9 * random.unit()))
        .collect();
    for keyed in [0, 1, 2] {
        let (mut rate, mut mean) = (ByCluster::<Rate>::new(), ByCluster::<Weighted>::new());
        let (mut numbers, mut verdicts) = (ByCluster::<Paired>::new(), ByCluster::<Paired>::new());
        for (at, (value, one, pi)) in (0_u128..).zip(&items) {
            let key = (keyed == 2 || (keyed == 1 && at % 3 == 0)).then_some(at);
            let other = f64::from(u8::from(*value < 0.2));
            rate.push(key, &rate_of(*one > 0.0, *pi));
            mean.push(key, &mean_of(*value, *pi));
            numbers.push(key, &pair_of(*value, *one, *pi));
            verdicts.push(key, &pair_of(*one, other, *pi));
        }
        same(rate.rate(0.95), rate.items().two_sided(0.95));
        same(mean.mean(0.9), mean.items().mean(0.9));
        same(numbers.mean(0.95), numbers.items().mean(0.95));
        same(verdicts.rate(0.95), verdicts.items().rate(0.95));
        let none = clusters(&[(1, 0); 30]);
        same(none.rate(0.95), none.items().two_sided(0.95));
    }
}

/// By SciPy 1.17: ten clusters of four equal items; clusters of all sizes; few ones.
#[test]
fn known_intervals() {
    let halves = [[(4, 4); 5], [(4, 0); 5]].concat();
    let sizes = vec![(3, 1), (1, 0), (2, 0), (5, 4), (4, 0), (1, 1), (2, 0), (2, 0)];
    let few = [vec![(2, 2), (2, 1)], vec![(2, 0); 28]].concat();
    for (of, rate, n_eff, lower, upper) in [
        (halves, 0.5, 7.475_758_663, 0.209_745_471, 0.790_254_530),
        (sizes, 0.3, 5.992_848_600, 0.063_364_574, 0.665_055_254),
        (few, 0.05, 32.174_511_922, 0.008_762_761, 0.172_884_865),
    ] {
        let got = clusters(&of).rate(0.95).unwrap();
        assert!((got.estimate - rate).abs() < 1e-12 && (got.n_eff - n_eff).abs() < 1e-6, "{got:?}");
        let (low, high) = (got.lower.unwrap(), got.upper.unwrap());
        assert!((low - lower).abs() < 1e-6 && (high - upper).abs() < 1e-6, "{got:?}");
    }
}

#[test]
fn equal_items_count_each_cluster_once() {
    let got = clusters(&[(4, 4); 10]).rate(0.95).unwrap();
    assert!((got.n_eff - 10.0).abs() < 1e-9 && got.n == 40, "{got:?}");
    assert!((got.lower.unwrap() - 0.05_f64.powf(0.1)).abs() < 1e-9 && got.upper == Some(1.0), "{got:?}");
    // One trace, whatever is in it, is worth one item.
    let single = clusters(&[(9, 5)]).rate(0.95).unwrap();
    assert!((single.n_eff - 1.0).abs() < 1e-9, "{single:?}");
    let mut agree = ByCluster::<Paired>::new();
    (0..40_u128).for_each(|at| agree.push(Some(at / 4), &pair_of(1.0, 1.0, 1.0)));
    let got = agree.rate(0.95).unwrap();
    assert!((got.n_eff - 10.0).abs() < 1e-9 && got.upper.unwrap() > 0.15, "{got:?}");
    assert_eq!(ByCluster::<Rate>::new().rate(0.95), None);
    assert_eq!(
        (ByCluster::<Weighted>::new().mean(0.95), ByCluster::<Paired>::new().rate(0.95)),
        (None, None)
    );
}

/// The mean of the clusters, each with the weight of its items.
#[test]
fn a_mean_is_that_of_the_clusters() {
    let (mut all, mut means) = (ByCluster::<Weighted>::new(), Weighted::new());
    for at in 0..40_u32 {
        let values = [f64::from(at % 5), f64::from(at % 3), f64::from(at % 2)];
        values.iter().for_each(|value| all.push(Some(u128::from(at)), &mean_of(*value, 0.5)));
        assert!(means.push(values.iter().sum::<f64>() / 3.0, 1.0 / 6.0));
    }
    let (a, b) = (all.mean(0.95), means.mean(0.95).map(|found| Estimate { n: 120, ..found }));
    same(a, b);
    let mut one = ByCluster::<Weighted>::new();
    [1.0, 2.0].iter().for_each(|value| one.push(Some(7), &mean_of(*value, 1.0)));
    assert_eq!(one.mean(0.95).map(|found| (found.estimate, found.lower, found.n)), Some((1.5, None, 2)));
}

#[test]
fn merging_parts_is_the_same_as_one_pass() {
    let mut random = Seeded::new(5);
    let (mut whole, mut merged) = (ByCluster::<Rate>::new(), ByCluster::<Rate>::new());
    for _ in 0..20 {
        let mut part = ByCluster::new();
        for _ in 0..37 {
            let key = (random.unit() < 0.9).then(|| u128::from(random.bits() % 50));
            let one = rate_of(random.unit() < 0.2, 0.1 + 0.9 * random.unit());
            part.push(key, &one);
            whole.push(key, &one);
        }
        merged.merge(part.items(), part.alone(), part.clusters());
    }
    assert_eq!((whole.clusters().len(), merged.clusters().len()), (50, 50));
    same(whole.rate(0.95), merged.rate(0.95));
    assert!(whole.size() >= 50 * 32, "{}", whole.size());
}

/// Each map has its own order of the same clusters.
#[test]
fn the_order_of_a_hash_map_changes_no_digit() {
    let answers: Vec<_> = (0..20)
        .map(|_| {
            let mut random = Seeded::new(7);
            let (mut rate, mut mean) = (ByCluster::<Rate>::new(), ByCluster::<Weighted>::new());
            for at in 0..2_000_u128 {
                let pi = 0.1 + 0.9 * random.unit();
                rate.push(Some(at / 3), &rate_of(random.unit() < 0.3, pi));
                mean.push(Some(at / 3), &mean_of(random.unit(), pi));
            }
            (rate.rate(0.95), mean.mean(0.95))
        })
        .collect();
    assert!(answers.iter().all(|one| *one == answers[0]), "{answers:?}");
}

/// Items of a cluster fail together: with the correlation 0.3, about 150 clusters of one to eight items, each drawn with 0.5. What
/// takes the items for independent holds far less than it should.
#[test]
fn intervals_hold_a_rate_of_items_that_are_alike() {
    const RUNS: u32 = 400;
    let mut random = Seeded::new(11);
    let (mut held, mut plain, mut differences) = (0, 0, 0);
    for _ in 0..RUNS {
        let (mut all, mut pairs) = (ByCluster::<Rate>::new(), ByCluster::<Paired>::new());
        for cluster in 0..150_u128 {
            let items = 1 + random.bits() % 8;
            let (mut ones, mut before) = (0.0, 0.0);
            for _ in 0..items {
                let one = random.unit() < (0.1 * 0.7 + 0.3 * ones) / (0.7 + 0.3 * before);
                (ones, before) = (ones + f64::from(u8::from(one)), before + 1.0);
                if random.unit() < 0.5 {
                    all.push(Some(cluster), &rate_of(one, 0.5));
                    pairs.push(Some(cluster), &pair_of(f64::from(u8::from(one)), 0.0, 0.5));
                }
            }
        }
        let holds = |found: Estimate| found.lower.unwrap() <= 0.1 && 0.1 <= found.upper.unwrap();
        held += u32::from(holds(all.rate(0.95).unwrap()));
        plain += u32::from(holds(all.items().two_sided(0.95).unwrap()));
        differences += u32::from(holds(pairs.rate(0.95).unwrap()));
    }
    let share = |count: u32| f64::from(count) / f64::from(RUNS);
    assert!((0.925..=0.98).contains(&share(held)), "{}", share(held));
    assert!((0.925..=0.985).contains(&share(differences)), "{}", share(differences));
    assert!(share(plain) < 0.91, "{}", share(plain));
}
