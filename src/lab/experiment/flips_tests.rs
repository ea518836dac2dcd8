//! Flips of items that were made up.

use super::*;
use crate::stats::seeded::Seeded;
use serde_json::json;

fn item(id: &str, perturbation: Option<(&str, &str)>) -> ItemRow {
    let metadata = perturbation.map(|(source, method)| {
        json!({"perturbation": {"source": source, "method": method, "intensity": "high", "seed": 1}})
            .to_string()
    });
    ItemRow { item_id: format!("id-{id}"), external_id: Some(id.to_owned()), metadata, ..ItemRow::default() }
}

fn score(id: &str, repetition: i64, passed: bool) -> Scored {
    Scored {
        item_id: format!("id-{id}"),
        repetition,
        evaluator: "rouge".into(),
        metric: "rouge_l".into(),
        status: "ok".into(),
        value: Some(0.5),
        passed: Some(passed),
        label: None,
    }
}

/// Items, and verdicts of each source, its copy and its perturbed item.
fn tried(verdicts: &[(bool, bool, bool)]) -> (Vec<ItemRow>, Vec<Scored>) {
    let (mut items, mut scores) = (Vec::new(), Vec::new());
    for (at, (source, copy, changed)) in verdicts.iter().enumerate() {
        let names = [format!("{at}"), format!("{at}~copy"), format!("{at}~case")];
        items.push(item(&names[0], None));
        items.push(item(&names[1], Some((&names[0], "copy"))));
        items.push(item(&names[2], Some((&names[0], "case"))));
        scores.extend(names.iter().zip([source, copy, changed]).map(|(id, passed)| score(id, 1, *passed)));
    }
    (items, scores)
}

#[test]
fn a_flip_is_told_with_its_case_and_counts_against_copies() {
    let mut verdicts = vec![(true, true, false); 20];
    verdicts.push((true, false, true));
    verdicts.push((false, false, true));
    let (items, scores) = tried(&verdicts);
    let all = flips(&items, &scores);
    let [found] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(
        (found.method.as_str(), found.n, found.flipped, found.copies_flipped),
        ("case@high", 22, 21, 1)
    );
    assert_eq!((found.cases.len(), found.certainty), (21, Some("certain")));
    let last = Case { source: "id-21".to_owned(), item_id: "id-21~case".to_owned(), passed: false };
    assert_eq!(found.cases.last(), Some(&last));
    // What another system perturbed names its source, and has no copies: nothing is certain of it.
    let relation = json!([{"type": "perturbation_source", "target": "0", "target_type": "test_case"}]);
    for metadata in
        [json!({"relationships": relation}), json!({"h2o": {"test": "t", "relationships": relation}})]
    {
        let other = ItemRow { metadata: Some(metadata.to_string()), ..item("0p", None) };
        let all = flips(&[item("0", None), other], &[score("0", 1, true), score("0p", 1, false)]);
        let [found] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((found.method.as_str(), found.n, found.flipped), ("perturbation_source", 1, 1));
        assert_eq!((found.has_copies, found.certainty, found.p), (false, Some("possible"), 1.0));
        assert!(found.difference.is_none() && found.cases[0].item_id == "id-0p", "{found:?}");
    }
    // With repetitions most of them decide; what has no verdict of its copy is left out.
    let (items, mut scores) = tried(&[(true, true, false), (true, true, true)]);
    scores.extend([score("0~case", 2, true), score("0~case", 3, true)]);
    scores.retain(|score| score.item_id != "id-1~copy");
    assert_eq!((flips(&items, &scores)[0].n, flips(&items, &scores)[0].flipped), (1, 0));
}

/// A whole report of a model that does not mind: each answer is right with its item's own probability, whatever is done to
/// the question. Eleven methods share their items and copies.
#[test]
fn a_noisy_model_that_does_not_mind_is_not_called_certain() {
    const METHODS: usize = 11;
    let (mut random, reports) = (Seeded::new(5), 200);
    let certain = (0..reports).filter(|_| {
        let (mut items, mut scores) = (Vec::new(), Vec::new());
        for at in 0..40 {
            let ease = 0.5 + 0.5 * random.unit();
            let source = at.to_string();
            let copy = format!("{at}~copy");
            items.extend([item(&source, None), item(&copy, Some((&source, "copy")))]);
            scores.extend([&source, &copy].map(|id| score(id, 1, random.unit() < ease)));
            for method in 0..METHODS {
                let (id, method) = (format!("{at}~{method}"), format!("method{method}"));
                items.push(item(&id, Some((&source, &method))));
                scores.push(score(&id, 1, random.unit() < ease));
            }
        }
        let told = flips(&items, &scores);
        assert_eq!(told.len(), METHODS);
        told.iter().any(|one| one.certainty == Some("certain"))
    });
    let share = certain.count() as f64 / f64::from(reports);
    assert!(share <= 0.05, "{share}");
}
