//! The configuration: it nests the rooms' own settings, and tells every fault at once.
//!
//! | file | what |
//! |---|---|
//! | `settings` | the rooms' settings in one, and what must hold between them |
//! | `read` | from a file and the environment, with every fault |
//! | `renamed` | keys of earlier releases, and what they are called now |
//! | `dump` | back to text, with the documentation |
//!
//! Order of precedence: environment (`GROUNDLINE_<SECTION>__<KEY>`), then the file, then the defaults. Unknown keys are
//! refused. Sizes and durations are words (`"64MiB"`, `"30s"`) or numbers of bytes and seconds.
//! `groundline.example.toml` documents every key; its values are the defaults, which a test holds.

mod dump;
mod read;
mod renamed;
mod settings;
#[cfg(test)]
mod tests;

pub use dump::EXAMPLE;
pub use read::ConfigError;
pub use settings::Config;
