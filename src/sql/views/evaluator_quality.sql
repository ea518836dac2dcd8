WITH daily AS (
  SELECT
    date_trunc('day', span_time) AS day, tenant, evaluator, evaluator_version, metric,
    count(*) FILTER (WHERE status = 'ok') AS scored,
    count(*) FILTER (WHERE status = 'skipped') AS skipped,
    count(*) FILTER (WHERE status = 'error') AS errors,
    quality_rate(passed, inclusion_probability) FILTER (WHERE status = 'ok') AS rate,
    avg(latency_ms) FILTER (WHERE status <> 'skipped') AS latency_ms,
    approx_percentile_cont(latency_ms, 0.95) FILTER (WHERE status <> 'skipped') AS latency_p95_ms,
    sum(cost_usd) AS cost_usd
  FROM scores_latest
  GROUP BY date_trunc('day', span_time), tenant, evaluator, evaluator_version, metric
)
SELECT
  day, tenant, evaluator, evaluator_version, metric, scored, skipped, errors,
  rate['estimate'] AS estimate, rate['lower'] AS lower, rate['upper'] AS upper,
  coalesce(rate['n'], 0) AS n, rate['n_eff'] AS n_eff,
  latency_ms, latency_p95_ms, cost_usd
FROM daily
