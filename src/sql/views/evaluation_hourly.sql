WITH owed AS (
  -- Items with a lane that has not answered: it waits, is at work, or was given up. The lanes of an item share its span and
  -- rule, and no row of `decisions` says which lanes there are.
  SELECT DISTINCT tenant, rule, trace_id, span_id FROM queue
),
items AS (
  SELECT
    date_trunc('hour', d.span_time) AS hour, d.tenant, d.rule,
    bool_or(d.decision IN ('queued', 'not_sampled', 'throttled', 'over_budget')) AS is_eligible,
    bool_or(d.decision = 'queued') AS is_queued,
    bool_or(d.decision = 'failed') AS is_failed,
    bool_or(d.decision = 'expired') AS is_expired,
    bool_or(d.decision IN ('throttled', 'over_budget')) AS is_throttled,
    bool_or(o.trace_id IS NOT NULL) AS is_owed,
    max(d.decided_at) FILTER (WHERE d.decision = 'scored') AS scored_at,
    -- What was given up may be put back, and judged then.
    max(d.decided_at) FILTER (WHERE d.decision IN ('failed', 'expired')) AS given_up_at
  FROM decisions d
  LEFT JOIN owed o
    ON d.decision = 'scored' AND o.trace_id = d.trace_id AND o.span_id = d.span_id AND o.rule = d.rule AND o.tenant = d.tenant
  WHERE d.decision <> 'filtered'
  GROUP BY date_trunc('hour', d.span_time), d.tenant, d.rule, d.trace_id || '/' || coalesce(d.span_id, '')
),
rows_of_both AS (
  SELECT
    hour, tenant, rule, is_eligible, is_queued, is_failed, is_expired, is_throttled,
    scored_at IS NOT NULL AND NOT is_owed AND (given_up_at IS NULL OR given_up_at < scored_at) AS is_scored,
    CAST(NULL AS DOUBLE) AS lag_s
  FROM items
  UNION ALL
  SELECT
    date_trunc('hour', d.span_time) AS hour, d.tenant, d.rule, false, false, false, false, false, false,
    -- From the end of the span: a model call that takes a minute is no lag. Where the span is gone, from its begin.
    CAST(
      date_part('epoch', d.decided_at) - coalesce(date_part('epoch', s.start_time) + s.duration_ns / 1e9, date_part('epoch', d.span_time))
      AS DOUBLE) AS lag_s
  FROM decisions d
  LEFT JOIN spans s ON s.trace_id = d.trace_id AND s.span_id = d.span_id AND s.tenant = d.tenant
  WHERE d.decision = 'scored'
),
hourly AS (
  SELECT
    hour, tenant, rule,
    count(*) FILTER (WHERE is_eligible) AS eligible,
    count(*) FILTER (WHERE is_queued) AS queued,
    count(*) FILTER (WHERE is_scored) AS scored,
    count(*) FILTER (WHERE is_failed) AS failed,
    count(*) FILTER (WHERE is_expired) AS expired,
    count(*) FILTER (WHERE is_throttled) AS throttled,
    approx_percentile_cont(lag_s, 0.5) AS lag_p50_s,
    approx_percentile_cont(lag_s, 0.99) AS lag_p99_s
  FROM rows_of_both
  GROUP BY hour, tenant, rule
)
SELECT
  hour, tenant, rule, eligible, queued, scored, failed, expired, throttled,
  CASE WHEN eligible > 0 THEN CAST(scored AS DOUBLE) / eligible END AS coverage,
  lag_p50_s, lag_p99_s
FROM hourly
