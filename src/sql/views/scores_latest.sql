SELECT {columns}
FROM (
  SELECT *, row_number() OVER (
    PARTITION BY tenant, trace_id, span_id, rule, evaluator, metric
    ORDER BY score_version DESC, evaluated_at DESC, score_id
  ) AS newest
  FROM scores
)
WHERE newest = 1
