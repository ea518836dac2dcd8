-- C33, the scores of some items of an experiment, of all attempts.
-- $ids is text of the statement too, made of ids that were checked.
SELECT run_id, score_version, evaluator, metric, status, value, label, passed, threshold, left(rationale, 1000) AS rationale, error FROM scores
WHERE source = 'experiment' AND experiment_id = $experiment AND item_id IN ($ids) ORDER BY passed NULLS LAST, evaluator, metric LIMIT 5000;
