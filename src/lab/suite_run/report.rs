//! All of a run as one report, and the files that are made of it.

use super::judged::Panel;
use super::runs::SuiteRuns;
use super::stored::{self, Edits, StoredRuns};
use crate::domain::time::UnixNanos;
use crate::lab::error::LabError;
use crate::lab::experiment::{Experiment, baseline_of, find_experiment};
use crate::lab::store::Who;
use crate::lab::suite::{
    AnalysisBy, Baseline, Exported, Form, Report, code, decide, export, junit, markdown, summarise, table,
};
use serde_json::{Value as Json, json};
use tokio::time::Instant;

/// What is wanted of a run.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// results or qa.
    pub part: String,
    /// csv, json, zip, text, markdown or junit.
    pub format: String,
    /// Results with one row a check.
    pub flat: bool,
    /// What gates compare with, by id or name.
    pub baseline: Option<String>,
    /// Who writes the analysis of what failed.
    pub analysis: AnalysisBy,
}

/// A file of a run.
pub(super) struct File {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

/// The file that is wanted of a run.
///
/// # Errors
/// [`LabError::Wrong`] for an experiment that is no run of a suite, or a part that has no such form, [`LabError::Later`] where a
/// judge is to write of it while the evaluators are busy for as long as `lab.score_timeout`.
pub(super) async fn file(
    all: &SuiteRuns,
    who: &Who,
    found: &Experiment,
    wanted: Wanted,
) -> Result<File, LabError> {
    let panel = Panel::of(all.suite(who, found).await?, all.judging())?;
    let runs = runs(all, who, found).await?;
    let baseline = baseline(all, who, found, &panel, wanted.baseline.as_deref()).await?;
    let head = Head::of(found);
    let patience = all.experiments().datasets().config().score_timeout;
    // JUnit has no place for an analysis.
    let turn = match wanted.analysis {
        AnalysisBy::Judge if wanted.format != "junit" => {
            Some(all.experiments().judging(Instant::now() + patience).await?)
        }
        _ => None,
    };
    let until = Instant::now() + patience;
    let (tenant, analyses) = (who.tenant.clone(), all.analyses().clone());
    let work = move || {
        let outcomes = panel.suite.restored(runs.runs);
        let bench = panel.bench().for_tenant(&tenant, until);
        let gates = decide(&panel.suite, &outcomes, &bench, baseline.as_ref());
        let summary = summarise(&panel.suite, &outcomes, &bench);
        let verdict = code(&panel.suite, &gates, summary.error_share, false);
        let mut report = Report::new(&panel.suite, head.times, gates, summary, verdict, outcomes);
        report.target = head.target;
        if turn.is_some() {
            report.analyse(&bench, &analyses);
        }
        let mut json = json!(report);
        json["run_id"] = json!(head.experiment_id);
        json["suite_id"] = json!(head.suite_id);
        json["parameters"] = head.parameters;
        panel.suite.complete(&mut json);
        tell_edits(&mut json, &runs.edited);
        written(&report, &json, &wanted)
    };
    // Intervals of many runs take long enough to hold up other requests of this thread.
    let file = tokio::task::spawn_blocking(work).await.map_err(|e| LabError::Broken(e.to_string()))?;
    file.map_err(LabError::Wrong)
}

/// What a report says of the experiment.
struct Head {
    experiment_id: String,
    suite_id: Option<String>,
    target: String,
    times: (String, String),
    parameters: Json,
}

impl Head {
    fn of(found: &Experiment) -> Self {
        let time = |at: Option<UnixNanos>| {
            let at = at.map(|at| chrono::DateTime::from_timestamp_nanos(at.0));
            at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)).unwrap_or_default()
        };
        let target = found.target.name.clone().unwrap_or_else(|| found.target.kind.clone());
        let mut parameters = found.parameters.as_object().cloned().unwrap_or_default();
        parameters.entry("target").or_insert_with(|| json!(target));
        Self {
            experiment_id: found.experiment_id.clone(),
            suite_id: found.suite_id.clone(),
            target,
            times: (time(found.row.started_at), time(found.row.completed_at)),
            parameters: Json::Object(parameters),
        }
    }
}

async fn runs(all: &SuiteRuns, who: &Who, found: &Experiment) -> Result<StoredRuns, LabError> {
    let items = all.experiments().items(who, found).await?;
    stored::runs(all.experiments().store(), &who.tenant, &found.experiment_id, &items).await
}

/// The run that gates compare with: the one that is named; else, where a gate needs one, the one that is marked, or the latest
/// that ended well.
async fn baseline(
    all: &SuiteRuns,
    who: &Who,
    found: &Experiment,
    panel: &Panel,
    named: Option<&str>,
) -> Result<Option<Baseline>, LabError> {
    let store = all.experiments().store();
    let before = match named {
        Some(name) => Some(find_experiment(store, &who.tenant, name).await?),
        None if panel.suite.needs_baseline() => baseline_of(store, &who.tenant, found).await?,
        None => None,
    };
    let Some(before) = before else { return Ok(None) };
    let suite = all.suite(who, &before).await?;
    let outcomes = suite.restored(runs(all, who, &before).await?.runs);
    Ok(Some(Baseline::of_outcomes(&outcomes)))
}

/// The verdicts that people changed, with what they were.
fn tell_edits(report: &mut Json, edited: &Edits) {
    for run in report["runs"].as_array_mut().into_iter().flatten() {
        let id = run["run_id"].as_str().unwrap_or_default().to_owned();
        for (at, check) in run["checks"].as_array_mut().into_iter().flatten().enumerate() {
            if let Some(edit) = edited.get(&(id.clone(), at)) {
                check["auto_eval"] = json!(edit.auto_eval);
                check["edited_feedback"] = json!(edit.feedback);
                check["edited_by"] = json!(edit.by);
            }
        }
    }
}

fn written(report: &Report, json: &Json, wanted: &Wanted) -> Result<File, String> {
    let text = |media_type, text: String| Ok(File { media_type, bytes: text.into_bytes() });
    let (part, format) = (wanted.part.as_str(), wanted.format.as_str());
    match (part, format) {
        ("results", "text") => return text("text/plain; charset=utf-8", table(report)),
        ("results", "markdown") => return text("text/markdown; charset=utf-8", markdown(report)),
        ("results", "junit") => return text("application/xml", junit(report)),
        _ => {}
    }
    let exported = match (part, wanted.flat) {
        ("results", true) => Exported::FlatResults(json),
        ("results", false) => Exported::Results(json),
        ("qa", _) => Exported::Answers(json),
        ("review", _) => {
            return Err("reviews are exported from their queue, not from an experiment".to_owned());
        }
        (other, _) => return Err(format!("there is no part {other:?} of a run; there are results and qa")),
    };
    let (form, media_type) = match format {
        "csv" => (Form::Csv, "text/csv"),
        "json" => (Form::Json, "application/json"),
        "zip" => (Form::Zip, "application/zip"),
        other => {
            return Err(format!(
                "there is no format {other:?}; there are csv, json and zip, and of results text, markdown and junit"
            ));
        }
    };
    let (bytes, _) = export(exported, form)?;
    Ok(File { media_type, bytes })
}
