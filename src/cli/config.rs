//! Check and dump.

use super::pipe::{put, say};
use crate::app::findings;
use crate::config::Config;
use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;

/// The two things that can be done.
#[derive(Debug, Subcommand)]
pub enum ConfigVerb {
    /// Tell every fault of a file at once; exit 2 if there is one. A warning is no fault.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Print the configuration in force, with its documentation.
    Dump {
        /// Configuration file; without one the defaults and the environment.
        #[arg(long)]
        config: Option<PathBuf>,
    },
}

/// Runs one of them.
pub fn run(verb: ConfigVerb) -> ExitCode {
    let (file, dump) = match verb {
        ConfigVerb::Check { file } => (Some(file), false),
        ConfigVerb::Dump { config } => (config, true),
    };
    match Config::load(file.as_deref()) {
        Ok(config) if dump => put(config.dump()),
        Ok(config) => {
            let (name, found) = (file.unwrap_or_default(), findings(&config));
            found.warnings.iter().for_each(|warning| eprintln!("{}: warning: {warning}", name.display()));
            found.faults.iter().for_each(|fault| eprintln!("{}: {fault}", name.display()));
            if !found.faults.is_empty() {
                return ExitCode::from(2);
            }
            say(format_args!("{}: ok", name.display()));
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
