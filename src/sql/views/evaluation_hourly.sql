WITH decided AS (
  SELECT
    date_trunc('hour', span_time) AS hour, tenant, rule, decision, trace_id || '/' || coalesce(span_id, '') AS item,
    CAST(date_part('epoch', decided_at) - date_part('epoch', span_time) AS DOUBLE) AS lag_s
  FROM decisions
  WHERE decision <> 'filtered'
),
hourly AS (
  SELECT
    hour, tenant, rule,
    count(DISTINCT item) FILTER (WHERE decision IN ('queued', 'not_sampled', 'throttled', 'over_budget')) AS eligible,
    count(DISTINCT item) FILTER (WHERE decision = 'queued') AS queued,
    count(DISTINCT item) FILTER (WHERE decision = 'scored') AS scored,
    count(DISTINCT item) FILTER (WHERE decision = 'failed') AS failed,
    count(DISTINCT item) FILTER (WHERE decision = 'expired') AS expired,
    count(DISTINCT item) FILTER (WHERE decision IN ('throttled', 'over_budget')) AS throttled,
    approx_percentile_cont(lag_s, 0.5) FILTER (WHERE decision = 'scored') AS lag_p50_s,
    approx_percentile_cont(lag_s, 0.99) FILTER (WHERE decision = 'scored') AS lag_p99_s
  FROM decided
  GROUP BY hour, tenant, rule
)
SELECT
  hour, tenant, rule, eligible, queued, scored, failed, expired, throttled,
  CASE WHEN eligible > 0 THEN CAST(scored AS DOUBLE) / eligible END AS coverage,
  lag_p50_s, lag_p99_s
FROM hourly
