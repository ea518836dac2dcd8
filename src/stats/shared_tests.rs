//! Bounds of a computation of its own, by bisection on SciPy 1.17's binomial distribution, and the order of all bounds.

use super::*;

fn lower(ones: u32, items: u32) -> Option<f64> {
    Shared { ones: f64::from(ones), zeros: f64::from(items - ones), error: 0.05, most: 0.06 }.lower()
}

#[test]
fn bounds_by_another_computation() {
    for (ones, items, expected) in [
        (8, 30, 0.139_638_142_747),
        (15, 30, 0.331_472_780_089),
        // Where the upper end of a sample without ones has just been passed.
        (7, 300, 0.009_936_081_944),
        (8, 300, 0.009_936_081_944),
        (9, 300, 0.015_841_995_920),
        (12, 300, 0.021_849_599_250),
        (8, 100, 0.038_767_100_366),
        (9, 100, 0.048_286_105_245),
        (20, 100, 0.133_543_576_110),
        (11, 1_000, 0.006_027_860_785),
        (60, 1_000, 0.046_657_441_619),
        (9, 12, 0.450_564_800_341),
    ] {
        let found = lower(ones, items).unwrap();
        assert!((found - expected).abs() < 1e-9, "{ones} of {items}: {found}");
    }
    assert_eq!((lower(21, 30), lower(20, 20)), (None, None));
}

#[test]
fn more_ones_have_no_lower_bound() {
    for items in [5, 12, 30, 100, 1_000, 1_000_000] {
        let mut before = 0.0;
        for ones in 1..=items.min(70) {
            let found = lower(ones, items).unwrap_or(MIDDLE);
            assert!(found >= before - 1e-12 && found <= MIDDLE, "{ones} of {items}: {found} after {before}");
            before = found;
        }
    }
}
