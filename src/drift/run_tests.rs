use super::super::acknowledge::{Acknowledgement, Wish};
use super::super::anchors::Anchors;
use super::super::config::{ReceiverConfig, ReceiverKind};
use super::super::delivery::DeliveryOutcome;
use super::super::moment::rfc3339;
use super::super::notify::Tried;
use super::super::scores::compile;
use super::super::scores::tests::{FAILS, PASSES, START, score};
use super::super::silence::{Ends, SilenceWish};
use super::super::slice::Phase;
use super::*;
use crate::domain::score::{Score, ScoreRow, ScoreSource};
use crate::domain::time::{ManualClock, UnixNanos};
use crate::journal::Config as JournalConfig;
use crate::schema::FORMAT;
use crate::schema::batch::scores_to_batch;
use arrow::array::AsArray;
use std::path::Path;

fn journal(dir: &Path) -> Journal {
    Journal::open(dir, JournalConfig::default(), FORMAT).unwrap()
}

fn plan() -> Plan {
    let text = "name = \"a\"\nmetric = \"hallucination\"\nmethod = \"objective\"\nobjective = 0.9\nfilter = \"service_name = 'shop'\"\nslices = [\"request_model\"]\nmin_n = 20";
    let definitions = compile(&[toml::from_str(text).unwrap()]).map_err(|e| e[0].to_string()).unwrap();
    Plan { definitions, receivers: Vec::new() }
}

fn watcher(journal: &Journal, plan: Plan) -> Watcher {
    let clock = Arc::new(ManualClock::at(UnixNanos(START)));
    Watcher::open(journal.clone(), plan, Config::default(), clock).unwrap()
}

async fn append(journal: &Journal, rows: &[ScoreRow]) {
    let batch = scores_to_batch(rows).unwrap();
    let (kind, payload) = frame::encode(&[Part::Rows(Table::Scores, batch)]).unwrap();
    journal.append(kind.0, payload).await.unwrap();
}

/// The states that stand in the journal's rows of `alerts`, in order.
fn told(journal: &Journal) -> Vec<String> {
    let (mut reader, mut states) = (journal.reader(0).unwrap(), Vec::new());
    while let Some(frame) = reader.next().unwrap() {
        let wanted = FrameKind::of(Table::Alerts);
        if !FrameKind(frame.kind).meets(wanted) {
            continue;
        }
        for part in frame::decode(&frame.payload, wanted).unwrap() {
            let Part::Rows(_, batch) = part else { continue };
            let column = batch.column_by_name("state").unwrap().as_string::<i32>().clone();
            states.extend(column.iter().flatten().map(str::to_owned));
        }
    }
    states
}

async fn read_all(watcher: &mut Watcher) {
    while watcher.follow().await.unwrap() {}
    watcher.show();
}

/// A thread can be handed over only where there are several, so this would end with a panic.
#[tokio::test]
async fn who_has_nothing_to_read_hands_its_thread_to_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let mut watcher = watcher(&journal(dir.path()), plan());
    assert!(!watcher.follow().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_at_any_frame_neither_loses_nor_repeats_a_change() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, plan) = (journal(dir.path()), plan());
    // Good, bad, good: it fires and resolves.
    let failing = |n: i64| if (100..200).contains(&n) { n % 2 == 0 } else { n % 25 == 0 };
    for n in 0..900 {
        append(&journal, &[score(n, if failing(n) { FAILS } else { PASSES })]).await;
        if n % 7 == 0 {
            let mut watcher = watcher(&journal, plan.clone());
            read_all(&mut watcher).await;
            // Dropped without a word, with its state written or not.
            if n % 3 == 0 {
                watcher.write(&[]).await.unwrap();
            }
            if n % 5 == 0 {
                watcher.save().unwrap();
            }
        }
    }
    read_all(&mut watcher(&journal, plan.clone())).await;
    assert_eq!(told(&journal), ["firing", "resolved"]);
    let mut last = watcher(&journal, plan);
    read_all(&mut last).await;
    let standings = last.alerts().standings();
    assert_eq!(
        (standings.len(), standings[0].reading.n, standings[0].slice.as_str()),
        (1, 900, "request_model=m")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_first_production_verdict_enters_no_alert() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path());
    let mut rows: Vec<ScoreRow> = (0..8).map(|n| score(n, FAILS)).collect();
    // Nothing says for how many items these stand.
    for (row, pi) in rows[5..].iter_mut().zip([0.0, 1.5, f64::NAN]) {
        row.inclusion_probability = pi;
    }
    rows[0].source = ScoreSource::Experiment;
    rows[1].score_version = 2;
    rows[2].score = Score::skipped("hallucination", "context");
    rows[3].service_name = "other".into();
    append(&journal, &rows).await;
    let mut watcher = watcher(&journal, plan());
    read_all(&mut watcher).await;
    assert_eq!(watcher.alerts().standings()[0].reading.n, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_definition_begins_anew_and_a_changed_receiver_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path());
    let rows: Vec<ScoreRow> = (0..50).map(|n| score(n, PASSES)).collect();
    append(&journal, &rows).await;
    let mut watcher = watcher(&journal, plan());
    read_all(&mut watcher).await;
    let mut other = plan();
    other.definitions[0].config.severity = "ticket".into();
    watcher.alerts().replace(other.clone());
    watcher.change_plan();
    assert_eq!(watcher.alerts().standings()[0].reading.n, 50);
    other.definitions[0].config.alpha = 0.5;
    watcher.alerts().replace(other);
    watcher.change_plan();
    assert_eq!(watcher.alerts().standings().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_alerts_the_cursor_moves_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path());
    append(&journal, &[score(1, FAILS)]).await;
    let mut watcher = watcher(&journal, Plan::default());
    read_all(&mut watcher).await;
    watcher.save().unwrap();
    assert_eq!((journal.durable(), journal.cursor(CURSOR).unwrap()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_waits_in_the_state_until_it_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path());
    let rows: Vec<ScoreRow> = (0..100).map(|n| score(n, if n % 2 == 0 { FAILS } else { PASSES })).collect();
    append(&journal, &rows).await;
    let mut plan = plan();
    plan.definitions[0].config.receivers = vec!["hook".into()];
    let receiver = ReceiverConfig {
        name: "hook".into(),
        kind: ReceiverKind::Webhook,
        // Nobody listens there.
        url: "http://127.0.0.1:9/".into(),
        url_file: "".into(),
        secret_file: "".into(),
    };
    plan.receivers = vec![receiver];
    let mut first = watcher(&journal, plan.clone());
    read_all(&mut first).await;
    assert_eq!(first.state.notices.len(), 1);
    first.deliver();
    while first.state.notices[0].failed == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        first.deliver();
    }
    assert!(first.state.notices[0].not_before > START);
    let shown = first.alerts().deliveries();
    assert_eq!((shown.len(), shown[0].outcome, shown[0].failed), (1, DeliveryOutcome::Waiting, 1));
    assert!(shown[0].next_attempt_at.is_some() && shown[0].error.is_some(), "{shown:?}");
    first.write(&[]).await.unwrap();
    let mut second = watcher(&journal, plan.clone());
    assert_eq!(second.state.notices, first.state.notices);
    assert!(second.state.notices[0].summary.contains("of the hallucination scores fail"));
    assert_eq!(second.alerts().deliveries(), shown, "why it failed is known after a restart");
    // So is what was taken, as long as the alert is watched.
    let notice = second.state.notices.pop_front().unwrap();
    let taken = Tried { notice, counts: true, delivered: Delivered::Taken };
    second.state.deliveries.note(taken, UnixNanos(START));
    second.write(&[]).await.unwrap();
    let known = watcher(&journal, plan.clone()).alerts().deliveries();
    assert_eq!((known.len(), known[0].outcome, known[0].failed), (1, DeliveryOutcome::Delivered, 1));
    assert_eq!(known[0].attempted_at.as_deref(), Some(rfc3339(START).as_str()));
    plan.definitions.clear();
    let ends = watcher(&journal, plan).alerts().deliveries();
    assert_eq!((ends.len(), ends[0].outcome), (1, DeliveryOutcome::Waiting), "only that it ends: {ends:?}");
}

/// A wish that is done while the caller waits for it.
async fn acknowledged(watcher: &mut Watcher, wish: Wish) -> Vec<Acknowledgement> {
    let alerts = watcher.alerts();
    let asked = tokio::spawn(async move { alerts.acknowledge(wish).await });
    while !asked.is_finished() {
        watcher.answer().await.unwrap();
        tokio::task::yield_now().await;
    }
    asked.await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_knows_of_fires_on_and_is_told_again_when_the_time_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path());
    let mut plan = plan();
    plan.definitions[0].config.receivers = vec!["hook".into(), "am".into()];
    let wish = Wish {
        alert: "a".into(),
        slice: None,
        by: "Ada".into(),
        note: "rolled back".into(),
        lasts: Duration::from_secs(3_600),
    };
    let mut first = watcher(&journal, plan.clone());
    assert_eq!(acknowledged(&mut first, wish.clone()).await, Vec::new(), "nothing fires");
    let rows: Vec<ScoreRow> = (0..100).map(|n| score(n, if n % 2 == 0 { FAILS } else { PASSES })).collect();
    append(&journal, &rows).await;
    read_all(&mut first).await;
    first.state.notices.clear();
    let other = Wish { slice: Some("request_model=other".into()), ..wish.clone() };
    assert_eq!(acknowledged(&mut first, other).await, Vec::new(), "another slice");
    assert_eq!(acknowledged(&mut first, wish.clone()).await.len(), 1);
    // It is durable when the answer is there, and hides nothing.
    let mut second = watcher(&journal, plan.clone());
    read_all(&mut second).await;
    let shown = second.alerts().standings();
    assert_eq!(
        (shown[0].state, shown[0].acknowledged.as_ref().map(|known| known.by.as_str())),
        (Phase::Firing, Some("Ada"))
    );
    assert_eq!(told(&journal), ["firing", "firing"]);
    let statuses = |watcher: &Watcher| watcher.state.notices.iter().map(|n| n.status()).collect::<Vec<_>>();
    assert_eq!(statuses(&second), ["acknowledged", "acknowledged"], "each receiver is told once");
    assert!(second.state.firing.iter().all(|notice| notice.acknowledged.is_some()), "and not again");
    second.state.notices.clear();
    let hour = 3_600 * 1_000_000_000;
    let mut expire =
        |at: i64| second.state.expire(&plan.definitions, &Anchors::default(), UnixNanos(START + at));
    assert!(!expire(hour - 1) && expire(hour), "the time is over");
    assert_eq!(statuses(&second), ["firing", "firing"]);
    assert_eq!(second.state.standings(&plan.definitions)[0].acknowledged, None);
    // The end of the alert ends what was known of it.
    acknowledged(&mut second, wish).await;
    let rows: Vec<ScoreRow> = (100..900).map(|n| score(n, PASSES)).collect();
    append(&journal, &rows).await;
    read_all(&mut second).await;
    assert_eq!(second.alerts().standings()[0].acknowledged, None);
    assert_eq!(statuses(&second)[statuses(&second).len() - 2..], ["resolved", "resolved"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_fits_into_no_frame_is_cut_and_the_loop_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let config =
        JournalConfig { max_frame_size: crate::units::ByteSize::kib(64), ..JournalConfig::default() };
    let journal = Journal::open(dir.path(), config, FORMAT).unwrap();
    let mut watcher = watcher(&journal, plan());
    for n in 0..150 {
        let rows: Vec<ScoreRow> = (0..2)
            .map(|at| ScoreRow { request_model: Some(format!("model-{n}")), ..score(n * 2 + at, FAILS) })
            .collect();
        append(&journal, &rows).await;
    }
    read_all(&mut watcher).await;
    let before = watcher.alerts().standings().len();
    watcher.write(&[]).await.unwrap();
    watcher.show();
    let after = watcher.alerts().standings().len();
    assert!(before == 150 && after > 10 && after < 150, "{before} slices, then {after}");
    // What is durable is read again, and goes on.
    let next = self::watcher(&journal, plan());
    assert_eq!(next.alerts().standings().len(), after);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_that_is_gone_while_it_fires_is_resolved_in_its_table_once() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path());
    let rows: Vec<ScoreRow> = (0..100).map(|n| score(n, if n % 2 == 0 { FAILS } else { PASSES })).collect();
    append(&journal, &rows).await;
    let mut first = watcher(&journal, plan());
    read_all(&mut first).await;
    assert_eq!(told(&journal), ["firing"]);
    // At a start with another configuration; a crash before the row is durable loses nothing.
    drop(watcher(&journal, Plan::default()));
    let mut second = watcher(&journal, Plan::default());
    read_all(&mut second).await;
    assert_eq!(told(&journal), ["firing", "resolved"]);
    read_all(&mut watcher(&journal, Plan::default())).await;
    assert_eq!(told(&journal), ["firing", "resolved"]);
}

/// A frame of its own that was passed over while nothing was watched took the first one after it with it.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_scores_after_a_time_without_alerts_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path());
    let rows: Vec<ScoreRow> = (0..100).map(|n| score(n, if n % 2 == 0 { FAILS } else { PASSES })).collect();
    append(&journal, &rows).await;
    let mut watcher = watcher(&journal, plan());
    read_all(&mut watcher).await;
    // What fires ends with its definition, which is a frame of its own.
    watcher.alerts().replace(Plan::default());
    watcher.change_plan();
    read_all(&mut watcher).await;
    assert_eq!(told(&journal), ["firing", "resolved"]);
    watcher.alerts().replace(plan());
    watcher.change_plan();
    append(&journal, &[score(200, FAILS)]).await;
    read_all(&mut watcher).await;
    let counted: Vec<u64> = watcher.alerts().standings().iter().map(|one| one.reading.n).collect();
    assert_eq!(counted, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silence_is_durable_when_it_is_answered_and_is_shown_with_those_of_the_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let journal = journal(dir.path());
    let mut plan = plan();
    plan.definitions[0].config.silences =
        ["2026-01-01T00:00:00Z/2026-01-02T00:00:00Z", "2025-01-01T00:00:00Z/2025-01-02T00:00:00Z"]
            .map(str::to_owned)
            .into();
    let mut first = watcher(&journal, plan.clone());
    let wish = SilenceWish {
        alert: None,
        slice: None,
        ends: Ends::After(Duration::from_secs(60)),
        by: "Ada".into(),
        comment: "moving".into(),
    };
    let alerts = first.alerts();
    let asked = tokio::spawn(async move { alerts.silence(wish).await });
    while !asked.is_finished() {
        first.answer().await.unwrap();
        tokio::task::yield_now().await;
    }
    let made = asked.await.unwrap().unwrap().unwrap();
    let second = watcher(&journal, plan.clone());
    let sources = |watcher: &Watcher| -> Vec<bool> {
        watcher.alerts().silences().iter().map(|silence| silence.is_configured).collect()
    };
    assert_eq!(sources(&second), [false, true], "what is over is left out");
    assert_eq!(second.alerts().silences()[0], made);
    plan.definitions[0].config.silences.clear();
    second.alerts().replace(plan);
    assert_eq!(sources(&second), [false], "as the configuration is now");
}
