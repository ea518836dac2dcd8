//! Lists that were flattened into keys: `llm.input_messages.10.message.role`.

use super::fields::Fields;
use crate::domain::value::Value;
use std::collections::BTreeMap;

impl<'a> Fields<'a> {
    /// The elements of the list under `prefix` (with its dot), by number: 10 comes after 9 and gaps are closed.
    /// Each element's keys are relative to it; an element that is itself a value has the empty key.
    pub(super) fn elements(&self, prefix: &str) -> Vec<Fields<'a>> {
        let mut elements: BTreeMap<u32, Vec<(&'a str, &'a Value)>> = BTreeMap::new();
        for (key, value) in self.under(prefix) {
            let rest = &key[prefix.len()..];
            let (index, inner) = rest.split_once('.').unwrap_or((rest, ""));
            if let Ok(index) = index.parse() {
                elements.entry(index).or_default().push((inner, *value));
            }
        }
        elements.into_values().map(Fields::from_pairs).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::value::Attrs;

    #[test]
    fn elements_are_in_the_order_of_their_numbers() {
        let keys = ["m.10.a", "m.9.a", "m.2.b.0", "m.x.a", "other"];
        let attrs = Attrs(keys.iter().map(|key| ((*key).to_owned(), Value::Str((*key).into()))).collect());
        let fields = Fields::new(&attrs);
        let elements = fields.elements("m.");
        assert_eq!(elements.len(), 3);
        assert_eq!(elements[0].elements("b.")[0].text(""), Some("m.2.b.0"));
        assert_eq!(elements[1].text("a"), Some("m.9.a"));
        assert_eq!(elements[2].text("a"), Some("m.10.a"));
    }
}
