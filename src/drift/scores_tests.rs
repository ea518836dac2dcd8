//! Scores as tests of alerts make them, which of them count, and in which slices.

use super::super::alert::Alert;
use super::super::config::Method;
use super::*;
use crate::domain::id::TraceId;
use crate::domain::prompt::Prompt;
use crate::domain::score::{Better, Score, ScoreRow, ScoreSource};
use crate::domain::time::{SECOND, UnixNanos};
use crate::schema::batch::scores_to_batch;

/// When streams of scores begin, nanoseconds since 1970.
pub(in crate::drift) const START: i64 = 1_767_225_600 * SECOND;

/// Values below and above the threshold of [`score`].
pub(in crate::drift) const FAILS: f64 = 0.1;
/// See [`FAILS`].
pub(in crate::drift) const PASSES: f64 = 0.9;

/// The score number `at`, made so many seconds after [`START`].
pub(in crate::drift) fn score(at: i64, value: f64) -> ScoreRow {
    let made = UnixNanos(START + at * SECOND);
    ScoreRow {
        score_id: format!("s{at}"),
        trace_id: Some(TraceId([7; 16])),
        span_id: None,
        span_time: made,
        evaluated_at: made,
        service_name: "shop".into(),
        request_model: Some("m".into()),
        prompt: Prompt::default(),
        tenant: "default".into(),
        rule: Some("r".into()),
        rule_version: Some("v".into()),
        evaluator: "hallucination".into(),
        evaluator_version: "1".into(),
        score: Score::measured("hallucination", value, 0.5, Better::Higher),
        inclusion_probability: 1.0,
        stratum: None,
        sampling_reason: None,
        score_version: 1,
        attempt: 1,
        latency_ms: 1.0,
        judge_model: None,
        input_tokens: None,
        output_tokens: None,
        cost_usd: None,
        source: ScoreSource::Rule,
    }
}

#[test]
fn a_verdict_that_cannot_be_weighted_is_counted_and_left_out() {
    let mut rows: Vec<ScoreRow> = (0..7).map(|at| score(at, FAILS)).collect();
    for (row, pi) in rows.iter_mut().zip([1.0, 0.0, -0.5, 1.5, f64::NAN, 0.2, 0.0]) {
        row.inclusion_probability = pi;
    }
    // Without a verdict there is nothing to weigh.
    rows[6].score = Score::skipped("hallucination", "context");
    let batch = scores_to_batch(&rows).unwrap();
    let columns = Columns::of(&batch).unwrap();
    assert_eq!(columns.verdicts("hallucination"), (vec![0, 5], 4));
    assert_eq!(columns.verdicts("toxicity"), (Vec::new(), 0));
}

/// JSON has no infinity: the state would be written with a null that no release reads again.
#[test]
fn a_value_that_is_too_far_from_its_threshold_leaves_the_state_readable() {
    let mut row = score(1, FAILS);
    row.score = Score::measured("hallucination", -1e308, 1e308, Better::Higher);
    let batch = scores_to_batch(&[row]).unwrap();
    let example = Columns::of(&batch).unwrap().seen(0).example.unwrap();
    let json = serde_json::to_string(&example).unwrap();
    assert_eq!(serde_json::from_str::<Example>(&json).unwrap(), example);
}

/// The filter ran on all rows of a frame at once, and one that it fails on, if only of another metric, took the others with it.
#[test]
fn a_score_on_which_the_filter_fails_costs_no_other() {
    let config = AlertConfig {
        objective: Some(0.9),
        filter: "CAST(stratum AS BIGINT) > 3".into(),
        ..AlertConfig::new("a", "hallucination", Method::Objective)
    };
    let definition = compile(&[config]).map_err(|faults| faults[0].to_string()).unwrap().remove(0);
    let mut rows: Vec<ScoreRow> = (0..4).map(|at| score(at, FAILS)).collect();
    for (row, stratum) in rows.iter_mut().zip(["gold", "5", "silver", "1"]) {
        row.stratum = Some(stratum.into());
    }
    rows[0].score = Score::measured("toxicity", FAILS, 0.5, Better::Higher);
    let times = |rows: &[ScoreRow]| -> Vec<i64> {
        let found = definition.scores(&scores_to_batch(rows).unwrap());
        found.into_iter().map(|(_, seen)| (seen.at - START) / SECOND).collect()
    };
    assert_eq!(times(&rows), [1], "5 is above 3, 1 is not, and silver is no number");
    assert_eq!(times(&rows[1..2]), [1]);
}

/// An alert by tenant and model, with margins.
fn with_margins() -> Definition {
    let mut config = AlertConfig::new("a", "hallucination", Method::Objective);
    (config.objective, config.margins) = (Some(0.9), true);
    config.slices = vec!["tenant".into(), "request_model".into()];
    compile(&[config]).map_err(|faults| faults[0].to_string()).unwrap().remove(0)
}

#[test]
fn margins_are_slices_beside_the_others() {
    let mut rows = vec![score(1, FAILS), score(2, PASSES)];
    // It looks like every value, and is one.
    rows[1].request_model = Some("*".into());
    let found = with_margins().scores(&scores_to_batch(&rows).unwrap());
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "tenant=default, request_model=m",
        "tenant=default, request_model=*",
        "tenant=*, request_model=m",
        "tenant=default, request_model=\\*",
        "tenant=default, request_model=*",
        "tenant=*, request_model=\\*",
    ];
    assert_eq!(names, expected);
}

/// A model fails too often, but each tenant has too few scores to tell: the margin of the model has them.
#[test]
fn what_fails_a_little_everywhere_fires_in_its_margin() {
    let definition = with_margins();
    let (mut alert, mut fired) = (Alert::new(&definition.config), Vec::new());
    for n in 0..1_500_i64 {
        let is_bad = n / 30 % 2 == 0;
        let fails = is_bad && n.wrapping_mul(37).rem_euclid(100) < 40;
        let mut row = score(n, if fails { FAILS } else { PASSES });
        row.tenant = format!("t{}", n % 30).into();
        row.request_model = Some(if is_bad { "bad" } else { "good" }.into());
        for (slice, seen) in definition.scores(&scores_to_batch(&[row]).unwrap()) {
            assert!(alert.push(&slice, seen, &definition.config));
        }
        let changes = alert.look(&definition.config);
        fired.extend(changes.into_iter().map(|change| (change.state, change.slice)));
    }
    assert_eq!(fired, [("firing", "tenant=*, request_model=bad".to_owned())]);
}
