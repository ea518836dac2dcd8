-- Evaluators: version, how long a call takes, errors.
SELECT evaluator, evaluator_version, count(*) AS n, approx_percentile_cont(latency_ms, 0.5) AS p50_ms,
       approx_percentile_cont(latency_ms, 0.99) AS p99_ms, count(*) FILTER (WHERE status = 'error') AS errors,
       max(error) FILTER (WHERE status = 'error') AS error, sum(cost_usd) AS cost_usd
FROM scores WHERE evaluated_at >= $from AND evaluated_at < $to
GROUP BY 1, 2 ORDER BY 6 DESC, 5 DESC LIMIT 100;
