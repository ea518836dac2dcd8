//! Queries through the engine, over files and over rows that are not in files yet.

mod copies;
mod endpoints;
mod errors;
pub mod fixture;
mod hostile;
mod isolation;
mod latest;
mod older;
mod parameters;
mod pruning;
mod revisions;
mod single;
mod slt;
mod traces;
