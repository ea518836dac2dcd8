-- All metrics, the worst first.
SELECT evaluator, metric, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n, q['n_eff'] AS n_eff,
       m['estimate'] AS mean, m['lower'] AS mean_lower, m['upper'] AS mean_upper, m['n'] AS mean_n, judged, errors, skipped
FROM (SELECT evaluator, metric, quality_rate(passed, inclusion_probability) FILTER (WHERE status = 'ok') AS q,
             quality_mean(value, inclusion_probability) FILTER (WHERE status = 'ok') AS m,
             count(*) FILTER (WHERE status = 'ok') AS judged,
             count(*) FILTER (WHERE status = 'error') AS errors, count(*) FILTER (WHERE status = 'skipped') AS skipped
      FROM scores_latest WHERE source = 'rule' AND span_time >= $from AND span_time < $to GROUP BY 1, 2)
ORDER BY upper NULLS LAST, evaluator, metric LIMIT 500;
