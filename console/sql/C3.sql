-- What changed, for the marks on the axis: evaluator versions, deployments, alerts.
SELECT 'evaluator' AS kind, evaluator AS name, evaluator_version AS version, min(span_time) AS at, count(*) AS n
FROM scores_latest WHERE span_time >= $from AND span_time < $to AND source = 'rule' GROUP BY 2, 3
UNION ALL
SELECT 'deployment', service_name, attr(resource_attributes, 'service.version'), min(start_time), count(*)
FROM spans WHERE start_time >= $from AND start_time < $to AND parent_span_id IS NULL
  AND attr(resource_attributes, 'service.version') IS NOT NULL GROUP BY 2, 3
UNION ALL
SELECT 'alert', metric, concat(state, ' ', slice), evaluated_at, 1
FROM alerts WHERE evaluated_at >= $from AND evaluated_at < $to AND coalesce(message, '') NOT LIKE 'acknowledged by %'
ORDER BY 4 LIMIT 200;
