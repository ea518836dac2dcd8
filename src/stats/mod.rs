//! Pure mathematics: estimators and intervals for quality numbers that come from a sample.
//!
//! | file | what |
//! |---|---|
//! | `estimate` | what every estimator answers |
//! | `normal` | distribution function and quantiles of the normal distribution |
//! | `beta` | the incomplete beta function |
//! | `root` | the root of a function between two points |
//! | `student` | quantiles of Student's t distribution |
//! | `wilson` | the score interval of a proportion, with a sample size that need not be whole |
//! | `proportion` | the mid-P and the exact interval of a proportion, and those between, with counts that need not be whole |
//! | `weighted` | mean of items that were drawn with unequal probabilities |
//! | `shared` | the lower end of an interval of whole counts, where both ends share what it may err |
//! | `skewed` | the same where weights differ and few of them are heavy |
//! | `rate` | rate of such items, under designs that the outcome may have steered |
//! | `total` | total over all items, of which a part was drawn |
//! | `quantile` | quantiles of such items, in bounded memory |
//! | `matched` | verdicts in pairs: Tango's interval, McNemar's test |
//! | `multiple` | several tests at once |
//! | `difference` | mean difference of two sides, group by group: Student, Hall's transformation, sign test |
//! | `paired` | difference of two values of the same item |
//! | `by_cluster` | rates, means and differences of items of which some are alike |
//! | `clustered` | rate and mean of values that come in clusters |
//! | `comoments` | weighted means, squares and products of pairs |
//! | `ppi` | prediction-powered inference: an evaluator on all items, labels on few |
//! | `prevalence` | Rogan and Gladen: a rate corrected by sensitivity and specificity |
//! | `confusion` | which labels were taken for which |
//! | `ranking` | how well scores tell two classes apart: areas, calibration error, bootstrap over groups |
//! | `threshold` | the threshold that labelled items ask for, and what it does on others |
//! | `betting` | is a rate above a bound, looked at after every item: e-processes, e-detectors, change points |
//! | `calibration` | scores to probabilities, learned from labels; how far they can be trusted |
//! | `draw` | which items to draw for a label |
//! | `agreement` | how far people agree, beyond chance |
//! | `seeded` | random numbers from a seed |
//!
//! No I/O, no clock; what is random is drawn from a seed. Levels are confidence levels such as 0.95; probabilities lie in 0..=1.

pub mod agreement;
pub mod betting;
pub mod by_cluster;
pub mod calibration;
pub mod clustered;
pub mod confusion;
pub mod difference;
pub mod draw;
pub mod matched;
pub mod multiple;
pub mod normal;
pub mod paired;
pub mod ppi;
pub mod prevalence;
pub mod proportion;
pub mod quantile;
pub mod ranking;
pub mod rate;
pub mod seeded;
pub mod student;
pub mod threshold;
pub mod total;
pub mod weighted;
pub mod wilson;

mod beta;
mod comoments;
#[cfg(test)]
mod documented_tests;
mod estimate;
mod root;
mod shared;
mod skewed;

pub use by_cluster::ByCluster;
pub use clustered::Clustered;
pub use estimate::{Estimate, is_probability};
pub use paired::Paired;
pub use ppi::Ppi;
pub use quantile::Quantiles;
pub use rate::Rate;
pub use total::Total;
pub use weighted::Weighted;
