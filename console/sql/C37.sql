-- C37, what answers took and cost in two experiments, over the items that both were asked in the same words: the mean of an
-- item's answers, and the mean difference with its interval.
WITH item AS (
  SELECT experiment_id, item_id, item_hash, avg(duration_ms) AS duration_ms, avg(cost_usd) AS cost_usd,
         avg(CAST(input_tokens AS DOUBLE)) AS input_tokens, avg(CAST(output_tokens AS DOUBLE)) AS output_tokens
  FROM runs_latest WHERE experiment_id IN ($baseline, $new) AND status = 'ok' GROUP BY 1, 2, 3),
pair AS (
  SELECT a.duration_ms AS duration_was, b.duration_ms AS duration_now, a.cost_usd AS cost_was, b.cost_usd AS cost_now,
         a.input_tokens AS input_was, b.input_tokens AS input_now, a.output_tokens AS output_was, b.output_tokens AS output_now
  FROM item a JOIN item b ON a.item_id = b.item_id AND a.item_hash IS NOT DISTINCT FROM b.item_hash
  WHERE a.experiment_id = $baseline AND b.experiment_id = $new),
told AS (
  SELECT 'duration' AS what, duration_was AS was, duration_now AS now FROM pair
  UNION ALL SELECT 'cost', cost_was, cost_now FROM pair
  UNION ALL SELECT 'input tokens', input_was, input_now FROM pair
  UNION ALL SELECT 'output tokens', output_was, output_now FROM pair)
SELECT what, was, now, d['estimate'] AS difference, d['lower'] AS lower, d['upper'] AS upper, d['n'] AS n
FROM (SELECT what, avg(was) AS was, avg(now) AS now, quality_diff(now, was, 1.0) AS d
      FROM told WHERE was IS NOT NULL AND now IS NOT NULL GROUP BY 1)
ORDER BY what;
