-- A trace's scores, what failed first.
SELECT span_id, evaluator, evaluator_version, metric, value, label, passed, threshold, status, rationale, evidence, error,
       inclusion_probability, rule, evaluated_at
FROM scores_latest WHERE trace_id = $id ORDER BY passed NULLS LAST, evaluator, metric;
