//! The evaluators of the program that ask a judge: prompt, shape of the reply, direction and threshold of each.

use super::gptscore::Likely;
use super::pairwise::{FIRST, SECOND, TIE};
use super::prompt::{Field, Items};
use super::shape::{Choice, Formula, Shape, sentences_of};
use crate::domain::score::Better;

/// What passes where a share is high, and its mirror where it is low.
pub(super) const SHARE: Criterion = (Better::Higher, Some(0.75));
const LOW_SHARE: Criterion = (Better::Lower, Some(0.25));
/// A verdict has no threshold.
pub(super) const VERDICT: Criterion = (Better::Higher, None);

/// Which side is good, and the threshold.
pub(super) type Criterion = (Better, Option<f64>);

const ACCURACY: &[Choice] = &[
    Choice { label: "accurate", passes: true },
    Choice { label: "slightly_inaccurate", passes: false },
    Choice { label: "completely_incorrect", passes: false },
];
const COMPARED: &[Choice] = &[
    Choice { label: "superset", passes: true },
    Choice { label: "identical", passes: true },
    Choice { label: "similar", passes: true },
    Choice { label: "subset", passes: false },
    Choice { label: "disagreement", passes: false },
];
/// Where what is wrong came from: a fail is the retrieved text's or the model's own.
const SPLIT: &[Choice] = &[
    Choice { label: "none", passes: true },
    Choice { label: "retrieval", passes: false },
    Choice { label: "generation", passes: false },
];
const FAULTLESS: &[Choice] =
    &[Choice { label: "none", passes: true }, Choice { label: "generation", passes: false }];
const PAIR: &[Choice] = &[
    Choice { label: FIRST, passes: true },
    Choice { label: SECOND, passes: true },
    Choice { label: "tie", passes: true },
];
const QUERIES: &[Choice] = &[
    Choice { label: "best", passes: true },
    Choice { label: "acceptable", passes: true },
    Choice { label: "incorrect", passes: false },
    Choice { label: "undetermined", passes: false },
];

/// How a builtin evaluator asks.
pub(super) enum Builtin {
    /// One question with this prompt.
    Single(&'static str, Shape, Criterion),
    /// The harmonic mean of these evaluators.
    Mean(&'static [&'static str]),
    /// One question about two answers, in both orders; the second metric tells whether these agree.
    Pair(&'static str, Shape, Criterion, &'static str),
    /// One question about two queries that differ.
    Queries(&'static str, Shape, Criterion),
    /// How likely texts are: the prompts and the metrics.
    Likely(&'static str, Likely, &'static [&'static str]),
}

macro_rules! prompt {
    ($name:literal) => {
        include_str!(concat!("prompts/", $name, ".md"))
    };
}

macro_rules! single {
    ($name:literal, $shape:expr, $judged:expr) => {
        ($name, Builtin::Single(prompt!($name), $shape, $judged))
    };
}

/// What a metric of a summary is held against.
const SUMMARY: [&str; 7] = [
    "semantic_coverage",
    "factuality",
    "informativeness",
    "coherence",
    "relevance",
    "fluency",
    "consistency",
];

/// In the order of `eval::JUDGE_IDS`.
pub(super) const BUILTIN: &[(&str, Builtin)] = &[
    single!("faithfulness", Shape::Statements, SHARE),
    single!("answer_correctness", Shape::Facts { weight: 0.75 }, SHARE),
    single!("answer_relevancy", Shape::Questions, SHARE),
    single!("context_precision", chunks(Formula::AveragePrecision), SHARE),
    single!("context_recall", sentences_of(Field::Expected, Formula::Share), SHARE),
    single!("context_relevancy", sentences_of(Field::Context, Formula::Share), SHARE),
    ("ragas", Builtin::Mean(&["faithfulness", "answer_relevancy", "context_precision", "context_recall"])),
    single!("rag_hallucination", sentences_of(Field::Answer, Formula::ShareOfNo), LOW_SHARE),
    single!("rag_context_recall", sentences_of(Field::Answer, Formula::Share), SHARE),
    single!("rag_context_precision", chunks(Formula::Share), SHARE),
    single!("correctness", Shape::Rating, VERDICT),
    single!("relevance_to_query", Shape::Rating, VERDICT),
    single!("groundedness_judge", Shape::Rating, VERDICT),
    single!("safety", Shape::Rating, VERDICT),
    single!("chunk_relevance", chunks(Formula::Share), SHARE),
    single!("context_sufficiency", Shape::Rating, VERDICT),
    single!("accuracy", Shape::Choice(ACCURACY), VERDICT),
    single!("facts_compare", Shape::Choice(COMPARED), VERDICT),
    (
        "pairwise",
        Builtin::Pair(
            prompt!("pairwise"),
            Shape::Choice(PAIR),
            (Better::Higher, Some(TIE)),
            "position_consistency",
        ),
    ),
    ("sql_eval", Builtin::Queries(prompt!("sql_eval"), Shape::Choice(QUERIES), VERDICT)),
    single!("contact_information", Shape::Choice(SPLIT), VERDICT),
    single!("language_mismatch_judge", Shape::Choice(SPLIT), VERDICT),
    single!("sexism", Shape::Choice(SPLIT), VERDICT),
    single!("stereotypes", Shape::Choice(SPLIT), VERDICT),
    single!("summarization_judge", Shape::Choice(FAULTLESS), VERDICT),
    single!("user_frustration", Shape::Numbered(Items::UserTurns, Formula::Share), LOW_SHARE),
    single!("task_completion", Shape::Points("task that the user gave"), SHARE),
    single!(
        "knowledge_retention",
        Shape::Points("thing that the user told and that was needed later"),
        SHARE
    ),
    single!("tool_choice", Shape::Numbered(Items::Steps, Formula::Share), SHARE),
    single!("tool_arguments", Shape::Numbered(Items::Steps, Formula::Share), SHARE),
    single!("goal_reached", Shape::Rating, VERDICT),
    (
        "gptscore_translation",
        Builtin::Likely(prompt!("gptscore_translation"), Likely::Both, &["accuracy", "fluency", "mqm"]),
    ),
    (
        "gptscore_qa",
        Builtin::Likely(
            prompt!("gptscore_qa"),
            Likely::Yes,
            &[
                "interest",
                "engagement",
                "understandability",
                "relevance",
                "specific",
                "correctness",
                "semantically_appropriate",
                "fluency",
            ],
        ),
    ),
    (
        "gptscore_summarization_ref",
        Builtin::Likely(prompt!("gptscore_summarization_ref"), Likely::Both, SUMMARY.split_at(6).0),
    ),
    ("gptscore_summarization", Builtin::Likely(prompt!("gptscore_summarization"), Likely::Answer, &SUMMARY)),
];

/// A verdict on each chunk.
pub(super) const fn chunks(formula: Formula) -> Shape {
    Shape::Numbered(Items::Chunks, formula)
}

#[cfg(test)]
mod tests {
    use super::super::prompt::Prompt;
    use super::*;

    /// Those that name the question for what is not about it: its language, and the source of a summary.
    const NOT_ABOUT_IT: [&str; 2] = ["language_mismatch_judge", "summarization_judge"];

    #[test]
    fn who_judges_by_the_question_sees_what_was_said_before_it() {
        let mut about = 0;
        for (id, builtin) in BUILTIN {
            let (Builtin::Single(prompt, ..) | Builtin::Queries(prompt, ..) | Builtin::Pair(prompt, ..)) =
                builtin
            else {
                continue;
            };
            let prompt = Prompt::parse(prompt).unwrap();
            let is_about = prompt.names(Field::Question) && !NOT_ABOUT_IT.contains(id);
            assert_eq!(prompt.names(Field::History), is_about, "{id}");
            about += usize::from(is_about);
        }
        assert_eq!(about, 16);
    }

    /// Of question, answer, expected answer and contexts each judge sees what its row of docs/compatibility.md names, and nothing
    /// else; and the side and the line of its verdict are those of the row.
    #[test]
    fn each_judge_sees_what_its_row_names_and_has_its_direction() {
        use Field::{Answer, Context, Expected, Question};
        for (id, sees, judged) in [
            ("accuracy", &[Answer, Expected] as &[Field], VERDICT),
            ("facts_compare", &[Answer, Expected], VERDICT),
            ("rag_context_recall", &[Answer, Context], SHARE),
            ("rag_context_precision", &[Question, Context], SHARE),
            ("rag_hallucination", &[Answer, Context], LOW_SHARE),
            ("answer_correctness", &[Question, Answer, Expected], SHARE),
            ("answer_relevancy", &[Answer], SHARE),
            ("contact_information", &[Answer, Context], VERDICT),
            ("context_precision", &[Question, Expected, Context], SHARE),
            ("context_relevancy", &[Question, Context], SHARE),
            ("context_recall", &[Expected, Context], SHARE),
            ("faithfulness", &[Answer, Context], SHARE),
            ("sexism", &[Answer, Context], VERDICT),
            ("stereotypes", &[Question, Answer, Context], VERDICT),
            ("summarization_judge", &[Question, Answer], VERDICT),
        ] {
            let found = BUILTIN.iter().find(|(known, _)| *known == id);
            let Some((_, Builtin::Single(prompt, _, known))) = found else { panic!("{id}") };
            let prompt = Prompt::parse(prompt).unwrap();
            for field in [Question, Answer, Expected, Context] {
                assert_eq!(prompt.names(field), sees.contains(&field), "{id}: {field:?}");
            }
            assert_eq!(*known, judged, "{id}");
        }
        // Shares: a hallucination is what is not supported, and precision counts early chunks for more.
        let shape = |id: &str| match BUILTIN.iter().find(|(known, _)| *known == id) {
            Some((_, Builtin::Single(_, shape, _))) => *shape,
            _ => panic!("{id}"),
        };
        assert_eq!(shape("rag_hallucination"), sentences_of(Field::Answer, Formula::ShareOfNo));
        assert_eq!(shape("rag_context_recall"), sentences_of(Field::Answer, Formula::Share));
        assert_eq!(shape("context_recall"), sentences_of(Field::Expected, Formula::Share));
        assert_eq!(shape("context_precision"), chunks(Formula::AveragePrecision));
        assert_eq!(shape("rag_context_precision"), chunks(Formula::Share));
    }

    /// The classes of the rows, and which of them pass.
    #[test]
    fn verdicts_in_words_are_those_of_their_rows() {
        let split = "none+ retrieval generation";
        for (id, wanted) in [
            ("accuracy", "accurate+ slightly_inaccurate completely_incorrect"),
            ("facts_compare", "superset+ identical+ similar+ subset disagreement"),
            ("sql_eval", "best+ acceptable+ incorrect undetermined"),
            ("contact_information", split),
            ("language_mismatch_judge", split),
            ("sexism", split),
            ("stereotypes", split),
            ("summarization_judge", "none+ generation"),
        ] {
            let choices = match BUILTIN.iter().find(|(known, _)| *known == id) {
                Some((
                    _,
                    Builtin::Single(_, Shape::Choice(all), _) | Builtin::Queries(_, Shape::Choice(all), _),
                )) => *all,
                _ => panic!("{id}"),
            };
            let words =
                choices.iter().map(|one| format!("{}{}", one.label, if one.passes { "+" } else { "" }));
            assert_eq!(words.collect::<Vec<_>>().join(" "), wanted, "{id}");
        }
    }

    /// The metrics of the rows in their order, the first one the primary, and which texts are held against each other.
    #[test]
    fn likelihoods_have_the_metrics_of_their_rows() {
        for (id, texts, wanted) in [
            ("gptscore_translation", Likely::Both, "accuracy fluency mqm"),
            (
                "gptscore_qa",
                Likely::Yes,
                "interest engagement understandability relevance specific correctness semantically_appropriate fluency",
            ),
            (
                "gptscore_summarization_ref",
                Likely::Both,
                "semantic_coverage factuality informativeness coherence relevance fluency",
            ),
            (
                "gptscore_summarization",
                Likely::Answer,
                "semantic_coverage factuality informativeness coherence relevance fluency consistency",
            ),
        ] {
            let found = BUILTIN.iter().find(|(known, _)| *known == id);
            let Some((_, Builtin::Likely(prompt, likely, metrics))) = found else { panic!("{id}") };
            assert_eq!((*likely, metrics.join(" ").as_str()), (texts, wanted), "{id}");
            // Each has a text of its own, which is asked about.
            let asked: Vec<&str> = prompt.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            assert_eq!(asked, *metrics, "{id}");
        }
    }
}
