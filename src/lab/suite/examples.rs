//! Examples of checks: answers that should pass, and answers that should not.

use super::bench::Bench;
use super::load::Suite;
use super::outcome::Status;
use super::verdict::judge_text;
use crate::lab::template::brief;

/// How many examples the checks of a suite have.
pub fn examples(suite: &Suite) -> usize {
    suite.cases.iter().flat_map(|case| &case.checks).map(|check| check.examples.len()).sum()
}

/// The examples that come out otherwise than they are marked, each with its check and why. Blocks; where an evaluator waits
/// for others, a runtime must be entered.
pub fn wrong_examples(suite: &Suite, bench: &Bench<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    for case in &suite.cases {
        for check in &case.checks {
            for example in &check.examples {
                let found = judge_text(case, check, &example.text, bench);
                let wanted = if example.kind == "negative" { Status::Fail } else { Status::Pass };
                if found.status != wanted {
                    wrong.push(format!(
                        "test {:?}: {}: the {} example {:?} ends with {}: {}",
                        case.item.spec.id,
                        found.name(),
                        example.kind,
                        brief(&example.text),
                        found.status.word(),
                        brief(&found.feedback)
                    ));
                }
            }
        }
    }
    wrong
}
