//! Suites that a server keeps, for the verb `suite`.

use super::client::{Asked, LabClient, Refused, Where};
use super::told::{cell, fault, hash, short, table};
use crate::lab::suite::AnalysisBy;
use crate::units::words;
use bytes::Bytes;
use clap::Args;
use http::Method;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Answers of one request.
const ANSWERS: usize = 500;

/// What is asked of a server.
pub enum OfSuites<'a> {
    /// All of them.
    List,
    /// One, with its revisions: NAME, or NAME@VERSION.
    Show(&'a str),
    /// Keep one: its JSON, and how.
    Import(String, &'a SendArgs),
    /// A file of one, of a run of one, or of a queue of reviews.
    Export {
        /// NAME, or NAME@VERSION; an experiment for results and qa, a queue for review.
        name: &'a str,
        /// suite, questions, results, qa or review.
        part: &'a str,
        /// toml, csv, json, zip, h2o or promptfoo.
        format: &'a str,
        /// Whether each row has everything.
        flat: bool,
    },
    /// Run one.
    Run(&'a RunArgs),
}

/// How a suite is kept.
#[derive(Debug, Clone, Default, Args)]
pub struct SendArgs {
    /// The suite's name on the server, in the place of the file's.
    #[arg(long)]
    pub name: Option<String>,
    /// Why.
    #[arg(long)]
    pub message: Option<String>,
    /// Only if this is still the newest revision; 0 if there must be none.
    #[arg(long)]
    pub if_revision: Option<i64>,
    /// Tell what would be kept.
    #[arg(long)]
    pub dry_run: bool,
}

impl SendArgs {
    /// What was asked of a server, where none is named: it would be left out without a word.
    ///
    /// # Errors
    /// Which options are for a server, and what names one.
    pub fn without_server(&self) -> Result<(), String> {
        let asked = [
            ("--name", self.name.is_some()),
            ("--message", self.message.is_some()),
            ("--if-revision", self.if_revision.is_some()),
            ("--dry-run", self.dry_run),
        ];
        let asked: Vec<&str> =
            asked.into_iter().filter(|(_, is_asked)| *is_asked).map(|(name, _)| name).collect();
        match asked.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "{}: only for a suite that a server keeps, and none is named; add --url or --data-dir, or leave it out to \
                 write a file",
                asked.join(", ")
            )),
        }
    }
}

/// Arguments of `suite run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Where the suite is.
    #[command(flatten)]
    pub place: Where,
    /// NAME, or NAME@VERSION; the newest revision becomes a version where it was edited.
    pub suite: String,
    /// Who is asked: the name of one of [lab.targets] of the server.
    #[arg(long, required_unless_present_any = ["answers", "resume"])]
    target: Option<String>,
    /// Answers that are there: CSV with Question (or Test Id) and Answer, or JSON objects with question (or test) and output.
    #[arg(long, conflicts_with = "target")]
    answers: Option<PathBuf>,
    /// Go on with this experiment.
    #[arg(long, conflicts_with_all = ["target", "answers"])]
    resume: Option<String>,
    /// Of --resume: errors asks again what has no answer; failed what failed a metric, too. Each run is asked once more.
    #[arg(long, requires = "resume", value_parser = ["errors", "failed"])]
    retry: Option<String>,
    /// Ask each test so often, whatever the suite says.
    #[arg(long)]
    repetitions: Option<u32>,
    /// Ask nobody any more after so long, such as 30m, whatever the suite says: what has no answer then is left unasked, and
    /// --resume asks it. A request that the server has begun, of 64 runs, it ends.
    #[arg(long, conflicts_with = "answers", value_parser = humantime::parse_duration)]
    deadline: Option<Duration>,
    /// Run only tests of which this SQL condition is true, such as "array_has(tags, 'returns')".
    #[arg(long, value_name = "CONDITION")]
    filter: Option<String>,
    /// The name of the experiment; that of the suite if left out.
    #[arg(long)]
    name: Option<String>,
    /// The run that gates with max_drop compare with, by name or id.
    #[arg(long)]
    baseline: Option<String>,
    /// Who writes the analysis of what failed: counted, or judge for one short text by the server's first judge.
    #[arg(long, value_name = "BY", default_value = "counted")]
    analysis: AnalysisBy,
    /// Write a JUnit XML report here.
    #[arg(long)]
    junit: Option<PathBuf>,
    /// Write the whole report as JSON here.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Write a Markdown report here.
    #[arg(long)]
    markdown: Option<PathBuf>,
}

/// What comes out, and the exit code.
type Done = Result<(Bytes, u8), Refused>;

/// Asks the server, or the folder of a stopped one.
///
/// # Errors
/// What it refuses, with every fault.
pub async fn suites(place: &Where, what: OfSuites<'_>) -> Result<(Bytes, u8), String> {
    let client = LabClient::open(place).await?;
    let done = act(&client, what).await;
    let closed = client.close().await;
    let done = done.map_err(|Refused { error, faults }| match faults.is_empty() {
        true => error,
        false => faults.iter().map(|one| fault("the suite", one)).collect::<Vec<_>>().join("\n"),
    })?;
    closed.map(|()| done)
}

async fn act(client: &LabClient, what: OfSuites<'_>) -> Done {
    match what {
        OfSuites::List => list(client).await,
        OfSuites::Show(name) => show(client, name).await,
        OfSuites::Import(suite, how) => import(client, suite, how).await,
        OfSuites::Export { name, part, format, flat } => {
            let (of_suite, of_run, of_queue) =
                (["suites", name], ["experiments", name, "export"], ["queues", name, "export"]);
            let path: &[&str] = match part {
                "results" | "qa" => &of_run,
                "review" => &of_queue,
                _ => &of_suite,
            };
            let mut asked = Asked::get(path).with("part", part).with("format", format);
            if flat {
                asked = asked.with("flat", flat);
            }
            Ok((client.ask(asked).await?, 0))
        }
        OfSuites::Run(args) => run(client, args).await,
    }
}

async fn list(client: &LabClient) -> Done {
    let (mut rows, mut after) = (Vec::new(), String::new());
    loop {
        let page = client.value(Asked::get(&["suites"]).with("after", &after)).await?;
        for head in page["suites"].as_array().into_iter().flatten() {
            let cells = ["name", "tests", "checks", "created_at", "created_by", "description"];
            let mut row = cells.map(|key| short(&head[key], 60)).to_vec();
            row.insert(1, version(head));
            rows.push(row);
        }
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => break,
        }
    }
    let head = ["name", "version", "tests", "checks", "changed", "by", "description"];
    Ok((table(&head, &rows).into(), 0))
}

/// The version; with a star where it was edited since.
fn version(head: &Value) -> String {
    format!("{}{}", head["version"], if head["draft"] == true { "*" } else { "" })
}

async fn show(client: &LabClient, name: &str) -> Done {
    let head = client.value(Asked::get(&["suites", name])).await?;
    let all = client.value(Asked::get(&["suites", name, "versions"])).await?;
    let row = |one: &Value| {
        vec![
            version(one),
            cell(&one["revision"]),
            cell(&one["change"]),
            cell(&one["tests"]),
            cell(&one["checks"]),
            hash(&one["content_hash"]),
            cell(&one["created_at"]),
            cell(&one["created_by"]),
            short(&one["message"], 60),
        ]
    };
    let rows: Vec<Vec<String>> = all["versions"].as_array().into_iter().flatten().map(row).collect();
    let mut text = format!("{}@{}: {}\n", cell(&head["name"]), version(&head), counts(&head));
    if let Some(description) = head["description"].as_str() {
        let _ = writeln!(text, "{description}");
    }
    let names = ["version", "revision", "change", "tests", "checks", "hash", "made", "by", "message"];
    text += &table(&names, &rows);
    Ok((text.into(), 0))
}

fn counts(head: &Value) -> String {
    format!("{} tests, {} checks", head["tests"], head["checks"])
}

async fn import(client: &LabClient, suite: String, how: &SendArgs) -> Done {
    let path = ["suites", "import"];
    let mut asked = Asked::get(&path);
    asked.method = Method::POST;
    asked.body = Some(("application/json", suite.into_bytes()));
    let asked = asked.maybe("name", how.name.as_ref()).maybe("message", how.message.as_ref());
    let asked = asked.maybe("if_revision", how.if_revision).with("dry_run", how.dry_run);
    let told = client.value(asked).await?;
    for warning in told["warnings"].as_array().into_iter().flatten() {
        eprintln!("groundline suite: {}", cell(warning));
    }
    let what = match (how.dry_run, told["changed"] == true, told["draft"] == true) {
        (true, ..) => "nothing was kept",
        (_, false, _) => "as it was",
        (_, true, true) => "the next run makes it another version",
        (_, true, false) => "kept",
    };
    let (name, at) = (cell(&told["name"]), version(&told));
    let text = format!("{name}@{at}: revision {}, {}, {what}\n", told["revision"], counts(&told));
    Ok((text.into(), 0))
}

/// Begins a run, or goes on with one, until nothing is missing; then tells how it ended.
async fn run(client: &LabClient, args: &RunArgs) -> Done {
    let (id, is_late) = asked(client, args, bodies(args)?).await?;
    let path = ["experiments", id.as_str(), "export"];
    let file = |format: &'static str| {
        let asked = results_of(&path, args.analysis).with("format", format);
        client.ask(asked.maybe("baseline", args.baseline.as_ref()))
    };
    let report = file("json").await?;
    let told: Value =
        serde_json::from_slice(&report).map_err(|e| Refused::from(format!("the report is no JSON: {e}")))?;
    let code = told["exit_code"].as_u64().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    // Of a part of the tests the numbers mean nothing.
    let code = if is_late { 3 } else { code };
    if let Some(path) = &args.json {
        written(path, &report)?;
    }
    for (path, format) in [(&args.junit, "junit"), (&args.markdown, "markdown")] {
        if let Some(path) = path {
            written(path, &file(format).await?)?;
        }
    }
    Ok((file("text").await?, code))
}

/// Asks for the results of a run, with the analysis that is wanted: a judge is asked by a request that may cost something.
pub fn results_of<'a>(path: &'a [&'a str], analysis: AnalysisBy) -> Asked<'a> {
    let asked = match analysis {
        AnalysisBy::Counting => Asked::get(path),
        AnalysisBy::Judge => Asked::json(Method::POST, path, &json!({})).with("analysis", "judge"),
    };
    asked.with("part", "results")
}

/// What is sent first: how the run is made, and the answers that are there, so many at once.
fn bodies(args: &RunArgs) -> Result<VecDeque<Value>, Refused> {
    let mut bodies = VecDeque::new();
    match (&args.target, &args.answers) {
        (Some(name), _) => bodies.push_back(json!({ "target": { "kind": "named", "name": name } })),
        (None, Some(file)) => {
            let all = answers(file)?;
            bodies.extend(all.chunks(ANSWERS).map(|some| json!({ "answers": some })));
        }
        (None, None) => {}
    }
    if let (Some(first), None) = (bodies.front_mut(), &args.resume) {
        for (key, value) in [
            ("repetitions", json!(args.repetitions)),
            ("filter", json!(args.filter)),
            ("name", json!(args.name)),
        ] {
            if !value.is_null() {
                first[key] = value;
            }
        }
    }
    Ok(bodies)
}

/// Asks until nothing is missing or the deadline has passed, and answers the experiment and whether it has.
async fn asked(
    client: &LabClient,
    args: &RunArgs,
    mut bodies: VecDeque<Value>,
) -> Result<(String, bool), Refused> {
    let path = ["suites", args.suite.as_str(), "run"];
    let (mut id, mut bar) = (args.resume.clone(), None::<ProgressBar>);
    let (begun, mut is_late, mut from) = (Instant::now(), false, 0);
    let mut deadline = args.deadline;
    loop {
        let body = bodies.pop_front().unwrap_or_else(|| json!({}));
        let asked = Asked::json(Method::POST, &path, &body).maybe("experiment", id.as_ref());
        let asked = asked.maybe("retry", args.retry.as_ref()).maybe("from", (from > 0).then_some(from));
        let told = client.value(asked).await?;
        if id.is_none() {
            id = told["experiment_id"].as_str().map(str::to_owned);
            eprintln!("groundline suite: kept as the experiment {}", cell(&told["experiment_id"]));
        }
        // The suite's own, where nobody is asked for answers that are there.
        let own = told["deadline"].as_str().filter(|_| args.answers.is_none());
        deadline = deadline.or_else(|| humantime::parse_duration(own?).ok());
        for one in told["refused"].as_array().into_iter().flatten() {
            eprintln!("groundline suite: {}", fault("refused", one));
        }
        let count = |key: &str| told[key].as_u64().unwrap_or_default();
        let (stored, missing) = (count("stored"), count("missing"));
        bar.get_or_insert_with(|| progress(stored + missing)).inc(stored);
        // What is wanted again is asked once: the next look begins behind the last one.
        let next = told["next"].as_u64().filter(|next| args.retry.is_some() && *next > from);
        from = next.unwrap_or_default();
        let is_done = match &args.retry {
            Some(_) => next.is_none(),
            // Answers that were sent are all there are; and a page of which nothing was stored would come for ever.
            None => bodies.is_empty() && (missing == 0 || stored == 0 || args.answers.is_some()),
        };
        if is_done {
            if missing > 0 {
                eprintln!("groundline suite: {missing} runs are missing");
            }
            break;
        }
        if let Some(most) = deadline.filter(|most| begun.elapsed() >= *most) {
            is_late = true;
            let (suite, id) = (&args.suite, id.as_deref().unwrap_or_default());
            let again = args.retry.as_ref().map(|what| format!(" --retry {what}")).unwrap_or_default();
            eprintln!(
                "groundline suite: the deadline of {} has passed: {missing} runs are missing; go on with groundline suite run \
                 {suite} --resume {id}{again}",
                words(most)
            );
            break;
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let unknown = || Refused::from("the server does not say which experiment it made".to_owned());
    Ok((id.ok_or_else(unknown)?, is_late))
}

/// A bar on a terminal; nothing where nobody looks.
fn progress(runs: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(runs);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} runs {elapsed} eta {eta}") {
        bar.set_style(style);
    }
    bar
}

fn written(path: &Path, bytes: &[u8]) -> Result<(), Refused> {
    std::fs::write(path, bytes).map_err(|e| Refused::from(format!("{}: {e}", path.display())))
}

/// The columns of a file of answers, and what the server calls them.
const COLUMNS: [(&str, &str); 6] = [
    ("test id", "test"),
    ("question", "question"),
    ("answer", "output"),
    ("in tokens", "input_tokens"),
    ("out tokens", "output_tokens"),
    ("duration", "duration_ms"),
];

/// Questions with their answers, as JSON in the words in which answers are sent; what is not answered is told.
///
/// # Errors
/// Every one without a question, and every question that is there twice.
pub fn pairs(file: &Path) -> Result<Vec<u8>, String> {
    let all = answers(file).map_err(|refused| refused.error)?;
    let (mut seen, mut faults) = (HashSet::new(), Vec::new());
    for (number, one) in (1..).zip(&all) {
        let Some(asked) = one["question"].as_str().or_else(|| one["test"].as_str()) else {
            faults.push(format!("answer {number}: no Question and no Test Id"));
            continue;
        };
        if !seen.insert(asked.trim()) {
            faults.push(format!("answer {number}: {asked:?} is there twice: keep one answer"));
        } else if one["output"].is_null() && one["error"].is_null() {
            eprintln!("groundline suite: answer {number}: {asked:?} has no answer");
        }
    }
    match faults.is_empty() {
        true => Ok(format!("{:#}\n", json!(all)).into_bytes()),
        false => Err(format!("{}: {}", file.display(), faults.join("\n"))),
    }
}

/// The answers of a file: CSV, a JSON list, or JSON lines.
fn answers(file: &Path) -> Result<Vec<Value>, Refused> {
    let told = |why: String| Refused::from(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|e| told(e.to_string()))?;
    let text = text.trim_start_matches('\u{feff}');
    match text.trim_start().chars().next() {
        Some('[') => serde_json::from_str(text).map_err(|e| told(e.to_string())),
        Some('{') => {
            let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
            let read = lines
                .map(|(at, line)| serde_json::from_str(line).map_err(|e| told(format!("line {at}: {e}"))));
            read.collect()
        }
        _ => rows(text).map_err(told),
    }
}

fn rows(text: &str) -> Result<Vec<Value>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head: Vec<String> =
        reader.headers().map_err(|e| e.to_string())?.iter().map(|name| name.trim().to_lowercase()).collect();
    let mut all = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|e| e.to_string())?;
        let mut answer = Map::new();
        for (name, cell) in head.iter().zip(row.iter()).filter(|(_, cell)| !cell.is_empty()) {
            let Some((_, key)) = COLUMNS.iter().find(|(known, _)| *known == name.as_str()) else { continue };
            answer.insert((*key).to_owned(), valued(key, cell)?);
        }
        all.push(Value::Object(answer));
    }
    Ok(all)
}

/// A cell as the server takes it: counts may be written as `12.0`, and durations are seconds.
fn valued(key: &str, cell: &str) -> Result<Value, String> {
    let number = || cell.trim().parse::<f64>().map_err(|_| format!("{key} {cell:?} is no number"));
    Ok(match key {
        "input_tokens" | "output_tokens" => json!(number()?.round() as i64),
        "duration_ms" => json!(number()? * 1e3),
        _ => json!(cell),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_a_server_is_not_left_out_without_one() {
        assert_eq!(SendArgs::default().without_server(), Ok(()));
        let (name, if_revision) = (Some("refunds".to_owned()), Some(0));
        let why = SendArgs { name, if_revision, dry_run: true, message: None }.without_server().unwrap_err();
        assert!(why.starts_with("--name, --if-revision, --dry-run: only for"), "{why}");
        let message = Some("why".to_owned());
        assert!(SendArgs { message, ..SendArgs::default() }.without_server().is_err());
    }

    #[test]
    fn pairs_of_questions_and_answers_are_answers() {
        let table =
            "Question,Answer,In Tokens,Duration,Other\n\"How, long?\",14 days,12.0,0.5,x\nWhere?,,,,\n";
        let first =
            json!({"question": "How, long?", "output": "14 days", "input_tokens": 12, "duration_ms": 500.0});
        assert_eq!(rows(table).unwrap(), [first, json!({"question": "Where?"})]);
        assert!(rows("Question,In Tokens\na,many\n").unwrap_err().contains("\"many\" is no number"));
    }

    #[test]
    fn a_mark_before_answers_is_no_part_of_them() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for text in ["[{\"question\":\"Where?\"}]", "{\"question\":\"Where?\"}\n", "Question\r\nWhere?\n"] {
            std::fs::write(file.path(), format!("\u{feff}{text}")).unwrap();
            let read = answers(file.path()).map_err(|refused| refused.error);
            assert_eq!(read, Ok(vec![json!({"question": "Where?"})]), "{text:?}");
        }
    }
}
