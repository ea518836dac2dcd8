-- C32, the runs of an experiment: $item first, then those without an answer, then those that failed most metrics, then by value.
-- With a $metric of an $evaluator only those that have its score, of one $status where that is given.
SELECT r.run_id, r.item_id, r.item_hash, r.repetition, r.attempt, left(r.output, 4000) AS output, r.error, r.trace_id, r.span_id,
       r.duration_ms, coalesce(s.failed, 0) AS failed
FROM runs_latest r
LEFT JOIN (SELECT run_id, score_version, count(*) FILTER (WHERE passed = false) AS failed, min(value) AS lowest FROM scores
           WHERE source = 'experiment' AND experiment_id = $experiment AND (metric = $metric OR $metric = '')
             AND (evaluator = $evaluator OR $evaluator = '') AND (status = $status OR $status = '') GROUP BY 1, 2) s
  ON s.run_id = r.run_id AND s.score_version = r.attempt
WHERE r.experiment_id = $experiment AND (s.run_id IS NOT NULL OR $metric = '')
ORDER BY r.item_id = $item DESC, r.error IS NULL, failed DESC, CASE WHEN $metric = '' THEN NULL ELSE s.lowest END, r.item_id, r.repetition LIMIT 50;
