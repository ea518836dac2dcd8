-- One metric as a whole (the row without a bucket) and over time: its rate and mean, its direction (higher is better where
-- agree > 0), what was not judged and why. $where is an expression over scores.
SELECT bucket, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n, q['n_eff'] AS n_eff,
       m['estimate'] AS mean, m['lower'] AS mean_lower, m['upper'] AS mean_upper, m['n'] AS mean_n,
       threshold, agree, judged, errors, skipped, missing, error, error_since
FROM (SELECT bucket, quality_rate(passed, inclusion_probability) FILTER (WHERE status = 'ok') AS q,
             quality_mean(value, inclusion_probability) FILTER (WHERE status = 'ok') AS m,
             max(threshold) AS threshold,
             sum(CASE WHEN passed = (value >= threshold) THEN 1 ELSE -1 END) FILTER (WHERE passed IS NOT NULL AND value <> threshold) AS agree,
             count(*) FILTER (WHERE status = 'ok') AS judged,
             count(*) FILTER (WHERE status = 'error') AS errors, count(*) FILTER (WHERE status = 'skipped') AS skipped,
             max(error) FILTER (WHERE status = 'skipped') AS missing, max(error) FILTER (WHERE status = 'error') AS error,
             min(evaluated_at) FILTER (WHERE status = 'error') AS error_since
      FROM (SELECT date_bin(CAST($step AS INTERVAL), span_time) AS bucket, passed, value, threshold, status, error, evaluated_at, inclusion_probability
            FROM scores_latest
            WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND source = 'rule'
              AND span_time >= $from AND span_time < $to AND ($where))
      GROUP BY GROUPING SETS ((), (bucket)))
ORDER BY bucket NULLS FIRST;
