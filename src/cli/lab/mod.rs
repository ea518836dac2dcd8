//! Datasets, experiments and kept suites from the command line.
//!
//! | file | what |
//! |---|---|
//! | `client` | the routes of the lab: of a running server, or in this process on a data directory |
//! | `compared` | a comparison of two experiments as text |
//! | `dataset` | the verb `dataset` |
//! | `schema` | the verb `dataset schema` |
//! | `folder` | a folder as an archive |
//! | `experiment` | the verb `experiment` |
//! | `perturb` | the verb `perturb` |
//! | `runner` | asking a target for what is missing |
//! | `fetched` | files of items, brought here |
//! | `logged` | the verb `experiment import` |
//! | `revision` | the commit of the application that is asked |
//! | `safe` | files for spreadsheets |
//! | `several` | several experiments against one baseline, as text |
//! | `target` | who answers |
//! | `review` | the verb `review` |
//! | `archive` | the verb `lab` |
//! | `suites` | suites that a server keeps, for the verb `suite` |
//! | `boards` | leaderboards, findings and flips as text |
//! | `told` | what the routes answer, as text |
//! | `words` | how two texts differ |

mod archive;
mod boards;
mod client;
mod compared;
mod dataset;
mod experiment;
mod fetched;
mod folder;
mod logged;
mod perturb;
mod review;
mod revision;
mod runner;
mod safe;
mod schema;
mod several;
mod suites;
mod target;
mod told;
mod words;

pub use archive::{LabVerb, run as lab};
pub use client::{Asked, LabClient, Refused, Where};
pub use compared::compared;
pub use dataset::{DatasetVerb, run as dataset};
pub use experiment::{ExperimentVerb, run as experiment};
pub use perturb::{PerturbArgs, run as perturb};
pub use review::{ReviewVerb, run as review};
pub use revision::revised;
pub use safe::spreadsheet;
pub use suites::{OfSuites, RunArgs, SendArgs, pairs, suites};
pub use told::summarized;
