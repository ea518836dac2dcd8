//! DataFusion over everything: tables, views, quality functions, and the endpoints for queries.
//!
//! | file | what |
//! |---|---|
//! | `config` | what a query may use |
//! | `error` | what can go wrong, and whose fault it is |
//! | `tables` | files and hot batches as tables, and the newest of their rows |
//! | `functions` | `quality_rate` and its like, `attr`, and bounds on functions that could exhaust memory |
//! | `catalog` | `pg_catalog` as clients read it |
//! | `views` | `traces`, `quality_hourly`, `quality_by_model`, `evaluator_quality`, `evaluation_hourly`, `evaluation_outcomes`, `labelled_scores` |
//! | `shape` | how deep a query can become, told before it is parsed |
//! | `literals` | text literals that a line break parts |
//! | `settings` | the version that clients are told, and settings that SHOW knows |
//! | `guard` | which statements may run |
//! | `constants` | how large the constants of a plan may be |
//! | `cancel` | makes plans stop when nobody waits for them |
//! | `watermarks` | up to when tables are final |
//! | `stream` | the rows of one query, under its limits |
//! | `params` | values for `$1`, `$2` … |
//! | `zones` | `AT TIME ZONE $1` as a call of a function |
//! | `explain` | `EXPLAIN (FORMAT JSON)` |
//! | `plan` | a statement as a plan, and what was meant where a table is not there |
//! | `context` | the engine itself |
//! | `session` | the session that all queries share |
//! | `format` | a result as text or bytes |
//! | `columns` | a result as JSON by columns, for browsers |
//! | `http` | the endpoint for HTTP |
//! | `pg` | the endpoint for the PostgreSQL wire protocol |
//!
//! Promises: nothing is written and no file is read but those of the lake; every query ends within its time limit; a
//! query sees each table at one moment, with every row that was acknowledged before it began (P4).

mod cancel;
mod catalog;
mod columns;
mod config;
mod constants;
mod context;
mod error;
mod explain;
pub mod format;
mod functions;
mod guard;
pub mod http;
mod literals;
mod params;
pub mod pg;
mod plan;
mod session;
mod settings;
mod shape;
mod stream;
mod tables;
mod views;
mod watermarks;
mod zones;

pub use config::Config;
pub use context::{Collected, Load, Sql, Work};
pub use error::SqlError;
pub use format::{Format, encode};
pub use functions::LEVEL;
#[doc(hidden)]
pub use guard::parse as parse_for_fuzzing;
pub use session::DATABASE;
pub use stream::QueryStream;
pub use tables::{QuerySnapshots, Snapshots};
pub use watermarks::Watermarks;
