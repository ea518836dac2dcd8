//! Formulas by hand, and criteria that are none.

use super::*;

const FIVE: [(&str, f64, bool); 5] = [
    ("llm.completion", 500.0, false),
    ("llm.chat", 1200.0, true),
    ("database.query", 50.0, false),
    ("api.external", 3000.0, true),
    ("cache.lookup", 5.0, false),
];

fn spans() -> Spans {
    let one = |(name, duration_ms, is_error): (&str, f64, bool)| RunSpan {
        name: name.to_owned(),
        duration_ms,
        is_error,
    };
    Spans::of("t", FIVE.into_iter().map(one).collect())
}

fn found(measure: Measure, criteria: Json) -> (bool, f64, String) {
    let wanted = Wanted::new(measure, Some(&criteria), (None, None)).unwrap();
    wanted.found(&spans()).unwrap()
}

#[test]
fn patterns_are_of_whole_names_in_any_case() {
    for (pattern, name, is_so) in [
        ("*", "", true),
        ("*LLM*", "my llm.chat", true),
        ("api.*", "API.external", true),
        ("api.*", "my api.external", false),
        ("*.error", "a.error", true),
        ("*.error", "a.error.b", false),
        ("llm.c?at", "llm.chat", true),
        ("llm.c?at", "llm.cat", false),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-c-b", false),
        ("**", "x", true),
        ("chat", "chats", false),
        ("a.c", "abc", false),
        ("É?", "éa", true),
    ] {
        assert_eq!(is_called(&letters(pattern), &letters(name)), is_so, "{pattern} {name}");
    }
    // Nothing grows faster than both lengths multiplied.
    let many = "a".repeat(20_000);
    assert!(!is_called(&letters(&("*a".repeat(500) + "b")), &letters(&many)));
}

#[test]
fn spans_are_counted_by_their_names() {
    for (criteria, holds, count) in [
        (json!({"pattern": "*llm*", "max": 3}), true, 2.0),
        (json!({"pattern": "*llm*", "max": 1}), false, 2.0),
        (json!({"pattern": "*llm*", "min": 3}), false, 2.0),
        (json!({"min": 5, "max": 5}), true, 5.0),
        (json!({"pattern": "pay*", "max": 0}), true, 0.0),
        (json!({"pattern": "pay*", "min": 1}), false, 0.0),
        (json!("{\"pattern\": \"llm.c?at\", \"min\": 1}"), true, 1.0),
    ] {
        let (held, value, why) = found(Measure::Count, criteria.clone());
        assert_eq!((held, value), (holds, count), "{criteria}: {why}");
    }
    let told = found(Measure::Count, json!({"min": 1})).2;
    let names = "llm.completion, llm.chat, database.query and 2 more";
    assert_eq!(told, format!("5 of 5 spans are called \"*\": {names}"));
    // A pattern alone stands beside the bounds of the check.
    let wanted = Wanted::new(Measure::Count, Some(&json!("*llm*")), (Some(2.0), None)).unwrap();
    assert!(wanted.found(&spans()).unwrap().0);
}

#[test]
fn the_longest_or_a_percentile_by_nearest_rank_is_held_against_the_limit() {
    for (criteria, holds, value) in [
        (json!({"max": 3000}), true, 3000.0),
        (json!({"max": 2999.5}), false, 3000.0),
        (json!({"pattern": "*llm*", "max": 1000}), false, 1200.0),
        // Of 5, 50, 500, 1200, 3000: 0.9 · 5 = 4.5 is the fifth, 0.5 · 5 = 2.5 the third, 0.4 · 5 = 2 the second.
        (json!({"max": 2000, "percentile": 90}), false, 3000.0),
        (json!({"max": 1500, "percentile": 50}), true, 500.0),
        (json!({"max": 50, "percentile": 40}), true, 50.0),
        (json!({"max": 1, "percentile": 0.1}), false, 5.0),
        (json!({"pattern": "cache*", "max": 5, "percentile": 95}), true, 5.0),
    ] {
        let (held, measured, why) = found(Measure::Duration, criteria.clone());
        assert_eq!((held, measured), (holds, value), "{criteria}: {why}");
    }
    let told = found(Measure::Duration, json!({"pattern": "*llm*", "max": 1000})).2;
    let longest = "llm.chat 1200 ms, llm.completion 500 ms";
    assert_eq!(told, format!("the longest of 2 spans took 1200 ms, at most 1000 may be: {longest}"));
    // 7 % of 100 is the seventh, and not the eighth as floating-point numbers would have it.
    let hundred =
        (1..=100).map(|n| RunSpan { name: "s".to_owned(), duration_ms: f64::from(n), is_error: false });
    let wanted = Wanted::new(Measure::Duration, Some(&json!({"max": 7, "percentile": 7})), (None, None));
    assert_eq!(wanted.unwrap().found(&Spans::of("t", hundred.collect())).unwrap().1, 7.0);
}

#[test]
fn spans_with_an_error_are_counted_and_shared() {
    for (criteria, holds, count) in [
        (json!({}), false, 2.0),
        (json!(2), true, 2.0),
        (json!("1"), false, 2.0),
        (json!({"max_percentage": 40}), true, 2.0),
        (json!({"max_percentage": 39.9}), false, 2.0),
        (json!({"max_count": 5, "max_percentage": 39}), false, 2.0),
        (json!({"max_count": 1, "max_percentage": 50}), false, 2.0),
        (json!({"pattern": "database*"}), true, 0.0),
        (json!({"pattern": "*api*", "max_count": 0}), false, 1.0),
    ] {
        let (held, value, why) = found(Measure::Errors, criteria.clone());
        assert_eq!((held, value), (holds, count), "{criteria}: {why}");
    }
    let told = found(Measure::Errors, json!({})).2;
    assert_eq!(told, "2 of 5 spans have an error (40.0 %): llm.chat, api.external");
    let none = Wanted::new(Measure::Errors, None, (None, None)).unwrap();
    assert!(!none.found(&spans()).unwrap().0, "without criteria there may be no error");
}

#[test]
fn without_spans_nothing_is_found_and_without_any_of_the_name_nothing_is_measured() {
    let wanted = |measure, criteria: Json| Wanted::new(measure, Some(&criteria), (None, None)).unwrap();
    for one in [
        wanted(Measure::Count, json!({"max": 9})),
        wanted(Measure::Duration, json!({"max": 9})),
        wanted(Measure::Errors, json!(9)),
    ] {
        assert!(one.found(&Spans::Unread).unwrap_err().contains("--url"));
        let missing = Spans::of("abc", Vec::new());
        assert!(one.found(&missing).unwrap_err().contains("no span of the trace abc is stored"));
        assert_eq!((one.nothing(&missing), one.nothing(&Spans::Unread)), (None, None));
    }
    for (measure, criteria) in
        [(Measure::Duration, json!({"pattern": "pay*", "max": 9})), (Measure::Errors, json!("pay*"))]
    {
        let one = wanted(measure, criteria);
        let why = "none of 5 spans is called \"pay*\"";
        assert_eq!(one.nothing(&spans()).as_deref(), Some(why));
        assert_eq!(one.found(&spans()).unwrap_err(), why);
    }
    assert_eq!(wanted(Measure::Count, json!({"pattern": "pay*", "max": 0})).nothing(&spans()), None);
}

#[test]
fn criteria_that_are_none_say_why() {
    for (measure, criteria, part) in [
        (Measure::Count, json!({"pattern": "*"}), "it needs min, max or both"),
        (Measure::Count, json!({"min": 4, "max": 2}), "min is 4 and max 2"),
        (Measure::Count, json!({"min": 1.5}), "min is 1.5, must be a whole number"),
        (Measure::Count, json!({"min": "two"}), "min is \"two\", must be"),
        (Measure::Count, json!({"pattern": " ", "min": 1}), "the pattern is blank"),
        (Measure::Count, json!({"pattern": 7, "min": 1}), "pattern 7 is no text"),
        (Measure::Count, json!({"pattern": "a".repeat(1_001), "min": 1}), "more than 1000 characters"),
        (Measure::Count, json!({"name": "a", "min": 1}), "it has no \"name\"; there are pattern, min, max"),
        (Measure::Count, json!(["a"]), "are no pattern, and no object"),
        (Measure::Count, json!("{\"min\": }"), "are no JSON"),
        (Measure::Duration, json!({"pattern": "a"}), "it needs max, milliseconds"),
        (Measure::Duration, json!({"max": -1}), "max is -1, must be milliseconds"),
        (Measure::Duration, json!({"max": 1, "percentile": 0}), "percentile is 0, must be above 0"),
        (Measure::Duration, json!({"max": 1, "percentile": 101}), "percentile is 101"),
        (Measure::Duration, json!({"max": 1, "min": 0}), "it has no \"min\""),
        (Measure::Errors, json!({"max_count": -1}), "max_count is -1"),
        (Measure::Errors, json!({"max_percentage": 120}), "max_percentage is 120, must be from 0 to 100"),
    ] {
        let told = Wanted::new(measure, Some(&criteria), (None, None)).unwrap_err();
        assert!(told.contains(part), "{criteria}: {told}");
    }
    let twice = Wanted::new(Measure::Errors, Some(&json!(1)), (None, Some(2.0))).unwrap_err();
    assert_eq!(twice, "max_count stands in the criteria and beside them: keep one");
    assert!(Wanted::new(Measure::Duration, None, (Some(1.0), Some(2.0))).unwrap_err().contains("no \"min\""));
    assert!(Wanted::new(Measure::Count, None, (Some(f64::NAN), None)).unwrap_err().contains("min is null"));
}
