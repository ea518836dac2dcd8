-- One metric over time; $where is an expression over scores.
SELECT bucket, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n, q['n_eff'] AS n_eff
FROM (SELECT date_bin(CAST($step AS INTERVAL), span_time) AS bucket, quality_rate(passed, inclusion_probability) AS q
      FROM scores_latest
      WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND status = 'ok' AND passed IS NOT NULL
        AND source = 'rule' AND span_time >= $from AND span_time < $to AND ($where)
      GROUP BY 1)
ORDER BY 1;
