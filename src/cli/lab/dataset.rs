//! Datasets: make, import, export, look at versions and go back to them.

use super::client::{Asked, LabClient, Refused, Where};
use super::folder::packed;
use super::safe::spreadsheet;
use super::schema::{SchemaArgs, schema};
use super::told::{cell, fault, hash, linted, purged, said, short, table};
use crate::cli::pipe::{put, write};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

/// What can be done with datasets.
#[derive(Debug, Subcommand)]
pub enum DatasetVerb {
    /// Show the datasets.
    List {
        #[command(flatten)]
        place: Where,
    },
    /// Show a dataset: its versions, and its first items.
    #[command(
        after_help = "Examples:\n  groundline dataset show refunds\n  groundline dataset show refunds@7"
    )]
    Show {
        #[command(flatten)]
        place: Where,
        /// NAME, or NAME@VERSION.
        dataset: String,
        /// Items that are shown.
        #[arg(long, default_value_t = 10)]
        items: u32,
    },
    /// Show what items must look like, or set it: JSON Schemas of input, expected and metadata.
    #[command(
        after_help = "Examples:\n  groundline dataset schema refunds --input question.schema.json\n  groundline dataset schema refunds --metadata m.schema.json --warn\n  groundline dataset schema refunds --clear input"
    )]
    Schema(SchemaArgs),
    /// Make a dataset without items.
    Create {
        #[command(flatten)]
        place: Where,
        /// Its name.
        name: String,
        /// What it is for.
        #[arg(long)]
        description: Option<String>,
    },
    /// Import a file (CSV, JSON lines, JSON, Parquet, ZIP), a folder, or the rows of a query; a new version, if anything changes.
    #[command(
        after_help = "Examples:\n  groundline dataset import refunds cases.csv\n  groundline dataset import refunds cases.jsonl --map 'input=question,history;expected=answer'\n  groundline dataset import refunds \\\n    --sql \"SELECT question AS input, trace_id, span_id FROM spans WHERE operation = 'llm' LIMIT 100\"\n\nColumns: input (must be there), expected, metadata, contexts, constraints, tags, split, weight, group_id,\nexternal_id, source_trace_id, source_span_id, inclusion_probability. A dotted column such as input.question is a key\nof an object. What has no name goes into input if there is none, else into metadata. An item whose external_id is there\nalready is replaced; one whose content is there already is left as it is.\n\nA ZIP archive or a folder has the table at its root, and the files that its column files names by their paths; a folder\nof Hugging Face may have a table for each split."
    )]
    Import(ImportArgs),
    /// Write the items of a version.
    #[command(
        after_help = "Examples:\n  groundline dataset export refunds > refunds.jsonl\n  groundline dataset export refunds@7 --format csv --output refunds.csv\n  groundline dataset export refunds --format zip --output refunds.zip"
    )]
    Export {
        #[command(flatten)]
        place: Where,
        /// NAME, or NAME@VERSION.
        dataset: String,
        /// jsonl, json, csv, parquet, openai_evals, openai_ft, langfuse, phoenix, inspect or mlflow; zip with the files of the items.
        #[arg(long, default_value = "jsonl")]
        format: String,
        /// Of CSV: an apostrophe before cells that a spreadsheet would take for formulas. It changes them.
        #[arg(long)]
        safe_cells: bool,
        /// Where to; standard output if left out.
        #[arg(long)]
        output: Option<PathBuf>,
    },
    /// Take items out: a new version without them.
    Delete {
        #[command(flatten)]
        place: Where,
        /// The dataset.
        name: String,
        /// Items, by item_id or external_id.
        #[arg(required = true)]
        items: Vec<String>,
        /// Why.
        #[arg(long)]
        message: Option<String>,
        /// Only if this is still the newest version.
        #[arg(long)]
        if_version: Option<i64>,
    },
    /// Look for what makes numbers wrong: duplicates, answers in questions, what evaluators need and items lack.
    #[command(
        after_help = "Examples:\n  groundline dataset lint refunds\n  groundline dataset lint refunds@7 --evaluator rouge,faithfulness --json\n\nExit code 0: no error; 3: errors, with --strict also warnings."
    )]
    Lint(LintArgs),
    /// Take items out of every version, with their runs and scores, for ever: what is left are their ids and hashes.
    #[command(
        after_help = "Examples:\n  groundline dataset purge refunds q17 --message 'request 4711' --yes\n\nThe token needs the role admin; one that sees all tenants names one, --tenant. The message stays: nothing in it should be\nwhat is to be forgotten. The traces that items were made of are not touched."
    )]
    Purge(PurgeArgs),
    /// Show the versions of a dataset, the newest first.
    Versions {
        #[command(flatten)]
        place: Where,
        /// The dataset.
        name: String,
    },
    /// Show what is different between two versions.
    #[command(after_help = "Examples:\n  groundline dataset diff refunds 6 7")]
    Diff {
        #[command(flatten)]
        place: Where,
        /// The dataset.
        name: String,
        /// The earlier version.
        from: i64,
        /// The later version.
        to: i64,
        /// The whole difference, as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make a version with the content of an earlier one.
    #[command(
        after_help = "Examples:\n  groundline dataset revert refunds 6 --message 'the import was wrong'"
    )]
    Revert {
        #[command(flatten)]
        place: Where,
        /// The dataset.
        name: String,
        /// The version whose content it gets.
        to: i64,
        /// Why.
        #[arg(long)]
        message: Option<String>,
    },
    /// Give a dataset another name.
    Rename {
        #[command(flatten)]
        place: Where,
        /// The dataset.
        name: String,
        /// Its new name.
        new_name: String,
    },
    /// Put a dataset away: the list does not show it any more; it can be read as before.
    Archive {
        #[command(flatten)]
        place: Where,
        /// The dataset.
        name: String,
    },
}

/// Arguments of `dataset import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(flatten)]
    place: Where,
    /// The dataset; it is made if it is not there.
    name: String,
    /// The file or folder; - for standard input.
    #[arg(required_unless_present = "sql")]
    file: Option<PathBuf>,
    /// The rows of this query instead of a file.
    #[arg(long, conflicts_with = "file")]
    sql: Option<String>,
    /// auto, csv, jsonl, json, parquet or zip.
    #[arg(long, default_value = "auto")]
    format: String,
    /// Which columns make which field: FIELD=COLUMN[,COLUMN…][;…].
    #[arg(long)]
    map: Option<String>,
    /// Tell what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Import the good items of a file with faults; exit code 3 then.
    #[arg(long)]
    partial: bool,
    /// Keep items that the file has more than once.
    #[arg(long)]
    keep_duplicates: bool,
    /// Take items that their system has archived, too, such as Langfuse's; the status becomes metadata.
    #[arg(long)]
    archived: bool,
    /// Take out the items that the file does not have.
    #[arg(long)]
    replace: bool,
    /// Why.
    #[arg(long)]
    message: Option<String>,
    /// Only if this is still the newest version.
    #[arg(long)]
    if_version: Option<i64>,
}

/// Arguments of `dataset lint`.
#[derive(Debug, Args)]
pub struct LintArgs {
    #[command(flatten)]
    place: Where,
    /// NAME, or NAME@VERSION.
    dataset: String,
    /// Evaluators by id, comma separated: items must have what these need.
    #[arg(long, value_delimiter = ',')]
    evaluator: Vec<String>,
    /// Most characters of what is asked.
    #[arg(long)]
    longest: Option<usize>,
    /// Warnings give exit code 3, too.
    #[arg(long)]
    strict: bool,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Arguments of `dataset purge`.
#[derive(Debug, Args)]
pub struct PurgeArgs {
    #[command(flatten)]
    place: Where,
    /// The dataset.
    name: String,
    /// Items, by item_id or external_id, also those that were deleted before.
    #[arg(required_unless_present = "all")]
    items: Vec<String>,
    /// Every item that any version had.
    #[arg(long, conflicts_with = "items")]
    all: bool,
    /// Why; it stays.
    #[arg(long)]
    message: Option<String>,
    /// Whose dataset it is, for a token that sees all.
    #[arg(long)]
    tenant: Option<String>,
    /// It cannot be undone: without this nothing is done.
    #[arg(long)]
    yes: bool,
}

impl DatasetVerb {
    fn place(&self) -> &Where {
        match self {
            Self::Import(args) => &args.place,
            Self::Lint(args) => &args.place,
            Self::Purge(args) => &args.place,
            Self::Schema(args) => &args.place,
            Self::List { place }
            | Self::Show { place, .. }
            | Self::Create { place, .. }
            | Self::Export { place, .. }
            | Self::Delete { place, .. }
            | Self::Versions { place, .. }
            | Self::Diff { place, .. }
            | Self::Revert { place, .. }
            | Self::Rename { place, .. }
            | Self::Archive { place, .. } => place,
        }
    }
}

/// What a verb did: what it says, and the exit code.
type Done = Result<(String, u8), Refused>;

/// Runs it. Exit code 1 if it was refused, 3 if some lines of a file were left out.
pub async fn run(verb: DatasetVerb) -> ExitCode {
    let file = match &verb {
        DatasetVerb::Import(ImportArgs { file: Some(file), .. }) => file.display().to_string(),
        _ => "groundline dataset".to_owned(),
    };
    let done = match LabClient::open(verb.place()).await {
        Err(error) => Err(Refused::from(error)),
        Ok(client) => {
            let done = act(&client, verb).await;
            let closed = client.close().await;
            done.and_then(|done| closed.map(|()| done).map_err(Refused::from))
        }
    };
    match done {
        Ok((text, code)) => {
            put(text);
            ExitCode::from(code)
        }
        Err(Refused { error, faults }) => {
            faults.iter().for_each(|wrong| eprintln!("{}", fault(&file, wrong)));
            match faults.len() {
                0 => eprintln!("groundline dataset: {error}"),
                many => eprintln!("groundline dataset: {many} fault(s); nothing was changed"),
            }
            ExitCode::from(1)
        }
    }
}

async fn act(client: &LabClient, verb: DatasetVerb) -> Done {
    match verb {
        DatasetVerb::List { .. } => list(client).await,
        DatasetVerb::Show { dataset, items, .. } => show(client, &dataset, items).await,
        DatasetVerb::Create { name, description, .. } => {
            let body = json!({ "name": name, "description": description });
            let head = client.value(Asked::json(Method::POST, &["datasets"], &body)).await?;
            Ok((format!("{name}: version {}, no items\n", head["version"]), 0))
        }
        DatasetVerb::Import(args) => import(client, args).await,
        DatasetVerb::Export { dataset, format, safe_cells, output, .. } => {
            export(client, &dataset, (&format, safe_cells), output).await
        }
        DatasetVerb::Delete { name, items, message, if_version, .. } => {
            let body = json!({ "delete": items, "message": message, "if_version": if_version });
            let outcome =
                client.value(Asked::json(Method::POST, &["datasets", &name, "items"], &body)).await?;
            Ok((said(&name, &outcome), 0))
        }
        DatasetVerb::Lint(args) => lint(client, args).await,
        DatasetVerb::Purge(args) => purge(client, args).await,
        DatasetVerb::Schema(args) => schema(client, args).await,
        DatasetVerb::Versions { name, .. } => {
            let all = client.value(Asked::get(&["datasets", &name, "versions"])).await?;
            Ok((versions(&all["versions"]), 0))
        }
        DatasetVerb::Diff { name, from, to, json, .. } => {
            let path = ["datasets", &name, "diff"];
            let difference = client.value(Asked::get(&path).with("from", from).with("to", to)).await?;
            let text = if json { format!("{difference:#}\n") } else { differs(&difference) };
            Ok((text, 0))
        }
        DatasetVerb::Revert { name, to, message, .. } => {
            let body = json!({ "to": to, "message": message });
            let outcome =
                client.value(Asked::json(Method::POST, &["datasets", &name, "revert"], &body)).await?;
            Ok((said(&name, &outcome), 0))
        }
        DatasetVerb::Rename { name, new_name, .. } => edit(client, &name, &json!({ "name": new_name })).await,
        DatasetVerb::Archive { name, .. } => edit(client, &name, &json!({ "archived": true })).await,
    }
}

async fn edit(client: &LabClient, name: &str, body: &Value) -> Done {
    let head = client.value(Asked::json(Method::PATCH, &["datasets", name], body)).await?;
    let (name, version, change) = (cell(&head["name"]), &head["version"], cell(&head["change"]));
    Ok((format!("{name}: version {version} ({change})\n"), 0))
}

async fn list(client: &LabClient) -> Done {
    let (mut rows, mut after) = (Vec::new(), String::new());
    loop {
        let page = client.value(Asked::get(&["datasets"]).with("after", &after)).await?;
        for head in page["datasets"].as_array().into_iter().flatten() {
            let cells = ["name", "version", "items", "change", "created_at", "created_by", "description"];
            rows.push(cells.map(|key| short(&head[key], 60)).to_vec());
        }
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => break,
        }
    }
    let head = ["name", "version", "items", "change", "changed", "by", "description"];
    Ok((table(&head, &rows), 0))
}

async fn lint(client: &LabClient, args: LintArgs) -> Done {
    let path = ["datasets", &args.dataset, "lint"];
    let asked = Asked::get(&path).with("evaluators", args.evaluator.join(",")).maybe("longest", args.longest);
    let told = client.value(asked).await?;
    let is_bad = told["errors"] != 0 || (args.strict && told["warnings"] != 0);
    let text = if args.json { format!("{told:#}\n") } else { linted(&told) };
    Ok((text, if is_bad { 3 } else { 0 }))
}

async fn purge(client: &LabClient, args: PurgeArgs) -> Done {
    let PurgeArgs { name, items, all, message, tenant, yes, .. } = args;
    if !yes {
        let which = if all { "all".to_owned() } else { items.len().to_string() };
        return Err(Refused::from(format!("{which} items of {name} would go for ever; say --yes to do it")));
    }
    let body = json!({ "items": items, "all": all, "message": message });
    let path = ["datasets", &name, "purge"];
    let told = client.value(Asked::json(Method::POST, &path, &body).maybe("tenant", tenant)).await?;
    Ok((purged(&name, &told), 0))
}

fn versions(all: &Value) -> String {
    let row = |head: &Value| {
        vec![
            cell(&head["version"]),
            cell(&head["change"]),
            cell(&head["items"]),
            hash(&head["content_hash"]),
            cell(&head["created_at"]),
            cell(&head["created_by"]),
            short(&head["message"], 60),
        ]
    };
    let rows: Vec<Vec<String>> = all.as_array().into_iter().flatten().map(row).collect();
    table(&["version", "change", "items", "hash", "made", "by", "message"], &rows)
}

async fn show(client: &LabClient, dataset: &str, items: u32) -> Done {
    let head = client.value(Asked::get(&["datasets", dataset])).await?;
    let path = ["datasets", dataset, "items"];
    let shown = client.value(Asked::get(&path).with("format", "json").with("limit", items)).await?;
    let row = |item: &Value| {
        let id = if item["external_id"].is_null() { &item["item_id"] } else { &item["external_id"] };
        vec![short(id, 36), short(&item["input"], 60), short(&item["expected"], 40)]
    };
    let rows: Vec<Vec<String>> = shown.as_array().into_iter().flatten().map(row).collect();
    let (name, version, count) = (cell(&head["name"]), &head["version"], &head["items"]);
    let mut text = format!("{name}@{version}: {count} items, hash {}\n", hash(&head["content_hash"]));
    if let Some(description) = head["description"].as_str() {
        text.push_str(&format!("{description}\n"));
    }
    text.push_str(&format!("\n{}", table(&["id", "input", "expected"], &rows)));
    Ok((text, 0))
}

async fn import(client: &LabClient, args: ImportArgs) -> Done {
    let body = match (&args.sql, &args.file) {
        (Some(sql), _) => ("application/json", json!({ "sql": sql }).to_string().into_bytes()),
        (None, Some(file)) => ("application/octet-stream", read(file)?),
        (None, None) => return Err(Refused::from("name a file, or give --sql".to_owned())),
    };
    let file = args.file.as_ref().map(|file| file.display().to_string());
    let path = ["datasets", args.name.as_str(), "import"];
    let mut asked = Asked::get(&path).with("create", true);
    (asked.method, asked.body) = (Method::POST, Some(body));
    let asked = asked
        .with("format", &args.format)
        .with("dry_run", args.dry_run)
        .with("partial", args.partial)
        .with("keep_duplicates", args.keep_duplicates)
        .with("archived", args.archived)
        .with("replace", args.replace)
        .maybe("map", args.map)
        .maybe("file", file.clone())
        .maybe("message", args.message)
        .maybe("if_version", args.if_version);
    let outcome = client.value(asked).await?;
    let faults = outcome["faults"].as_array().cloned().unwrap_or_default();
    let file = file.unwrap_or_else(|| "the query".to_owned());
    faults.iter().for_each(|wrong| eprintln!("{}", fault(&file, wrong)));
    let tried = if args.dry_run { " (nothing was stored)" } else { "" };
    let text = format!("{}{tried}\n", said(&args.name, &outcome).trim_end());
    Ok((text, if faults.is_empty() { 0 } else { 3 }))
}

fn read(file: &PathBuf) -> Result<Vec<u8>, Refused> {
    if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|e| Refused::from(e.to_string()))?;
        return Ok(bytes);
    }
    if file.is_dir() {
        return packed(file).map_err(Refused::from);
    }
    std::fs::read(file).map_err(|e| Refused::from(format!("{}: {e}", file.display())))
}

async fn export(
    client: &LabClient,
    dataset: &str,
    (format, is_safe): (&str, bool),
    output: Option<PathBuf>,
) -> Done {
    let bytes = client.ask(Asked::get(&["datasets", dataset, "items"]).with("format", format)).await?;
    let bytes = if is_safe { spreadsheet(&bytes, format == "csv")?.into() } else { bytes };
    let written = match &output {
        Some(path) => std::fs::write(path, &bytes).map_err(|e| format!("{}: {e}", path.display())),
        None => write(&bytes),
    };
    written.map(|()| (String::new(), 0)).map_err(Refused::from)
}

/// One line for each item that differs.
fn differs(difference: &Value) -> String {
    let mut text = String::new();
    for (key, sign) in [("added", "+"), ("removed", "-")] {
        for item in difference[key].as_array().into_iter().flatten() {
            text.push_str(&format!("{sign} {} {}\n", cell(&item["item_id"]), short(&item["input"], 80)));
        }
    }
    for changed in difference["changed"].as_array().into_iter().flatten() {
        text.push_str(&format!("~ {}\n", cell(&changed["item_id"])));
        let (Value::Object(before), Value::Object(after)) = (&changed["before"], &changed["after"]) else {
            continue;
        };
        let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
        for key in keys.filter(|key| key.as_str() != "content_hash" && before.get(*key) != after.get(*key)) {
            let (old, new) = (&changed["before"][key], &changed["after"][key]);
            text.push_str(&format!("    {key}: {} -> {}\n", short(old, 60), short(new, 60)));
        }
    }
    if text.is_empty() {
        text.push_str("no difference\n");
    }
    text
}
