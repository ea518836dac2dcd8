WITH hourly AS (
  SELECT
    date_trunc('hour', span_time) AS hour, tenant, rule,
    count(*) FILTER (WHERE decision IN ('queued', 'not_sampled', 'throttled', 'over_budget') AND coalesce(reason, '') NOT LIKE 'put back%') AS eligible,
    count(*) FILTER (WHERE decision = 'queued' AND coalesce(reason, '') NOT LIKE 'put back%') AS queued,
    count(*) FILTER (WHERE decision = 'scored') AS scored,
    count(*) FILTER (WHERE decision = 'failed') AS failed,
    count(*) FILTER (WHERE decision = 'expired') AS expired,
    count(*) FILTER (WHERE decision IN ('throttled', 'over_budget')) AS throttled,
    approx_percentile_cont(CAST(date_part('epoch', decided_at) - date_part('epoch', span_time) AS DOUBLE), 0.5) FILTER (WHERE decision = 'scored') AS lag_p50_s,
    approx_percentile_cont(CAST(date_part('epoch', decided_at) - date_part('epoch', span_time) AS DOUBLE), 0.99) FILTER (WHERE decision = 'scored') AS lag_p99_s
  FROM decisions
  WHERE decision <> 'filtered'
  GROUP BY date_trunc('hour', span_time), tenant, rule
)
SELECT
  hour, tenant, rule, eligible, queued, scored, failed, expired, throttled,
  CASE WHEN eligible > 0 THEN CAST(scored AS DOUBLE) / eligible END AS coverage,
  lag_p50_s, lag_p99_s
FROM hourly
