WITH hourly AS (
  SELECT
    date_trunc('hour', span_time) AS hour, tenant, rule, evaluator, metric,
    count(*) AS n,
    count(*) FILTER (WHERE status = 'ok') AS scored,
    count(*) FILTER (WHERE status = 'skipped') AS skipped,
    count(*) FILTER (WHERE status = 'error') AS errors
  FROM scores_latest
  GROUP BY date_trunc('hour', span_time), tenant, rule, evaluator, metric
)
SELECT
  hour, tenant, rule, evaluator, metric, n, scored, skipped, errors,
  CASE WHEN n > 0 THEN CAST(errors AS DOUBLE) / n END AS error_share,
  CASE WHEN n > 0 THEN CAST(skipped AS DOUBLE) / n END AS skipped_share
FROM hourly
