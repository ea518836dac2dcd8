WITH verdict AS (
  SELECT DISTINCT ON (tenant, trace_id, span_id, name) tenant, trace_id, span_id, name, passed, chance
  FROM (
    SELECT tenant, trace_id, span_id, name, created_at, annotation_id, label, coalesce(label_probability, 1) AS chance,
      CASE
        WHEN lower(label) IN ('pass', 'passed', 'true', 'yes', 'correct', 'good') THEN true
        WHEN lower(label) IN ('fail', 'failed', 'false', 'no', 'incorrect', 'bad') THEN false
        WHEN label IS NULL AND value = 1 THEN true
        WHEN label IS NULL AND value = 0 THEN false
      END AS passed
    FROM annotations
  )
  WHERE passed IS NOT NULL OR label = 'withdrawn'
  ORDER BY tenant, trace_id, span_id, name, created_at DESC, annotation_id DESC
),
judged AS (
  SELECT s.span_time, s.tenant, s.evaluator, s.evaluator_version, s.metric, s.status, s.passed, s.inclusion_probability,
    s.latency_ms, s.cost_usd, coalesce(one.passed, whole.passed) AS truth,
    s.inclusion_probability * CASE WHEN one.passed IS NULL THEN whole.chance ELSE one.chance END AS truth_probability
  FROM (SELECT * FROM verdict WHERE span_id IS NULL) AS whole RIGHT JOIN (
    (SELECT * FROM verdict WHERE span_id IS NOT NULL) AS one RIGHT JOIN scores_latest AS s
    ON one.tenant = s.tenant AND one.trace_id = s.trace_id AND one.span_id = s.span_id AND one.name = s.metric
  ) ON whole.tenant = s.tenant AND whole.trace_id = s.trace_id AND whole.name = s.metric
),
daily AS (
  SELECT
    date_trunc('day', span_time) AS day, tenant, evaluator, evaluator_version, metric,
    count(*) FILTER (WHERE status = 'ok') AS scored,
    count(*) FILTER (WHERE status = 'skipped') AS skipped,
    count(*) FILTER (WHERE status = 'error') AS errors,
    quality_rate(passed, inclusion_probability, 0.95, $min_n_eff) FILTER (WHERE status = 'ok') AS rate,
    avg(latency_ms) FILTER (WHERE status <> 'skipped') AS latency_ms,
    approx_percentile_cont(latency_ms, 0.95) FILTER (WHERE status <> 'skipped') AS latency_p95_ms,
    sum(cost_usd) AS cost_usd,
    quality_rate(NOT passed, truth_probability, 0.95, $min_n_eff) FILTER (WHERE status = 'ok' AND NOT truth) AS found,
    quality_rate(passed, truth_probability, 0.95, $min_n_eff) FILTER (WHERE status = 'ok' AND truth) AS spared
  FROM judged
  GROUP BY date_trunc('day', span_time), tenant, evaluator, evaluator_version, metric
)
SELECT
  day, tenant, evaluator, evaluator_version, metric, scored, skipped, errors,
  rate['estimate'] AS estimate, rate['lower'] AS lower, rate['upper'] AS upper,
  coalesce(rate['n'], 0) AS n, rate['n_eff'] AS n_eff,
  latency_ms, latency_p95_ms, cost_usd,
  found['estimate'] AS sensitivity, found['lower'] AS sensitivity_lower, found['upper'] AS sensitivity_upper,
  coalesce(found['n'], 0) AS sensitivity_n,
  spared['estimate'] AS specificity, spared['lower'] AS specificity_lower, spared['upper'] AS specificity_upper,
  coalesce(spared['n'], 0) AS specificity_n
FROM daily
