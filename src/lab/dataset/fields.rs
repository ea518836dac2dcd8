//! The fields of a line or row, by the names that files use: ours, and those of other systems where they say the same.
//!
//! What has no name here goes into `input` if nothing else does, and into `metadata` otherwise: nothing of a file is lost.

use super::super::error::Fault;
use super::foreign;
use super::item::Item;
use serde_json::{Map, Value, json};
use std::str::FromStr;

/// Other names of our fields, as files have them. The first that is there counts.
const ALIASES: &[(&str, &[&str])] = &[
    (
        "expected",
        &["expected", "expected output", "expected_output", "expectedOutput", "ideal", "right_answer"],
    ),
    ("external_id", &["external_id", "externalId", "id"]),
    ("contexts", &["contexts", "context", "retrieved_context"]),
    ("source_trace_id", &["source_trace_id", "sourceTraceId", "trace_id"]),
    ("source_span_id", &["source_span_id", "sourceObservationId", "span_id"]),
    ("group_id", &["group_id", "session_id"]),
    ("split", &["split", "splits"]),
];

/// Fields that have one name.
const PLAIN: &[&str] =
    &["item_id", "input", "metadata", "constraints", "tags", "weight", "inclusion_probability"];

/// What our own export adds, which an import makes anew.
const MADE: &[&str] =
    &["content_hash", "ordinal", "version", "created_at", "created_by", "op", "tenant", "dataset_id"];

/// Which columns make which field: `input=question,history;expected=answer`; and which lines make an item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    columns: Vec<(String, Vec<String>)>,
    takes_archived: bool,
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Vec::new();
        for part in text.split(';').filter(|part| !part.trim().is_empty()) {
            let wrong = || format!("{part:?} is no mapping; write input=column or input=column1,column2");
            let (field, columns) = part.split_once('=').ok_or_else(wrong)?;
            let field = field.trim();
            if !PLAIN.contains(&field) && ALIASES.iter().all(|(name, _)| *name != field) {
                let names: Vec<&str> = PLAIN.iter().copied().chain(ALIASES.iter().map(|a| a.0)).collect();
                return Err(format!("{field:?} is no field of an item; there are {}", names.join(", ")));
            }
            let columns: Vec<String> = columns.split(',').map(|c| c.trim().to_owned()).collect();
            if columns.iter().any(String::is_empty) {
                return Err(wrong());
            }
            all.push((field.to_owned(), columns));
        }
        Ok(Self { columns: all, takes_archived: false })
    }
}

impl Mapping {
    /// The same; items that their system has archived are taken, too, if `takes_archived`.
    #[must_use]
    pub fn with_archived(self, takes_archived: bool) -> Self {
        Self { takes_archived, ..self }
    }

    /// Whether it makes a field of this column.
    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|(_, columns)| columns.iter().any(|known| known == column))
    }
}

/// The item that the fields of a line make; none for one that its system has archived, unless the mapping takes those.
///
/// # Errors
/// Everything that is wrong with the line.
pub fn item(fields: Map<String, Value>, mapping: &Mapping) -> Result<Option<Item>, Vec<Fault>> {
    let mut fields = if mapping.columns.is_empty() { foreign::ours(fields) } else { fields };
    let status = fields.get("status").and_then(Value::as_str);
    if !mapping.takes_archived && status.is_some_and(|status| status.eq_ignore_ascii_case("archived")) {
        return Ok(None);
    }
    let mut named = mapped(&mut fields, mapping)?;
    for (name, aliases) in ALIASES {
        let found = aliases.iter().find(|alias| fields.get(**alias).is_some_and(|value| !is_empty(value)));
        if let Some(alias) = found.filter(|_| !named.contains_key(*name)) {
            let value = fields.shift_remove(*alias).unwrap_or_default();
            let value = if *alias == "ideal" { any_of(value) } else { value };
            named.insert((*name).to_owned(), value);
        }
    }
    for name in PLAIN {
        if let Some(value) = fields.shift_remove(*name).filter(|value| !is_empty(value))
            && !named.contains_key(*name)
        {
            named.insert((*name).to_owned(), value);
        }
    }
    MADE.iter().for_each(|name| drop(fields.shift_remove(*name)));
    fields.retain(|_, value| !is_empty(value));
    if !named.contains_key("input")
        && let Some(messages) = fields.shift_remove("messages")
    {
        conversation(messages, &mut named);
    }
    if !named.contains_key("input") && !fields.is_empty() {
        named.insert("input".to_owned(), Value::Object(std::mem::take(&mut fields)));
    }
    typed(named, fields).map(Some)
}

/// What the mapping takes out of `fields`: one column as it is, several as an object.
fn mapped(fields: &mut Map<String, Value>, mapping: &Mapping) -> Result<Map<String, Value>, Vec<Fault>> {
    let (mut named, mut faults) = (Map::new(), Vec::new());
    for (field, columns) in &mapping.columns {
        let mut object = Map::new();
        for column in columns {
            match fields.get(column) {
                Some(value) => drop(object.insert(column.clone(), value.clone())),
                None => faults.push(Fault::new("the mapping names it and it is not there").at(column)),
            }
        }
        let value = match (columns.as_slice(), object.len()) {
            ([_], 1) => object.into_iter().next().map(|(_, value)| value).unwrap_or_default(),
            _ => Value::Object(object),
        };
        named.insert(field.clone(), value);
    }
    for column in mapping.columns.iter().flat_map(|(_, columns)| columns) {
        fields.shift_remove(column);
    }
    if faults.is_empty() { Ok(named) } else { Err(faults) }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

/// Several right answers are a set of which one must be met.
fn any_of(value: Value) -> Value {
    match value {
        Value::Array(answers) => json!({ "any_of": answers }),
        other => other,
    }
}

/// A conversation of fine-tuning: what the assistant says last is expected, what stands before it is asked.
fn conversation(messages: Value, named: &mut Map<String, Value>) {
    let Value::Array(mut messages) = messages else {
        named.insert("input".to_owned(), json!({ "messages": messages }));
        return;
    };
    let is_answer = messages.last().is_some_and(|message| message["role"] == "assistant");
    if is_answer
        && !named.contains_key("expected")
        && let Some(last) = messages.pop()
    {
        named.insert("expected".to_owned(), last["content"].clone());
    }
    named.insert("input".to_owned(), json!({ "messages": messages }));
}

/// The item of the named fields; the `rest` joins the metadata.
fn typed(mut named: Map<String, Value>, rest: Map<String, Value>) -> Result<Item, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut take = |name: &str| named.remove(name);
    let mut item = Item { input: take("input"), expected: take("expected"), ..Item::default() };
    match take("metadata") {
        None => {}
        Some(Value::Object(fields)) => item.metadata = Some(fields),
        Some(_) => faults.push(Fault::new("it must be a JSON object").at("metadata")),
    }
    if !rest.is_empty() {
        let metadata = item.metadata.get_or_insert_default();
        for (key, value) in rest {
            metadata.entry(key).or_insert(value);
        }
    }
    for (name, to) in [("contexts", &mut item.contexts), ("constraints", &mut item.constraints)] {
        match take(name) {
            None => {}
            Some(Value::Array(values)) => *to = values,
            Some(one) => *to = vec![one],
        }
    }
    match take("tags") {
        None => {}
        Some(Value::Array(tags)) => item.tags = tags.iter().filter_map(word).collect(),
        Some(one) => item.tags = word(&one).into_iter().collect(),
    }
    for (name, to) in [
        ("item_id", &mut item.item_id),
        ("external_id", &mut item.external_id),
        ("group_id", &mut item.group_id),
        ("source_trace_id", &mut item.source_trace_id),
        ("source_span_id", &mut item.source_span_id),
        ("split", &mut item.split),
    ] {
        let value = take(name);
        *to = value.as_ref().and_then(word);
        if value.is_some() && to.is_none() {
            faults.push(Fault::new("it must be a text or a number").at(name));
        }
    }
    for (name, to) in
        [("weight", &mut item.weight), ("inclusion_probability", &mut item.inclusion_probability)]
    {
        let value = take(name);
        *to = value.as_ref().and_then(number);
        if value.is_some() && to.is_none() {
            faults.push(Fault::new("it must be a number").at(name));
        }
    }
    if faults.is_empty() { Ok(item) } else { Err(faults) }
}

/// A text, or a number as text; of a list the first.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(values) => values.first().and_then(word),
        _ => None,
    }
}

/// A number, or a text that is one.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: Value, mapping: &str) -> Item {
        let Value::Object(fields) = value else { panic!("an object") };
        item(fields, &mapping.parse().unwrap()).unwrap().unwrap()
    }

    #[test]
    fn the_names_of_other_systems_are_known() {
        let langfuse = of(
            json!({"id": 7, "input": "Where?", "expectedOutput": "There.", "sourceTraceId": "t",
            "status": "ACTIVE"}),
            "",
        );
        assert_eq!((langfuse.external_id.as_deref(), langfuse.expected), (Some("7"), Some(json!("There."))));
        assert_eq!(langfuse.source_trace_id.as_deref(), Some("t"));
        assert_eq!(langfuse.metadata.unwrap()["status"], "ACTIVE");
        let evals = of(json!({"input": [{"role": "user", "content": "2+2"}], "ideal": ["4", "four"]}), "");
        assert_eq!(evals.expected, Some(json!({"any_of": ["4", "four"]})));
        let tuning = of(
            json!({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]}),
            "",
        );
        assert_eq!(tuning.expected, Some(json!("Yes?")));
        assert_eq!(tuning.input, Some(json!({"messages": [{"role": "user", "content": "Hi"}]})));
    }

    #[test]
    fn what_was_archived_is_left_out_unless_it_is_wanted() {
        let Value::Object(fields) = json!({"input": "x", "status": "ARCHIVED"}) else { panic!("an object") };
        assert_eq!(item(fields.clone(), &Mapping::default()).unwrap(), None);
        // Who wants it has it, with what its system says of it.
        let taken = item(fields, &Mapping::default().with_archived(true)).unwrap().unwrap();
        assert_eq!(
            (taken.input, taken.metadata.map(Value::Object)),
            (Some(json!("x")), Some(json!({"status": "ARCHIVED"})))
        );
    }

    #[test]
    fn nothing_is_lost() {
        let free = of(json!({"question": "Where?", "history": [], "expected": "There."}), "");
        assert_eq!(free.input, Some(json!({"question": "Where?", "history": []})));
        let more = of(json!({"input": "Where?", "author": "us"}), "");
        assert_eq!(more.metadata.unwrap()["author"], "us");
    }

    #[test]
    fn a_mapping_makes_objects_of_columns() {
        let made = of(json!({"q": "Where?", "h": ["x"], "a": "There."}), "input=q,h; expected=a");
        assert_eq!(made.input, Some(json!({"q": "Where?", "h": ["x"]})));
        assert_eq!(made.expected, Some(json!("There.")));
        let Value::Object(fields) = json!({"q": "Where?"}) else { panic!("an object") };
        let faults = item(fields, &"input=question".parse().unwrap()).unwrap_err();
        assert_eq!(faults[0].column.as_deref(), Some("question"));
        for wrong in ["input", "nothing=a", "input=,"] {
            assert!(wrong.parse::<Mapping>().is_err(), "{wrong}");
        }
    }
}
