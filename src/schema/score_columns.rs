//! The columns of scores and of sampling decisions.

use super::column::{Column, Kind, may, must};

pub(super) static SCORES: &[Column] = &[
    must("score_id", Kind::Text, "The same item, evaluator, metric and version give the same id."),
    may("trace_id", Kind::Text, "The trace."),
    may("span_id", Kind::Text, "The span that was judged; the root for a whole trace."),
    must("span_time", Kind::Micros, "When that span began, UTC."),
    must("evaluated_at", Kind::Micros, "When it was evaluated, UTC."),
    may("service_name", Kind::Text, "service.name of the span."),
    may("request_model", Kind::Text, "The model that was asked for."),
    must("tenant", Kind::Text, "Tenant of the span."),
    may("rule", Kind::Text, "The sampling rule that selected the item."),
    may("rule_version", Kind::Text, "Hash of that rule as it was then."),
    must("evaluator", Kind::Text, "The evaluator."),
    must("evaluator_version", Kind::Text, "Its version."),
    must("metric", Kind::Text, "The metric."),
    may("value", Kind::Double, "The value in the metric's own scale; NULL unless status is ok."),
    may("label", Kind::Text, "A class, where the metric has one."),
    may("passed", Kind::Bool, "Whether the value is on the right side of the threshold."),
    may("threshold", Kind::Double, "The threshold that was used."),
    must("status", Kind::Text, "ok, error or skipped."),
    may("rationale", Kind::Payload, "Why the value is what it is."),
    may("error", Kind::Payload, "What went wrong, or which input was missing."),
    must(
        "inclusion_probability",
        Kind::Double,
        "Probability with which the item was selected, above 0 and up to 1.",
    ),
    may("stratum", Kind::Text, "The stratum that it was drawn from."),
    may("sampling_reason", Kind::Text, "Why it was selected."),
    must(
        "score_version",
        Kind::Int,
        "Counts the evaluations of one item, from 1: one that is put back gets the next.",
    ),
    must("attempt", Kind::Int, "The attempt that gave this row, from 1."),
    must("latency_ms", Kind::Double, "How long the evaluator took, milliseconds."),
    may("judge_model", Kind::Text, "The judge's model."),
    may("input_tokens", Kind::Int, "Tokens that the judge read."),
    may("output_tokens", Kind::Int, "Tokens that the judge wrote."),
    may("cost_usd", Kind::Double, "What the judge cost, US dollars."),
    must("source", Kind::Text, "rule, annotation, ingested, experiment or plugin."),
    may(
        "evidence",
        Kind::Payload,
        "Parts of the answer that failed it, JSON array of {answer, document, context}: byte ranges, and the document's \
         place from 0. Where a judge was asked about parts one by one, all of them: {number, rating, rationale}.",
    )
    .since(2),
    may("experiment_id", Kind::Text, "The experiment; NULL in production.").since(3),
    may("run_id", Kind::Text, "The run of the experiment; NULL in production.").since(3),
    may("item_id", Kind::Text, "The item of the dataset; NULL in production.").since(3),
    may("check_id", Kind::Text, "The check of a suite; NULL in production.").since(3),
    may("prompt_name", Kind::Text, "Prompt template of the span that answered.").since(4),
    may("prompt_version", Kind::Text, "Version of that prompt template.").since(4),
];

pub(super) static DECISIONS: &[Column] = &[
    must("trace_id", Kind::Text, "The trace."),
    may("span_id", Kind::Text, "The span; the root for rules on traces."),
    must("rule", Kind::Text, "The sampling rule."),
    must("rule_version", Kind::Text, "Hash of that rule as it was then."),
    must(
        "decision",
        Kind::Text,
        "filtered, not_sampled, queued, throttled, over_budget, expired, failed or scored.",
    ),
    may("reason", Kind::Text, "Why."),
    must("inclusion_probability", Kind::Double, "Probability with which the item would be selected."),
    may("stratum", Kind::Text, "The stratum that it was drawn from."),
    must("decided_at", Kind::Micros, "When it was decided, UTC."),
    must("span_time", Kind::Micros, "When the span began, UTC."),
    may("tenant", Kind::Text, "Tenant of the span; NULL in rows of before there was this column."),
];
