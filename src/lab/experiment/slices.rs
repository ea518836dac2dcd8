//! Parts of a dataset: by tag, split, category, or any key of the metadata.

use crate::schema::batch::ItemRow;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// Most dimensions of one request.
const MAX_DIMENSIONS: usize = 8;
/// Most slices that are looked at; those with the most items of each dimension come first.
const MAX_SLICES: usize = 200;
/// Items that are looked at for what they can be parted by.
const MAX_LOOKED: usize = 1_000;
/// Most keys of the metadata that are told.
const MAX_KEYS: usize = 50;
/// How deep keys of the metadata are looked for.
const MAX_DEPTH: usize = 4;
/// A slice of fewer items says nothing about itself.
const MIN_ITEMS: usize = 2;

/// What items are parted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dimension {
    /// Each of an item's tags; an item with several is in several slices.
    Tag,
    /// The split.
    Split,
    /// A key of the metadata; dots lead into objects, and an item with a list is in several slices.
    Metadata(String),
}

impl FromStr for Dimension {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("metadata.")) {
            ("tag" | "tags", _) => Ok(Self::Tag),
            ("split", _) => Ok(Self::Split),
            ("category", _) => Ok(Self::Metadata(text.to_owned())),
            (_, Some(key)) if !key.is_empty() => Ok(Self::Metadata(key.to_owned())),
            _ => Err(format!("slice is {text:?}; it may be tag, split, category or metadata.KEY")),
        }
    }
}

impl Dimension {
    /// Those of a list with commas; none for none.
    ///
    /// # Errors
    /// What is no dimension, or that there are too many.
    pub fn list(text: Option<&str>) -> Result<Vec<Self>, String> {
        let names =
            text.into_iter().flat_map(|text| text.split(',')).map(str::trim).filter(|n| !n.is_empty());
        let all = names.map(str::parse).collect::<Result<Vec<Self>, String>>()?;
        match all.len() <= MAX_DIMENSIONS {
            true => Ok(all),
            false => Err(format!("slice names {} dimensions, at most {MAX_DIMENSIONS}", all.len())),
        }
    }

    /// As a request spells it.
    fn name(&self) -> String {
        match self {
            Self::Tag => "tag".to_owned(),
            Self::Split => "split".to_owned(),
            Self::Metadata(key) if key == "category" => key.clone(),
            Self::Metadata(key) => format!("metadata.{key}"),
        }
    }

    fn values(&self, item: &ItemRow) -> BTreeSet<String> {
        match self {
            Self::Tag => item.tags.iter().cloned().collect(),
            Self::Split => item.split.iter().cloned().collect(),
            Self::Metadata(key) => {
                let metadata = item.metadata.as_deref().and_then(|text| serde_json::from_str(text).ok());
                let found = metadata.as_ref().and_then(|metadata: &Value| {
                    metadata.get(key).or_else(|| key.split('.').try_fold(metadata, |of, part| of.get(part)))
                });
                match found {
                    Some(Value::Array(values)) => values.iter().filter_map(word).collect(),
                    other => other.and_then(word).into_iter().collect(),
                }
            }
        }
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The items with one value of a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice<'a> {
    /// The dimension.
    pub by: String,
    /// The value.
    pub value: String,
    /// The items by their ids.
    pub items: BTreeSet<&'a str>,
}

/// The slices of `items` with two items and more, and how many there were beyond 200.
pub fn slices<'a>(
    items: impl Iterator<Item = &'a ItemRow> + Clone,
    dimensions: &[Dimension],
) -> (Vec<Slice<'a>>, usize) {
    let mut all = Vec::new();
    for dimension in dimensions {
        let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for item in items.clone() {
            for value in dimension.values(item) {
                found.entry(value).or_default().insert(&item.item_id);
            }
        }
        let mut of_it: Vec<Slice<'a>> = found
            .into_iter()
            .filter(|(_, items)| items.len() >= MIN_ITEMS)
            .map(|(value, items)| Slice { by: dimension.name(), value, items })
            .collect();
        of_it.sort_by(|a, b| b.items.len().cmp(&a.items.len()).then_with(|| a.value.cmp(&b.value)));
        all.extend(of_it);
    }
    let beyond = all.len().saturating_sub(MAX_SLICES);
    all.truncate(MAX_SLICES);
    (all, beyond)
}

/// What the first thousand of `items` can be parted by, as a request spells it: tag, split and category where they have them, then
/// up to fifty keys of their metadata.
pub fn known<'a>(items: impl Iterator<Item = &'a ItemRow> + Clone) -> Vec<String> {
    let items = items.take(MAX_LOOKED);
    let mut keys = BTreeSet::new();
    for metadata in items.clone().filter_map(|item| item.metadata.as_deref()) {
        if let Ok(Value::Object(fields)) = serde_json::from_str(metadata) {
            named("", &fields, MAX_DEPTH, &mut keys);
        }
    }
    let has_category = keys.remove("category");
    let own = [
        ("tag", items.clone().any(|item| !item.tags.is_empty())),
        ("split", items.clone().any(|item| item.split.is_some())),
        ("category", has_category),
    ];
    let own = own.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned());
    own.chain(keys.into_iter().take(MAX_KEYS).map(|key| format!("metadata.{key}"))).collect()
}

/// The keys of `fields` that have a word or a list of them, with dots into objects; a comma would end one in a request.
fn named(prefix: &str, fields: &Map<String, Value>, depth: usize, to: &mut BTreeSet<String>) {
    for (key, value) in fields.iter().filter(|(key, _)| !key.contains(',') && key.trim() == *key) {
        let key = format!("{prefix}{key}");
        match value {
            Value::Object(inner) if depth > 1 => named(&format!("{key}."), inner, depth - 1, to),
            Value::Array(values) if values.iter().any(|value| word(value).is_some()) => {
                to.insert(key);
            }
            other if word(other).is_some() => {
                to.insert(key);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, tags: &[&str], split: &str, metadata: &str) -> ItemRow {
        ItemRow {
            item_id: id.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            split: Some(split.to_owned()),
            metadata: Some(metadata.to_owned()),
            ..ItemRow::default()
        }
    }

    #[test]
    fn items_are_parted_by_each_value_and_lone_ones_left_out() {
        let items = [
            item("a", &["x", "y"], "test", r#"{"category": "law", "who": {"age": 7}, "of": ["p", "q"]}"#),
            item("b", &["x"], "test", r#"{"category": "law", "who": {"age": 7}, "of": ["p"]}"#),
            item("c", &["y"], "train", r#"{"category": "tax", "who": {"age": 8}}"#),
            item("d", &["x"], "test", "no JSON"),
        ];
        let of = |text: &str| {
            let (found, beyond) = slices(items.iter(), &Dimension::list(Some(text)).unwrap());
            assert_eq!(beyond, 0);
            found
                .into_iter()
                .map(|slice| format!("{}={}:{}", slice.by, slice.value, Vec::from_iter(slice.items).concat()))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("tag, split"), ["tag=x:abd", "tag=y:ac", "split=test:abd"]);
        assert_eq!(of("category"), ["category=law:ab"]);
        assert_eq!(of("metadata.who.age,metadata.of"), ["metadata.who.age=7:ab", "metadata.of=p:ab"]);
        assert!(of("").is_empty());
        let told = known(items.iter());
        assert_eq!(told, ["tag", "split", "category", "metadata.of", "metadata.who.age"]);
        // Each of them is one that a request may name.
        assert_eq!(Dimension::list(Some(&told.join(","))).unwrap().len(), 5);
        let odd = [item("a", &[], "", r#"{"a,b": 1, " c": 1, "d": null, "e": [[]], "f": {}}"#)];
        assert_eq!(known(odd.iter()), ["split"]);
        assert!(
            Dimension::list(Some("colour")).unwrap_err().contains("tag, split, category or metadata.KEY")
        );
        assert!(
            Dimension::list(Some("metadata.")).is_err() && Dimension::list(Some(&"tag,".repeat(9))).is_err()
        );
    }

    #[test]
    fn the_slices_with_the_most_items_are_kept() {
        let metadata = |at: usize| format!("{{\"k\": {}}}", at % 250);
        let items: Vec<ItemRow> = (0..501).map(|at| item(&at.to_string(), &[], "s", &metadata(at))).collect();
        let (found, beyond) = slices(items.iter(), &[Dimension::Metadata("k".to_owned())]);
        assert_eq!((found.len(), beyond, found[0].items.len()), (200, 50, 3));
    }
}
