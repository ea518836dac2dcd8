//! Suites that a server keeps: revisions, versions, and files of other systems in and out.
//!
//! | file | what |
//! |---|---|
//! | `sent` | a suite that was sent, whatever form it has |
//! | `redaction` | what must not be stored |
//! | `content` | a suite as rows, and rows as a suite |
//! | `reading` | suites as they are stored |
//! | `suites` | every change of a suite |
//! | `written` | a suite in the form of other systems |
//! | `http` | the routes |
//!
//! What a suite asks, checks and demands is kept; who is asked, each run says. An import that changes what a suite says makes its next revision; the version goes up with the first run after it. A
//! revision has all its tests and checks, and none is ever rewritten but those that are purged. The tests are the items of a
//! dataset too, `suite/NAME`: what experiments ask, and what a purge takes.

mod content;
mod http;
mod reading;
mod redaction;
mod sent;
mod suites;
mod written;

pub(in crate::lab) use content::revision_hash;
pub use http::{SuiteEndpoint, suite_router};
pub use reading::{SuiteHead, find, find_version, whole};
pub use sent::SentForm;
pub use suites::{NewSuite, SuiteOutcome, Suites};
