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

/// Whether `pi` may be an inclusion probability: above 0 and at most 1.
pub fn is_probability(pi: f64) -> bool {
    pi > 0.0 && pi <= 1.0
}
