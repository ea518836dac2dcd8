//! The columns of queues of review, of the items that people are asked about, and of their answers.

use super::column::{Column, Kind, may, must};

pub(super) static REVIEW_ITEMS: &[Column] = &[
    must("item", Kind::Text, "Identity of tenant, metric, trace and span."),
    must("draw", Kind::Text, "The draw that chose it; `sent by hand` where somebody did."),
    must("metric", Kind::Text, "The metric that is to be labelled."),
    must("trace_id", Kind::Text, "The trace."),
    may("span_id", Kind::Text, "The span that was judged; the root for a whole trace."),
    must("span_time", Kind::Micros, "When that span began, UTC."),
    must("evaluator", Kind::Text, "The evaluator."),
    must("evaluator_version", Kind::Text, "Its version."),
    may("value", Kind::Double, "What it said when the item was drawn."),
    may("threshold", Kind::Double, "The threshold that was used."),
    may("passed", Kind::Bool, "Its verdict."),
    must(
        "inclusion_probability",
        Kind::Double,
        "Probability with which the item was sampled for evaluation.",
    ),
    must(
        "label_probability",
        Kind::Double,
        "Probability with which the draw chose it among the sampled items, above 0 and up to 1; 0 where no draw did.",
    ),
    must("uncertainty", Kind::Double, "How unsure the evaluator is, 0 to 1."),
    must("population", Kind::Int, "Items that the draw chose from."),
    must("population_from", Kind::Micros, "They were evaluated after this moment, UTC."),
    must("population_until", Kind::Micros, "They were evaluated up to this moment, UTC."),
    must("drawn_at", Kind::Micros, "When the draw was made, UTC."),
    must("tenant", Kind::Text, "Tenant of the span."),
    may("queue_id", Kind::Text, "The queue of `review_queues`; NULL for an item of the online draws.")
        .since(2),
    may("run_id", Kind::Text, "The run of an experiment that is reviewed.").since(2),
    may("item_id", Kind::Text, "The item of the dataset that the run answers.").since(2),
    may("attempt", Kind::Int, "Which attempt of the run.").since(2),
    may("source_item", Kind::Text, "The item of the online draw that it stands for.").since(2),
    may("reason", Kind::Text, "Why a person must look, such as undetermined; NULL for one that was chosen.")
        .since(2),
    may("priority", Kind::Int, "Items with a higher one are asked about first.").since(2),
    may("auto_evals", Kind::Payload, "What evaluators said and a person reviews, JSON array.").since(2),
];

pub(super) static REVIEW_ANSWERS: &[Column] = &[
    must("answer_id", Kind::Text, "Identity; the same id sent twice is one row."),
    must("item", Kind::Text, "The item of `review_items`."),
    must("metric", Kind::Text, "The metric that is labelled."),
    must("trace_id", Kind::Text, "The trace."),
    may("span_id", Kind::Text, "The span."),
    must("reviewer", Kind::Text, "Who."),
    must("kind", Kind::Text, "answer, skip, undo (takes back the one before) or adjudication."),
    may("label", Kind::Text, "pass or fail; NULL for skip and undo."),
    may("comment", Kind::Payload, "Why."),
    must("flagged", Kind::Bool, "Whether the reviewer wants it looked at again."),
    may("seconds", Kind::Double, "How long the reviewer took, seconds."),
    must("created_at", Kind::Micros, "When, UTC."),
    must("tenant", Kind::Text, "Tenant of the span."),
    may(
        "queue_id",
        Kind::Text,
        "The queue of `review_queues`; NULL for an answer to an item of the online draws.",
    )
    .since(2),
    may("run_id", Kind::Text, "The run of an experiment that is reviewed.").since(2),
    may("item_id", Kind::Text, "The item of the dataset that the run answers.").since(2),
    may("response", Kind::Payload, "The answers to the queue's templates, JSON object by their names.")
        .since(2),
    may(
        "auto_evals",
        Kind::Payload,
        "What evaluators said as the reviewer says it, JSON object of {response, feedback}.",
    )
    .since(2),
];

pub(super) static REVIEW_QUEUES: &[Column] = &[
    must("queue_id", Kind::Text, "The queue."),
    must("revision", Kind::Int, "Counts its states, from 1."),
    must("name", Kind::Text, "Its name; several may have the same."),
    must("source_kind", Kind::Text, "experiment, sql or proposal."),
    may("experiment_id", Kind::Text, "The experiment whose runs are reviewed."),
    must("source", Kind::Payload, "What its items were chosen from and how, JSON."),
    may("templates", Kind::Payload, "What is asked of each item, JSON array."),
    may("instructions", Kind::Payload, "What reviewers are told."),
    must("reviews_per_item", Kind::Int, "Answers that make a label."),
    may("reviewers", Kind::Texts, "Who answers; NULL for whoever may."),
    must(
        "blind",
        Kind::Bool,
        "Whether a reviewer sees what evaluators and others said only after the own answer.",
    ),
    must("status", Kind::Text, "open or closed."),
    must("opened_at", Kind::Micros, "When it was made, UTC."),
    may("opened_by", Kind::Text, "The name of the token that made it."),
    may("completed_at", Kind::Micros, "When it was closed, UTC."),
    must("tenant", Kind::Text, "Whose it is."),
    must("created_at", Kind::Micros, "When it came to this state, UTC."),
    may("created_by", Kind::Text, "The name of the token that brought it there."),
];
