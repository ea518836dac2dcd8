use super::*;
use crate::stats::Ppi;
use crate::stats::ppi::Item;
use crate::stats::seeded::Seeded;
use std::collections::HashMap;

fn draw(id: &str) -> Draw<'_> {
    Draw {
        id,
        tenant: "t",
        metric: "hallucination",
        from: UnixNanos(0),
        until: UnixNanos(1),
        population: 0,
        part: 1.0,
        wanted: 150,
        even_share: 0.3,
        now: UnixNanos(2),
    }
}

fn scored(n: u64, value: f64, pi: f64) -> Scored {
    Scored {
        trace_id: format!("{:032x}", n + 1),
        span_id: Some(format!("{:016x}", n + 1)),
        span_time: 1,
        evaluator: "hallucination".to_owned(),
        evaluator_version: "2".to_owned(),
        value: Some(value),
        threshold: Some(0.5),
        passed: Some(value >= 0.5),
        inclusion_probability: pi,
    }
}

#[test]
fn the_unsure_are_drawn_more_often_and_every_item_can_be() {
    let rows: Vec<Scored> = (0..1_000).map(|n| scored(n, n as f64 / 1_000.0, 1.0)).collect();
    let near = |item: &ReviewItem| (item.value.unwrap() - 0.5).abs() < 0.1;
    let drawn = draw("a").choose(rows.clone(), |_| None);
    assert!((110..200).contains(&drawn.len()), "{}", drawn.len());
    let share = drawn.iter().filter(|i| near(i)).count() as f64 / drawn.len() as f64;
    assert!(share > 0.22, "a fifth of the items are near the threshold, {share} of those drawn");
    assert!(drawn.iter().all(|i| i.label_probability > 0.03 && i.label_probability <= 1.0));
    // The same draw gives the same items, another one others.
    assert_eq!(draw("a").choose(rows.clone(), |_| None), drawn);
    let other = draw("b").choose(rows.clone(), |_| None);
    assert_ne!(
        other.iter().map(|i| &i.item).collect::<Vec<_>>(),
        drawn.iter().map(|i| &i.item).collect::<Vec<_>>()
    );
    // A calibration says where the evaluator is unsure: here at high values.
    let calibrated = draw("a").choose(rows, |row| row.value.map(|v| if v > 0.8 { 0.5 } else { 0.999 }));
    let high = calibrated.iter().filter(|i| i.value.unwrap() > 0.8).count() as f64;
    assert!(high / calibrated.len() as f64 > 0.5, "{high} of {}", calibrated.len());
}

#[test]
fn few_items_are_all_drawn_and_what_cannot_be_used_is_left_out() {
    let mut rows: Vec<Scored> = (0..20).map(|n| scored(n, 0.1, 0.5)).collect();
    rows.push(rows[0].clone());
    rows.push(scored(30, 0.5, 0.0));
    rows.push(Scored { trace_id: "x".to_owned(), ..scored(31, 0.5, 1.0) });
    let drawn = draw("a").choose(rows, |_| None);
    assert_eq!(drawn.len(), 20);
    assert!(drawn.iter().all(|i| i.label_probability == 1.0));
    assert!(draw("a").choose(Vec::new(), |_| None).is_empty());
    let half = Draw { part: 0.5, ..draw("a") };
    assert_eq!(half.choose(vec![scored(1, 0.5, 1.0)], |_| None)[0].label_probability, 0.5);
}

/// What the queue is for: items are sampled with unequal π, drawn for a label by uncertainty, labelled by a person; the
/// corrected rate of all traffic holds, although the evaluator's own rate is far off.
#[test]
fn labels_of_the_queue_give_a_corrected_rate_that_holds() {
    let mut random = Seeded::new(8);
    let (mut held, mut naive, runs) = (0, 0, 150);
    for run in 0..runs {
        // Sensitivity falls with the value: unsure scores are wrong more often than sure ones.
        let traffic: Vec<(Scored, bool)> = (0..3_000)
            .map(|n| {
                let good = random.unit() < 0.8;
                let value = (if good { 0.62 } else { 0.45 }) + 0.5 * (random.unit() - 0.5);
                (scored(n, value, if value < 0.5 { 0.9 } else { 0.5 }), good)
            })
            .collect();
        let rate = traffic.iter().filter(|(_, good)| *good).count() as f64 / traffic.len() as f64;
        let sampled: Vec<&(Scored, bool)> =
            traffic.iter().filter(|(row, _)| random.unit() < row.inclusion_probability).collect();
        let id = format!("draw {run}");
        let drawn = draw(&id).choose(sampled.iter().map(|(row, _)| row.clone()).collect(), |_| None);
        let chances: HashMap<String, f64> =
            drawn.into_iter().map(|item| (item.trace_id.to_string(), item.label_probability)).collect();
        let mut found = Ppi::new();
        for (row, good) in sampled {
            let score = f64::from(u8::from(row.passed == Some(true)));
            let label = chances.get(&row.trace_id).map(|chance| (f64::from(u8::from(*good)), *chance));
            assert!(found.push(Item { score, pi: row.inclusion_probability, label }));
        }
        let got = found.rate(0.95).unwrap();
        held += u32::from(got.lower.unwrap() <= rate && rate <= got.upper.unwrap());
        let passed = traffic.iter().filter(|(row, _)| row.passed == Some(true)).count() as f64;
        naive += u32::from((passed / traffic.len() as f64 - rate).abs() < 0.03);
    }
    let share = f64::from(held) / f64::from(runs);
    assert!((0.90..=1.0).contains(&share), "the interval held the rate in {share}");
    assert!(naive == 0, "the evaluator alone was right {naive} times");
}
