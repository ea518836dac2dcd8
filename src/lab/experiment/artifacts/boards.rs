//! Leaderboards: the values of metrics, the verdicts of boolean ones, and the classes that were told apart.

use super::super::findings::Line;
use super::super::leaderboard::{Cell, leaderboard};
use super::super::reading::Scored;
use super::super::summary::{Data, Of, Places, Weights, by_item, estimate};
use super::side::{Side, by_metric, keys, metric_names};
use super::written::Table;
use crate::domain::score::Better;
use crate::stats::Estimate;
use crate::stats::confusion::Confusion;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// Prompts that a board names, the worst first.
const MAX_PROMPTS: usize = 20;
/// The evaluator whose labels are `expected -> answered`.
const CLASSIFIES: &str = "classification";

/// A board as data and as a table.
pub struct Board {
    /// All of it.
    pub json: Value,
    /// A row a model.
    pub table: Table,
}

/// Models and prompts by the values of every metric.
pub fn heatmap(sides: &[Side<'_>], line: &dyn Fn(&str, &str) -> Line) -> Board {
    let (models, names) = (keys(sides), metric_names(sides));
    let data: Vec<Data<'_>> = sides.iter().map(|side| Data { ..side.data }).collect();
    let rows = leaderboard(&data, |evaluator, metric| line(evaluator, metric).0);
    let metrics = names.iter().map(|(of, name)| {
        let (better, threshold) = line(&of.0, &of.1);
        let cells = rows.iter().zip(&models).filter_map(|(row, model)| {
            let cell = row.cells.iter().find(|cell| (&cell.evaluator, &cell.metric) == (&of.0, &of.1))?;
            Some(json!({"model_key": model, "value": cell}))
        });
        json!({
            "metric": name, "evaluator": of.0, "higher_is_better": better == Better::Higher, "threshold": threshold,
            "models": cells.collect::<Vec<_>>(), "prompts": prompts(sides, &models, of, better),
        })
    });
    let shown = |cell: &Cell| {
        let of = cell.estimate.map(|of| format!("{:.3} [{}, {}]", of.estimate, end(of.lower), end(of.upper)));
        let place = match (cell.rank_from, cell.rank_to) {
            (from, to) if from == to => format!("#{from}"),
            (from, to) => format!("#{from}-{to}"),
        };
        of.map_or(Value::Null, |of| format!("{of} {place}").into())
    };
    let table_rows = rows.iter().zip(&models).map(|(row, model)| {
        let cells = names.iter().map(|(of, name)| {
            let cell = row.cells.iter().find(|cell| (&cell.evaluator, &cell.metric) == (&of.0, &of.1));
            (name.clone(), cell.map_or(Value::Null, shown))
        });
        [("model_key".to_owned(), model.clone().into())].into_iter().chain(cells).collect()
    });
    let columns = ["model_key".to_owned()].into_iter().chain(names.values().cloned()).collect();
    Board {
        json: json!({ "explanation": "llm-heatmap-leaderboard", "metrics": metrics.collect::<Vec<_>>() }),
        table: Table { columns, rows: table_rows.collect() },
    }
}

fn end(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// The prompts whose mean over all models is worst, with the value of each model.
fn prompts(sides: &[Side<'_>], models: &[String], of: &Of, better: Better) -> Vec<Value> {
    let mut values: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for (side, model) in sides.iter().zip(models) {
        let metrics = by_metric(&side.data);
        let scores = metrics.get(of).map(Vec::as_slice).unwrap_or_default();
        let worth =
            |score: &Scored| score.value.or(score.passed.map(|passed| if passed { 1.0 } else { 0.0 }));
        for (item, all) in by_item(scores, worth) {
            values.entry(item).or_default().insert(model, all.iter().sum::<f64>() / all.len() as f64);
        }
    }
    let mean = |of: &BTreeMap<&str, f64>| of.values().sum::<f64>() / of.len().max(1) as f64;
    let mut worst: Vec<(&str, BTreeMap<&str, f64>)> = values.into_iter().collect();
    worst.sort_by(|a, b| {
        let order = mean(&a.1).total_cmp(&mean(&b.1));
        if better == Better::Higher { order } else { order.reverse() }
    });
    worst.truncate(MAX_PROMPTS);
    worst.into_iter().map(|(item, models)| json!({ "key": key_of(sides, item), "models": models })).collect()
}

/// The sender's id of an item, else ours.
pub fn key_of(sides: &[Side<'_>], item: &str) -> String {
    let found = sides.iter().flat_map(|side| side.data.items).find(|row| row.item_id == item);
    found.and_then(|row| row.external_id.clone()).unwrap_or_else(|| item.to_owned())
}

/// A share's name, and which scores it counts.
type Share = (&'static str, fn(&Scored) -> bool);

/// What a boolean score is counted as.
const SHARES: [Share; 5] = [
    ("passes", |score| score.passed == Some(true)),
    ("failures", |score| score.passed == Some(false)),
    ("retrieval_failures", |score| {
        score.passed == Some(false) && score.label.as_deref() == Some("retrieval")
    }),
    ("generation_failures", |score| {
        score.passed == Some(false) && score.label.as_deref() == Some("generation")
    }),
    // A judge that did not say yes or no is no pass, and counts in the denominator.
    ("parsing_failures", |score| score.status == "error"),
];

/// Models by the five shares of every metric with verdicts alone, and the prompts that fail most.
pub fn verdicts(sides: &[Side<'_>]) -> Board {
    let (models, names) = (keys(sides), metric_names(sides));
    let (mut boards, mut rows) = (Vec::new(), Vec::new());
    for (of, name) in &names {
        let (mut lines, mut failed) = (Vec::new(), HashMap::<&str, usize>::new());
        for (side, model) in sides.iter().zip(&models) {
            let metrics = by_metric(&side.data);
            let scores = metrics.get(of).map(Vec::as_slice).unwrap_or_default();
            let verdicts: Vec<&&Scored> = scores.iter().filter(|score| score.passed.is_some()).collect();
            if verdicts.is_empty() || !verdicts.iter().all(|score| is_boolean(score)) {
                continue;
            }
            let shares = shares(&side.data, scores);
            for score in scores.iter().filter(|score| score.passed != Some(true) && score.status != "skipped")
            {
                *failed.entry(&score.item_id).or_default() += 1;
            }
            let mut row: Map<String, Value> =
                [("metric".to_owned(), name.clone().into()), ("model_key".to_owned(), model.clone().into())]
                    .into_iter()
                    .collect();
            row.extend(shares.iter().map(|(name, of)| ((*name).to_owned(), of.map(|of| of.estimate).into())));
            rows.push(row);
            let shares: Map<String, Value> =
                shares.into_iter().map(|(name, of)| (name.to_owned(), json!(of))).collect();
            lines.push(json!({ "model_key": model, "shares": shares }));
        }
        if !lines.is_empty() {
            let mut worst: Vec<(&str, usize)> = failed.into_iter().collect();
            worst.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            let worst = worst.into_iter().take(MAX_PROMPTS);
            let prompts: Vec<Value> = worst
                .map(|(item, failures)| json!({ "key": key_of(sides, item), "failures": failures }))
                .collect();
            boards.push(json!({ "metric": name, "evaluator": of.0, "models": lines, "prompts": prompts }));
        }
    }
    let columns = ["metric", "model_key"].into_iter().chain(SHARES.map(|(name, _)| name));
    Board {
        json: json!({ "explanation": "llm-bool-leaderboard", "metrics": boards }),
        table: Table { columns: columns.map(str::to_owned).collect(), rows },
    }
}

/// Whether a score is a verdict and no measure: pass or fail alone, perhaps with whose fault it was.
fn is_boolean(score: &Scored) -> bool {
    score.value.is_none_or(|value| value == 0.0 || value == 1.0)
}

fn shares(data: &Data<'_>, scores: &[&Scored]) -> Vec<(&'static str, Option<Estimate>)> {
    let places = Places::of(data.items, Weights::Items);
    let counted: Vec<&Scored> = scores.iter().copied().filter(|score| score.status != "skipped").collect();
    let is_split =
        counted.iter().any(|score| matches!(score.label.as_deref(), Some("retrieval" | "generation")));
    let share = |(name, is): (&'static str, fn(&Scored) -> bool)| {
        let mut values: HashMap<&str, Vec<f64>> = HashMap::new();
        for score in &counted {
            values.entry(&score.item_id).or_default().push(if is(score) { 1.0 } else { 0.0 });
        }
        // Whose fault it was is not known of every metric.
        let is_known = is_split || !["retrieval_failures", "generation_failures"].contains(&name);
        (name, estimate(&places.units(&values)).filter(|_| is_known))
    };
    SHARES.into_iter().map(share).collect()
}

/// Of models that were asked for labels: the confusion matrix, accuracy, precision, recall and F1 by class and as macro averages.
pub fn classes(sides: &[Side<'_>]) -> Board {
    let (mut found, mut rows) = (Vec::new(), Vec::new());
    for (side, model) in sides.iter().zip(keys(sides)) {
        let mut confusion = Confusion::default();
        let own =
            side.data.scores.iter().filter(|score| *score.evaluator == *CLASSIFIES && score.status == "ok");
        for (expected, answered) in own.filter_map(|score| score.label.as_deref()?.split_once(" -> ")) {
            confusion.add(expected, answered);
        }
        let (Some(accuracy), Some(all)) = (confusion.accuracy(), confusion.macro_average()) else { continue };
        let labels = confusion.labels();
        let class = |label: &&str| {
            let of = confusion.of(label);
            let answered: Map<String, Value> = labels
                .iter()
                .map(|other| ((*other).to_owned(), confusion.count(label, other).into()))
                .collect();
            json!({ "label": label, "precision": of.precision, "recall": of.recall, "f1": of.f1, "answered": answered })
        };
        let figures = json!({
            "model_key": model, "accuracy": accuracy, "precision": all.precision, "recall": all.recall, "f1": all.f1,
        });
        rows.extend(figures.as_object().cloned());
        let mut board = figures;
        (board["n"], board["classes"]) = (confusion.total().into(), labels.iter().map(class).collect());
        found.push(board);
    }
    let columns = ["model_key", "accuracy", "precision", "recall", "f1"].map(str::to_owned).to_vec();
    Board {
        json: json!({ "explanation": "llm-classification-leaderboard", "models": found }),
        table: Table { columns, rows },
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tried::Tried;
    use super::*;

    fn line(_: &str, _: &str) -> Line {
        (Better::Higher, Some(0.5))
    }

    #[test]
    fn verdicts_are_shares_with_whose_fault_it_was() {
        let mut tried = Tried::of(&[&[true] as &[bool], &[false], &[false], &[true]]);
        for (at, score) in tried.scores.iter_mut().enumerate() {
            score.value = None;
            score.label = Some(["none", "retrieval", "generation", "none"][at].to_owned());
        }
        (tried.scores[3].status, tried.scores[3].passed) = ("error".into(), None);
        let answers = HashMap::new();
        let board = verdicts(&[Side { data: tried.data(), answers: &answers }]);
        let row = &board.table.rows[0];
        for (name, share) in [
            ("passes", 0.25),
            ("failures", 0.5),
            ("retrieval_failures", 0.25),
            ("generation_failures", 0.25),
            ("parsing_failures", 0.25),
        ] {
            assert_eq!(row[name], share, "{name}");
        }
        let told = &board.json["metrics"][0];
        assert_eq!((&told["prompts"][0]["key"], told["prompts"].as_array().unwrap().len()), (&json!("1"), 3));
        assert_eq!(told["models"][0]["shares"]["passes"]["n"], 4);
    }

    #[test]
    fn values_have_places_and_the_worst_prompts() {
        let (mut good, mut bad) =
            (Tried::of(&[&[true] as &[bool]; 30]), Tried::of(&[&[false] as &[bool]; 30]));
        bad.experiment.name = "bad".to_owned();
        good.items[7].external_id = Some("seven".to_owned());
        good.scores[7].value = Some(-1.0);
        let answers = HashMap::new();
        let sides =
            [Side { data: good.data(), answers: &answers }, Side { data: bad.data(), answers: &answers }];
        let board = heatmap(&sides, &line);
        assert_eq!(board.table.columns[1..], ["m"]);
        assert!(board.table.rows[0]["m"].as_str().unwrap().ends_with("] #1"), "{:?}", board.table.rows);
        assert!(board.table.rows[1]["m"].as_str().unwrap().ends_with("] #2"), "{:?}", board.table.rows);
        let metric = &board.json["metrics"][0];
        assert_eq!((&metric["prompts"][0]["key"], &metric["threshold"]), (&json!("seven"), &json!(0.5)));
    }

    #[test]
    fn classes_are_counted_by_expected_and_answered() {
        let mut tried = Tried::of(&[&[true] as &[bool]; 3]);
        for (score, label) in tried.scores.iter_mut().zip(["a -> a", "a -> b", "b -> b"]) {
            (score.evaluator, score.label) = (CLASSIFIES.into(), Some(label.to_owned()));
        }
        let answers = HashMap::new();
        let board = classes(&[Side { data: tried.data(), answers: &answers }]);
        let model = &board.json["models"][0];
        assert_eq!((&model["accuracy"], &model["n"]), (&json!(2.0 / 3.0), &json!(3)));
        assert_eq!(model["classes"][0]["answered"], json!({"a": 1, "b": 1}));
        let none = Tried::of(&[&[true] as &[bool]; 3]);
        assert!(classes(&[Side { data: none.data(), answers: &answers }]).table.rows.is_empty());
    }
}
