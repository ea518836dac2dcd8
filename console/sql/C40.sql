-- C40, the curves of the table of C2, for the same 200 rows of it.
SELECT service_name, request_model, evaluator, metric, bucket, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n
FROM (SELECT service_name, request_model, evaluator, metric, bucket, q,
             dense_rank() OVER (ORDER BY w['upper'] NULLS LAST, service_name, evaluator, metric, request_model) AS place
      FROM (SELECT service_name, request_model, evaluator, metric, bucket, q,
                   first_value(q) OVER (PARTITION BY service_name, request_model, evaluator, metric ORDER BY bucket NULLS FIRST) AS w
            FROM (SELECT service_name, request_model, evaluator, metric, bucket, quality_rate(passed, inclusion_probability) AS q
                  FROM (SELECT service_name, request_model, evaluator, metric, date_bin(CAST($step AS INTERVAL), span_time) AS bucket,
                               passed, inclusion_probability
                        FROM scores_latest
                        WHERE status = 'ok' AND passed IS NOT NULL AND source = 'rule' AND span_time >= $from AND span_time < $to)
                  GROUP BY GROUPING SETS ((service_name, request_model, evaluator, metric), (service_name, request_model, evaluator, metric, bucket)))))
WHERE place <= 200 AND bucket IS NOT NULL
ORDER BY place, bucket;
