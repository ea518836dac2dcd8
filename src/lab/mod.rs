//! The lab: what is asked of an application before a release, with the evaluators that watch it afterwards.
//!
//! | folder | what |
//! |---|---|
//! | `suite` | test suites with a gate |

pub mod suite;
