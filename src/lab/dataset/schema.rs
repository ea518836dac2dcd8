//! JSON Schemas of a dataset: what the input, what is expected and the metadata of its items must look like.
//!
//! A schema is strict: a change with an item that does not match is refused as a whole. One that says `"x-mode": "warn"` lets it
//! in and tells. What a schema refers to must stand in it: nothing is fetched.

use super::item::Item;
use super::reading::Head;
use crate::lab::error::{Fault, LabError, MAX_FAULTS};
use crate::lab::place::Place;
use crate::schema::batch::ItemRow;
use serde_json::{Map, Value};

/// The parts of an item that may have a schema, as `datasets` names their columns.
pub const PARTS: [&str; 3] = ["input", "expected", "metadata"];
/// The key of a schema that says what becomes of an item that does not match.
const MODE: &str = "x-mode";
/// Longest schema, bytes.
const MAX_SCHEMA: usize = 256 << 10;
/// Most violations that are told of one part of one item.
const MAX_TOLD: usize = 3;

/// One schema, ready to use.
struct Part {
    name: &'static str,
    validator: jsonschema::Validator,
    is_strict: bool,
}

/// The schemas of a version.
#[derive(Default)]
pub struct Schemas(Vec<Part>);

/// What does not match.
#[derive(Debug, Default)]
pub struct Violations {
    /// Of strict schemas.
    pub strict: Vec<Fault>,
    /// Of those that only warn.
    pub warnings: Vec<Fault>,
}

impl Schemas {
    /// Of texts as `datasets` keeps them.
    ///
    /// # Errors
    /// What is wrong with each.
    pub fn of(texts: &[Option<String>; 3]) -> Result<Self, Vec<Fault>> {
        let (mut all, mut faults) = (Vec::new(), Vec::new());
        for (name, text) in PARTS.into_iter().zip(texts) {
            match text.as_deref().map(|text| part(name, text)).transpose() {
                Ok(part) => all.extend(part),
                Err(why) => faults.push(Fault::new(why).at(&format!("{name}_schema"))),
            }
        }
        if faults.is_empty() { Ok(Self(all)) } else { Err(faults) }
    }

    /// Those of a version that is stored.
    ///
    /// # Errors
    /// [`LabError::Broken`] where one cannot be read any more.
    pub fn of_head(head: &Head) -> Result<Self, LabError> {
        let texts = head.schemas().map(|schema| schema.map(ToString::to_string));
        Self::of(&texts).map_err(|faults| {
            let why: Vec<String> = faults.into_iter().map(|fault| fault.message).collect();
            LabError::Broken(format!("a schema of {:?}: {}", head.name, why.join("; ")))
        })
    }

    /// Adds what of an item at `place` does not match; whether it matches all strict ones.
    pub fn check(&self, place: Place, item: &ItemRow, to: &mut Violations) -> bool {
        let mut matches = true;
        for part in &self.0 {
            let text = match part.name {
                "input" => &item.input,
                "expected" => &item.expected,
                _ => &item.metadata,
            };
            let value: Value =
                text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            // An item without metadata has none that could be wrong.
            if value.is_null() && part.name != "input" {
                continue;
            }
            let told = if part.is_strict { &mut to.strict } else { &mut to.warnings };
            for error in part.validator.iter_errors(&value).take(MAX_TOLD) {
                matches &= !part.is_strict;
                if told.len() < MAX_FAULTS {
                    let column = format!("{}{}", part.name, error.instance_path());
                    let why = format!("{error} (rule {})", error.schema_path());
                    told.push(Fault::new(why).at(&column).on(place));
                }
            }
        }
        matches
    }
}

/// The items that match the strict schemas of a version, and what does not match.
///
/// # Errors
/// [`LabError::Broken`] where a schema cannot be read any more.
pub fn matching(head: &Head, put: Vec<(Place, ItemRow)>) -> Result<(Vec<ItemRow>, Violations), LabError> {
    let (schemas, mut told) = (Schemas::of_head(head)?, Violations::default());
    let fits = |(place, row): &(Place, ItemRow)| schemas.check(*place, row, &mut told);
    let (good, _): (Vec<_>, Vec<_>) = put.into_iter().partition(fits);
    Ok((good.into_iter().map(|(_, row)| row).collect(), told))
}

/// Puts what the schemas of input, expected answer and metadata say in the place of texts that are numbers, or true or false.
/// Any other text stays as it is, and is a violation of theirs.
pub fn typed(item: &mut Item, [input, expected, metadata]: [Option<&Value>; 3]) {
    for (value, schema) in [(&mut item.input, input), (&mut item.expected, expected)] {
        if let (Some(value), Some(schema)) = (value.as_mut(), schema) {
            read_as(value, schema);
        }
    }
    if let (Some(fields), Some(schema)) = (item.metadata.as_mut(), metadata) {
        read_members(fields, schema);
    }
}

fn read_members(fields: &mut Map<String, Value>, schema: &Value) {
    for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(value) = fields.get_mut(name) {
            read_as(value, schema);
        }
    }
}

fn read_as(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(fields) => read_members(fields, schema),
        Value::String(text) => {
            if let Some(read) = read_text(text.trim(), &schema["type"]) {
                *value = read;
            }
        }
        _ => {}
    }
}

/// The number, or true or false, that a text is where `kinds`, a type or a list of them, has no text.
fn read_text(text: &str, kinds: &Value) -> Option<Value> {
    let has =
        |kind: &str| kinds == kind || kinds.as_array().is_some_and(|kinds| kinds.iter().any(|k| k == kind));
    if has("string") {
        return None;
    }
    // Spreadsheets write them in capitals.
    if has("boolean") && ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(Value::Bool(text.eq_ignore_ascii_case("true")));
    }
    let number = serde_json::from_str(text).ok().filter(Value::is_number);
    number.filter(|_| has("number") || has("integer"))
}

fn part(name: &'static str, text: &str) -> Result<Part, String> {
    if text.len() > MAX_SCHEMA {
        return Err(format!("the schema has {} bytes, at most {MAX_SCHEMA}", text.len()));
    }
    let json: Value = serde_json::from_str(text).map_err(|e| format!("the schema is no JSON: {e}"))?;
    let is_strict = match json.get(MODE) {
        None => true,
        Some(mode) if mode == "strict" => true,
        Some(mode) if mode == "warn" => false,
        Some(other) => return Err(format!("{MODE} is {other}; it may be strict or warn")),
    };
    let validator = jsonschema::validator_for(&json).map_err(|e| format!("the schema is wrong: {e}"))?;
    Ok(Part { name, validator, is_strict })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schemas(input: Value, metadata: Value) -> Result<Schemas, Vec<Fault>> {
        Schemas::of(&[Some(input.to_string()), None, Some(metadata.to_string())])
    }

    #[test]
    fn violations_name_item_pointer_and_rule() {
        let asked = json!({"type": "object", "required": ["question"], "properties": {"question": {"type": "string", "minLength": 3}}});
        let known = json!({"properties": {"n": {"type": "integer"}}, "x-mode": "warn"});
        let schemas = schemas(asked, known).unwrap();
        let item = |input: Value, metadata: Option<Value>| ItemRow {
            input: Some(input.to_string()),
            metadata: metadata.map(|metadata| metadata.to_string()),
            ..ItemRow::default()
        };
        let mut told = Violations::default();
        assert!(schemas.check(Place::item(1), &item(json!({"question": "Where?"}), None), &mut told));
        assert!(!schemas.check(Place::item(2), &item(json!({"question": "?"}), None), &mut told));
        assert!(schemas.check(
            Place::item(3),
            &item(json!({"question": "Who?"}), Some(json!({"n": "x"}))),
            &mut told
        ));
        assert!(!schemas.check(Place::item(4), &item(json!("Where?"), None), &mut told));
        let places: Vec<_> = told.strict.iter().map(|f| (f.item, f.column.as_deref().unwrap())).collect();
        assert_eq!(places, [(Some(2), "input/question"), (Some(4), "input")]);
        assert!(told.strict[0].message.contains("minLength"), "{:?}", told.strict);
        let [warned] = told.warnings.as_slice() else { panic!("{told:?}") };
        assert_eq!((warned.item, warned.column.as_deref()), (Some(3), Some("metadata/n")));
    }

    #[test]
    fn a_schema_that_is_wrong_is_told_by_its_name() {
        let wrong = schemas(json!({"type": "oject"}), json!({"x-mode": "perhaps"})).err().unwrap();
        let columns: Vec<_> = wrong.iter().map(|fault| fault.column.as_deref().unwrap()).collect();
        assert_eq!(columns, ["input_schema", "metadata_schema"]);
        assert!(wrong[1].message.contains("strict or warn"), "{wrong:?}");
        let elsewhere = schemas(json!({"$ref": "http://127.0.0.1:9/x.json"}), json!({})).err().unwrap();
        assert!(elsewhere[0].message.contains("the schema is wrong"), "{elsewhere:?}");
    }

    #[test]
    fn null_takes_a_schema_away_and_silence_keeps_it() {
        let edit = |text: &str| serde_json::from_str::<super::super::change::Edit>(text).unwrap();
        assert!(!edit(r#"{"labels": []}"#).has_schema());
        let taken = edit(r#"{"input_schema": null}"#);
        assert!(taken.has_schema() && taken.input_schema == Some(Value::Null));
        assert!(serde_json::from_str::<super::super::change::Edit>(r#"{"imput_schema": {}}"#).is_err());
    }
}
