SELECT DISTINCT ON (tenant, trace_id, span_id, rule, evaluator, metric) *
FROM (
  SELECT DISTINCT ON (tenant, score_id) *
  FROM scores
  WHERE source = 'rule'
  ORDER BY tenant, score_id, evaluated_at DESC, span_time DESC
)
ORDER BY tenant, trace_id, span_id, rule, evaluator, metric, score_version DESC, evaluated_at DESC
