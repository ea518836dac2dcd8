//! Every metric with its unit and meaning. Dashboards and rules may name these and no others; a test holds them to it.

/// What a metric is to Prometheus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Buckets of a distribution.
    Histogram,
}

/// One metric.
#[derive(Debug, Clone, Copy)]
pub struct MetricName {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: MetricKind,
    /// What it says, with the unit.
    pub help: &'static str,
}

const fn counter(name: &'static str, help: &'static str) -> MetricName {
    MetricName { name, kind: MetricKind::Counter, help }
}

const fn gauge(name: &'static str, help: &'static str) -> MetricName {
    MetricName { name, kind: MetricKind::Gauge, help }
}

const fn histogram(name: &'static str, help: &'static str) -> MetricName {
    MetricName { name, kind: MetricKind::Histogram, help }
}

/// Every metric of this server.
pub const METRICS: &[MetricName] = &[
    counter("groundline_received_total", "Spans and log records that were accepted and are durable."),
    counter("groundline_rejected_total", "Spans and log records that were refused one by one."),
    counter("groundline_redacted_total", "Findings that were redacted before they were stored, by kind."),
    counter("groundline_received_bytes_total", "Bytes of journal frames that were offered."),
    counter(
        "groundline_requests_refused_total",
        "Requests that were refused whole, by reason: in_flight_bytes, journal and slow come again; encoding, invalid, role, token and too_large do not.",
    ),
    counter("groundline_duplicate_rows_total", "Rows that came again and were stored once."),
    counter(
        "groundline_foreign_spans_refused_total",
        "Spans with the trace id of another tenant's open trace: stored, and not sampled.",
    ),
    counter(
        "groundline_trace_spans_refused_total",
        "Spans beyond sample.max_trace_spans of an open trace: stored, and not sampled.",
    ),
    counter("groundline_late_spans_total", "Spans that came after their trace was decided."),
    counter(
        "groundline_late_traces_total",
        "Traces of which spans came late, by outcome: queued (evaluated again), unchanged, refused, waits, too many, given up, unknown.",
    ),
    counter("groundline_log_content_unjoined_total", "Log records with content whose span never came."),
    counter("groundline_frames_unreadable_total", "Journal frames that could not be read."),
    counter("groundline_flush_errors_total", "Flushes that failed and are tried again."),
    counter("groundline_flush_bytes_total", "Bytes of Parquet files that were committed."),
    histogram("groundline_flush_seconds", "Time to write and commit a file, seconds."),
    gauge("groundline_hot_rows", "Rows that are visible but not in files yet."),
    gauge("groundline_hot_bytes", "Memory of those rows, bytes."),
    gauge("groundline_table_files", "Parquet files of a table."),
    gauge("groundline_table_bytes", "Bytes of those files."),
    counter("groundline_compactions_total", "Merges of files into a larger one."),
    counter("groundline_compaction_files_total", "Files that were merged."),
    counter("groundline_compaction_read_bytes_total", "Bytes of files that were merged."),
    counter("groundline_compaction_written_bytes_total", "Bytes of files that they became."),
    histogram("groundline_compaction_seconds", "Time to read, merge, write and commit, seconds."),
    counter("groundline_retention_rows_total", "Rows that went because of their age or number."),
    counter("groundline_retention_bytes_total", "Bytes of files that went with them."),
    counter("groundline_vacuum_files_total", "Files of no version of their table that were deleted."),
    counter("groundline_vacuum_bytes_total", "Bytes of those files."),
    counter("groundline_vacuum_log_entries_total", "Entries of table logs that were deleted."),
    counter(
        "groundline_upkeep_errors_total",
        "Failed steps of compaction, retention and vacuum, tried again.",
    ),
    gauge("groundline_journal_bytes", "Bytes of journal segments on the disk."),
    gauge("groundline_journal_segments", "Journal segments on the disk."),
    gauge("groundline_journal_queued_bytes", "Bytes that wait for the journal's writer."),
    gauge("groundline_journal_torn_bytes", "Bytes of torn frames that were cut at start."),
    gauge("groundline_journal_quarantined", "Damaged stretches of the journal that are skipped."),
    gauge("groundline_journal_unapplied_frames", "Durable frames whose rows are not visible yet."),
    gauge("groundline_open_traces", "Traces that are not decided yet."),
    counter("groundline_decisions_total", "Sampling decisions, by rule and decision."),
    counter(
        "groundline_rule_errors_total",
        "Expressions of rules that failed on a row, by rule; * for all of them.",
    ),
    counter("groundline_sampling_errors_total", "Decisions that could not be written."),
    counter(
        "groundline_sampling_inputs_unusable_total",
        "Inputs of sampling that could not be used as they were, by rule and input: weight, stratum, tracestate, clock.",
    ),
    gauge(
        "groundline_sampling_usd_per_item",
        "What an item of a rule with a budget in money is taken to cost, US dollars, by rule.",
    ),
    counter(
        "groundline_items_total",
        "Items of evaluation, by rule, lane and outcome: queued, scored, failed, expired.",
    ),
    gauge("groundline_queue_items", "Items that wait for their evaluators, by lane."),
    gauge("groundline_queue_bytes", "Memory of those items, bytes, by lane."),
    gauge("groundline_queue_oldest_seconds", "How long the oldest item of a lane has waited, seconds."),
    gauge("groundline_queue_max_age_seconds", "How long an item of a lane may wait, seconds."),
    counter("groundline_queue_compactions_total", "Times that the queue's log was compacted."),
    counter("groundline_labels_drawn_total", "Items drawn for a label."),
    counter(
        "groundline_labels_contradicting_total",
        "Labels that say the opposite of what another person said last about the same.",
    ),
    counter("groundline_labels_answers_total", "Answers of reviewers, by kind."),
    histogram("groundline_queue_wait_seconds", "Time from decision to scores, seconds, by lane."),
    histogram(
        "groundline_evaluation_lag_seconds",
        "Time from the end of a span to its scores, seconds, by rule.",
    ),
    histogram("groundline_evaluation_seconds", "Time of one evaluator for one item, seconds."),
    counter("groundline_scores_total", "Scores, by evaluator, rule and status."),
    counter("groundline_sql_queries_total", "Queries, by endpoint (label door) and outcome."),
    histogram("groundline_sql_seconds", "Time of a query, seconds."),
    gauge(
        "groundline_quality_pass_rate",
        "Weighted share of passing scores in the window; NaN below sql.min_n_eff.",
    ),
    gauge("groundline_quality_pass_rate_lower", "Lower end of its 95 % interval."),
    gauge("groundline_quality_pass_rate_upper", "Upper end of its 95 % interval."),
    gauge("groundline_quality_scores", "Scores behind the rate."),
    gauge("groundline_quality_effective_scores", "Effective sample size behind the rate."),
    gauge("groundline_quality_series_dropped", "Quality series that were left out beyond the limit."),
    counter("groundline_quality_errors_total", "Failed computations of the quality gauges."),
    counter("groundline_judge_requests_total", "Requests to LLM judges, by judge and outcome."),
    counter("groundline_judge_tokens_total", "Tokens that judges have read and written, by judge and kind."),
    gauge("groundline_judge_spent_usd", "What a judge has cost since midnight UTC, US dollars."),
    gauge("groundline_judge_away", "1 while a judge does not answer and is only probed, else 0."),
    gauge(
        "groundline_judge_canaries_failed",
        "Questions with known answers that a judge failed in its last round of them.",
    ),
    counter("groundline_plugin_items_total", "Items that plug-ins were asked for, by plug-in and outcome."),
    counter(
        "groundline_plugin_strays_total",
        "Lines and answers of plug-ins that answer nothing, by plug-in.",
    ),
    counter("groundline_plugin_deaths_total", "Processes of plug-ins that ended or were killed, by plug-in."),
    gauge("groundline_plugin_away", "1 while a plug-in does not describe itself and is only probed, else 0."),
    gauge("groundline_alert_firing", "1 while an alert fires in a slice, else 0."),
    gauge("groundline_alert_statistic", "An alert's test statistic in a slice."),
    gauge("groundline_alert_failing_share", "Share of failing scores that an alert sees in a slice."),
    gauge(
        "groundline_alert_last_score_timestamp_seconds",
        "When the latest score of a slice was evaluated, seconds since 1970.",
    ),
    counter("groundline_alert_changes_total", "Changes of alerts, by alert and state."),
    counter("groundline_alert_messages_total", "Attempts to send a message about an alert, by outcome."),
    counter(
        "groundline_alert_messages_lost_total",
        "Messages about alerts that no receiver will take, by reason: refused, given up, too many, no receiver, state too large.",
    ),
    counter(
        "groundline_alert_errors_total",
        "Scores on which an alert's filter failed, and which it does not count.",
    ),
    counter("groundline_alert_scores_left_out_total", "Scores of slices beyond alerts.max_slices."),
    counter(
        "groundline_alert_scores_unusable_total",
        "Scores without an inclusion probability above 0 and up to 1, which enter no alert, by alert.",
    ),
    counter(
        "groundline_alert_slices_left_total",
        "Slices that left an alert after alerts.forget_after without a score.",
    ),
    counter(
        "groundline_alert_state_shrunk_total",
        "Times that the state of alerts fitted into no frame and was cut.",
    ),
    gauge(
        "groundline_watermark_lag_seconds",
        "How far behind now the numbers of a table are final, seconds, by table.",
    ),
    gauge(
        "groundline_anchors_moved",
        "1 where an evaluator moved on its anchors, else 0, by evaluator and metric.",
    ),
    gauge(
        "groundline_anchors_unscored",
        "Anchors that an evaluator failed to score, then or last time, by evaluator and metric.",
    ),
    counter("groundline_anchor_errors_total", "Times that anchors could not be scored."),
    counter("groundline_emitted_total", "Evaluation results that were to leave, by outcome."),
    counter("groundline_forwarded_total", "Spans that were to be passed on, by outcome."),
    counter("groundline_forwarded_logs_total", "Log records that were to be passed on, by outcome."),
    gauge(
        "groundline_backend_held_bytes",
        "Journal that waits for the backend of emit, forward or forward_logs, bytes, by section.",
    ),
    gauge(
        "groundline_backend_away",
        "1 while the backend of emit, forward or forward_logs takes nothing, else 0, by section.",
    ),
    gauge("groundline_connections", "Open connections, by listener (label door)."),
    counter(
        "groundline_connections_refused_total",
        "Connections beyond the most that a listener may have, by listener (label door).",
    ),
    counter(
        "groundline_connections_reaped_total",
        "Connections that were ended for doing too little, by listener (label door) and reason.",
    ),
    counter("groundline_reloads_total", "Changed certificates and tokens, by what and outcome."),
    gauge(
        "groundline_certificate_not_after_timestamp_seconds",
        "When the first certificate of [server.tls] ends, seconds since 1970.",
    ),
    gauge("groundline_disk_free_bytes", "Bytes that may be written on the disk of the data directory."),
    gauge("groundline_disk_total_bytes", "Bytes of that disk."),
    gauge("groundline_process_resident_bytes", "Resident memory of the process, bytes."),
];
