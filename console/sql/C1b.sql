-- The series of the worst six metrics at once, or of up to twelve that $chosen names as `,one,two,`: small multiples in one request. all_… is the whole range; an item passes at
-- the threshold or above where agree > 0, else below it. One choice of the newest scores feeds both: every metric's whole
-- and its buckets are grouped in one pass, and a window over these few rows picks the worst.
SELECT evaluator, metric, bucket, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n,
       w['estimate'] AS all_estimate, w['lower'] AS all_lower, w['upper'] AS all_upper, w['n'] AS all_n, threshold, agree
FROM (SELECT evaluator, metric, bucket, q, w, threshold, agree,
             dense_rank() OVER (ORDER BY w['upper'] NULLS LAST, evaluator, metric) AS place
      FROM (SELECT evaluator, metric, bucket, q,
                   first_value(q) OVER whole AS w, first_value(threshold) OVER whole AS threshold, first_value(agree) OVER whole AS agree
            FROM (SELECT evaluator, metric, bucket, quality_rate(passed, inclusion_probability) AS q, max(threshold) AS threshold,
                         sum(CASE WHEN passed = (value >= threshold) THEN 1 ELSE -1 END) FILTER (WHERE value <> threshold) AS agree
                  FROM (SELECT evaluator, metric, date_bin(CAST($step AS INTERVAL), span_time) AS bucket,
                               passed, inclusion_probability, value, threshold
                        FROM scores_latest
                        WHERE status = 'ok' AND passed IS NOT NULL AND source = 'rule' AND span_time >= $from AND span_time < $to
                          AND ($chosen = '' OR strpos($chosen, concat(',', metric, ',')) > 0))
                  GROUP BY GROUPING SETS ((evaluator, metric), (evaluator, metric, bucket)))
            WINDOW whole AS (PARTITION BY evaluator, metric ORDER BY bucket NULLS FIRST)))
WHERE place <= CASE WHEN $chosen = '' THEN 6 ELSE 12 END AND bucket IS NOT NULL
ORDER BY all_upper NULLS LAST, 1, 2, 3;
