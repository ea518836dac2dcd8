//! `groundline lab`: datasets and experiments as one file, and back.

use super::client::{Asked, LabClient, Refused, Where};
use super::told::cell;
use crate::cli::pipe::put;
use crate::lab::archive::traces_of;
use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Most bytes of a file that is restored. What an archive holds, unpacked, has a bound of its own: `lab.max_zip_size`.
const MAX_ARCHIVE: u64 = 2 << 30;

/// What can be done with archives.
#[derive(Debug, Subcommand)]
pub enum LabVerb {
    /// Write datasets with all their versions, experiments, runs and scores as one file.
    #[command(
        after_help = "Examples:\n  groundline lab archive refunds --output refunds.zip\n  groundline lab archive v1 v2 --with-traces -o v1-v2.zip\n\nA name is a dataset, which comes with all of its experiments, or an experiment, which comes with its dataset; where both\nhave it: dataset:NAME, experiment:NAME. The same rows give the same bytes."
    )]
    Archive {
        #[command(flatten)]
        place: Where,
        /// Datasets and experiments, by name or id.
        #[arg(required = true)]
        names: Vec<String>,
        /// The file.
        #[arg(long, short)]
        output: PathBuf,
        /// Put in the spans of the traces that were made for the runs; those of production are not.
        #[arg(long)]
        with_traces: bool,
    },
    /// Put what an archive has into the tables; what is there already is left as it is, and never replaced.
    #[command(
        after_help = "Examples:\n  groundline lab restore refunds.zip --dry-run\n  groundline lab restore refunds.zip --as refunds-of-may"
    )]
    Restore {
        #[command(flatten)]
        place: Where,
        /// The file.
        file: PathBuf,
        /// Another name for the dataset, where its own is taken.
        #[arg(long = "as")]
        name: Option<String>,
        /// Tell what would be done, and do nothing.
        #[arg(long)]
        dry_run: bool,
        /// Whose it is to be, for a token that sees all.
        #[arg(long)]
        tenant: Option<String>,
    },
}

/// Runs it. Exit code 1 if it was refused.
pub async fn run(verb: LabVerb) -> ExitCode {
    let (place, bytes) = match &verb {
        LabVerb::Archive { place, .. } => (place, 0),
        // A file that is not there is told where it is read.
        LabVerb::Restore { place, file, .. } => (place, std::fs::metadata(file).map_or(0, |file| file.len())),
    };
    if bytes > MAX_ARCHIVE {
        eprintln!("groundline lab: the file has {bytes} bytes; an archive has at most {MAX_ARCHIVE}");
        return ExitCode::from(1);
    }
    let done = match LabClient::open_for(place, bytes).await {
        Err(error) => Err(Refused::from(error)),
        Ok(client) => {
            let done = act(&client, verb).await;
            let closed = client.close().await;
            done.and_then(|text| closed.map(|()| text).map_err(Refused::from))
        }
    };
    match done {
        Ok(text) => {
            put(text);
            ExitCode::SUCCESS
        }
        Err(Refused { error, .. }) => {
            eprintln!("groundline lab: {error}");
            ExitCode::from(1)
        }
    }
}

async fn act(client: &LabClient, verb: LabVerb) -> Result<String, Refused> {
    let told = |path: &PathBuf, e: std::io::Error| Refused::from(format!("{}: {e}", path.display()));
    match verb {
        LabVerb::Archive { names, output, with_traces, .. } => {
            let mut body = json!({ "names": names });
            if with_traces {
                // An earlier server does not know the key.
                body["with_traces"] = true.into();
            }
            let bytes = client.ask(Asked::json(Method::POST, &["archive"], &body)).await?;
            std::fs::write(&output, &bytes).map_err(|e| told(&output, e))?;
            Ok(format!("{}: {} bytes{}\n", output.display(), bytes.len(), traces(&bytes)))
        }
        LabVerb::Restore { file, name, dry_run, tenant, .. } => {
            let bytes = std::fs::read(&file).map_err(|e| told(&file, e))?;
            let asked = Asked {
                method: Method::POST,
                path: &["restore"],
                params: Vec::new(),
                body: Some(("application/zip", bytes)),
            };
            let asked = asked.with("dry_run", dry_run).maybe("as", name).maybe("tenant", tenant);
            Ok(said(&client.value(asked).await?, dry_run))
        }
    }
}

/// What an archive has of the traces of its runs, if it was asked for them.
fn traces(archive: &[u8]) -> String {
    let Some(told) = traces_of(archive) else { return String::new() };
    let (spans, traces, others) = (told.spans, told.traces, told.left_out);
    let others = match others {
        0 => String::new(),
        more => format!("; without {more} traces that were not made for a run"),
    };
    format!("; {spans} spans of {traces} traces{others}")
}

fn said(restored: &Value, is_tried: bool) -> String {
    let mut text = String::new();
    for (name, versions) in restored["datasets"].as_object().into_iter().flatten() {
        text.push_str(&format!("{name}: {versions} versions\n"));
    }
    let written = restored["written"].as_object().into_iter().flatten();
    let written: Vec<String> = written.map(|(table, rows)| format!("{rows} of {table}")).collect();
    let tried = if is_tried { " (nothing was stored)" } else { "" };
    let (experiments, there) = (cell(&restored["experiments"]), cell(&restored["there"]));
    text.push_str(&format!(
        "{experiments} experiments; rows written: {}; {there} were there{tried}\n",
        written.join(", ")
    ));
    text
}
