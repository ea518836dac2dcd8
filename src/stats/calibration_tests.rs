use super::super::seeded::Seeded;
use super::*;

const VALUES: [f64; 10] = [0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const GOOD: [u8; 10] = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1];
const WEIGHTS: [f64; 10] = [1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0];

fn labels(weights: [f64; 10]) -> Vec<Labelled> {
    let one = |at: usize| Labelled { value: VALUES[at], good: GOOD[at] == 1, weight: weights[at] };
    (0..10).map(one).collect()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

/// Values of scikit-learn's `IsotonicRegression` with these weights; the ends are kept off 0 and 1.
#[test]
fn pools_are_those_of_the_reference() {
    let curve = Method::Isotonic.fit(&labels(WEIGHTS)).unwrap();
    let (low, high) = (1.0 / 12.0, 11.0 / 12.0);
    for (value, expected) in [
        (0.0, low),
        (0.1, low),
        (0.15, f64::midpoint(low, 0.5)),
        (0.2, 0.5),
        (0.3, 0.5),
        (0.45, 0.75),
        (0.65, 0.75),
        (0.8, 0.75),
        (0.9, high),
        (1.5, high),
    ] {
        near(curve.probability(value), expected);
    }
    assert!(curve.rises() && curve.probability(f64::NAN).is_nan());
}

/// Values of SciPy's BFGS on the same loss with Lin, Lin and Weng's targets.
#[test]
fn the_logistic_curve_is_that_of_the_reference() {
    let Some(Curve::Platt { slope, intercept }) = Method::Platt.fit(&labels([1.0; 10])) else {
        panic!("no curve")
    };
    near(slope, 1.957_184_438_869_001_4);
    near(intercept, -0.917_797_637_861_628_2);
    // Weights only count against each other.
    assert_eq!(Method::Platt.fit(&labels([4.0; 10])), Method::Platt.fit(&labels([1.0; 10])));
}

/// Far from the labels the logistic function is 1 by rounding.
#[test]
fn no_curve_is_certain_however_far_from_its_labels() {
    for method in Method::ALL {
        let curve = method.fit(&labels([1.0; 10])).unwrap();
        for value in [-1e300, -1e4, 1e4, 1e300, f64::INFINITY] {
            let probability = curve.probability(value);
            assert!(probability > 0.0 && probability < 1.0, "{method:?} at {value}: {probability}");
        }
        assert!(curve.probability(f64::NAN).is_nan());
    }
}

#[test]
fn a_metric_where_low_is_good_gives_the_mirrored_curve() {
    let mirrored = |item: &Labelled| Labelled { value: -item.value, ..*item };
    for method in Method::ALL {
        let up = method.fit(&labels(WEIGHTS)).unwrap();
        let down = method.fit(&labels(WEIGHTS).iter().map(mirrored).collect::<Vec<_>>()).unwrap();
        assert!(!down.rises(), "{down:?}");
        for value in VALUES {
            near(up.probability(value), down.probability(-value));
        }
    }
}

#[test]
fn one_kind_of_label_or_one_value_gives_no_curve() {
    for method in Method::ALL {
        let good: Vec<_> = labels(WEIGHTS).into_iter().filter(|i| i.good).collect();
        assert_eq!(method.fit(&good), None);
        let flat: Vec<_> = labels(WEIGHTS).into_iter().map(|i| Labelled { value: 0.5, ..i }).collect();
        assert_eq!(method.fit(&flat), None);
        assert_eq!(method.fit(&[]), None);
    }
    // Values that part the labels: still a finite curve that is sure of neither side.
    let apart: Vec<_> =
        (0..20).map(|i| Labelled { value: f64::from(i), good: i >= 10, weight: 1.0 }).collect();
    for method in Method::ALL {
        let curve = method.fit(&apart).unwrap();
        let (low, high) = (curve.probability(-1.0), curve.probability(20.0));
        assert!(low > 0.0 && low < 0.1 && high > 0.9 && high < 1.0, "{curve:?}");
    }
}

/// An evaluator that is far too sure: its odds are those of the truth, cubed.
fn too_sure(n: usize) -> Vec<Labelled> {
    let mut random = Seeded::new(3);
    let one = |_| {
        let truth = random.unit();
        let odds = (truth / (1.0 - truth)).powi(3);
        let good = random.unit() < truth;
        Labelled { value: odds / (1.0 + odds), good, weight: 1.0 }
    };
    (0..n).map(one).collect()
}

#[test]
fn calibration_halves_the_error_on_labels_that_it_has_not_seen() {
    let items = too_sure(2_000);
    let raw: Vec<Said> =
        items.iter().map(|i| Said { probability: i.value, good: i.good, weight: 1.0 }).collect();
    let before = ece(&reliability(&raw));
    for method in Method::ALL {
        let said = crossed(&items, method, 7).unwrap();
        let after = ece(&reliability(&said));
        assert!(before > 0.15 && after < before / 2.0, "{method:?}: {before} to {after}");
        assert!(brier(&said) < brier(&raw), "{method:?}");
        assert_eq!(said.len(), items.len());
    }
    // The true curve is no logistic one of the value: pools follow it more closely.
    let error = |method| ece(&reliability(&crossed(&items, method, 7).unwrap()));
    assert!(error(Method::Isotonic) < error(Method::Platt));
}

/// Labels drawn mostly where the evaluator is unsure, weighed by their probability, give the curve of all items.
#[test]
fn weights_undo_the_choice_of_labels() {
    let items = too_sure(20_000);
    let mut random = Seeded::new(5);
    let chance = |item: &Labelled| 0.02 + 0.3 * item.value * (1.0 - item.value);
    let drawn: Vec<Labelled> = items
        .iter()
        .filter(|item| random.unit() < chance(item))
        .map(|item| Labelled { weight: 1.0 / chance(item), ..*item })
        .collect();
    let (all, some) = (Method::Isotonic.fit(&items).unwrap(), Method::Isotonic.fit(&drawn).unwrap());
    let apart: f64 = items.iter().map(|i| (all.probability(i.value) - some.probability(i.value)).abs()).sum();
    assert!(apart / (items.len() as f64) < 0.05, "{} of {} labels", apart / 20_000.0, drawn.len());
}
