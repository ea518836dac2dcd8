//! A prompt with places for what an item has: `{{input.question}}`.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Place(Vec<String>),
}

impl Template {
    /// Reads the text of a prompt.
    ///
    /// # Errors
    /// A place that does not end, or that is neither `input` nor `contexts` nor `parameters`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, behind)) = rest.split_once("{{") {
            let (place, after) = behind.split_once("}}").ok_or("the prompt has {{ without }}")?;
            let path: Vec<String> = place.trim().split('.').map(str::to_owned).collect();
            if !["input", "contexts", "parameters"].contains(&path[0].as_str()) {
                return Err(format!(
                    "{{{{{place}}}}} is no place: it begins with input, contexts or parameters"
                ));
            }
            parts.extend([Part::Text(before.to_owned()), Part::Place(path)]);
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The hash of its text.
    pub fn sha256(&self) -> String {
        hex::encode(Sha256::digest(&self.text))
    }

    /// The messages for an item. `{{input}}` alone takes the messages that the item has.
    ///
    /// # Errors
    /// When the item lacks what a place names.
    pub fn messages(&self, todo: &Value) -> Result<Value, String> {
        if self.text.trim() == "{{input}}" {
            let input = &todo["input"];
            let given = if input.is_array() { input } else { &input["messages"] };
            if given.is_array() {
                return Ok(given.clone());
            }
            let asked = crate::lab::dataset::text_of(input).unwrap_or_else(|| input.to_string());
            return Ok(json!([{"role": "user", "content": asked}]));
        }
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Place(path) => {
                    let value = path.iter().try_fold(todo, |value, key| value.get(key.as_str()));
                    let value = value.ok_or_else(|| format!("the item has no {}", path.join(".")))?;
                    text.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
            }
        }
        Ok(json!([{"role": "user", "content": text}]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_missing_ones_told() {
        let template = Template::parse("Answer {{ input.question }} in {{parameters.words}} words.").unwrap();
        let todo = json!({"input": {"question": "Where?"}, "parameters": {"words": 5}});
        assert_eq!(template.messages(&todo).unwrap()[0]["content"], "Answer Where? in 5 words.");
        assert!(template.messages(&json!({"input": {}})).unwrap_err().contains("input.question"));
        assert!(Template::parse("{{input").is_err() && Template::parse("{{secret}}").is_err());
        let whole = Template::parse("{{input}}").unwrap();
        assert_eq!(
            whole.messages(&json!({"input": {"question": "Where?"}})).unwrap()[0]["content"],
            "Where?"
        );
        let chat = json!({"input": {"messages": [{"role": "system", "content": "s"}]}});
        assert_eq!(whole.messages(&chat).unwrap()[0]["role"], "system");
    }
}
