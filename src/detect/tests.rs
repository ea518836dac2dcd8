//! What holds for both detectors, whatever the text.

use super::*;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How long this thread has had the processor: what a text costs, whatever runs beside the test. Where the system does not tell
/// it, the time that has passed.
pub(super) fn worked() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    nanos.map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}

fn all(text: &str) -> Vec<Finding> {
    let mut found = pii::findings(text);
    found.extend(secrets::findings(text));
    found
}

/// Places are in order, inside, on boundaries and apart; masks and redaction hold none of the value.
fn holds(text: &str) {
    for found in [pii::findings(text), secrets::findings(text)] {
        let mut before = 0;
        for finding in &found {
            assert!(finding.start >= before && finding.start < finding.end, "{finding:?} in {text:?}");
            assert!(text.get(finding.start..finding.end).is_some(), "{finding:?} in {text:?}");
            assert!((0.0..=1.0).contains(&finding.confidence), "{finding:?}");
            before = finding.end;
        }
    }
    let clean = redact(text, &Kinds::all());
    for finding in all(text).iter().filter(|f| f.confidence >= REPORTED && f.end - f.start > 8) {
        let value = &text[finding.start..finding.end];
        assert!(!mask_pii(value).contains(value) && !mask_secret(value).contains(value), "{value:?}");
        assert!(text.matches(value).count() > 1 || !clean.contains(value), "{value:?} in {clean:?}");
    }
}

/// xorshift: the same bytes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

const PIECES: &[&str] = &[
    "jane@example.org",
    "4111 1111 1111 1111",
    "4111",
    "-",
    ".",
    " ",
    "\n",
    "\0",
    "é",
    "\u{202e}",
    "\u{200b}",
    "１２",
    "٤١١",
    "SSN ",
    "078-05-1120",
    "PESEL 44O514Ol359",
    "password: ",
    "hunter2!x",
    "AKIAIOSFODNN7EXAMPLE",
    "sk-",
    "eyJ",
    "-----BEGIN PRIVATE KEY-----",
    "https://a:b@c.de/",
    "身份证号11010519491231002X",
    "+44 20 7946 0958",
    "[at]",
    "{",
    "\"",
    "\\n",
    "DE89 3704 0044 0532 0130 00",
    "0x",
    "::",
    "github_token=",
    "ghp_",
    "aB3dE6gH9kLm",
    "=",
    "x",
    "9",
    "@",
    "/",
];

#[test]
fn any_text_is_fine() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3_000 {
        let count = random.below(24);
        let text: String = (0..count).map(|_| PIECES[random.below(PIECES.len())]).collect();
        holds(&text);
    }
    for _ in 0..1_000 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        holds(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn unicode_control_characters_and_direction() {
    for (text, kind) in [
        ("\0card\0 4111111111111111\0", "credit_card"),
        ("\u{202e}card 4111\u{200b}1111\u{200b}1111\u{200b}1111\u{202c}", "credit_card"),
        ("card ４１１１ １１１１ １１１１ １１１１", "credit_card"),
        ("بطاقة card ٤١١١ ١١١١ ١١١١ ١١١١", "credit_card"),
        ("SSN 078\u{2011}05\u{2011}1120", "us_ssn"),
        ("身份证号码11010519491231002X。", "cn_resident_id"),
        ("联系电话13812345678", "phone"),
        ("שלח אל jane@example.org עכשיו", "email"),
        ("mail\\njane@example.org\\n", "email"),
        ("jane.doe [at] example [dot] org", "email"),
        ("jan.kowalski (małpa) example.pl", "email"),
    ] {
        let found = pii::findings(text);
        assert!(found.iter().any(|f| f.kind == kind && f.confidence >= REPORTED), "{text:?}: {found:?}");
        holds(text);
    }
}

#[test]
fn a_megabyte_takes_little_time() {
    let sentence =
        "In 2024 sales grew by 12.5 % to 1,234,567 units; write to jane@example.org or call 212-555-2368. ";
    let hostile = [
        "1",
        "1 ",
        "4111 1111 1111 1111 ",
        "a@",
        "@",
        "a.b",
        "key=",
        "password: x",
        "\u{200b}1",
        "é–1",
        "[at]",
        "eyJ",
        "eyJ-",
        "-",
    ];
    let texts = hostile.iter().map(|piece| piece.repeat((128 << 10) / piece.len()));
    for text in texts.chain([sentence.repeat((1 << 20) / sentence.len())]) {
        let begin = worked();
        let _ = all(&text);
        let took = worked() - begin;
        // Without optimisation, on a machine that others use too.
        let head: String = text.chars().take(20).collect();
        assert!(took < Duration::from_secs(60), "{head:?} took {took:?}");
    }
}

#[test]
fn ten_thousand_findings_are_all_found_and_redacted() {
    let text: String = (0..10_000).map(|i| format!("user{i}@example.org ")).collect();
    let found = pii::findings(&text);
    assert_eq!(found.iter().filter(|f| f.kind == "email").count(), 10_000);
    assert!(!redact(&text, &Kinds::all()).contains('@'));
}

#[test]
fn the_same_text_gives_the_same_findings() {
    let text: String = PIECES.concat();
    let first = all(&text);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let text = text.clone();
            std::thread::spawn(move || all(&text))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("does not panic"), first);
    }
}

#[test]
fn kinds_are_snake_case() {
    for kind in pii::kinds().into_iter().chain(secrets::kinds()) {
        assert!(kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{kind}");
    }
}
