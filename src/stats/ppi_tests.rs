//! Known values, and coverage and width in a seeded simulation.

use super::super::{proportion, seeded::Seeded};
use super::*;

fn item(score: f64, pi: f64, label: Option<(f64, f64)>) -> Item {
    Item { score, pi, label }
}

/// The variance and λ as they are written in the paper, for equal probabilities: λ = cov(y, f)/var(f) where the labelled items
/// are part of the sample.
#[test]
fn equal_probabilities_by_hand() {
    let scores = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let labels = [(0, 1.5), (2, 2.0), (5, 3.5)];
    let mut all = Ppi::new();
    for (at, score) in scores.iter().enumerate() {
        let label = labels.iter().find(|(of, _)| *of == at).map(|(_, label)| (*label, 0.5));
        assert!(all.push(item(*score, 1.0, label)));
    }
    let (f, y, mean) = (10.0 / 3.0, 7.0 / 3.0, 3.5);
    let influence = |lambda: f64| -> f64 {
        let of = |(at, score): (usize, &f64)| {
            let known = labels.iter().find(|(of, _)| *of == at);
            let part = known.map_or(0.0, |(_, label)| (label - y - lambda * (score - f)) / 3.0);
            (lambda * (score - mean) / 6.0 + part).powi(2)
        };
        scores.iter().enumerate().map(of).sum()
    };
    let tuned = all.tuned().unwrap();
    let lambda = tuned.lambda;
    assert!((all.value(lambda) - y - lambda * (mean - f)).abs() < 1e-12);
    assert!((tuned.variance - influence(lambda)).abs() < 1e-12);
    assert!(tuned.variance <= influence(lambda + 1e-4).min(influence(lambda - 1e-4)));
    assert!((tuned.alone - influence(0.0)).abs() < 1e-12);
    assert_eq!(all.labelled(), 3);
}

#[test]
fn ends_and_nonsense() {
    let mut all = Ppi::new();
    assert_eq!((all.mean(0.95), all.rate(0.95)), (None, None));
    assert!(all.push(item(1.0, 0.5, None)) && all.mean(0.95).is_none());
    assert!(!all.push(item(1.0, 0.0, None)) && !all.push(item(1.0, 0.5, Some((1.0, 1.5)))));
    assert!(all.push(item(0.0, 0.5, Some((0.0, 0.5)))));
    let got = all.rate(0.95).unwrap();
    // One label says next to nothing, and so next to nothing is made of the evaluator.
    assert!(
        got.estimate < 0.1 && got.lower.unwrap() < 1e-9 && got.upper.unwrap() > 0.9 && got.n == 1,
        "{got:?}"
    );
    assert_eq!(all.mean(0.95).unwrap().lower, None);
    // Every item labelled: the labels alone.
    let mut every = Ppi::new();
    for at in 0..20 {
        assert!(every.push(item(f64::from(at % 2), 1.0, Some((f64::from(at % 4 / 3), 1.0)))));
    }
    let (low, high) = proportion::interval(5.0, 15.0, 0.95);
    let got = every.rate(0.95).unwrap();
    assert!((got.estimate - 0.25).abs() < 1e-12 && (got.lower.unwrap() - low).abs() < 1e-9, "{got:?}");
    assert!((got.upper.unwrap() - high).abs() < 1e-9);
}

#[test]
fn merging_parts_is_the_same_as_one_pass() {
    let mut random = Seeded::new(1);
    let items: Vec<Item> = (0..500)
        .map(|_| {
            let label = (random.unit() < 0.3).then(|| (random.unit(), 0.3));
            item(random.unit(), 0.1 + 0.9 * random.unit(), label)
        })
        .collect();
    let collect = |items: &[Item]| {
        let mut all = Ppi::new();
        assert!(items.iter().all(|item| all.push(*item)));
        all
    };
    let mut merged = Ppi::new();
    for part in items.chunks(31) {
        let (all, pairs, labels) = collect(part).parts();
        merged.merge(&Ppi::from_parts(all, pairs, labels));
    }
    let (a, b) = (collect(&items).mean(0.95).unwrap(), merged.mean(0.95).unwrap());
    assert!((a.estimate - b.estimate).abs() < 1e-9 && (a.upper.unwrap() - b.upper.unwrap()).abs() < 1e-9);
}

/// One sample of an evaluator with sensitivity `se` and specificity `sp`; 200 labels are expected.
fn sample(random: &mut Seeded, rate: f64, (se, sp): (f64, f64)) -> Ppi {
    let mut all = Ppi::new();
    for _ in 0..2000 {
        let truth = random.unit() < rate;
        let called = random.unit() < if truth { se } else { 1.0 - sp };
        // Items that the evaluator calls bad are kept and labelled more often.
        let (pi, pi_label) = if called { (0.9, 0.3) } else { (0.5, 0.15) };
        if random.unit() < pi {
            let label = (random.unit() < pi_label).then_some((f64::from(u8::from(truth)), pi_label));
            assert!(all.push(item(f64::from(u8::from(called)), pi, label)));
        }
    }
    all
}

/// `cargo run --release --example simulate` does this at length.
#[test]
fn it_holds_the_rate_and_is_narrower_than_the_labels() {
    for (rate, quality) in [(0.1, (0.7, 0.9)), (0.3, (0.7, 0.9)), (0.3, (0.6, 0.7))] {
        let mut random = Seeded::new(9);
        let (mut held, mut mean_held, mut wide, mut alone) = (0, 0, 0.0, 0.0);
        for _ in 0..300 {
            let all = sample(&mut random, rate, quality);
            let inside = |e: Estimate| e.lower.unwrap() <= rate && rate <= e.upper.unwrap();
            let got = all.rate(0.95).unwrap();
            held += usize::from(inside(got));
            mean_held += usize::from(inside(all.mean(0.95).unwrap()));
            wide += got.upper.unwrap() - got.lower.unwrap();
            let labels = all.labels.interval(0.95);
            alone += labels.1 - labels.0;
        }
        let (held, mean_held) = (held as f64 / 300.0, mean_held as f64 / 300.0);
        assert!(
            (0.92..=0.98).contains(&held) && (0.91..=0.98).contains(&mean_held),
            "{rate}: {held} {mean_held}"
        );
        assert!(wide < alone, "{rate}: {wide} {alone}");
    }
}
