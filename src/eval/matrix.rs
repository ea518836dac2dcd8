//! Which inputs each evaluator of ours needs, and what it is about: the compatibility matrix as data. A test holds it against
//! the tables of docs/evaluators.md, another one against what the evaluators skip.

use super::ids::asks_judge;

/// What an evaluator may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// What was asked.
    Question,
    /// What was answered.
    Answer,
    /// The retrieved context.
    Contexts,
    /// The expected answer.
    Expected,
    /// The documents that should have been retrieved.
    ExpectedDocuments,
    /// Constraints on the answer's tokens.
    Constraints,
    /// The system prompt.
    SystemPrompt,
    /// The calls of tools.
    ToolCalls,
    /// Whose the answer and the documents are.
    Tenant,
    /// The traces of a session.
    Conversation,
}

impl Input {
    /// Its name in lists and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Answer => "answer",
            Self::Contexts => "contexts",
            Self::Expected => "expected",
            Self::ExpectedDocuments => "expected_documents",
            Self::Constraints => "constraints",
            Self::SystemPrompt => "system_prompt",
            Self::ToolCalls => "tool_calls",
            Self::Tenant => "tenant",
            Self::Conversation => "conversation",
        }
    }
}

use Input::{
    Answer, Constraints, Contexts, Conversation, Expected, ExpectedDocuments, Question, SystemPrompt, Tenant,
    ToolCalls,
};

/// What an evaluator is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The answer.
    Generation,
    /// What was retrieved.
    Retrieval,
    /// What must not be given away.
    Privacy,
    /// How people are spoken of.
    Fairness,
    /// Summaries.
    Summarization,
    /// Labels.
    Classification,
    /// Calls of tools, and whether they lead anywhere.
    Agents,
    /// Whole conversations.
    Conversations,
}

impl Group {
    /// Its name in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generation => "generation",
            Self::Retrieval => "retrieval",
            Self::Privacy => "privacy",
            Self::Fairness => "fairness",
            Self::Summarization => "summarization",
            Self::Classification => "classification",
            Self::Agents => "agents",
            Self::Conversations => "conversations",
        }
    }
}

/// A row of the matrix.
#[derive(Debug, Clone, Copy)]
pub struct Fit {
    /// The evaluator.
    pub id: &'static str,
    /// What it is about.
    pub group: Group,
    /// Without which of these it skips.
    pub needs: &'static [Input],
}

impl Fit {
    /// Whether it judges an application that retrieves nothing.
    pub fn is_for_llm(&self) -> bool {
        !self.needs.contains(&Contexts)
    }

    /// Whether it asks an LLM judge.
    pub fn asks_judge(&self) -> bool {
        asks_judge(self.id)
    }
}

const fn fit(id: &'static str, group: Group, needs: &'static [Input]) -> Fit {
    Fit { id, group, needs }
}

/// The row of an evaluator; none for one of the user's own.
pub fn fit_of(id: &str) -> Option<&'static Fit> {
    FITS.iter().find(|fit| fit.id == id)
}

/// The matrix, in the order of the tables of docs/evaluators.md.
pub const FITS: &[Fit] = &[
    fit("hallucination", Group::Generation, &[Answer, Contexts]),
    fit("groundedness", Group::Generation, &[Answer, Contexts]),
    fit("answer_relevance", Group::Generation, &[Question, Answer]),
    fit("answer_relevancy_similarity", Group::Generation, &[Question, Answer]),
    fit("context_relevance", Group::Retrieval, &[Question, Contexts]),
    fit("context_relevancy_soft", Group::Retrieval, &[Question, Contexts]),
    fit("toxicity", Group::Fairness, &[Answer]),
    fit("fairness_bias", Group::Fairness, &[Answer]),
    fit("pii_leakage", Group::Privacy, &[Answer]),
    fit("sensitive_data_leakage", Group::Privacy, &[Answer]),
    fit("prompt_leakage", Group::Privacy, &[SystemPrompt, Answer]),
    fit("cross_tenant_leakage", Group::Privacy, &[Tenant, Answer, Contexts]),
    fit("language_mismatch", Group::Generation, &[Question, Answer]),
    fit("looping", Group::Generation, &[Answer]),
    fit("tool_loop", Group::Agents, &[ToolCalls]),
    fit("perplexity", Group::Generation, &[Answer]),
    fit("tokens_presence", Group::Generation, &[Answer, Constraints]),
    fit("summarization", Group::Summarization, &[Question, Answer]),
    fit("answer_semantic_similarity", Group::Generation, &[Answer, Expected]),
    fit("bleu", Group::Generation, &[Answer, Expected]),
    fit("rouge", Group::Generation, &[Answer, Expected]),
    fit("classification", Group::Classification, &[Answer, Expected]),
    fit("document_recall", Group::Retrieval, &[Contexts, ExpectedDocuments]),
    fit("faithfulness", Group::Generation, &[Answer, Contexts]),
    fit("answer_correctness", Group::Generation, &[Question, Answer, Expected]),
    fit("answer_relevancy", Group::Generation, &[Question, Answer]),
    fit("context_precision", Group::Retrieval, &[Question, Expected, Contexts]),
    fit("context_recall", Group::Retrieval, &[Expected, Contexts]),
    fit("context_relevancy", Group::Retrieval, &[Question, Contexts]),
    fit("ragas", Group::Generation, &[Question, Answer, Expected, Contexts]),
    fit("rag_hallucination", Group::Generation, &[Answer, Contexts]),
    fit("rag_context_recall", Group::Retrieval, &[Answer, Contexts]),
    fit("rag_context_precision", Group::Retrieval, &[Question, Contexts]),
    fit("correctness", Group::Generation, &[Question, Answer, Expected]),
    fit("relevance_to_query", Group::Generation, &[Question, Answer]),
    fit("groundedness_judge", Group::Generation, &[Question, Answer, Contexts]),
    fit("safety", Group::Fairness, &[Question, Answer]),
    fit("chunk_relevance", Group::Retrieval, &[Question, Contexts]),
    fit("context_sufficiency", Group::Retrieval, &[Question, Expected, Contexts]),
    fit("accuracy", Group::Generation, &[Answer, Expected]),
    fit("facts_compare", Group::Generation, &[Answer, Expected]),
    fit("pairwise", Group::Generation, &[Question, Answer, Expected]),
    fit("sql_eval", Group::Generation, &[Answer, Expected]),
    fit("contact_information", Group::Privacy, &[Answer]),
    fit("language_mismatch_judge", Group::Generation, &[Question, Answer]),
    fit("sexism", Group::Fairness, &[Answer]),
    fit("stereotypes", Group::Fairness, &[Question, Answer]),
    fit("summarization_judge", Group::Summarization, &[Question, Answer]),
    fit("user_frustration", Group::Conversations, &[Conversation]),
    fit("task_completion", Group::Conversations, &[Conversation]),
    fit("knowledge_retention", Group::Conversations, &[Conversation]),
    fit("tool_choice", Group::Agents, &[Question, ToolCalls]),
    fit("tool_arguments", Group::Agents, &[Question, ToolCalls]),
    fit("goal_reached", Group::Agents, &[Question, ToolCalls, Answer]),
    fit("gptscore_translation", Group::Generation, &[Answer, Expected]),
    fit("gptscore_qa", Group::Generation, &[Question, Answer]),
    fit("gptscore_summarization_ref", Group::Summarization, &[Answer, Expected]),
    fit("gptscore_summarization", Group::Summarization, &[Question, Answer]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Document;
    use crate::domain::score::ScoreStatus;
    use crate::domain::trace::{Constraint, EvalInput};
    use crate::eval::{Config, IDS, JUDGE_IDS, Registry};

    const PAGE: &str = include_str!("../../docs/evaluators.md");

    fn named(words: &str) -> Vec<Input> {
        // What stands in parentheses may be missing.
        let plain: String = words
            .split('(')
            .enumerate()
            .map(|(at, part)| if at == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) })
            .collect();
        let words = plain.replace("a [conversation]", "a conversation");
        let input = |word: &str| match word.trim() {
            "question" => Some(Question),
            "answer" => Some(Answer),
            "context" | "context with tenants" => Some(Contexts),
            "expected" => Some(Expected),
            "expected documents" => Some(ExpectedDocuments),
            "constraints" => Some(Constraints),
            "system prompt" => Some(SystemPrompt),
            "tool calls" => Some(ToolCalls),
            "tenant" => Some(Tenant),
            "a conversation" => Some(Conversation),
            "a model in `[eval.perplexity]`" => None,
            other => panic!("{other:?} is no input"),
        };
        words.split(',').filter_map(input).collect()
    }

    #[test]
    fn the_matrix_is_that_of_the_documents() {
        let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
        let mut told = rows.map(|line| {
            let cells: Vec<&str> = line.split(" | ").collect();
            (cells[0].trim_matches(['|', ' ', '`']).to_owned(), named(cells[1]))
        });
        for fit in FITS {
            assert_eq!(told.next(), Some((fit.id.to_owned(), fit.needs.to_vec())));
        }
        let ids: Vec<&str> = FITS.iter().map(|fit| fit.id).collect();
        assert_eq!(ids, [IDS, JUDGE_IDS].concat());
        assert!(fit_of("bleu").unwrap().is_for_llm() && !fit_of("ragas").unwrap().is_for_llm());
    }

    /// Without any one of its inputs an evaluator skips every metric, and names it.
    #[test]
    fn an_evaluator_skips_without_each_of_its_needs() {
        let registry = Registry::new(&Config::default(), 1).unwrap();
        let whole = || EvalInput {
            question: Some("Where is it?".to_owned()),
            answer: Some("It is there.".to_owned()),
            contexts: vec![Document {
                uri: Some("u".to_owned()),
                content: Some("It is there.".to_owned()),
                tenant: Some("t".to_owned()),
                ..Document::default()
            }],
            expected: Some("There.".to_owned()),
            expected_documents: vec!["u".to_owned()],
            constraints: vec![Constraint::Text("there".to_owned())],
            system_prompt: Some("Be kind to everybody who asks you.".to_owned()),
            tenant: Some("t".to_owned()),
            ..EvalInput::default()
        };
        for evaluator in registry
            .select(&[
                "*".to_owned(),
                "bleu".to_owned(),
                "rouge".to_owned(),
                "classification".to_owned(),
                "document_recall".to_owned(),
            ])
            .unwrap()
        {
            let fit = fit_of(evaluator.id()).unwrap();
            for need in fit.needs {
                // Where nothing was retrieved, the recall is 0.
                if (fit.id, *need) == ("document_recall", Contexts) {
                    continue;
                }
                let mut input = whole();
                match need {
                    Question => input.question = None,
                    Answer => input.answer = None,
                    Contexts => input.contexts.clear(),
                    Expected => input.expected = None,
                    ExpectedDocuments => input.expected_documents.clear(),
                    Constraints => input.constraints.clear(),
                    SystemPrompt => input.system_prompt = None,
                    Tenant => input.tenant = None,
                    // There are none.
                    ToolCalls | Conversation => {}
                }
                let scores = evaluator.evaluate(&input);
                assert!(
                    scores.iter().all(|score| score.status == ScoreStatus::Skipped),
                    "{} without {}: {scores:?}",
                    fit.id,
                    need.name()
                );
            }
        }
    }
}
