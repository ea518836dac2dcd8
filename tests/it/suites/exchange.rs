//! Suites of other systems in, suites and results for them out.

use super::{command, ten};
use std::path::Path;

/// The program's end, which must be `code`: what it wrote.
fn run(folder: &Path, code: i32, words: &[&str]) -> (String, String) {
    let (ended, out, err) = command(folder, words);
    assert_eq!(ended, code, "{words:?}: {out}{err}");
    (out, err)
}

const THEIRS: &str = "Suite Id,Title,Description,Suite Version,Number Of Tests,Number Of Checks\n\
    19025787-7245-45aa-8d27-c6047bc804c0,Geography,,3,2,3\n\n\
    Test Id,Test Input,Right Answer,Tags,Files,Context Keys,Context Values,Operator,Criteria,Weight,Category,Extraction Prompt,Conditional Operator,Conditional Criteria,Example Type,Example Value\n\
    a,Where is the Bay Area?,California,Bay,documents/map.txt,,,includes_exactly,California,2,Correctness,,,,positive,In California\n\
    ,,,Easy,,,,excludes_exactly,Nevada,1,,,includes_exactly,coast,,\n\
    b,Is it far?,,,,,,their_own,x,1,,,,,,\n";

#[test]
fn a_csv_suite_is_imported_run_and_exported_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("theirs.csv"), THEIRS).unwrap();
    let (_, err) = run(folder.path(), 0, &["suite", "import", "theirs.csv", "--output", "suite.toml"]);
    assert!(err.contains("Files is ignored"), "{err}");
    run(folder.path(), 0, &["suite", "export", "suite.toml", "--output", "again.csv"]);
    let again = std::fs::read_to_string(folder.path().join("again.csv")).unwrap();
    assert_eq!(again, THEIRS.replace("documents/map.txt", ""));
    let (out, _) = run(folder.path(), 0, &["suite", "export", "theirs.csv", "--part", "questions"]);
    assert_eq!(out, "Test Input\nWhere is the Bay Area?\nIs it far?\n");
    // It runs as it is: an operator that nobody here knows is an error, and an unmet condition passes.
    std::fs::write(
        folder.path().join("qa.csv"),
        "Question,Answer\nWhere is the Bay Area?,In California.\nIs it far?,No.\n",
    )
    .unwrap();
    let toml = std::fs::read_to_string(folder.path().join("suite.toml")).unwrap();
    std::fs::write(
        folder.path().join("suite.toml"),
        toml + "\n[target]\nkind = \"existing\"\nanswers = \"qa.csv\"\n",
    )
    .unwrap();
    let (out, _) = run(folder.path(), 3, &["test", "suite.toml", "--json", "report.json"]);
    assert!(out.contains("no operator \"their_own\" here") && out.contains("1 pass only because"), "{out}");
    let (results, _) = run(folder.path(), 0, &["suite", "export", "report.json", "--part", "results"]);
    let blocks: Vec<&str> = results.split("\n\n").collect();
    assert_eq!(blocks.len(), 2, "{results}");
    assert!(
        blocks[0].starts_with("Run Id,Test Suite Id") && blocks[1].contains("In California."),
        "{results}"
    );
    assert!(blocks[1].contains("excludes_exactly,Nevada,pass"), "{results}");
    let (flat, _) = run(folder.path(), 0, &["suite", "export", "report.json", "--part", "results", "--flat"]);
    assert_eq!(flat.lines().count(), 4);
    let (answers, _) = run(folder.path(), 0, &["suite", "export", "report.json", "--part", "qa"]);
    assert_eq!(
        answers,
        "Question,Answer,In Tokens,Out Tokens,Duration\nWhere is the Bay Area?,In California.,0,0,0\nIs it far?,No.,0,0,0\n"
    );
    every_part_comes_back(folder.path(), &results);
}

/// Questions, answers and results are read in each form in which they are written.
fn every_part_comes_back(folder: &Path, results: &str) {
    let out = |words: &[&str]| run(folder, 0, words).0;
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let questions = ["suite", "export", "theirs.csv", "--part", "questions"];
    for (format, file) in [("csv", "questions.csv"), ("json", "questions.json")] {
        out(&[&questions[..], &["--format", format, "--output", file][..]].concat());
        let toml = out(&["suite", "import", file, "--part", "questions"]);
        assert!(toml.contains("Where is the Bay Area?") && !toml.contains("operator"), "{format}: {toml}");
    }
    assert!(read("questions.json").contains("\"input_under_test\": \"Is it far?\""));
    let pairs = ["suite", "export", "report.json", "--part", "qa", "--format", "json", "--output", "qa.json"];
    out(&pairs);
    let (of_json, of_csv) = (
        out(&["suite", "import", "qa.json", "--part", "qa"]),
        out(&["suite", "import", "qa.csv", "--part", "qa"]),
    );
    assert_eq!(of_json.trim(), read("qa.json").trim());
    assert!(of_csv.contains("\"output\": \"In California.\""), "{of_csv}");
    std::fs::write(folder.join("twice.csv"), "Question,Answer\nWho?,I\n Who? ,You\n").unwrap();
    let (_, err) = run(folder, 2, &["suite", "import", "twice.csv", "--part", "qa"]);
    assert!(err.contains("answer 2: \" Who? \" is there twice"), "{err}");
    // No server takes these, and none is asked.
    for part in ["qa", "results"] {
        let args = ["suite", "import", "twice.csv", "--part", part, "--url", "http://127.0.0.1:9"];
        let (_, err) = run(folder, 2, &args);
        assert!(err.contains("leave out --url") && err.contains(&format!("--part {part}")), "{err}");
    }
    let (_, err) = run(folder, 2, &["suite", "import", "qa.csv", "--dry-run"]);
    assert!(err.contains("--dry-run: only for") && err.contains("add --url or --data-dir"), "{err}");
    for format in ["json", "zip"] {
        let file = format!("results.{format}");
        let export = ["suite", "export", "report.json", "--part", "results", "--format", format];
        out(&[&export[..], &["--output", file.as_str()][..]].concat());
        out(&["suite", "import", &file, "--part", "results", "--output", "again.json"]);
        assert_eq!(out(&["suite", "export", "again.json", "--part", "results"]), results, "{format}");
    }
}

#[test]
fn an_archive_has_its_files_and_equal_suites_give_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("documents")).unwrap();
    std::fs::write(folder.path().join("documents/map.txt"), "a map").unwrap();
    std::fs::write(folder.path().join("theirs.csv"), THEIRS).unwrap();
    run(folder.path(), 0, &["suite", "import", "theirs.csv", "--output", "suite.toml"]);
    let toml = std::fs::read_to_string(folder.path().join("suite.toml")).unwrap();
    let toml = toml.replacen("id = \"a\"", "id = \"a\"\nfiles = [\"documents/map.txt\"]", 1);
    std::fs::write(folder.path().join("suite.toml"), toml).unwrap();
    for archive in ["one.zip", "two.zip"] {
        run(folder.path(), 0, &["suite", "export", "suite.toml", "--format", "zip", "--output", archive]);
    }
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("one.zip"), bytes("two.zip"));
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join("one.zip"), elsewhere.path().join("one.zip")).unwrap();
    run(elsewhere.path(), 0, &["suite", "import", "one.zip", "--output", "suite.toml"]);
    assert_eq!(std::fs::read_to_string(elsewhere.path().join("documents/map.txt")).unwrap(), "a map");
    run(elsewhere.path(), 0, &["suite", "export", "suite.toml", "--format", "zip", "--output", "three.zip"]);
    assert_eq!(std::fs::read(elsewhere.path().join("three.zip")).unwrap(), bytes("one.zip"));
    // A second import writes over nothing.
    let (_, err) = run(elsewhere.path(), 2, &["suite", "import", "one.zip", "--output", "other.toml"]);
    assert!(err.contains("documents/map.txt"), "{err}");
    std::fs::write(folder.path().join("cut.zip"), &bytes("one.zip")[..bytes("one.zip").len() - 9]).unwrap();
    let (_, err) = run(folder.path(), 2, &["suite", "import", "cut.zip"]);
    assert!(err.contains("cut.zip: the ZIP archive is cut off"), "{err}");
}

#[test]
fn promptfoo_is_read_and_what_is_no_suite_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = r#"{"description": "d", "prompts": ["{{q}}"], "tests": [
        {"vars": {"q": "Who?"}, "assert": [{"type": "icontains", "value": "stoker"}, {"type": "not-contains", "value": "{{q}}"}]}]}"#;
    std::fs::write(folder.path().join("theirs.json"), theirs).unwrap();
    let (toml, err) = run(folder.path(), 0, &["suite", "import", "theirs.json"]);
    assert!(err.contains("prompts are not called"), "{err}");
    std::fs::write(
        folder.path().join("ours.toml"),
        toml.replacen("[[test]]", "[[test]]\noutput = \"Bram Stoker\"", 1),
    )
    .unwrap();
    let (out, _) = run(folder.path(), 0, &["test", "ours.toml"]);
    assert!(out.contains("checks  2 pass, 0 fail"), "{out}");
    std::fs::write(folder.path().join("x.json"), "{\"a\": 1}").unwrap();
    let (_, err) = run(folder.path(), 2, &["suite", "import", "x.json"]);
    assert!(err.contains("no suite of a known form"), "{err}");
    std::fs::write(folder.path().join("cases.jsonl"), ten(1)).unwrap();
    let (_, err) = run(folder.path(), 2, &["suite", "check", "missing.toml"]);
    assert!(err.contains("missing.toml"), "{err}");
}

#[test]
fn a_configuration_of_promptfoo_in_yaml_is_read_with_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = "# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json\n\
        description: trips\nprompts: [prompt.txt]\nproviders:\n  - id: openai:gpt\n\
        defaultTest:\n  assert: &shared\n    - type: not-contains\n      value: sorry\n\
        tests:\n  - vars: {q: Where to?}\n    assert:\n      - type: is-json\n        value:\n          type: object\n          required: [to]\n\
        \x20     - {type: 'trajectory:tool-sequence', value: {mode: exact, steps: [search, book]}}\n\
        \x20 - file://more.csv\n  - file://../outside.csv\n";
    let at = |name: &str| folder.path().join("in").join(name);
    std::fs::create_dir(folder.path().join("in")).unwrap();
    std::fs::write(at("theirs.yaml"), theirs).unwrap();
    std::fs::write(at("more.csv"), "q,__expected\nWho?,icontains: anna\n").unwrap();
    std::fs::write(folder.path().join("outside.csv"), "q,__expected\nSecret?,x\n").unwrap();
    let (_, err) = run(&folder.path().join("in"), 2, &["suite", "import", "theirs.yaml"]);
    assert!(err.contains("tests[2]: ../outside.csv: it leads out of the folder"), "{err}");
    std::fs::write(at("theirs.yaml"), theirs.replace("  - file://../outside.csv\n", "")).unwrap();
    let (toml, _) = run(&folder.path().join("in"), 0, &["suite", "import", "theirs.yaml"]);
    let answered = |answers: [&str; 2]| {
        let [one, two] = answers.map(|answer| format!("[[test]]\noutput = {answer:?}"));
        let toml = toml
            .replacen("[[test]]", "[[TEST]]", 1)
            .replacen("[[test]]", &two, 1)
            .replacen("[[TEST]]", &one, 1);
        std::fs::write(at("ours.toml"), toml).unwrap();
        run(&folder.path().join("in"), 0, &["test", "ours.toml"]).0
    };
    let calls = r#"{"to": "Rome", "tool_calls": ["search", "book"]}"#;
    let out = answered([calls, "Anna"]);
    assert!(out.contains("checks  5 pass, 0 fail"), "{out}");
    let out = answered([&calls.replace("to\"", "by\"").replace("\"search\", ", ""), "sorry"]);
    assert!(out.contains("checks  1 pass, 4 fail"), "{out}");
    std::fs::write(at("wrong.yaml"), "tests: [").unwrap();
    let (_, err) = run(&folder.path().join("in"), 2, &["suite", "import", "wrong.yaml"]);
    assert!(err.contains("wrong.yaml") && err.contains("line 1"), "{err}");
}

#[test]
fn a_suite_with_conditions_of_h2o_runs_and_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = r#"{"name": "counts", "description": "", "tests": [{"key": "t", "documents": [], "test_cases": [
        {"key": "a", "prompt": "How many?", "categories": ["numbers"], "relationships": [], "expected_output": "", "condition": "\"15,969\" AND (\"million\" OR regexp([Tt]housand))"}]}]}"#;
    std::fs::write(folder.path().join("theirs.json"), theirs).unwrap();
    let (toml, _) = run(folder.path(), 0, &["suite", "import", "theirs.json"]);
    for (answer, code) in [("15,969 Thousand", "1 pass, 0 fail"), ("15,969", "0 pass, 1 fail")] {
        let ours = toml.replacen("[[test]]", &format!("[[test]]\noutput = \"{answer}\""), 1);
        std::fs::write(folder.path().join("ours.toml"), ours).unwrap();
        let (out, _) = run(folder.path(), 0, &["test", "ours.toml"]);
        assert!(out.contains(&format!("checks  {code}")), "{out}");
    }
    std::fs::write(folder.path().join("ours.toml"), toml).unwrap();
    let (again, _) = run(folder.path(), 0, &["suite", "export", "ours.toml", "--format", "h2o"]);
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(parsed(&again), parsed(theirs));
}

#[test]
fn examples_of_a_check_are_held_against_it() {
    let folder = tempfile::tempdir().unwrap();
    let suite = |kind: &str| {
        format!(
            "[suite]\nname = \"s\"\n[[test]]\ninput = \"q\"\ncheck = [{{ operator = \"contains\", criteria = \"14 days\", \
             examples = [{{ type = \"positive\", text = \"in 14 days\" }}, {{ type = \"{kind}\", text = \"soon\" }}] }}]\n"
        )
    };
    std::fs::write(folder.path().join("suite.toml"), suite("negative")).unwrap();
    let (out, _) = run(folder.path(), 0, &["suite", "check", "suite.toml"]);
    assert!(out.contains("2 of 2 examples come out as they are marked"), "{out}");
    std::fs::write(folder.path().join("suite.toml"), suite("positive")).unwrap();
    let (out, err) = run(folder.path(), 2, &["suite", "check", "suite.toml"]);
    assert!(
        out.contains("1 of 2") && err.contains("the positive example \"soon\" ends with fail"),
        "{out}{err}"
    );
}

#[test]
fn a_check_tells_gates_that_a_run_would_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let suite = |gate: &str| {
        let text = format!(
            "[suite]\nname = \"s\"\nevaluators = [\"rouge\"]\n[[test]]\ninput = \"q\"\ntags = [\"t\"]\n{gate}"
        );
        std::fs::write(folder.path().join("suite.toml"), text).unwrap();
    };
    suite(
        "[[gate]]\nmetric = \"rouge_1\"\nmin = 0.5\n[[gate]]\nmetric = \"tests_passed\"\nmin = 0.5\ntag = \"u\"\n",
    );
    for verb in [&["suite", "check", "suite.toml"][..], &["test", "suite.toml", "--dry-run"]] {
        let (_, err) = run(folder.path(), 2, verb);
        assert!(err.contains("gate 1 names \"rouge_1\", which is not measured"), "{err}");
        assert!(err.contains("gate 2 names the tag \"u\", which no test has"), "{err}");
    }
    suite("[[gate]]\nmetric = \"rouge/rouge_1\"\nmin = 0.5\ntag = \"t\"\n");
    let (out, _) = run(folder.path(), 0, &["suite", "check", "suite.toml"]);
    assert!(out.contains("1 gates"), "{out}");
    // A key that is elsewhere is no fault of the suite.
    let judge = "[[judges]]\nname = \"main\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\napi_key_env = \"NO_SUCH_KEY_OF_A_TEST\"\n";
    std::fs::write(folder.path().join("judge.toml"), judge).unwrap();
    run(folder.path(), 0, &["suite", "check", "suite.toml", "--config", "judge.toml"]);
}
