//! `groundline model check`: what a file is, where it fits, how fast it is.

use super::samples;
use crate::cli::pipe::{put, say};
use crate::config::Config;
use crate::eval::{FileConfig, Models, ModelsConfig, Slot, Survey, survey};
use clap::{Args, Subcommand, ValueEnum};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What the verb does.
#[derive(Debug, Subcommand)]
pub enum ModelVerb {
    /// Tell what an ONNX file is, for which slots it fits, how fast it is, and what it says of plain samples.
    Check(CheckArgs),
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The ONNX file; tokenizer.json and config.json are looked for beside it.
    file: PathBuf,
    /// Only as this; all that fit otherwise.
    #[arg(long = "as", value_name = "SLOT")]
    slot: Option<SlotName>,
    /// Another tokenizer.json.
    #[arg(long)]
    tokenizer: Option<PathBuf>,
    /// What the logits are, in their order.
    #[arg(long, value_delimiter = ',')]
    labels: Vec<String>,
    /// A configuration whose section of the slot says how the file is read.
    #[arg(long, requires = "slot")]
    config: Option<PathBuf>,
    /// How long the speed is measured, seconds.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SlotName {
    Entailment,
    Relevance,
    Toxicity,
    Embedding,
    Similarity,
}

impl From<SlotName> for Slot {
    fn from(name: SlotName) -> Self {
        match name {
            SlotName::Entailment => Self::Entailment,
            SlotName::Relevance => Self::Relevance,
            SlotName::Toxicity => Self::Toxicity,
            SlotName::Embedding => Self::Embedding,
            SlotName::Similarity => Self::Similarity,
        }
    }
}

/// Runs it on a thread that may block. Exit code 1: the file fits nowhere.
pub fn run(verb: ModelVerb) -> ExitCode {
    let ModelVerb::Check(args) = verb;
    match check(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err((code, error)) => {
            eprintln!("groundline model: {error}");
            ExitCode::from(code)
        }
    }
}

fn check(args: &CheckArgs) -> Result<bool, (u8, String)> {
    let config = Config::load(args.config.as_deref()).map_err(|e| (2, e.to_string()))?;
    let slots: Vec<Slot> = args.slot.map_or(Slot::ALL.to_vec(), |slot| vec![slot.into()]);
    let path = args.file.to_str().ok_or((2, "the path is no UTF-8".to_owned()))?;
    let found = survey(&FileConfig::of(path)).map_err(|e| (1, e))?;
    put(told(&args.file.display().to_string(), &found));
    if found.fault.is_some() {
        return Ok(false);
    }
    let own = Models::embedded(1).map_err(|e| (1, e.to_string()))?;
    let mut fits = false;
    for slot in slots {
        let stored = config.models.file(slot).cloned();
        let mut file = FileConfig { path: path.to_owned(), ..stored.unwrap_or_else(|| FileConfig::of(path)) };
        if let Some(tokenizer) = &args.tokenizer {
            file.tokenizer = tokenizer.display().to_string();
        }
        if !args.labels.is_empty() {
            file.labels.clone_from(&args.labels);
        }
        let models = match Models::open(1, &ModelsConfig::only(slot, file)) {
            Ok(models) => models,
            Err(error) => {
                say(format_args!("{:<12}no: {error}", slot.name()));
                continue;
            }
        };
        fits = true;
        let line = measured(&models, &own, slot, args.seconds).map_err(|e| (1, e))?;
        say(format_args!("{:<12}fits: {line}", slot.name()));
    }
    Ok(fits)
}

/// What stands in the file and beside it.
fn told(path: &str, found: &Survey) -> String {
    let mut out = String::new();
    let (count, kinds) = (found.operators.values().sum::<usize>(), found.operators.len());
    let or = |list: &[String], otherwise: &str| {
        if list.is_empty() { otherwise.to_owned() } else { list.join(", ") }
    };
    let size = found.bytes as f64 / f64::from(1 << 20);
    let family =
        if found.stored.family.is_empty() { "not told: no config.json" } else { &found.stored.family };
    let lines = [
        ("file", format!("{path}, {size:.1} MiB, {count} operators of {kinds} kinds")),
        ("family", family.to_owned()),
        ("inputs", or(&found.inputs, "none")),
        ("outputs", or(&found.outputs, "none")),
        ("labels", or(&found.stored.labels, "not told: no id2label in config.json")),
        ("max tokens", found.stored.max_tokens.map_or("not told: 512".to_owned(), |most| most.to_string())),
    ];
    for (name, value) in lines {
        let _ = writeln!(out, "{name:<12}{value}");
    }
    if let Some(fault) = &found.fault {
        let _ = writeln!(out, "{:<12}{fault}", "not opened");
    }
    if !found.missing.is_empty() {
        let missing = found.missing.join(", ");
        let advice = "export the model again with standard operators, without fusions of one runtime";
        let _ = writeln!(out, "{:<12}{missing}: rten has none of these; {advice}", "operators");
    }
    out
}

/// Its speed on one thread, what it says of the samples, and how often that is what the program's own model says.
fn measured(models: &Models, own: &Models, slot: Slot, seconds: f64) -> Result<String, String> {
    let failed = |e: crate::eval::ModelError| e.to_string();
    let (theirs, ours) =
        (samples::told(models, slot).map_err(failed)?, samples::told(own, slot).map_err(failed)?);
    let right = |told: &[bool]| told.iter().filter(|right| **right).count();
    let same = theirs.iter().zip(&ours).filter(|(a, b)| a == b).count();
    let mut round = 0;
    let mut rate = |models: &Models| -> Result<f64, String> {
        samples::work(models, slot, round).map_err(failed)?;
        let (start, mut done) = (Instant::now(), 0);
        while done == 0 || start.elapsed() < Duration::from_secs_f64(seconds) {
            round += 1;
            done += samples::work(models, slot, round).map_err(failed)?;
        }
        Ok(done as f64 / start.elapsed().as_secs_f64())
    };
    let (speed, usual) = (rate(models)?, rate(own)?);
    Ok(format!(
        "{} | {speed:.0} items of 25 to 35 tokens a second on one thread (the program's own: {usual:.0}) | {} of {} plain \
         samples told right (its own: {}), {same} as its own does",
        models.version(slot),
        right(&theirs),
        theirs.len(),
        right(&ours),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::TOXICITY_LABELS;

    #[test]
    fn the_samples_are_plain_to_the_models_of_the_program() {
        let own = Models::embedded(1).unwrap();
        for slot in Slot::ALL {
            let told = samples::told(&own, slot).unwrap();
            let right = told.iter().filter(|right| **right).count();
            assert!(right * 10 >= told.len() * 8, "{}: {told:?}", slot.name());
        }
    }

    #[test]
    fn a_file_is_told_by_what_it_has() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/modernbert/model.onnx");
        let text = told("x", &survey(&FileConfig::of(folder)).unwrap());
        for part in [
            "family      modernbert",
            "input_ids, attention_mask",
            "outputs     logits",
            "CONTRADICTION, NEUTRAL",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let labels = TOXICITY_LABELS[..3].iter().map(|label| (*label).to_owned()).collect();
        let file = FileConfig { labels, ..FileConfig::of(folder) };
        let models = Models::open(1, &ModelsConfig::only(Slot::Toxicity, file)).unwrap();
        let line = measured(&models, &Models::embedded(1).unwrap(), Slot::Toxicity, 0.0).unwrap();
        assert!(line.contains("a second on one thread") && line.contains("of 10 plain samples"), "{line}");
    }
}
