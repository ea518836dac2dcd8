//! The examples of every `--help` can be pasted: none is folded within a word's meaning, and what they name is there. Every
//! verb is on a page.

use super::pages;
use std::collections::BTreeMap;
use std::process::Command;

/// What `--help` prints of a verb and of those below it, by their words; without a terminal it is as wide as it gets.
fn helps(path: &[String], told: &mut BTreeMap<String, String>) {
    let output = Command::new(env!("CARGO_BIN_EXE_groundline")).args(path).arg("--help").output().unwrap();
    assert!(output.status.success(), "{path:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let below = text.split("\nCommands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    // What goes on under a verb is set in further.
    for line in below.unwrap_or_default().lines().filter(|line| !line.starts_with("   ")) {
        let verb = line.split_whitespace().next().unwrap();
        if verb != "help" {
            helps(&[path, &[verb.to_owned()]].concat(), told);
        }
    }
    told.insert(path.join(" "), text);
}

/// The lines of the examples, with those together that a backslash joins.
fn examples(help: &str) -> Vec<String> {
    let part = help.split("\nExamples:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    part.unwrap_or_default().replace(" \\\n", " ").lines().map(str::to_owned).collect()
}

#[test]
fn the_examples_of_every_help_can_be_pasted() {
    let mut told = BTreeMap::new();
    helps(&[], &mut told);
    let (mut seen, mut wrong) = (0, Vec::new());
    for (of, help) in &told {
        for line in examples(help) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[0] {
                "groundline" => {}
                // Other programs, and variables before one.
                word if word == "psql" || word.contains('=') => continue,
                _ => {
                    wrong.push(format!("{of}: {line:?} is the rest of a folded line"));
                    continue;
                }
            }
            seen += 1;
            let longest = (1..words.len()).rev().find(|end| told.contains_key(&words[1..=*end].join(" ")));
            let Some(end) = longest else {
                wrong.push(format!("{of}: {line}: no such verb"));
                continue;
            };
            let own = &told[&words[1..=end].join(" ")];
            for flag in words[end + 1..].iter().filter(|word| word.starts_with("--")) {
                if !own.split_whitespace().any(|word| word == *flag) {
                    wrong.push(format!("{of}: {line}: no {flag}"));
                }
            }
        }
    }
    assert!(told.len() > 50 && seen > 80, "{} verbs, {seen} examples", told.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Who reads the pages finds every verb on one of them.
#[test]
fn every_verb_is_on_a_page() {
    let mut told = BTreeMap::new();
    helps(&[], &mut told);
    let text: String = pages::for_users().iter().map(|page| page.text.as_str()).collect();
    let is_missing = |verb: &&String| !text.contains(&format!("groundline {verb}"));
    let missing: Vec<&String> = told.keys().filter(is_missing).collect();
    assert!(missing.is_empty(), "no page names {missing:?}");
}
