//! The example of the repository, and what docs/suites.md tells to type.

use super::{Ended, command, run};
use crate::readme::pages::{of, root};
use serde_json::json;
use tempfile::TempDir;

fn example() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(root().join("examples/suite")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

fn elements(xml: &str, name: &str) -> usize {
    xml.matches(&format!("<{name} ")).count()
}

#[test]
fn the_example_is_asked_judged_and_held_against_its_gates() {
    let ended: Ended = run(example(), &[]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let report = ended.report();
    assert_eq!((&report["verdict"], &report["exit_code"]), (&json!("held"), &json!(0)));
    assert_eq!(report["summary"]["runs"], 5);
    assert_eq!(
        report["summary"]["tests"],
        json!({"pass": 5, "fail": 0, "skipped": 0, "error": 0}),
        "{}",
        ended.out
    );
    let kettle = &report["runs"][0];
    assert_eq!((&kettle["test"], kettle["checks"].as_array().unwrap().len()), (&json!("how-long"), 6));
    assert_eq!(
        (&kettle["checks"][3]["extracted"], &kettle["checks"][3]["status"]),
        (&json!("30"), &json!("pass"))
    );
    assert_eq!(
        (&kettle["checks"][4]["status"], &kettle["checks"][4]["condition_met"]),
        (&json!("pass"), &json!(true))
    );
    assert_eq!(kettle["checks"][1]["engine"], "hallucination");
    assert!(
        kettle["values"]["toxicity/obscene"].is_number() && kettle["duration_ms"].is_number(),
        "{kettle}"
    );
    for gate in report["gates"].as_array().unwrap() {
        assert_eq!(gate["verdict"], "held", "{gate}");
        assert!(gate["lower"].is_number() && gate["upper"].is_number(), "{gate}");
    }
    let tags: Vec<&str> = report["summary"]["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag["name"].as_str().unwrap())
        .collect();
    assert_eq!(tags, ["delivery", "payment", "returns", "warranty"]);
    // Four tests with three checks, one with six, and three gates.
    let xml = ended.file("junit.xml");
    assert_eq!(
        (elements(&xml, "testcase"), elements(&xml, "failure"), elements(&xml, "error")),
        (21, 0, 0),
        "{xml}"
    );
    let mut reader = quick_xml::Reader::from_str(&xml);
    while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    assert!(
        ended.file("report.md").contains("| tests\\_passed min 0.4 | held |"),
        "{}",
        ended.file("report.md")
    );
}

#[test]
fn the_commands_of_the_page_run() {
    let folder = example();
    let pages = of("docs");
    let page = pages.iter().find(|page| page.path.ends_with("suites.md")).unwrap();
    let mut ran = 0;
    for block in page.blocks("sh") {
        for line in block.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[0], "groundline", "{line}");
            let (code, out, err) = command(folder.path(), &words[1..]);
            assert_eq!(code, 0, "{line}: {out}{err}");
            ran += 1;
        }
    }
    assert!(ran >= 3, "the page was not read");
    // The suite of the page is one.
    for block in page.blocks("toml,suite") {
        std::fs::write(folder.path().join("page.toml"), block).unwrap();
        std::fs::copy(folder.path().join("suite.toml"), folder.path().join("report.json")).unwrap();
        let (code, _, err) =
            command(folder.path(), &["test", "page.toml", "--dry-run", "--baseline", "report.json"]);
        assert!(code == 2 && err.contains("no report of groundline test"), "{err}");
        std::fs::write(folder.path().join("report.json"), "{\"runs\": []}").unwrap();
        let (code, out, err) =
            command(folder.path(), &["test", "page.toml", "--dry-run", "--baseline", "report.json"]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("refunds: 5 tests"), "{out}");
    }
}

/// The workflow is YAML that names what is there.
#[test]
fn the_workflow_of_the_example_uses_flags_that_there_are() {
    let workflow = std::fs::read_to_string(root().join("examples/suite/github-actions.yml")).unwrap();
    let (_, help, _) = command(root(), &["test", "--help"]);
    let flags: Vec<&str> = workflow.split_whitespace().filter(|word| word.starts_with("--")).collect();
    assert!(flags.len() >= 4, "{workflow}");
    for flag in flags.iter().filter(|flag| **flag != "--version") {
        assert!(help.contains(&format!("{flag} ")), "{flag}");
    }
}
