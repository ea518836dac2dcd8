//! What of a suite must not be stored.

use super::super::load::Placed;
use super::super::spec::{CheckSpec, SuiteSpec, TestSpec};
use crate::lab::dataset::{Redact, redact_json};

/// Redacts every text of a suite that people or applications may have said; names, ids and operators are not touched.
pub(super) fn redacted(spec: &mut SuiteSpec, tests: &mut [Placed], redact: &Redact) {
    redact(&mut spec.suite.description);
    spec.check.iter_mut().for_each(|one| check(one, redact));
    tests.iter_mut().for_each(|(one, _)| test(one, redact));
}

fn test(test: &mut TestSpec, redact: &Redact) {
    redact_json(&mut test.input, redact);
    let single = [&mut test.right_answer, &mut test.output, &mut test.constraints];
    single.into_iter().flatten().for_each(|value| redact_json(value, redact));
    let lists = test.contexts.iter_mut().chain(&mut test.history);
    let values = lists.chain(test.context.values_mut()).chain(test.metadata.values_mut());
    values.for_each(|value| redact_json(value, redact));
    test.system_prompt.iter_mut().chain(&mut test.tags).for_each(|text| redact(text));
    test.check.iter_mut().for_each(|one| check(one, redact));
}

fn check(one: &mut CheckSpec, redact: &Redact) {
    one.criteria.iter_mut().for_each(|value| redact_json(value, redact));
    let condition = one.condition.iter_mut().filter_map(|condition| condition.criteria.as_mut());
    condition.for_each(|value| redact_json(value, redact));
    one.extract.iter_mut().filter_map(|extract| extract.prompt.as_mut()).for_each(|words| redact(words));
    one.examples.iter_mut().for_each(|example| redact(&mut example.text));
    one.any_of.iter_mut().chain(&mut one.all_of).for_each(|part| check(part, redact));
}

#[cfg(test)]
mod tests {
    use super::super::super::fault::SourceLine;
    use super::*;
    use std::sync::Arc;

    #[test]
    fn every_text_of_a_suite_is_redacted_and_no_name() {
        let text = "[suite]\nname = \"secret\"\ndescription = \"secret\"\n[[check]]\noperator = \"any\"\n\
            [[test]]\nid = \"secret\"\ninput = { q = [\"secret\"] }\nright_answer = \"secret\"\ntags = [\"secret\"]\n\
            metadata = { k = \"secret\" }\ncontext = { k = \"secret\" }\n\
            check = [{ any_of = [{ operator = \"contains\", criteria = \"secret\", if = { operator = \"contains\", criteria = \"secret\" }, \
            extract = { prompt = \"secret\" }, examples = [{ type = \"positive\", text = \"secret\" }] }] }]\n";
        let mut spec: SuiteSpec = toml::from_str(text).unwrap();
        let mut tests: Vec<Placed> =
            std::mem::take(&mut spec.test).into_iter().map(|test| (test, SourceLine::default())).collect();
        let redact: Redact = Arc::new(|text: &mut String| *text = text.replace("secret", "-"));
        redacted(&mut spec, &mut tests, &redact);
        let told = serde_json::json!([spec, tests[0].0]).to_string();
        assert_eq!(told.matches("secret").count(), 2, "its name and the test's id: {told}");
    }
}
