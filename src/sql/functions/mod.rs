//! Functions that DataFusion lacks, and bounds on those that could exhaust memory.
//!
//! | file | what |
//! |---|---|
//! | `quality` | `quality_rate`, `ppi_rate` and their like: weighted estimates with intervals, for any GROUP BY |
//! | `zones` | `at_time_zone`: `AT TIME ZONE` of a parameter |
//! | `ages` | `age(later, earlier)` |
//! | `attr` | `attr(json, key)`: one attribute of a JSON object as text |
//! | `calibrated` | `calibrated` and `abstains`: what a score means as a probability |
//! | `checked` | arithmetic of whole numbers that fails where the result does not fit |
//! | `sums` | `sum` of whole numbers that fails beyond 64 bits, or stops there |
//! | `server` | `version()`, `current_setting`, `set_config`, `pg_size_pretty` |
//! | `json` | operators and functions on JSON text, as of PostgreSQL's `jsonb` |
//! | `concat` | the operator `\|\|` on texts, with a bound |
//! | `like` | `like_any`: `LIKE ANY` of a list that is known only when the query runs |
//! | `nearest` | casts to whole numbers, which round |
//! | `operators` | intervals times numbers, conditions beside texts |
//! | `lists` | `list_mode`, for an aggregate of the PostgreSQL port |
//! | `durations` | parts of the time between two moments, and intervals compared |
//! | `digits` | `number_to_char`: `to_char` of numbers |
//! | `dataset_at` | `dataset_at(name, version)`: a dataset as it was |
//! | `experiment` | `is_experiment(trace_id)`: whether a trace is of a run of an experiment |
//! | `patterns` | regular expressions, with bounds on their size and time |
//! | `wrapped` | functions of the engine with something of ours around them |
//! | `series` | `generate_series` and `range` in FROM, with a bound, and with parameters |
//! | `bounded` | functions whose output can be far larger than their input, with a limit on it |

mod ages;
mod attr;
mod bounded;
mod calibrated;
mod checked;
mod concat;
mod dataset_at;
mod digits;
mod durations;
mod experiment;
mod json;
mod like;
mod lists;
mod nearest;
mod operators;
mod patterns;
mod quality;
mod series;
mod server;
mod sums;
mod wrapped;
mod zones;

pub use ages::age;
pub use attr::attr;
pub use bounded::bound_scalars;
pub use calibrated::{Calibrations, calibrated};
pub use checked::{CheckedArithmetic, with_bounded_sums};
pub use concat::ConcatPlanner;
pub use dataset_at::register as dataset_at;
pub use digits::{is_of_numbers, number_to_char};
pub use experiment::is_experiment;
pub use json::{
    JsonPlanner, change_functions, field_functions, hold_functions, json_functions, jsonb_set,
    make_functions, pair_functions, path_functions, read_functions,
};
pub use like::like_functions;
pub use lists::list_mode;
pub use operators::OperatorPlanner;
pub use patterns::{guard_patterns, pattern_functions, similar_to_escape};
pub use quality::{LEVEL, quality, rogan_gladen};
pub use series::{bound_tables, filled_series, series_parameters};
pub use server::{like_escape, server_functions};
pub use zones::{AT_TIME_ZONE, at_time_zone};
