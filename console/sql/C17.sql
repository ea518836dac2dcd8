-- How long after a span its scores came.
SELECT evaluator, evaluator_version, approx_percentile_cont(lag_s, 0.5) AS lag_p50_s, approx_percentile_cont(lag_s, 0.99) AS lag_p99_s, count(*) AS n
FROM (SELECT evaluator, evaluator_version,
             CAST(CAST(evaluated_at AS BIGINT) - CAST(span_time AS BIGINT) AS DOUBLE) / 1e6 AS lag_s
      FROM scores WHERE evaluated_at >= $from AND evaluated_at < $to AND source = 'rule')
GROUP BY 1, 2 ORDER BY 4 DESC LIMIT 100;
