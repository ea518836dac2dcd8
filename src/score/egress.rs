//! What may leave the machine for a judge or a plug-in: whose texts, and without what.

use crate::detect::{Counts, KIND, Kinds, Policy, Redaction};
use crate::domain::document::Document;
use crate::domain::trace::{Constraint, EvalInput};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Longer inputs are redacted on another thread, bytes of text: every detector goes through the whole of them, and others wait
/// for this thread meanwhile. For a short one the way there and back would be the longer part.
const SHORT: usize = 16 << 10;

/// What one receiver of texts allows.
pub(super) struct Allowed<'a> {
    /// Whose texts may be sent; everybody's without a list.
    pub tenants: Option<&'a [String]>,
    /// Kinds of what is redacted first.
    pub redact: &'a [String],
}

/// What all receivers that a text may reach allow together.
pub(super) struct Egress {
    /// Whose texts may be sent; everybody's without a list.
    tenants: Option<BTreeSet<String>>,
    /// What is redacted first.
    redaction: Option<Arc<Redaction>>,
    /// What is said to be missing where a tenant's texts may not be sent.
    missing: String,
}

impl Egress {
    /// The strictest of `all`: a tenant must be allowed by each of them, and what one of them must not see none of them sees.
    /// `key` is where tenants are named.
    pub(super) fn new<'a>(all: impl Iterator<Item = Allowed<'a>>, policy: &Arc<Policy>, key: &str) -> Self {
        let (mut tenants, mut names) = (None::<BTreeSet<String>>, Vec::new());
        for one in all {
            if let Some(allowed) = one.tenants {
                let allowed: BTreeSet<String> = allowed.iter().cloned().collect();
                tenants = Some(tenants.map_or(allowed.clone(), |before| &before & &allowed));
            }
            names.extend(one.redact.iter().cloned());
        }
        let kinds = Kinds::of(&names);
        let redaction = (!kinds.is_empty())
            .then(|| Arc::new(Redaction::new(kinds, Arc::clone(policy), format!("[{KIND}]"))));
        Self { tenants, redaction, missing: format!("leave to send this tenant's texts ({key})") }
    }

    /// Whether texts of the input's tenant may be sent.
    ///
    /// # Errors
    /// What is missing if not. A tenant that nobody knows is on no list.
    pub(super) fn check(&self, input: &EvalInput) -> Result<(), &str> {
        let Some(tenants) = &self.tenants else { return Ok(()) };
        let is_allowed = input.tenant.as_ref().is_some_and(|tenant| tenants.contains(tenant));
        if is_allowed { Ok(()) } else { Err(&self.missing) }
    }

    /// The input as it may be sent. Where that takes long, others get this thread meanwhile.
    pub(super) async fn redacted<'a>(&self, input: &'a EvalInput) -> Cow<'a, EvalInput> {
        let Some(redaction) = &self.redaction else { return Cow::Borrowed(input) };
        if bytes(input) <= SHORT {
            return Cow::Owned(cleaned(redaction, input.clone()));
        }
        let (there, whole) = (redaction.clone(), input.clone());
        let done = tokio::task::spawn_blocking(move || cleaned(&there, whole)).await;
        // What broke off there is done here: nothing is sent as it was.
        Cow::Owned(done.unwrap_or_else(|_| cleaned(redaction, input.clone())))
    }
}

/// The input without what is redacted.
fn cleaned(redaction: &Redaction, mut input: EvalInput) -> EvalInput {
    let mut counts = Counts::new();
    let mut redact = |text: &mut String| {
        if let Cow::Owned(clean) = redaction.text("", text, &mut counts) {
            *text = clean;
        }
    };
    let one = [&mut input.question, &mut input.answer, &mut input.expected, &mut input.system_prompt];
    one.into_iter().flatten().for_each(&mut redact);
    for one in &mut input.contexts {
        document(one, &mut redact);
    }
    for one in &mut input.constraints {
        constraint(one, &mut redact);
    }
    let lists = [&mut input.history, &mut input.expected_answers, &mut input.expected_documents];
    lists.into_iter().flatten().for_each(&mut redact);
    for step in &mut input.steps {
        redact(&mut step.tool);
        step.arguments.iter_mut().chain(&mut step.result).for_each(&mut redact);
    }
    input
}

/// How long all texts together are that are redacted.
fn bytes(input: &EvalInput) -> usize {
    let one = [&input.question, &input.answer, &input.expected, &input.system_prompt];
    let lists = [&input.history, &input.expected_answers, &input.expected_documents];
    let steps = input
        .steps
        .iter()
        .flat_map(|step| std::iter::once(&step.tool).chain(&step.arguments).chain(&step.result));
    let documents = input.contexts.iter().flat_map(|one| [&one.content, &one.uri, &one.id]);
    let texts = one.into_iter().chain(documents).flatten().chain(lists.into_iter().flatten()).chain(steps);
    let metadata = input.contexts.iter().filter_map(|one| one.metadata.as_ref()).map(bytes_of_json);
    let constraints = input.constraints.iter().map(bytes_of_constraint);
    texts.map(String::len).chain(metadata).chain(constraints).sum()
}

/// About as many as it has when it is written.
fn bytes_of_json(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(bytes_of_json).sum::<usize>() + items.len(),
        Json::Object(members) => members.iter().map(|(name, value)| name.len() + bytes_of_json(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 4,
    }
}

fn bytes_of_constraint(one: &Constraint) -> usize {
    match one {
        Constraint::Text(text) => text.len(),
        Constraint::AnyOf(several) => several.iter().map(bytes_of_constraint).sum(),
    }
}

/// Redacts all that a sender may have written about a document: plug-ins see more of it than its text.
fn document<F: FnMut(&mut String)>(document: &mut Document, redact: &mut F) {
    let texts = [&mut document.content, &mut document.uri, &mut document.id];
    texts.into_iter().flatten().for_each(&mut *redact);
    if let Some(metadata) = &mut document.metadata {
        let mut text = metadata.to_string();
        redact(&mut text);
        // JSON stays JSON, unless what was found is part of its form.
        *metadata = serde_json::from_str(&text).unwrap_or(Json::String(text));
    }
}

fn constraint<F: FnMut(&mut String)>(one: &mut Constraint, redact: &mut F) {
    match one {
        Constraint::Text(text) => redact(text),
        Constraint::AnyOf(several) => {
            for one in several {
                constraint(one, redact);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::trace::Step;
    use futures::FutureExt;

    /// Receivers with their tenants and what is redacted for them.
    fn egress(all: &[(Option<&[&str]>, &[&str])]) -> Egress {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let all: Vec<_> = all.iter().map(|(tenants, redact)| (tenants.map(own), own(redact))).collect();
        let allowed = all.iter().map(|(tenants, redact)| Allowed { tenants: tenants.as_deref(), redact });
        Egress::new(allowed, &Arc::default(), "judges.tenants")
    }

    fn of(tenant: Option<&str>) -> EvalInput {
        EvalInput { tenant: tenant.map(str::to_owned), ..EvalInput::default() }
    }

    #[test]
    fn every_receiver_must_allow_the_tenant() {
        assert!(egress(&[(None, &[])]).check(&of(None)).is_ok());
        let both = egress(&[(Some(&["a", "b"]), &[]), (None, &[]), (Some(&["b", "c"]), &[])]);
        assert!(both.check(&of(Some("b"))).is_ok());
        for tenant in [Some("a"), Some("c"), Some("B"), None] {
            assert!(both.check(&of(tenant)).unwrap_err().contains("judges.tenants"), "{tenant:?}");
        }
    }

    #[tokio::test]
    async fn no_text_of_an_input_keeps_what_is_redacted() {
        let text = "Write to ann.smith@example.com now.".to_owned();
        let one = Some(text.clone());
        let input = EvalInput {
            question: one.clone(),
            answer: one.clone(),
            expected: one.clone(),
            expected_answers: vec![text.clone()],
            system_prompt: one.clone(),
            history: vec![text.clone()],
            contexts: vec![Document { content: one.clone(), ..Document::default() }],
            steps: vec![Step { tool: "mail".to_owned(), arguments: one.clone(), result: one, failed: false }],
            ..EvalInput::default()
        };
        // What stands in another's place must not see it either.
        let strict = egress(&[(None, &[]), (None, &["pii"])]);
        let redacted = strict.redacted(&input).await;
        assert_eq!(redacted.expected_answers, ["Write to [EMAIL] now."]);
        let sent = serde_json::to_string(&redacted).unwrap();
        assert!(!sent.contains("ann.smith"), "{sent}");
        assert_eq!(sent.matches("[EMAIL]").count(), 8, "{sent}");
        assert!(matches!(egress(&[(None, &[])]).redacted(&input).await, Cow::Borrowed(_)));
    }

    #[tokio::test]
    async fn what_stands_beside_the_text_of_a_document_keeps_nothing_either() {
        let text = "ann.smith@example.com".to_owned();
        let document = Document {
            id: Some(text.clone()),
            uri: Some(format!("mailto:{text}")),
            metadata: Some(serde_json::json!({"author": {"mail": text}, "page": 3})),
            ..Document::default()
        };
        let input = EvalInput {
            contexts: vec![document],
            expected_documents: vec![format!("mailto:{text}")],
            constraints: vec![
                Constraint::Text(text.clone()),
                Constraint::AnyOf(vec![Constraint::Text(text.clone()), Constraint::Text("plain".to_owned())]),
            ],
            ..EvalInput::default()
        };
        let redacted = egress(&[(None, &["email"])]).redacted(&input).await.into_owned();
        let sent = serde_json::to_string(&redacted).unwrap();
        assert!(!sent.contains("ann.smith"), "{sent}");
        assert_eq!(sent.matches("[EMAIL]").count(), 6, "{sent}");
        let metadata = redacted.contexts[0].metadata.as_ref().unwrap();
        assert_eq!(*metadata, serde_json::json!({"author": {"mail": "[EMAIL]"}, "page": 3}));
    }

    /// An input with an address of mail in it, and so many bytes in its context beside that.
    fn with_context(bytes: usize) -> EvalInput {
        let content = Some("long ".repeat(bytes / 5));
        EvalInput {
            question: Some("Write to ann.smith@example.com now.".to_owned()),
            contexts: vec![Document { content, ..Document::default() }],
            ..EvalInput::default()
        }
    }

    #[test]
    fn long_texts_are_redacted_on_another_thread() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let (strict, short, long) =
                (egress(&[(None, &["email"])]), with_context(10), with_context(2 * SHORT));
            // The only other thread waits meanwhile.
            let (go, waits) = std::sync::mpsc::channel::<()>();
            let busy = tokio::task::spawn_blocking(move || waits.recv().is_err());
            assert!(strict.redacted(&long).now_or_never().is_none(), "others would wait for it");
            let here = strict.redacted(&short).now_or_never().unwrap().into_owned();
            drop(go);
            assert!(busy.await.unwrap());
            let there = strict.redacted(&long).await.into_owned();
            assert_eq!(there.question.as_deref(), Some("Write to [EMAIL] now."));
            assert_eq!((there.question, there.contexts), (here.question, long.contexts));
        });
    }

    #[test]
    fn all_texts_make_an_input_long() {
        let text = "x".repeat(100);
        let one = Some(text.clone());
        let input = EvalInput {
            question: one.clone(),
            answer: one.clone(),
            expected: one.clone(),
            system_prompt: one.clone(),
            expected_answers: vec![text.clone()],
            expected_documents: vec![text.clone()],
            history: vec![text.clone(); 2],
            contexts: vec![Document {
                content: one.clone(),
                uri: one.clone(),
                id: one.clone(),
                metadata: Some(serde_json::json!({"": [text, {"": 1}]})),
                ..Document::default()
            }],
            constraints: vec![
                Constraint::Text(text.clone()),
                Constraint::AnyOf(vec![Constraint::Text(text.clone())]),
            ],
            steps: vec![Step { tool: text, arguments: one.clone(), result: one, failed: false }],
            ..EvalInput::default()
        };
        assert_eq!(bytes(&input), 1_706, "17 texts, two items and a number");
    }
}
