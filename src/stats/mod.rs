//! Pure mathematics: estimators and intervals for quality numbers that come from a sample.
//!
//! | file | what |
//! |---|---|
//! | `normal` | distribution function and quantiles of the normal and of Student's t distribution |
//! | `wilson` | the score interval of a proportion, with a sample size that need not be whole |
//! | `weighted` | mean and rate of items that were drawn with unequal probabilities |
//!
//! No I/O, no clock, no randomness. Levels are confidence levels such as 0.95; probabilities lie in 0..=1.

pub mod normal;
pub mod weighted;
pub mod wilson;

pub use weighted::{Estimate, Weighted};
