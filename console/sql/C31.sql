-- C31, the scores of both, with their reasons
SELECT experiment_id, evaluator, metric, status, value, passed, rationale, error FROM scores
WHERE source = 'experiment' AND item_id = $item AND experiment_id IN ($baseline, $new) ORDER BY evaluator, metric, experiment_id, evaluated_at LIMIT 200;
