//! The context's sentences with their documents, and how a rationale names a document.

use crate::domain::trace::EvalInput;
use crate::eval::evidence::is_marked;
use crate::eval::model::{excerpt, segments};

/// One sentence of the context, and the place of its document in the input.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The document's place.
    pub document: usize,
    /// The number of the passage, from 0 on: a document, or a part of one that begins with a mark such as `[2]` on a line
    /// of its own, as prompts join their documents.
    pub passage: usize,
    /// The sentence.
    pub text: &'a str,
}

/// The context's first `limit` sentences, and whether some were left out.
pub fn evidence(input: &EvalInput, limit: usize) -> (Vec<Evidence<'_>>, bool) {
    let (mut found, mut left_out) = (Vec::<Evidence<'_>>::new(), false);
    for (document, content) in input.contexts.iter().map(|d| d.content.as_deref().unwrap_or("")).enumerate() {
        let cut = segments(content, limit - found.len());
        left_out |= cut.left_out > 0;
        for text in cut.pieces {
            let begins = |last: &Evidence<'_>| last.document != document || is_passage(content, text);
            let passage = found.last().map_or(0, |last| last.passage + usize::from(begins(last)));
            found.push(Evidence { document, passage, text });
        }
    }
    (found, left_out)
}

/// Whether a passage begins with `text`, which is a slice of `content`: it has a mark and begins its line.
fn is_passage(content: &str, text: &str) -> bool {
    let start = (text.as_ptr() as usize).saturating_sub(content.as_ptr() as usize);
    let before = content.get(..start).unwrap_or("").trim_end_matches([' ', '\t', '\r']);
    is_marked(text) && (before.is_empty() || before.ends_with('\n'))
}

/// A document by its place, and its id or URI where it has one.
pub fn document_name(input: &EvalInput, index: usize) -> String {
    let document = &input.contexts[index];
    match document.id.as_ref().or(document.uri.as_ref()) {
        Some(name) => format!("document {} ({})", index + 1, excerpt(name)),
        None => format!("document {}", index + 1),
    }
}

/// How a rationale tells so many of what `noun` names.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Document;

    #[test]
    fn documents_and_marked_parts_of_them_are_passages() {
        let document = |text: &str| Document { content: Some(text.to_owned()), ..Document::default() };
        let joined =
            "[1] Tents cost 40 euros. They last.\n  [2] Boots cost 90 euros [3] a pair.\n[x] No mark.";
        let input = EvalInput {
            contexts: vec![document("One."), document(joined), document("Two.")],
            ..EvalInput::default()
        };
        let (found, _) = evidence(&input, 100);
        let told: Vec<(usize, usize)> = found.iter().map(|one| (one.document, one.passage)).collect();
        assert_eq!(
            told,
            [(0, 0), (1, 1), (1, 1), (1, 2), (1, 2), (2, 3)],
            "{:?}",
            found.iter().map(|e| e.text).collect::<Vec<_>>()
        );
    }
}
