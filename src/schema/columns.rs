//! The tables: every column with its type and its documentation.
//!
//! A column is declared here and nowhere else, those of the lab in `lab_columns`, of scores in `score_columns` and of reviews
//! in `review_columns`. The stored schema is what Parquet and Delta hold; SQL shows the same columns, except that `spans` gets
//! nanosecond times (Delta's timestamps have microseconds, so the exact start is stored as the integer
//! `start_time_unix_nano` beside a microsecond `start_time` for readers that are not ours).

use super::column::{fields, may, must};
use super::lab_columns::{
    CHECK_RESULTS, DATASET_ITEMS, DATASETS, EXPERIMENTS, RUNS, SUITE_CHECKS, SUITE_TESTS, SUITES,
};
use super::review_columns::{REVIEW_ANSWERS, REVIEW_ITEMS, REVIEW_QUEUES};
use super::score_columns::{DECISIONS, SCORES};
use crate::domain::id::EXPERIMENT_MARK;
use arrow::datatypes::{Schema, SchemaRef};
use std::sync::{Arc, LazyLock};

pub use super::column::{Column, Kind, document_fields};

/// What the trace ids of experiments' runs begin with, as the column `trace_id` has them.
pub fn experiment_prefix() -> String {
    hex::encode(EXPERIMENT_MARK)
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// One row a span.
    Spans,
    /// One row an evaluated metric.
    Scores,
    /// One row a sampling decision.
    Decisions,
    /// One row a human judgement.
    Annotations,
    /// One row a change of an alert's state.
    Alerts,
    /// One row a log record.
    LogRecords,
    /// One row an item that a draw chose for a label.
    ReviewItems,
    /// One row an answer of a reviewer.
    ReviewAnswers,
    /// One row a version of a dataset.
    Datasets,
    /// One row a revision of an item of a dataset.
    DatasetItems,
    /// One row a state of an experiment.
    Experiments,
    /// One row an attempt to have a target answer an item.
    Runs,
    /// One row a revision of a suite, or a run that made it a version.
    Suites,
    /// One row a test of a revision of a suite.
    SuiteTests,
    /// One row a check of a revision of a suite.
    SuiteChecks,
    /// One row a check of a run.
    CheckResults,
    /// One row a state of a queue of items to review.
    ReviewQueues,
}

impl Table {
    /// Every table.
    pub const ALL: [Table; 17] = [
        Table::Spans,
        Table::Scores,
        Table::Decisions,
        Table::Annotations,
        Table::Alerts,
        Table::LogRecords,
        Table::ReviewItems,
        Table::ReviewAnswers,
        Table::Datasets,
        Table::DatasetItems,
        Table::Experiments,
        Table::Runs,
        Table::Suites,
        Table::SuiteTests,
        Table::SuiteChecks,
        Table::CheckResults,
        Table::ReviewQueues,
    ];

    /// Its name in SQL and its folder in the lake.
    pub fn name(self) -> &'static str {
        match self {
            Table::Spans => "spans",
            Table::Scores => "scores",
            Table::Decisions => "decisions",
            Table::Annotations => "annotations",
            Table::Alerts => "alerts",
            Table::LogRecords => "log_records",
            Table::ReviewItems => "review_items",
            Table::ReviewAnswers => "review_answers",
            Table::Datasets => "datasets",
            Table::DatasetItems => "dataset_items",
            Table::Experiments => "experiments",
            Table::Runs => "runs",
            Table::Suites => "suites",
            Table::SuiteTests => "suite_tests",
            Table::SuiteChecks => "suite_checks",
            Table::CheckResults => "check_results",
            Table::ReviewQueues => "review_queues",
        }
    }

    /// Its number in stored bytes. A number is never given again, not even after a table has gone. 6 is taken too: format
    /// 1 has the bit of the queue there.
    pub fn number(self) -> u8 {
        match self {
            Table::Spans => 0,
            Table::Scores => 1,
            Table::Decisions => 2,
            Table::Annotations => 3,
            Table::Alerts => 4,
            Table::LogRecords => 5,
            Table::ReviewItems => 16,
            Table::ReviewAnswers => 17,
            Table::Datasets => 7,
            Table::DatasetItems => 8,
            Table::Experiments => 9,
            Table::Runs => 10,
            Table::Suites => 11,
            Table::SuiteTests => 12,
            Table::SuiteChecks => 13,
            Table::CheckResults => 14,
            Table::ReviewQueues => 18,
        }
    }

    /// What a row is, in one sentence.
    pub fn doc(self) -> &'static str {
        match self {
            Table::Spans => "One row a span, as it came and as its convention means it.",
            Table::Scores => "One row a metric of an evaluation, append-only.",
            Table::Decisions => "One row a sampling decision about a trace and a rule.",
            Table::Annotations => "One row a human judgement of a trace or span.",
            Table::Alerts => "One row a change of an alert's state.",
            Table::LogRecords => "One row a log record, as it came.",
            Table::ReviewItems => "One row an item that a draw chose for a label.",
            Table::ReviewAnswers => "One row an answer of a reviewer, append-only.",
            Table::Datasets => "One row a version of a dataset, append-only.",
            Table::DatasetItems => "One row a revision of an item of a dataset, append-only.",
            Table::Experiments => "One row a state of an experiment, append-only.",
            Table::Runs => "One row an attempt to have a target answer an item of a dataset.",
            Table::Suites => "One row a revision of a suite, or a run that made it a version; append-only.",
            Table::SuiteTests => "One row a test of a revision of a suite, append-only.",
            Table::SuiteChecks => "One row a check of a revision of a suite, append-only.",
            Table::CheckResults => {
                "One row a check of a run of a suite, or an edit of its verdict; append-only."
            }
            Table::ReviewQueues => "One row a state of a queue of items that people review, append-only.",
        }
    }

    /// The columns as stored.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Table::Spans => SPANS,
            Table::Scores => SCORES,
            Table::Decisions => DECISIONS,
            Table::Annotations => ANNOTATIONS,
            Table::Alerts => ALERTS,
            Table::LogRecords => LOG_RECORDS,
            Table::ReviewItems => REVIEW_ITEMS,
            Table::ReviewAnswers => REVIEW_ANSWERS,
            Table::Datasets => DATASETS,
            Table::DatasetItems => DATASET_ITEMS,
            Table::Experiments => EXPERIMENTS,
            Table::Runs => RUNS,
            Table::Suites => SUITES,
            Table::SuiteTests => SUITE_TESTS,
            Table::SuiteChecks => SUITE_CHECKS,
            Table::CheckResults => CHECK_RESULTS,
            Table::ReviewQueues => REVIEW_QUEUES,
        }
    }

    /// The stored schema.
    pub fn schema(self) -> SchemaRef {
        static SCHEMAS: LazyLock<Vec<SchemaRef>> =
            LazyLock::new(|| Table::ALL.iter().map(|t| Arc::new(Schema::new(fields(t.columns())))).collect());
        let at = Table::ALL.iter().position(|t| *t == self).unwrap_or_default();
        SCHEMAS[at].clone()
    }

    /// The stored column that orders the table in time, a microsecond timestamp.
    pub fn time_column(self) -> &'static str {
        match self {
            Table::Spans => "start_time",
            Table::Scores | Table::Alerts => "evaluated_at",
            Table::Decisions => "decided_at",
            Table::Annotations
            | Table::ReviewAnswers
            | Table::Datasets
            | Table::DatasetItems
            | Table::Experiments
            | Table::Runs
            | Table::Suites
            | Table::SuiteTests
            | Table::SuiteChecks
            | Table::CheckResults
            | Table::ReviewQueues => "created_at",
            Table::ReviewItems => "drawn_at",
            Table::LogRecords => "time",
        }
    }

    /// Whether its rows are work of people that nobody sends again: retention takes them only by a rule that names the
    /// table.
    pub fn is_kept(self) -> bool {
        matches!(
            self,
            Table::Datasets
                | Table::DatasetItems
                | Table::Experiments
                | Table::Runs
                | Table::Suites
                | Table::SuiteTests
                | Table::SuiteChecks
                | Table::CheckResults
                | Table::ReviewQueues
        )
    }

    /// Whether its rows are labels: retention takes them only by a rule that names the table or a tenant.
    pub fn has_labels(self) -> bool {
        matches!(self, Table::Annotations | Table::ReviewItems | Table::ReviewAnswers)
    }
}

/// The columns that a convention fills; `spans` and `log_records` share them, in this order.
pub const LLM_COLUMNS: &[&str] = &[
    "dialect",
    "operation",
    "provider",
    "request_model",
    "response_model",
    "system_prompt",
    "question",
    "answer",
    "input_messages",
    "output_messages",
    "documents",
    "tool_calls",
    "finish_reasons",
    "temperature",
    "max_tokens",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "reasoning_tokens",
    "cost_usd",
    "session_id",
    "user_id",
    "prompt_name",
    "prompt_version",
    "error_type",
];

static SPANS: &[Column] = &[
    must("trace_id", Kind::Text, "Trace id, 32 lower-case hex digits."),
    must("span_id", Kind::Text, "Span id, 16 lower-case hex digits."),
    may("parent_span_id", Kind::Text, "Span id of the parent; NULL for a root."),
    must("name", Kind::Text, "Span name."),
    must("span_kind", Kind::Text, "unspecified, internal, server, client, producer or consumer."),
    must("start_time", Kind::Micros, "Start, microseconds UTC, rounded down (SQL shows nanoseconds)."),
    must("start_time_unix_nano", Kind::Int, "Start, nanoseconds since 1970 UTC, exact."),
    must(
        "duration_ns",
        Kind::Int,
        "End minus start, nanoseconds; negative where the sender's clocks say so.",
    ),
    must("status_code", Kind::Text, "unset, ok or error."),
    may("status_message", Kind::Payload, "What the sender said of the status."),
    may("service_name", Kind::Text, "service.name of the resource."),
    may("scope_name", Kind::Text, "Instrumentation scope."),
    may("scope_version", Kind::Text, "Version of the scope."),
    may("scope_attributes", Kind::Payload, "Attributes of the scope, JSON object."),
    may("schema_url", Kind::Text, "Schema of the attributes, if said."),
    must("resource_attributes", Kind::Text, "Attributes of the resource, JSON object."),
    must("attributes", Kind::Payload, "Attributes of the span as they came, JSON object."),
    may(
        "events",
        Kind::Payload,
        "Events, JSON array of {time_unix_nano, name, attributes, dropped_attributes_count}.",
    ),
    may("links", Kind::Payload, "Links, JSON array of {trace_id, span_id, trace_state, attributes, flags}."),
    may("trace_state", Kind::Text, "W3C tracestate."),
    must("flags", Kind::Int, "W3C trace flags and the bits that OTLP adds."),
    must("dropped_attributes_count", Kind::Int, "Attributes that the sender dropped."),
    must("dropped_events_count", Kind::Int, "Events that the sender dropped."),
    must("dropped_links_count", Kind::Int, "Links that the sender dropped."),
    must("tenant", Kind::Text, "Tenant, from the sender's token; 'default' without tokens."),
    must("received_at", Kind::Micros, "When the server received the span, microseconds UTC."),
    must(
        "dialect",
        Kind::Text,
        "Convention: otel_genai, openinference, openllmetry, vercel, langfuse, mlflow, logfire, pydantic_ai, langsmith, framework (keys of a framework's own) or none.",
    ),
    must(
        "operation",
        Kind::Text,
        "llm, retrieval, embedding, reranker, tool, agent, chain, guardrail, evaluator, event or other.",
    ),
    may("provider", Kind::Text, "Who serves the model, in the current OpenTelemetry spelling."),
    may("request_model", Kind::Text, "The model that was asked for."),
    may("response_model", Kind::Text, "The model that answered."),
    may("system_prompt", Kind::Payload, "System instructions."),
    may("question", Kind::Payload, "The last user message, or the input of a span that is not a model call."),
    may("answer", Kind::Payload, "The text of the output."),
    may("input_messages", Kind::Payload, "Messages that went in, JSON in the OpenTelemetry GenAI shape."),
    may("output_messages", Kind::Payload, "Messages that came out, JSON in the OpenTelemetry GenAI shape."),
    may("documents", Kind::Documents, "Retrieved or reranked documents."),
    may("tool_calls", Kind::Payload, "Tool calls, JSON array of {type, id, name, arguments}."),
    may("finish_reasons", Kind::Texts, "Why the model stopped, one a choice."),
    may("temperature", Kind::Double, "Sampling temperature."),
    may("max_tokens", Kind::Int, "Limit of output tokens."),
    may("input_tokens", Kind::Int, "Input tokens."),
    may("output_tokens", Kind::Int, "Output tokens."),
    may("cache_read_tokens", Kind::Int, "Input tokens that came from a cache."),
    may("reasoning_tokens", Kind::Int, "Output tokens spent on reasoning."),
    may("cost_usd", Kind::Double, "Cost in US dollars, as the sender said."),
    may("session_id", Kind::Text, "Session or conversation."),
    may("user_id", Kind::Text, "End user."),
    may("prompt_name", Kind::Text, "Prompt template."),
    may("prompt_version", Kind::Text, "Version of the prompt template."),
    may("error_type", Kind::Text, "Class of the error."),
];

static ANNOTATIONS: &[Column] = &[
    must("annotation_id", Kind::Text, "Identity; the same id sent twice is one row."),
    must("trace_id", Kind::Text, "The trace."),
    may("span_id", Kind::Text, "The span; NULL for the whole trace."),
    must("name", Kind::Text, "What is judged, such as correctness."),
    may("label", Kind::Text, "The verdict."),
    may("value", Kind::Double, "The score."),
    may("comment", Kind::Payload, "Why."),
    may("annotator", Kind::Text, "Who."),
    must("created_at", Kind::Micros, "When, UTC."),
    may(
        "tenant",
        Kind::Text,
        "Tenant, from the sender's token; NULL in rows of before there was this column.",
    ),
    may("item", Kind::Text, "The item of `review_items` that it answers; NULL for one that nobody drew.").since(2),
    may(
        "label_probability",
        Kind::Double,
        "Probability with which the item was drawn for a label, above 0 and up to 1; NULL for one that nobody drew.",
    )
    .since(2),
];

static ALERTS: &[Column] = &[
    must("alert", Kind::Text, "The alert rule."),
    may("slice", Kind::Text, "The part of the traffic, such as service_name=shop."),
    must("state", Kind::Text, "ok, pending, firing or resolved."),
    may("statistic", Kind::Double, "The alert's test statistic."),
    may("estimate", Kind::Double, "The estimated share of the scores that fail."),
    may("lower", Kind::Double, "Lower end of its 95 % interval."),
    may("upper", Kind::Double, "Upper end of its 95 % interval."),
    may("n", Kind::Int, "Scores behind the estimate."),
    may(
        "threshold",
        Kind::Double,
        "The share that may fail: 1 minus the objective, or the baseline's upper bound.",
    ),
    may("alpha", Kind::Double, "The false-alarm rate that the alert was built for."),
    may("since", Kind::Micros, "Since when there is evidence, UTC."),
    must("evaluated_at", Kind::Micros, "When the state changed, by the score that changed it, UTC."),
    may("metric", Kind::Text, "The metric that is watched.").since(2),
    may("method", Kind::Text, "threshold, burn_rate, objective or change.").since(2),
    may("severity", Kind::Text, "Word for the receivers, such as page.").since(2),
    may("message", Kind::Payload, "What happened, one sentence.").since(2),
    may("examples", Kind::Payload, "Failures to look at, JSON array of {trace_id, value, rationale}.")
        .since(2),
];

static LOG_RECORDS: &[Column] = &[
    must("time", Kind::Micros, "When, UTC, rounded down to microseconds."),
    must("time_unix_nano", Kind::Int, "When, nanoseconds since 1970 UTC."),
    may("trace_id", Kind::Text, "The trace that it belongs to."),
    may("span_id", Kind::Text, "The span that it belongs to."),
    may("event_name", Kind::Text, "The event's name."),
    must("severity_number", Kind::Int, "Severity, 0 to 24."),
    may("severity_text", Kind::Text, "Severity as the sender spells it."),
    may("body", Kind::Payload, "The body, JSON."),
    must("attributes", Kind::Payload, "Attributes, JSON object."),
    must("resource_attributes", Kind::Text, "Attributes of the resource, JSON object."),
    may("service_name", Kind::Text, "service.name of the resource."),
    may("scope_name", Kind::Text, "Instrumentation scope."),
    must("flags", Kind::Int, "W3C trace flags."),
    must("dropped_attributes_count", Kind::Int, "Attributes that the sender dropped."),
    must("tenant", Kind::Text, "Tenant, from the sender's token."),
    must("received_at", Kind::Micros, "When the server received it, UTC."),
    may("content", Kind::Payload, "What the record says about its span, JSON; NULL for an ordinary record."),
];

/// The columns of `queue`, which is no table of the lake: it shows what waits at the moment of the query.
pub static QUEUE: &[Column] = &[
    must("item", Kind::Text, "The item, as `groundline queue retry` takes it."),
    must("lane", Kind::Text, "fast, or slow for evaluators that take long."),
    must("trace_id", Kind::Text, "The trace."),
    must("span_id", Kind::Text, "The span that was drawn, or the one that stands for the trace."),
    must("rule", Kind::Text, "The sampling rule that selected it."),
    must("evaluators", Kind::Text, "Evaluators by id, separated by commas; * for all."),
    must("state", Kind::Text, "waiting, leased, failed or expired."),
    must("attempt", Kind::Int, "Attempts that have failed."),
    must("queued_at", Kind::Micros, "When it was put in the queue, UTC."),
    may("not_before", Kind::Micros, "When the next attempt may begin, UTC; NULL for at once."),
    may("error", Kind::Text, "Why the last attempt failed."),
    must("tenant", Kind::Text, "Tenant of the span."),
];

/// The columns of `watermarks`, which is no table of the lake: it shows what holds at the moment of the query.
pub static WATERMARKS: &[Column] = &[
    must("table_name", Kind::Text, "The table."),
    must("time_column", Kind::Text, "The time that is meant: that of the span, its start."),
    may("final_until", Kind::Micros, "No row before this is still to come from what was received, UTC."),
    may("lag_seconds", Kind::Double, "How far that is behind now, seconds."),
    may(
        "waits_for",
        Kind::Text,
        "What keeps it from being later: senders, open traces or a lane of the queue.",
    ),
];

/// The schema of `watermarks`.
pub fn watermarks_schema() -> SchemaRef {
    Arc::new(Schema::new(fields(WATERMARKS)))
}

/// The schema of `queue`.
pub fn queue_schema() -> SchemaRef {
    Arc::new(Schema::new(fields(QUEUE)))
}
