//! Aggregates that give a quality number with its interval, for any GROUP BY.
//!
//! | file | what |
//! |---|---|
//! | `arguments` | what each function takes: types, the cluster, and the constants level, min_n_eff and q |
//! | `columns` | the arguments of a batch, row by row |
//! | `answer` | the struct estimate, lower, upper, n, n_eff |
//! | `estimator` | what a function needs of an estimator of `stats`, and its state as columns |
//! | `estimators` | the estimators of fixed size |
//! | `single` | one group at a time |
//! | `groups` | all groups of a GROUP BY in one array |
//! | `quantile` | `quality_quantile`, whose state is a list |
//! | `clusters` | rows of which some are alike, by the cluster that they name |
//! | `rogan_gladen` | a rate corrected by sensitivity and specificity, of one row |
//! | `function` | the functions as DataFusion knows them |
//!
//! A NULL in a value or in a probability leaves the row out. A row whose cluster is NULL is a cluster of its own.

mod answer;
mod arguments;
mod clusters;
mod columns;
mod estimator;
mod estimators;
mod function;
mod groups;
mod quantile;
mod rogan_gladen;
mod single;
#[cfg(test)]
mod tests;

pub use arguments::LEVEL;
pub use function::quality;
pub use rogan_gladen::rogan_gladen;
