//! What is parsed, and the exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 some input lines were bad.
//! Those of `test` are its own.

use super::pipe::unwritten;
use super::{
    alerts, anchors, calibrate, config, demo, demo_lab, evalbench, export, lab, labels, model, queue,
    replay_decisions, score, send, serve, sql, suite, test, token,
};
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// OpenTelemetry trace collector and online evaluator for LLM applications.
#[derive(Debug, Parser)]
#[command(name = "groundline", version, about, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "Examples:
  groundline serve
  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 python app.py
  groundline sql \"SELECT service_name, operation, count(*) FROM spans GROUP BY 1, 2\"
  psql -h 127.0.0.1 -p 5433 -c '\\d'
  groundline score --evaluator pii_leakage,toxicity < answers.jsonl";

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the server.
    #[command(
        after_help = "Examples:\n  groundline serve\n  groundline serve --config groundline.toml --data-dir /var/lib/groundline\n\nExit codes: 0 stopped, 1 failed while it ran, 2 it did not start.\nSIGHUP reads certificates, tokens, alerts, receivers, anchors and calibrations again."
    )]
    Serve {
        /// Configuration file; without one the embedded default holds.
        #[arg(long)]
        config: Option<PathBuf>,
        /// Where journal and tables live; wins over the configuration.
        #[arg(long)]
        data_dir: Option<PathBuf>,
        /// For developing the console: read its files from this folder at every request. Only on a loopback address.
        #[arg(long)]
        console_dir: Option<PathBuf>,
    },
    /// Start a server on free ports, send it real captures, show what it found.
    #[command(after_help = "Examples:\n  groundline demo\n  groundline demo --keep\n  groundline demo --lab")]
    Demo {
        /// Make a dataset of the captures instead, ask two versions of an application, and compare them.
        #[arg(long, conflicts_with = "keep")]
        lab: bool,
        /// Stay up afterwards and print the addresses.
        #[arg(long)]
        keep: bool,
    },
    /// Ask one query.
    #[command(
        after_help = "Examples:\n  groundline sql \"SELECT * FROM traces LIMIT 5\"\n  groundline sql --data-dir data --format csv \"SELECT count(*) FROM spans\""
    )]
    Sql(sql::SqlArgs),
    /// Write stored spans as OTLP, so that they can go to another collector.
    #[command(
        after_help = "Examples:\n  groundline export \"WHERE service_name = 'shop'\" > shop.json\n  groundline send --endpoint http://other:4318 shop.json\n  groundline export --format otlp-proto --output spans.pb \\\n      \"WHERE start_time > now() - INTERVAL '1 hour'\""
    )]
    Export(export::ExportArgs),
    /// Send OTLP files: .pb (ExportTraceServiceRequest; *.logs.pb for logs) or .json (OTLP/JSON).
    #[command(
        after_help = "Examples:\n  groundline send capture.pb\n  groundline send --protocol grpc --endpoint http://127.0.0.1:4317 *.pb"
    )]
    Send(send::SendArgs),
    /// Score JSON lines without a server.
    #[command(
        after_help = "Examples:\n  groundline score --evaluator groundedness --input rag.jsonl --output scores.jsonl\n  groundline score --evaluator pii_leakage,toxicity < answers.jsonl\n\nExit codes: 0 scored; 1 input or output failed; 2 configuration or arguments are wrong; 3 some lines did not parse.\nThat no row has a score because of errors is told."
    )]
    Score(score::ScoreArgs),
    /// Run a test suite and hold it against its gates.
    #[command(
        after_help = "Examples:\n  groundline test suite.toml\n  groundline test suite.toml --junit junit.xml --json report.json --markdown report.md\n  groundline test suite.toml --baseline main.json --strict\n\nExit codes: 0 all gates hold, 1 a gate is broken, 2 the suite or the configuration is wrong and nothing ran,\n3 more errors of target or judge than suite.max_error_share, 4 with --strict a gate is neither held nor broken."
    )]
    Test(test::TestArgs),
    /// Check a test suite; read suites of other systems, and write suites and results for them; keep and run suites on a server.
    #[command(
        after_help = "Examples:\n  groundline suite check suite.toml\n  groundline suite import theirs.zip --output suite.toml\n  groundline suite export suite.toml --format csv --output suite.csv\n  groundline suite export report.json --part results --format csv --output results.csv\n  groundline suite import suite.toml --url http://127.0.0.1:4320\n  groundline suite run refunds --target support"
    )]
    Suite {
        #[command(subcommand)]
        what: suite::SuiteVerb,
    },
    /// Measure the evaluators on labelled data.
    #[command(
        after_help = "Examples:\n  groundline evalbench --data evaldata --task groundedness\n  groundline evalbench --data evaldata --dataset hatecheck --evaluator toxicity --json\n  groundline evalbench --labels ours.jsonl --evaluator hallucination --precision 0.9 \\\n      --config groundline.toml --write\n\nA dataset is <task>/<name>.jsonl.gz; each line has id, group, split, label (0 or 1) and, by task, context, question\nand answer (groundedness: 1 is not supported), question and passage (context_relevance), question and answer\n(answer_relevance) or text (toxicity, pii, secrets, language).\nLines of --labels: {\"question\": …, \"answer\": …, \"contexts\": [\"…\"], \"passed\": true}"
    )]
    Evalbench(evalbench::EvalbenchArgs),
    /// Check a model file before it is configured.
    #[command(
        after_help = "Examples:\n  groundline model check reranker/model.onnx\n  groundline model check nli.onnx --as entailment --labels contradiction,neutral,entailment"
    )]
    Model {
        #[command(subcommand)]
        what: model::ModelVerb,
    },
    /// Show items that wait for their evaluators; put back or forget those that failed or expired.
    #[command(
        after_help = "Examples:\n  groundline queue list --state failed\n  groundline queue retry --all\n  groundline queue drop 5f0c1d7a9b3e4c2d8f6a7b8c9d0e1f2a"
    )]
    Queue {
        #[command(subcommand)]
        what: queue::QueueVerb,
    },
    /// Import and export labels; show what is labelled, and how far people agree.
    #[command(
        after_help = "Examples:\n  groundline labels list\n  groundline labels import labels.csv\n  groundline labels export --metric hallucination > labels.csv\n  groundline labels agreement --metric hallucination"
    )]
    Labels {
        #[command(subcommand)]
        what: labels::LabelsVerb,
    },
    /// Learn from labels what an evaluator's scores mean as probabilities.
    #[command(
        after_help = "Examples:\n  groundline calibrate --metric hallucination\n  groundline calibrate --metric hallucination --max-error 0.1 --write --config groundline.toml\n  groundline calibrate --data-dir data --metric toxicity --method isotonic --json"
    )]
    Calibrate(calibrate::CalibrateArgs),
    /// Score frozen items again, and tell whether the evaluators moved: then an alert is theirs, not the application's.
    #[command(
        after_help = "Examples:\n  groundline anchors anchors.jsonl --scores anchors.scores.jsonl --evaluator hallucination,toxicity\n  groundline anchors anchors.jsonl --scores anchors.scores.jsonl --evaluator faithfulness \\\n      --config groundline.toml --json\n\nThe first run writes the scores; later ones compare with them. Exit code 1: an evaluator moved."
    )]
    Anchors(anchors::AnchorArgs),
    /// Show how alerts stand; have a baseline learned anew.
    #[command(
        after_help = "Examples:\n  groundline alerts list\n  groundline alerts show hallucination-drift\n  groundline alerts rebase hallucination-drift --slice request_model=m2"
    )]
    Alerts {
        #[command(subcommand)]
        what: alerts::AlertsVerb,
    },
    /// Decide again about a day's traces: reproduce what was recorded, or see what other rules would have decided.
    #[command(
        after_help = "Examples:\n  groundline replay-decisions --config groundline.toml --day 2026-11-22\n  groundline replay-decisions --data-dir data --config changed.toml --rule checkout"
    )]
    ReplayDecisions(replay_decisions::ReplayArgs),
    /// Datasets: what an application is asked, and what it should answer, in versions.
    #[command(
        after_help = "Examples:\n  groundline dataset import refunds cases.csv\n  groundline dataset show refunds\n  groundline dataset versions refunds\n  groundline dataset revert refunds 2"
    )]
    Dataset {
        #[command(subcommand)]
        what: lab::DatasetVerb,
    },
    /// Make a dataset whose items are asked in other letters too: does the application still answer as before?
    #[command(
        after_help = "Examples:\n  groundline perturb refunds --with typo,word_swap@high --seed 1\n  groundline experiment run v2 --dataset refunds-perturbed --http http://127.0.0.1:8000/answer \\\n      --evaluator rouge\n  groundline experiment flips v2\n\nMethods: comma, word_swap, qwerty_swap, keyboard_typos (typo), ocr_errors, random_insert, random_delete,\nrandom_replace, case, whitespace, encoding_base16, copy; a judge of the server writes synonym, antonym and\ncontextual_misinformation. Intensities, a share of characters or words: very_low 1 %,\nlow 3 %, medium 6 %, high 12 %, very_high 25 %, extreme 50 %."
    )]
    Perturb(lab::PerturbArgs),
    /// Experiments: ask a target every item of a dataset, score what it answers, compare two.
    #[command(
        after_help = "Examples:\n  groundline experiment run v1 --dataset refunds --existing answers.csv --evaluator rouge --baseline\n  groundline experiment run v2 --dataset refunds --http http://127.0.0.1:8000/answer \\\n      --evaluator rouge\n  groundline experiment compare v2"
    )]
    Experiment {
        #[command(subcommand)]
        what: Box<lab::ExperimentVerb>,
    },
    /// Human review: what people say of an experiment's runs, of spans, or of what the online draws chose.
    #[command(
        after_help = "Examples:\n  groundline review queue create 'refunds v2' --experiment v2 --reviews 2\n  groundline review queue show 'refunds v2'\n  groundline review queue export 'refunds v2' > review.csv"
    )]
    Review {
        #[command(subcommand)]
        what: lab::ReviewVerb,
    },
    /// Datasets and experiments as one file, and back.
    #[command(
        after_help = "Examples:\n  groundline lab archive refunds --output refunds.zip\n  groundline lab restore refunds.zip"
    )]
    Lab {
        #[command(subcommand)]
        what: lab::LabVerb,
    },
    /// Make bearer tokens.
    #[command(
        after_help = "Examples:\n  groundline token new --name checkout --tenant shop --role ingest\n  groundline token new --name grafana --tenant shop --role query --append tokens.toml"
    )]
    Token {
        #[command(subcommand)]
        what: token::TokenVerb,
    },
    /// Check a configuration, or print the one in force.
    #[command(after_help = "Examples:\n  groundline config check groundline.toml\n  groundline config dump")]
    Config {
        #[command(subcommand)]
        what: config::ConfigVerb,
    },
}

/// Parses the arguments, runs the verb, gives the exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    super::memory::give_back();
    // Two TLS libraries are linked; without a choice the first use of TLS would panic.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        eprintln!("groundline: a TLS provider was installed before");
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("groundline: the runtime does not start: {error}");
            return ExitCode::from(1);
        }
    };
    let code = runtime.block_on(run(cli.verb));
    // Blocking tasks that are cut off by a signal must not hold the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    if let Some(why) = unwritten() {
        eprintln!("groundline: standard output: {why}");
        return ExitCode::from(1);
    }
    code
}

async fn run(verb: Verb) -> ExitCode {
    match verb {
        Verb::Serve { config, data_dir, console_dir } => serve::run(config, data_dir, console_dir).await,
        Verb::Demo { lab: true, .. } => demo_lab::run().await,
        Verb::Demo { keep, .. } => demo::run(keep).await,
        Verb::Sql(args) => sql::run(args).await,
        Verb::Export(args) => export::run(args).await,
        Verb::Send(args) => send::run(args).await,
        Verb::Anchors(args) => {
            tokio::task::spawn_blocking(move || anchors::run(&args)).await.unwrap_or(ExitCode::from(1))
        }
        Verb::Labels { what } => labels::run(what).await,
        Verb::Calibrate(args) => calibrate::run(args).await,
        Verb::Alerts { what } => alerts::run(what).await,
        Verb::Queue { what } => queue::run(what).await,
        Verb::Dataset { what } => lab::dataset(what).await,
        Verb::Perturb(args) => lab::perturb(args).await,
        Verb::Experiment { what } => lab::experiment(*what).await,
        Verb::Review { what } => lab::review(what).await,
        Verb::Lab { what } => lab::lab(what).await,
        Verb::ReplayDecisions(args) => replay_decisions::run(args).await,
        // A future that is waited for inside of another one would never get its turn.
        Verb::Evalbench(args) => {
            tokio::task::spawn_blocking(move || evalbench::run(args)).await.unwrap_or(ExitCode::from(1))
        }
        Verb::Score(args) => {
            tokio::task::spawn_blocking(move || score::run(args)).await.unwrap_or(ExitCode::from(1))
        }
        Verb::Model { what } => {
            tokio::task::spawn_blocking(move || model::run(what)).await.unwrap_or(ExitCode::from(1))
        }
        Verb::Test(args) => test::run(args).await,
        // Checks are run on their examples, which may wait for a judge.
        Verb::Suite { what } => {
            tokio::task::spawn_blocking(move || suite::run(what)).await.unwrap_or(ExitCode::from(1))
        }
        Verb::Token { what } => token::run(what),
        Verb::Config { what } => config::run(what),
    }
}
