//! Known values, algebra of merging, and coverage in a seeded simulation.

use super::*;

/// A small generator with a fixed seed (SplitMix64), so that a failure can be repeated.
struct Seeded(u64);

impl Seeded {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

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
    let mut random = Seeded(1);
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
    assert_eq!(Weighted::new().rate(0.95), None);
    let one = of(&[(0.7, 0.5)]);
    let got = one.mean(0.95).expect("one item");
    assert_eq!((got.estimate, got.lower, got.upper), (0.7, None, None));
    let mut none = Weighted::new();
    for pi in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(!none.push(1.0, pi), "{pi}");
    }
    assert_eq!(none, Weighted::new());
}

#[test]
fn a_rate_without_failures_still_has_an_interval() {
    let got = of(&[(1.0, 1.0); 20]).rate(0.95).expect("items");
    assert_eq!((got.estimate, got.upper), (1.0, Some(1.0)));
    assert!((got.lower.expect("bound") - 0.8389).abs() < 1e-4);
}

/// Share of simulated samples whose interval holds the true rate.
fn coverage(rate: f64, window: usize, draw: &dyn Fn(&mut Seeded, bool) -> f64, seed: u64) -> f64 {
    const RUNS: usize = 2000;
    let mut random = Seeded(seed);
    let mut held = 0;
    for _ in 0..RUNS {
        let mut sample = Weighted::new();
        for _ in 0..window {
            let one = random.unit() < rate;
            let pi = draw(&mut random, one);
            if random.unit() < pi {
                assert!(sample.push(f64::from(u8::from(one)), pi));
            }
        }
        let inside = sample
            .rate(0.95)
            .is_some_and(|e| e.lower.is_some_and(|l| l <= rate) && e.upper.is_some_and(|u| rate <= u));
        held += usize::from(inside);
    }
    held as f64 / RUNS as f64
}

#[test]
fn ninety_five_percent_intervals_hold_the_rate() {
    type Draw = fn(&mut Seeded, bool) -> f64;
    let designs: [(&str, Draw); 3] = [
        ("uniform", |_, _| 0.5),
        ("skewed", |random, _| if random.unit() < 0.3 { 0.9 } else { 0.2 }),
        ("spread", |random, _| 0.1 + 0.9 * random.unit()),
    ];
    for (name, draw) in designs {
        for (rate, window) in [(0.005, 4000), (0.02, 1500), (0.1, 600), (0.3, 400), (0.5, 400)] {
            let got = coverage(rate, window, &draw, 7);
            println!("{name} {rate}: {got}");
            assert!((0.93..=0.975).contains(&got), "{name} {rate}: {got}");
        }
    }
}

#[test]
fn outcomes_that_steer_the_design_do_not_break_the_interval() {
    type Draw = fn(&mut Seeded, bool) -> f64;
    let designs: [(&str, Draw); 2] = [
        ("failures drawn more", |_, one| if one { 1.0 } else { 0.1 }),
        ("failures drawn less", |_, one| if one { 0.3 } else { 1.0 }),
    ];
    for (name, draw) in designs {
        for (rate, window) in [(0.02, 3000), (0.1, 1000), (0.5, 400)] {
            let got = coverage(rate, window, &draw, 11);
            println!("{name} {rate}: {got}");
            assert!(got >= 0.93, "{name} {rate}: {got}");
        }
    }
}
