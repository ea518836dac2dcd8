-- C36, what classification said of the runs of an experiment: labels such as `expected -> answered`, of the attempt that counts.
SELECT s.label, count(*) AS n
FROM scores s JOIN runs_latest r ON s.run_id = r.run_id AND s.score_version = r.attempt
WHERE s.source = 'experiment' AND s.experiment_id = $experiment AND r.experiment_id = $experiment
  AND s.evaluator = 'classification' AND s.metric = 'accuracy' AND s.status = 'ok' AND s.label IS NOT NULL
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1000;
