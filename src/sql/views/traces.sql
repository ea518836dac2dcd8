WITH llm_parent AS (
  SELECT DISTINCT tenant AS o, trace_id AS t, parent_span_id AS p
  FROM spans WHERE operation = 'llm' AND parent_span_id IS NOT NULL
),
span AS (
  SELECT trace_id, span_id, parent_span_id, name, start_time, end_time, status_code, service_name, operation,
    input_tokens, output_tokens, cost_usd, question, answer, session_id, user_id, tenant,
    parent_span_id IS NULL AS is_root,
    operation = 'llm' AS is_llm,
    operation = 'llm' AND llm_parent.p IS NULL AS is_leaf
  FROM spans LEFT JOIN llm_parent ON tenant = llm_parent.o AND trace_id = llm_parent.t AND span_id = llm_parent.p
)
SELECT
  trace_id,
  min(start_time) AS start_time,
  max(end_time) AS end_time,
  CAST(max(end_time) AS BIGINT) - CAST(min(start_time) AS BIGINT) AS duration_ns,
  first_value(name ORDER BY is_root DESC, start_time, span_id) AS name,
  first_value(service_name ORDER BY is_root DESC, start_time, span_id) AS service_name,
  count(*) AS spans,
  count(*) FILTER (WHERE status_code = 'error') AS errors,
  count(*) FILTER (WHERE is_leaf) AS llm_calls,
  sum(input_tokens) FILTER (WHERE is_leaf) AS input_tokens,
  sum(output_tokens) FILTER (WHERE is_leaf) AS output_tokens,
  sum(cost_usd) FILTER (WHERE is_leaf) AS cost_usd,
  coalesce(
    first_value(question ORDER BY start_time, span_id) FILTER (WHERE is_root AND question IS NOT NULL),
    last_value(question ORDER BY start_time, span_id) FILTER (WHERE is_llm AND question IS NOT NULL)
  ) AS question,
  coalesce(
    first_value(answer ORDER BY start_time, span_id) FILTER (WHERE is_root AND answer IS NOT NULL),
    last_value(answer ORDER BY start_time, span_id) FILTER (WHERE is_llm AND answer IS NOT NULL)
  ) AS answer,
  max(session_id) AS session_id,
  max(user_id) AS user_id,
  tenant,
  is_experiment(trace_id) AS is_experiment
FROM span
GROUP BY tenant, trace_id
