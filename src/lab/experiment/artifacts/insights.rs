//! What stands out between experiments: the best and the worst of each metric, the fastest and the cheapest, and the item
//! that most of them failed. Where intervals leave open which one it is, all of them are named.

use super::super::findings::Line;
use super::super::leaderboard::{Row, leaderboard};
use super::super::summary::Data;
use super::boards::{key_of, verdicts};
use super::side::{Side, keys, metric_names};
use crate::stats::Estimate;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Items that an insight names.
const MAX_ITEMS: usize = 5;

/// A model with a value of its own.
type Of<'a> = (&'a str, Estimate);

/// The insights about several sides; none about one.
pub fn between(sides: &[Side<'_>], line: &dyn Fn(&str, &str) -> Line) -> Vec<Value> {
    if sides.len() < 2 {
        return Vec::new();
    }
    let (models, names) = (keys(sides), metric_names(sides));
    let data: Vec<Data<'_>> = sides.iter().map(|side| Data { ..side.data }).collect();
    let rows = leaderboard(&data, |evaluator, metric| line(evaluator, metric).0);
    let mut found = Vec::new();
    for (of, name) in &names {
        let cell =
            |row: &Row| row.cells.iter().position(|cell| (&cell.evaluator, &cell.metric) == (&of.0, &of.1));
        let placed: Vec<(&str, &super::super::leaderboard::Cell)> = rows
            .iter()
            .zip(&models)
            .filter_map(|(row, model)| Some((model.as_str(), &row.cells[cell(row)?])))
            .filter(|(_, cell)| cell.estimate.is_some())
            .collect();
        let last = placed.len();
        if last < 2 {
            continue;
        }
        let at = |is: &dyn Fn(usize, usize) -> bool| {
            let chosen = placed.iter().filter(|(_, cell)| is(cell.rank_from, cell.rank_to));
            chosen.filter_map(|(model, cell)| Some((*model, cell.estimate?))).collect::<Vec<_>>()
        };
        let (best, worst) = (at(&|from, _| from == 1), at(&|_, to| to == last));
        // Where all are best, nothing stands out.
        if best.len() < last {
            found.push(told("best", &format!(" by {name}"), &best, Some(name)));
        }
        if worst.len() < last {
            found.push(told("worst", &format!(" by {name}"), &worst, Some(name)));
        }
    }
    let of_rows = |get: &dyn Fn(&Row) -> Option<Estimate>| {
        let each = rows.iter().zip(&models);
        each.filter_map(|(row, model)| Some((model.as_str(), get(row)?))).collect::<Vec<_>>()
    };
    let (took, cost) = (of_rows(&|row| row.duration_ms), of_rows(&|row| row.cost_usd));
    found.extend(ends(("fastest", "slowest"), ", milliseconds a run", &took));
    found.extend(ends(("cheapest", "most expensive"), ", US dollars a run", &cost));
    found.extend(of_retrieval(sides));
    found.extend(hardest(sides));
    found
}

/// The lowest and the highest of `all`, where one can be told from another.
fn ends((low, high): (&str, &str), unit: &str, all: &[Of<'_>]) -> Vec<Value> {
    let by = |a: &&Of<'_>, b: &&Of<'_>| a.1.estimate.total_cmp(&b.1.estimate);
    let (Some(least), Some(most)) = (all.iter().min_by(by), all.iter().max_by(by)) else { return Vec::new() };
    let near = |end: &Of<'_>| {
        let mut near: Vec<_> = all.iter().filter(|one| meet(&one.1, &end.1)).copied().collect();
        near.sort_by_key(|one| one.0 != end.0);
        near
    };
    [(low, near(least)), (high, near(most))]
        .into_iter()
        .filter(|(_, near)| near.len() < all.len())
        .map(|(what, near)| told(what, unit, &near, None))
        .collect()
}

/// Whether two intervals have a value in common.
fn meet(one: &Estimate, other: &Estimate) -> bool {
    let end = |end: Option<f64>, estimate: f64| end.unwrap_or(estimate);
    end(one.lower, one.estimate) <= end(other.upper, other.estimate)
        && end(other.lower, other.estimate) <= end(one.upper, one.estimate)
}

/// Whose contexts fail least and most, of evaluators that tell whose fault it was.
fn of_retrieval(sides: &[Side<'_>]) -> Vec<Value> {
    let board = verdicts(sides).json;
    let mut found = Vec::new();
    for metric in board["metrics"].as_array().into_iter().flatten() {
        let share = |model: &Value| -> Option<(String, Estimate)> {
            let share = &model["shares"]["retrieval_failures"];
            let number = |key: &str| share[key].as_f64();
            let estimate = Estimate {
                estimate: number("estimate")?,
                lower: number("lower"),
                upper: number("upper"),
                n: share["n"].as_u64()?,
                n_eff: number("n_eff")?,
            };
            Some((model["model_key"].as_str()?.to_owned(), estimate))
        };
        let all: Vec<(String, Estimate)> =
            metric["models"].as_array().into_iter().flatten().filter_map(share).collect();
        let all: Vec<Of<'_>> = all.iter().map(|(model, estimate)| (model.as_str(), *estimate)).collect();
        let what = ("best context retrieval", "worst context retrieval");
        found.extend(ends(
            what,
            &format!(", failures of {}", metric["metric"].as_str().unwrap_or_default()),
            &all,
        ));
    }
    found
}

/// The items that most sides had a problem with.
fn hardest(sides: &[Side<'_>]) -> Option<Value> {
    let mut failed: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, side) in sides.iter().enumerate() {
        for score in side.data.scores.iter().filter(|score| score.passed == Some(false)) {
            failed.entry(&score.item_id).or_default().insert(at);
        }
    }
    let most = failed.values().map(BTreeSet::len).max()?;
    let items: Vec<String> =
        failed.iter().filter(|(_, by)| by.len() == most).map(|(item, _)| key_of(sides, item)).collect();
    let shown = items.iter().take(MAX_ITEMS).cloned().collect::<Vec<_>>().join(", ");
    let more = if items.len() > MAX_ITEMS { ", …" } else { "" };
    let text = format!("the hardest: {most} of {} failed {shown}{more}", sides.len());
    Some(json!({
        "description": text, "severity": "low", "insight_type": "insight",
        "insight_attrs": {"model_key": null, "metric": null, "estimate": most as f64 / sides.len() as f64,
            "lower": null, "upper": null, "threshold": null, "certainty": "certain"},
        "actions_description": "read what was answered to them", "resources": items,
    }))
}

/// An insight that names one or several.
fn told(what: &str, by: &str, of: &[Of<'_>], metric: Option<&String>) -> Value {
    let names: Vec<&str> = of.iter().map(|(model, _)| *model).collect();
    let first = of.first().map(|(_, estimate)| *estimate);
    let value = first.map(|first| format!(" ({:.3})", first.estimate)).unwrap_or_default();
    let text = match names.as_slice() {
        [one] => format!("{what}{by}: {one}{value}"),
        many => format!("{what}{by}: one of {}; their intervals leave open which", many.join(", ")),
    };
    json!({
        "description": text, "severity": "low", "insight_type": "insight",
        "insight_attrs": {"model_key": names.join(", "), "metric": metric, "estimate": first.map(|of| of.estimate),
            "lower": first.and_then(|of| of.lower), "upper": first.and_then(|of| of.upper), "threshold": null,
            "certainty": if names.len() == 1 { "certain" } else { "possible" }},
        "actions_description": "", "resources": [],
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

    /// Sixty items, of which those in `wrong` failed, each answered in so many milliseconds.
    fn tried(name: &str, wrong: &[usize], took: f64) -> Tried {
        let passed: Vec<[bool; 1]> = (0..60).map(|at| [!wrong.contains(&at)]).collect();
        let mut tried = Tried::of(&passed.iter().map(<[bool; 1]>::as_slice).collect::<Vec<_>>());
        (tried.experiment.experiment_id, tried.experiment.name) = (name.to_owned(), name.to_owned());
        for (at, run) in tried.runs.values_mut().enumerate() {
            run.duration_ms = Some(took + at as f64 % 3.0);
        }
        for score in &mut tried.scores {
            score.value = None;
            score.label = (score.passed == Some(false)).then(|| "retrieval".to_owned());
        }
        tried
    }

    fn texts(of: &[&Tried]) -> Vec<String> {
        let answers = HashMap::new();
        let sides: Vec<Side<'_>> =
            of.iter().map(|one| Side { data: one.data(), answers: &answers }).collect();
        let text = |insight: Value| insight["description"].as_str().unwrap().to_owned();
        between(&sides, &line).into_iter().map(text).collect()
    }

    #[test]
    fn what_can_be_told_apart_is_named_and_what_cannot_is_left_open() {
        let bad: Vec<usize> = (0..40).collect();
        let (good, same, bad) =
            (tried("good", &[3], 10.0), tried("same", &[3], 10.0), tried("bad", &bad, 90.0));
        let found = texts(&[&good, &bad]);
        for text in [
            "best by m: good (0.983)",
            "worst by m: bad (0.333)",
            "fastest, milliseconds a run: good",
            "slowest, milliseconds a run: bad",
            "best context retrieval, failures of m: good",
            "worst context retrieval, failures of m: bad",
            "the hardest: 2 of 2 failed 3",
        ] {
            assert!(found.iter().any(|one| one.starts_with(text)), "{text}: {found:?}");
        }
        let open = texts(&[&good, &same, &bad]);
        assert!(
            open.contains(&"best by m: one of good, same; their intervals leave open which".to_owned()),
            "{open:?}"
        );
        assert_eq!(texts(&[&good, &same]), ["the hardest: 2 of 2 failed 3"], "nothing else stands out");
        assert!(texts(&[&good]).is_empty());
    }
}
