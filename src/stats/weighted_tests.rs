//! Known values and algebra of merging.

use super::super::seeded::Seeded;
use super::*;

fn of(items: &[(f64, f64)]) -> Weighted {
    let mut all = Weighted::new();
    for (y, pi) in items {
        assert!(all.push(*y, *pi));
    }
    all
}

#[test]
fn hajek_mean_and_its_variance_by_hand() {
    let all = of(&[(1.0, 0.5), (0.0, 1.0), (4.0, 0.25)]);
    // Weights 2, 1, 4: mean = (2 + 0 + 16) / 7; variance = (4(1−ȳ)² + ȳ² + 16(4−ȳ)²) / 49.
    let mean = 18.0 / 7.0;
    let variance = (4.0 * (1.0f64 - mean).powi(2) + mean * mean + 16.0 * (4.0f64 - mean).powi(2)) / 49.0;
    let got = all.mean(0.95).expect("three items");
    assert!((got.estimate - mean).abs() < 1e-12);
    assert!((all.variance() - variance).abs() < 1e-12);
    assert!((got.n_eff - 49.0 / 21.0).abs() < 1e-12);
    assert_eq!(got.n, 3);
    assert!((all.total() - 7.0).abs() < 1e-12);
}

#[test]
fn a_big_offset_loses_no_digits() {
    let all = of(&[(1e15, 1.0), (1e15 + 2.0, 1.0), (1e15 + 4.0, 1.0)]);
    // Σ(y−ȳ)²/n² = 8/9.
    assert!((all.variance() - 8.0 / 9.0).abs() < 1e-9, "{}", all.variance());
}

#[test]
fn merging_parts_is_the_same_as_one_pass() {
    let mut random = Seeded::new(1);
    let items: Vec<_> = (0..1000).map(|_| (random.unit() * 100.0, 0.05 + 0.95 * random.unit())).collect();
    let whole = of(&items);
    let mut merged = Weighted::new();
    for part in items.chunks(37) {
        let part = of(part);
        let (n, numbers) = part.parts();
        merged.merge(&Weighted::from_parts(n, numbers));
    }
    assert_eq!(whole.n(), merged.n());
    assert!((whole.variance() / merged.variance() - 1.0).abs() < 1e-9);
    let (a, b) = (whole.mean(0.95).expect("items"), merged.mean(0.95).expect("items"));
    assert!((a.estimate - b.estimate).abs() < 1e-9 && (a.n_eff - b.n_eff).abs() < 1e-6);
}

#[test]
fn too_little_has_no_answer() {
    assert_eq!(Weighted::new().mean(0.95), None);
    let one = of(&[(0.7, 0.5)]);
    let got = one.mean(0.95).expect("one item");
    assert_eq!((got.estimate, got.lower, got.upper), (0.7, None, None));
    let mut none = Weighted::new();
    for pi in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(!none.push(1.0, pi), "{pi}");
    }
    assert_eq!(none, Weighted::new());
}
