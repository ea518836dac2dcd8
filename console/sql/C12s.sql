-- One metric as a whole (part `all`), over time (`bucket`), and by slice (`service_name`, `request_model`, `evaluator_version`; of
-- each the 20 with the worst upper bound): its rate and mean, its direction (higher is better where agree > 0), what was not
-- judged and why. $where is an expression over scores.
SELECT part, bucket, service_name, request_model, evaluator_version,
       q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n, q['n_eff'] AS n_eff,
       m['estimate'] AS mean, m['lower'] AS mean_lower, m['upper'] AS mean_upper, m['n'] AS mean_n,
       threshold, agree, judged, errors, skipped, missing, error, error_since
FROM (SELECT part, bucket, service_name, request_model, evaluator_version, q, m, threshold, agree, judged, errors, skipped,
             missing, error, error_since,
             row_number() OVER (PARTITION BY part ORDER BY q['upper'] NULLS LAST, judged DESC, service_name, request_model, evaluator_version) AS place
      FROM (SELECT bucket, service_name, request_model, evaluator_version,
                   CASE WHEN grouping(bucket) = 0 THEN 'bucket' WHEN grouping(service_name) = 0 THEN 'service_name'
                        WHEN grouping(request_model) = 0 THEN 'request_model'
                        WHEN grouping(evaluator_version) = 0 THEN 'evaluator_version' ELSE 'all' END AS part,
                   quality_rate(passed, inclusion_probability) FILTER (WHERE status = 'ok') AS q,
                   quality_mean(value, inclusion_probability) FILTER (WHERE status = 'ok') AS m,
                   max(threshold) AS threshold,
                   sum(CASE WHEN passed = (value >= threshold) THEN 1 ELSE -1 END) FILTER (WHERE passed IS NOT NULL AND value <> threshold) AS agree,
                   count(*) FILTER (WHERE status = 'ok') AS judged,
                   count(*) FILTER (WHERE status = 'error') AS errors, count(*) FILTER (WHERE status = 'skipped') AS skipped,
                   max(error) FILTER (WHERE status = 'skipped') AS missing, max(error) FILTER (WHERE status = 'error') AS error,
                   min(evaluated_at) FILTER (WHERE status = 'error') AS error_since
            FROM (SELECT date_bin(CAST($step AS INTERVAL), span_time) AS bucket, service_name, request_model, evaluator_version,
                         passed, value, threshold, status, error, evaluated_at, inclusion_probability
                  FROM scores_latest
                  WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND source = 'rule'
                    AND span_time >= $from AND span_time < $to AND ($where))
            GROUP BY GROUPING SETS ((), (bucket), (service_name), (request_model), (evaluator_version))))
WHERE part = 'bucket' OR place <= 20
ORDER BY part, bucket, place;
