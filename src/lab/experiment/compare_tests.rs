//! Two experiments of a few items each.

use super::super::reading::Key;
use super::super::tried::Tried;
use super::*;
use crate::stats::seeded::Seeded;

fn compared(new: &Tried, baseline: &Tried) -> Comparison {
    compare(&new.data(), &baseline.data(), &[], |_, _| Better::Higher)
}

#[test]
fn verdicts_have_tangos_interval_and_regressions_come_first() {
    let baseline = Tried::of(&[&[true], &[true], &[false], &[true]]);
    let new = Tried::of(&[&[true], &[false], &[true], &[true]]);
    let got = compared(&new, &baseline);
    assert_eq!((got.paired, got.unpaired, got.unchanged), (4, 0, 2));
    let metric = &got.metrics[0];
    assert_eq!((metric.difference, metric.p, metric.verdict), (0.0, 1.0, "no difference shown"));
    assert_eq!(
        (metric.lower, metric.upper),
        (
            matched::interval(1, 1, 4, 0.95).unwrap().0.into(),
            matched::interval(1, 1, 4, 0.95).unwrap().1.into()
        )
    );
    let kinds: Vec<(&str, &str)> = got.items.iter().map(|item| (item.item_id.as_str(), item.kind)).collect();
    assert_eq!(kinds, [("1", "regression"), ("2", "improvement")]);
}

#[test]
fn items_that_were_changed_are_left_out() {
    let baseline = Tried::of(&[&[true], &[true], &[true]]);
    let mut new = Tried::of(&[&[true], &[false], &[true]]);
    for (key, run) in &mut new.runs {
        if key.0 == "1" {
            run.item_hash = Some("another".to_owned());
        }
    }
    let got = compared(&new, &baseline);
    assert_eq!((got.paired, got.unpaired, got.items.len()), (2, 1, 0));
}

#[test]
fn repetitions_are_told_as_shares() {
    let baseline = Tried::of(&[&[true, true, true], &[false, true, false]]);
    let new = Tried::of(&[&[true, false, false], &[false, true, false]]);
    let got = compared(&new, &baseline);
    let moved = &got.items[0].metrics[0];
    assert_eq!((moved.baseline.passed, moved.new.passed, moved.new.of), (Some(3), Some(1), 3));
    let metric = &got.metrics[0];
    assert!((metric.difference + 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn runs_that_fail_now_are_told_behind_regressions() {
    let baseline = Tried::of(&[&[true], &[true]]);
    let mut new = Tried::of(&[&[false], &[true]]);
    new.scores.retain(|score| score.item_id == "0");
    for (key, run) in &mut new.runs {
        run.is_error = key.0 == "1";
    }
    let kinds: Vec<&str> = compared(&new, &baseline).items.iter().map(|item| item.kind).collect();
    assert_eq!(kinds, ["regression", "error"]);
}

#[test]
fn a_clear_difference_is_told_and_a_small_one_says_what_it_would_take() {
    let baseline = Tried::of(&[&[true] as &[bool]; 40]);
    let new = Tried::of(&[&[false] as &[bool]; 40]);
    assert_eq!(compared(&new, &baseline).metrics[0].verdict, "worse");
    assert_eq!(compared(&baseline, &new).metrics[0].verdict, "better");
    let mut mixed = vec![&[true] as &[bool]; 40];
    (mixed[3], mixed[7]) = (&[false], &[false]);
    let got = compared(&Tried::of(&mixed), &baseline);
    let metric = &got.metrics[0];
    assert_eq!(metric.verdict, "no difference shown");
    assert!(metric.detectable.unwrap() > 0.05 && metric.n_for_two_points.unwrap() > 40, "{metric:?}");
}

#[test]
fn a_total_collapse_of_repetitions_is_worse_and_too_few_items_are_not() {
    let told = |items: usize, then: &[bool], now: &[bool]| {
        let (then, now) = (vec![then; items], vec![now; items]);
        compared(&Tried::of(&now), &Tried::of(&then))
    };
    let got = told(20, &[true; 3], &[false; 3]);
    let metric = &got.metrics[0];
    assert_eq!((metric.verdict, metric.difference, metric.p), ("worse", -1.0, 0.5_f64.powi(19)));
    assert!(metric.lower == Some(-1.0) && metric.upper.unwrap() < -0.6, "{metric:?}");
    assert_eq!((got.items.len(), got.items[0].kind), (20, "regression"));
    // One repetition of three less on every item is an equal shift.
    assert_eq!(told(20, &[true; 3], &[true, true, false]).metrics[0].verdict, "worse");
    assert_eq!(told(20, &[false; 3], &[true; 3]).metrics[0].verdict, "better");
    // Four items on one side happen by chance once in eight.
    assert_eq!(told(4, &[true; 3], &[false; 3]).metrics[0].p, 0.125);
    assert_eq!(told(4, &[true; 3], &[false; 3]).metrics[0].verdict, "no difference shown");
    assert_eq!(told(20, &[true; 3], &[true; 3]).metrics[0].verdict, "no difference shown");
}

/// With three repetitions and a true difference of -0.1 the interval holds it in 93.5 to 97 % of 1,000 draws of 60 items.
#[test]
fn the_interval_over_repetitions_covers() {
    let (mut draw, mut held) = (Seeded::new(11), 0);
    for _ in 0..1_000 {
        let (mut now, mut then) = (Vec::new(), Vec::new());
        for _ in 0..60 {
            let ease = 0.2 + 0.7 * draw.unit();
            then.push((0..3).map(|_| draw.unit() < ease).collect::<Vec<_>>());
            now.push((0..3).map(|_| draw.unit() < ease - 0.1).collect::<Vec<_>>());
        }
        let slices = |all: &[Vec<bool>]| Tried::of(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let got = compared(&slices(&now), &slices(&then));
        let metric = &got.metrics[0];
        held += usize::from(metric.lower.unwrap() <= -0.1 && -0.1 <= metric.upper.unwrap());
    }
    assert!((935..=970).contains(&held), "{held}");
}

/// Of forty items the half in German collapses: the slice is told, the other is not, and all of them share the rate of false
/// discoveries.
#[test]
fn slices_share_a_rate_of_false_discoveries() {
    let baseline = Tried::of(&[&[true] as &[bool]; 40]);
    let passed: Vec<Vec<bool>> = (0..40).map(|at| vec![at % 2 == 0 || at > 20]).collect();
    let mut new = Tried::of(&passed.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for (at, item) in new.items.iter_mut().enumerate() {
        item.tags = vec![if at % 2 == 0 { "en" } else { "de" }.to_owned()];
        item.split = Some("test".to_owned());
    }
    let dimensions = Dimension::list(Some("tag,split")).unwrap();
    let got = compare(&new.data(), &baseline.data(), &dimensions, |_, _| Better::Higher);
    let told: Vec<(&str, usize, &str)> = got
        .slices
        .iter()
        .map(|slice| (slice.value.as_str(), slice.paired, slice.metrics[0].verdict))
        .collect();
    assert_eq!(told, [("de", 20, "worse"), ("en", 20, "no difference shown"), ("test", 40, "worse")]);
    // By hand: ten verdicts lost of ten that differ are 2/2^10; three such p-values of four are each adjusted by 4/3.
    let lost = 2.0 * 0.5_f64.powi(10);
    let metric = &got.slices[0].metrics[0];
    assert!(
        (metric.p - lost).abs() < 1e-12 && (metric.p_adjusted - lost * 4.0 / 3.0).abs() < 1e-12,
        "{metric:?}"
    );
    assert_eq!(got.metrics[0].p_adjusted, metric.p_adjusted);
}

#[test]
fn what_runs_take_is_compared_in_pairs_and_less_is_better() {
    let (mut baseline, mut new) =
        (Tried::of(&[&[true] as &[bool]; 30]), Tried::of(&[&[true] as &[bool]; 30]));
    let at = |key: &Key| key.0.parse::<f64>().unwrap();
    for (key, run) in &mut baseline.runs {
        (run.duration_ms, run.input_tokens) = (Some(100.0 + 10.0 * at(key)), Some(5));
    }
    for (key, run) in &mut new.runs {
        (run.duration_ms, run.input_tokens) = (Some(120.0 + 10.0 * at(key) + at(key) % 3.0), Some(5));
        run.is_error = at(key) == 7.0;
    }
    let got = compared(&new, &baseline);
    let [duration, tokens] = got.usage.as_slice() else { panic!("{:?}", got.usage) };
    assert_eq!((duration.metric.as_str(), duration.n, duration.verdict), ("duration_ms", 29, "worse"));
    assert!(duration.lower.unwrap() > 20.0 && duration.upper.unwrap() < 22.0, "{duration:?}");
    assert_eq!(
        (tokens.metric.as_str(), tokens.difference, tokens.verdict),
        ("input_tokens", 0.0, "no difference shown")
    );
}

#[test]
fn values_of_two_items_are_no_further_apart_than_values_can_be() {
    let tried = |metric: &str, values: [f64; 2]| {
        let mut tried = Tried::of(&[&[true], &[true]]);
        for (score, value) in tried.scores.iter_mut().zip(values) {
            (score.evaluator, score.metric) = (metric.into(), metric.into());
            (score.passed, score.value) = (None, Some(value));
        }
        tried
    };
    let ends = |metric: &str| {
        let got = compared(&tried(metric, [0.25, 1.0]), &tried(metric, [1.0, 0.5]));
        assert_eq!(got.metrics[0].measure, "value");
        (got.metrics[0].lower.unwrap(), got.metrics[0].upper.unwrap())
    };
    assert_eq!(ends("groundedness"), (-1.0, 1.0));
    let (lower, upper) = ends("m");
    assert!(lower < -1.0 && upper > 1.0, "of an unknown metric nothing is cut: {lower} {upper}");
}
