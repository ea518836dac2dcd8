//! An address that is posted to: one item in, one answer out.

use super::answer::Answer;
use super::question::Question;
use super::spec::{Form, TargetSpec};
use super::wire::Wire;
use serde_json::Value as Json;
use std::collections::BTreeMap;

pub(super) struct Http {
    wire: Wire,
    parameters: BTreeMap<String, Json>,
    form: Form,
}

impl Http {
    pub fn new(spec: &TargetSpec) -> Result<Self, String> {
        let wire = Wire::new(&spec.url, &spec.headers, &spec.api_key_env, spec.retries)?;
        Ok(Self { wire, parameters: spec.parameters.clone(), form: spec.form })
    }

    pub async fn ask(&self, question: &Question) -> Result<Answer, String> {
        let bytes = self.wire.post(&question.message(&self.parameters), &question.traceparent).await?;
        let text = String::from_utf8(bytes).map_err(|_| "the answer is not UTF-8".to_owned())?;
        Answer::read(&text, question, self.form)
    }
}
