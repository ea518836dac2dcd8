use super::*;

const NONE: u32 = 9;

/// Forty items, three raters, four ranks, with answers missing (9).
const TABLE: [[u32; 3]; 40] = [
    [1, 3, 0],
    [1, 9, 1],
    [2, 3, 1],
    [0, 0, 0],
    [1, 1, 1],
    [0, 0, 0],
    [2, 9, 2],
    [3, 3, 3],
    [3, 0, 3],
    [1, 0, 1],
    [0, 0, 0],
    [1, 3, 9],
    [9, 9, 2],
    [1, 3, 9],
    [0, 0, 0],
    [2, 9, 3],
    [0, 2, 1],
    [3, 9, 3],
    [0, 0, 0],
    [2, 0, 2],
    [1, 1, 1],
    [2, 3, 2],
    [0, 0, 1],
    [3, 3, 3],
    [2, 0, 2],
    [3, 2, 3],
    [3, 2, 9],
    [0, 0, 0],
    [0, 9, 0],
    [0, 9, 2],
    [3, 2, 9],
    [0, 0, 0],
    [0, 9, 3],
    [0, 2, 0],
    [1, 2, 1],
    [3, 3, 3],
    [0, 2, 2],
    [3, 0, 2],
    [1, 9, 1],
    [1, 0, 9],
];

fn units() -> Vec<Unit> {
    let unit = |row: &[u32; 3]| {
        (0u32..).zip(row).filter(|(_, what)| **what != NONE).map(|(rater, what)| (rater, *what)).collect()
    };
    TABLE.iter().map(unit).collect()
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// Values of the Python packages krippendorff, statsmodels (`cohens_kappa`) and irrCAC.
#[test]
fn agrees_with_the_references() {
    let units = units();
    let all: Vec<&Unit> = units.iter().collect();
    near(krippendorff(&all, 4, Level::Nominal), 0.374_652_162_914_242_3);
    near(krippendorff(&all, 4, Level::Ordinal), 0.499_513_448_221_078);
    near(krippendorff(&all, 4, Level::Interval), 0.498_637_071_651_090_4);
    near(cohen(&all, (0, 1), 4, Weights::Plain), 0.201_716_738_197_424_9);
    near(cohen(&all, (0, 1), 4, Weights::Linear), 0.291_158_536_585_365_7);
    near(cohen(&all, (0, 1), 4, Weights::Quadratic), 0.388_019_060_585_432_23);
    near(gwet(&all, 4), 0.364_910_601_953);
}

#[test]
fn one_answer_for_all_has_nothing_beyond_chance() {
    let same: Vec<Unit> = (0..30).map(|_| vec![(0, 1), (1, 1)]).collect();
    let all: Vec<&Unit> = same.iter().collect();
    near(percent(&all), 1.0);
    assert_eq!(krippendorff(&all, 2, Level::Nominal), None);
    assert_eq!(cohen(&all, (0, 1), 2, Weights::Plain), None);
    // Where one label dominates AC1 tells that raters agree.
    near(gwet(&all, 2), 1.0);
    assert_eq!(percent(&[]), None);
    assert_eq!(gwet(&[&vec![(0, 1)]], 2), None);
}

#[test]
fn intervals_hold_the_measure_and_few_items_have_none() {
    let units = units();
    let alpha = |units: &[&Unit]| krippendorff(units, 4, Level::Nominal);
    let found = with_interval(&units, 400, 7, alpha).unwrap();
    assert!(found.lower < found.estimate && found.estimate < found.upper, "{found:?}");
    assert!(found.upper - found.lower < 0.5 && found.items == 39, "{found:?}");
    assert_eq!(with_interval(&units, 400, 7, alpha), Some(found));
    assert_eq!(with_interval(&units[..LEAST_ITEMS - 1], 400, 7, alpha), None);
}
