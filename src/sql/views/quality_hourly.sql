WITH hourly AS (
  SELECT
    date_trunc('hour', span_time) AS hour, tenant, service_name, request_model, evaluator, metric,
    quality_rate(passed, inclusion_probability, 0.95, $min_n_eff) AS rate,
    quality_mean(value, inclusion_probability, 0.95, $min_n_eff) AS average
  FROM scores_latest
  WHERE status = 'ok'
  GROUP BY date_trunc('hour', span_time), tenant, service_name, request_model, evaluator, metric
)
SELECT
  hour, tenant, service_name, request_model, evaluator, metric,
  rate['estimate'] AS estimate, rate['lower'] AS lower, rate['upper'] AS upper,
  coalesce(rate['n'], 0) AS n, rate['n_eff'] AS n_eff,
  average['estimate'] AS mean, average['lower'] AS mean_lower, average['upper'] AS mean_upper,
  coalesce(average['n'], 0) AS mean_n, average['n_eff'] AS mean_n_eff
FROM hourly
