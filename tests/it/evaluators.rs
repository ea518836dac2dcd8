//! Every evaluator on texts that nobody meant to be judged: it answers within its time, the same each time, and never
//! panics.

use groundline::domain::document::Document;
use groundline::domain::score::ScoreStatus;
use groundline::domain::trace::EvalInput;
use groundline::eval::{Config, Registry};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The limit that the server sets by default.
const LIMIT: Duration = Duration::from_secs(60);

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry::new(&Config::default(), 2).unwrap())
}

fn input(question: &str, answer: &str, context: &str) -> EvalInput {
    let document = |tenant: &str| Document {
        content: Some(context.to_owned()),
        tenant: Some(tenant.to_owned()),
        ..Document::default()
    };
    EvalInput {
        question: Some(question.to_owned()),
        answer: Some(answer.to_owned()),
        contexts: vec![document("a"), document("b")],
        expected: Some(context.to_owned()),
        expected_documents: vec!["x".to_owned()],
        system_prompt: Some(context.to_owned()),
        tenant: Some("a".to_owned()),
        ..EvalInput::default()
    }
}

/// Every score of every evaluator, as text.
fn scores(input: &EvalInput, name: &str) -> Vec<String> {
    let mut told = Vec::new();
    for evaluator in registry().select(&registry().ids()).unwrap() {
        let started = Instant::now();
        let scores = registry().evaluate(evaluator.as_ref(), input);
        let took = started.elapsed();
        assert!(took < LIMIT, "{} took {took:?} for {name}", evaluator.id());
        assert!(!scores.is_empty(), "{} said nothing of {name}", evaluator.id());
        for score in scores {
            let error = score.error.as_deref().unwrap_or_default();
            assert!(!error.contains("panicked"), "{} panicked on {name}", evaluator.id());
            assert_eq!(score.value.is_some(), score.status == ScoreStatus::Ok, "{name}: {score:?}");
            assert!(score.value.is_none_or(f64::is_finite), "{name}: {score:?}");
            told.push(format!("{score:?}"));
        }
    }
    told
}

#[test]
fn odd_texts_are_judged_or_refused_and_the_same_each_time() {
    let rtl = "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{5e2}\u{5d5}\u{5dc}\u{5dd}. \u{202e}abc\u{202c} \u{645}\u{631}\u{62d}\u{628}\u{627}.";
    let odd = [
        ("nothing", String::new()),
        ("space", " \n\t ".to_owned()),
        ("NUL", "a\0b. \0\0 c is here.".to_owned()),
        ("emoji", "\u{1f600}\u{1f469}\u{1f3ff}\u{200d}\u{2695}\u{fe0f} \u{1f1f5}\u{1f1f1}!".to_owned()),
        ("right to left", rtl.to_owned()),
        ("no spaces", "x".repeat(5_000)),
        ("combining marks", "e\u{301}\u{302}\u{303}".repeat(300)),
        ("only stops", ".?!".repeat(2_000)),
        ("ideographs", "\u{535a}\u{7269}\u{9986}\u{4e5d}\u{70b9}\u{5f00}\u{95e8}\u{3002}".repeat(50)),
        ("markup", "<a href='x'>**b**</a> | c | d |\n|---|---|\n```\ncode();\n```".to_owned()),
    ];
    for (name, text) in &odd {
        let first = scores(&input(text, text, text), name);
        assert_eq!(first, scores(&input(text, text, text), name), "{name} was judged in two ways");
        scores(&input("When does the museum open?", text, "The museum opens at nine."), name);
    }
}

#[test]
fn long_texts_are_judged_within_the_limit() {
    let sentence = |i: usize| format!("The museum number {i} opens at nine in the morning on most days. ");
    let many: String = (0..10_000).map(sentence).collect();
    let large: String = many.chars().cycle().take(1 << 20).collect();
    scores(&input("When does it open?", &many, "The museum opens at nine."), "10,000 sentences");
    scores(&input("When does it open?", &large, "The museum opens at nine."), "1 MB");
}

/// Random bytes from a seed, read as text.
#[test]
fn random_texts_never_panic() {
    let mut state = 7u64;
    for round in 0..60 {
        let mut bytes = Vec::new();
        for _ in 0..40 + round * 6 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.push((state >> 56) as u8);
        }
        // A third is printable, so that words and numbers occur.
        let text: String = String::from_utf8_lossy(&bytes).chars().filter(|c| *c != '\u{fffd}').collect();
        let (question, answer) = text.split_at(text.floor_char_boundary(text.len() / 3));
        scores(&input(question, answer, &text), &format!("random text {round}"));
    }
}
