-- One metric's items of one status, in the order that is asked for: $order is value, value DESC, span_time DESC, or a
-- random order that stays the same.
-- Questions and answers come by C12q: a join with traces aggregates every span before it limits.
-- $where and $order are texts of the statement; the console has them checked or fixed.
SELECT status, error, value, label, passed, threshold, rationale, evidence, trace_id, span_id, service_name, request_model, evaluator_version,
       inclusion_probability, span_time
FROM scores_latest
WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND status = $status AND source = 'rule'
  AND span_time >= $from AND span_time < $to AND ($where)
ORDER BY $order, trace_id, span_id LIMIT 100;
