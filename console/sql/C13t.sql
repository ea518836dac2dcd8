-- The share that a threshold under trial would pass; $up says whether higher is better.
-- $up is true or false, $trial a number.
SELECT q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n
FROM (SELECT quality_rate(CASE WHEN $up THEN value >= $trial ELSE value <= $trial END, inclusion_probability) AS q
      FROM scores_latest
      WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND status = 'ok' AND value IS NOT NULL AND source = 'rule'
        AND span_time >= $from AND span_time < $to AND ($where));
