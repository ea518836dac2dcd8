//! A JSON schema that answers must match.

use super::text::json_in;
use serde_json::Value as Json;
use std::fmt;
use std::sync::Arc;

/// Most faults that are told of one answer.
const MAX_TOLD: usize = 3;

/// A schema, ready to use. What it refers to must stand in it: nothing is fetched.
#[derive(Clone)]
pub(super) struct Schema(Arc<jsonschema::Validator>);

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schema")
    }
}

impl Schema {
    /// # Errors
    /// What is wrong with the schema.
    pub fn new(text: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(text).map_err(|e| format!("the schema is no JSON: {e}"))?;
        let validator = jsonschema::validator_for(&json).map_err(|e| format!("the schema is wrong: {e}"))?;
        Ok(Self(Arc::new(validator)))
    }

    /// Why an answer, or the JSON in it, does not match; none where it does.
    pub fn fault(&self, text: &str) -> Option<String> {
        let Some(json) = serde_json::from_str(text).ok().or_else(|| json_in(text)) else {
            return Some("no JSON in it".to_owned());
        };
        let told: Vec<String> = self
            .0
            .iter_errors(&json)
            .take(MAX_TOLD)
            .map(|error| match error.instance_path().to_string() {
                place if place.is_empty() => error.to_string(),
                place => format!("{place}: {error}"),
            })
            .collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_match_or_it_is_told_where_they_do_not() {
        let schema = Schema::new(
            r##"{"type": "object", "required": ["days"], "properties": {"days": {"$ref": "#/$defs/days"}},
                "$defs": {"days": {"type": "integer", "minimum": 1}}}"##,
        )
        .unwrap();
        assert_eq!(schema.fault(r#"{"days": 14}"#), None);
        assert_eq!(schema.fault("Here: {\"days\": 14}."), None);
        assert!(schema.fault(r#"{"days": 0}"#).unwrap().starts_with("/days: "));
        assert!(schema.fault("{}").unwrap().contains("days"));
        assert_eq!(schema.fault("14 days").as_deref(), Some("no JSON in it"));
    }

    /// A schema that another address has is refused when the suite is read, and nobody is asked for it.
    #[test]
    fn a_schema_that_is_wrong_or_elsewhere_is_refused() {
        assert!(Schema::new("{").unwrap_err().contains("no JSON"));
        assert!(Schema::new(r#"{"type": "oject"}"#).unwrap_err().contains("the schema is wrong"));
        for address in ["http://127.0.0.1:9/schema.json", "file:///etc/hostname"] {
            let refused = Schema::new(&format!(r#"{{"$ref": "{address}"}}"#)).unwrap_err();
            assert!(refused.contains("the schema is wrong"), "{refused}");
        }
    }
}
