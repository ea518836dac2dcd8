//! What a judge is asked.

use serde_json::Value as Json;

/// One question.
#[derive(Debug, Clone, Copy)]
pub(super) enum Question<'a> {
    /// For a verdict, as chat.
    Verdict {
        /// Who the judge is, what is asked, and how it answers.
        system: &'a str,
        /// The text under evaluation, between its delimiters.
        user: &'a str,
        /// The name of the schema.
        name: &'a str,
        /// The JSON schema of the answer.
        schema: &'a Json,
    },
    /// For how likely a text is to the model.
    Likelihood(Likelihood<'a>),
}

/// The text whose likelihood is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Likelihood<'a> {
    /// `text` behind `prompt`: the server repeats both with the log-probability of each token.
    Echo { prompt: &'a str, text: &'a str },
    /// "Yes" as the answer to `prompt`: the server tells the likeliest first tokens of a chat's answer.
    Yes { prompt: &'a str },
}

impl Likelihood<'_> {
    /// Bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Likelihood::Echo { prompt, text } => prompt.len() + text.len(),
            Likelihood::Yes { prompt } => prompt.len(),
        }
    }
}
