//! Experiments: ask a target every item of a dataset, score what it answers, compare two.

use super::boards::{flipped, found, ranked};
use super::client::{Asked, LabClient, Refused, Where};
use super::compared::compared;
use super::logged::{self, LogArgs};
use super::runner::{self, Ended, Plan};
use super::safe::spreadsheet;
use super::several::against;
use super::suites::results_of;
use super::target::{AskArgs, Asker, TargetArgs};
use super::told::{cell, revision, short, summarized, table};
use crate::cli::pipe::put;
use crate::lab::suite::AnalysisBy;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// What can be done with experiments.
#[derive(Debug, Subcommand)]
pub enum ExperimentVerb {
    /// Ask a target every item of a dataset, and score what it answers.
    #[command(
        after_help = "Examples:\n  groundline experiment run v2 --dataset refunds --http http://127.0.0.1:8000/answer \\\n      --evaluator hallucination,answer_relevance\n  groundline experiment run v2 --dataset refunds@7 --command 'python app.py' --evaluator rouge \\\n      --repetitions 3\n  groundline experiment run v2 --dataset refunds --existing answers.csv \\\n      --evaluator answer_semantic_similarity\n  groundline experiment run production --dataset asked --trace --evaluator toxicity\n\nA target gets {\"run_id\", \"item_id\", \"input\", \"contexts\", \"files\", \"parameters\", \"traceparent\"} and answers a text, or\n{\"output\", \"contexts\", \"output_context\", \"in_tokens\", \"out_tokens\", \"cost_usd\", \"duration\", \"error\"}."
    )]
    Run(RunArgs),
    /// Ask what is missing, after a run was stopped; or again what went wrong.
    #[command(
        after_help = "Examples:\n  groundline experiment resume v2 --http http://127.0.0.1:8000/answer\n  groundline experiment resume v2 --retry errors --http http://127.0.0.1:8000/answer"
    )]
    Resume(ResumeArgs),
    /// Take a log of Inspect or a test lab of H2O: what it asked as a dataset, its answers and scores as an experiment a model.
    #[command(
        after_help = "Examples:\n  groundline experiment import quiz.eval --dataset quiz --name gpt-5\n  groundline experiment import quiz.json --dataset quiz --evaluator rouge\n\nEpochs are repetitions. Its scores are client/SCORER, as if a client had sent them: C and I are 1 and 0, P is half; of\nseveral values each is client/SCORER.KEY. What is not taken, such as messages and events, is told."
    )]
    Import(LogArgs),
    /// Show the experiments, the newest first.
    List {
        #[command(flatten)]
        place: Where,
    },
    /// Show what came of an experiment: each metric with its interval.
    Show {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        experiment: String,
        /// items, or traffic: weighted by the probability with which each item's trace was selected.
        #[arg(long, default_value = "items")]
        weights: String,
        /// Part the items, too: tag, split, category or metadata.KEY, comma separated.
        #[arg(long)]
        slice: Option<String>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Compare experiments over the items that both have asked: two with regressions first, several in one table.
    #[command(
        after_help = "Examples:\n  groundline experiment compare v2 --baseline v1\n  groundline experiment compare v2 --slice tag,metadata.difficulty\n  groundline experiment compare v2 --json\n  groundline experiment compare v2 v3 v4 --baseline v1\n\nWithout --baseline it is the experiment that is marked as the baseline, else the latest that ended well and is not named; of\nseveral, where there is no such one, the first. The p-values of several are adjusted for all of them."
    )]
    Compare {
        #[command(flatten)]
        place: Where,
        /// The new one, by name or id; or up to 20 of one dataset.
        #[arg(required = true)]
        experiments: Vec<String>,
        /// What it is compared with, by name or id.
        #[arg(long)]
        baseline: Option<String>,
        /// Items that are shown of a comparison of two, with what both sides answered.
        #[arg(long, default_value_t = 20)]
        items: usize,
        /// Compare within parts of the items, too: tag, split, category or metadata.KEY, comma separated.
        #[arg(long)]
        slice: Option<String>,
        /// All of it, as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show experiments of one dataset beside each other; a place is a set where the intervals leave it open.
    #[command(after_help = "Examples:\n  groundline experiment leaderboard v1 v2 v3")]
    Leaderboard {
        #[command(flatten)]
        place: Where,
        /// Their names, or their ids.
        #[arg(required = true)]
        experiments: Vec<String>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what stands out: metrics on the wrong side of their threshold, flips, what could not be scored, the hardest item.
    Findings {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        experiment: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write files of experiments for other programs: a frame of results, leaderboards, problems, or an archive of all.
    #[command(
        after_help = "Examples:\n  groundline experiment export v2 --part llm-eval-results --format csv --output v2.csv\n  groundline experiment export v1 v2 --part llm-heatmap-leaderboard --format html \\\n      --output board.html\n  groundline experiment export v1 v2 --part work-dir-archive --output v1-v2.zip"
    )]
    Export(ExportArgs),
    /// Show perturbed items whose verdict is not that of their source, beyond what plain copies show.
    Flips {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        experiment: String,
        /// Cases that are shown of each metric and method, with both answers.
        #[arg(long, default_value_t = 10)]
        cases: usize,
        /// All of it, as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Mark the experiment that others of its dataset are compared with.
    Baseline {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        experiment: String,
        /// Take the mark away.
        #[arg(long)]
        off: bool,
    },
    /// End an experiment: it takes no more runs; what it has is kept.
    Cancel {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        experiment: String,
    },
}

/// How much is asked at once, and when it ends.
#[derive(Debug, Clone, Args)]
pub struct PaceArgs {
    /// Items at once; a program is asked one after the other.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// Stop when the answers cost so much, US dollars, as the target tells it.
    #[arg(long)]
    max_cost: Option<f64>,
    /// Stop after so long, such as 30m: what has no answer then is left unasked, and resume asks it.
    #[arg(long, value_parser = humantime::parse_duration)]
    deadline: Option<Duration>,
}

/// Arguments of `experiment run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    pace: PaceArgs,
    /// What it is called.
    name: String,
    /// NAME for the newest version, or NAME@VERSION.
    #[arg(long)]
    dataset: String,
    /// Evaluators by id, comma separated.
    #[arg(long, value_delimiter = ',')]
    evaluator: Vec<String>,
    /// How often each item is asked.
    #[arg(long, default_value_t = 1)]
    repetitions: u32,
    /// Ask only items of which this SQL condition is true, such as "array_has(tags, 'returns')".
    #[arg(long, value_name = "CONDITION")]
    filter: Option<String>,
    /// Parameters for the target, a JSON object.
    #[arg(long)]
    parameters: Option<String>,
    /// A word to find it by; several times for several.
    #[arg(long = "tag")]
    tags: Vec<String>,
    /// Others of the dataset are compared with it.
    #[arg(long)]
    baseline: bool,
}

/// Arguments of `experiment resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    pace: PaceArgs,
    /// Its name, or its id.
    experiment: String,
    /// errors: what has no answer; failed: what failed a metric, too.
    #[arg(long, value_parser = ["errors", "failed"])]
    retry: Option<String>,
}

/// Arguments of `experiment export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    #[command(flatten)]
    place: Where,
    /// Their names, or their ids.
    #[arg(required = true)]
    experiments: Vec<String>,
    /// llm-eval-results, llm-heatmap-leaderboard, llm-bool-leaderboard, llm-classification-leaderboard, problems_and_actions,
    /// insights, mlflow, test-lab or work-dir-archive; of one run of a suite also results or qa.
    #[arg(long)]
    part: String,
    /// json, csv, parquet, md, html or zip; of results csv, json, zip, text, markdown or junit.
    #[arg(long)]
    format: Option<String>,
    /// Of results: who writes the analysis of what failed, counted, or judge for one short text by the server's first judge.
    #[arg(long, value_name = "BY", default_value = "counted")]
    analysis: AnalysisBy,
    /// Of CSV: an apostrophe before cells that a spreadsheet would take for formulas. It changes them.
    #[arg(long)]
    safe_cells: bool,
    /// Where to.
    #[arg(long)]
    output: PathBuf,
}

impl ExperimentVerb {
    fn place(&self) -> &Where {
        match self {
            Self::Run(args) => &args.place,
            Self::Resume(args) => &args.place,
            Self::Import(args) => &args.place,
            Self::Export(args) => &args.place,
            Self::List { place }
            | Self::Show { place, .. }
            | Self::Compare { place, .. }
            | Self::Leaderboard { place, .. }
            | Self::Findings { place, .. }
            | Self::Flips { place, .. }
            | Self::Baseline { place, .. }
            | Self::Cancel { place, .. } => place,
        }
    }
}

/// What a verb says, and the exit code.
type Done = Result<(String, u8), Refused>;

/// Runs it. Exit code 1 if it was refused or nothing was answered, 3 if some runs have no answer or are missing.
pub async fn run(verb: ExperimentVerb) -> ExitCode {
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
        Err(Refused { error, .. }) => {
            eprintln!("groundline experiment: {error}");
            ExitCode::from(1)
        }
    }
}

async fn act(client: &LabClient, verb: ExperimentVerb) -> Done {
    match verb {
        ExperimentVerb::Run(args) => begin(client, args).await,
        ExperimentVerb::Resume(args) => resume(client, args).await,
        ExperimentVerb::Import(args) => {
            let (mut text, mut code) = (String::new(), 0);
            for id in logged::import(client, args).await.map_err(spelled)? {
                let (told, worst) = finish(client, &id, Ended::default()).await?;
                text.push_str(&told);
                code = code.max(worst);
            }
            Ok((text, code))
        }
        ExperimentVerb::List { .. } => list(client).await,
        ExperimentVerb::Show { experiment, weights, slice, json, .. } => {
            let path = ["experiments", &experiment, "summary"];
            let asked = Asked::get(&path).with("weights", weights).maybe("slice", slice);
            let told = client.value(asked).await?;
            Ok((if json { format!("{told:#}\n") } else { summarized(&told) }, 0))
        }
        ExperimentVerb::Compare { experiments, baseline, items, slice, json, .. } => {
            let asked = Asked::get(&["compare"]).maybe("baseline", baseline).maybe("slice", slice);
            let (asked, new) = match experiments.as_slice() {
                [new] => (asked.with("new", new).with("details", items), true),
                several => (asked.with("experiments", several.join(",")), false),
            };
            let told = client.value(asked).await?;
            let text = || if new { compared(&told, items) } else { against(&told) };
            Ok((if json { format!("{told:#}\n") } else { text() }, 0))
        }
        ExperimentVerb::Leaderboard { experiments, json, .. } => {
            let asked = Asked::get(&["leaderboards"]).with("experiments", experiments.join(","));
            let told = client.value(asked).await?;
            Ok((if json { format!("{told:#}\n") } else { ranked(&told) }, 0))
        }
        ExperimentVerb::Findings { experiment, json, .. } => {
            let told = client.value(Asked::get(&["experiments", &experiment, "findings"])).await?;
            Ok((if json { format!("{told:#}\n") } else { found(&told) }, 0))
        }
        ExperimentVerb::Export(args) => export(client, args).await,
        ExperimentVerb::Flips { experiment, cases, json, .. } => {
            let path = ["experiments", &experiment, "flips"];
            let told = client.value(Asked::get(&path).with("details", cases)).await?;
            Ok((if json { format!("{told:#}\n") } else { flipped(&told, cases) }, 0))
        }
        ExperimentVerb::Baseline { experiment, off, .. } => {
            edit(client, &experiment, &json!({ "baseline": !off })).await
        }
        ExperimentVerb::Cancel { experiment, .. } => {
            edit(client, &experiment, &json!({ "status": "cancelled" })).await
        }
    }
}

async fn edit(client: &LabClient, experiment: &str, body: &Value) -> Done {
    let told = client.value(Asked::json(Method::PATCH, &["experiments", experiment], body)).await?;
    let mark = if told["baseline"] == true { ", the baseline" } else { "" };
    Ok((format!("{}: {}{mark}\n", cell(&told["name"]), cell(&told["status"])), 0))
}

async fn begin(client: &LabClient, args: RunArgs) -> Done {
    let asker = Asker::open(&args.target, &args.ask)?;
    let parameters: Value = match args.parameters.as_deref().map(serde_json::from_str) {
        None => json!({}),
        Some(Ok(parameters @ Value::Object(_))) => parameters,
        Some(_) => return Err(Refused::from("--parameters is no JSON object".to_owned())),
    };
    let target = asker.described().await;
    let body = json!({
        "name": args.name, "dataset": args.dataset, "target": target, "parameters": parameters,
        "evaluators": args.evaluator, "repetitions": args.repetitions, "tags": args.tags,
        "baseline": args.baseline, "filter": args.filter,
    });
    let made = client.value(Asked::json(Method::POST, &["experiments"], &body)).await.map_err(spelled)?;
    let id = cell(&made["experiment_id"]);
    eprintln!("{}: {} items, {} runs, id {id}", args.name, made["items"], made["runs"]);
    let plan = plan(&id, &asker, &args.pace, None);
    let ended = runner::run(client, &plan, made["runs"].as_u64().unwrap_or_default()).await?;
    finish(client, &id, ended).await
}

/// The faults of an experiment in one sentence.
fn spelled(refused: Refused) -> Refused {
    let faults: Vec<String> = refused
        .faults
        .iter()
        .map(|fault| format!("{}: {}", cell(&fault["column"]), cell(&fault["message"])))
        .collect();
    if faults.is_empty() { refused } else { Refused::from(faults.join("; ")) }
}

async fn resume(client: &LabClient, args: ResumeArgs) -> Done {
    let asker = Asker::open(&args.target, &args.ask)?;
    let found = client.value(Asked::get(&["experiments", &args.experiment])).await?;
    let id = cell(&found["experiment_id"]);
    let (begun, now) = (&found["target"], asker.described().await);
    if let Some(then) = revision(begun)
        && revision(&now).as_ref() != Some(&then)
    {
        let now = revision(&now).unwrap_or_else(|| "no known commit".to_owned());
        eprintln!("{}: it was begun at {then}, and goes on at {now}", args.experiment);
    }
    let plan = plan(&id, &asker, &args.pace, args.retry.as_deref());
    let ended = runner::run(client, &plan, 0).await?;
    if let Some(retry) = &args.retry {
        eprintln!("{}", again(retry, &ended));
    }
    finish(client, &id, ended).await
}

/// What came of runs that were asked again.
fn again(retry: &str, ended: &Ended) -> String {
    let state = if retry == "errors" { "without an answer" } else { "failed or without an answer" };
    let more = if ended.left >= runner::MAX_LEFT { " or more" } else { "" };
    format!("{} runs asked again, {}{more} still {state}", ended.stored, ended.left)
}

fn plan<'a>(experiment: &'a str, asker: &'a Asker, pace: &PaceArgs, retry: Option<&'a str>) -> Plan<'a> {
    Plan {
        experiment,
        asker,
        concurrency: usize::from(pace.concurrency),
        retry,
        max_cost: pace.max_cost,
        // One beyond all times is none.
        deadline: pace.deadline.and_then(|time| Instant::now().checked_add(time)),
    }
}

async fn finish(client: &LabClient, id: &str, ended: Ended) -> Done {
    let path = ["experiments", id, "summary"];
    let mut told = client.value(Asked::get(&path)).await?;
    let count = |told: &Value, key: &str| told["summary"][key].as_u64().unwrap_or_default();
    let (runs, done, errors) = (count(&told, "runs"), count(&told, "done"), count(&told, "errors"));
    if let Some(why) = ended.stopped {
        let (stored, missing) = (ended.stored, runs.saturating_sub(done));
        // One that has every run has ended, whatever stopped it at the last one.
        let next = match missing {
            0 => String::new(),
            _ => {
                edit(client, id, &json!({ "status": "paused" })).await?;
                told = client.value(Asked::get(&path)).await?;
                format!("; go on with groundline experiment resume {id}")
            }
        };
        eprintln!("{why}: {stored} runs stored, {missing} missing{next}");
    }
    let is_whole = runs == done && errors == 0;
    let code = match is_whole {
        true => 0,
        false if done == errors => 1,
        false => 3,
    };
    Ok((summarized(&told), code))
}

async fn export(client: &LabClient, args: ExportArgs) -> Done {
    let is_csv = args.format.as_deref() == Some("csv");
    let bytes = match (args.part.as_str(), args.experiments.as_slice()) {
        ("results", [experiment]) => {
            let path = ["experiments", experiment.as_str(), "export"];
            client.ask(results_of(&path, args.analysis).maybe("format", args.format)).await?
        }
        (_, _) if args.analysis == AnalysisBy::Judge => {
            return Err(Refused::from("--analysis is of --part results of one experiment".to_owned()));
        }
        ("qa", [experiment]) => {
            let path = ["experiments", experiment.as_str(), "export"];
            client.ask(Asked::get(&path).with("part", "qa").maybe("format", args.format)).await?
        }
        ("results" | "qa", _) => {
            return Err(Refused::from(format!("{} are of one experiment: name one", args.part)));
        }
        (part, all) => {
            let asked = Asked::get(&["export"]).with("experiments", all.join(",")).with("part", part);
            client.ask(asked.maybe("format", args.format)).await?
        }
    };
    let bytes = if args.safe_cells { spreadsheet(&bytes, is_csv)?.into() } else { bytes };
    let output = args.output.display();
    std::fs::write(&args.output, &bytes).map_err(|e| Refused::from(format!("{output}: {e}")))?;
    Ok((format!("{output}: {} bytes\n", bytes.len()), 0))
}

async fn list(client: &LabClient) -> Done {
    let row = |one: &Value| {
        let target =
            if one["target"]["model"].is_null() { &one["target"]["kind"] } else { &one["target"]["model"] };
        vec![
            short(&one["name"], 40),
            cell(&one["status"]),
            cell(&one["dataset_version"]),
            cell(target),
            cell(&one["repetitions"]),
            if one["baseline"] == true { "baseline".to_owned() } else { String::new() },
            cell(&one["changed_at"]),
            cell(&one["experiment_id"]),
        ]
    };
    let (mut rows, mut after) = (Vec::<Vec<String>>::new(), None::<String>);
    loop {
        let asked = Asked::get(&["experiments"]).with("limit", 1_000).maybe("after", after);
        let page = client.value(asked).await?;
        rows.extend(page["experiments"].as_array().into_iter().flatten().map(row));
        match page["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => break,
        }
    }
    let head = ["name", "status", "version", "target", "repetitions", "", "changed", "id"];
    Ok((table(&head, &rows), 0))
}
