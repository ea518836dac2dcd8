//! Prompt files with placeholders, filled with an input.

use super::delimit::Block;
use crate::domain::document::Document;
use crate::domain::trace::EvalInput;
use crate::eval::text::sentences;

/// More sentences are not judged one by one in one request.
pub(super) const MAX_ITEMS: usize = 300;

/// An input that a prompt may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Question,
    Answer,
    Expected,
    Context,
    History,
    SystemPrompt,
}

/// Every field: its placeholder, the name of its block, and what is said when it is not there.
const FIELDS: [(Field, &str, &str, &str); 6] = [
    (Field::Question, "question", "QUESTION", "question"),
    (Field::Answer, "answer", "ANSWER", "answer"),
    (Field::Expected, "expected", "EXPECTED", "expected answer"),
    (Field::Context, "context", "CONTEXT", "context"),
    (Field::History, "history", "HISTORY", "history"),
    (Field::SystemPrompt, "system_prompt", "SYSTEM PROMPT", "system prompt"),
];

/// What is judged one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    /// Retrieved chunks.
    Chunks,
    /// Sentences of a field.
    Sentences(Field),
}

/// A question to a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    /// The question, with the names of the blocks in the place of the placeholders.
    task: String,
    /// The fields that it names, and whether it can do without.
    fields: Vec<(Field, bool)>,
}

/// The texts that a prompt needs, out of one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filled {
    /// In the order of the placeholders.
    pub blocks: Vec<Block>,
    /// Of these, so many are judged one by one.
    pub items: usize,
}

impl Prompt {
    /// Reads a prompt file: text with placeholders such as `{{answer}}`, or `{{history?}}` for one that may be missing.
    ///
    /// # Errors
    /// When a placeholder is unknown or not closed, or there is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (mut task, mut fields, mut rest) = (String::new(), Vec::<(Field, bool)>::new(), text.trim());
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or("a placeholder {{ is not closed by }}")?;
            let (plain, is_optional) = match name.trim().strip_suffix('?') {
                Some(plain) => (plain, true),
                None => (name.trim(), false),
            };
            let Some((field, _, block, _)) = FIELDS.iter().find(|(_, known, ..)| *known == plain) else {
                let known = FIELDS.map(|(_, name, ..)| format!("{{{{{name}}}}}")).join(", ");
                return Err(format!("no placeholder {{{{{name}}}}}; there are {known}"));
            };
            match fields.iter_mut().find(|(known, _)| known == field) {
                Some((_, optional)) => *optional &= is_optional,
                None => fields.push((*field, is_optional)),
            }
            task.push_str(before);
            task.push_str(block);
            rest = after;
        }
        task.push_str(rest);
        if fields.is_empty() {
            return Err("no placeholder such as {{answer}}: the judge would see nothing".to_owned());
        }
        Ok(Self { task, fields })
    }

    /// What the judge is asked.
    pub(super) fn task(&self) -> &str {
        &self.task
    }

    /// Whether it names `field`.
    pub(super) fn names(&self, field: Field) -> bool {
        self.fields.iter().any(|(known, _)| *known == field)
    }

    /// The texts out of `input`; with `items`, those that are judged one by one stand in blocks of their own.
    ///
    /// # Errors
    /// The name of the input that is missing.
    pub(super) fn fill(&self, input: &EvalInput, items: Option<Items>) -> Result<Filled, &'static str> {
        let mut filled = Filled { blocks: Vec::new(), items: 0 };
        for (field, is_optional) in &self.fields {
            let is_cut = items == Some(Items::Sentences(*field));
            let found = if is_cut { sentence_blocks(input, *field) } else { blocks(input, *field) };
            if found.is_empty() && !is_optional {
                return Err(missing(*field));
            }
            if is_cut || (items == Some(Items::Chunks) && *field == Field::Context) {
                filled.items += found.len();
            }
            filled.blocks.extend(found);
        }
        Ok(filled)
    }
}

fn missing(field: Field) -> &'static str {
    FIELDS.iter().find(|(known, ..)| *known == field).map_or("input", |(.., words)| words)
}

/// The texts of a field that are there.
fn texts(input: &EvalInput, field: Field) -> Vec<&str> {
    fn one(text: Option<&String>) -> Vec<&str> {
        text.map(String::as_str).into_iter().collect()
    }
    let all = match field {
        Field::Question => one(input.question.as_ref()),
        Field::Answer => one(input.answer.as_ref()),
        Field::Expected => one(input.expected.as_ref()),
        Field::SystemPrompt => one(input.system_prompt.as_ref()),
        Field::History => input.history.iter().map(String::as_str).collect(),
        Field::Context => {
            let mut ranked: Vec<&Document> = input.contexts.iter().collect();
            // Those without a rank keep their place behind the others.
            ranked.sort_by_key(|document| document.rank.unwrap_or(i32::MAX));
            ranked.into_iter().filter_map(|document| document.content.as_deref()).collect()
        }
    };
    all.into_iter().filter(|text| !text.trim().is_empty()).collect()
}

fn blocks(input: &EvalInput, field: Field) -> Vec<Block> {
    let name = FIELDS.iter().find(|(known, ..)| *known == field).map_or("TEXT", |(_, _, block, _)| block);
    let texts = texts(input, field);
    match field {
        Field::Context | Field::History => {
            let numbered = texts.into_iter().enumerate();
            numbered.map(|(at, text)| Block::new(format!("{name} {}", at + 1), text)).collect()
        }
        _ => texts.into_iter().map(|text| Block::new(name, text)).collect(),
    }
}

fn sentence_blocks(input: &EvalInput, field: Field) -> Vec<Block> {
    let texts = texts(input, field);
    let all = texts.iter().flat_map(|text| sentences(text));
    all.enumerate().map(|(at, sentence)| Block::new(format!("SENTENCE {}", at + 1), sentence.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input() -> EvalInput {
        let chunk =
            |rank, text: &str| Document { rank, content: Some(text.to_owned()), ..Document::default() };
        EvalInput {
            question: Some("Who?".to_owned()),
            answer: Some("Ann did it. Bob did not.".to_owned()),
            contexts: vec![chunk(Some(2), "late"), chunk(None, " "), chunk(Some(1), "early")],
            ..EvalInput::default()
        }
    }

    fn names(filled: &Filled) -> Vec<&str> {
        filled.blocks.iter().map(|block| block.name.as_str()).collect()
    }

    #[test]
    fn placeholders_are_typed() {
        let prompt =
            Prompt::parse("Is {{ answer }} polite after {{history?}}? Say so of {{answer}}.").unwrap();
        assert_eq!(prompt.task(), "Is ANSWER polite after HISTORY? Say so of ANSWER.");
        assert!(prompt.names(Field::Answer) && !prompt.names(Field::Question));
        for (text, part) in
            [("{{answr}}", "{{question}}"), ("{{answer", "not closed"), ("nothing", "{{answer}}")]
        {
            assert!(Prompt::parse(text).unwrap_err().contains(part), "{text}");
        }
    }

    #[test]
    fn an_input_is_filled_in_or_what_is_missing_is_named() {
        let prompt = Prompt::parse("{{question}} {{answer}} {{context}} {{history?}}").unwrap();
        let filled = prompt.fill(&input(), Some(Items::Chunks)).unwrap();
        assert_eq!(names(&filled), ["QUESTION", "ANSWER", "CONTEXT 1", "CONTEXT 2"]);
        assert_eq!((filled.blocks[2].text.as_str(), filled.items), ("early", 2));
        let blank = EvalInput { answer: Some(" \n".to_owned()), ..input() };
        assert_eq!(prompt.fill(&blank, None), Err("answer"));
        let expected = Prompt::parse("{{expected}}").unwrap();
        assert_eq!(expected.fill(&input(), None), Err("expected answer"));
    }

    #[test]
    fn sentences_stand_in_blocks_of_their_own() {
        let prompt = Prompt::parse("{{context}} {{answer}}").unwrap();
        let filled = prompt.fill(&input(), Some(Items::Sentences(Field::Answer))).unwrap();
        assert_eq!(names(&filled), ["CONTEXT 1", "CONTEXT 2", "SENTENCE 1", "SENTENCE 2"]);
        assert_eq!((filled.blocks[3].text.as_str(), filled.items), ("Bob did not.", 2));
    }
}
