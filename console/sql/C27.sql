-- A rule tried without running it: how many traces its filter takes, and what a judged trace has cost so far.
SELECT (SELECT count(DISTINCT trace_id) FROM spans WHERE start_time >= $from AND start_time < $to AND ($where)) AS taken,
       (SELECT count(DISTINCT trace_id) FROM spans WHERE start_time >= $from AND start_time < $to) AS traces,
       (SELECT sum(cost_usd) / count(DISTINCT trace_id) FROM scores
        WHERE evaluated_at >= $from AND evaluated_at < $to AND source = 'rule') AS cost_each;
