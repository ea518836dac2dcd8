//! An address that is posted to: one item in, one answer out.

use super::super::reply::Reply;
use super::super::spec::TargetSpec;
use super::job::Job;
use super::wire::Wire;
use serde_json::Value as Json;
use std::collections::BTreeMap;

pub(super) struct Http {
    wire: Wire,
    parameters: BTreeMap<String, Json>,
}

impl Http {
    pub fn new(spec: &TargetSpec) -> Result<Self, String> {
        let wire = Wire::new(&spec.url, &spec.headers, &spec.api_key_env, spec.retries)?;
        Ok(Self { wire, parameters: spec.parameters.clone() })
    }

    pub async fn ask(&self, job: &Job<'_>) -> Result<Reply, String> {
        let bytes = self.wire.post(&job.message(&self.parameters), &job.traceparent()).await?;
        match serde_json::from_slice::<Json>(&bytes) {
            Ok(json @ (Json::Object(_) | Json::String(_))) => {
                same_run(&json, job).and_then(|()| Reply::from_json(json))
            }
            // A plain text is an answer too, also one that is a number.
            _ => String::from_utf8(bytes).map(Reply::text).map_err(|_| "the answer is not UTF-8".to_owned()),
        }
    }
}

/// An answer that names another run is no answer to this one.
pub(super) fn same_run(json: &Json, job: &Job<'_>) -> Result<(), String> {
    let differs = |key: &str, own: &str| {
        let told = json.get(key).and_then(Json::as_str).filter(|told| *told != own);
        told.map(|told| format!("the target answered with {key} {told:?}, asked was {own:?}"))
    };
    match differs("run_id", &job.run_id).or_else(|| differs("item_id", &job.item.spec.id)) {
        Some(why) => Err(why),
        None => Ok(()),
    }
}
