//! The estimators of fixed size.

use super::arguments::Asked;
use super::columns::{booleans, complete, finite, floats, improbable, numbers};
use super::estimator::{Estimator, Loaded, Saved};
use crate::stats::ppi::Item;
use crate::stats::rate::{Class, Shape};
use crate::stats::{Estimate, Paired, Ppi, Rate, Total, Weighted};
use arrow::array::{Array, ArrayRef, BooleanArray, Float64Array};
use arrow::buffer::NullBuffer;
use datafusion::error::{DataFusionError, Result};

const PI: &str = "inclusion_probability";
const PI_LABEL: &str = "label_probability";

/// Ends the row unless the estimator took it.
fn taken(taken: bool, pi: f64) -> Result<()> {
    if taken { Ok(()) } else { Err(improbable(PI, pi)) }
}

impl Estimator for Rate {
    const STATE: (&'static [&'static str], &'static [&'static str]) = (
        &["zeros", "ones"],
        &[
            "zeros_weight",
            "zeros_square",
            "ones_weight",
            "ones_square",
            "cube",
            "zeros_inverse",
            "ones_inverse",
            "inverse_square",
        ],
    );
    type Batch = (BooleanArray, Float64Array);

    fn batch(values: &[ArrayRef]) -> Result<(Self::Batch, Option<NullBuffer>)> {
        let (passed, pi) = (booleans(&values[0])?, floats(&values[1])?);
        Ok(((passed.clone(), pi.clone()), complete([passed as &dyn Array, pi])))
    }

    #[inline]
    fn push(&mut self, (passed, pi): &Self::Batch, row: usize) -> Result<()> {
        taken(Rate::push(self, passed.value(row), pi.value(row)), pi.value(row))
    }

    fn merge(&mut self, other: &Self) {
        Rate::merge(self, other);
    }

    fn answer(&self, asked: &Asked) -> Option<Estimate> {
        self.two_sided(asked.level)
    }

    fn save(&self, to: &mut Saved) {
        let ([zeros, ones], shape) = (self.classes(), self.shape());
        let classes = [zeros.weight, zeros.square, ones.weight, ones.square];
        let inverses = [shape.inverses[0], shape.inverses[1], shape.inverse_square];
        to.row(&[zeros.n, ones.n], classes.into_iter().chain([shape.cube]).chain(inverses));
    }

    fn load(from: &mut Loaded<'_>) -> Self {
        let (zeros, ones) = (from.count(), from.count());
        let class = |n, [weight, square]: [f64; 2]| Class { n, weight, square };
        let (zeros, ones) = (class(zeros, from.numbers()), class(ones, from.numbers()));
        let [cube, of_zeros, of_ones, inverse_square] = from.numbers();
        Rate::of_shape(zeros, ones, Shape { cube, inverses: [of_zeros, of_ones], inverse_square })
    }
}

impl Estimator for Weighted {
    const STATE: (&'static [&'static str], &'static [&'static str]) =
        (&["n"], &["weight", "mean", "square", "square_mean", "square_spread"]);
    type Batch = (Float64Array, Float64Array);

    fn batch(values: &[ArrayRef]) -> Result<(Self::Batch, Option<NullBuffer>)> {
        let (value, pi) = (numbers(&values[0])?, floats(&values[1])?);
        let rows = complete([&value as &dyn Array, pi]);
        Ok(((value, pi.clone()), rows))
    }

    #[inline]
    fn push(&mut self, (value, pi): &Self::Batch, row: usize) -> Result<()> {
        taken(Weighted::push(self, finite("value", value.value(row))?, pi.value(row)), pi.value(row))
    }

    fn merge(&mut self, other: &Self) {
        Weighted::merge(self, other);
    }

    fn answer(&self, asked: &Asked) -> Option<Estimate> {
        self.mean(asked.level)
    }

    fn save(&self, to: &mut Saved) {
        let (n, parts) = self.parts();
        to.row(&[n], parts);
    }

    fn load(from: &mut Loaded<'_>) -> Self {
        Weighted::from_parts(from.count(), from.numbers())
    }
}

impl Estimator for Total {
    const STATE: (&'static [&'static str], &'static [&'static str]) =
        (&["n", "negative"], &["weight", "square", "seen", "unseen", "variance", "fourth"]);
    type Batch = <Weighted as Estimator>::Batch;

    fn batch(values: &[ArrayRef]) -> Result<(Self::Batch, Option<NullBuffer>)> {
        <Weighted as Estimator>::batch(values)
    }

    #[inline]
    fn push(&mut self, (value, pi): &Self::Batch, row: usize) -> Result<()> {
        taken(Total::push(self, finite("value", value.value(row))?, pi.value(row)), pi.value(row))
    }

    fn merge(&mut self, other: &Self) {
        Total::merge(self, other);
    }

    fn answer(&self, asked: &Asked) -> Option<Estimate> {
        self.estimate(asked.level)
    }

    fn save(&self, to: &mut Saved) {
        let (counts, parts) = self.parts();
        to.row(&counts, parts);
    }

    fn load(from: &mut Loaded<'_>) -> Self {
        let counts = [from.count(), from.count()];
        Total::from_parts(counts, from.numbers())
    }
}

impl Estimator for Paired {
    const STATE: (&'static [&'static str], &'static [&'static str]) = (
        &["n"],
        &["weight", "mean", "square", "square_mean", "square_spread", "far", "far_square_mean", "far_spread"],
    );
    type Batch = (Float64Array, Float64Array, Float64Array);

    fn batch(values: &[ArrayRef]) -> Result<(Self::Batch, Option<NullBuffer>)> {
        let (a, b, pi) = (numbers(&values[0])?, numbers(&values[1])?, floats(&values[2])?);
        let rows = complete([&a as &dyn Array, &b, pi]);
        Ok(((a, b, pi.clone()), rows))
    }

    fn push(&mut self, (a, b, pi): &Self::Batch, row: usize) -> Result<()> {
        let (a, b) = (finite("a", a.value(row))?, finite("b", b.value(row))?);
        taken(Paired::push(self, a, b, pi.value(row)), pi.value(row))
    }

    fn merge(&mut self, other: &Self) {
        Paired::merge(self, other);
    }

    fn answer(&self, asked: &Asked) -> Option<Estimate> {
        if asked.verdicts { self.rate(asked.level) } else { self.mean(asked.level) }
    }

    fn save(&self, to: &mut Saved) {
        let [difference, distance] = self.parts();
        let ((n, near), (_, [_, far, _, far_mean, far_spread])) = (difference.parts(), distance.parts());
        to.row(&[n], near.into_iter().chain([far, far_mean, far_spread]));
    }

    fn load(from: &mut Loaded<'_>) -> Self {
        let (n, near) = (from.count(), from.numbers::<5>());
        let [far, far_mean, far_spread] = from.numbers();
        let distance = Weighted::from_parts(n, [near[0], far, near[2], far_mean, far_spread]);
        Paired::of(Weighted::from_parts(n, near), distance)
    }
}

/// Scores, labels and the probabilities of both.
pub struct Labelled {
    score: Float64Array,
    label: Float64Array,
    pi: Float64Array,
    pi_label: Float64Array,
}

impl Estimator for Ppi {
    const STATE: (&'static [&'static str], &'static [&'static str]) = (
        &["n", "zeros", "ones"],
        &[
            "weight",
            "mean",
            "square",
            "square_mean",
            "square_spread", // all scores
            "zeros_weight",
            "zeros_square",
            "ones_weight",
            "ones_square", // labels
            "v",
            "v_x",
            "v_y",
            "v_xx",
            "v_xy",
            "v_yy", // pairs of both, by their three weights
            "vv",
            "vv_x",
            "vv_y",
            "vv_xx",
            "vv_xy",
            "vv_yy", //
            "wv",
            "wv_x",
            "wv_y",
            "wv_xx",
            "wv_xy",
            "wv_yy",
        ],
    );
    type Batch = Labelled;

    fn batch(values: &[ArrayRef]) -> Result<(Self::Batch, Option<NullBuffer>)> {
        let batch = Labelled {
            score: numbers(&values[0])?,
            label: numbers(&values[1])?,
            pi: floats(&values[2])?.clone(),
            pi_label: floats(&values[3])?.clone(),
        };
        let rows = complete([&batch.score as &dyn Array, &batch.pi]);
        Ok((batch, rows))
    }

    fn push(&mut self, batch: &Self::Batch, row: usize) -> Result<()> {
        let (score, pi) = (finite("value", batch.score.value(row))?, batch.pi.value(row));
        let label = match (batch.label.is_valid(row), batch.pi_label.is_valid(row)) {
            (false, _) => None,
            (true, true) => Some((finite("label", batch.label.value(row))?, batch.pi_label.value(row))),
            (true, false) => {
                let why = format!("a row has a label and no {PI_LABEL}");
                return Err(DataFusionError::Execution(why));
            }
        };
        if let Some((_, pi_label)) = label
            && !crate::stats::is_probability(pi_label)
        {
            return Err(improbable(PI_LABEL, pi_label));
        }
        taken(Ppi::push(self, Item { score, pi, label }), pi)
    }

    fn merge(&mut self, other: &Self) {
        Ppi::merge(self, other);
    }

    fn answer(&self, asked: &Asked) -> Option<Estimate> {
        if asked.verdicts { self.rate(asked.level) } else { self.mean(asked.level) }
    }

    fn save(&self, to: &mut Saved) {
        let (all, pairs, labels) = self.parts();
        let ((n, all), [zeros, ones]) = (all.parts(), labels.classes());
        let labels = [zeros.weight, zeros.square, ones.weight, ones.square];
        to.row(&[n, zeros.n, ones.n], all.into_iter().chain(labels).chain(pairs.into_iter().flatten()));
    }

    fn load(from: &mut Loaded<'_>) -> Self {
        let (n, zeros, ones) = (from.count(), from.count(), from.count());
        let all = Weighted::from_parts(n, from.numbers());
        let class = |n, [weight, square]: [f64; 2]| Class { n, weight, square };
        let labels = Rate::of(class(zeros, from.numbers()), class(ones, from.numbers()));
        Ppi::from_parts(all, [from.numbers(), from.numbers(), from.numbers()], labels)
    }
}
