WITH verdict AS (
  SELECT DISTINCT ON (tenant, trace_id, span_id, name) tenant, trace_id, span_id, name, item, label_probability, passed
  FROM (
    SELECT tenant, trace_id, span_id, name, created_at, annotation_id, label, item, label_probability,
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
answered AS (
  SELECT i.tenant, i.metric, i.draw, i.item, i.population_from, i.population_until,
    CASE WHEN v.passed IS NOT NULL THEN 1 ELSE 0 END AS has_label
  FROM (SELECT * FROM review_items WHERE queue_id IS NULL) AS i
    LEFT JOIN verdict AS v ON i.tenant = v.tenant AND i.item = v.item
),
drawn AS (
  SELECT tenant, metric, draw, min(population_from) AS opens, max(population_until) AS closes,
    CAST(sum(has_label) AS DOUBLE) / count(*) AS response
  FROM answered
  GROUP BY tenant, metric, draw
  HAVING sum(has_label) > 0
),
truth AS (
  SELECT s.tenant, s.trace_id, s.span_id, s.span_time, s.evaluated_at, s.service_name, s.request_model, s.rule,
    s.evaluator, s.evaluator_version, s.metric, s.value, s.threshold, s.passed, s.inclusion_probability,
    coalesce(one.passed, whole.passed) AS truth, one.passed AS drawn_label,
    one.item AS drawn_item, one.label_probability AS drawn_with
  FROM (SELECT * FROM verdict WHERE span_id IS NULL) AS whole RIGHT JOIN (
    (SELECT * FROM verdict WHERE span_id IS NOT NULL) AS one
    RIGHT JOIN (SELECT * FROM scores_latest WHERE status = 'ok') AS s
    ON one.tenant = s.tenant AND one.trace_id = s.trace_id AND one.span_id = s.span_id AND one.name = s.metric
  ) ON whole.tenant = s.tenant AND whole.trace_id = s.trace_id AND whole.name = s.metric
)
SELECT t.tenant, t.trace_id, t.span_id, t.span_time, t.evaluated_at, t.service_name, t.request_model, t.rule,
  t.evaluator, t.evaluator_version, t.metric, t.value, t.threshold, t.passed, t.inclusion_probability, t.truth,
  d.draw,
  CASE WHEN t.drawn_with IS NOT NULL AND (t.drawn_item IS NULL OR d.draw IS NOT NULL) THEN t.drawn_label END AS label,
  CASE WHEN t.drawn_label IS NULL THEN NULL WHEN t.drawn_item IS NULL THEN t.drawn_with ELSE t.drawn_with * d.response END
    AS label_probability
FROM drawn AS d RIGHT JOIN truth AS t
ON d.tenant = t.tenant AND d.metric = t.metric AND t.evaluated_at > d.opens AND t.evaluated_at <= d.closes
