//! `groundline suite`: suites checked, exchanged with other systems, and kept by a server.

use super::evaluators::Scorers;
use super::lab::{OfSuites, RunArgs, SendArgs, Where, pairs, spreadsheet, suites};
use super::pipe::{say, write};
use super::test::{StoredArgs, chosen, configured};
use crate::lab::suite::{
    Bench, Exported, Form, StoredItems, Suite, examples, export, import, import_results, read, suite_schema,
    unknown_metrics, wrong_examples,
};
use clap::builder::PossibleValue;
use clap::{Subcommand, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is done with a suite.
#[derive(Debug, Subcommand)]
pub enum SuiteVerb {
    /// Read a suite and everything that it names, and tell what is wrong.
    Check {
        /// The suite, ours or another system's.
        suite: PathBuf,
        /// Configuration file, for LLM judges and plug-ins that examples of checks are held against.
        #[arg(long)]
        config: Option<PathBuf>,
        #[command(flatten)]
        stored: StoredArgs,
    },
    /// Print the JSON schema of suites, for editors.
    Schema,
    /// Show the suites of a server.
    List {
        #[command(flatten)]
        place: Where,
    },
    /// Show a suite of a server: its revisions and versions.
    Show {
        #[command(flatten)]
        place: Where,
        /// NAME, or NAME@VERSION.
        suite: String,
    },
    /// Run a suite of a server against one of its targets, or on answers that are there, and hold it against its gates.
    #[command(
        after_help = "Examples:\n  groundline suite run refunds --target support\n  groundline suite run refunds@3 --answers answers.csv --junit junit.xml\n\nExit codes as of groundline test."
    )]
    Run(RunArgs),
    /// Read a suite of another system and write it as TOML; or keep a suite, ours or another's, on a server.
    #[command(
        after_help = "Examples:\n  groundline suite import theirs.zip --output suite.toml\n  groundline suite import suite.toml --url http://127.0.0.1:4320\n  groundline suite import suite.csv --url http://127.0.0.1:4320 --name refunds --if-revision 3\n\nWith --url or --data-dir the suite is kept with all its cases: as a new one, or as the next revision of the one of its\nname. Its version goes up when it was edited and is run. --name, --message, --if-revision and --dry-run tell how, and\nare refused without either."
    )]
    Import {
        /// CSV, JSON or ZIP, and with --url also TOML; its content tells which.
        file: PathBuf,
        /// Where it is written; standard output if left out. Files of an archive go beside it.
        #[arg(long)]
        output: Option<PathBuf>,
        /// What it holds: a suite, or questions, a suite without checks; the results of a run, which are written as the JSON report
        /// that they are; questions with answers, written as the JSON that --answers takes.
        #[arg(long, value_enum, default_value = "suite")]
        part: PartName,
        /// Leave out tests that are wrong.
        #[arg(long)]
        partial: bool,
        #[command(flatten)]
        stored: StoredArgs,
        #[command(flatten)]
        how: SendArgs,
    },
    /// Write a suite, or the JSON report of a run, for another system.
    #[command(
        after_help = "Examples:\n  groundline suite export suite.toml --format csv --output suite.csv\n  groundline suite export report.json --part results --output results.csv\n  groundline suite export refunds@3 --url http://127.0.0.1:4320 --format toml"
    )]
    Export {
        /// A suite, or a report for the parts results and qa; with --url or --data-dir the name of a suite, NAME or NAME@VERSION, of
        /// an experiment for results and qa, or of a queue for review.
        file: PathBuf,
        /// What is written.
        #[arg(long, value_enum, default_value = "suite")]
        part: PartName,
        /// How.
        #[arg(long, value_enum, default_value = "csv")]
        format: FormName,
        /// Results with one row a check.
        #[arg(long)]
        flat: bool,
        /// Of CSV: an apostrophe before cells that a spreadsheet would take for formulas. It changes them.
        #[arg(long)]
        safe_cells: bool,
        /// Where; standard output if left out.
        #[arg(long)]
        output: Option<PathBuf>,
        #[command(flatten)]
        stored: StoredArgs,
    },
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PartName {
    /// Tests and checks.
    Suite,
    /// What is asked.
    Questions,
    /// What a run was judged.
    Results,
    /// Questions and answers of a run.
    Qa,
    /// What people said of a run, of a queue that a server keeps.
    Review,
}

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormName {
    /// For reading.
    Csv,
    /// For programs.
    Json,
    /// With the files that tests name.
    Zip,
    /// JSON for H2O Eval Studio.
    H2o,
    /// A suite file of ours, of a suite that a server keeps.
    Toml,
    /// JSON for promptfoo.
    Promptfoo,
}

/// Runs it. Exit code 2 if a file is wrong.
pub fn run(what: SuiteVerb) -> ExitCode {
    let done = match what {
        SuiteVerb::Check { suite, config, stored } => check(&suite, config.as_deref(), &stored),
        SuiteVerb::Schema => written(None, format!("{:#}\n", suite_schema()).as_bytes()),
        SuiteVerb::List { place } => on_server(&place, OfSuites::List, None),
        SuiteVerb::Show { place, suite } => on_server(&place, OfSuites::Show(&suite), None),
        SuiteVerb::Run(args) => return ran(&args),
        SuiteVerb::Import {
            file, stored, part: PartName::Suite | PartName::Questions, partial, how, ..
        } if stored.place(None).is_some() => kept(&file, &stored, partial, &how),
        SuiteVerb::Import { stored, part: part @ (PartName::Results | PartName::Qa), .. }
            if stored.place(None).is_some() =>
        {
            Err(no_suite(part))
        }
        SuiteVerb::Import { stored, how, .. }
            if stored.place(None).is_none() && how.without_server().is_err() =>
        {
            how.without_server()
        }
        SuiteVerb::Import { file, output, part: PartName::Results, .. } => results(&file, output.as_deref()),
        SuiteVerb::Import { file, output, part: PartName::Suite | PartName::Questions, partial, .. } => {
            imported(&file, output.as_deref(), partial)
        }
        SuiteVerb::Import { file, output, part: PartName::Qa, .. } => {
            pairs(&file).and_then(|bytes| written(output.as_deref(), &bytes))
        }
        SuiteVerb::Import { part: PartName::Review, .. } => {
            Err("what people said goes into a queue: groundline review queue import QUEUE FILE".to_owned())
        }
        SuiteVerb::Export { file, part, format, flat, safe_cells, output, stored }
            if stored.place(None).is_some() =>
        {
            fetched(&file, &stored, (part, format, flat), safe_cells)
                .and_then(|bytes| written(output.as_deref(), &bytes))
        }
        SuiteVerb::Export { file, part, format, flat, safe_cells, output, .. } => {
            exported(&file, (part, format, flat), safe_cells)
                .and_then(|bytes| written(output.as_deref(), &bytes))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("groundline suite: {why}");
            ExitCode::from(2)
        }
    }
}

/// Why a server does not take a file of this part.
fn no_suite(part: PartName) -> String {
    let part = part.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    format!(
        "a server keeps suites, and --part {part} only writes a file: leave out --url and --data-dir; to have a server judge and \
         keep answers, groundline suite run SUITE --answers FILE"
    )
}

/// What a server answers, to a file or standard output.
fn on_server(place: &Where, what: OfSuites<'_>, output: Option<&Path>) -> Result<(), String> {
    let (bytes, _) = tokio::runtime::Handle::current().block_on(suites(place, what))?;
    written(output, &bytes)
}

/// A run on a server ends with the code of its gates.
fn ran(args: &RunArgs) -> ExitCode {
    let told = tokio::runtime::Handle::current().block_on(suites(&args.place, OfSuites::Run(args)));
    match told.and_then(|(bytes, code)| written(None, &bytes).map(|()| code)) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("groundline suite: {why}");
            ExitCode::from(2)
        }
    }
}

/// Keeps a suite with all its cases on a server.
fn kept(file: &Path, stored: &StoredArgs, partial: bool, how: &SendArgs) -> Result<(), String> {
    let place = stored.place(None).ok_or("say where it is kept, --url or --data-dir")?;
    let items = tokio::runtime::Handle::current().block_on(stored.items(file, None))?;
    let (suite, told) = read(file, partial, &items).map_err(|faults| faults.to_string())?;
    if !told.is_empty() {
        eprintln!("groundline suite: {told}");
    }
    on_server(&place, OfSuites::Import(suite.sendable()?, how), None)
}

/// A file of a suite, of a run or of a queue that a server keeps.
fn fetched(
    name: &Path,
    stored: &StoredArgs,
    (part, format, flat): (PartName, FormName, bool),
    is_safe: bool,
) -> Result<Vec<u8>, String> {
    let place = stored.place(None).ok_or("say where it is, --url or --data-dir")?;
    let word =
        |value: Option<PossibleValue>| value.map(|value| value.get_name().to_owned()).unwrap_or_default();
    let (part, form) = (word(part.to_possible_value()), word(format.to_possible_value()));
    let name = name.display().to_string();
    let what = OfSuites::Export { name: &name, part: &part, format: &form, flat };
    let (bytes, _) = tokio::runtime::Handle::current().block_on(suites(&place, what))?;
    if is_safe { spreadsheet(&bytes, format == FormName::Csv) } else { Ok(bytes.to_vec()) }
}

fn check(path: &Path, config: Option<&Path>, stored: &StoredArgs) -> Result<(), String> {
    let items = tokio::runtime::Handle::current().block_on(stored.items(path, config))?;
    let (suite, told) = read(path, false, &items).map_err(|faults| faults.to_string())?;
    if !told.is_empty() {
        eprintln!("{told}");
    }
    let (tests, checks, gates) = (suite.tests(), suite.checks(), suite.gates());
    if gates > 0 {
        check_gates(&suite, config)?;
    }
    say(format_args!("{}: {tests} tests, {checks} checks, {gates} gates", suite.name()));
    match examples(&suite) {
        0 => Ok(()),
        count => check_examples(&suite, count, config),
    }
}

/// A gate on what nothing measures, or on a tag that no test has, is a fault. Where the evaluators of the suite are not there
/// without a configuration, or a judge's key or a model is not on this machine, only a run can tell.
fn check_gates(suite: &Suite, config: Option<&Path>) -> Result<(), String> {
    let config = configured(config, suite).map_err(|(_, why)| why)?;
    let Ok(scorers) = Scorers::open(&config) else { return Ok(()) };
    let known = match chosen(suite, &scorers) {
        Ok((named, more)) => unknown_metrics(suite, &Bench::new(&scorers.registry, named, more)),
        Err(_) => Ok(()),
    };
    scorers.stop();
    known.map_err(|faults| faults.to_string())
}

/// Runs checks on their examples; one that comes out otherwise than it is marked is a fault.
fn check_examples(suite: &Suite, count: usize, config: Option<&Path>) -> Result<(), String> {
    let config = configured(config, suite).map_err(|(_, why)| why)?;
    let scorers = Scorers::open(&config).map_err(|(_, why)| why)?;
    let (named, more) = chosen(suite, &scorers).map_err(|(_, why)| why)?;
    let bench = Bench::new(&scorers.registry, named, more).with_desk(scorers.desk());
    let wrong = wrong_examples(suite, &bench);
    scorers.stop();
    say(format_args!("{} of {count} examples come out as they are marked", count - wrong.len()));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn imported(file: &Path, output: Option<&Path>, partial: bool) -> Result<(), String> {
    let (imported, faults) = import(file).map_err(|faults| faults.to_string())?;
    for warning in &imported.warnings {
        eprintln!("groundline suite: {warning}");
    }
    if !faults.is_empty() {
        if !partial || imported.tests() == 0 {
            return Err(format!("{faults}\nnothing was written; --partial leaves out what is wrong"));
        }
        eprintln!("groundline suite: left out:\n{faults}");
    }
    let folder = output.and_then(Path::parent).unwrap_or(Path::new(""));
    for (name, content) in &imported.documents {
        let path = folder.join(name);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| {
            std::fs::OpenOptions::new().write(true).create_new(true).open(&path)?.write_all(content)
        });
        written.map_err(|e| format!("{}: {e}", path.display()))?;
    }
    written(output, imported.toml()?.as_bytes())
}

fn results(file: &Path, output: Option<&Path>) -> Result<(), String> {
    let (report, warnings) = import_results(file).map_err(|faults| faults.to_string())?;
    for warning in warnings {
        eprintln!("groundline suite: {warning}");
    }
    written(output, format!("{report:#}\n").as_bytes())
}

fn exported(
    file: &Path,
    (part, form, flat): (PartName, FormName, bool),
    is_safe: bool,
) -> Result<Vec<u8>, String> {
    let is_csv = form == FormName::Csv;
    let form = match form {
        FormName::Csv => Form::Csv,
        FormName::Json => Form::Json,
        FormName::Zip => Form::Zip,
        FormName::H2o => Form::H2o,
        FormName::Toml => {
            return Err(
                "a suite file of ours is TOML as it is; another system's: groundline suite import".to_owned()
            );
        }
        FormName::Promptfoo => Form::Promptfoo,
    };
    let (bytes, warnings) = match part {
        PartName::Suite | PartName::Questions => {
            let (suite, told) =
                read(file, false, &StoredItems::new()).map_err(|faults| faults.to_string())?;
            if !told.is_empty() {
                eprintln!("groundline suite: {told}");
            }
            let part =
                if part == PartName::Suite { Exported::Suite(&suite) } else { Exported::Questions(&suite) };
            export(part, form)?
        }
        PartName::Review => {
            return Err(
                "what people said is in a queue: say --url or --data-dir, and the queue's name".to_owned()
            );
        }
        PartName::Results | PartName::Qa => {
            let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
            let report = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
            let part = match (part, flat) {
                (PartName::Qa, _) => Exported::Answers(&report),
                (_, true) => Exported::FlatResults(&report),
                (_, false) => Exported::Results(&report),
            };
            export(part, form)?
        }
    };
    for warning in warnings {
        eprintln!("groundline suite: {warning}");
    }
    if is_safe { spreadsheet(&bytes, is_csv) } else { Ok(bytes) }
}

fn written(output: Option<&Path>, bytes: &[u8]) -> Result<(), String> {
    match output {
        None => write(bytes),
        Some(path) => std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display())),
    }
}
