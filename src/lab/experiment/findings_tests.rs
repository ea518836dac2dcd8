//! Findings of experiments that were made up.

use super::super::tried::Tried;
use super::*;

fn tried(values: &[f64]) -> Tried {
    let passed: Vec<[bool; 1]> = values.iter().map(|value| [*value >= 0.5]).collect();
    let slices: Vec<&[bool]> = passed.iter().map(|one| &one[..]).collect();
    let mut tried = Tried::of(&slices);
    for (score, value) in tried.scores.iter_mut().zip(values) {
        score.value = Some(*value);
    }
    tried
}

fn kinds(found: &[Finding]) -> Vec<(&'static str, &'static str, &'static str)> {
    found.iter().map(|one| (one.kind, one.severity, one.certainty)).collect()
}

#[test]
fn a_mean_on_the_wrong_side_is_a_problem() {
    let mut low = vec![0.1; 20];
    low[3] = 0.9;
    let low = tried(&low);
    let found = findings(&low.data(), |_, _| (Better::Higher, Some(0.5)));
    assert_eq!(kinds(&found), [("problem", "high", "certain"), ("insight", "low", "certain")]);
    assert_eq!((found[0].threshold, found[0].item_ids.len()), (Some(0.5), 19));
    assert!(found[0].text.contains("e/m is 0.140, below its threshold 0.5"), "{}", found[0].text);
    assert!(found[1].text.contains("the hardest item is 0") && found[1].text.contains("as 18 others do"));
    let two = findings(&tried(&[0.1, 0.1]).data(), |_, _| (Better::Higher, Some(0.5)));
    assert!(two[1].text.ends_with(", as 1 other does"), "{}", two[1].text);
    // Few and scattered values leave it open.
    let mixed = tried(&[0.0, 0.9, 0.4, 0.6]);
    let found = findings(&mixed.data(), |_, _| (Better::Higher, Some(0.5)));
    assert_eq!(kinds(&found)[0], ("problem", "medium", "possible"));
    // Where low is good the same values are none, and without a threshold nothing is.
    let found = findings(&low.data(), |_, _| (Better::Lower, Some(0.5)));
    assert_eq!(kinds(&found), [("insight", "low", "certain")]);
    assert_eq!(findings(&tried(&[0.9]).data(), |_, _| (Better::Higher, None)).len(), 0);
}

#[test]
fn what_no_score_could_be_given_of_is_told_and_is_no_pass() {
    let mut some = tried(&[0.9, 0.9]);
    (some.scores[1].status, some.scores[1].value, some.scores[1].passed) = ("error".into(), None, None);
    let found = findings(&some.data(), |_, _| (Better::Higher, Some(0.5)));
    assert_eq!((found[0].kind, &found[0].item_ids), ("unscorable", &vec!["1".to_owned()]));
}
