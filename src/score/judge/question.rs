//! What a judge is asked.

use serde_json::{Value as Json, json};

/// One question.
#[derive(Debug, Clone, Copy)]
pub(super) enum Question<'a> {
    /// For a verdict, as chat.
    Verdict {
        /// Who the judge is, what is asked, and how it answers.
        system: &'a str,
        /// The text under evaluation, between its delimiters.
        user: &'a str,
        /// The JSON schema of the answer.
        schema: &'a Schema,
    },
    /// For how likely a text is to the model.
    Likelihood(Likelihood<'a>),
}

/// How a server is asked to hold its answer to the schema, the best way first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// `json_schema`, as OpenAI has it.
    #[default]
    JsonSchema,
    /// `json_object` with the schema beside it, as servers have it that knew grammars before.
    JsonObject,
    /// Not at all: the schema stands in the prompt alone.
    Text,
}

impl Format {
    /// What is tried where a server refuses this one.
    pub(super) fn next(self) -> Option<Self> {
        match self {
            Format::JsonSchema => Some(Format::JsonObject),
            Format::JsonObject => Some(Format::Text),
            Format::Text => None,
        }
    }
}

/// The JSON schema of an answer, written down once for all requests.
#[derive(Debug)]
pub(super) struct Schema {
    text: String,
    strict: String,
    object: String,
}

impl Schema {
    /// `schema` under a name that servers take: letters, digits, `_` and `-`.
    pub(super) fn new(name: &str, schema: &Json) -> Self {
        let strict = json!({"name": name, "strict": true, "schema": schema});
        Self {
            text: schema.to_string(),
            strict: json!({"type": "json_schema", "json_schema": strict}).to_string(),
            object: json!({"type": "json_object", "schema": schema}).to_string(),
        }
    }

    /// The schema itself, as it stands in prompts.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The member `response_format` of a request; none without.
    pub(super) fn member(&self, format: Format) -> Option<&str> {
        match format {
            Format::JsonSchema => Some(&self.strict),
            Format::JsonObject => Some(&self.object),
            Format::Text => None,
        }
    }
}

/// The text whose likelihood is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Likelihood<'a> {
    /// `text` behind `prompt`: the server repeats both with the log-probability of each token. `before` stands in front of both,
    /// and whether the server repeats that as a token is its affair.
    Echo { before: &'a str, prompt: &'a str, text: &'a str },
    /// "Yes" as the answer to `prompt`: the server tells the likeliest first tokens of a chat's answer.
    Yes { prompt: &'a str },
}

impl Likelihood<'_> {
    /// Bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Likelihood::Echo { before, prompt, text } => before.len() + prompt.len() + text.len(),
            Likelihood::Yes { prompt } => prompt.len(),
        }
    }
}
