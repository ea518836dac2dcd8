use super::*;
use crate::stats::seeded::Seeded;

/// How many items until the evidence is 1/alpha; none within `most`.
fn run(
    random: &mut Seeded,
    mut bets: Betting,
    rate: f64,
    per_item: f64,
    alpha: f64,
    most: usize,
) -> Option<usize> {
    (1..=most).find(|_| {
        let failed = random.unit() < rate;
        assert!(bets.push(failed, 1.0, per_item));
        bets.evidence() >= 1.0 / alpha
    })
}

#[test]
fn a_stream_at_its_bound_is_alarmed_ever_with_probability_alpha() {
    let (mut random, alpha) = (Seeded::new(7), 0.05);
    let bets = Betting::new(0.05, 100.0, Stakes::Once).unwrap();
    let alarms =
        (0..1000).filter(|_| run(&mut random, bets.clone(), 0.05, 0.01, alpha, 2000).is_some()).count();
    // Three standard errors above α.
    assert!(alarms <= 70, "{alarms} of 1000");
}

#[test]
fn false_alarms_come_as_rarely_as_promised_and_changes_soon() {
    let (mut random, alpha) = (Seeded::new(11), 0.02);
    let bets = Betting::new(0.05, 100.0, Stakes::Steady).unwrap();
    let per_item = 0.1;
    let runs: Vec<f64> = (0..100)
        .map(|_| {
            run(&mut random, bets.clone(), 0.05, per_item, alpha, 100_000).map_or(1e5, |n| n as f64)
                * per_item
        })
        .collect();
    let mean = runs.iter().sum::<f64>() / runs.len() as f64;
    assert!(mean >= 1.0 / alpha, "{mean} units between false alarms");
    let delays: Vec<usize> =
        (0..100).map(|_| run(&mut random, bets.clone(), 0.2, per_item, alpha, 10_000).unwrap()).collect();
    let mean = delays.iter().sum::<usize>() as f64 / 100.0;
    assert!(mean < 60.0, "{mean} items until a fourfold rate is seen");
}

#[test]
fn unequal_probabilities_leave_the_bets_fair() {
    let (mut random, alpha) = (Seeded::new(13), 0.05);
    let mut alarms = 0;
    for _ in 0..500 {
        let mut bets = Betting::new(0.1, 100.0, Stakes::Once).unwrap();
        for _ in 0..3000 {
            // Half of the traffic fails in 18 %, half in 2 %: 10 % together; the bad half is selected five times as often.
            let bad = random.unit() < 0.5;
            let (rate, pi) = if bad { (0.18, 0.5) } else { (0.02, 0.1) };
            let failed = random.unit() < rate;
            if random.unit() < pi {
                assert!(bets.push(failed, pi, 0.01));
            }
            if bets.evidence() >= 1.0 / alpha {
                alarms += 1;
                break;
            }
        }
    }
    assert!(alarms <= 40, "{alarms} of 500 at α = 0.05");
}

/// A score of a stream of which 5 % fail, selected by its outcome: with the first probability if it fails, else the second.
fn selected(random: &mut Seeded, (failing, passing): (f64, f64)) -> (bool, f64) {
    loop {
        let failed = random.unit() < 0.05;
        let pi = if failed { failing } else { passing };
        if random.unit() < pi {
            return (failed, pi);
        }
    }
}

/// How many of 300 streams without a change have evidence of 1/alpha within 150 scores after `before` has seen the first ones.
fn alarms(
    (stakes, per_item, alpha): (Stakes, f64, f64),
    pis: (f64, f64),
    before: impl Fn(&mut Betting, &mut Seeded),
) -> usize {
    let alarmed = (0..300).filter(|seed| {
        let mut random = Seeded::new(*seed);
        let mut bets = Betting::new(0.05, 1_000.0, stakes).unwrap();
        before(&mut bets, &mut random);
        (0..150).any(|_| {
            let (failed, pi) = selected(&mut random, pis);
            assert!(bets.push(failed, pi, per_item));
            bets.evidence() >= 1.0 / alpha
        })
    });
    alarmed.count()
}

/// Where failures are preferred the light scores come first: bets at their scale had an alarm in a third of these streams.
#[test]
fn weights_by_outcome_leave_the_first_bets_fair_at_the_start_and_after_a_reset() {
    // 2 % are promised for bets with one capital, and for steady ones αT after T units; three standard errors are seven more.
    let (once, steady) = ((Stakes::Once, 1.0 / 60.0, 0.02), (Stakes::Steady, 0.01, 0.02));
    for pis in [(0.9, 0.1), (1.0, 0.02)] {
        let weighed = |scores: usize| {
            move |bets: &mut Betting, random: &mut Seeded| {
                (0..scores).for_each(|_| bets.weigh(selected(random, pis).1));
            }
        };
        let start = alarms(once, pis, weighed(20));
        assert!(start <= 13, "{pis:?}: {start} of 300 at the start");
        let baseline = alarms(steady, pis, weighed(200));
        assert!(baseline <= 16, "{pis:?}: {baseline} of 300 after a baseline");
        let anew = alarms(once, pis, |bets, random| {
            for _ in 0..300 {
                let (failed, pi) = selected(random, pis);
                assert!(bets.push(failed, pi, 0.01));
            }
            bets.reset();
        });
        assert!(anew <= 13, "{pis:?}: {anew} of 300 after a reset");
    }
}

#[test]
fn nothing_is_bet_before_a_weight_is_known_and_a_reset_keeps_it() {
    let mut bets = Betting::new(0.1, 100.0, Stakes::Once).unwrap();
    assert!(bets.push(true, 1.0, 0.0));
    assert_eq!(bets.evidence(), 1.0, "it only tells its weight");
    [0.0, f64::NAN, 2.0].into_iter().for_each(|pi| bets.weigh(pi));
    bets.weigh(0.02);
    assert!(bets.push(true, 1.0, 0.0));
    // At the scale of 50: half of the capital wins at most 0.9·9/50 of itself.
    let evidence = bets.evidence();
    assert!(evidence > 1.0 && evidence < 1.1, "{evidence}");
    bets.reset();
    assert_eq!(bets.evidence(), 1.0);
    assert!(bets.push(true, 1.0, 0.0));
    assert_eq!(bets.evidence(), evidence, "as before the reset");
    // What an earlier release wrote after a reset knows no weight and has the age 0.
    let mut old = Betting { age: 0.0, weight: 0.0, ..Betting::new(0.1, 100.0, Stakes::Once).unwrap() };
    assert_eq!(old.evidence(), 1.0);
    old.know(50.0);
    assert!(old.push(true, 1.0, 0.0));
    assert_eq!(old.evidence(), evidence);
}

#[test]
fn a_good_past_does_not_hide_a_change() {
    let mut random = Seeded::new(17);
    for stakes in [Stakes::Steady, Stakes::Once] {
        let mut bets = Betting::new(0.05, 100.0, stakes).unwrap();
        for _ in 0..20_000 {
            assert!(bets.push(random.unit() < 0.02, 1.0, 0.01));
        }
        assert!(bets.evidence() < 20.0, "{stakes:?}: {}", bets.evidence());
        let delay = run(&mut random, bets, 0.2, 0.01, 0.001, 5_000).unwrap();
        assert!(delay < 250, "{stakes:?}: {delay} items");
    }
}

#[test]
fn wrong_input_changes_nothing() {
    assert!([0.0, 1.0, -0.1, f64::NAN].iter().all(|b| Betting::new(*b, 10.0, Stakes::Once).is_none()));
    assert!(
        Betting::new(0.1, 0.5, Stakes::Once).is_none() && Betting::new(0.1, f64::NAN, Stakes::Once).is_none()
    );
    let mut bets = Betting::new(0.1, 10.0, Stakes::Once).unwrap();
    assert_eq!(bets.evidence(), 1.0);
    let before = bets.clone();
    for pi in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY] {
        assert!(!bets.push(true, pi, 1.0));
    }
    assert_eq!(bets, before);
    assert!(bets.push(true, 1.0, f64::NAN) && bets.push(true, 0.001, -5.0));
    assert!(bets.evidence().is_finite() && bets.evidence() > 1.0);
    for _ in 0..2000 {
        assert!(bets.push(true, 1.0, 0.0));
    }
    assert!((1e15..=MOST).contains(&bets.evidence()), "the millionth slice needs 2.5e14 for an α of 0.001");
    bets.reset();
    assert_eq!(bets.evidence(), 1.0);
}

#[test]
fn the_change_point_is_where_the_rate_rose() {
    let mut random = Seeded::new(19);
    let mut point = ChangePoint::new(0.05);
    let mut since = 0;
    for n in 0..4000 {
        if point.push(random.unit() < if n < 3000 { 0.04 } else { 0.2 }, 1.0, 7.0) {
            since = n;
        }
    }
    assert!((2950..3040).contains(&since), "{since}");
    for _ in 0..2000 {
        if point.push(random.unit() < 0.04, 1.0, 7.0) {
            return;
        }
    }
    panic!("the evidence is never used up");
}
