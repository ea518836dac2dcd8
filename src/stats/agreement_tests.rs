use super::*;
use serde::Deserialize;

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

/// A table of tests/fixtures/agreement.
#[derive(Deserialize)]
struct Table {
    categories: usize,
    alpha: Alpha,
    kappa: Vec<Kappa>,
    ac1: f64,
    /// The answers to each item, one a rater; none where it is missing.
    rows: Vec<Vec<Option<u32>>>,
}

#[derive(Deserialize)]
struct Alpha {
    nominal: f64,
    ordinal: f64,
    interval: f64,
}

#[derive(Deserialize)]
struct Kappa {
    raters: (u32, u32),
    plain: f64,
    linear: f64,
    quadratic: f64,
}

impl Table {
    fn units(&self) -> Vec<Unit> {
        let unit = |row: &Vec<Option<u32>>| {
            (0u32..).zip(row).filter_map(|(rater, what)| what.map(|what| (rater, what))).collect()
        };
        self.rows.iter().map(unit).collect()
    }
}

/// Values of the same packages for tables of two to five raters.
#[test]
fn agrees_with_the_references_on_random_tables() {
    let tables: Vec<Table> =
        serde_json::from_str(include_str!("../../tests/fixtures/agreement/tables.json")).unwrap();
    assert_eq!(tables.len(), 30);
    for table in &tables {
        let units = table.units();
        let all: Vec<&Unit> = units.iter().collect();
        let categories = table.categories;
        for (level, expected) in [
            (Level::Nominal, table.alpha.nominal),
            (Level::Ordinal, table.alpha.ordinal),
            (Level::Interval, table.alpha.interval),
        ] {
            near(krippendorff(&all, categories, level), expected);
        }
        let raters = table.rows[0].len();
        assert_eq!(table.kappa.len(), raters * (raters - 1) / 2);
        for kappa in &table.kappa {
            for (weights, expected) in [
                (Weights::Plain, kappa.plain),
                (Weights::Linear, kappa.linear),
                (Weights::Quadratic, kappa.quadratic),
            ] {
                near(cohen(&all, kappa.raters, categories, weights), expected);
            }
        }
        near(gwet(&all, categories), table.ac1);
    }
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
