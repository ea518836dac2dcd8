// Questions that run on any server, the README's among them.
export interface Example {
  name: string;
  sql: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    name: "Quality by service",
    sql: `SELECT service_name, evaluator, metric, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n
FROM (SELECT service_name, evaluator, metric, quality_rate(passed, inclusion_probability) AS q
      FROM scores_latest WHERE status = 'ok' AND passed IS NOT NULL GROUP BY 1, 2, 3)
ORDER BY upper NULLS LAST LIMIT 100`,
  },
  {
    name: "A mean over time, with its interval",
    sql: `SELECT bucket, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n
FROM (SELECT date_bin(INTERVAL '1 minute', span_time) AS bucket, quality_mean(value, inclusion_probability) AS q
      FROM scores_latest WHERE metric = 'answer_relevance' AND status = 'ok' GROUP BY 1)
ORDER BY bucket`,
  },
  {
    name: "Least grounded answers",
    sql: `SELECT value, rationale, trace_id, span_id
FROM scores_latest WHERE metric = 'groundedness' AND status = 'ok'
ORDER BY value LIMIT 20`,
  },
  {
    name: "Leaks",
    sql: `SELECT evaluated_at, service_name, evaluator, label, rationale, trace_id
FROM scores_latest WHERE passed = false AND evaluator LIKE '%leakage'
ORDER BY evaluated_at DESC LIMIT 50`,
  },
  {
    name: "Latest traces",
    sql: "SELECT * FROM traces ORDER BY start_time DESC LIMIT 50",
  },
  {
    name: "Tokens by model",
    sql: `SELECT request_model, count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
       approx_percentile_cont(duration_ns / 1e6, 0.95) AS p95_ms
FROM spans WHERE operation = 'llm' GROUP BY 1 ORDER BY calls DESC`,
  },
  {
    name: "Sessions",
    sql: `SELECT session_id, count(*) AS traces, min(start_time) AS first, max(start_time) AS last
FROM traces WHERE session_id IS NOT NULL GROUP BY 1 ORDER BY last DESC LIMIT 50`,
  },
  {
    name: "What was decided",
    sql: "SELECT rule, decision, reason, count(*) AS n FROM decisions GROUP BY 1, 2, 3 ORDER BY 1, 4 DESC",
  },
];
