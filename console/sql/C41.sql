-- C41, the curves of the list of metrics, for the 200 with the worst upper bound.
SELECT evaluator, metric, bucket, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n
FROM (SELECT evaluator, metric, bucket, q, dense_rank() OVER (ORDER BY w['upper'] NULLS LAST, evaluator, metric) AS place
      FROM (SELECT evaluator, metric, bucket, q, first_value(q) OVER (PARTITION BY evaluator, metric ORDER BY bucket NULLS FIRST) AS w
            FROM (SELECT evaluator, metric, bucket, quality_rate(passed, inclusion_probability) AS q
                  FROM (SELECT evaluator, metric, date_bin(CAST($step AS INTERVAL), span_time) AS bucket, passed, inclusion_probability
                        FROM scores_latest
                        WHERE status = 'ok' AND passed IS NOT NULL AND source = 'rule' AND span_time >= $from AND span_time < $to)
                  GROUP BY GROUPING SETS ((evaluator, metric), (evaluator, metric, bucket)))))
WHERE place <= 200 AND bucket IS NOT NULL
ORDER BY place, bucket;
