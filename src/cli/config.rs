//! Check and dump.

use super::pipe::{put, say};
use crate::app::metric_faults;
use crate::config::Config;
use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;

/// The two things that can be done.
#[derive(Debug, Subcommand)]
pub enum ConfigVerb {
    /// Tell every fault of a file at once; exit 2 if there is one.
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
            let faults = metric_faults(&config);
            if !faults.is_empty() {
                let name = file.unwrap_or_default();
                faults.iter().for_each(|fault| eprintln!("{}: {fault}", name.display()));
                return ExitCode::from(2);
            }
            say(format_args!("{}: ok", file.unwrap_or_default().display()));
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
