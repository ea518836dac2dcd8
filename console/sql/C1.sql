-- One metric over time: the share that passes and the mean value, and what may explain a step: versions of its evaluator,
-- deployments, its alerts. $where is an expression over scores.
SELECT 'bucket' AS kind, bucket AS at, NULL AS name, NULL AS version, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper,
       q['n'] AS n, m['estimate'] AS mean, m['lower'] AS mean_lower, m['upper'] AS mean_upper, m['n'] AS mean_n
FROM (SELECT date_bin(CAST($step AS INTERVAL), span_time) AS bucket, quality_rate(passed, inclusion_probability) AS q,
             quality_mean(value, inclusion_probability) AS m
      FROM scores_latest
      WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND status = 'ok' AND source = 'rule'
        AND span_time >= $from AND span_time < $to AND ($where)
      GROUP BY 1)
UNION ALL
SELECT 'evaluator', min(span_time), evaluator, evaluator_version, NULL, NULL, NULL, count(*), NULL, NULL, NULL, NULL
FROM scores_latest WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND source = 'rule'
  AND span_time >= $from AND span_time < $to GROUP BY 3, 4
UNION ALL
SELECT 'deployment', min(start_time), service_name, attr(resource_attributes, 'service.version'), NULL, NULL, NULL, count(*), NULL, NULL, NULL, NULL
FROM spans WHERE start_time >= $from AND start_time < $to AND parent_span_id IS NULL
  AND attr(resource_attributes, 'service.version') IS NOT NULL GROUP BY 3, 4
UNION ALL
SELECT 'alert', evaluated_at, metric, concat(state, ' ', slice), NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL
FROM alerts WHERE metric = $metric AND evaluated_at >= $from AND evaluated_at < $to AND coalesce(message, '') NOT LIKE 'acknowledged by %'
ORDER BY 2, 1;
