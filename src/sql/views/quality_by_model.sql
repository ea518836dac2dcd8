WITH daily AS (
  SELECT
    date_trunc('day', span_time) AS day, tenant, request_model, evaluator, metric,
    quality_rate(passed, inclusion_probability, 0.95, $min_n_eff) AS rate,
    quality_mean(value, inclusion_probability, 0.95, $min_n_eff) AS average
  FROM scores_latest
  WHERE status = 'ok'
  GROUP BY date_trunc('day', span_time), tenant, request_model, evaluator, metric
)
SELECT
  day, tenant, request_model, evaluator, metric,
  rate['estimate'] AS estimate, rate['lower'] AS lower, rate['upper'] AS upper,
  coalesce(rate['n'], 0) AS n, rate['n_eff'] AS n_eff,
  average['estimate'] AS mean, average['lower'] AS mean_lower, average['upper'] AS mean_upper,
  coalesce(average['n'], 0) AS mean_n, average['n_eff'] AS mean_n_eff
FROM daily
