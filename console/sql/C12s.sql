-- One metric as a whole: its rate, its direction (higher is better where agree > 0), what was not judged and why.
SELECT q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper, q['n'] AS n, q['n_eff'] AS n_eff,
       m['estimate'] AS mean, m['lower'] AS mean_lower, m['upper'] AS mean_upper, m['n'] AS mean_n,
       threshold, agree, judged, errors, skipped, missing, error, error_since
FROM (SELECT quality_rate(passed, inclusion_probability) FILTER (WHERE status = 'ok') AS q,
             quality_mean(value, inclusion_probability) FILTER (WHERE status = 'ok') AS m,
             max(threshold) AS threshold,
             sum(CASE WHEN passed = (value >= threshold) THEN 1 ELSE -1 END) FILTER (WHERE passed IS NOT NULL AND value <> threshold) AS agree,
             count(*) FILTER (WHERE status = 'ok') AS judged,
             count(*) FILTER (WHERE status = 'error') AS errors, count(*) FILTER (WHERE status = 'skipped') AS skipped,
             max(error) FILTER (WHERE status = 'skipped') AS missing, max(error) FILTER (WHERE status = 'error') AS error,
             min(evaluated_at) FILTER (WHERE status = 'error') AS error_since
      FROM scores_latest
      WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND source = 'rule'
        AND span_time >= $from AND span_time < $to AND ($where));
