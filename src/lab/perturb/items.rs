//! Items of a dataset, changed.

use super::method::{Intensity, Method};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// Keys of an input under which what is asked stands, in this order.
const ASKED: &[&str] = &["question", "input", "query", "prompt", "text", "content"];

/// What is done to each item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The change.
    pub method: Method,
    /// How much of it.
    pub intensity: Intensity,
}

/// A text that a judge wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writing {
    /// The text.
    pub text: String,
    /// The model that wrote it.
    pub model: String,
}

/// Texts that a judge wrote, by the place of the item and the change.
pub type Writings = HashMap<(usize, Wanted), Writing>;

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.method.name(), self.intensity.name())
    }
}

impl FromStr for Wanted {
    type Err = String;

    /// `method`, or `method@intensity`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (method, intensity) = match text.split_once('@') {
            Some((method, intensity)) => (method, intensity.trim().parse()?),
            None => (text, Intensity::default()),
        };
        Ok(Self { method: method.trim().parse()?, intensity })
    }
}

/// The items as they are, and each once for every change in `wanted`, and once as a copy. A changed item has
/// `metadata.perturbation` with its source, and belongs to its source's group: both are one draw. An item whose input has no
/// text, or in which nothing could be changed, has no changed one; nor has one that a judge should write and that is not in
/// `written`.
pub fn perturbed(
    items: &[Map<String, Value>],
    wanted: &[Wanted],
    seed: u64,
    written: &Writings,
) -> Vec<Map<String, Value>> {
    let copy = Wanted { method: Method::Copy, intensity: Intensity::default() };
    let others = wanted.iter().copied().filter(|one| one.method != Method::Copy);
    let all: Vec<Wanted> = std::iter::once(copy).chain(others).collect();
    let mut made = Vec::with_capacity(items.len() * (all.len() + 1));
    for (at, item) in items.iter().enumerate() {
        let name = |key: &str| item.get(key).and_then(Value::as_str);
        let Some(source) = name("external_id").or_else(|| name("item_id")) else { continue };
        let mut own = item.clone();
        ["item_id", "content_hash", "ordinal"].iter().for_each(|key| drop(own.shift_remove(*key)));
        own.insert("external_id".to_owned(), source.into());
        own.entry("group_id").or_insert_with(|| source.into());
        made.push(own.clone());
        made.extend(
            all.iter().filter_map(|one| changed(&own, source, (*one, seed), written.get(&(at, *one)))),
        );
    }
    made
}

fn changed(
    item: &Map<String, Value>,
    source: &str,
    (wanted, seed): (Wanted, u64),
    written: Option<&Writing>,
) -> Option<Map<String, Value>> {
    let Wanted { method, intensity } = wanted;
    let input = item.get("input")?;
    let new = match written {
        Some(written) => with_text(input, &|_| written.text.clone())?,
        None if method.asks_judge() => return None,
        None => with_text(input, &|text| method.apply(text, intensity, seed))?,
    };
    if new == *input && method != Method::Copy {
        return None;
    }
    let mut changed = item.clone();
    changed.insert("input".to_owned(), new);
    changed.insert("external_id".to_owned(), format!("{source}~{wanted}").into());
    let metadata = changed.entry("metadata").or_insert_with(|| json!({})).as_object_mut()?;
    let mut told =
        json!({"source": source, "method": method.name(), "intensity": intensity.name(), "seed": seed});
    if let Some(written) = written {
        told["model"] = written.model.as_str().into();
    }
    metadata.insert("perturbation".to_owned(), told);
    // As H2O Eval Studio tells it.
    let relation = json!({"type": "perturbation_source", "target": source, "target_type": "test_case"});
    let others = metadata.get("relationships").and_then(Value::as_array).cloned().unwrap_or_default();
    metadata.insert("relationships".to_owned(), others.into_iter().chain([relation]).collect());
    Some(changed)
}

/// The text that is asked; none where the input has none.
pub(super) fn asked_of(input: &Value) -> Option<String> {
    let found = RefCell::new(None);
    with_text(input, &|text| {
        *found.borrow_mut() = Some(text.to_owned());
        String::new()
    })?;
    found.into_inner()
}

/// The input with the text that is asked changed; none where it has none.
fn with_text(input: &Value, change: &dyn Fn(&str) -> String) -> Option<Value> {
    match input {
        Value::String(text) => Some(change(text).into()),
        Value::Array(messages) => {
            let at = messages.iter().rposition(|message| message["content"].is_string())?;
            let mut messages = messages.clone();
            messages[at]["content"] = change(messages[at]["content"].as_str()?).into();
            Some(messages.into())
        }
        Value::Object(fields) => {
            if fields.get("messages").is_some_and(Value::is_array) {
                let mut fields = fields.clone();
                let messages = with_text(&fields["messages"], change)?;
                fields.insert("messages".to_owned(), messages);
                return Some(fields.into());
            }
            let named = ASKED.iter().copied().find(|key| fields.get(*key).is_some_and(Value::is_string));
            let key = named.or_else(|| {
                let mut texts = fields.iter().filter(|(_, value)| value.is_string());
                texts.next().filter(|_| texts.next().is_none()).map(|(key, _)| key.as_str())
            })?;
            let mut new = fields.clone();
            new.insert(key.to_owned(), change(fields[key].as_str()?).into());
            Some(new.into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_a_copy_and_its_changed_ones() {
        let items = json!([
            {"item_id": "i1", "external_id": "a", "input": {"question": "Where is it?", "lang": "en"}, "expected": "There.", "metadata": {"k": 1}},
            {"item_id": "i2", "input": {"messages": [{"role": "user", "content": "When?"}]}},
            {"item_id": "i3", "input": {"n": 1}},
        ]);
        let items: Vec<Map<String, Value>> = serde_json::from_value(items).unwrap();
        let wanted = [Wanted::from_str("typo@high").unwrap(), Wanted::from_str("copy").unwrap()];
        let made = perturbed(&items, &wanted, 1, &Writings::new());
        let names: Vec<&str> = made.iter().map(|item| item["external_id"].as_str().unwrap()).collect();
        let wanted_names = [
            "a",
            "a~copy@medium",
            "a~keyboard_typos@high",
            "i2",
            "i2~copy@medium",
            "i2~keyboard_typos@high",
            "i3",
        ];
        assert_eq!(names, wanted_names);
        assert_eq!(made[1]["input"], made[0]["input"]);
        assert_ne!(made[2]["input"]["question"], made[0]["input"]["question"]);
        assert_eq!((&made[2]["input"]["lang"], &made[2]["expected"]), (&json!("en"), &json!("There.")));
        let told = json!({"k": 1, "perturbation": {"source": "a", "method": "keyboard_typos", "intensity": "high", "seed": 1},
            "relationships": [{"type": "perturbation_source", "target": "a", "target_type": "test_case"}]});
        assert_eq!((&made[2]["metadata"], &made[2]["group_id"]), (&told, &json!("a")));
        assert_ne!(made[5]["input"]["messages"][0]["content"], "When?");
        assert_eq!(perturbed(&items, &wanted, 1, &Writings::new()), made);
        // What nobody wrote is not there.
        let synonym = Wanted::from_str("synonym").unwrap();
        let writing = Writing { text: "Where does it stand?".to_owned(), model: "m".to_owned() };
        let made = perturbed(&items, &[synonym], 1, &Writings::from([((0, synonym), writing)]));
        let written: Vec<&Map<String, Value>> = made
            .iter()
            .filter(|item| item.get("metadata").is_some_and(|m| m["perturbation"]["method"] == "synonym"))
            .collect();
        let [one] = written.as_slice() else { panic!("{made:?}") };
        assert_eq!(
            (&one["external_id"], &one["input"]["question"]),
            (&json!("a~synonym@medium"), &json!("Where does it stand?"))
        );
        assert_eq!(one["metadata"]["perturbation"]["model"], "m");
        assert_eq!(asked_of(&items[1]["input"]).as_deref(), Some("When?"));
        assert_eq!(asked_of(&items[2]["input"]), None);
    }
}
