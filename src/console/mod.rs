//! The console: a page for browsers, built from `console/` and carried by the program, and its login.
//!
//! | file | what |
//! |---|---|
//! | `files` | the built files, in the program or in a folder while developing, with their compressed forms |
//! | `headers` | what every answer of the address says to browsers |
//! | `login` | a token for a cookie, and who one is |
//! | `http` | the routes |
//!
//! Promises: a page loads nothing from elsewhere and runs no script that is not a file of this program; what a span holds is
//! text to it. The pages themselves say nothing that is secret, so they need no token: what they ask for does.

mod files;
mod headers;
mod http;
mod login;

pub use files::{Files, FolderError};
pub use headers::guard_answers;
pub use http::console_router;
