//! The ways by which rows reach an answer give the same one: one group at a time, all groups in an array, in parts that are
//! merged, and row by row as states.

use super::arguments::Asked;
use super::clusters::{Clustered, Clusters};
use super::estimator::Estimator;
use super::groups::Groups;
use super::quantile::Quantile;
use super::single::Single;
use crate::stats::seeded::Seeded;
use crate::stats::{ByCluster, Paired, Ppi, Rate, Total, Weighted};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, StringViewArray};
use arrow::compute::{filter, take};
use arrow::datatypes::Float64Type;
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

const ROWS: usize = 600;
const GROUPS: usize = 3;
const ASKED: Asked = Asked { level: 0.95, min_n_eff: 0.0, q: 0.5, verdicts: true };

fn flags(random: &mut Seeded, share: f64) -> ArrayRef {
    let one = |_| (random.unit() > 0.1).then(|| random.unit() < share);
    Arc::new((0..ROWS).map(one).collect::<BooleanArray>())
}

fn numbers(random: &mut Seeded, low: f64) -> ArrayRef {
    Arc::new((0..ROWS).map(|_| Some(low + (1.0 - low) * random.unit())).collect::<Float64Array>())
}

/// Bounds and sizes of an answer.
fn shown(answers: &dyn Array, row: usize) -> Vec<f64> {
    let columns = answers.as_struct();
    let number = |name: &str| columns.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(row);
    ["estimate", "lower", "upper", "n_eff"].map(number).to_vec()
}

fn near(a: &[f64], b: &[f64]) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?} is not {b:?}");
}

/// Answers of one group at a time, of the rows that `keep` has.
fn one_by_one<A: Accumulator>(
    new: impl Fn() -> A,
    values: &[ArrayRef],
    groups: &[usize],
    keep: &BooleanArray,
) -> Vec<Vec<f64>> {
    let answer = |group| {
        let mine: BooleanArray = (0..ROWS).map(|row| Some(groups[row] == group && keep.value(row))).collect();
        let rows: Vec<ArrayRef> = values.iter().map(|column| filter(column, &mine).unwrap()).collect();
        // In two parts, of which the states are merged.
        let half = rows[0].len() / 2;
        let mut merged = new();
        for (from, count) in [(0, half), (half, rows[0].len() - half)] {
            let part: Vec<ArrayRef> = rows.iter().map(|column| column.slice(from, count)).collect();
            let mut single = new();
            single.update_batch(&part).unwrap();
            let state = single.state().unwrap();
            let columns: Vec<ArrayRef> = state.iter().map(|value| value.to_array().unwrap()).collect();
            merged.merge_batch(&columns).unwrap();
        }
        let ScalarValue::Struct(found) = merged.evaluate().unwrap() else { panic!("an answer is a struct") };
        shown(found.as_ref(), 0)
    };
    (0..GROUPS).map(answer).collect()
}

fn every_way<E: Estimator>(values: &[ArrayRef]) {
    let groups: Vec<usize> = (0..ROWS).map(|row| row * 7 % GROUPS).collect();
    let keep: BooleanArray = (0..ROWS).map(|row| (row % 11 != 0).then_some(row % 5 != 0)).collect();
    let certain: BooleanArray = keep.iter().map(|kept| Some(kept == Some(true))).collect();
    let expected = one_by_one(|| Single::<E>::new(ASKED), values, &groups, &certain);

    let mut direct = Groups::<E>::new(ASKED);
    direct.update_batch(values, &groups, Some(&keep), GROUPS).unwrap();
    // The first group alone, then the rest.
    let first = direct.evaluate(EmitTo::First(1)).unwrap();
    near(&shown(&first, 0), &expected[0]);
    let rest = direct.evaluate(EmitTo::All).unwrap();
    near(&shown(&rest, 0), &expected[1]);
    near(&shown(&rest, 1), &expected[2]);

    let mut partial = Groups::<E>::new(ASKED);
    partial.update_batch(values, &groups, Some(&keep), GROUPS).unwrap();
    let mut merged = Groups::<E>::new(ASKED);
    merged.merge_batch(&partial.state(EmitTo::All).unwrap(), &[2, 1, 0], GROUPS).unwrap();
    let turned = merged.evaluate(EmitTo::All).unwrap();
    (0..GROUPS).for_each(|at| near(&shown(&turned, at), &expected[2 - at]));

    let states = Groups::<E>::new(ASKED).convert_to_state(values, Some(&keep)).unwrap();
    let mut late = Groups::<E>::new(ASKED);
    late.merge_batch(&states, &groups, GROUPS).unwrap();
    let late = late.evaluate(EmitTo::All).unwrap();
    (0..GROUPS).for_each(|at| near(&shown(&late, at), &expected[at]));
}

#[test]
fn all_ways_give_one_answer() {
    let random = &mut Seeded::new(4);
    let (passed, other) = (flags(random, 0.8), flags(random, 0.7));
    let (value, pi, pi_label) = (numbers(random, -1.0), numbers(random, 0.2), numbers(random, 0.3));
    every_way::<Rate>(&[passed.clone(), pi.clone()]);
    every_way::<Weighted>(&[value.clone(), pi.clone()]);
    every_way::<Total>(&[value.clone(), pi.clone()]);
    every_way::<Paired>(&[passed.clone(), other.clone(), pi.clone()]);
    every_way::<Ppi>(&[passed, other, pi.clone(), pi_label.clone()]);
    let groups: Vec<usize> = (0..ROWS).map(|row| row % GROUPS).collect();
    let all = BooleanArray::from(vec![true; ROWS]);
    let parts =
        one_by_one(|| Quantile::new(ASKED), &[value.clone(), pi_label.clone(), pi.clone()], &groups, &all);
    // Another order of the rows.
    let turned = arrow::array::UInt32Array::from_iter_values((0..ROWS as u32).rev());
    let values = [value, pi_label, pi].map(|column| take(&column, &turned, None).unwrap());
    let groups: Vec<usize> = groups.into_iter().rev().collect();
    let again = one_by_one(|| Quantile::new(ASKED), &values, &groups, &all);
    parts.iter().zip(&again).for_each(|(a, b)| near(a, b));
}

/// Rows that name the same cluster, or none, in parts that are merged.
fn by_cluster<E: Clustered>(values: &[ArrayRef], named: &StringViewArray) {
    let groups: Vec<usize> = (0..ROWS).map(|row| row * 7 % GROUPS).collect();
    let all = BooleanArray::from(vec![true; ROWS]);
    let (batch, complete) = E::batch(values).unwrap();
    let at = values.len();
    let mut values = values.to_vec();
    values.push(Arc::new(named.clone()));
    let answers = one_by_one(|| Clusters::<E>::new(ASKED, at), &values, &groups, &all);
    for (group, got) in answers.iter().enumerate() {
        let mut seen = ByCluster::<E>::new();
        for row in (0..ROWS).filter(|row| groups[*row] == group) {
            if complete.as_ref().is_none_or(|complete| complete.is_valid(row)) {
                let mut one = E::default();
                one.push(&batch, row).unwrap();
                let key = named.is_valid(row).then(|| named.value(row).len() as u128);
                seen.push(key, &one);
            }
        }
        let expected = E::answer_of(&seen, &ASKED).unwrap();
        let (lower, upper) = (expected.lower.unwrap(), expected.upper.unwrap());
        near(got, &[expected.estimate, lower, upper, expected.n_eff]);
    }
}

#[test]
fn rows_of_a_cluster_find_each_other_in_merged_states() {
    let random = &mut Seeded::new(6);
    let (passed, other, pi) = (flags(random, 0.8), flags(random, 0.7), numbers(random, 0.2));
    let value = numbers(random, -1.0);
    let name = |_| (random.unit() > 0.1).then(|| "x".repeat(1 + (random.bits() % 40) as usize));
    let named: StringViewArray = (0..ROWS).map(name).collect();
    by_cluster::<Rate>(&[passed.clone(), pi.clone()], &named);
    by_cluster::<Weighted>(&[value, pi.clone()], &named);
    by_cluster::<Paired>(&[passed.clone(), other, pi.clone()], &named);
    // What a state takes is counted.
    let mut few = Clusters::<Rate>::new(ASKED, 2);
    let before = few.size();
    few.update_batch(&[passed, pi, Arc::new(named)]).unwrap();
    assert!(few.size() >= before + 40 * 32, "{} {before}", few.size());
}

#[test]
fn no_rows_are_no_answer() {
    let mut none = Groups::<Rate>::new(ASKED);
    let empty: [ArrayRef; 2] = [
        Arc::new(BooleanArray::from(vec![None, Some(true)])),
        Arc::new(Float64Array::from(vec![Some(0.5), None])),
    ];
    none.update_batch(&empty, &[0, 1], None, 2).unwrap();
    assert_eq!(none.evaluate(EmitTo::All).unwrap().null_count(), 2);
    let ScalarValue::Struct(found) = Single::<Ppi>::new(ASKED).evaluate().unwrap() else {
        panic!("a struct")
    };
    assert!(found.is_null(0));
}
