//! What evaluators need and no item of a version has. It is told before anything is asked: each of their scores would be
//! skipped. What some items lack is skipped for those alone.

use super::super::dataset::{Filled, Head};
use super::super::error::{Fault, LabError};
use crate::eval::{Evaluator, Input, fit_of};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether evaluators need something that only items have.
pub fn asks_items(evaluators: &[Arc<dyn Evaluator>]) -> bool {
    !needs(evaluators).is_empty()
}

/// That some item of `head` has what each evaluator needs of items.
///
/// # Errors
/// [`LabError::Faults`] with each need that no item meets.
pub fn must_have(head: &Head, filled: Filled, evaluators: &[Arc<dyn Evaluator>]) -> Result<(), LabError> {
    let is_there = |input: &Input| match input {
        Input::Expected => filled.expected > 0,
        Input::Constraints => filled.constraints > 0,
        Input::ExpectedDocuments => filled.expected_documents > 0,
        _ => true,
    };
    let fault = |(input, who): (&Input, &Vec<String>)| {
        let (who, input) = (who.join(", "), input.name());
        let why = format!(
            "{who}: needs {input}, and no item of {}@{} has it: add it, or leave the evaluator out",
            head.name, head.version
        );
        Fault::new(why).at("evaluators")
    };
    let needs = needs(evaluators);
    let faults: Vec<Fault> = needs.iter().filter(|(input, _)| !is_there(input)).map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(LabError::Faults(faults)) }
}

/// What is needed of items, and by whom. Context may come with the answer.
fn needs(evaluators: &[Arc<dyn Evaluator>]) -> BTreeMap<Input, Vec<String>> {
    let mut needs: BTreeMap<Input, Vec<String>> = BTreeMap::new();
    for evaluator in evaluators {
        for need in fit_of(evaluator.id()).iter().flat_map(|fit| fit.needs) {
            if matches!(need, Input::Expected | Input::Constraints | Input::ExpectedDocuments) {
                needs.entry(*need).or_default().push(evaluator.id().to_owned());
            }
        }
    }
    needs
}
