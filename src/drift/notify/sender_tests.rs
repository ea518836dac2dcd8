use super::*;
use serde_json::json;
use std::time::Duration;

const SECOND: i64 = 1_000_000_000;
const NOW: UnixNanos = UnixNanos(1_767_225_600 * SECOND);

fn notice(id: u64) -> Notice {
    Notice {
        id,
        receiver: "am".into(),
        alert: "a".into(),
        slice: format!("tenant={id}"),
        is_firing: true,
        fired: NOW.0,
        at: NOW.0,
        since: NOW.0,
        severity: "page".into(),
        labels: BTreeMap::new(),
        summary: "s".into(),
        numbers: json!({}),
        examples: Vec::new(),
        query: String::new(),
        acknowledged: None,
        failed: 0,
        not_before: 0,
    }
}

/// A sender to an Alertmanager that nobody answers for.
fn sender() -> Sender {
    let receiver: ReceiverConfig =
        toml::from_str("name = \"am\"\nkind = \"alertmanager\"\nurl = \"http://127.0.0.1:9\"").unwrap();
    Sender::new(Config::default(), &[receiver])
}

fn after(seconds: i64) -> UnixNanos {
    UnixNanos(NOW.0 + seconds * SECOND)
}

/// Alertmanager takes what it is not told of for four intervals for resolved.
#[test]
fn alertmanager_is_told_again_when_the_clock_was_set_back() {
    let mut sender = sender();
    assert_eq!(sender.config.repeat_interval, Duration::from_mins(1));
    assert!(sender.is_due(&notice(1), NOW), "nobody knows when it was told last");
    sender.told.insert(1, NOW.0);
    assert!(!sender.is_due(&notice(1), after(59)) && sender.is_due(&notice(1), after(60)));
    assert!(sender.is_due(&notice(1), after(-3_600)));
}

#[test]
fn a_message_waits_no_longer_when_the_clock_was_set_back() {
    let waiting = Notice { not_before: after(300).0, ..notice(1) };
    assert!(!is_time(&waiting, NOW) && is_time(&waiting, after(300)));
    assert!(is_time(&waiting, after(-3_600)), "no wait is so long");
}

/// One message at a time takes longer than an interval where thousands fire: those at the end would end by themselves.
#[tokio::test]
async fn who_was_told_longest_ago_is_told_first() {
    let mut sender = sender();
    let firing: Vec<Notice> = (0..3).map(notice).collect();
    sender.told.extend([(0, NOW.0 - 70 * SECOND), (1, NOW.0 - 90 * SECOND), (2, NOW.0 - 80 * SECOND)]);
    sender.send(&VecDeque::new(), &firing, NOW);
    assert_eq!(sender.told[&1], NOW.0);
    assert!(sender.told[&0] < NOW.0 && sender.told[&2] < NOW.0);
}
