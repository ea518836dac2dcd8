//! Pure mathematics: estimators and intervals for quality numbers that come from a sample.
//!
//! | file | what |
//! |---|---|
//! | `normal` | distribution function and quantiles of the normal and of Student's t distribution |
//! | `wilson` | the score interval of a proportion, with a sample size that need not be whole |
//! | `confusion` | which labels were taken for which |
//! | `ranking` | how well scores tell two classes apart: areas, calibration error, bootstrap over groups |
//! | `betting` | is a rate above a bound, looked at after every item: e-processes, e-detectors, change points |
//! | `weighted` | mean and rate of items that were drawn with unequal probabilities |
//!
//! No I/O, no clock; what is random is drawn from a seed. Levels are confidence levels such as 0.95; probabilities lie in 0..=1.

pub mod betting;
pub mod confusion;
pub mod normal;
pub mod ranking;
pub mod weighted;
pub mod wilson;

pub use weighted::{Estimate, Weighted};
