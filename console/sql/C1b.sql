-- The series of the worst metrics at once: small multiples in one request. all_… is the whole range; an item passes at
-- the threshold or above where agree > 0, else below it.
WITH worst AS (
  SELECT evaluator, metric, q, threshold, agree
  FROM (SELECT evaluator, metric, quality_rate(passed, inclusion_probability) AS q, max(threshold) AS threshold,
               sum(CASE WHEN passed = (value >= threshold) THEN 1 ELSE -1 END) FILTER (WHERE value <> threshold) AS agree
        FROM scores_latest
        WHERE status = 'ok' AND passed IS NOT NULL AND source = 'rule' AND span_time >= $from AND span_time < $to
        GROUP BY 1, 2)
  ORDER BY q['upper'] NULLS LAST, evaluator, metric LIMIT 6)
SELECT evaluator, metric, bucket, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n,
       all_estimate, all_lower, all_upper, all_n, threshold, agree
FROM (SELECT s.evaluator, s.metric, date_bin(CAST($step AS INTERVAL), s.span_time) AS bucket,
             quality_rate(s.passed, s.inclusion_probability) AS q,
             max(w.q['estimate']) AS all_estimate, max(w.q['lower']) AS all_lower, max(w.q['upper']) AS all_upper,
             max(w.q['n']) AS all_n, max(w.threshold) AS threshold, max(w.agree) AS agree
      FROM scores_latest s JOIN worst w ON s.evaluator = w.evaluator AND s.metric = w.metric
      WHERE s.status = 'ok' AND s.passed IS NOT NULL AND s.source = 'rule' AND s.span_time >= $from AND s.span_time < $to
      GROUP BY 1, 2, 3)
ORDER BY all_upper NULLS LAST, 1, 2, 3;
