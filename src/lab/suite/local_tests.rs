//! Operators that local models answer, each with an answer that passes and one that does not.

use super::super::bench::evaluators;
use super::super::load::{StoredItems, build, parsed};
use super::*;
use crate::eval::{Config, Registry};
use std::path::Path;

/// The last letter of an id tells how the check must end: p for a pass, f for a fail.
const SUITE: &str = r#"
[suite]
name = "s"
[[test]]
id = "helpful"
input = "How long may I return it?"
output = "You can return it within 14 days."
check = [
  { id = "1p", operator = "includes", criteria = "You can send it back within 14 days." },
  { id = "2f", operator = "includes", criteria = "The museum opens at nine." },
  { id = "3p", operator = "excludes", criteria = "The museum opens at nine." },
  { id = "4f", operator = "excludes", criteria = "You can send it back within 14 days." },
  { id = "5p", operator = "includes_any", criteria = ["The museum opens at nine.", "You can send it back within 14 days."] },
  { id = "6f", operator = "includes_any", criteria = ["The museum opens at nine.", "Shipping is free."] },
  { id = "7p", operator = "includes_only", criteria = "You can return it within 14 days. Shipping is free." },
  { id = "8f", operator = "includes_only", criteria = "Shipping is free." },
  { id = "9p", operator = "equals", criteria = "You can send it back within 14 days." },
  { id = "10f", operator = "equals", criteria = "You can return it within 14 days. Shipping is free." },
  { id = "11p", operator = "mostly_equals", criteria = "You may send it back within 14 days." },
  { id = "12f", operator = "mostly_equals", criteria = "The museum opens at nine." },
  { id = "13p", operator = "similar", criteria = "You may send it back within 14 days.", min = 0.6 },
  { id = "14f", operator = "similar", criteria = "You may send it back within 14 days.", min = 0.99 },
  { id = "15p", operator = "answers" },
  { id = "16f", operator = "is-refusal" },
  { id = "17p", operator = "is_safe" },
  { id = "18p", operator = "latency", max = 500 },
  { id = "19f", operator = "latency", max = 200 },
]
[[test]]
id = "refusing"
input = "How long may I return it?"
output = "I am sorry, I cannot help with that."
check = [
  { id = "20f", operator = "answers" },
  { id = "21p", operator = "is-refusal" },
]
[[test]]
id = "rude"
input = "How long may I return it?"
output = "Shut up, you stupid idiot. I hate you."
check = [{ id = "22f", operator = "is_safe" }]
"#;

#[test]
fn operators_of_local_models_pass_and_fail() {
    let (spec, tests) = parsed(SUITE, "s").unwrap();
    let (suite, _) = build(spec, tests, (Path::new(""), &StoredItems::new()), "s", false).unwrap();
    let registry = Registry::new(&Config::default(), 1).unwrap();
    let bench = Bench::new(&registry, Vec::new(), registry.select(&evaluators(&suite)).unwrap());
    let mut seen = 0;
    for (case, asked) in suite.cases.iter().enumerate() {
        let output = asked.item.spec.output.as_ref().and_then(|output| output.as_str()).unwrap();
        let reply = Ok(Reply { duration_ms: Some(300.0), ..Reply::text(output) });
        let (run_id, trace_id) = ("r".to_owned(), "t".to_owned());
        let outcome = judge(&suite, &Answered { case, repetition: 1, run_id, trace_id, reply }, &bench);
        for check in &outcome.checks {
            let wanted = if check.id.ends_with('p') { Status::Pass } else { Status::Fail };
            assert_eq!(check.status, wanted, "{} {}: {}", check.id, check.operator, check.feedback);
            seen += 1;
        }
    }
    assert_eq!(seen, 22);
}
