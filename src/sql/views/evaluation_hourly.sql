WITH decided AS (
  SELECT
    date_trunc('hour', d.span_time) AS hour, d.tenant, d.rule, d.decision,
    d.trace_id || '/' || coalesce(d.span_id, '') AS item,
    -- From the end of the span: a model call that takes a minute is no lag. Where the span is gone, from its begin.
    CAST(
      date_part('epoch', d.decided_at) - coalesce(date_part('epoch', s.start_time) + s.duration_ns / 1e9, date_part('epoch', d.span_time))
      AS DOUBLE) AS lag_s
  FROM decisions d
  LEFT JOIN spans s ON d.decision = 'scored' AND s.trace_id = d.trace_id AND s.span_id = d.span_id AND s.tenant = d.tenant
  WHERE d.decision <> 'filtered'
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
