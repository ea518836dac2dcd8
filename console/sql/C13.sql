-- The distribution of one metric: 40 bins from $low to $high, weighted and raw.
-- $low and $high are numbers.
SELECT least(greatest(floor((value - $low) / ($high - $low) * 40), 0), 39) AS bin,
       sum(1 / inclusion_probability) AS weighted, count(*) AS n, min(value) AS lowest, max(value) AS highest
FROM scores_latest
WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND status = 'ok' AND value IS NOT NULL AND source = 'rule'
  AND span_time >= $from AND span_time < $to AND ($where)
GROUP BY 1 ORDER BY 1;
