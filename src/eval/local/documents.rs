//! The context's sentences with their documents, and how a rationale names a document.

use crate::domain::trace::EvalInput;
use crate::eval::model::{excerpt, segments};

/// One sentence of the context, and the place of its document in the input.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The document's place.
    pub document: usize,
    /// The sentence.
    pub text: &'a str,
}

/// The context's first `limit` sentences, and whether some were left out.
pub fn evidence(input: &EvalInput, limit: usize) -> (Vec<Evidence<'_>>, bool) {
    let (mut found, mut left_out) = (Vec::new(), false);
    for (document, content) in input.contexts.iter().map(|d| d.content.as_deref().unwrap_or("")).enumerate() {
        let cut = segments(content, limit - found.len());
        left_out |= cut.left_out > 0;
        found.extend(cut.pieces.into_iter().map(|text| Evidence { document, text }));
    }
    (found, left_out)
}

/// A document by its place, and its id or URI where it has one.
pub fn document_name(input: &EvalInput, index: usize) -> String {
    let document = &input.contexts[index];
    match document.id.as_ref().or(document.uri.as_ref()) {
        Some(name) => format!("document {} ({})", index + 1, excerpt(name)),
        None => format!("document {}", index + 1),
    }
}
