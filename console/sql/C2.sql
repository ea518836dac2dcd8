-- Service × model × metric, the worst upper bound first; beside it the window before, of the same length.
-- $before is a time, like $from and $to.
SELECT service_name, request_model, evaluator, metric, q['estimate'] AS estimate, q['lower'] AS lower, q['upper'] AS upper,
       q['n'] AS n, q['n_eff'] AS n_eff, errors, skipped,
       b['estimate'] AS before, b['lower'] AS before_lower, b['upper'] AS before_upper, b['n'] AS before_n
FROM (SELECT service_name, request_model, evaluator, metric,
             quality_rate(passed, inclusion_probability) FILTER (WHERE status = 'ok' AND span_time >= $from) AS q,
             quality_rate(passed, inclusion_probability) FILTER (WHERE status = 'ok' AND span_time < $from) AS b,
             count(*) FILTER (WHERE status = 'error' AND span_time >= $from) AS errors,
             count(*) FILTER (WHERE status = 'skipped' AND span_time >= $from) AS skipped
      FROM scores_latest
      WHERE source = 'rule' AND span_time >= $before AND span_time < $to
      GROUP BY 1, 2, 3, 4)
ORDER BY upper NULLS LAST, service_name, evaluator, metric, request_model LIMIT 200;
