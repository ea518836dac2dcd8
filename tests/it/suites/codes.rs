//! Exit codes, verdicts, and what is compared with a run before.

use super::{ten, tested};
use serde_json::json;

const SUITE: &str = "[suite]\nname = \"s\"\ndataset = \"cases.jsonl\"\n[[check]]\noperator = \"includes_exactly\"\n\
                     criteria = \"{{expected}}\"\n[[gate]]\nmetric = \"tests_passed\"\n";

#[test]
fn a_gate_is_held_broken_or_undecided_by_the_bound() {
    for (passing, line, strict, code, word) in [
        (10, "min = 0.7", false, 0, "held"),
        (10, "min = 0.9", false, 0, "undecided"),
        (10, "min = 0.9", true, 4, "undecided"),
        (2, "min = 0.9", false, 1, "broken"),
        (8, "min = 0.9\non = \"estimate\"", false, 1, "broken"),
        (9, "min = 0.9\non = \"estimate\"", true, 0, "held"),
        (9, "max = 0.5", false, 1, "broken"),
    ] {
        let more: &[&str] = if strict { &["--strict"] } else { &[] };
        let ended = tested(&format!("{SUITE}{line}\n"), &[("cases.jsonl", &ten(passing))], more);
        let report = ended.report();
        assert_eq!(
            (ended.code, &report["gates"][0]["verdict"]),
            (code, &json!(word)),
            "{passing} {line}: {}",
            ended.out
        );
        if word == "undecided" {
            assert!(report["gates"][0]["needed"].as_u64().is_some_and(|n| (20..60).contains(&n)), "{report}");
        }
        let xml = ended.file("junit.xml");
        assert_eq!(xml.matches("<failure").count(), 10 - passing + usize::from(word == "broken"), "{xml}");
    }
}

#[test]
fn errors_come_before_gates_and_may_be_borne() {
    let cases = ten(10) + "{\"id\": \"unanswered\", \"input\": \"q\", \"expected\": \"yes\"}\n";
    let suite = format!("{SUITE}min = 0.5\n");
    let ended = tested(&suite, &[("cases.jsonl", &cases)], &[]);
    assert_eq!(ended.code, 3, "{}", ended.out);
    assert!(ended.out.contains("the case has no answer"), "{}", ended.out);
    assert_eq!(ended.report()["summary"]["tests"], json!({"pass": 10, "fail": 0, "skipped": 0, "error": 1}));
    assert!(ended.file("junit.xml").contains("<error message="));
    let borne = suite.replace("name = \"s\"", "name = \"s\"\nmax_error_share = 0.1");
    let ended = tested(&borne, &[("cases.jsonl", &cases)], &[]);
    assert_eq!(ended.code, 0, "{}", ended.out);
    // What has no verdict is in the denominator.
    let estimate = ended.report()["gates"][0]["estimate"].as_f64().unwrap();
    assert!((estimate - 10.0 / 11.0).abs() < 1e-9);
}

#[test]
fn what_is_wrong_is_told_and_nothing_runs() {
    let cases = ten(10);
    for (suite, part) in [
        (
            SUITE.replace("includes_exactly", "includes_exctly") + "min = 0.5\n",
            "did you mean \"includes_exactly\"",
        ),
        (SUITE.replace("tests_passed", "toxicity") + "max = 0.5\n", "suite.evaluators adds more"),
        (SUITE.to_owned(), "one of min, max, max_drop"),
        (format!("{SUITE}max_drop = 0.1\n"), "give --baseline"),
        (format!("{SUITE}min = 0.5\ntag = \"x\"\n"), "the tag \"x\", which no test has"),
        (
            SUITE.replace("name = \"s\"", "evaluators = [\"faithfulness\"]") + "min = 0.5\n",
            "without an LLM judge",
        ),
    ] {
        let ended = tested(&suite, &[("cases.jsonl", &cases)], &[]);
        assert_eq!(ended.code, 2, "{suite}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains(part), "{part}: {}", ended.err);
    }
    let ended = tested(&format!("{SUITE}min = 0.5\n"), &[], &[]);
    assert!(ended.code == 2 && ended.err.contains("cases.jsonl"), "{}", ended.err);
}

#[test]
fn a_drop_is_paired_with_the_run_before() {
    let suite = format!("{SUITE}max_drop = 0.3\n");
    let before =
        tested(&format!("{SUITE}min = 0.1\n"), &[("cases.jsonl", &ten(10))], &[]).file("report.json");
    let against = |passing: usize, more: &[&str]| {
        let files = [("cases.jsonl", ten(passing)), ("main.json", before.clone())];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        tested(&suite, &files, &[&["--baseline", "main.json"][..], more].concat())
    };
    let same = against(10, &[]);
    assert_eq!((same.code, &same.report()["gates"][0]["verdict"]), (0, &json!("held")), "{}", same.out);
    let worse = against(1, &[]);
    assert_eq!((worse.code, &worse.report()["gates"][0]["verdict"]), (1, &json!("broken")), "{}", worse.out);
    // A test that asks something else is another one.
    let files = [("cases.jsonl", ten(1).replace("\"q3\"", "\"q33\"")), ("main.json", before.clone())];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let changed = tested(&suite, &files, &["--baseline", "main.json"]);
    assert!(changed.out.contains("1 tests are new or changed"), "{}", changed.out);
}

#[test]
fn weights_thresholds_conditions_and_sets_make_the_verdict() {
    let suite = "[suite]\nname = \"s\"\n\
        [[test]]\nid = \"heavy\"\ninput = \"q\"\noutput = \"in 14 days, [1]\"\nthreshold = 0.75\ncheck = [\n\
        { id = \"first\", operator = \"contains\", criteria = \"14\", weight = 3 },\n\
        { operator = \"contains\", criteria = \"30\" },\n\
        { operator = \"contains\", criteria = \"40\", weight = 0 },\n\
        { operator = \"contains\", criteria = \"50\", optional = true },\n\
        { operator = \"contains\", criteria = \"60\", if = { operator = \"contains\", criteria = \"weeks\" } },\n\
        { operator = \"contains\", criteria = \"days\", if = { check = \"first\" } },\n\
        { operator = \"contains\", criteria = \"70\", if = { check = \"first\", is = \"fail\" } },\n\
        { any_of = [{ operator = \"is-json\" }, { operator = \"contains-json\" }] },\n\
        { operator = \"contains\", criteria = \"x\", extract = { between = [\"<\", \">\"] }, optional = true },\n\
        { operator = \"contains\", criteria = \"{{metadata.lang}}\" },\n]\n\
        [[test]]\nid = \"zero\"\ninput = \"q\"\noutput = \"a\"\nthreshold = 0.0\n\
        check = [{ operator = \"contains\", criteria = \"b\" }]\n\
        [[test]]\nid = \"skipped\"\ninput = \"q\"\noutput = \"a\"\ncheck = [{ operator = \"contains\", criteria = \"{{expected}}\" }]\n";
    let ended = tested(suite, &[], &[]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let statuses: Vec<String> = (0..10).map(|check| ended.check(0, check).0).collect();
    assert_eq!(
        statuses,
        ["pass", "fail", "fail", "fail", "skipped", "pass", "skipped", "pass", "fail", "skipped"],
        "{}",
        ended.out
    );
    let report = ended.report();
    // 3 + 1 + 1 of 3 + 1 + 1 + 1.
    assert!((report["runs"][0]["score"].as_f64().unwrap() - 5.0 / 6.0).abs() < 1e-12);
    let tests: Vec<_> = (0..3).map(|run| report["runs"][run]["status"].clone()).collect();
    assert_eq!(tests, ["pass", "pass", "skipped"]);
    assert!(ended.check(0, 8).1.contains("nothing was extracted"));
    let passes = suite.replace("name = \"s\"", "name = \"s\"\ncondition = \"pass\"");
    let ended = tested(&passes, &[], &[]);
    assert_eq!(ended.check(0, 4).0, "pass");
    assert_eq!(ended.report()["summary"]["passed_by_condition"], 2);
    assert!(ended.out.contains("2 pass only because their condition was not met"), "{}", ended.out);
}

#[test]
fn several_accepted_answers_are_each_enough_and_repetitions_are_rows() {
    let suite = "[suite]\nname = \"s\"\nrepetitions = 3\nevaluators = [\"rouge\"]\n[[check]]\noperator = \"equals_exactly\"\ncriteria = \"{{expected}}\"\n\
        [[test]]\ninput = \"q\"\noutput = \"Mount Everest\"\nright_answer = { any_of = [\"Everest\", \"Mount Everest\"] }\n";
    let ended = tested(suite, &[], &[]);
    let report = ended.report();
    assert_eq!((ended.code, report["runs"].as_array().unwrap().len()), (0, 3), "{}{}", ended.out, ended.err);
    for run in report["runs"].as_array().unwrap() {
        assert_eq!(run["status"], "pass", "{run}");
        let rouge = &run["scores"][0];
        assert_eq!(rouge["value"], 1.0, "{rouge}");
        assert!(rouge["why"].as_str().unwrap().contains("Of 2 accepted answers, number 2"), "{rouge}");
    }
    let ended = tested(suite, &[], &["--repetitions", "1"]);
    assert_eq!(ended.report()["runs"].as_array().unwrap().len(), 1);
}
