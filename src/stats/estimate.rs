//! What every estimator answers.

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The estimate, in the unit of the values; a rate is a share in 0..=1.
    pub estimate: f64,
    /// Lower end of the interval; none where the sample cannot bound it.
    pub lower: Option<f64>,
    /// Upper end of the interval; none where the sample cannot bound it.
    pub upper: Option<f64>,
    /// How many items were seen; of labelled items where labels correct the estimate.
    pub n: u64,
    /// Kish's effective sample size (Σw)² / Σw² of those items: equals `n` for equal probabilities and shrinks as they
    /// spread.
    pub n_eff: f64,
}

impl Estimate {
    /// The same for values that lie from `least` to `most`: Student's interval of a few reaches beyond what there is. An end is
    /// never cut past the estimate itself.
    #[must_use]
    pub fn within(self, (least, most): (f64, f64)) -> Self {
        let lower = self.lower.map(|lower| lower.max(least.min(self.estimate)));
        let upper = self.upper.map(|upper| upper.min(most.max(self.estimate)));
        Self { lower, upper, ..self }
    }

    /// The same for the difference of two such values.
    #[must_use]
    pub fn within_difference(self, (least, most): (f64, f64)) -> Self {
        self.within((least - most, most - least))
    }
}

/// Whether `pi` may be an inclusion probability: above 0 and at most 1.
pub fn is_probability(pi: f64) -> bool {
    pi > 0.0 && pi <= 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_few_ends_where_the_values_end() {
        let few = Estimate { estimate: 0.833, lower: Some(-1.284), upper: Some(2.951), n: 2, n_eff: 2.0 };
        let ends = |found: Estimate| (found.lower.unwrap(), found.upper.unwrap());
        assert_eq!(ends(few.within((0.0, 1.0))), (0.0, 1.0));
        assert_eq!(ends(few.within((0.0, f64::INFINITY))), (0.0, 2.951));
        assert_eq!(ends(few.within_difference((0.0, 1.0))), (-1.0, 1.0));
        assert_eq!(ends(few.within_difference((0.0, f64::INFINITY))), (-1.284, 2.951));
        let one = Estimate { lower: None, upper: None, ..few };
        assert_eq!(one.within((0.0, 1.0)), one);
        assert_eq!(ends(few.within((0.9, 1.0))), (0.833, 1.0), "never past the estimate");
    }
}
