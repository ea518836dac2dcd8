//! What a judge must answer, and the value that follows.

use super::prompt::{Field, Items};
use super::reply::read;
use crate::domain::score::Rated;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// Questions that are asked back of an answer, for `answer_relevancy`.
const QUESTIONS: usize = 3;
/// More statements in one reply are no list of claims any more.
const MAX_STATEMENTS: usize = 200;
/// Where a failure comes from; none where there is no failure.
const FAILURES: [&str; 3] = ["none", "retrieval", "generation"];
/// A rationale has no more characters of a judge's words.
const MAX_WORDS: usize = 2_000;

/// One of several answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    /// What the judge answers.
    pub label: &'static str,
    /// Whether it is good.
    pub passes: bool,
}

/// How a value follows from the items that are judged one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    /// Yes over all.
    Share,
    /// No over all.
    ShareOfNo,
    /// Σ of precision@k × yes_k over the number of yes; 0 without a yes.
    AveragePrecision,
}

/// What a judge must answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// Yes or no with a reason, and what is wrong.
    Rating,
    /// One of several answers with a reason.
    Choice(&'static [Choice]),
    /// True or false with a reason, and where a failure comes from.
    Boolean,
    /// Statements that it takes out of the answer, each yes or no: yes over all.
    Statements,
    /// As statements; without any there is nothing to judge, and this is what is missing.
    Points(&'static str),
    /// Statements of both answers, each TP, FP or FN: F1 with its weight, and the similarity of the two with the rest.
    Facts {
        /// The weight of F1, from 0 to 1.
        weight: f64,
    },
    /// Questions that the answer would answer: their mean similarity to the question.
    Questions,
    /// Yes or no for each of the items that we number.
    Numbered(Items, Formula),
    /// Parts of a text, copied from it.
    Parts,
    /// A text of its own.
    Prose,
}

/// Which two texts are compared, and what their similarity becomes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Compare {
    /// The answer with the expected one: `base` + `weight` × similarity.
    Answers { base: f64, weight: f64 },
    /// The question with each of these: the mean.
    Questions(Vec<String>),
}

/// What a reply says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Finding {
    /// The value in the metric's scale; for a verdict 1 or 0.
    pub value: f64,
    /// A class, where there is one.
    pub label: Option<String>,
    /// Why.
    pub rationale: String,
    /// What was said of each part that was judged by itself.
    pub ratings: Vec<Rated>,
    /// What it copied from a text.
    pub parts: Vec<String>,
    /// What must be compared before the value is known.
    pub compare: Option<Compare>,
    /// What is missing, where the judge found nothing to judge.
    pub missing: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum YesNo {
    Yes,
    No,
}

#[derive(Deserialize)]
struct Rating {
    rationale: String,
    problems: Vec<String>,
    rating: YesNo,
}

#[derive(Deserialize)]
struct Chosen {
    rationale: String,
    choice: String,
}

#[derive(Deserialize)]
struct Outcome {
    rationale: String,
    failure: String,
    result: bool,
}

#[derive(Deserialize)]
struct Statements {
    statements: Vec<Statement>,
}

#[derive(Deserialize)]
struct Statement {
    statement: String,
    reason: String,
    verdict: String,
}

#[derive(Deserialize)]
struct Asked {
    questions: Vec<String>,
}

#[derive(Deserialize)]
struct Copied {
    parts: Vec<String>,
}

#[derive(Deserialize)]
struct Prose {
    analysis: String,
}

#[derive(Deserialize)]
struct Numbered {
    items: Vec<Numbering>,
}

#[derive(Deserialize)]
struct Numbering {
    number: usize,
    reason: String,
    verdict: YesNo,
}

impl Shape {
    /// What is judged one by one.
    pub(super) fn items(&self) -> Option<Items> {
        match self {
            Shape::Numbered(items, _) => Some(*items),
            _ => None,
        }
    }

    /// The JSON schema of the reply, in the subset that servers take as strict.
    pub(super) fn schema(&self) -> Json {
        let (text, yes_no) = (json!({"type": "string"}), json!({"type": "string", "enum": ["yes", "no"]}));
        let list = |item: Json| json!({"type": "array", "items": item});
        let verdicts = |words: Json| {
            let verdict = json!({"type": "string", "enum": words});
            object(&[("statement", text.clone()), ("reason", text.clone()), ("verdict", verdict)])
        };
        match self {
            Shape::Rating => {
                object(&[("rationale", text.clone()), ("problems", list(text)), ("rating", yes_no)])
            }
            Shape::Choice(choices) => {
                let labels: Vec<&str> = choices.iter().map(|choice| choice.label).collect();
                object(&[("rationale", text), ("choice", json!({"type": "string", "enum": labels}))])
            }
            Shape::Boolean => {
                let failure = json!({"type": "string", "enum": FAILURES});
                object(&[("rationale", text), ("failure", failure), ("result", json!({"type": "boolean"}))])
            }
            Shape::Statements | Shape::Points(_) => {
                object(&[("statements", list(verdicts(json!(["yes", "no"]))))])
            }
            Shape::Facts { .. } => object(&[("statements", list(verdicts(json!(["TP", "FP", "FN"]))))]),
            Shape::Questions => object(&[("questions", list(text))]),
            Shape::Parts => object(&[("parts", list(text))]),
            Shape::Prose => object(&[("analysis", text)]),
            Shape::Numbered(..) => {
                let number = json!({"type": "integer"});
                object(&[(
                    "items",
                    list(object(&[("number", number), ("reason", text), ("verdict", yes_no)])),
                )])
            }
        }
    }

    /// How to answer, in words.
    pub(super) fn words(&self) -> String {
        match self {
            Shape::Rating => "Write the rationale first. List in problems everything that makes the rating no; the list is \
                              empty if the rating is yes, and only then."
                .to_owned(),
            Shape::Choice(_) => "Write the rationale first, then the choice.".to_owned(),
            Shape::Boolean => "Write the rationale first. Then failure: none if the result is true; if it is false, \
                               retrieval if the retrieved text (CONTEXT) is the cause, else generation. Then the result."
                .to_owned(),
            Shape::Statements | Shape::Facts { .. } => {
                "List each statement once, in its own words, with a short reason and its verdict.".to_owned()
            }
            Shape::Points(_) => "List each of them once, in its own words, as a statement with a short reason and its \
                                 verdict. The list is empty if there is none."
                .to_owned(),
            Shape::Questions => format!("Write exactly {QUESTIONS} questions."),
            Shape::Parts => "List the parts as they stand in the text. The list is empty if there is none.".to_owned(),
            Shape::Prose => "Write the analysis as one text.".to_owned(),
            Shape::Numbered(items, _) => {
                let name = items.name();
                format!("Give one item for each {name}, with its number, a short reason and the verdict yes or no.")
            }
        }
    }

    /// What the reply says; `items` were numbered.
    ///
    /// # Errors
    /// When it is not as asked, or contradicts itself.
    pub(super) fn read(&self, text: &str, items: usize) -> Result<Finding, String> {
        match self {
            Shape::Rating => rating(read(text)?),
            Shape::Choice(choices) => choice(read(text)?, choices),
            Shape::Boolean => boolean(read(text)?),
            Shape::Statements => statements(&read::<Statements>(text)?.statements),
            Shape::Points(missing) => {
                let read = read::<Statements>(text)?.statements;
                if read.is_empty() {
                    return Ok(Finding { missing: Some(missing), ..Finding::default() });
                }
                statements(&read)
            }
            Shape::Facts { weight } => facts(&read::<Statements>(text)?.statements, *weight),
            Shape::Questions => questions(read::<Asked>(text)?.questions),
            Shape::Parts => parts(read::<Copied>(text)?.parts),
            Shape::Prose => prose(&read::<Prose>(text)?.analysis),
            Shape::Numbered(_, formula) => numbered(&read::<Numbered>(text)?.items, items, *formula),
        }
    }

    /// The finding over several groups of parts that were judged one by one, in their order; the parts are numbered through.
    pub(super) fn joined(&self, groups: Vec<Finding>) -> Finding {
        let Shape::Numbered(_, formula) = self else { return groups.into_iter().next().unwrap_or_default() };
        let ratings = groups.into_iter().flat_map(|group| group.ratings);
        let numbered = ratings.enumerate().map(|(at, one)| Rated { number: at + 1, ..one });
        over(numbered.collect(), *formula)
    }
}

fn object(members: &[(&str, Json)]) -> Json {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let members: serde_json::Map<String, Json> =
        members.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": members, "required": names, "additionalProperties": false})
}

fn said(text: &str) -> String {
    text.trim().chars().take(MAX_WORDS).collect()
}

fn rating(read: Rating) -> Result<Finding, String> {
    let problems: Vec<&str> = read.problems.iter().map(|p| p.trim()).filter(|p| !p.is_empty()).collect();
    let is_yes = read.rating == YesNo::Yes;
    if is_yes != problems.is_empty() {
        let rating = if is_yes { "yes" } else { "no" };
        return Err(format!(
            "the reply contradicts itself: rating {rating} with {} problems",
            problems.len()
        ));
    }
    let mut rationale = said(&read.rationale);
    if !problems.is_empty() {
        rationale = said(&format!("{rationale} Problems: {}.", problems.join("; ")));
    }
    let label = if is_yes { "yes" } else { "no" };
    Ok(Finding {
        value: f64::from(u8::from(is_yes)),
        label: Some(label.to_owned()),
        rationale,
        ..Finding::default()
    })
}

/// True passes and has no failure; false has one, and that is its label.
fn boolean(read: Outcome) -> Result<Finding, String> {
    let Some(failure) = FAILURES.iter().find(|known| **known == read.failure) else {
        return Err(format!("the reply is not as asked: {:?} is no failure", said(&read.failure)));
    };
    if read.result != (*failure == FAILURES[0]) {
        return Err(format!("the reply contradicts itself: result {} with failure {failure}", read.result));
    }
    let label = if read.result { "pass" } else { *failure };
    let (value, rationale) = (f64::from(u8::from(read.result)), said(&read.rationale));
    Ok(Finding { value, label: Some(label.to_owned()), rationale, ..Finding::default() })
}

fn choice(read: Chosen, choices: &[Choice]) -> Result<Finding, String> {
    let Some(chosen) = choices.iter().find(|choice| choice.label == read.choice) else {
        return Err(format!("the reply is not as asked: {:?} is no choice", said(&read.choice)));
    };
    let value = f64::from(u8::from(chosen.passes));
    Ok(Finding {
        value,
        label: Some(chosen.label.to_owned()),
        rationale: said(&read.rationale),
        ..Finding::default()
    })
}

/// Each statement's verdict, of `words` only, and no statement with two of them.
fn verdicts<'a>(statements: &'a [Statement], words: &[&str]) -> Result<HashMap<&'a str, usize>, String> {
    if statements.len() > MAX_STATEMENTS {
        return Err(format!("the reply has more than {MAX_STATEMENTS} statements"));
    }
    let (mut counts, mut known) = (HashMap::new(), HashMap::new());
    for Statement { statement, verdict, .. } in statements {
        if !words.contains(&verdict.as_str()) {
            return Err(format!("the reply is not as asked: {:?} is no verdict", said(verdict)));
        }
        match known.insert(statement.trim().to_lowercase(), verdict) {
            Some(other) if other != verdict => {
                return Err(format!(
                    "the reply contradicts itself: {:?} is {other} and {verdict}",
                    said(statement)
                ));
            }
            // Said twice, it counts once.
            Some(_) => {}
            None => *counts.entry(verdict.as_str()).or_default() += 1,
        }
    }
    Ok(counts)
}

/// The statements with one of these verdicts, with their reasons.
fn listed(statements: &[Statement], wanted: &[&str]) -> String {
    let chosen = statements.iter().filter(|s| wanted.contains(&s.verdict.as_str()));
    let lines: Vec<String> =
        chosen.map(|s| format!("“{}” ({})", s.statement.trim(), s.reason.trim())).collect();
    if lines.is_empty() { String::new() } else { format!(" Not so: {}.", lines.join("; ")) }
}

fn statements(all: &[Statement]) -> Result<Finding, String> {
    let counts = verdicts(all, &["yes", "no"])?;
    let of = |verdict: &str| counts.get(verdict).copied().unwrap_or_default();
    let (yes, total) = (of("yes"), of("yes") + of("no"));
    if total == 0 {
        return Err("the judge found no statement in the answer".to_owned());
    }
    let rationale = said(&format!("{yes} of {total} statements hold.{}", listed(all, &["no"])));
    Ok(Finding { value: yes as f64 / total as f64, rationale, ..Finding::default() })
}

fn facts(all: &[Statement], weight: f64) -> Result<Finding, String> {
    let counts = verdicts(all, &["TP", "FP", "FN"])?;
    let of = |verdict: &str| counts.get(verdict).copied().unwrap_or_default();
    let (tp, fp, missed) = (of("TP"), of("FP"), of("FN"));
    if tp + fp + missed == 0 {
        return Err("the judge found no statement in the answers".to_owned());
    }
    let f1 = tp as f64 / (tp as f64 + 0.5 * (fp + missed) as f64);
    let rationale = said(&format!(
        "Factual F1 {f1:.3}: {tp} statements of both answers, {fp} of the answer alone, {missed} that it misses.{}",
        listed(all, &["FP", "FN"])
    ));
    let compare = Some(Compare::Answers { base: weight * f1, weight: 1.0 - weight });
    Ok(Finding { value: f1, rationale, compare, ..Finding::default() })
}

fn questions(asked: Vec<String>) -> Result<Finding, String> {
    let asked: Vec<String> = asked.iter().map(|q| said(q)).filter(|q| !q.is_empty()).collect();
    if asked.len() != QUESTIONS {
        return Err(format!("the reply has {} questions, and {QUESTIONS} are meant", asked.len()));
    }
    let rationale = format!("The answer answers: {}", asked.join(" | "));
    Ok(Finding { rationale, compare: Some(Compare::Questions(asked)), ..Finding::default() })
}

/// Parts without white space around them; a blank one is none.
fn parts(copied: Vec<String>) -> Result<Finding, String> {
    if copied.len() > MAX_STATEMENTS {
        return Err(format!("the reply has more than {MAX_STATEMENTS} parts"));
    }
    let parts = copied.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    Ok(Finding { parts: parts.map(str::to_owned).collect(), ..Finding::default() })
}

/// A text that is told whole: one that would be cut is asked for again.
fn prose(analysis: &str) -> Result<Finding, String> {
    let (text, length) = (analysis.trim(), analysis.trim().chars().count());
    match length {
        0 => Err("the reply has no text".to_owned()),
        1..=MAX_WORDS => Ok(Finding { rationale: text.to_owned(), ..Finding::default() }),
        _ => Err(format!("the reply has {length} characters, and at most {MAX_WORDS} are meant")),
    }
}

fn numbered(all: &[Numbering], items: usize, formula: Formula) -> Result<Finding, String> {
    let mut verdicts: Vec<Option<&Numbering>> = vec![None; items];
    for item in all {
        let Some(place) = item.number.checked_sub(1).and_then(|at| verdicts.get_mut(at)) else {
            return Err(format!("the reply judges number {}, and there are {items}", item.number));
        };
        if place.replace(item).is_some() {
            return Err(format!("the reply judges number {} twice", item.number));
        }
    }
    let judged: Vec<&Numbering> = verdicts.into_iter().flatten().collect();
    if judged.len() != items || items == 0 {
        return Err(format!("the reply judges {} of {items}", judged.len()));
    }
    let rated = |item: &Numbering| Rated {
        number: item.number,
        is_yes: item.verdict == YesNo::Yes,
        rationale: said(&item.reason),
    };
    Ok(over(judged.into_iter().map(rated).collect(), formula))
}

/// What follows from the ratings of all parts, which are one at least.
fn over(ratings: Vec<Rated>, formula: Formula) -> Finding {
    let is_yes: Vec<bool> = ratings.iter().map(|one| one.is_yes).collect();
    let (items, yes) = (is_yes.len(), is_yes.iter().filter(|yes| **yes).count());
    let value = match formula {
        Formula::Share => yes as f64 / items as f64,
        Formula::ShareOfNo => (items - yes) as f64 / items as f64,
        Formula::AveragePrecision => average_precision(&is_yes),
    };
    let line = |one: &Rated| format!("{} {} ({})", one.number, one.rating(), one.rationale);
    let lines: Vec<String> = ratings.iter().map(line).collect();
    let rationale = said(&format!("{yes} of {items} yes: {}.", lines.join("; ")));
    Finding { value, rationale, ratings, ..Finding::default() }
}

/// Σ of precision@k × yes_k over the number of yes.
fn average_precision(is_yes: &[bool]) -> f64 {
    let (mut found, mut sum) = (0usize, 0.0);
    for (at, _) in is_yes.iter().enumerate().filter(|(_, yes)| **yes) {
        found += 1;
        sum += found as f64 / (at + 1) as f64;
    }
    if found == 0 { 0.0 } else { sum / found as f64 }
}

/// The questions of the catalogue that are about sentences of a field.
pub(super) const fn sentences_of(field: Field, formula: Formula) -> Shape {
    Shape::Numbered(Items::Sentences(field), formula)
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
