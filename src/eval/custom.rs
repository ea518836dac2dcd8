//! Judges' questions of the user's own: `[[eval.custom]]`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a question of the user's own is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CustomKind {
    /// The answer: one rating, `custom_answer/<name>`.
    Answer,
    /// Each retrieved chunk: a rating a chunk and their share, `custom_retrieval/<name>`.
    Retrieval,
    /// Anything: true or false, and where a failure comes from, `byop/<name>`, or `byop` without a name.
    Byop,
}

/// One question of the user's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomConfig {
    /// The second part of its id: letters, digits, `_` and `-`.
    #[serde(default)]
    pub name: String,
    /// What it is about.
    pub kind: CustomKind,
    /// What the judge is asked, with placeholders such as `{{answer}}`; a yes is good.
    #[serde(default)]
    pub prompt: String,
    /// A file with it.
    #[serde(default)]
    pub prompt_file: PathBuf,
    /// The name of the judge; the first one if empty.
    #[serde(default)]
    pub judge: String,
}

impl CustomConfig {
    /// The evaluator's id.
    pub fn id(&self) -> String {
        match self.kind {
            CustomKind::Answer => format!("custom_answer/{}", self.name),
            CustomKind::Retrieval => format!("custom_retrieval/{}", self.name),
            CustomKind::Byop if self.name.is_empty() => "byop".to_owned(),
            CustomKind::Byop => format!("byop/{}", self.name),
        }
    }

    /// Every fault but those of the prompt's placeholders.
    pub fn faults(&self, at: usize, faults: &mut Vec<String>) {
        let mut add = |what: &str| faults.push(format!("eval.custom[{at}] {:?}: {what}", self.name));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let may_be_empty = self.kind == CustomKind::Byop;
        if self.name.is_empty() && !may_be_empty || !self.name.chars().all(is_plain) {
            add("name has letters, digits, _ and - only, one of them at least");
        }
        if self.prompt.trim().is_empty() == self.prompt_file.as_os_str().is_empty() {
            add("set prompt or prompt_file, one of them");
        }
    }
}

/// A text that holds no placeholder: what others write into a prompt asks for none of its texts.
pub fn without_placeholders(text: &str) -> String {
    let mut plain = text.to_owned();
    // Three braces in a row leave two.
    while plain.contains("{{") {
        plain = plain.replace("{{", "{ {");
    }
    plain
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_brace_stands_beside_another() {
        for (text, plain) in [("{{answer}}", "{ {answer}}"), ("{{{{{x", "{ { { { {x"), ("{x}", "{x}")] {
            assert_eq!(super::without_placeholders(text), plain);
        }
    }
}
