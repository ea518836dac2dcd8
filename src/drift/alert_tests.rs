use super::*;
use crate::stats::seeded::Seeded;

const SECOND: i64 = 1_000_000_000;

fn config(more: &str) -> AlertConfig {
    toml::from_str(&format!("name = \"a\"\nmetric = \"hallucination\"\n{more}")).unwrap()
}

fn seen(at: i64, failed: bool) -> Seen {
    let example = Example {
        trace_id: format!("{at:032x}"),
        value: Some(0.1),
        rationale: "r".into(),
        distance: at as f64,
    };
    Seen { at: at * SECOND, failed, pi: 1.0, example: failed.then_some(example) }
}

/// A stream in which `failing` of a hundred fail, evenly mixed; the states that the alert goes through.
struct Stream<'a> {
    alert: Alert,
    config: &'a AlertConfig,
    at: i64,
    states: Vec<(i64, String, &'static str)>,
}

impl<'a> Stream<'a> {
    fn new(config: &'a AlertConfig) -> Self {
        Self { alert: Alert::new(config), config, at: 0, states: Vec::new() }
    }

    fn go(&mut self, slice: &str, failing: i64, scores: i64) -> &mut Self {
        for _ in 0..scores {
            self.at += 1;
            let failed = self.at.wrapping_mul(37).rem_euclid(100) < failing;
            assert!(self.alert.push(slice, seen(self.at, failed), self.config));
            let changes = self.alert.look(self.config);
            self.states.extend(changes.into_iter().map(|c| (self.at, c.slice, c.state)));
        }
        self
    }

    fn states(&self) -> Vec<&'static str> {
        self.states.iter().map(|(_, _, state)| *state).collect()
    }
}

#[test]
fn a_change_fires_once_and_resolves_when_the_rate_is_back() {
    let config = config("method = \"change\"\nbaseline_n = 500\nper = \"10m\"");
    let mut stream = Stream::new(&config);
    stream.go("", 5, 5_000);
    assert_eq!(stream.states(), [""; 0]);
    stream.go("", 20, 600);
    assert_eq!(stream.states(), ["firing"]);
    let fired = stream.states[0].0 - 5_000;
    assert!(fired < 300, "after {fired} scores");
    let (_, phase, since, reading, examples) = stream.alert.readings(&config).next().unwrap();
    assert_eq!((phase, since), (Phase::Firing, (5_000 + fired) * SECOND));
    assert!((reading.since / SECOND - 5_000).abs() < 100, "the change is dated {}", reading.since / SECOND);
    let estimate = reading.estimate.unwrap();
    assert!(estimate.lower.unwrap() < 0.2 && estimate.upper.unwrap() > 0.19, "{estimate:?}");
    assert_eq!(examples.len(), 3);
    stream.go("", 20, 5_000);
    assert_eq!(stream.states(), ["firing"]);
    stream.go("", 3, 1_000);
    assert_eq!(stream.states(), ["firing", "resolved"]);
    stream.go("", 5, 3_000).go("", 30, 300);
    assert_eq!(stream.states(), ["firing", "resolved", "firing"]);
}

#[test]
fn an_objective_that_is_kept_is_silent_and_one_that_is_not_fires() {
    let config = config("method = \"objective\"\nobjective = 0.9");
    let mut stream = Stream::new(&config);
    stream.go("", 8, 20_000);
    assert_eq!(stream.states(), [""; 0]);
    stream.go("", 25, 1_000);
    assert_eq!(stream.states(), ["firing"]);
    assert!((stream.alert.readings(&config).next().unwrap().3.bound.unwrap() - 0.1).abs() < 1e-12);
}

#[test]
fn slices_share_alpha_and_the_bad_one_is_named() {
    let config = config("method = \"objective\"\nobjective = 0.9\nslices = [\"request_model\"]");
    let mut stream = Stream::new(&config);
    for _ in 0..40 {
        for model in 0..10 {
            stream.go(&format!("request_model=m{model}"), if model == 3 { 40 } else { 7 }, 20);
        }
    }
    assert_eq!(stream.states(), ["firing"]);
    assert_eq!(stream.states[0].1, "request_model=m3");
    // Of its own evidence it has 1/14, the part of the fourth slice.
    let evidence = stream.alert.slices["request_model=m3"].evidence(&config).unwrap();
    assert!(evidence >= 1_000.0, "{evidence}");
}

#[test]
fn slices_that_fire_together_are_ranked_by_what_surely_fails() {
    let config = config("method = \"objective\"\nobjective = 0.9\nslices = [\"request_model\"]");
    let slices = [("request_model=good", 5), ("request_model=bad", 35), ("request_model=worse", 60)];
    let (mut alert, mut fired) = (Alert::new(&config), Vec::new());
    for n in 0..4_000_i64 {
        let (slice, failing) = slices[(n % 3) as usize];
        assert!(alert.push(slice, seen(n, n.wrapping_mul(37).rem_euclid(100) < failing), &config));
        fired.extend(alert.look(&config).into_iter().filter(|change| change.state == "firing"));
    }
    assert_eq!(fired.len(), 2, "{fired:?}");
    let ranked = |among: &[(String, f64)]| among.iter().map(|(slice, _)| slice.clone()).collect::<Vec<_>>();
    assert_eq!(ranked(&fired[1].among), ["request_model=worse", "request_model=bad"]);
    let told = alert.firing("request_model=bad", &config).unwrap();
    assert_eq!(ranked(&told.among), ["request_model=worse", "request_model=bad"]);
    assert!((told.among[0].1 - 0.6).abs() < 0.1 && (told.among[1].1 - 0.35).abs() < 0.1, "{told:?}");
}

#[test]
fn more_slices_than_allowed_are_left_out() {
    let config = config("method = \"objective\"\nobjective = 0.9\nmax_slices = 2");
    let mut alert = Alert::new(&config);
    let counted = (0..4).filter(|n| alert.push(&format!("s{n}"), seen(1, false), &config)).count();
    assert_eq!((counted, alert.slices.len()), (2, 2));
}

#[test]
fn a_threshold_waits_fires_and_ends() {
    let config =
        config("method = \"threshold\"\nobjective = 0.9\nwindow = \"10m\"\nfor = \"2m\"\nalpha = 0.01");
    let mut stream = Stream::new(&config);
    stream.go("", 9, 2_000).go("", 40, 700);
    assert_eq!(stream.states(), ["pending", "firing"]);
    assert!(stream.states[1].0 - stream.states[0].0 >= 120);
    stream.go("", 5, 1_200);
    assert_eq!(stream.states(), ["pending", "firing", "resolved"]);
    let patient = AlertConfig { pending_for: Some(std::time::Duration::from_mins(15)), ..config };
    let mut short = Stream::new(&patient);
    short.go("", 0, 600).go("", 100, 100).go("", 0, 2_000);
    assert_eq!(short.states(), ["pending", "ok"], "{:?}", short.states);
}

#[test]
fn a_burning_budget_fires() {
    let config = config("method = \"burn_rate\"\nobjective = 0.99\nkeep_firing = \"30m\"");
    let mut stream = Stream::new(&config);
    stream.go("", 1, 8_000);
    assert_eq!(stream.states(), [""; 0]);
    stream.go("", 30, 4_000);
    assert_eq!(stream.states(), ["firing"]);
    // The longest of the short windows has six hours.
    stream.go("", 0, 24_000);
    assert_eq!(stream.states(), ["firing", "resolved"]);
}

#[test]
fn a_rebase_learns_the_new_level() {
    let config = config("method = \"change\"\nbaseline_n = 500");
    let mut stream = Stream::new(&config);
    stream.go("", 5, 1_000).go("", 25, 1_000);
    assert_eq!(stream.states(), ["firing"]);
    let now = UnixNanos(stream.at * SECOND);
    assert_eq!(stream.alert.rebase(Some("other"), &config, now), (0, Vec::new()));
    let (count, ended) = stream.alert.rebase(None, &config, now);
    let said: Vec<_> = ended.iter().map(|c| (c.state, c.since, c.ended)).collect();
    assert_eq!((count, said), (1, vec![("resolved", now.0, Ended::Rebased)]));
    assert!(ended[0].reading.bound.is_some() && ended[0].fired < now.0, "as it stood before: {ended:?}");
    stream.go("", 25, 5_000);
    assert_eq!(stream.states(), ["firing"], "the end is told once, and the new level is the baseline");
}

#[test]
fn a_rebase_takes_nothing_from_an_alert_without_a_baseline() {
    let config = config("method = \"objective\"\nobjective = 0.9");
    let mut stream = Stream::new(&config);
    stream.go("", 50, 400);
    assert_eq!(stream.states(), ["firing"]);
    let before = stream.alert.clone();
    assert_eq!(stream.alert.rebase(None, &config, UnixNanos(stream.at * SECOND)), (0, Vec::new()));
    assert_eq!(stream.alert, before);
}

#[test]
fn a_clock_that_goes_back_changes_nothing_and_the_state_survives_as_bytes() {
    let config = config("method = \"change\"\nbaseline_n = 100\nslices = [\"tenant\"]");
    let mut alert = Alert::new(&config);
    for n in 0..3_000_i64 {
        let at = if n % 10 == 0 { 5 } else { n };
        assert!(alert.push("tenant=t", seen(at, n % 30 == 0), &config));
        assert_eq!(alert.look(&config), []);
    }
    let bytes = serde_json::to_vec(&alert).unwrap();
    let back: Alert = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(back, alert);
    assert!(back.fits(&config) && !back.fits(&AlertConfig { alpha: 0.01, ..config.clone() }));
    assert!(back.fits(&AlertConfig { receivers: vec!["r".into()], ..config }));
}

/// Failures at random, from a seed.
fn failures(seed: u64, rate: f64) -> impl FnMut() -> bool {
    let mut random = Seeded::new(seed);
    move || random.unit() < rate
}

/// A score every ten seconds for a week, in three slices, by each method.
#[test]
fn a_week_without_a_change_is_silent_and_a_change_at_its_end_is_not() {
    for method in [
        "method = \"change\"",
        "method = \"objective\"\nobjective = 0.94",
        "method = \"burn_rate\"\nobjective = 0.94",
    ] {
        let config = config(&format!("{method}\nslices = [\"tenant\"]"));
        let (mut alert, mut random) = (Alert::new(&config), failures(5, 0.05));
        let mut told = Vec::new();
        let push = |alert: &mut Alert, n: i64, failed: bool| {
            assert!(alert.push(["a", "b", "c"][(n % 3) as usize], seen(n * 10, failed), &config));
            // Looked at every minute and a half.
            if n % 9 == 0 { alert.look(&config) } else { Vec::new() }
        };
        for n in 0..60_480 {
            told.extend(push(&mut alert, n, random()));
        }
        assert!(told.is_empty(), "{method}: {told:?}");
        let mut worse = failures(6, 0.6);
        for n in 60_480..63_000 {
            let failed = if n % 3 == 1 { worse() } else { random() };
            told.extend(push(&mut alert, n, failed));
        }
        let states: Vec<_> = told.iter().map(|c| (c.slice.as_str(), c.state)).collect();
        assert_eq!(states, [("b", "firing")], "{method}");
    }
}

#[test]
fn the_parts_of_all_slices_that_ever_come_are_one() {
    let sliced = config("method = \"objective\"\nobjective = 0.9\nslices = [\"tenant\"]");
    let sum: f64 = (1..100_000).map(|at| part(at, &sliced)).sum();
    assert!(sum < 1.0 && sum > 0.999, "{sum}");
    assert_eq!(part(1, &config("method = \"change\"")), 1.0, "one slice has all");
}

#[test]
fn slices_without_scores_leave_and_the_others_share_what_comes_in() {
    let config = config("method = \"change\"\nbaseline_n = 50\nslices = [\"tenant\"]\nforget_after = \"2h\"");
    let mut alert = Alert::new(&config);
    let mut at = 0;
    let mut go = |alert: &mut Alert, slices: &[&str], minutes: i64| {
        for _ in 0..minutes {
            at += 60;
            for slice in slices {
                assert!(alert.push(slice, seen(at, false), &config));
            }
            assert_eq!(alert.look(&config), []);
        }
        at
    };
    go(&mut alert, &["a", "b", "c"], 100);
    // A unit for an hour, a third of it for each slice.
    assert!((alert.credit - 99.0 / 60.0 / 3.0).abs() < 1e-9, "{}", alert.credit);
    go(&mut alert, &["a"], 119);
    assert_eq!(alert.slices.len(), 3);
    go(&mut alert, &["a"], 2);
    assert_eq!(alert.slices.keys().collect::<Vec<_>>(), ["a"]);
    let before = alert.credit;
    go(&mut alert, &["a"], 60);
    assert!((alert.credit - before - 1.0).abs() < 1e-9, "all of it now");
    go(&mut alert, &["b"], 1);
    assert_eq!((alert.slices.len(), alert.ever, alert.slices["b"].read(&config, 2).n), (2, 4, 1));
}

/// Slices come and go as their evidence says: who chooses them by what was seen raises no more alarms than α allows.
#[test]
fn slices_that_come_and_go_keep_the_promise_of_an_objective() {
    let config = config(
        "method = \"objective\"\nobjective = 0.8\nslices = [\"tenant\"]\nalpha = 0.1\nmin_n = 1\nforget_after = \"1h\"",
    );
    let alarmed = (0..200).filter(|run| {
        let (mut alert, mut failed) = (Alert::new(&config), failures(*run, 0.2));
        let (mut name, mut at) = (0, 0);
        for _ in 0..3_000 {
            at += 60;
            assert!(alert.push(&format!("tenant={name}"), seen(at, failed()), &config));
            if !alert.look(&config).is_empty() {
                return true;
            }
            // What has lost its bets is left for a new one.
            let now = &alert.slices[&format!("tenant={name}")];
            if now.evidence(&config).unwrap_or(1.0) < 0.3 * part(alert.ever, &config) {
                name += 1;
            }
        }
        false
    });
    let alarmed = alarmed.count();
    assert!(alarmed <= 30, "{alarmed} of 200 streams alarmed; 20 are promised at most");
}

/// A score a minute of a stream of which 5 % fail, where all failures are selected and 2 % of the rest; true if it fires within
/// 150 of them.
fn fires_by_outcome(alert: &mut Alert, config: &AlertConfig, random: &mut Seeded, at: &mut i64) -> bool {
    (0..150).any(|_| {
        let (failed, pi) = loop {
            let failed = random.unit() < 0.05;
            let pi = if failed { 1.0 } else { 0.02 };
            if random.unit() < pi {
                break (failed, pi);
            }
        };
        *at += 60;
        assert!(alert.push("", Seen { pi, ..seen(*at, failed) }, config));
        alert.look(config).iter().any(|change| change.state == "firing")
    })
}

/// Where failures are preferred the light scores come first. Bets at their scale fired in a quarter of these streams.
#[test]
fn an_alert_on_scores_selected_by_outcome_keeps_its_promise_from_its_first_bet() {
    let objective = config("method = \"objective\"\nobjective = 0.95\nalpha = 0.02\nmin_n = 20");
    let change = config("method = \"change\"\nbaseline_n = 100\nmin_n = 20\nalpha = 0.02");
    let (mut begun, mut ended, mut learned) = (0, 0, 0);
    for seed in 0..100 {
        let (mut random, mut at) = (Seeded::new(seed), 0);
        let mut alert = Alert::new(&objective);
        begun += usize::from(fires_by_outcome(&mut alert, &objective, &mut random, &mut at));
        // It fires for a reason, and ends.
        let mut push = |alert: &mut Alert, failed: bool| {
            at += 60;
            let pi = if failed { 1.0 } else { 0.02 };
            assert!(alert.push("", Seen { pi, ..seen(at, failed) }, &objective));
            alert.look(&objective);
            alert.is_firing("")
        };
        assert!((0..2_000).any(|_| push(&mut alert, true)), "it fires");
        assert!((0..2_000).any(|_| !push(&mut alert, false)), "it ends");
        ended += usize::from(fires_by_outcome(&mut alert, &objective, &mut random, &mut at));
        let mut alert = Alert::new(&change);
        learned += usize::from(fires_by_outcome(&mut alert, &change, &mut random, &mut at));
    }
    // Two are promised at most, and three standard errors are four more.
    assert!(begun <= 6 && ended <= 6, "{begun} fired at the start, {ended} after an end");
    assert!(learned <= 6, "{learned} fired after the baseline");
}

#[test]
fn what_fires_without_data_ends() {
    let config = config(
        "method = \"threshold\"\nobjective = 0.9\nwindow = \"10m\"\nalpha = 0.01\nno_data_after = \"30m\"",
    );
    let mut stream = Stream::new(&config);
    stream.go("", 40, 700);
    assert_eq!(stream.states(), ["firing"]);
    let at = |minutes: i64| UnixNanos((stream.at + minutes * 60) * SECOND);
    assert_eq!(stream.alert.end_without_data(&config, UnixNanos(0), at(30)), []);
    // After a start scores come late.
    assert_eq!(stream.alert.end_without_data(&config, at(20), at(50)), []);
    let ended = stream.alert.end_without_data(&config, at(20), at(51));
    let said: Vec<_> = ended.iter().map(|c| (c.state, c.since, c.ended)).collect();
    assert_eq!(said, [("resolved", at(51).0, Ended::NoData)]);
    assert_eq!(stream.alert.end_without_data(&config, UnixNanos(0), at(500)), [], "it is said once");
    // A slice that comes, and parts α anew, is no news of it.
    stream.go("other", 0, 5);
    assert_eq!(stream.states(), ["firing"]);
    // Traffic that comes back as bad as it was fires again.
    stream.at += 3_600;
    stream.go("", 40, 700);
    assert_eq!(stream.states(), ["firing", "firing"]);
}

#[test]
fn what_was_pending_without_data_waits_for_a_score_of_its_own() {
    let config = config("method = \"objective\"\nobjective = 0.9\nfor = \"6h\"\nno_data_after = \"30m\"");
    let mut stream = Stream::new(&config);
    stream.go("", 60, 600);
    assert_eq!(stream.states(), ["pending"]);
    let late = UnixNanos((stream.at + 3_600) * SECOND);
    let ended = stream.alert.end_without_data(&config, UnixNanos(0), late);
    assert_eq!(ended.iter().map(|change| change.state).collect::<Vec<_>>(), ["ok"]);
    stream.go("other", 0, 5);
    assert_eq!(stream.states(), ["pending"], "what it won before is no news");
    stream.go("", 60, 1);
    assert_eq!(stream.states(), ["pending", "pending"]);
}

#[test]
fn a_state_of_an_earlier_release_goes_on_with_what_it_has_won() {
    let config = config("method = \"change\"\nbaseline_n = 50\nslices = [\"tenant\"]");
    let mut alert = Alert::new(&config);
    for n in 0..400 {
        assert!(alert.push(["a", "b"][(n % 2) as usize], seen(n * 60, n % 9 == 0), &config));
    }
    let mut old = serde_json::to_value(&alert).unwrap();
    for key in ["about", "last", "credit", "ever"] {
        old.as_object_mut().unwrap().remove(key);
    }
    let mut read: Alert = serde_json::from_value(old).unwrap();
    assert!(read.fits(&config));
    let own = read.slices["a"].evidence(&config).unwrap();
    read.adopt(&config);
    // It was a capital of its own, and is half of one now.
    let now = read.slices["a"].evidence(&config).unwrap();
    assert!((now - own / 2.0).abs() < 1e-12 * own, "{own} {now}");
    assert_eq!((read.ever, read.last, read.about()), (2, alert.last, alert.about()));
    let again = read.clone();
    read.adopt(&config);
    assert_eq!(read, again, "once");
}

/// All that came in during a pause was bet on the first score after it, and after 1/α units that alone was an alarm.
#[test]
fn the_first_scores_after_a_pause_are_no_alarm() {
    let config = config("method = \"change\"\nbaseline_n = 100\nalpha = 0.1\nslices = [\"tenant\"]");
    let mut stream = Stream::new(&config);
    stream.go("a", 5, 1_000).go("b", 5, 1_000);
    stream.at += 60 * 3_600;
    stream.go("a", 5, 200).go("b", 5, 200);
    assert_eq!(stream.states(), [""; 0], "a pause of all");
    for _ in 0..6_000 {
        stream.at += 59;
        stream.go("a", 0, 1);
    }
    stream.go("b", 5, 200);
    assert_eq!(stream.states(), [""; 0], "a pause of one");
    stream.go("b", 60, 400);
    assert_eq!(stream.states(), ["firing"]);
    assert_eq!(stream.states[0].1, "b");
}

/// The bound was 98 % where more than that failed, so that bets against it won without a change.
#[test]
fn where_all_fail_nothing_can_become_worse() {
    let config = config("method = \"change\"\nbaseline_n = 100\nper = \"10m\"");
    let mut stream = Stream::new(&config);
    stream.go("", 100, 3_000);
    assert_eq!(stream.states(), [""; 0]);
    let bound = |stream: &Stream<'_>| stream.alert.readings(&config).next().and_then(|one| one.3.bound);
    assert_eq!(bound(&stream), None, "it learns");
    stream.go("", 20, 1_000);
    assert!(bound(&stream).is_some_and(|bound| bound > 0.9 && bound <= 0.98), "{:?}", bound(&stream));
    assert_eq!(stream.states(), [""; 0]);
}

/// It fired as soon as another one did, and ended at once as "no data".
#[test]
fn a_slice_without_data_does_not_begin_to_fire_because_another_one_does() {
    let config = config("method = \"objective\"\nobjective = 0.5\nmin_n = 20\nslices = [\"tenant\"]");
    let mut stream = Stream::new(&config);
    stream.go("a", 0, 20).go("b", 0, 20);
    let evidence = |stream: &Stream<'_>| stream.alert.slices["b"].evidence(&config).unwrap();
    // Enough for two that fire, and not for one.
    while evidence(&stream) < 500.0 {
        stream.go("b", 100, 1);
    }
    assert!(evidence(&stream) < 1_000.0 && stream.states.is_empty(), "{:?}", stream.states);
    stream.at += 7 * 3_600;
    while stream.states.is_empty() {
        stream.go("a", 100, 1);
    }
    let fired = |stream: &Stream<'_>| stream.states.iter().map(|one| one.1.clone()).collect::<Vec<_>>();
    assert_eq!(fired(&stream), ["a"]);
    stream.go("b", 100, 1);
    assert_eq!(fired(&stream), ["a", "b"], "with a score of its own it does");
}

/// Windows took no score until the time that the clock had shown.
#[test]
fn a_clock_that_was_far_ahead_leaves_no_window_blind() {
    const YEAR: i64 = 365 * 86_400;
    for method in ["threshold", "burn_rate"] {
        let config = config(&format!("method = \"{method}\"\nobjective = 0.9"));
        let mut stream = Stream::new(&config);
        stream.go("", 5, 1_000);
        stream.at += YEAR;
        stream.go("", 5, 1);
        stream.at -= YEAR;
        stream.go("", 5, 1_000);
        assert_eq!(stream.states(), [""; 0], "{method}");
        stream.go("", 60, 2_000);
        assert_eq!(stream.states(), ["firing"], "{method}");
        let slice = &stream.alert.slices[""];
        assert_eq!((slice.last, stream.alert.last), (stream.at * SECOND, stream.at * SECOND));
    }
}
