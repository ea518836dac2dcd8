//! Which part of experiments is wanted, in which form.

use super::super::findings::{Finding, Line, findings};
use super::boards::{Board, classes, heatmap, verdicts};
use super::insights::between;
use super::mlflow;
use super::results::results;
use super::side::{Side, keys};
use super::test_lab::test_lab;
use super::written::{Table, escaped};
use crate::lab::zip::write as archive;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::str::FromStr;

/// A part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `llm-eval-results`: a row an item and experiment.
    Results,
    /// `llm-heatmap-leaderboard`: models and prompts by metric values.
    Heatmap,
    /// `llm-bool-leaderboard`: models by verdicts.
    Verdicts,
    /// `llm-classification-leaderboard`: models by classes.
    Classes,
    /// `problems_and_actions`: what stands out for the worse.
    Problems,
    /// `insights`: what else stands out.
    Insights,
    /// `mlflow`: results and metrics under the names of MLflow and Mosaic AI.
    Mlflow,
    /// `test-lab`: what was asked and answered, for H2O Eval Studio.
    TestLab,
    /// `work-dir-archive`: all of them in a ZIP.
    All,
}

/// The names of the parts.
const PARTS: [(&str, Part); 9] = [
    ("llm-eval-results", Part::Results),
    ("llm-heatmap-leaderboard", Part::Heatmap),
    ("llm-bool-leaderboard", Part::Verdicts),
    ("llm-classification-leaderboard", Part::Classes),
    ("problems_and_actions", Part::Problems),
    ("insights", Part::Insights),
    ("mlflow", Part::Mlflow),
    ("test-lab", Part::TestLab),
    ("work-dir-archive", Part::All),
];

impl Part {
    fn name(self) -> &'static str {
        PARTS.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || PARTS.map(|(name, _)| name).join(", ");
        let found = PARTS.iter().find(|(name, _)| *name == text).map(|(_, part)| *part);
        found.ok_or_else(|| format!("part is {text:?}; there are {}", names()))
    }
}

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON.
    Json,
    /// CSV; of tables.
    Csv,
    /// Parquet; of tables.
    Parquet,
    /// Markdown; of leaderboards.
    Markdown,
    /// HTML without a script; of leaderboards.
    Html,
    /// A ZIP with the files of the part.
    Zip,
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            "md" => Ok(Self::Markdown),
            "html" => Ok(Self::Html),
            "zip" => Ok(Self::Zip),
            other => Err(format!("format is {other:?}; there are json, csv, parquet, md, html and zip")),
        }
    }
}

/// A file.
pub struct Written {
    /// What it is.
    pub media_type: &'static str,
    /// Its bytes; equal experiments give equal ones.
    pub bytes: Vec<u8>,
}

/// The part of `sides` in the form that is wanted; without one JSON, and a ZIP of all parts.
///
/// # Errors
/// When the part has no such form.
pub fn written(
    sides: &[Side<'_>],
    part: Part,
    form: Option<Form>,
    line: &dyn Fn(&str, &str) -> Line,
) -> Result<Written, String> {
    let form = form.unwrap_or(if part == Part::All { Form::Zip } else { Form::Json });
    if form == Form::Zip || part == Part::All {
        if form != Form::Zip {
            return Err("work-dir-archive is a ZIP: format=zip".to_owned());
        }
        let all = match part {
            Part::All => all_files(sides, line)?,
            part => {
                let mut one = BTreeMap::new();
                files(sides, part, line, &mut one)?;
                one
            }
        };
        return Ok(Written { media_type: "application/zip", bytes: archive(&all)? });
    }
    let (json, table) = match part {
        Part::Problems | Part::Insights => (told(sides, part, line), None),
        Part::TestLab => (test_lab(sides), None),
        Part::Results => {
            let table = results(sides);
            (json!(table.rows), Some(table))
        }
        Part::Mlflow => {
            let table = mlflow::rows(sides);
            let models = mlflow::metrics(sides, line);
            (json!({ "models": models, "eval_results": table.rows }), Some(table))
        }
        part => {
            let Board { json, table } = board(sides, part, line);
            (json, Some(table))
        }
    };
    let (media_type, text) = match (form, table) {
        (Form::Json, _) => ("application/json", format!("{json:#}\n")),
        (Form::Parquet, Some(table)) => {
            return Ok(Written { media_type: "application/vnd.apache.parquet", bytes: table.parquet()? });
        }
        (Form::Csv, Some(table)) => ("text/csv", table.csv()?),
        (Form::Markdown, Some(table)) => ("text/markdown", table.markdown()),
        (Form::Html, Some(table)) => ("text/html; charset=utf-8", page(part.name(), &table)),
        (_, _) => return Err(format!("{} is json or zip", part.name())),
    };
    Ok(Written { media_type, bytes: text.into_bytes() })
}

/// The files of all parts, and `report.html`, which shows them without a script.
///
/// # Errors
/// When memory does.
pub fn all_files(
    sides: &[Side<'_>],
    line: &dyn Fn(&str, &str) -> Line,
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut all = BTreeMap::new();
    for part in PARTS.iter().map(|(_, part)| *part).filter(|part| *part != Part::All) {
        files(sides, part, line, &mut all)?;
    }
    all.insert("report.html".to_owned(), report(sides, line).into_bytes());
    Ok(all)
}

/// The leaderboards and what stands out, on one page.
fn report(sides: &[Side<'_>], line: &dyn Fn(&str, &str) -> Line) -> String {
    let mut body = String::new();
    for part in [Part::Heatmap, Part::Verdicts, Part::Classes] {
        body.push_str(&format!("<h2>{}</h2>\n{}", part.name(), board(sides, part, line).table.html()));
    }
    for part in [Part::Problems, Part::Insights] {
        let told = told(sides, part, line);
        let one = |found: &Value| {
            let text = |value: &Value| escaped(value.as_str().unwrap_or_default());
            let attrs = if found["problem_attrs"].is_null() {
                &found["insight_attrs"]
            } else {
                &found["problem_attrs"]
            };
            format!("<li>{}: {}</li>\n", text(&attrs["model_key"]), text(&found["description"]))
        };
        let lines: String = told.as_array().into_iter().flatten().map(one).collect();
        body.push_str(&format!("<h2>{}</h2>\n<ul>\n{lines}</ul>\n", part.name()));
    }
    whole("report", &body)
}

fn board(sides: &[Side<'_>], part: Part, line: &dyn Fn(&str, &str) -> Line) -> Board {
    match part {
        Part::Verdicts => verdicts(sides),
        Part::Classes => classes(sides),
        _ => heatmap(sides, line),
    }
}

/// The files of a part, below a folder of its name.
fn files(
    sides: &[Side<'_>],
    part: Part,
    line: &dyn Fn(&str, &str) -> Line,
    all: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), String> {
    let name = part.name();
    let mut put = |file: String, text: String| drop(all.insert(file, text.into_bytes()));
    match part {
        Part::Problems | Part::Insights => {
            put(format!("{name}.json"), format!("{:#}\n", told(sides, part, line)))
        }
        Part::TestLab => put(format!("{name}.json"), format!("{:#}\n", test_lab(sides))),
        Part::Results => {
            let table = results(sides);
            put(format!("{name}/{name}.csv"), table.csv()?);
            put(format!("{name}/{name}.json"), format!("{:#}\n", json!(table.rows)));
        }
        Part::Mlflow => {
            let table = mlflow::rows(sides);
            put(format!("{name}/eval_results.csv"), table.csv()?);
            put(format!("{name}/eval_results.json"), format!("{:#}\n", json!(table.rows)));
            put(format!("{name}/metrics.json"), format!("{:#}\n", mlflow::metrics(sides, line)));
        }
        part => {
            let Board { json, table } = board(sides, part, line);
            let metrics = json.get("metrics").and_then(Value::as_array).cloned().unwrap_or_default();
            let mut index = Vec::new();
            for (at, metric) in metrics.iter().enumerate() {
                let file = format!("leaderboard_{at}.json");
                index.push(
                    json!({ "metric": metric["metric"], "evaluator": metric["evaluator"], "file": file }),
                );
                put(format!("{name}/{file}"), format!("{metric:#}\n"));
            }
            let explanation = match index.is_empty() {
                true => json.clone(),
                false => json!({ "explanation": name, "metrics": index }),
            };
            put(format!("{name}/explanation.json"), format!("{explanation:#}\n"));
            put(format!("{name}/leaderboard.md"), table.markdown());
            put(format!("{name}/leaderboard.html"), page(name, &table));
        }
    }
    Ok(())
}

fn page(title: &str, table: &Table) -> String {
    whole(title, &table.html())
}

fn whole(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<h1>{title}</h1>\n{body}")
}

/// Findings under the names that other systems have for them.
fn told(sides: &[Side<'_>], part: Part, line: &dyn Fn(&str, &str) -> Line) -> Value {
    let mut told = Vec::new();
    for (side, model) in sides.iter().zip(keys(sides)) {
        for found in findings(&side.data, line) {
            if (found.kind == "insight") == (part == Part::Insights) {
                told.push(named(&found, &model, part));
            }
        }
    }
    if part == Part::Insights {
        told.extend(between(sides, line));
    }
    told.into()
}

fn named(found: &Finding, model: &str, part: Part) -> Value {
    let (kind, attrs) = match part {
        Part::Insights => ("insight_type", "insight_attrs"),
        _ => ("problem_type", "problem_attrs"),
    };
    json!({
        "description": found.text, "severity": found.severity, kind: found.kind,
        attrs: {
            "model_key": model, "metric": found.metric, "estimate": found.estimate, "lower": found.lower,
            "upper": found.upper, "threshold": found.threshold, "certainty": found.certainty,
        },
        "actions_description": found.action, "resources": found.item_ids,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::tried::Tried;
    use super::*;
    use crate::domain::score::Better;
    use std::collections::HashMap;

    fn line(_: &str, _: &str) -> Line {
        (Better::Higher, Some(0.5))
    }

    #[test]
    fn every_part_has_its_forms_and_equal_experiments_give_equal_bytes() {
        let tried = Tried::of(&[&[true] as &[bool], &[false]]);
        let answers = HashMap::new();
        let sides = || [Side { data: tried.data(), answers: &answers }];
        let of = |part: &str, form: &str| {
            written(&sides(), part.parse().unwrap(), Some(form.parse().unwrap()), &line)
        };
        for (part, forms) in [
            ("llm-eval-results", ["json", "csv", "parquet", "zip"].as_slice()),
            ("mlflow", &["json", "csv", "parquet", "zip"]),
            ("llm-heatmap-leaderboard", &["json", "csv", "md", "html", "zip"]),
            ("llm-bool-leaderboard", &["json", "md", "html"]),
            ("llm-classification-leaderboard", &["json", "zip"]),
            ("problems_and_actions", &["json", "zip"]),
            ("insights", &["json"]),
            ("test-lab", &["json", "zip"]),
            ("work-dir-archive", &["zip"]),
        ] {
            for form in forms {
                let bytes = of(part, form).unwrap_or_else(|why| panic!("{part} {form}: {why}")).bytes;
                assert_eq!(bytes, of(part, form).unwrap().bytes, "{part} {form}");
                assert!(!bytes.is_empty());
            }
        }
        assert!(of("insights", "csv").is_err() && of("work-dir-archive", "json").is_err());
        assert!("llm-leaderboard".parse::<Part>().unwrap_err().contains("llm-bool-leaderboard"));
        let problems: Value =
            serde_json::from_slice(&of("problems_and_actions", "json").unwrap().bytes).unwrap();
        assert_eq!(problems[0]["problem_type"], "problem");
        assert_eq!(problems[0]["problem_attrs"]["threshold"], 0.5);
    }
}
